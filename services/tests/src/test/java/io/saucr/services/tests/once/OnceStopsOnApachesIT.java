package io.saucr.services.tests.once;

import io.saucr.services.tests.once.BothServers.Kind;
import org.junit.jupiter.api.Tag;

/** {@link OnceStops} on Apache's servers. */
@Tag("long")
class OnceStopsOnApachesIT extends OnceStops {
    OnceStopsOnApachesIT() {
        super(Kind.STOCK);
    }
}
