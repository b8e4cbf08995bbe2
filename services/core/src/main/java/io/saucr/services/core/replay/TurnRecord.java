package io.saucr.services.core.replay;

import java.util.Arrays;

/** A record of lane 0, the turn thread. Each is one event of that lane (X1). */
public sealed interface TurnRecord
        permits TurnRecord.Begin, TurnRecord.End, TurnRecord.Own, TurnRecord.Attempt {

    /**
     * A request begins in a lane. It is the lane's next event, too.
     *
     * @param request its number in the trace, from 1, never used twice
     * @param lane that runs its handler, from 1
     * @param clock of the lane
     * @param nowMillis time of the request
     * @param seed of its random numbers
     * @param sender its channel
     * @param number in the channel
     * @param body the message; not to be changed
     */
    @SuppressWarnings("ArrayRecordComponent") // Compared below; not changed by anybody.
    record Begin(
            long request,
            int lane,
            int clock,
            long nowMillis,
            long seed,
            long sender,
            long number,
            byte[] body)
            implements TurnRecord {

        @Override
        public boolean equals(Object other) {
            return other instanceof Begin it
                    && it.request == request
                    && it.lane == lane
                    && it.clock == clock
                    && it.nowMillis == nowMillis
                    && it.seed == seed
                    && it.sender == sender
                    && it.number == number
                    && Arrays.equals(it.body, body);
        }

        @Override
        public int hashCode() {
            return Long.hashCode(request);
        }

        @Override
        public String toString() {
            return "begin of request " + request + " at " + lane + "@" + clock;
        }
    }

    /**
     * A request is consumed.
     *
     * @param request its number
     * @param clock of the lane's last event of it; 0 where that was before the barrier
     * @param hash of the handler's events, choices and bytes (X14)
     * @param threw whether the handler threw or was killed: its sends are dropped, and its message
     *     becomes a dead letter (X12)
     * @param delta what the core changed; not to be changed
     */
    @SuppressWarnings("ArrayRecordComponent") // Compared below; not changed by anybody.
    record End(long request, int clock, int hash, boolean threw, byte[] delta)
            implements TurnRecord {

        @Override
        public boolean equals(Object other) {
            return other instanceof End it
                    && it.request == request
                    && it.clock == clock
                    && it.hash == hash
                    && it.threw == threw
                    && Arrays.equals(it.delta, delta);
        }

        @Override
        public int hashCode() {
            return Long.hashCode(request);
        }

        @Override
        public String toString() {
            return "end of request " + request + " at clock " + clock;
        }
    }

    /**
     * A turn of the core without a handler.
     *
     * @param delta what it changed; not to be changed
     */
    @SuppressWarnings("ArrayRecordComponent") // Compared below; not changed by anybody.
    record Own(byte[] delta) implements TurnRecord {

        @Override
        public boolean equals(Object other) {
            return other instanceof Own it && Arrays.equals(it.delta, delta);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(delta);
        }

        @Override
        public String toString() {
            return "turn without a handler, " + delta.length + " bytes";
        }
    }

    /**
     * A new primary is about to continue an open request (X9).
     *
     * @param request its number
     */
    record Attempt(long request) implements TurnRecord {}
}
