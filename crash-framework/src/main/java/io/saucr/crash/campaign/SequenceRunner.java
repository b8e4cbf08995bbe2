package io.saucr.crash.campaign;

import io.saucr.crash.fault.FaultBackend;
import io.saucr.crash.fault.PowerCut;
import io.saucr.ensemble.Deadline;
import io.saucr.ensemble.Ensemble;
import io.saucr.ensemble.Explanation;
import io.saucr.ensemble.Majority;
import io.saucr.ensemble.NewNodes;
import io.saucr.ensemble.ServerProcess;
import io.saucr.ensemble.Signal;
import io.saucr.ensemble.WriteLoad;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
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
    private static final String NOTHING_TO_ACCEPT = "no loss to accept";
    private static final int MOST_LOST_NAMED = 100;

    /** A sequence with more states prints a line for each. */
    private static final int LONG = 10;

    /**
     * Servers that have just started may not have heard each other yet, nor have reported that they
     * are recovered.
     */
    private static final Duration STUCK_FOR = Duration.ofSeconds(5);

    /** Acknowledged writes of earlier states, and the client that writes now, if one does. */
    private record Acknowledged(long before, WriteLoad now) {
        long total() {
            return before + (now == null ? 0 : now.acknowledged());
        }
    }

    private final SystemUnderTest system;
    private final FaultPlan plan;
    private final Sequence sequence;
    private final FaultBackend backend;
    private final Ensemble ensemble;
    private final PrintStream progressOut;

    /** Follows the sequence; null where the servers seal no views, or keep their power. */
    private AvailabilityModel model;

    /** Of states before the last: why those had to serve that did not. */
    private final List<String> overdue = new ArrayList<>();

    /** Indices of the states in which nobody served. */
    private final Set<Integer> unserved = new HashSet<>();

    private final Random random;
    private final long start = System.nanoTime();
    private final List<Outcome.Event> events = new ArrayList<>();
    private final List<String> acknowledged = new ArrayList<>();

    /** Read by the thread of an {@link ActivityRecorder}, too. */
    private volatile Acknowledged progress = new Acknowledged(0, null);

    private SequenceRunner(
            SystemUnderTest system,
            FaultPlan plan,
            Sequence sequence,
            FaultBackend backend,
            Ensemble ensemble,
            PrintStream progress) {
        this.system = system;
        this.plan = plan;
        this.sequence = sequence;
        this.backend = backend;
        this.ensemble = ensemble;
        this.progressOut = progress;
        this.random = new Random(plan.seed() ^ sequence.toString().hashCode());
    }

    /**
     * @param work for the servers' folders, also those of {@code backend}, which is closed at the
     *     end
     * @param progress gets a line per state of a long sequence
     * @throws IOException if the servers do not even serve before the first fault, or the back end
     *     fails
     */
    public static Outcome run(
            SystemUnderTest system,
            FaultPlan plan,
            Sequence sequence,
            FaultBackend backend,
            Path work,
            PrintStream progress)
            throws IOException, InterruptedException {
        Ensemble.Builder builder =
                Ensemble.of(system.distribution(), work)
                        .voters(sequence.servers())
                        .hosting(backend)
                        .set("cnxTimeout", "500");
        system.configure(builder);
        try (Ensemble ensemble = builder.build()) {
            if (plan.logFolder()) {
                for (ServerProcess server : ensemble.servers()) {
                    server.configure("dataLogDir", logs(server).toString());
                }
            }
            SequenceRunner runner =
                    new SequenceRunner(system, plan, sequence, backend, ensemble, progress);
            List<LongSupplier> flushes = new ArrayList<>();
            for (ServerProcess server : ensemble.servers()) {
                flushes.add(() -> backend.shim(server.id()).forces().total());
            }
            try (ActivityRecorder activity =
                    new ActivityRecorder(() -> runner.progress.total(), flushes)) {
                return runner.run(activity);
            }
        }
    }

    private static Path logs(ServerProcess server) {
        return server.dataDirectory().resolve("log");
    }

    private Outcome run(ActivityRecorder activity) throws IOException, InterruptedException {
        ClusterState all = sequence.states().get(0);
        event("start", all, Map.of("servers", all.alive().toString()));
        ensemble.start();
        try {
            ensemble.awaitServing(START_PATIENCE);
        } catch (IllegalStateException e) {
            throw new IOException(system.name() + " does not serve before any fault", e);
        }
        if (plan.order() != FaultPlan.Order.PROCESSES && mntr(all).sealViews()) {
            model = plan.model(sequence.servers());
        }
        ClusterState before = null;
        for (int i = 0; i < sequence.states().size() - 1; i++) {
            ClusterState state = sequence.states().get(i);
            if (before != null) {
                bringBack(state.without(before), state);
                enter(state);
            }
            stay(i, state, sequence.states().get(i + 1));
            before = state;
            tell(i + 1);
        }
        ClusterState last = sequence.states().get(sequence.states().size() - 1);
        bringBack(last.without(before), last);
        enter(last);
        return judge(activity);
    }

    private void enter(ClusterState state) {
        if (model != null) {
            model.enter(state);
        }
    }

    private void tell(int done) {
        int states = sequence.states().size();
        if (states > LONG) {
            progressOut.printf(
                    Locale.ROOT,
                    "    state %d of %d, %s, after %.0f s, %d writes acknowledged%n",
                    done,
                    states,
                    sequence.states().get(done - 1),
                    (System.nanoTime() - start) / 1e9,
                    acknowledged.size());
        }
    }

    /** Writes while the state lasts, then takes the power from those that the next one lacks. */
    private void stay(int number, ClusterState state, ClusterState next)
            throws IOException, InterruptedException {
        boolean serves = false;
        if (state.hasMajorityOf(sequence.servers())) {
            boolean due = model != null && model.judgement().hadToServe();
            serves = settle(state, due ? plan.patience() : plan.settle(), true);
            if (due && !serves) {
                overdue.add("nobody served in state " + state + ": " + model.judgement().why());
            }
        } else {
            Thread.sleep(plan.dwell().toMillis());
        }
        if (!serves) {
            unserved.add(number);
            ServersTold told = mntr(state);
            saw(AvailabilityModel.Served.NO, told);
            Map<String, String> why = told.describe();
            if (state.hasMajorityOf(sequence.servers())) {
                why.put("why", refusals(state));
            }
            event("not-serving", state, why);
            crash(state, next, OptionalInt.empty());
            return;
        }
        OptionalInt leader = ensemble.leader();
        NewNodes nodes = CrashLoad.nodes("/state-" + number + "-");
        try (WriteLoad load = CrashLoad.of(connectString(state), nodes)) {
            load.start();
            progress = new Acknowledged(acknowledged.size(), load);
            boolean enough = load.await(WRITES_PER_STATE, WRITE_PATIENCE);
            boolean harden = number == 0 && !plan.young();
            boolean steady = plan.steady() && system.situationAware();
            if (harden) {
                for (ServerProcess server : ensemble.servers()) {
                    backend.harden(server.id());
                }
            }
            if (steady) {
                awaitFast(state);
            }
            if (model != null && !plan.order().atOnce()) {
                awaitSealed(state);
            }
            if (harden || steady || !plan.order().atOnce()) {
                // The writes that a fault may take are those after this.
                enough = load.await(load.acknowledged() + WRITES_PER_STATE, WRITE_PATIENCE);
            }
            if (!plan.idle().isZero()) {
                load.stop(WRITE_PATIENCE);
                Thread.sleep(plan.idle().toMillis());
                if (steady) {
                    awaitOnDisk(state);
                }
            }
            ServersTold told = mntr(state);
            Map<String, String> details = told.describe();
            List<String> counted = nodes.faultBegins();
            saw(
                    counted.isEmpty()
                            ? AvailabilityModel.Served.UNCERTAIN
                            : AvailabilityModel.Served.YES,
                    told);
            acknowledged.addAll(counted);
            progress = new Acknowledged(acknowledged.size(), null);
            details.put("writes", Integer.toString(counted.size()));
            event(enough ? "acknowledged" : "too-few-acknowledged", state, details);
            crash(state, next, leader);
        }
    }

    /**
     * One by one: the leader has time to notice who has failed, and to seal the view of those who
     * are left, or is fast in the view that it has.
     */
    private void awaitSealed(ClusterState state) {
        Deadline deadline = Deadline.in(FaultPlan.TIME_TO_SEAL);
        while (!deadline.hasPassed() && !mntr(state).isSealed()) {
            deadline.pause();
        }
    }

    /** Waits for fast mode, if more than a bare majority is up. */
    private void awaitFast(ClusterState state) throws IOException {
        int up = state.alive().size();
        if (up > Majority.of(sequence.servers())) {
            awaitSteady(
                    "fast mode with all servers of " + state,
                    () -> {
                        OptionalInt leader = ensemble.leader();
                        return leader.isPresent()
                                && says(leader.getAsInt(), "zk_saucr_mode", "1")
                                && says(leader.getAsInt(), "zk_saucr_prompt_voters", "" + up);
                    });
        }
    }

    private void awaitOnDisk(ClusterState state) throws IOException {
        awaitSteady(
                "everything on disk on all servers of " + state,
                () -> state.alive().stream().allMatch(id -> says(id, "zk_saucr_on_disk", "1")));
    }

    /** Tells the model what servers said of themselves just before the next fault. */
    private void saw(AvailabilityModel.Served served, ServersTold told) {
        if (model != null) {
            told.tell(model, served);
        }
    }

    private boolean says(int id, String metric, String value) {
        return value.equals(ensemble.server(id).mntr().get(metric));
    }

    private static void awaitSteady(String what, BooleanSupplier condition) throws IOException {
        Deadline deadline = Deadline.in(START_PATIENCE);
        while (!condition.getAsBoolean()) {
            if (deadline.hasPassed()) {
                throw new IOException("no " + what + " after " + START_PATIENCE.toSeconds() + " s");
            }
            deadline.pause();
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
        List<ServerProcess> victims = order.stream().map(ensemble::server).toList();
        if (plan.order() == FaultPlan.Order.PROCESSES) {
            Signal.KILL.send(
                    victims.stream()
                            .filter(ServerProcess::isAlive)
                            .map(ServerProcess::pid)
                            .toList());
            victims.forEach(ServerProcess::kill);
            event("kill", next, cut(order, leader));
            return;
        }
        if (plan.order() == FaultPlan.Order.SIMULTANEOUS) {
            PowerCut all = backend.powerCut(victims);
            Map<String, String> details = cut(order, leader);
            details.put("withinMicros", Long.toString(all.width().toNanos() / 1000));
            event(all.ended(), "power-cut", next, details);
            return;
        }
        SortedSet<Integer> alive = new TreeSet<>(state.alive());
        List<PowerCut> cuts = backend.powerCuts(victims, plan.gap());
        for (int i = 0; i < order.size(); i++) {
            alive.remove(order.get(i));
            event(
                    cuts.get(i).ended(),
                    "power-cut",
                    new ClusterState(alive),
                    cut(List.of(order.get(i)), leader));
        }
    }

    private static Map<String, String> cut(List<Integer> victims, OptionalInt leader) {
        Map<String, String> details = new LinkedHashMap<>();
        details.put(
                "of",
                victims.stream()
                        .map(id -> id + (leader.equals(OptionalInt.of(id)) ? " (leader)" : ""))
                        .collect(Collectors.joining(", ")));
        return details;
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
        long stuckSince = 0;
        long lookAgain = System.nanoTime();
        int needed = Majority.of(sequence.servers());
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
            boolean majority = serving >= needed && roles.containsValue("leader");
            boolean complete = serving == state.alive().size() - ended;
            boolean hopeless = state.alive().size() - ended < needed;
            if (!majority && System.nanoTime() > lookAgain) {
                lookAgain = System.nanoTime() + STUCK_FOR.toNanos() / 4;
                boolean stuck = waitsInVain(state);
                stuckSince = !stuck ? 0 : stuckSince == 0 ? System.nanoTime() : stuckSince;
            }
            hopeless |= stuckSince != 0 && System.nanoTime() > stuckSince + STUCK_FOR.toNanos();
            boolean late = System.nanoTime() > deadline || hopeless;
            if ((majority && (complete || !all)) || late) {
                if (majority) {
                    event("serving", state, mntr(state).describe());
                }
                return majority;
            }
            Thread.sleep(20);
        }
    }

    /**
     * Whether it is useless to wait: so many of a state's servers are recovering that the others
     * are fewer than a recovery needs answers from.
     */
    private boolean tooFew(List<Integer> recovering, ClusterState state) {
        int needed = Majority.spares(sequence.servers());
        return !recovering.isEmpty() && state.alive().size() - recovering.size() < needed;
    }

    /** Whether nothing will change while no other server returns. */
    private boolean waitsInVain(ClusterState state) {
        if (model != null && model.judgement().hadToServe()) {
            return false;
        }
        ServersTold told = mntr(state);
        List<Integer> recovering = told.recovering();
        if (model == null) {
            return tooFew(recovering, state);
        }
        // Who is still starting may be the one whose answer is missing.
        return !recovering.isEmpty()
                && told.isComplete()
                && recovering.stream().allMatch(told::lacksAnswers);
    }

    private ServersTold mntr(ClusterState state) {
        return ServersTold.of(ensemble, state);
    }

    /** Which servers do not serve, and why. */
    private String refusals(ClusterState state) throws IOException, InterruptedException {
        StringBuilder text = new StringBuilder();
        for (int id : state.alive()) {
            ServerProcess server = ensemble.server(id);
            if (server.role().isEmpty()) {
                text.append("; server ").append(id).append(' ').append(Explanation.of(server));
            }
        }
        return text.toString();
    }

    /** Why nobody served although all that had died were processes; empty if somebody did. */
    private String refusedAfterDeath() {
        List<Integer> refused =
                unserved.stream()
                        .sorted()
                        .filter(i -> sequence.states().get(i).hasMajorityOf(sequence.servers()))
                        .toList();
        return plan.order() != FaultPlan.Order.PROCESSES || refused.isEmpty()
                ? ""
                : "nobody served in states " + refused + ", though no power was lost";
    }

    private Outcome judge(ActivityRecorder activity) throws IOException, InterruptedException {
        ClusterState all = sequence.states().get(sequence.states().size() - 1);
        long deadline = System.nanoTime() + plan.patience().toNanos();
        String reason = "";
        List<String> lost = List.of();
        boolean read = false;
        while (!read) {
            Duration left = Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
            if (!settle(all, left, false)) {
                long waited = plan.patience().toNanos() - (deadline - System.nanoTime());
                reason =
                        String.format(
                                Locale.ROOT,
                                "no majority serves after %.0f s%s",
                                waited / 1e9,
                                refusals(all));
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
        ServersTold told = mntr(all);
        Map<String, String> state = told.describe();
        List<Integer> recovering = told.recovering();
        AvailabilityModel.Judgement judgement = model == null ? null : model.judgement();
        Verdict verdict;
        if (read) {
            verdict = lost.isEmpty() ? Verdict.CORRECT : Verdict.DATA_LOSS;
            reason = lost.isEmpty() ? "" : lost.size() + " acknowledged writes are missing";
            if (lost.isEmpty() && !refusedAfterDeath().isEmpty()) {
                verdict = Verdict.UNAVAILABLE;
                reason = refusedAfterDeath();
            } else if (lost.isEmpty() && !overdue.isEmpty()) {
                verdict = Verdict.UNAVAILABLE;
                reason = String.join("; ", overdue);
            }
        } else {
            // The memory of a machine survives the death of a process: too few is no excuse then.
            boolean excused = plan.order() != FaultPlan.Order.PROCESSES && tooFew(recovering, all);
            reason += recovering.isEmpty() ? "" : "; recovering: servers " + recovering;
            if (model != null) {
                judgement = model.refusal(recovering);
                excused = !judgement.hadToServe();
                String says = excused ? "it may refuse: " : "it had to serve: ";
                reason = says + judgement.why() + "; " + reason;
            }
            verdict = excused ? Verdict.TOO_FEW_RECOVERED : Verdict.UNAVAILABLE;
            if (!overdue.isEmpty()) {
                verdict = Verdict.UNAVAILABLE;
                reason = String.join("; ", overdue) + "; " + reason;
            }
        }
        event("end", all, state);
        if (verdict == Verdict.TOO_FEW_RECOVERED && !servesAfterAcceptedLoss(recovering, all)) {
            verdict = Verdict.UNAVAILABLE;
            reason += "; not even after the loss was accepted" + refusals(all);
        }
        if (plan.order() == FaultPlan.Order.PROCESSES && read) {
            startInOrder(all);
        }
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
                MemoryModel.lossPossible(sequence, index -> !unserved.contains(index)),
                recovering,
                (System.nanoTime() - start) / 1_000_000,
                List.copyOf(events),
                activity.activity(),
                judgement);
    }

    /**
     * Tells those who cannot recover to continue with what they have, as an operator does in the
     * end.
     */
    private boolean servesAfterAcceptedLoss(List<Integer> recovering, ClusterState all)
            throws IOException, InterruptedException {
        RecoveryTool tool = new RecoveryTool(system.distribution());
        List<Integer> accepted = new ArrayList<>();
        for (int id : recovering) {
            ServerProcess server = ensemble.server(id);
            if (!server.terminate(START_PATIENCE)) {
                throw new IOException("server " + id + " does not end after SIGTERM");
            }
            List<String> command = new ArrayList<>();
            command.add("accept-loss");
            command.add(server.dataDirectory().toString());
            if (plan.logFolder()) {
                command.addAll(List.of("--log-dir", logs(server).toString()));
            }
            command.add("--yes-i-accept-losing-acknowledged-writes");
            RecoveryTool.Answer answer = tool.run(command);
            if (answer.status() == 0) {
                accepted.add(id);
            } else if (!answer.errors().concat(answer.output()).contains(NOTHING_TO_ACCEPT)) {
                // Otherwise those before it were enough for it to recover.
                throw new IOException("server " + id + ": accept-loss: " + answer.errors());
            }
            server.start();
        }
        event(Outcome.ACCEPTED_LOSS, all, Map.of("on", accepted.toString()));
        return settle(all, plan.patience(), true);
    }

    /**
     * Stops all servers in an orderly way and starts them again. The time of this start is what the
     * starts after a death are compared with.
     */
    private void startInOrder(ClusterState all) throws IOException, InterruptedException {
        for (int id : all.alive()) {
            if (!ensemble.server(id).terminate(START_PATIENCE)) {
                throw new IOException("server " + id + " does not end after SIGTERM");
            }
        }
        for (int id : all.alive()) {
            ensemble.server(id).start();
        }
        event(Outcome.ORDERLY_START, all, Map.of("servers", all.alive().toString()));
        if (!settle(all, plan.patience(), true)) {
            event("not-serving", all, mntr(all).describe());
        }
    }

    private String connectString(ClusterState state) {
        return state.alive().stream().map(ensemble::client).collect(Collectors.joining(","));
    }

    private void event(String kind, ClusterState state, Map<String, String> details) {
        event(System.nanoTime(), kind, state, details);
    }

    private void event(long when, String kind, ClusterState state, Map<String, String> details) {
        events.add(new Outcome.Event((when - start) / 1_000_000, kind, state.toString(), details));
    }
}
