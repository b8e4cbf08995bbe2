package org.apache.zookeeper.server.persistence;

import io.saucr.core.NamedErrors;
import io.saucr.core.Zxid;
import io.saucr.core.log.LogIdentity;
import io.saucr.core.log.LogIdentity.Stamp;
import io.saucr.core.log.Markers;
import io.saucr.core.quorum.View;
import io.saucr.core.recovery.StartAssessment;
import io.saucr.core.recovery.StartAssessment.Verdict;
import io.saucr.server.runtime.FolderLock;
import io.saucr.server.runtime.SmallFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;

/** The disk of a server that does not run, for operators (R19). Not thread-safe. */
public final class StoppedServer {
    private static final String AUDIT = "saucr.audit.log";
    private static final String MYID_FILE = "myid";
    private static final String PID_FILE = "zookeeper_server.pid";

    private final Path dataDir;
    private final Optional<String> ensemble;
    private final Path logs;
    private final Path snapshots;
    private final MarkerStore markerStore;

    /**
     * What was found. If a copied history is about to replace this server's own, the copied one is
     * described.
     *
     * @param lastLogged the last zxid that can be read
     * @param snapshot the newest usable snapshot's zxid, -1 if there is none
     * @param assessment whether the disk is complete, as the next start will find it
     * @param damage a sentence, "none" if the log is sound
     * @param currentEpoch -1 if it was never written
     * @param acceptedEpoch -1 if it was never written
     */
    public record Findings(
            StartAssessment assessment,
            Markers markers,
            long lastLogged,
            long snapshot,
            String damage,
            long currentEpoch,
            long acceptedEpoch) {}

    /**
     * @param dataDir the server's dataDir
     * @param dataLogDir the server's dataLogDir, or dataDir again
     * @param ensemble the ensemble's name in its configuration, empty if that is not known
     * @throws IOException if that is not a server's data directory, or the server runs
     */
    public StoppedServer(Path dataDir, Path dataLogDir, Optional<String> ensemble)
            throws IOException {
        this.dataDir = dataDir;
        this.ensemble = ensemble;
        this.logs = dataLogDir.resolve(FileTxnSnapLog.version + FileTxnSnapLog.VERSION);
        this.snapshots = dataDir.resolve(FileTxnSnapLog.version + FileTxnSnapLog.VERSION);
        this.markerStore = new MarkerStore(logs);
        requireFolder(snapshots, "dataDir (DATADIR)");
        requireFolder(logs, "dataLogDir (--log-dir)");
        refuseRunning();
    }

    private static void requireFolder(Path folder, String key) throws IOException {
        if (!Files.isDirectory(folder)) {
            throw new IOException(
                    folder
                            + " is not a folder: "
                            + key
                            + " must be that of a server which has run, or was restored");
        }
    }

    private void refuseRunning() throws IOException {
        for (Path folder : new Path[] {logs, snapshots}) {
            if (FolderLock.isTaken(folder)) {
                throw new IOException("The server of " + folder + " runs; stop it first");
            }
        }
        Path pidFile = dataDir.resolve(PID_FILE);
        if (!Files.isRegularFile(pidFile)) {
            return;
        }
        String pid = SmallFile.lines(pidFile).stream().findFirst().orElse("").trim();
        boolean alive;
        try {
            alive = ProcessHandle.of(Long.parseLong(pid)).map(ProcessHandle::isAlive).orElse(false);
        } catch (NumberFormatException e) {
            alive = false;
        }
        if (alive) {
            throw new IOException(
                    "The server of " + dataDir + " runs as process " + pid + "; stop it first");
        }
    }

    /** Reads everything and changes nothing. */
    public Findings inspect() throws IOException {
        Optional<CopiedHistory> pending = CopiedHistory.pending(logs);
        RawLog history =
                pending.map(CopiedHistory::history).orElseGet(() -> new RawLog(logs, snapshots));
        Markers found = markerStore.read();
        RawLog.Scan scan = history.scan(found.latestOnDisk());
        long least = pending.map(CopiedHistory::epoch).orElse(-1L);
        return new Findings(
                assess(),
                found,
                scan.epochEnds().last(),
                history.snapshotZxid(),
                describe(pending.isPresent(), scan.damage()),
                Math.max(least, RecoveryStore.epochIn(snapshots, RecoveryStore.CURRENT_EPOCH)),
                Math.max(least, RecoveryStore.epochIn(snapshots, RecoveryStore.ACCEPTED_EPOCH)));
    }

    private StartAssessment assess() throws IOException {
        OptionalLong proven = new PageCacheProof(logs, "").through();
        return new DiskInspection(logs, snapshots, markerStore).assess(ensemble, sid(), proven);
    }

