package io.saucr.services.core;

import java.util.List;

/**
 * What a handler wanted to happen, gathered while it ran; nothing of it has left (K2). Immutable.
 *
 * @param sends in their order
 * @param timers set and not cancelled in the same turn; their ids are above all before
 * @param cancelled timers of turns before
 * @param outputs calls to the world (K17)
 * @param replies to the message of this turn or to callers that wait
 * @param newestTimer the largest id that was ever given to a timer, kept or not
 * @param detached whether the caller of this turn's message waits for a later turn
 */
public record Effects(
        List<Send> sends,
        List<TimerSet> timers,
        List<Long> cancelled,
        List<Body> outputs,
        List<Reply> replies,
        long newestTimer,
        boolean detached) {

    /** Of a turn that only consumes its message. */
    public static Effects none(long newestTimer) {
        return new Effects(
                List.of(), List.of(), List.of(), List.of(), List.of(), newestTimer, false);
    }

    /** A message to a service, this one included. */
    public record Send(String service, Body body) {}

    /** A timer. */
    public record TimerSet(long id, long dueMillis, Body body) {}

    /** An answer to who waits: peer and number as the {@link Input} said them. */
    public record Reply(String peer, long number, Body body) {}
}
