package org.apache.zookeeper.server.quorum;

import io.saucr.core.Markers;
import io.saucr.core.Zxid;
import io.saucr.server.LogMetrics;
import io.saucr.server.MarkerStore;
import io.saucr.server.ReplicationMetrics;
import io.saucr.server.SaucrGauges;
import io.saucr.server.SaucrSettings;
import java.io.IOException;
import javax.security.sasl.SaslException;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;
import org.apache.zookeeper.server.persistence.SaucrTxnSnapLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A voter or observer that runs with SAUCR. Opens the log after looking at the markers, makes
 * leaders and followers that replicate situation-aware, and flushes whenever it goes looking for a
 * leader (R10).
 */
public final class SaucrQuorumPeer extends QuorumPeer {
    private static final Logger LOG = LoggerFactory.getLogger(SaucrQuorumPeer.class);

    private final SaucrSettings settings;
    private final LogMetrics logMetrics = new LogMetrics();
    private final ReplicationMetrics replicationMetrics = new ReplicationMetrics();
    private volatile SaucrTxnSnapLog txnSnapLog;

    public SaucrQuorumPeer(SaucrSettings settings) throws SaslException {
        this.settings = settings;
    }

    /** Replaces Apache's log by one over the same directories. */
    @Override
    public void setTxnFactory(FileTxnSnapLog factory) {
        try {
            SaucrTxnSnapLog opened =
                    new SaucrTxnSnapLog(
                            factory.getDataLogDir().getParentFile(),
                            factory.getSnapDir().getParentFile(),
                            settings,
                            logMetrics);
            Markers markers = opened.markerStore().read();
            if (markers.crashedInFastMode()) {
                throw new IOException(
                        "This server crashed in fast mode: "
                                + factory.getDataLogDir()
                                + " says fast since "
                                + Zxid.toString(markers.fastSwitch())
                                + ", on disk through "
                                + Zxid.toString(markers.latestOnDisk())
                                + ". It may lack acknowledged writes and must not vote.");
            }
            opened.open(markers);
            factory.close();
            txnSnapLog = opened;
            super.setTxnFactory(opened);
        } catch (IOException e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
    }

    @Override
    public synchronized void start() {
        Runtime.getRuntime()
                .addShutdownHook(
                        new Thread(
                                () -> txnSnapLog.log().flushForEver("the process ends"),
                                "SaucrLastFlush"));
        new SaucrGauges(this, settings, txnSnapLog, logMetrics, replicationMetrics).register();
        super.start();
    }

    @Override
    protected Follower makeFollower(FileTxnSnapLog logFactory) throws IOException {
        return new SaucrFollower(
                this,
                new FollowerZooKeeperServer(logFactory, this, getZkDb()),
                txnSnapLog.log(),
                settings);
    }

    @Override
    protected Leader makeLeader(FileTxnSnapLog logFactory) throws IOException {
        return new SaucrLeader(
                this,
                new LeaderZooKeeperServer(logFactory, this, getZkDb()),
                txnSnapLog.log(),
                settings,
                replicationMetrics);
    }

    /** R10: whoever looks for a leader has everything on disk first. */
    @Override
    public synchronized void setPeerState(ServerState newState) {
        SaucrTxnSnapLog opened = txnSnapLog;
        if (newState == ServerState.LOOKING && opened != null) {
            opened.log().flushAndMark("looking for a leader");
        }
        super.setPeerState(newState);
    }

    /** Epoch files are renamed into place; a power cut must not undo that. */
    @Override
    void writeLongToFile(String name, long value) throws IOException {
        super.writeLongToFile(name, value);
        MarkerStore.forceDirectory(getTxnFactory().getSnapDir().toPath());
    }

    @Override
    public void shutdown() {
        LOG.info("Shutting down");
        super.shutdown();
    }
}
