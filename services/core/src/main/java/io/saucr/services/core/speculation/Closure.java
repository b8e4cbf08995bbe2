package io.saucr.services.core.speculation;

import io.saucr.services.core.speculation.VersionRecord.Sealed;
import java.util.List;
import java.util.Map;

/** The largest set of versions in which each has all that it depends on (D6). */
final class Closure {

    private Closure() {}

    /**
     * Of reported versions.
     *
     * @param floor versions that are final
     * @param reported versions above the floor that are on disk, in order, by member
     * @return the newest version of each member that is in the set
     */
    static VersionVector of(VersionVector floor, Map<Integer, List<Sealed>> reported) {
        VersionVector within = floor;
        for (Map.Entry<Integer, List<Sealed>> each : reported.entrySet()) {
            for (Sealed version : each.getValue()) {
                within = within.with(each.getKey(), version.version());
            }
        }
        // A version that is dropped can only make others drop: the order does not matter.
        while (true) {
            VersionVector closed = within;
            for (Map.Entry<Integer, List<Sealed>> each : reported.entrySet()) {
                int member = each.getKey();
                closed = closed.with(member, run(floor.at(member), each.getValue(), closed));
            }
            if (closed.equals(within)) {
                return closed;
            }
            within = closed;
        }
    }

    /** The end of those in a row that depend on nothing else; {@code base} where there is none. */
    private static long run(long base, List<Sealed> versions, VersionVector within) {
        long end = base;
        for (Sealed version : versions) {
            if (!within.covers(version.dependencies())) {
                break;
            }
            end = version.version();
        }
        return end;
    }
}
