package io.saucr.core.recovery;

import io.saucr.core.Zxid;
import io.saucr.core.log.LogIdentity;
import io.saucr.core.log.LogIdentity.Stamp;
import io.saucr.core.log.Markers;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Whether a server that starts still has everything that it acknowledged (R15, R25, R26), and why.
 *
 * @param verdict what follows from it
 * @param reason a clause that says what was found, for the log and for operators
 */
public record StartAssessment(Verdict verdict, String reason) {

    /** What follows for the server. */
    public enum Verdict {
        /** Everything that it acknowledged is on its disk: it takes part. */
        COMPLETE,
        /** Everything is in the page cache at least (R25): once it is synced, it takes part. */
        COMPLETE_IN_PAGE_CACHE,
        /** It crashed in fast mode and may lack what was in memory alone (R15). */
        MEMORY_LOST,
        /** Its log, or another part of its disk, is not what it was (R26). */
        DISK_LOST,
        /** Its disk is empty: it is new, or it has lost everything (R26). */
        EMPTY,
        /** Its disk is another server's: it must not start. */
        FOREIGN
    }

    /**
     * What is on a server's disk.
     *
     * @param ensemble the ensemble's name in the configuration, "" if it has none; empty if the
     *     configuration is not known, and then names are not compared
     * @param sid the server's id, -1 if it is not known, and then ids are not compared
     * @param currentEpoch what the epoch file says, -1 if there is none
     * @param acceptedEpoch what the file of the accepted epoch says, -1 if there is none
     * @param stamp what the epoch file says of the log
     * @param identity what the log folder records about itself
     * @param fastSwitchPresent whether that marker is there
     * @param latestOnDiskPresent whether that marker is there
     * @param markers their values
     * @param lastLogged the log's last sound entry, or the newest usable snapshot if that is later;
     *     0 if there is neither
     * @param damaged whether the log is damaged from there on in a way that no crash explains
     * @param provenThrough if the page cache is the one of the process that died (R25), the last
     *     entry that it acked without an fsync
     */
    public record Findings(
            Optional<String> ensemble,
            long sid,
            long currentEpoch,
            long acceptedEpoch,
            Optional<Stamp> stamp,
            Optional<LogIdentity> identity,
            boolean fastSwitchPresent,
            boolean latestOnDiskPresent,
            Markers markers,
            long lastLogged,
            boolean damaged,
            OptionalLong provenThrough) {
        boolean anyMarker() {
            return fastSwitchPresent || latestOnDiskPresent;
        }
    }

    /** Whether the server may lack what it acknowledged, so that it recovers when it starts. */
    public boolean mustRecover() {
        return verdict == Verdict.MEMORY_LOST || verdict == Verdict.DISK_LOST;
    }

