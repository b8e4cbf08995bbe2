package io.saucr.model.simulator;

/** Numbers that look random and depend on the seed alone (SplitMix64). Owned by one thread. */
final class Dice {
    private static final long GOLDEN = 0x9E3779B97F4A7C15L;

    private long state;

    void seed(long seed) {
        state = mix(seed * GOLDEN + GOLDEN);
    }

    private static long mix(long z) {
        long a = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        long b = (a ^ (a >>> 27)) * 0x94D049BB133111EBL;
        return b ^ (b >>> 31);
    }

    /** A number from 0 to {@code bound - 1}. */
    int below(int bound) {
        state += GOLDEN;
        return (int) (((mix(state) >>> 32) * bound) >>> 32);
    }

    /** True once in this many times. */
    boolean oneIn(int times) {
        return below(times) == 0;
    }
}
