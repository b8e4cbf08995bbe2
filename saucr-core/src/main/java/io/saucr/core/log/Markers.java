package io.saucr.core.log;

import io.saucr.core.Zxid;
import io.saucr.core.quorum.View;

/**
 * The markers that a server finds on its disk when it starts (R12, R13).
 *
 * @param fastSwitch the first entry of the newest fast period, synced before that entry was acked;
 *     {@link Zxid#NONE} when the server never was in fast mode
 * @param latestOnDisk the log was synced at least up to here; {@link Zxid#NONE} when never written
 * @param lleMap the map as of {@code latestOnDisk}
 * @param view the own view: that of the newest seal which this server synced before it acked it
 *     (R23)
 */
public record Markers(long fastSwitch, long latestOnDisk, LleMap lleMap, View view) {
    private static final Markers NONE = new Markers(Zxid.NONE, Zxid.NONE, LleMap.empty());

    public Markers {
        if (fastSwitch < 0 || latestOnDisk < 0) {
            throw new IllegalArgumentException(
                    "negative marker: fast-switch %s, latest-on-disk %s"
                            .formatted(Zxid.toString(fastSwitch), Zxid.toString(latestOnDisk)));
        }
    }

    /** Markers of a server that has synced no seal. */
    public Markers(long fastSwitch, long latestOnDisk, LleMap lleMap) {
        this(fastSwitch, latestOnDisk, lleMap, View.FIRST);
    }

    /** No markers: neither was ever written. */
    public static Markers none() {
        return NONE;
    }

    /**
     * Whether entries that this server acked may have been in its memory alone when it stopped: it
     * must recover before it takes part in anything (R15).
     */
    public boolean crashedInFastMode() {
        return fastSwitch > latestOnDisk;
    }

    /** For humans, with zxids as ZooKeeper prints them. */
    @Override
    public String toString() {
        return "fast-switch "
                + Zxid.toString(fastSwitch)
                + ", latest-on-disk "
                + Zxid.toString(latestOnDisk)
                + ", LLE "
                + lleMap
                + (view.isFirst() ? "" : ", view " + view.encode());
    }
}