    /** Looks at everything; changes nothing. */
    public static StartAssessment of(Findings found) {
        Optional<Long> owner =
                found.sid < 0
                        ? Optional.empty()
                        : found.identity
                                .map(LogIdentity::server)
                                .filter(server -> server != found.sid)
                                .or(
                                        () ->
                                                found.stamp
                                                        .map(Stamp::server)
                                                        .filter(server -> server != found.sid));
        if (owner.isPresent()) {
            return new StartAssessment(
                    Verdict.FOREIGN,
                    "the data are those of server " + owner.get() + ", not of server " + found.sid);
        }
        Optional<String> named =
                found.identity
                        .map(LogIdentity::ensemble)
                        .filter(name -> !name.isEmpty())
                        .filter(name -> !found.ensemble.orElse(name).equals(name));
        if (named.isPresent()) {
            return new StartAssessment(
                    Verdict.FOREIGN,
                    "the data are of the ensemble '"
                            + named.get()
                            + "', and "
                            + (found.ensemble.orElseThrow().isEmpty()
                                    ? "this server's has no name"
                                    : "this server's is '" + found.ensemble.orElseThrow() + "'")
                            + " (saucr.ensembleName)");
        }
        if (isEmpty(found)) {
            return new StartAssessment(Verdict.EMPTY, "there is no history on its disk");
        }
        if (found.identity.isEmpty()) {
            if (found.stamp.isPresent()) {
                return lost(
                        found.anyMarker()
                                ? "saucr.identity is missing in the log folder"
                                : "the log folder is not the one that it had: there is no marker"
                                        + " in it");
            }
            // Apache's server was here, or a version that knows no identity.
            return byMarkers(found);
        }
        LogIdentity identity = found.identity.get();
        if (found.stamp.isPresent() && !found.stamp.get().equals(identity.stamp())) {
            return lost("the log folder is another one than the epoch file names");
        }
        if (found.currentEpoch < 0 && (found.lastLogged != Zxid.NONE || identity.previous() > 0)) {
            return lost("the epoch file is lost");
        }
        // It is written before an epoch is: what it promised to a leader is forgotten.
        if (found.acceptedEpoch < 0 && identity.previous() > 0) {
            return lost("the file acceptedEpoch is lost");
        }
        if (Math.max(0, found.currentEpoch) < identity.previous()) {
            return lost(
                    "its current epoch was %s, and the epoch file says %s"
                            .formatted(identity.previous(), found.currentEpoch));
        }
        // Apache's server, which leaves no stamp, may have been in later epochs.
        if (found.stamp.isPresent() && found.currentEpoch > identity.epoch()) {
            return lost(
                    ("the log folder is an older copy: it is of epoch %s, and the"
                                    + " epoch file says %s")
                            .formatted(identity.epoch(), found.currentEpoch));
        }
        if (!found.fastSwitchPresent || !found.latestOnDiskPresent) {
            return lost(
                    (found.fastSwitchPresent ? "saucr.latestOnDisk" : "saucr.fastSwitch")
                            + " is missing in the log folder");
        }
        if (found.markers.latestOnDisk() < identity.marker()) {
            return lost(
                    "saucr.latestOnDisk is an older copy: it says "
                            + Zxid.toString(found.markers.latestOnDisk())
                            + ", and was at "
                            + Zxid.toString(identity.marker()));
        }
        long least =
                Math.max(
                        identity.leastEnd(found.markers.latestOnDisk()), beforeFast(found.markers));
        if (found.lastLogged < least) {
            return lost(
                    "the log ends at %s and was synced through %s"
                            .formatted(Zxid.toString(found.lastLogged), Zxid.toString(least)));
        }
        return byMarkers(found);
    }

    /**
     * When the fast-switch marker was written, everything before its entry was on disk: slow
     * entries are synced before they are acked. The first entry of an epoch has no entry before it
     * that could tell.
     */
    private static long beforeFast(Markers markers) {
        long before = markers.fastSwitch() - 1;
        return markers.crashedInFastMode()
                        && before > markers.latestOnDisk()
                        && Zxid.counter(before) > 0
                ? before
                : Zxid.NONE;
    }

    /**
     * Nothing is there, or only the marks of a first start that was killed before anything was
     * acked.
     */
    private static boolean isEmpty(Findings found) {
        boolean nothingYet =
                found.currentEpoch <= 0
                        && found.lastLogged == Zxid.NONE
                        && found.markers.fastSwitch() == Zxid.NONE
                        && found.markers.latestOnDisk() == Zxid.NONE
                        && found.identity
                                .map(is -> is.epoch() == 0 && is.extent() == 0 && is.marker() == 0)
                                .orElse(true);
        return nothingYet
                && (found.identity.isEmpty()
                        || !found.fastSwitchPresent
                        || !found.latestOnDiskPresent);
    }

    private static StartAssessment byMarkers(Findings found) {
        Markers markers = found.markers;
        if (!markers.crashedInFastMode()) {
            return found.damaged
                    ? lost("the log is damaged after " + Zxid.toString(found.lastLogged))
                    : new StartAssessment(Verdict.COMPLETE, "everything is on its disk");
        }
        String fast =
                "it crashed in fast mode (fast since %s, on disk through %s)"
                        .formatted(
                                Zxid.toString(markers.fastSwitch()),
                                Zxid.toString(markers.latestOnDisk()));
        // The entry that the marker names was in the page cache before the marker was written.
        // An older version writes no page-cache proof and no stamp; without a stamp it may have
        // run last, and the proof be older than the log.
        boolean proven =
                found.provenThrough.isPresent()
                        && found.stamp.isPresent()
                        && found.identity.isPresent();
        return proven
                        && !found.damaged
                        && found.lastLogged >= markers.fastSwitch()
                        && found.lastLogged >= found.provenThrough.getAsLong()
                ? new StartAssessment(
                        Verdict.COMPLETE_IN_PAGE_CACHE, fast + ", but its machine kept running")
                : new StartAssessment(Verdict.MEMORY_LOST, fast);
    }

    private static StartAssessment lost(String reason) {
        return new StartAssessment(Verdict.DISK_LOST, reason);
    }
}
