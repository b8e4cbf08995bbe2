package io.saucr.server;

import io.saucr.core.Mode;
import org.apache.zookeeper.metrics.MetricsContext;
import org.apache.zookeeper.server.ServerMetrics;
import org.apache.zookeeper.server.persistence.SaucrTxnSnapLog;
import org.apache.zookeeper.server.quorum.QuorumPeer;

/**
 * The metrics of the design's section 7, as gauges of ZooKeeper's metrics provider: {@code mntr}
 * and Prometheus.
 */
public final class SaucrGauges {
    private final SaucrTxnSnapLog txnSnapLog;
    private final LogMetrics log;
    private final ReplicationMetrics replication;

    public SaucrGauges(
            QuorumPeer peer,
            SaucrSettings settings,
            SaucrTxnSnapLog txnSnapLog,
            LogMetrics log,
            ReplicationMetrics replication) {
        this.txnSnapLog = txnSnapLog;
        this.log = log;
        this.replication = replication;
    }

    /** Registers every gauge; a gauge of the same name that was registered before is replaced. */
    public void register() {
        MetricsContext root = ServerMetrics.getMetrics().getMetricsProvider().getRootContext();
        root.registerGauge("saucr_mode", this::mode);
        root.registerGauge("saucr_recovery_state", () -> 0);
        root.registerGauge("saucr_mode_switches", replication::modeSwitches);
        root.registerGauge("saucr_flushes", log::flushes);
        root.registerGauge("saucr_log_forces", log::forces);
        root.registerGauge("saucr_fast_commits", replication::fastCommits);
        root.registerGauge("saucr_slow_commits", replication::slowCommits);
        root.registerGauge("saucr_prompt_voters", replication::promptVoters);
        root.registerGauge("saucr_on_disk", () -> txnSnapLog.log().claimsOnDisk() ? 1 : 0);
    }

    /** A leader's mode; of others, the mode of what they logged last. */
    private int mode() {
        Mode mode = replication.mode();
        if (mode == null) {
            mode = txnSnapLog.log().mode();
        }
        return mode == Mode.FAST ? 1 : 0;
    }
}
