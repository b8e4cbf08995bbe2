package org.apache.zookeeper.server.quorum;

import io.saucr.core.NamedErrors;
import io.saucr.core.Zxid;
import io.saucr.core.log.LogIdentity;
import io.saucr.core.log.LogIdentity.Stamp;
import io.saucr.core.log.Markers;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;
import org.apache.zookeeper.common.AtomicFileWritingIdiom;
import org.apache.zookeeper.server.persistence.MarkerStore;
import org.apache.zookeeper.server.persistence.RecoveryStore;
import org.apache.zookeeper.server.persistence.SaucrTxnSnapLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files of the accepted and the current epoch, and what ties the latter to the log (R26).
 * ZooKeeper reads the first line of an epoch file; the second one of the current epoch's says which
 * log it belongs to. Epoch files are renamed into place; a power cut must not undo that.
 *
 * <p>Written by the thread that starts the server, then under the peer's lock.
 */
final class EpochFiles {
    private static final Logger LOG = LoggerFactory.getLogger(EpochFiles.class);

    private final SaucrTxnSnapLog txnSnapLog;
    private final String ensembleName;
    private final LongSupplier sid;

    /**
     * Random id that ties the log folder to the file of the current epoch (R26); drawn anew if the
     * disk has none that is valid.
     */
    private volatile long logId;

    /**
     * @param sid of this server, which may be known later than its folders
     */
    EpochFiles(SaucrTxnSnapLog txnSnapLog, String ensembleName, LongSupplier sid) {
        this.txnSnapLog = txnSnapLog;
        this.ensembleName = ensembleName;
        this.sid = sid;
    }

    /** Reads the id of the log, or draws one. */
    void identifyLog() throws IOException {
        logId =
                txnSnapLog
                        .markerStore()
                        .identity()
                        .map(LogIdentity::log)
                        .orElseGet(() -> ThreadLocalRandom.current().nextLong(Long.MAX_VALUE));
    }

    /** What the second line of the file of the current epoch says. */
    Stamp stamp() {
        return new Stamp(sid.getAsLong(), logId);
    }

    /** The identity of the log while this server recovers: nothing in it counts as complete. */
    LogIdentity identityOfLoss() {
        return LogIdentity.ofLoss(ensembleName, stamp());
    }

    /**
     * The identity of an open log.
     *
     * @param current the current epoch on disk, -1 if there is none
     */
    LogIdentity identity(long current, Markers markers) {
        return new LogIdentity(
                ensembleName,
                sid.getAsLong(),
                logId,
                Math.max(0, current),
                txnSnapLog.log().lastAppended(),
                markers.latestOnDisk());
    }

    /**
     * If the file of the accepted epoch is missing, ZooKeeper takes the epoch of what it has loaded
     * for it. A server that recovers has loaded nothing, and would be refused with an accepted
     * epoch below its current one.
     */
    void acceptEpochOf(long last) throws IOException {
        Path snapshots = txnSnapLog.getSnapDir().toPath();
        long epoch = Math.max(RecoveryStore.currentEpochIn(snapshots), Zxid.epoch(last));
        if (epoch > 0 && RecoveryStore.acceptedEpochIn(snapshots) < 0) {
            write(QuorumPeer.ACCEPTED_EPOCH_FILENAME, epoch);
        }
    }

    /**
     * R25: a follower logs its leader's history before it writes the leader's epoch. If its process
     * died in between, it is in the epoch of its last entry now, as if it had died with that log in
     * that epoch; of the epoch that it was about to join it may have a part of the history only.
     *
     * @param current what the epoch file says, -1 if there is none
     * @return the epoch that this server is in
     * @throws IOException if it never accepted the epoch of its last entry: the files don't belong
     *     together. Nothing is changed
     */
    long byLog(long current, long lastLogged) throws IOException {
        long logged = Zxid.epoch(lastLogged);
        if (current < 0 || logged <= current) {
            return current;
        }
        Path snapshots = txnSnapLog.getSnapDir().toPath();
        long accepted = RecoveryStore.acceptedEpochIn(snapshots);
        if (logged > accepted) {
            throw new IOException(
                    ("The history in %s and %s ends at %s, in epoch %s, but the files"
                                    + " acceptedEpoch and currentEpoch in %s say %s and %s: they are"
                                    + " another history's. While a majority of the others serves, empty"
                                    + " both folders but for myid; this server then gets everything"
                                    + " from them")
                            .formatted(
                                    txnSnapLog.getDataLogDir(),
                                    snapshots,
                                    Zxid.toString(lastLogged),
                                    logged,
                                    snapshots,
                                    accepted,
                                    current));
        }
        LOG.info(
                "This server was killed while it joined epoch {}: its history ends at {}, so it is in"
                        + " epoch {}, not {}",
                accepted,
                Zxid.toString(lastLogged),
                logged,
                current);
        return logged;
    }

    /** Writes one of the two files. */
    void write(String name, long value) throws IOException {
        File directory = txnSnapLog.getSnapDir();
        if (!name.equals(QuorumPeer.CURRENT_EPOCH_FILENAME)) {
            replace(directory, name, value + "\n");
            return;
        }
        MarkerStore markerStore = txnSnapLog.markerStore();
        long before = Math.max(0, RecoveryStore.currentEpochIn(directory.toPath()));
        markerStore.writeEpochs(before, value);
        replace(directory, name, value + "\n" + stamp().encode() + "\n");
        markerStore.writeEpochs(value, value);
    }

    private static void replace(File directory, String name, String content) throws IOException {
        File file = new File(directory, name);
        NamedErrors.in(
                file.toPath(),
                () ->
                        new AtomicFileWritingIdiom(
                                file,
                                (AtomicFileWritingIdiom.WriterStatement)
                                        writer -> writer.write(content)));
        MarkerStore.forceDirectory(directory.toPath());
    }
}
