package io.saucr.services.wire;

import java.time.Duration;

/** Plain options whose links end after another silence. Stateless. */
public final class SilentFor {
    private SilentFor() {}

    public static NetOptions options(Duration silence) {
        NetOptions plain = NetOptions.plain();
        return new NetOptions(
                plain.frameBytes(),
                plain.unsentBytes(),
                plain.untakenBytes(),
                plain.connections(),
                plain.strangers(),
                plain.connectTimeout(),
                plain.helloTimeout(),
                silence,
                plain.backoffMin(),
                plain.backoffMax(),
                plain.tls());
    }
}
