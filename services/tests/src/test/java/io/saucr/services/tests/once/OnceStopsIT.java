package io.saucr.services.tests.once;

import io.saucr.services.tests.once.BothServers.Kind;

/** {@link OnceStops} on our servers. */
class OnceStopsIT extends OnceStops {
    OnceStopsIT() {
        super(Kind.OURS);
    }
}
