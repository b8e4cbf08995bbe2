package io.saucr.services.core.speculation;

import io.saucr.services.core.speculation.VersionRecord.Sealed;
import java.util.List;

/**
 * All that a member has on disk, as it lists it to a coordinator (D9).
 *
 * @param world that the member has passed to
 * @param base its newest version that its disk knows as final
 * @param versions the later ones, in order, as its disk has them; those that were recorded in an
 *     earlier world depend on nothing
 * @param boundary that the member knows
 */
public record Listing(long world, long base, List<Sealed> versions, VersionVector boundary) {

    public Listing {
        versions = List.copyOf(versions);
    }

    /** The newest version that is listed. */
    long newest() {
        return versions.isEmpty() ? base : versions.get(versions.size() - 1).version();
    }
}
