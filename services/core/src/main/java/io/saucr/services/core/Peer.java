package io.saucr.services.core;

import io.saucr.services.core.Change.Range;
import io.saucr.services.core.Change.Unacked;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What this service has recorded of a peer: the pair of births (K11), what it consumed of the
 * other, and its outbox (K6), of which a beginning is in the heap and the rest in a file (K13).
 * Messages of a name are counted for ever; in a pair they are numbered from 1, behind {@link
 * #numbersAfter}. What is sent before the pair is known waits with a count and no number. Changed
 * by {@link Past} alone.
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

    /** The birth that said that this service's is lost, or null (K15). */
    Birth refusedBy;

    final List<Birth> gone = new ArrayList<>();
    final List<Range> returned = new ArrayList<>();

    /** The outbox's beginning, which is in the heap; by count. */
    final Map<Long, Waiting> unacked = new HashMap<>();

    private final Outboxes outboxes;
    long heapBytes;

    /** How many messages behind the beginning are in the file, and of which stream (K13). */
    long inFiles;

    long stream;
    long lastInFile;
    private long inFilesSince;

    /** Refusals in the file, and where another start began to send, both by count. */
    final TreeSet<Long> refusals = new TreeSet<>();

    private final TreeMap<Long, Long> starts = new TreeMap<>();

    /** So many bytes at most were asked for that are not there yet; 0 for none. */
    long asked;

    /** A message in the outbox, and the turn that sent it. */
    record Waiting(long turn, Unacked message) {}

    Peer(String key, boolean outside, Outboxes outboxes) {
        this.key = key;
        this.outside = outside;
        this.outboxes = outboxes;
    }

    /** The count of the last message that is not in the outbox any more. */
    long floor() {
        return sent - inFiles - unacked.size();
    }

    /** It is there, and takes what has room. */
    void mayFetch() {
        outboxes.mayFetch(this);
    }

    boolean isWaitedFor() {
        return floor() < sent;
    }

    /** The first message that is not acked, if it is in the heap. */
    Optional<Waiting> first() {
        return Optional.ofNullable(unacked.get(floor() + 1));
    }

    /** When the oldest that is not acked was sent; 0 without one. */
    long oldestMillis() {
        return first().map(it -> it.message().sentMillis())
                .orElse(isWaitedFor() ? inFilesSince : 0L);
    }

    /** Under which start a message of the outbox was sent, if it is there. */
    Optional<Long> startOf(long count) {
        if (count > sent - inFiles && count <= sent) {
            return Optional.ofNullable(starts.floorEntry(count)).map(Map.Entry::getValue);
        }
        return Optional.ofNullable(unacked.get(count)).map(it -> it.message().incarnation());
    }

    void send(Waiting waiting) {
        Unacked message = waiting.message();
        sent++;
        if (outboxes.hasRoom(this, message)) {
            unacked.put(sent, waiting);
            took(message);
            return;
        }
        if (inFiles == 0) {
            inFilesSince = message.sentMillis();
        }
        if (starts.isEmpty() || starts.lastEntry().getValue() != message.incarnation()) {
            starts.put(sent, message.incarnation());
        }
        if (message.refusal().isPresent()) {
            refusals.add(sent);
        }
        inFiles++;
        lastInFile = sent;
        outboxes.store(this, sent, message);
    }

    /** The first message of the file is in the heap now. */
    void fetched(Unacked message, long turn) {
        if (inFiles > 0) {
            unacked.put(sent - inFiles + 1, new Waiting(turn, message));
            took(message);
            inFilesSince = message.sentMillis();
            noLongerInFile();
        }
    }

    /** Nothing is there under its number any more; what is acked or in a file stays. */
    void withdraw(long count) {
        Waiting waiting = unacked.get(count);
        if (waiting == null) {
            return;
        }
        Unacked before = waiting.message();
        Unacked nothing =
                new Unacked(
                        before.incarnation(),
                        before.sentMillis(),
                        before.answers(),
                        before.refusal(),
                        ServiceCore.NOTHING);
        unacked.put(count, new Waiting(waiting.turn(), nothing));
        let(before);
        took(nothing);
    }

    private void took(Unacked message) {
        heapBytes += Outboxes.bytes(message);
        outboxes.tookHeap(Outboxes.bytes(message));
    }

    private void let(Unacked message) {
        heapBytes -= Outboxes.bytes(message);
        outboxes.tookHeap(-Outboxes.bytes(message));
    }

    private void noLongerInFile() {
        inFiles--;
        refusals.remove(sent - inFiles);
        if (inFiles == 0) {
            starts.clear();
        }
    }

    /** Nothing of it is there any more. */
    void drop() {
        outboxes.tookHeap(-heapBytes);
        heapBytes = 0;
        unacked.clear();
        outboxes.let(this);
    }

    /** Where a number of the pair is in the count of all messages to this name. */
    long countOf(long number) {
        return numbersAfter + number;
    }

    void open(Birth with, Count start, long turn) {
        if (refusedBy != null) {
            gone.add(refusedBy);
            refusedBy = null;
        }
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
        long end = Math.min(countOf(last.number()), sent);
        for (long count = floor() + 1; count <= end; count++) {
            Waiting waiting = unacked.remove(count);
            if (waiting == null) {
                noLongerInFile();
            } else {
                let(waiting.message());
            }
        }
        outboxes.acked(this);
        acked = last;
        saw(last);
    }

    void saw(Count start) {
        if (start.incarnation() > seen.incarnation()) {
            seen = new Count(0, start.incarnation(), start.nonce());
        }
    }

    /** What was not acked and is in the heap, in its order. */
    List<Unacked> inHeap() {
        List<Unacked> all = new ArrayList<>(unacked.size());
        for (long count = floor() + 1; count <= sent - inFiles; count++) {
            all.add(unacked.get(count).message());
        }
        return all;
    }

    /** The pair is over (K15). What is in the outbox stays. */
    void end() {
        birth = null;
        known = false;
        seen = Count.NONE;
        consumed = Count.NONE;
        acked = Count.NONE;
    }

    /** Nothing is in the outbox any more; what was there comes back. */
    void takeBack() {
        if (isWaitedFor()) {
            returned.add(new Range(floor(), sent));
        }
        inFiles = 0;
        refusals.clear();
        starts.clear();
        drop();
    }

    boolean isAcked(long count) {
        return count <= floor()
                && returned.stream().noneMatch(it -> count > it.from() && count <= it.to());
    }

    Change.PeerIs snapshot() {
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
                inHeap());
    }

    /** What of the outbox is in the file; the base's next line about this peer. */
    Optional<Change.InFiles> inFiles() {
        if (inFiles == 0) {
            return Optional.empty();
        }
        List<Change.Start> from = new ArrayList<>();
        starts.forEach((count, start) -> from.add(new Change.Start(count, start)));
        return Optional.of(
                new Change.InFiles(
                        key, stream, inFiles, inFilesSince, List.copyOf(refusals), from));
    }

    /** A base says that the last messages are in a file. */
    void holds(Change.InFiles is) {
        Map<Long, Waiting> before = new HashMap<>(unacked);
        unacked.clear();
        before.forEach((count, waiting) -> unacked.put(count - is.messages(), waiting));
        inFiles = is.messages();
        lastInFile = sent;
        inFilesSince = is.sinceMillis();
        refusals.addAll(is.refusals());
        is.starts().forEach(it -> starts.put(it.count(), it.incarnation()));
        outboxes.holds(this, is.stream());
    }

    static Peer of(Change.PeerIs is, long turn, Outboxes outboxes) {
        Peer peer = new Peer(is.peer(), is.outside(), outboxes);
        peer.birth = is.birth().orElse(null);
        peer.known = is.known();
        peer.seen = is.seen();
        peer.consumed = is.consumed();
        peer.acked = is.acked();
        peer.numbersAfter = is.numbersAfter();
        peer.sent = is.sent() - is.unacked().size();
        peer.heardMillis = is.heardMillis();
        peer.gone.addAll(is.gone());
        peer.returned.addAll(is.returned());
        for (Unacked message : is.unacked()) {
            // All that a base has in it was in the heap.
            peer.unacked.put(++peer.sent, new Waiting(turn, message));
            peer.took(message);
        }
        return peer;
    }
}
