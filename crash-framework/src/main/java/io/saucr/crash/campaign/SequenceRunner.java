package io.saucr.crash.campaign;

import io.saucr.crash.fault.FaultBackend;
import io.saucr.crash.process.Ensemble;
import io.saucr.crash.process.ServerProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Random;
import java.util.SortedSet;
import java.util.stream.Collectors;

/**
 * Runs one sequence against one system: writes wherever the ensemble serves, carries out the steps,
 * and reads every acknowledged write back at the end. Each run has its own servers. Used by one
 * thread.
 */
public final class SequenceRunner {
    private static final int WRITES_PER_STATE = 20;
    private static final Duration WRITE_PATIENCE = Duration.ofSeconds(10);
    private static final Duration START_PATIENCE = Duration.ofSeconds(60);
    private static final Duration READ_PATIENCE = Duration.ofSeconds(20);
    private static final int MOST_LOST_NAMED = 100;

    private final SystemUnderTest system;
    private final FaultPlan plan;
    private final Sequence sequence;
    private final FaultBackend backend;
    private final Ensemble ensemble;
    private final Random random;
    private final long start = System.nanoTime();
    private final List<Outcome.Event> events = new ArrayList<>();
    private final List<String> acknowledged = new ArrayList<>();

    private SequenceRunner(
            SystemUnderTest system,
            FaultPlan plan,
            Sequence sequence,
            FaultBackend backend,
            Ensemble ensemble) {
        this.system = system;
        this.plan = plan;
        this.sequence = sequence;
        this.backend = backend;
        this.ensemble = ensemble;
        this.random = new Random(plan.seed() ^ sequence.toString().hashCode());
    }

    /**
     * @param work for the servers' folders, also those of {@code backend}, which is closed at the
     *     end
     * @throws IOException if the servers do not even serve before the first fault, or the back end
     *     fails
     */
    public static Outcome run(
            SystemUnderTest system,
            FaultPlan plan,
            Sequence sequence,
            FaultBackend backend,
            Path work)
            throws IOException, InterruptedException {
        Ensemble.Builder builder =
                Ensemble.of(system.distribution(), work)
                        .voters(sequence.servers())
                        .hosting(backend)
                        .set("cnxTimeout", "500");
        system.settings().forEach(builder::set);
        try (Ensemble ensemble = builder.build()) {
            return new SequenceRunner(system, plan, sequence, backend, ensemble).run();
        }
    }

    private Outcome run() throws IOException, InterruptedException {
        ensemble.start();
        try {
            ensemble.awaitServing(START_PATIENCE);
        } catch (IllegalStateException e) {
            throw new IOException(system.name() + " does not serve before any fault", e);
        }
        ClusterState before = null;
        for (int i = 0; i < sequence.states().size() - 1; i++) {
            ClusterState state = sequence.states().get(i);
            if (before != null) {
                bringBack(state.without(before), state);
            }
            stay(i, state, sequence.states().get(i + 1));
            before = state;
        }
        ClusterState last = sequence.states().get(sequence.states().size() - 1);
        bringBack(last.without(before), last);
        return judge();
    }

    /** Writes while the state lasts, then takes the power from those that the next one lacks. */
    private void stay(int number, ClusterState state, ClusterState next)
            throws IOException, InterruptedException {
        boolean serves = false;
        if (state.hasMajorityOf(sequence.servers())) {
            serves = settle(state, plan.settle(), true);
        } else {
            Thread.sleep(plan.dwell().toMillis());
        }
        if (!serves) {
            event("not-serving", state, Map.of());
            crash(state, next, OptionalInt.empty());
            return;
        }
        OptionalInt leader = ensemble.leader();
        try (Workload load = new Workload(connectString(state), "/state-" + number + "-")) {
            boolean enough = load.await(WRITES_PER_STATE, WRITE_PATIENCE);
            if (number == 0 && !plan.young()) {
                for (ServerProcess server : ensemble.servers()) {
                    backend.harden(server.id());
                }
                // The writes that a fault may take are those after this.
                enough = load.await(load.count() + WRITES_PER_STATE, WRITE_PATIENCE);
            }
            if (!plan.idle().isZero()) {
                load.stop(WRITE_PATIENCE);
                Thread.sleep(plan.idle().toMillis());
            }
            List<String> counted = load.faultBegins();
            acknowledged.addAll(counted);
            event(
                    enough ? "acknowledged" : "too-few-acknowledged",
                    state,
                    Map.of("writes", Integer.toString(counted.size())));
            crash(state, next, leader);
        }
    }

    private void crash(ClusterState state, ClusterState next, OptionalInt leader)
            throws IOException, InterruptedException {
        List<Integer> order = new ArrayList<>(state.without(next));
        if (order.isEmpty()) {
            return;
        }
        Collections.shuffle(order, random);
        if (leader.isPresent() && order.remove((Integer) leader.getAsInt())) {
            boolean last = plan.order() == FaultPlan.Order.FOLLOWERS_FIRST;
            order.add(last ? order.size() : 0, leader.getAsInt());
        }
        Map<String, String> details = new LinkedHashMap<>();
        details.put("order", order.stream().map(String::valueOf).collect(Collectors.joining(",")));
        leader.ifPresent(id -> details.put("leader", Integer.toString(id)));
        long begin = System.nanoTime();
        if (plan.order() == FaultPlan.Order.SIMULTANEOUS) {
            Duration width = backend.powerCut(order.stream().map(ensemble::server).toList());
            details.put("withinMicros", Long.toString(width.toNanos() / 1000));
        } else {
            for (int i = 0; i < order.size(); i++) {
                long due = begin + i * plan.gap().toNanos();
                long wait = (due - System.nanoTime()) / 1_000_000;
                if (wait > 0) {
                    Thread.sleep(wait);
                }
                backend.powerCut(List.of(ensemble.server(order.get(i))));
            }
            details.put("withinMicros", Long.toString((System.nanoTime() - begin) / 1000));
        }
        event("power-cut", next, details);
    }

