package org.apache.zookeeper.server.persistence;

import io.saucr.core.log.LogIdentity.Stamp;
import io.saucr.core.log.Markers;
import io.saucr.core.recovery.StartAssessment;
import io.saucr.core.recovery.StartAssessment.Findings;
import io.saucr.core.recovery.StartAssessment.Verdict;
import io.saucr.server.runtime.SmallFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Reads a server's disk when it starts, and tells whether it still has everything that the server
 * acknowledged (R15, R25, R26). Changes nothing. Not thread-safe.
 */
public final class DiskInspection {
    private final Path logs;
    private final Path snapshots;
    private final MarkerStore markerStore;
    private RawLog.Scan scan;

    /**
     * @param logs the directory with the log files and the markers
     * @param snapshots the directory with the snapshots and the epoch files
     */
    public DiskInspection(Path logs, Path snapshots, MarkerStore markerStore) {
        this.logs = logs;
        this.snapshots = snapshots;
        this.markerStore = markerStore;
    }

    /**
     * Looks at everything, and reads the log after the newest snapshot.
     *
     * @param ensemble the ensemble's name in the configuration, empty if that is not known
     * @param sid the server's id
     * @param provenThrough if the page cache is still that of the process that died, the last entry
     *     that the log must have
     */
    public StartAssessment assess(Optional<String> ensemble, long sid, OptionalLong provenThrough)
            throws IOException {
        DataFolder.requireClear(logs, snapshots);
        Markers markers = markerStore.read();
        scan = new RawLog(logs, snapshots).scan(markers.latestOnDisk());
        long last = scan.epochEnds().last();
        boolean damaged =
                scan.damage() != null && !TornTail.explains(scan.damage(), logs, last, markers);
        StartAssessment found =
                StartAssessment.of(findings(ensemble, sid, markers, last, damaged, provenThrough));
        return damaged && found.verdict() == Verdict.DISK_LOST ? withDamage(found) : found;
    }

    private StartAssessment withDamage(StartAssessment found) {
        RawLog.Damage damage = scan.damage();
        return new StartAssessment(
                found.verdict(),
                "%s (%s, byte %s: %s)"
                        .formatted(
                                found.reason(),
                                damage.file().getFileName(),
                                damage.offset(),
                                damage.what()));
    }

    /**
     * What {@link #assess} read of the log; it is kept because reading takes most of a start's
     * time.
     */
    public RawLog.Scan scan() {
        return scan;
    }

    /** As {@link #assess}, but takes the log for complete without reading it. */
    public StartAssessment assessMarkers(String ensemble, long sid) throws IOException {
        DataFolder.requireClear(logs, snapshots);
        // A replacement that a crash interrupted is completed first, and writes both epochs.
        if (CopiedHistory.pending(logs).isEmpty()) {
            RecoveryStore.requireOrderedEpochs(snapshots);
        }
        boolean nothing =
                RecoveryStore.currentEpochIn(snapshots) <= 0
                        && !(Files.isDirectory(logs) && !DataFolder.logs(logs).isEmpty());
        long last = nothing ? 0 : Long.MAX_VALUE;
        return StartAssessment.of(
                findings(
                        Optional.of(ensemble),
                        sid,
                        markerStore.read(),
                        last,
                        false,
                        OptionalLong.empty()));
    }

    private Findings findings(
            Optional<String> ensemble,
            long sid,
            Markers markers,
            long lastLogged,
            boolean damaged,
            OptionalLong provenThrough)
            throws IOException {
        return new Findings(
                ensemble,
                sid,
                RecoveryStore.currentEpochIn(snapshots),
                RecoveryStore.acceptedEpochIn(snapshots),
                stamp(snapshots),
                markerStore.identity(),
                markerStore.hasFastSwitch(),
                markerStore.hasLatestOnDisk(),
                markers,
                lastLogged,
                damaged,
                provenThrough);
    }

    /** What the epoch file says of the log (R26). */
    public static Optional<Stamp> stamp(Path snapshots) throws IOException {
        Path file = snapshots.resolve(RecoveryStore.CURRENT_EPOCH);
        List<String> lines;
        try {
            lines = SmallFile.lines(file);
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
        if (lines.size() < 2 || lines.get(1).isBlank()) {
            return Optional.empty();
        }
        Optional<Stamp> stamp = Stamp.decode(lines.get(1));
        if (stamp.isEmpty()) {
            throw RecoveryStore.damagedEpoch(file, "that is " + SmallFile.quoted(lines.get(1)));
        }
        return stamp;
    }
}
