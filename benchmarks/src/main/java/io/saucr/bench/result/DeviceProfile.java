package io.saucr.bench.result;

import java.time.Duration;

/** A disk by the least time that a force of its cache takes; simulated by the fsync delay shim. */
public enum DeviceProfile {
    HDD(Duration.ofMillis(10)),
    SSD(Duration.ofMillis(1)),
    NVME(Duration.ofNanos(100_000)),
    /** No delay: the machine's own disk. */
    NONE(Duration.ZERO);

    private final Duration forceDelay;

    DeviceProfile(Duration forceDelay) {
        this.forceDelay = forceDelay;
    }

    /** The least time of a force; zero adds nothing to what the machine's disk takes. */
    public Duration forceDelay() {
        return forceDelay;
    }
}
