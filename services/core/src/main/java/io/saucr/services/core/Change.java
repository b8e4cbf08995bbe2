package io.saucr.services.core;

import java.util.List;
import java.util.Optional;

/**
 * A change to what a service knows of its channels, timers and outputs. Turns record them, starts
 * apply them again (K9). A peer is a service's name, or a client's name and birth. Immutable.
 */
public sealed interface Change {

    /** The pair with this birth is on this disk; no number was given in it (K11). */
    record PairOpened(String peer, boolean outside, Birth birth, Count seen) implements Change {}

    /** The pair is on both disks: from now on its messages have numbers. */
    record PairKnown(String peer) implements Change {}

    /** The pair is over: what was numbered and not acked comes back (K15). */
    record PairOver(String peer, Birth birth, String reason) implements Change {}

    /**
     * The peer's birth said that this one is lost: what was numbered and not acked comes back, and
     * nothing is sent to that birth any more (K15). In a base: that it said so once.
     */
    record PairRefused(String peer, Birth birth, String reason) implements Change {}

    /** What waits for a peer without a birth comes back: it had no numbers, and never left. */
    record GivenUp(String peer, String reason) implements Change {}

    /**
     * The state continues under a new birth (K11): all pairs are over, and whatever is in an outbox
     * comes back, numbered or not, as a newer folder may have sent it. What the service told
     * itself, timers and calls to the world stay.
     *
     * @param before the birth under which the turns before were
     */
    record BornAnew(Birth before, Birth now, String reason) implements Change {}

    /** A message was consumed, and under which start of its sender it came. */
    record Consumed(String peer, Count last) implements Change {}

    /** Messages up to this number were acked, and under which start of the peer (K6). */
    record Acked(String peer, Count last) implements Change {}

    /** A message, an answer or a refusal was sent; numbered in their order. */
    record Sent(String peer, long answers, Optional<String> refusal, Body body) implements Change {}

    /** A message that was not acked is taken back; its number stays, and stands for nothing. */
    record Withdrawn(String peer, long count) implements Change {}

    /** A timer was set. */
    record TimerSet(long id, long dueMillis, Body body) implements Change {}

    /** A timer went off or was cancelled. */
    record TimerGone(long id) implements Change {}

    /** The largest id that was given to a timer. */
    record TimersUpTo(long id) implements Change {}

    /** A message that the service gives itself is due then. */
    record RepeatDue(String type, long periodMillis, long dueMillis) implements Change {}

    /** A message that the service gave itself is given no more. */
    record RepeatGone(String type) implements Change {}

    /** An epoch of a service with standbys began; what an earlier one did above is lost (C11). */
    record EpochBegan(Epochs.Begun begun) implements Change {}

    /** A call to the world was asked for; numbered in their order (K17). */
    record OutputMade(Body body) implements Change {}

    /** A call's answer was consumed, or there is none. */
    record OutputDone(long output) implements Change {}

    /** What came back was consumed. */
    record ReturnTaken(long id) implements Change {}

    /**
     * A channel's first input is about to be tried, after a start; 0 times: it no longer is (K12).
     */
    record Tried(String channel, String input, int times) implements Change {}

    /** An input was put aside; numbered in their order (K12). */
    record Parked(String channel, String reason, Body body) implements Change {}

    /** A message that came back was put aside; numbered with {@link Parked} (K12). */
    record ReturnParked(String channel, String reason, Input.Returned returned) implements Change {}

    /** A person removed what was put aside. */
    record ParkedGone(long id) implements Change {}

    /** A person has what came back and was put aside come back again. */
    record ReturnAgain(long id) implements Change {}

    /** The sender of this message waits for a later turn's answer. */
    record Waits(String peer, long number) implements Change {}

    /** Who waited was answered. */
    record Answered(String peer, long number) implements Change {}

    /** What follows in this record was at that time; of turns that were joined, alone. */
    record At(long nowMillis) implements Change {}

    // What follows is of a base alone.

    /** All that is known of a peer. */
    record PeerIs(
            String peer,
            boolean outside,
            Optional<Birth> birth,
            boolean known,
            Count seen,
            Count consumed,
            Count acked,
            long numbersAfter,
            long sent,
            long heardMillis,
            List<Birth> gone,
            List<Range> returned,
            List<Unacked> unacked)
            implements Change {}

    /** Under which birth the turns were, and those before it (K11). */
    record BornAs(Birth now, List<Former> before) implements Change {}

    /** A birth that was replaced, and the last call to the world that was made under it. */
    record Former(Birth birth, long outputsUpTo) {}

    /** What was sent and never acked, as its pair was over: from, exclusive, to, inclusive. */
    record Range(long from, long to) {}

    /** A message that was sent and not acked, and when. */
    record Unacked(
            long incarnation, long sentMillis, long answers, Optional<String> refusal, Body body) {}

    /**
     * So many of a peer's messages, behind those that {@link PeerIs} has, lie in a file (K13).
     *
     * @param stream the file's number
     * @param sinceMillis when the first of them was sent
     * @param refusals which of them are refusals, by count
     * @param starts under which they were sent: each from one count on
     */
    record InFiles(
            String peer,
            long stream,
            long messages,
            long sinceMillis,
            List<Long> refusals,
            List<Start> starts)
            implements Change {}

    /** From this count on messages were sent under that start. */
    record Start(long count, long incarnation) {}

    /** Messages that come back and lie in a file: from, exclusive, to, inclusive (K13, K15). */
    record ReturningIs(
            long stream,
            long id,
            String service,
            long from,
            long to,
            boolean perhaps,
            String reason)
            implements Change {

        long lastId() {
            return id + to - from - 1;
        }

        long countOf(long which) {
            return from + 1 + which - id;
        }

        /** Those behind this id. */
        ReturningIs behind(long which) {
            return new ReturningIs(stream, which + 1, service, countOf(which), to, perhaps, reason);
        }
    }

    /** The largest numbers given. */
    record NumbersUpTo(long output, long returned, long parked) implements Change {}

    /** A call to the world that has no answer. */
    record OutputIs(long output, Body body) implements Change {}

    /** What came back and was not consumed. */
    record ReturnIs(long id, Input.Returned returned) implements Change {}

    /** What was put aside. */
    record ParkedIs(long id, String channel, String reason, Body body) implements Change {}

    /** That what was put aside had come back, and from where. */
    record ParkedReturnIs(long id, Input.Returned returned) implements Change {}
}
