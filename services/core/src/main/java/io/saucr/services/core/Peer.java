package io.saucr.services.core;

import io.saucr.services.core.Change.Range;
import io.saucr.services.core.Change.Unacked;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What this service has recorded of a peer: the pair of births (K11), what it consumed of the
 * other, and its outbox (K6). Messages of a name are counted for ever; in a pair they are numbered
 * from 1, behind {@link #numbersAfter}. What is sent before the pair is known waits with a count
 * and no number. Changed by {@link Past} alone.
 */
final class Peer {

    final String key;
    final boolean outside;

    /** Of the pair, or null where there is none. */
    Birth birth;

    boolean known;
    long openedTurn;
    long knownTurn;

    /** The highest start of the peer's birth that was recorded. */
    Count seen = Count.NONE;

    Count consumed = Count.NONE;
    Count acked = Count.NONE;

    /** The count of the last message before the pair's number 1. */
    long numbersAfter;

    long sent;
    long heardMillis;
    final List<Birth> gone = new ArrayList<>();
    final List<Range> returned = new ArrayList<>();
    final Map<Long, Waiting> unacked = new HashMap<>();

    /** A message in the outbox, and the turn that sent it. */
    record Waiting(long turn, Unacked message) {}

    Peer(String key, boolean outside) {
        this.key = key;
        this.outside = outside;
    }

    /** The count of the last message that is not in the outbox any more. */
    long floor() {
        return sent - unacked.size();
    }

    /** Where a number of the pair is in the count of all messages to this name. */
    long countOf(long number) {
        return numbersAfter + number;
    }

    void open(Birth with, Count start, long turn) {
        birth = with;
        known = false;
        openedTurn = turn;
        seen = start;
        consumed = Count.NONE;
        acked = Count.NONE;
    }

    void know(long turn) {
        if (!known) {
            known = true;
            knownTurn = turn;
            numbersAfter = floor();
        }
    }

    void ack(Count last) {
        for (long count = floor() + 1; count <= countOf(last.number()); count++) {
            unacked.remove(count);
        }
        acked = last;
        saw(last);
    }

    void saw(Count start) {
        if (start.incarnation() > seen.incarnation()) {
            seen = new Count(0, start.incarnation(), start.nonce());
        }
    }

    /** The pair is over; says what had numbers and was not acked, in its order (K15). */
    List<Unacked> end() {
        List<Unacked> perhapsConsumed = new ArrayList<>();
        if (known) {
            long floor = floor();
            for (long count = floor + 1; count <= sent; count++) {
                perhapsConsumed.add(unacked.get(count).message());
            }
            if (floor < sent) {
                returned.add(new Range(floor, sent));
            }
            unacked.clear();
        }
        birth = null;
        known = false;
        seen = Count.NONE;
        consumed = Count.NONE;
        acked = Count.NONE;
        return perhapsConsumed;
    }

    boolean isAcked(long count) {
        return count <= floor()
                && returned.stream().noneMatch(it -> count > it.from() && count <= it.to());
    }

    Change.PeerIs snapshot() {
        List<Unacked> messages = new ArrayList<>(unacked.size());
        for (long count = floor() + 1; count <= sent; count++) {
            messages.add(unacked.get(count).message());
        }
        return new Change.PeerIs(
                key,
                outside,
                Optional.ofNullable(birth),
                known,
                seen,
                consumed,
                acked,
                numbersAfter,
                sent,
                heardMillis,
                List.copyOf(gone),
                List.copyOf(returned),
                messages);
    }

    static Peer of(Change.PeerIs is, long turn) {
        Peer peer = new Peer(is.peer(), is.outside());
        peer.birth = is.birth().orElse(null);
        peer.known = is.known();
        peer.seen = is.seen();
        peer.consumed = is.consumed();
        peer.acked = is.acked();
        peer.numbersAfter = is.numbersAfter();
        peer.sent = is.sent();
        peer.heardMillis = is.heardMillis();
        peer.gone.addAll(is.gone());
        peer.returned.addAll(is.returned());
        long count = peer.sent - is.unacked().size();
        for (Unacked message : is.unacked()) {
            peer.unacked.put(++count, new Waiting(turn, message));
        }
        return peer;
    }
}
