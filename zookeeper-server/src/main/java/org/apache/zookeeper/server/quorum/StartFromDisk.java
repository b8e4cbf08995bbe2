package org.apache.zookeeper.server.quorum;

import io.saucr.core.log.LleMap;
import io.saucr.core.log.LogIdentity;
import io.saucr.core.log.Markers;
import io.saucr.core.recovery.RecoveryProcedure.Loss;
import io.saucr.core.recovery.StartAssessment;
import io.saucr.server.config.SaucrSettings;
import io.saucr.server.runtime.DiskWatch;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;
import org.apache.zookeeper.server.persistence.DiskInspection;
import org.apache.zookeeper.server.persistence.MarkerStore;
import org.apache.zookeeper.server.persistence.PageCacheProof;
import org.apache.zookeeper.server.persistence.RawLog;
import org.apache.zookeeper.server.persistence.RecoveryStore;
import org.apache.zookeeper.server.persistence.SaucrTxnSnapLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a server may do with what its disk is worth (R15, R25, R26): it opens a log that is
 * complete, or prepares the recovery of one that may lack something. Used once, by the thread that
 * starts the server; {@link #openWhatWasRecovered} by the peer's main thread.
 */
final class StartFromDisk {
    private static final Logger LOG = LoggerFactory.getLogger(StartFromDisk.class);

    private final SaucrQuorumPeer peer;
    private final SaucrTxnSnapLog txnSnapLog;
    private final SaucrSettings settings;
    private final EpochFiles epochs;
    private final RecoveryChannel channel;
    private final long incarnation;
    private StartAssessment assessment;
    private CrashRecovery recovery;

    /**
     * @param incarnation of this process (R18a)
     */
    StartFromDisk(
            SaucrQuorumPeer peer,
            SaucrTxnSnapLog txnSnapLog,
            SaucrSettings settings,
            EpochFiles epochs,
            RecoveryChannel channel,
            long incarnation) {
        this.peer = peer;
        this.txnSnapLog = txnSnapLog;
        this.settings = settings;
        this.epochs = epochs;
        this.channel = channel;
        this.incarnation = incarnation;
    }

    /** Looks at the disk, and opens the log or prepares a {@link #recovery}. */
    void begin() throws IOException {
        Path logs = txnSnapLog.getDataLogDir().toPath();
        Path snapshots = txnSnapLog.getSnapDir().toPath();
        MarkerStore markerStore = txnSnapLog.markerStore();
        PageCacheProof proof = new PageCacheProof(logs, settings.bootId());
        OptionalLong proven = proof.through();
        DiskInspection examination = new DiskInspection(logs, snapshots, markerStore);
        assessment =
                examination.assess(Optional.of(settings.ensembleName()), peer.getMyId(), proven);
        epochs.identifyLog();
        Markers markers = markerStore.read();
        switch (assessment.verdict()) {
            case COMPLETE -> {
                if (proof.mayHideFailure()) {
                    rewrite(txnSnapLog::rewriteNewest);
                }
                open(markers, examination.scan());
            }
            case COMPLETE_IN_PAGE_CACHE -> openFromPageCache(markers, examination.scan());
            case MEMORY_LOST -> {
                if (proof.mayHideFailure()) {
                    rewrite(() -> txnSnapLog.rewriteUnforced(markers));
                }
                recover(Loss.MEMORY, markers);
            }
            case DISK_LOST -> recover(Loss.DISK, markers);
            case EMPTY -> beginEmpty(markers, examination.scan());
            case FOREIGN -> throw new IOException(refusal());
        }
    }

    /** The recovery that this server needs; null if it is complete. */
    CrashRecovery recovery() {
        return recovery;
    }

    /** Opens the log after a recovery. */
    void openWhatWasRecovered() throws IOException {
        Markers markers = txnSnapLog.markerStore().read();
        open(markers, txnSnapLog.scan(markers));
    }

    private String refusal() {
        return "Server %s does not start on %s and %s: %s"
                .formatted(
                        peer.getMyId(),
                        txnSnapLog.getDataLogDir(),
                        txnSnapLog.getSnapDir(),
                        assessment.reason());
    }

    /** Observers acknowledge nothing: an empty one gets everything from its leader. */
    private void beginEmpty(Markers markers, RawLog.Scan scan) throws IOException {
        if (peer.getLearnerType() == QuorumPeer.LearnerType.OBSERVER) {
            open(markers, scan);
        } else {
            recover(txnSnapLog.mayBeNew() ? Loss.EVERYTHING : Loss.DISK, markers);
        }
    }

    private void recover(Loss loss, Markers markers) throws IOException {
        new PageCacheProof(txnSnapLog.getDataLogDir().toPath(), settings.bootId()).remove();
        // An empty disk is read: what ZooKeeper writes to it then says that the server may be new.
        txnSnapLog.loadLater(loss != Loss.EVERYTHING);
        recovery =
                new CrashRecovery(
                        peer, txnSnapLog, epochs, channel, markers, incarnation, loss, assessment);
        channel.recoversBy(recovery);
        epochs.acceptEpochOf(recovery.lastOnDisk());
    }

    /**
     * R25: everything that was acknowledged is in the log, but the LLE map died with the process.
     * Whatever this server had logged, any other server may have.
     */
    private void openFromPageCache(Markers markers, RawLog.Scan scan) throws IOException {
        rewrite(() -> txnSnapLog.rewriteUnforced(markers));
        try {
            txnSnapLog.forceUnforced();
        } catch (IOException e) {
            LOG.error("What is in the page cache cannot be synced: it is not trusted", e);
            rewrite(() -> txnSnapLog.rewriteUnforced(markers));
            recover(Loss.MEMORY, markers);
            return;
        }
        LOG.info("This server is complete: {}", assessment.reason());
        // A process that was killed while it wrote leaves a torn entry behind this one.
        long last = scan.epochEnds().last();
        LleMap map = markers.lleMap();
        for (long voter : peer.getView().keySet()) {
            map = map.with(voter, Math.max(map.get(voter), last));
        }
        for (long known : map.sids()) {
            map = map.with(known, Math.max(map.get(known), last));
        }
        txnSnapLog.markerStore().writeLatestOnDisk(last, map, markers.view());
        open(txnSnapLog.markerStore().read(), scan);
    }

    /**
     * A force that failed leaves pages that look clean: the next force would pass them over, and a
     * loss of power would take what this server continues to speak of.
     */
    private void rewrite(DiskWatch.Action rewriting) throws IOException {
        try {
            rewriting.run();
        } catch (IOException e) {
            throw new IOException(
                    ("What this server logged last may be in the page cache alone, and"
                                    + " cannot be written to %s: %s. Nothing is lost as long as the"
                                    + " machine keeps running: make the disk writable, or make room on"
                                    + " it, then start the server again")
                            .formatted(txnSnapLog.getDataLogDir(), e.getMessage()),
                    e);
        }
    }

    /** Opens the log: this server is complete now, and its folders say whose they are (R26). */
    private void open(Markers markers, RawLog.Scan scan) throws IOException {
        Path snapshots = txnSnapLog.getSnapDir().toPath();
        long current = RecoveryStore.currentEpochIn(snapshots);
        long epoch = epochs.byLog(current, scan.epochEnds().last());
        MarkerStore markerStore = txnSnapLog.markerStore();
        txnSnapLog.open(
                markers,
                new PageCacheProof(txnSnapLog.getDataLogDir().toPath(), settings.bootId()),
                scan);
        if (!markerStore.hasLatestOnDisk()) {
            markerStore.writeLatestOnDisk(markers.latestOnDisk(), markers.lleMap(), markers.view());
        }
        if (!markerStore.hasFastSwitch()) {
            markerStore.writeFastSwitch(markers.fastSwitch());
        }
        LogIdentity identity = epochs.identity(current, markers);
        if (!markerStore.identity().equals(Optional.of(identity))) {
            markerStore.writeIdentity(identity);
        }
        // An older version, or Apache's server, leaves an epoch file without the stamp.
        if (epoch > current
                || (epoch >= 0
                        && !DiskInspection.stamp(snapshots).equals(Optional.of(epochs.stamp())))) {
            epochs.write(QuorumPeer.CURRENT_EPOCH_FILENAME, epoch);
        }
    }
}
