package io.saucr.services.replay;

import java.util.SplittableRandom;
import java.util.function.IntSupplier;
import java.util.random.RandomGenerator;

/** What a handler may ask about its request; the same on each member. Its lane's thread. */
public final class LaneTurn {

    private final Lane lane;
    private final long nowMillis;
    private final RandomGenerator random;

    LaneTurn(Lane lane, long nowMillis, long seed) {
        this.lane = lane;
        this.nowMillis = nowMillis;
        random = new SplittableRandom(seed);
    }

    /** When the request began on the primary, in milliseconds since 1970. */
    public long nowMillis() {
        return nowMillis;
    }

    /** Random numbers that are the same on each member. */
    public RandomGenerator random() {
        return random;
    }

    /**
     * Asks something that no order of events explains. The primary's answer is recorded (X7).
     *
     * @param question asked on the primary only; from 0
     */
    public int choose(IntSupplier question) {
        return lane.choose(question);
    }
}
