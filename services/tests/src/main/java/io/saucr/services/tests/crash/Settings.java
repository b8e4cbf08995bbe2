package io.saucr.services.tests.crash;

import io.saucr.services.core.Limits;
import io.saucr.services.wire.NetOptions;
import java.time.Duration;
import java.util.Optional;

/** How the services and clients of these tests run: all that takes its time takes little. */
final class Settings {

    /** A peer that lost its power is noticed, and reached again, within a second or two. */
    static final NetOptions NET =
            new NetOptions(
                    1 << 20,
                    16L << 20,
                    4L << 20,
                    1000,
                    100,
                    Duration.ofMillis(500),
                    Duration.ofSeconds(3),
                    Duration.ofSeconds(2),
                    Duration.ofMillis(10),
                    Duration.ofMillis(200),
                    Optional.empty());

    /** Who is killed in its turn again and again is not to blame the message for it (K12). */
    static final Limits LIMITS = new Limits(256, 1000, false, 1, 50, 1024, 60_000_000);

    static final Duration SESSION = Duration.ofSeconds(2);

    /** So small that a base is written every few turns and a segment holds a few dozen. */
    static final long FOLD_BYTES = 1 << 10;

    static final int SEGMENT_BYTES = 8 << 10;

    private Settings() {}
}
