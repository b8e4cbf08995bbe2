package io.saucr.core.log;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a server's log folder records about itself (R26): whose it is, and how much it must at least
 * hold. It stands in a marker file next to the log; whose log it is stands in the epoch file, too,
 * in the other folder, behind the number that ZooKeeper reads. So each folder shows when the other
 * one is lost or was replaced. Immutable.
 *
 * @param ensemble name of the ensemble, 1 to 64 letters, digits, dots, dashes and underscores;
 *     empty if it has none
 * @param server id of the server, at least 0
 * @param log drawn at random, not negative, when the folder was first used; no two folders have the
 *     same
 * @param previous the least that the epoch file may say, at least 0; less than {@code epoch} only
 *     while the epoch file is being replaced
 * @param epoch the most that the epoch file may say, at least {@code previous}
 * @param extent how far the log, or the snapshot before it, reached at least when this was written
 * @param marker the latest-on-disk marker when this was written; if the marker has moved on since,
 *     it counts and not {@code extent}
 */
public record LogIdentity(
        String ensemble,
        long server,
        long log,
        long previous,
        long epoch,
        long extent,
        long marker) {
    /** The names that an ensemble may have. */
    public static final Pattern ENSEMBLE = Pattern.compile("[A-Za-z0-9._-]{1,64}");

    private static final Pattern STAMP =
            Pattern.compile("saucr server=(\\d{1,18}) log=([0-9a-f]{1,16})");

    public LogIdentity {
        if (!(ensemble.isEmpty() || ENSEMBLE.matcher(ensemble).matches())) {
            throw new IllegalArgumentException("ensemble '" + ensemble + "'");
        }
        if (server < 0 || log < 0 || previous < 0 || epoch < previous || extent < 0 || marker < 0) {
            throw new IllegalArgumentException(
                    "server %s, log %s, epoch %s to %s, extent %s, marker %s"
                            .formatted(server, log, previous, epoch, extent, marker));
        }
    }

    /** The identity of a log while its epoch file is not being replaced. */
    public LogIdentity(
            String ensemble, long server, long log, long epoch, long extent, long marker) {
        this(ensemble, server, log, epoch, epoch, extent, marker);
    }

    /** Whose log belongs to an epoch file. */
    public record Stamp(long server, long log) {
        /** The second line of an epoch file; ZooKeeper reads the first one alone. */
        public String encode() {
            return String.format("saucr server=%d log=%x", server, log);
        }

        /** The stamp in a line, empty if it is anything else. */
        public static Optional<Stamp> decode(String line) {
            Matcher matcher = STAMP.matcher(line.trim());
            return matcher.matches()
                    ? Optional.of(
                            new Stamp(
                                    Long.parseLong(matcher.group(1)),
                                    Long.parseUnsignedLong(matcher.group(2), 16)))
                    : Optional.empty();
        }
    }

    /** What the epoch file says of this log. */
    public Stamp stamp() {
        return new Stamp(server, log);
    }

    /** The identity of this server's log after a loss: nothing in it counts as complete. */
    public static LogIdentity ofLoss(String ensemble, Stamp stamp) {
        return new LogIdentity(ensemble, stamp.server(), stamp.log(), 0, 0, 0);
    }

    /** The same log, see {@link #ofLoss}. */
    public LogIdentity lost() {
        return ofLoss(ensemble, stamp());
    }

    /**
     * The same log, with what it must reach as long as the latest-on-disk marker has this value.
     */
    public LogIdentity withExtent(long reached, long latestOnDisk) {
        return new LogIdentity(ensemble, server, log, previous, epoch, reached, latestOnDisk);
    }

    /** The same log, while the epoch file may hold either number or one between them. */
    public LogIdentity withEpochs(long one, long other) {
        return new LogIdentity(
                ensemble, server, log, Math.min(one, other), Math.max(one, other), extent, marker);
    }

    /**
     * What the log must reach, given the latest-on-disk marker next to it. A truncation lowers the
     * extent, but not the marker.
     */
    public long leastEnd(long latestOnDisk) {
        return latestOnDisk > marker ? latestOnDisk : extent;
    }
}