    private void bringBack(SortedSet<Integer> servers, ClusterState state) throws IOException {
        if (servers.isEmpty()) {
            return;
        }
        for (int id : servers) {
            ensemble.server(id).start();
        }
        event("start", state, Map.of("servers", servers.toString()));
    }

    /**
     * Waits until the servers of the state serve, all of them or at least a majority with a leader.
     *
     * @return whether a majority serves; with {@code all} it waits for the others as long as it may
     */
    private boolean settle(ClusterState state, Duration limit, boolean all)
            throws InterruptedException {
        long deadline = System.nanoTime() + limit.toNanos();
        while (true) {
            Map<Integer, String> roles = new LinkedHashMap<>();
            int ended = 0;
            for (int id : state.alive()) {
                ServerProcess server = ensemble.server(id);
                boolean alive = server.isAlive();
                ended += alive ? 0 : 1;
                roles.put(id, alive ? server.role() : "");
            }
            long serving = roles.values().stream().filter(role -> !role.isEmpty()).count();
            boolean majority = serving > sequence.servers() / 2 && roles.containsValue("leader");
            boolean complete = serving == state.alive().size() - ended;
            boolean hopeless = state.alive().size() - ended <= sequence.servers() / 2;
            boolean late = System.nanoTime() > deadline || hopeless;
            if ((majority && (complete || !all)) || late) {
                if (majority) {
                    event("serving", state, describe(state));
                }
                return majority;
            }
            Thread.sleep(20);
        }
    }

    /** Role, mode and recovery state of each server, as it says itself. */
    private Map<String, String> describe(ClusterState state) {
        Map<String, String> details = new LinkedHashMap<>();
        for (int id : state.alive()) {
            ServerProcess server = ensemble.server(id);
            Map<String, String> values = server.mntr();
            List<String> words = new ArrayList<>();
            words.add(
                    server.isAlive()
                            ? values.getOrDefault("zk_server_state", "silent")
                            : "ended, status " + server.exitStatus().orElse(-1));
            if (values.containsKey("zk_saucr_mode")) {
                words.add(values.get("zk_saucr_mode").startsWith("1") ? "fast" : "slow");
            }
            if (values.getOrDefault("zk_saucr_recovery_state", "0").startsWith("1")) {
                words.add("recovering");
            }
            details.put("server " + id, String.join(", ", words));
        }
        return details;
    }

    private Outcome judge() throws InterruptedException {
        ClusterState all = sequence.states().get(sequence.states().size() - 1);
        long deadline = System.nanoTime() + plan.patience().toNanos();
        String reason = "";
        List<String> lost = List.of();
        boolean read = false;
        while (!read) {
            Duration left = Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
            if (!settle(all, left, false)) {
                reason = "no majority serves after " + plan.patience().toSeconds() + " s";
                break;
            }
            try {
                lost = Readback.missing(connectString(all), acknowledged, READ_PATIENCE);
                read = true;
            } catch (IOException e) {
                reason = e.getMessage();
                if (left.isZero()) {
                    break;
                }
            }
        }
        Map<String, String> state = describe(all);
        List<Integer> recovering = recovering();
        Verdict verdict =
                !read ? Verdict.UNAVAILABLE : lost.isEmpty() ? Verdict.CORRECT : Verdict.DATA_LOSS;
        if (read) {
            reason = lost.isEmpty() ? "" : lost.size() + " acknowledged writes are missing";
        }
        event("end", all, state);
        return new Outcome(
                system.name(),
                system.distribution().version(),
                sequence.servers(),
                sequence,
                Campaign.words(plan),
                backend.name(),
                verdict,
                reason,
                acknowledged.size(),
                lost.size(),
                lost.subList(0, Math.min(MOST_LOST_NAMED, lost.size())),
                MemoryModel.lossPossible(sequence),
                recovering,
                (System.nanoTime() - start) / 1_000_000,
                List.copyOf(events));
    }

    /** A server that has not recovered serves nobody; it says so to {@code mntr}. */
    private List<Integer> recovering() {
        return ensemble.servers().stream()
                .filter(
                        server ->
                                server.mntr()
                                        .getOrDefault("zk_saucr_recovery_state", "0")
                                        .startsWith("1"))
                .map(ServerProcess::id)
                .toList();
    }

    private String connectString(ClusterState state) {
        return state.alive().stream()
                .map(id -> ensemble.server(id).address().client())
                .collect(Collectors.joining(","));
    }

    private void event(String kind, ClusterState state, Map<String, String> details) {
        events.add(
                new Outcome.Event(
                        (System.nanoTime() - start) / 1_000_000, kind, state.toString(), details));
    }
}
