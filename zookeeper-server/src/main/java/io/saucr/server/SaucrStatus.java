package io.saucr.server;

import io.saucr.core.LleMap;
import io.saucr.core.Markers;
import io.saucr.core.Mode;
import io.saucr.core.RecoveryProcedure.State;
import io.saucr.core.Zxid;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.apache.zookeeper.metrics.MetricsContext;
import org.apache.zookeeper.server.ServerMetrics;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.admin.Commands;
import org.apache.zookeeper.server.persistence.SaucrTxnSnapLog;
import org.apache.zookeeper.server.quorum.SaucrQuorumPeer;

/**
 * What this server says of itself: the gauges of the design's section 7 in ZooKeeper's metrics
 * provider ({@code mntr}, Prometheus), extra {@code mntr} lines while it does not serve, and the
 * AdminServer's {@code /commands/saucr}. Thread-safe.
 */
public final class SaucrStatus {
    /**
     * ZooKeeper's admin commands and four-letter words belong to the process, so this does, too.
     */
    private static volatile SaucrStatus published;

    private final SaucrQuorumPeer peer;
    private final SaucrSettings settings;
    private final SaucrTxnSnapLog txnSnapLog;
    private final LogMetrics log;
    private final ReplicationMetrics replication;

    public SaucrStatus(
            SaucrQuorumPeer peer,
            SaucrSettings settings,
            SaucrTxnSnapLog txnSnapLog,
            LogMetrics log,
            ReplicationMetrics replication) {
        this.peer = peer;
        this.settings = settings;
        this.txnSnapLog = txnSnapLog;
        this.log = log;
        this.replication = replication;
    }

    /** Makes it visible in every way there is; replaces what was published before. */
    public static void publish(SaucrStatus status) {
        published = status;
        status.registerGauges();
        Commands.registerCommand(new SaucrCommand(status));
    }

    /**
     * Adds lines to {@code mntr} while the server does not serve and ZooKeeper prints no metrics
     * (R19).
     */
    static void monitor(PrintWriter answer) {
        SaucrStatus status = published;
        if (status == null) {
            return;
        }
        ZooKeeperServer active = status.peer.getActiveServer();
        if (active == null || !active.isRunning()) {
            status.flat().forEach((key, value) -> answer.println("zk_" + key + "\t" + value));
        }
    }

    private void registerGauges() {
        MetricsContext root = ServerMetrics.getMetrics().getMetricsProvider().getRootContext();
        root.registerGauge("saucr_mode", this::mode);
        root.registerGauge("saucr_recovery_state", () -> peer.recovering() ? 1 : 0);
        root.registerGauge("saucr_mode_switches", replication::modeSwitches);
        root.registerGauge("saucr_flushes", log::flushes);
        root.registerGauge("saucr_log_forces", log::forces);
        root.registerGauge("saucr_fast_commits", replication::fastCommits);
        root.registerGauge("saucr_slow_commits", replication::slowCommits);
        root.registerGauge("saucr_prompt_voters", replication::promptVoters);
        root.registerGauge("saucr_on_disk", () -> onDisk() ? 1 : 0);
    }

    private boolean onDisk() {
        return txnSnapLog.isOpen() && txnSnapLog.log().claimsOnDisk();
    }

    /** A leader's mode; of others, the mode of what they logged last. */
    private int mode() {
        Mode mode = replication.mode();
        if (mode == null && txnSnapLog.isOpen()) {
            mode = txnSnapLog.log().mode();
        }
        return mode == Mode.FAST ? 1 : 0;
    }

    /** The keys of {@code mntr} without its prefix. */
    private Map<String, Object> flat() {
        Map<String, Object> lines = new LinkedHashMap<>();
        lines.put("server_state", peer.recovering() ? "recovering" : peer.getServerState());
        lines.put("saucr_recovery_state", peer.recovering() ? 1 : 0);
        lines.put("saucr_mode", mode());
        lines.put("saucr_on_disk", onDisk() ? 1 : 0);
        RecoveryProgress progress = peer.recoveryProgress();
        if (peer.recovering() && progress != null) {
            lines.put("saucr_recovery_step", progress.status().state());
            lines.put("saucr_recovery_answered", progress.status().answered());
            lines.put("saucr_recovery_missing", progress.status().missing());
            lines.put("saucr_recovery_needed", progress.status().stillNeeded());
            lines.put("saucr_recovery_last_logged", Zxid.toString(progress.status().lastLogged()));
            lines.put("saucr_recovery_through", Zxid.toString(progress.status().through()));
            lines.put("saucr_recovery_entries", progress.entries());
            lines.put("saucr_recovery_bytes", progress.bytes());
        }
        return lines;
    }

    /** Everything, for the AdminServer. */
    Map<String, Object> full() {
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("server", peer.getMyId());
        result.put("role", peer.recovering() ? "recovering" : peer.getServerState());
        result.put("mode", mode() == 1 ? "fast" : "slow");
        result.put("promptVoters", replication.promptVoters());
        result.put("modeSwitches", replication.modeSwitches());
        result.put("fastCommits", replication.fastCommits());
        result.put("slowCommits", replication.slowCommits());
        result.put("logForces", log.forces());
        result.put("logForceMicros", log.forceMicros());
        result.put("flushes", log.flushes());
        result.put("flushMicros", log.flushMicros());
        result.put("onDisk", onDisk());
        if (txnSnapLog.isOpen()) {
            Markers markers = txnSnapLog.log().markers();
            result.put("lastLoggedZxid", Zxid.toString(txnSnapLog.log().lastAppended()));
            result.put("fastSwitch", Zxid.toString(markers.fastSwitch()));
            result.put("latestOnDisk", Zxid.toString(markers.latestOnDisk()));
            result.put("lleMap", readable(markers.lleMap()));
        }
        result.put("recovery", recovery());
        result.put("settings", settings());
        return result;
    }

    private Map<String, Object> settings() {
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("heartbeatInterval", settings.heartbeatInterval().toString());
        result.put("tolerance", settings.tolerance().toString());
        result.put("missedHeartbeatsBeforeElection", settings.missedHeartbeatsBeforeElection());
        result.put("fastModeConfirmations", settings.fastModeConfirmations());
        result.put("backgroundFlushInterval", settings.backgroundFlushInterval().toString());
        result.put("idleFlush", settings.idleFlush().toString());
        return result;
    }

    private Map<String, Object> recovery() {
        Map<String, Object> result = new LinkedHashMap<>();
        RecoveryProgress progress = peer.recoveryProgress();
        result.put("recovering", peer.recovering());
        if (progress == null) {
            result.put("step", peer.recovering() ? State.NEW : State.RECOVERED);
            return result;
        }
        result.put("step", progress.status().state());
        result.put("answered", progress.status().answered());
        result.put("missing", progress.status().missing());
        result.put("answersStillNeeded", progress.status().stillNeeded());
        progress.status().source().ifPresent(source -> result.put("source", source));
        result.put("lastLoggedZxid", Zxid.toString(progress.status().lastLogged()));
        result.put("throughZxid", Zxid.toString(progress.status().through()));
        result.put("entries", progress.entries());
        result.put("bytes", progress.bytes());
        result.put("millis", progress.elapsedMillis());
        result.put("problem", progress.status().problem());
        return result;
    }

    private static Map<String, String> readable(LleMap map) {
        Map<String, String> result = new TreeMap<>();
        for (long sid : map.sids()) {
            result.put(Long.toString(sid), Zxid.toString(map.get(sid)));
        }
        return result;
    }
}
