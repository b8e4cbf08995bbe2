package io.saucr.services.core;

import io.saucr.services.core.Frame.PairState;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * What continues with one peer and dies with the process: links, what is final of its channel, what
 * was transmitted, and what is held until its turn. Turn thread.
 */
final class Conversation {

    final String key;
    final int window;

    private final Supplier<Group> group;

    /** Links over which the peer said who it is, and how far it is with the pair. */
    final Map<Link, PairState> links = new LinkedHashMap<>();

    /** The highest start of the peer's birth that was met. */
    Incarnation met;

    /** What of the channel is final here (K4, K5): only this is told. */
    Count consumedFinal = Count.NONE;

    /** The count of the last message that the peer may hear, as {@link Release} says. */
    long sentToward;

    /** Messages from the one that runs next on; those with gaps before them wait (K7). */
    final TreeMap<Long, Frame.Msg> held = new TreeMap<>();

    /** Over which this end talks; what the other says counts over each. */
    private Link link;

    private boolean opened;
    private long ackTold;
    private long lastCredited;
    private long transmitted;

    private boolean member;

    Conversation(String key, int window, Supplier<Group> group) {
        this.key = key;
        this.window = window;
        this.group = group;
    }

    /** Whether the peer hears messages that are not final outside, and undoes with this service. */
    boolean isMember() {
        member = member || group.get().isMember(key);
        return member;
    }

    /**
     * The peer said who it is. This end talks over the newest link, all that is unacked again (K6).
     *
     * @return links of a lower start
     */
    List<Link> joined(Link over, Incarnation from, PairState state) {
        List<Link> lower = List.of();
        if (met == null || !met.birth().equals(from.birth()) || met.number() < from.number()) {
            lower = List.copyOf(links.keySet());
            links.clear();
            // Of another start, which sends again what it still has, and has room of its own.
            held.clear();
            lastCredited = 0;
            met = from;
        }
        if (links.put(over, state) == null) {
            talkOver(over);
        }
        return lower;
    }

    private void talkOver(Link over) {
        link = over;
        opened = false;
        transmitted = 0;
    }

    void left(Link over) {
        links.remove(over);
        if (over.equals(link)) {
            link = null;
            links.keySet().forEach(this::talkOver);
        }
    }

    Optional<Link> link() {
        return Optional.ofNullable(link);
    }

    /** The pair is over, and all that was said of it. */
    void end() {
        links.clear();
        held.clear();
        link = null;
        met = null;
        lastCredited = 0;
        consumedFinal = Count.NONE;
        ackTold = 0;
    }

    /** The peer takes messages up to this number. */
    void credited(long number) {
        lastCredited = Math.max(lastCredited, number);
    }

    /** Says what may be said now: messages within the credit, and acks (K4, K5, K6). */
    void say(Peer peer, long finalTurn, List<Action> out) {
        if (link == null
                || links.get(link) == PairState.NEW
                || peer.birth == null
                || peer.openedTurn > finalTurn) {
            return;
        }
        if (!opened || (!peer.outside && ackTold < consumedFinal.number())) {
            opened = true;
            ack(peer, link, out);
        }
        if (peer.known && peer.knownTurn <= finalTurn) {
            transmit(peer, out);
        }
        if (ackTold < consumedFinal.number() && mayAck(peer)) {
            ack(peer, link, out);
        }
    }

    private void transmit(Peer peer, List<Action> out) {
        peer.mayFetch();
        long inHeap = peer.sent - peer.inFiles;
        long last = Math.min(Math.min(peer.countOf(lastCredited), sentToward), inHeap);
        for (long count = Math.max(transmitted, peer.floor()) + 1; count <= last; count++) {
            Peer.Waiting waiting = peer.unacked.get(count);
            Change.Unacked message = waiting.message();
            Frame.Msg msg =
                    new Frame.Msg(
                            count - peer.numbersAfter,
                            message.answers(),
                            message.refusal(),
                            message.body());
            Frame frame = isMember() ? group.get().tagged(waiting.turn(), msg) : msg;
            out.add(new Action.Send(link, frame));
            transmitted = count;
        }
    }

    /**
     * An outside client hears the answer to its message, or why that was parked (K12), before the
     * ack: to the one that called it the ack says that all went well. Between services no ack waits
     * for a message, as each side's would wait for the other's.
     */
    private boolean mayAck(Peer peer) {
        return !peer.outside || Math.max(transmitted, peer.floor()) >= sentToward;
    }

    /** Says again how far it is, with the room behind that. */
    void ack(Peer peer, Link over, List<Action> out) {
        if (mayAck(peer)) {
            ackTold = consumedFinal.number();
        }
        out.add(new Action.Send(over, new Frame.Ack(ackTold, window)));
    }

    /** What is said of the pair with that birth; only of what is final. */
    Frame.Hello hello(
            String name, Incarnation self, Peer peer, Optional<Birth> to, long finalTurn) {
        PairState state = state(peer, to, finalTurn);
        if (state == PairState.NEW) {
            return new Frame.Hello(name, self, to, state, Count.NONE, Count.NONE, Count.NONE);
        }
        Count sent = Count.NONE;
        if (state == PairState.KNOWN) {
            sent = Count.of(sentNumber(peer, finalTurn), self);
        }
        return new Frame.Hello(name, self, to, state, sent, peer.acked, consumedFinal);
    }

    PairState state(Peer peer, Optional<Birth> with, long finalTurn) {
        if (peer == null
                || peer.birth == null
                || !with.equals(Optional.of(peer.birth))
                || peer.openedTurn > finalTurn) {
            return PairState.NEW;
        }
        return peer.known && peer.knownTurn <= finalTurn ? PairState.KNOWN : PairState.OPENED;
    }

    /** The last number that the peer may have heard. */
    long sentNumber(Peer peer, long finalTurn) {
        return peer.known && peer.knownTurn <= finalTurn
                ? Math.max(sentToward - peer.numbersAfter, peer.acked.number())
                : 0;
    }

    /** Why a start of the peer is over, or a copy, if so (K14). */
    Optional<String> older(Peer peer, Incarnation from) {
        long number = 0;
        long nonce = 0;
        if (peer != null && from.birth().equals(peer.birth)) {
            number = peer.seen.incarnation();
            nonce = peer.seen.nonce();
        }
        if (met != null && met.birth().equals(from.birth()) && met.number() >= number) {
            number = met.number();
            nonce = met.nonce();
        }
        if (from.number() < number) {
            return Optional.of("start " + from.number() + " is over, as " + number + " was seen");
        }
        if (from.number() == number && from.nonce() != nonce) {
            return Optional.of("two starts have the number " + number + "; one is a copy (K14)");
        }
        return Optional.empty();
    }

    /**
     * Whether the peer knows less of its own past than it told before (K14). A member may have
     * undone what it sent, and what was consumed of that is undone here, too: only what is final
     * counts.
     */
    boolean isBehind(Peer peer, Frame.Hello hello) {
        Count consumed = isMember() ? consumedFinal : peer.consumed;
        return (peer.known && hello.pair() == Frame.PairState.NEW)
                || consumed.number() > hello.sent().number()
                || peer.acked.number() > hello.consumed().number();
    }
}
