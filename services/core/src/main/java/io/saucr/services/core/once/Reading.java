package io.saucr.services.core.once;

import java.util.List;

/**
 * What the ensemble shows of a client, read after a sync.
 *
 * @param parentVersion of the parent's data; -1 where there is no parent
 * @param markers below it
 */
public record Reading(int parentVersion, List<Marker> markers) {

    /** Where the parent is not there. */
    public static final int NO_PARENT = -1;

    public Reading {
        markers = List.copyOf(markers);
    }

    /**
     * One marker.
     *
     * @param name of the znode
     * @param version of its data
     * @param mzxid of its data's last change
     * @param content that it holds
     */
    public record Marker(String name, int version, long mzxid, MarkerContent content) {}
}
