package org.apache.zookeeper.server.persistence;

import io.saucr.core.Markers;
import io.saucr.core.Zxid;
import io.saucr.server.MarkerStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;

/** The disk of a server that does not run, for operators (R19). Not thread-safe. */
public final class StoppedServer {
    private static final String AUDIT = "saucr.audit.log";
    private static final String PID_FILE = "zookeeper_server.pid";

    private final Path dataDir;
    private final Path logs;
    private final Path snapshots;
    private final MarkerStore markerStore;

    /**
     * What was found; where a history copied from another server is about to replace this one, that
     * one's.
     *
     * @param lastLogged the last zxid that can be read
     * @param snapshot the newest usable snapshot's zxid, -1 if there is none
     * @param damage a sentence, "none" if the log is sound
     * @param currentEpoch -1 if it was never written
     * @param acceptedEpoch -1 if it was never written
     */
    public record Findings(
            Markers markers,
            long lastLogged,
            long snapshot,
            String damage,
            long currentEpoch,
            long acceptedEpoch) {}

    /**
     * @param dataDir the server's dataDir
     * @param dataLogDir the server's dataLogDir, or dataDir again
     * @throws IOException if that is not a server's data directory, or the server runs
     */
    public StoppedServer(Path dataDir, Path dataLogDir) throws IOException {
        this.dataDir = dataDir;
        this.logs = dataLogDir.resolve(FileTxnSnapLog.version + FileTxnSnapLog.VERSION);
        this.snapshots = dataDir.resolve(FileTxnSnapLog.version + FileTxnSnapLog.VERSION);
        this.markerStore = new MarkerStore(logs);
        for (Path directory : new Path[] {logs, snapshots}) {
            if (!Files.isDirectory(directory)) {
                throw new IOException(
                        directory + " is not a directory: DATADIR must be a server's dataDir");
            }
        }
        refuseRunning();
    }

    private void refuseRunning() throws IOException {
        Path pidFile = dataDir.resolve(PID_FILE);
        if (!Files.isRegularFile(pidFile)) {
            return;
        }
        String pid = Files.readString(pidFile).trim();
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
        LogHistory history =
                RecoveryStore.replacementPending(logs)
                        ? RecoveryStore.pendingHistory(logs)
                        : new LogHistory(logs, snapshots);
        Markers found = markerStore.read();
        LogHistory.Scan scan = history.scan(found.latestOnDisk());
        long least = RecoveryStore.pendingEpoch(logs);
        return new Findings(
                found,
                scan.outline().last(),
                history.snapshotZxid(),
                describe(scan.damage()),
                Math.max(least, RecoveryStore.epochIn(snapshots, RecoveryStore.CURRENT_EPOCH)),
                Math.max(least, RecoveryStore.epochIn(snapshots, RecoveryStore.ACCEPTED_EPOCH)));
    }

    private String describe(LogHistory.Damage damage) {
        if (RecoveryStore.replacementPending(logs)) {
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
     * @throws IOException if it did not crash in fast mode, or the disk cannot be written
     */
    public String acceptLoss() throws IOException {
        Markers before = markerStore.read();
        if (!before.crashedInFastMode()) {
            throw new IOException(
                    "This server did not crash in fast mode: there is no loss to accept");
        }
        RecoveryStore.completeReplacement(logs, snapshots);
        long lastLogged;
        try (RecoveryStore store = new RecoveryStore(logs, snapshots, markerStore)) {
            lastLogged =
                    store.prepare(RecoveryStore.epochIn(snapshots, RecoveryStore.CURRENT_EPOCH))
                            .last();
        }
        new LogHistory(logs, snapshots).forceAll();
        String line =
                Instant.now()
                        + " accepted the loss of whatever followed "
                        + Zxid.toString(lastLogged)
                        + "; was: "
                        + before;
        Files.write(
                logs.resolve(AUDIT),
                (line + System.lineSeparator()).getBytes(StandardCharsets.UTF_8),
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND,
                StandardOpenOption.SYNC);
        long onDisk = Math.max(before.latestOnDisk(), lastLogged);
        markerStore.writeLatestOnDisk(onDisk, before.lleMap());
        markerStore.writeFastSwitch(Math.min(before.fastSwitch(), onDisk));
        return line;
    }
}
