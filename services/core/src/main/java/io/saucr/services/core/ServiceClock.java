package io.saucr.services.core;

/**
 * The time of turns (K16): begins at the larger of the wall clock and the last record, never goes
 * back, and within a run follows the steady clock, drawn towards the wall by one part in a hundred
 * of what passes. So a wall clock that jumps fires nothing early.
 */
final class ServiceClock {

    private static final long SLEW_PARTS = 100;

    private long nowMillis;
    private long steadyMillis;
    private long slewCreditMillis;

    ServiceClock(long lastRecordMillis, Moment start) {
        nowMillis = Math.max(lastRecordMillis, start.wallMillis());
        steadyMillis = start.steadyMillis();
    }

    /** The time now; for turns and for what is due. */
    long advance(Moment at) {
        long passed = Math.max(0, at.steadyMillis() - steadyMillis);
        steadyMillis = Math.max(steadyMillis, at.steadyMillis());
        // Small steps add up, or a clock that is read every millisecond would never be drawn.
        slewCreditMillis += passed;
        long most = slewCreditMillis / SLEW_PARTS;
        slewCreditMillis %= SLEW_PARTS;
        long ahead = at.wallMillis() - (nowMillis + passed);
        nowMillis += passed + Math.max(-Math.min(most, passed), Math.min(most, ahead));
        return nowMillis;
    }

    long nowMillis() {
        return nowMillis;
    }
}