    /** The server's id, -1 if its folder does not say. */
    private long sid() throws IOException {
        Path file = dataDir.resolve(MYID_FILE);
        String first;
        try {
            first = SmallFile.lines(file).stream().findFirst().orElse("").trim();
        } catch (NoSuchFileException e) {
            return -1;
        } catch (SmallFile.TooLargeException e) {
            throw new IOException(file + " is no file of a server's id: " + e.getMessage(), e);
        }
        try {
            return Long.parseLong(first);
        } catch (NumberFormatException e) {
            throw new IOException(
                    file
                            + " does not begin with the number of a server, but with "
                            + SmallFile.quoted(first),
                    e);
        }
    }

    private static String describe(boolean pending, RawLog.Damage damage) {
        if (pending) {
            return "a complete history copied from another server is about to replace this one:"
                    + " the next start carries that through";
        }
        return damage == null
                ? "none"
                : damage.what() + ", " + damage.file() + " byte " + damage.offset();
    }

    /**
     * Marks the server as recovered with what its disk holds.
     *
     * @return the line that was added to the audit log
     * @throws IOException if it lacks nothing, or the disk cannot be written
     */
    public String acceptLoss() throws IOException {
        StartAssessment assessment = assess();
        if (!assessment.mustRecover() && assessment.verdict() != Verdict.EMPTY) {
            throw new IOException(
                    "There is no loss to accept on this server: " + assessment.reason());
        }
        Markers before = markerStore.read();
        Optional<Stamp> stamp = DiskInspection.stamp(snapshots);
        long sid = sid();
        if (sid < 0) {
            throw new IOException(
                    dataDir.resolve(MYID_FILE) + " is missing: nobody knows whose disk this is");
        }
        RecoveryStore.completeReplacement(logs, snapshots);
        RawLog kept = new RawLog(logs, snapshots);
        if (!DataFolder.logs(logs).isEmpty() && !kept.isComplete()) {
            throw new IOException(
                    "The log in "
                            + logs
                            + " does not begin with the first transaction, and there is no snapshot"
                            + " before it in "
                            + snapshots
                            + ": put one there, or move the log away");
        }
        long epoch = RecoveryStore.currentEpochIn(snapshots);
        long lastLogged;
        try (RecoveryStore store = new RecoveryStore(logs, snapshots, markerStore)) {
            lastLogged = (epoch < 0 ? store.prepareWhole() : store.prepare(epoch)).last();
        }
        new RawLog(logs, snapshots).forceAll();
        String line =
                Instant.now()
                        + " accepted the loss of whatever followed "
                        + Zxid.toString(lastLogged)
                        + ", because "
                        + assessment.reason()
                        + "; was: "
                        + before;
        Path audit = logs.resolve(AUDIT);
        NamedErrors.in(
                audit,
                () ->
                        Files.write(
                                audit,
                                (line + System.lineSeparator()).getBytes(StandardCharsets.UTF_8),
                                StandardOpenOption.CREATE,
                                StandardOpenOption.APPEND,
                                StandardOpenOption.SYNC));
        epoch = acceptLossOfEpochs(epoch, lastLogged);
        boolean diskLost = assessment.verdict() != Verdict.MEMORY_LOST;
        long onDisk = diskLost ? lastLogged : Math.max(before.latestOnDisk(), lastLogged);
        // The epoch file must name the log that is there.
        long log =
                stamp.map(Stamp::log)
                        .or(() -> of(LogIdentity::log))
                        .orElseGet(() -> ThreadLocalRandom.current().nextLong(Long.MAX_VALUE));
        markerStore.writeIdentity(
                new LogIdentity(
                        ensemble.or(() -> of(LogIdentity::ensemble)).orElse(""),
                        sid,
                        log,
                        Math.max(0, epoch),
                        lastLogged,
                        // What the marker next to it says until it is written anew.
                        Math.min(before.latestOnDisk(), onDisk)));
        // A lost disk has forgotten what it has sealed since; what another one had is on it (R23).
        View view = diskLost ? View.FIRST : before.view();
        markerStore.writeLatestOnDisk(onDisk, before.lleMap(), view);
        markerStore.writeFastSwitch(Math.min(before.fastSwitch(), onDisk));
        return line;
    }

    /**
     * Writes the files of the epochs that are lost, as Apache's server does: by the log.
     *
     * @param current -1 if it is lost
     * @return the current epoch
     */
    private long acceptLossOfEpochs(long current, long lastLogged) throws IOException {
        long epoch = current < 0 ? Zxid.epoch(lastLogged) : current;
        if (epoch > 0 && RecoveryStore.acceptedEpochIn(snapshots) < 0) {
            CopiedHistory.writeEpoch(snapshots, RecoveryStore.ACCEPTED_EPOCH, epoch);
        }
        if (epoch > 0 && current < 0) {
            CopiedHistory.writeEpoch(snapshots, RecoveryStore.CURRENT_EPOCH, epoch);
        }
        MarkerStore.forceDirectory(snapshots);
        return epoch;
    }

    private <T> Optional<T> of(Function<LogIdentity, T> part) {
        try {
            return markerStore.identity().map(part);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
