package io.saucr.server.admin;

import io.saucr.core.Mode;
import io.saucr.core.Zxid;
import io.saucr.core.config.HostPort;
import io.saucr.core.log.LleMap;
import io.saucr.core.log.Markers;
import io.saucr.core.quorum.Quorums;
import io.saucr.core.quorum.View;
import io.saucr.core.recovery.RecoveryProcedure.State;
import io.saucr.server.config.SaucrSettings;
import io.saucr.server.metrics.Exposition;
import io.saucr.server.metrics.LogMetrics;
import io.saucr.server.metrics.Metric;
import io.saucr.server.metrics.ReplicationMetrics;
import io.saucr.server.metrics.VoterView;
import io.saucr.server.requests.RequestWatch;
import io.saucr.server.runtime.PowerFailureSignal;
import io.saucr.server.runtime.RecoveryProgress;
import io.saucr.server.runtime.Release;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.admin.Commands;
import org.apache.zookeeper.server.persistence.SaucrTxnSnapLog;
import org.apache.zookeeper.server.quorum.MultipleAddresses;
import org.apache.zookeeper.server.quorum.QuorumPeer.ServerState;
import org.apache.zookeeper.server.quorum.SaucrQuorumPeer;

/**
 * What this server reports: metrics in ZooKeeper's metrics provider ({@code mntr}, Prometheus),
 * extra {@code mntr} lines while it does not serve, a bean in addition to ZooKeeper's own, and the
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
    private final RequestWatch requests;
    private final Maintenance maintenance;
    private final SaucrBean bean;
    private final Exposition exposition = Exposition.ofThisProcess();

    public SaucrStatus(
            SaucrQuorumPeer peer,
            SaucrSettings settings,
            SaucrTxnSnapLog txnSnapLog,
            LogMetrics log,
            ReplicationMetrics replication,
            RequestWatch requests,
            Maintenance maintenance) {
        this.peer = peer;
        this.settings = settings;
        this.txnSnapLog = txnSnapLog;
        this.log = log;
        this.replication = replication;
        this.requests = requests;
        this.maintenance = maintenance;
        this.bean = new SaucrBean(this, maintenance);
    }

    /**
     * Makes it visible in every way there is, and lets operators give orders; replaces what was
     * published before.
     */
    public void publish() {
        published = this;
        showMetrics();
        Commands.registerCommand(new SaucrCommand(this));
        Commands.registerCommand(new EnsembleCommand(this));
        Commands.registerCommand(new PageCommand());
        Commands.registerCommand(new LogCommand(txnSnapLog));
        for (MaintenanceCommand.Order order : MaintenanceCommand.Order.values()) {
            Commands.registerCommand(new MaintenanceCommand(order, maintenance));
        }
        Commands.registerCommand(new ShedCommand());
        Commands.registerCommand(new MoveLeaderCommand(peer));
        Commands.registerCommand(new SlowRequestsCommand(peer, requests.slow()));
        Commands.registerCommand(new SlowRequestTimeCommand(requests.slow()));
        Commands.registerCommand(new TopCommand(peer, requests.top()));
        bean.register();
        PowerFailureSignal.listen(() -> maintenance.powerFails("SIGPWR"));
    }

    /**
     * The server has stopped; its process, which may be someone else's, continues without the bean.
     */
    public void withdraw() {
        bean.unregister();
    }

    /**
     * Adds lines to {@code mntr}: the version; with SAUCR what is no number, what the metrics
     * provider does not print there, and while the server does not serve and ZooKeeper prints no
     * metrics, what an operator needs then (R19).
     */
    public static void monitor(PrintWriter answer) {
        answer.println("zk_saucr_version\t" + Release.VERSION);
        SaucrStatus status = published;
        if (status == null) {
            return;
        }
        Map<String, Object> lines = status.serves() ? status.besidesMetrics() : status.flat();
        lines.forEach((key, value) -> answer.println("zk_" + key + "\t" + value));
    }

    /** What this process waits for while it recovers (R19), in one line; null if it does not. */
    static String ongoingRecovery() {
        SaucrStatus status = published;
        if (status == null || !status.peer.recovering()) {
            return null;
        }
        RecoveryProgress progress = status.peer.recoveryProgress();
        return progress == null ? "the recovery begins" : progress.sentence();
    }

    /** What a server that serves adds to {@code mntr}, without its prefix. */
    private Map<String, Object> besidesMetrics() {
        Map<String, Object> lines = view();
        lines.putAll(exposition.countersForMntr());
        return lines;
    }

    private void showMetrics() {
        exposition.show(Metric.MODE, this::mode);
        exposition.show(Metric.RECOVERY_STATE, () -> peer.recovering() ? 1 : 0);
        exposition.show(Metric.MODE_SWITCHES, replication::modeSwitches);
        exposition.show(Metric.FLUSHES, log::flushes);
        exposition.show(Metric.LOG_FORCES, log::forces);
        exposition.show(Metric.FAST_COMMITS, replication::fastCommits);
        exposition.show(Metric.SLOW_COMMITS, replication::slowCommits);
        exposition.show(Metric.PROMPT_VOTERS, replication::promptVoters);
        exposition.show(Metric.HAS_LEADER, () -> hasLeader() ? 1 : 0);
        exposition.show(Metric.ANSWERS_NEEDED, this::answersNeeded);
        exposition.show(Metric.ON_DISK, () -> onDisk() ? 1 : 0);
        exposition.show(Metric.LOG_REMOVED, () -> logRemoved() ? 1 : 0);
        exposition.show(Metric.PINNED_SLOW, () -> maintenance.pinned() == null ? 0 : 1);
        exposition.showByKey(Metric.FLUSH_CAUSES, log::flushesByCause);
        exposition.show(Metric.SLOW_REQUESTS, requests.slow()::counted);
        requests.stages().show(exposition);
    }

    private boolean serves() {
        ZooKeeperServer active = peer.getActiveServer();
        return active != null && active.isRunning();
    }

    /** A server that looks for a leader may serve reads meanwhile. */
    private boolean hasLeader() {
        return serves() && peer.getPeerState() != ServerState.LOOKING;
    }

    /** Whether a crash now would lose nothing that was acknowledged. */
    boolean onDisk() {
        return txnSnapLog.isOpen()
                && txnSnapLog.log().claimsOnDisk()
                && !txnSnapLog.log().isRemoved();
    }

    /** Whether somebody removed the log below this server. */
    private boolean logRemoved() {
        return txnSnapLog.isOpen() && txnSnapLog.log().isRemoved();
    }

    SaucrQuorumPeer peer() {
        return peer;
    }

    SaucrSettings settings() {
        return settings;
    }

    LogMetrics log() {
        return log;
    }

    ReplicationMetrics replication() {
        return replication;
    }

    /** HOST:PORT of each of a server's addresses. */
    static List<String> addresses(MultipleAddresses addresses) {
        return addresses.getAllAddresses().stream()
                .map(
                        address ->
                                new HostPort(
                                                HostPort.withoutBrackets(address.getHostString()),
                                                address.getPort())
                                        .toString())
                .sorted()
                .toList();
    }

    /** leading, following, observing, leaderelection or recovering. */
    String role() {
        return peer.recovering() ? "recovering" : peer.getServerState();
    }

    /** Voters that fast mode relies on now, this leader included; empty if it does not lead. */
    List<Long> promptSet() {
        if (replication.mode() == null) {
            return List.of();
        }
        List<Long> result = new ArrayList<>(List.of(peer.getMyId()));
        replication.followers().stream()
                .filter(VoterView::counts)
                .map(VoterView::server)
                .forEach(result::add);
        return result.stream().sorted().toList();
    }

    /** The own view (R23), on disk. */
    private View ownView() {
        if (txnSnapLog.isOpen()) {
            return txnSnapLog.log().ownView();
        }
        return peer.viewWhileRecovering();
    }

    /** Its members; of the first view, all voters of the configuration. */
    private List<Long> members(View view) {
        return view.isFirst()
                ? peer.getVotingView().keySet().stream().sorted().toList()
                : view.members();
    }

    /**
     * Of how many others this server would need an answer after a loss of power in fast mode, or
     * does after the loss of its disk.
     */
    private int answersNeeded() {
        View view = ownView();
        if (!view.isFirst()) {
            return view.answersNeeded();
        }
        int voters = members(view).size();
        return peer.recoversLostDisk()
                ? Quorums.lostDiskQuorum(voters)
                : Quorums.recoveryQuorum(voters);
    }

    /** The keys of {@code mntr} that tell of the own view, without its prefix. */
    private Map<String, Object> view() {
        View view = ownView();
        Map<String, Object> lines = new LinkedHashMap<>();
        lines.put(
                "saucr_view",
                members(view).stream()
                        .map(sid -> Long.toString(sid))
                        .collect(Collectors.joining(",")));
        lines.put("saucr_view_zxid", Zxid.toString(view.seal()));
        return lines;
    }

    /** A leader's mode; of others, the mode of what they logged last. */
    int mode() {
        Mode mode = replication.mode();
        if (mode == null && txnSnapLog.isOpen()) {
            mode = txnSnapLog.log().mode();
        }
        return mode == Mode.FAST ? 1 : 0;
    }

    /** The keys of {@code mntr} without its prefix. */
    private Map<String, Object> flat() {
        Map<String, Object> lines = new LinkedHashMap<>();
        lines.put("server_state", role());
        lines.put("saucr_recovery_state", peer.recovering() ? 1 : 0);
        lines.put("saucr_has_leader", hasLeader() ? 1 : 0);
        lines.put("saucr_mode", mode());
        lines.put("saucr_on_disk", onDisk() ? 1 : 0);
        lines.put("saucr_log_removed", logRemoved() ? 1 : 0);
        lines.put("saucr_pinned_slow", maintenance.pinned() == null ? 0 : 1);
        lines.putAll(view());
        lines.put("saucr_answers_needed", answersNeeded());
        RecoveryProgress progress = peer.recoveryProgress();
        if (peer.recovering() && progress != null) {
            lines.put("saucr_recovery_step", progress.status().state());
            lines.put("saucr_recovery_answered", progress.status().answered());
            lines.put("saucr_recovery_uncounted", progress.status().uncounted());
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
        result.put("version", Release.VERSION);
        result.put("ensemble", settings.ensembleName());
        result.put("role", role());
        result.put("leader", peer.getLeaderId());
        result.put("quorumAddresses", addresses(peer.getQuorumAddress()));
        result.put("mode", mode() == 1 ? "fast" : "slow");
        result.put("pinnedSlow", pinnedSlow());
        result.put("voters", peer.getVotingView().keySet().stream().sorted().toList());
        result.put("promptSet", promptSet());
        result.put("followers", replication.followers().stream().map(VoterView::readable).toList());
        result.put("promptVoters", replication.promptVoters());
        result.put("modeSwitches", replication.modeSwitches());
        result.put("fastCommits", replication.fastCommits());
        result.put("slowCommits", replication.slowCommits());
        result.put("logForces", log.forces());
        result.put("logForceMicros", log.forceMicros());
        result.put("flushes", log.flushes());
        result.put("flushMicros", log.flushMicros());
        result.put("flushCauses", log.flushesByCause());
        result.put("onDisk", onDisk());
        result.put("logRemoved", logRemoved());
        result.put("view", readableView());
        if (txnSnapLog.isOpen()) {
            Markers markers = txnSnapLog.log().markers();
            result.put("lastLoggedZxid", Zxid.toString(txnSnapLog.log().lastAppended()));
            result.put("fastSwitch", Zxid.toString(markers.fastSwitch()));
            result.put("latestOnDisk", Zxid.toString(markers.latestOnDisk()));
            result.put("lleMap", readable(markers.lleMap()));
        }
        result.put("recovery", recovery());
        result.put("lastSwitches", replication.recentSwitches().readable());
        result.put("lastFlushes", log.recentFlushes().readable());
        result.put("settings", readableSettings());
        return result;
    }

    private Map<String, Object> readableView() {
        View view = ownView();
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("members", members(view));
        result.put("zxid", Zxid.toString(view.seal()));
        result.put("answersNeeded", answersNeeded());
        return result;
    }

    private Map<String, Object> pinnedSlow() {
        Maintenance.Pinned pinned = maintenance.pinned();
        return pinned == null ? null : Map.of("reason", pinned.reason(), "since", pinned.since());
    }

    private Map<String, Object> readableSettings() {
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("heartbeatInterval", settings.heartbeatInterval().toString());
        result.put("tolerance", settings.tolerance().toString());
        result.put("missedHeartbeatsBeforeElection", settings.missedHeartbeatsBeforeElection());
        result.put("fastModeConfirmations", settings.fastModeConfirmations());
        result.put("backgroundFlushInterval", settings.backgroundFlushInterval().toString());
        result.put("idleFlush", settings.idleFlush().toString());
        result.put("diskTimeout", settings.diskTimeout().toString());
        result.put("committedLogMegabytes", settings.committedLogMegabytes());
        result.put("slowRequestTime", requests.slow().threshold().toString());
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
        result.put("uncounted", progress.status().uncounted());
        result.put("unheard", progress.status().unheard());
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
