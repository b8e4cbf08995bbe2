package io.saucr.crash.nemesis;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.saucr.crash.campaign.SystemUnderTest;
import io.saucr.crash.fault.FaultBackend;
import io.saucr.crash.history.EdnHistory;
import io.saucr.crash.history.History;
import io.saucr.crash.history.HistoryEvent;
import io.saucr.crash.history.HistoryRecorder;
import io.saucr.crash.history.LinearizabilityChecker;
import io.saucr.crash.nemesis.NemesisOutcome.Verdict;
import io.saucr.ensemble.Ensemble;
import io.saucr.ensemble.Explanation;
import io.saucr.ensemble.ServerProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

/**
 * One run: new servers, registers that are durable before the first fault, clients and faults for a
 * while, then everything mended and every register read once more, so that what a fault destroyed
 * does not stay unseen. Used by one thread.
 */
public final class NemesisRunner {
    private static final Duration START_PATIENCE = Duration.ofSeconds(90);

    private final SystemUnderTest system;
    private final NemesisPlan plan;
    private final FaultBackend backend;
    private final Ensemble ensemble;
    private final HistoryRecorder recorder = new HistoryRecorder();
    private final long start = System.nanoTime();
    private final AtomicInteger processes = new AtomicInteger();
    private Nemesis nemesis;

    private NemesisRunner(
            SystemUnderTest system, NemesisPlan plan, FaultBackend backend, Ensemble ensemble) {
        this.system = system;
        this.plan = plan;
        this.backend = backend;
        this.ensemble = ensemble;
    }

    /**
     * @param work for the servers' folders, also those of {@code backend}, which is closed at the
     *     end
     * @param history gets the history, checked or not
     * @throws IOException if the servers do not even serve before the first fault, or the back end
     *     or a client fails
     */
    public static NemesisOutcome run(
            SystemUnderTest system,
            NemesisPlan plan,
            FaultBackend backend,
            Path work,
            Path history,
            LinearizabilityChecker checker)
            throws IOException, InterruptedException {
        Ensemble.Builder builder =
                Ensemble.of(system.distribution(), work)
                        .voters(plan.servers())
                        .hosting(backend)
                        .set("cnxTimeout", "500");
        system.settings().forEach(builder::set);
        try (Ensemble ensemble = builder.build()) {
            for (ServerProcess server : ensemble.servers()) {
                Path logs = logs(server.dataDirectory());
                server.configure("dataLogDir", logs.toString());
            }
            NemesisRunner run = new NemesisRunner(system, plan, backend, ensemble);
            String unavailable = run.run();
            History recorded = run.recorder.history();
            EdnHistory.write(recorded, history);
            return run.judge(recorded, unavailable, history, checker);
        }
    }

    /** The log folder on a disk: one of its own, so that it can be lost without the rest. */
    static Path logs(Path disk) {
        return disk.resolve("log");
    }

    /**
     * @return why the ensemble was not there at the end; empty if it was
     */
    private String run() throws IOException, InterruptedException {
        ensemble.start();
        try {
            ensemble.awaitServing(START_PATIENCE);
        } catch (IllegalStateException e) {
            throw new IOException(system.name() + " does not serve before any fault", e);
        }
        int registers = RegisterLoad.registers(plan);
        createRegisters(registers);
        for (ServerProcess server : ensemble.servers()) {
            backend.harden(server.id());
        }
        try (RegisterLoad load =
                new RegisterLoad(plan, registers, ensemble.connectString(), recorder, processes)) {
            if (!load.awaitAnswers(START_PATIENCE)) {
                throw new IOException("not every client is answered before any fault");
            }
            long end = System.nanoTime() + plan.length().toNanos();
            nemesis =
                    new Nemesis(
                            plan, ensemble, backend, recorder, system.situationAware(), start, end);
            nemesis.run();
            long left = (end - System.nanoTime()) / 1_000_000;
            Thread.sleep(Math.max(0, left));
            load.stop();
        }
        if (!nemesis.awaitServing(plan.patience())) {
            List<String> refusals = new ArrayList<>();
            for (ServerProcess server : ensemble.servers()) {
                if (server.role().isEmpty()) {
                    refusals.add("server " + server.id() + " " + Explanation.of(server));
                }
            }
            return "not all servers serve "
                    + plan.patience().toSeconds()
                    + " s after the last fault: "
                    + refusals;
        }
        return readAll(registers);
    }

    /**
     * Creates the nodes of the registers. Tries again when a connection is lost, because the
     * servers may still be electing.
     */
    @SuppressWarnings("try") // close() may be interrupted like everything else here
    private void createRegisters(int count) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + START_PATIENCE.toNanos();
        try (ZooKeeper client =
                new ZooKeeper(
                        ensemble.connectString(), RegisterClient.SESSION_MILLIS, event -> {})) {
            List<Integer> missing = new ArrayList<>();
            for (int key = 0; key < count; key++) {
                missing.add(key);
            }
            while (!missing.isEmpty()) {
                Map<Integer, CompletableFuture<Code>> answers = new LinkedHashMap<>();
                for (int key : missing) {
                    CompletableFuture<Code> answer = new CompletableFuture<>();
                    answers.put(key, answer);
                    client.create(
                            RegisterClient.path(key),
                            new byte[0],
                            ZooDefs.Ids.OPEN_ACL_UNSAFE,
                            CreateMode.PERSISTENT,
                            (status, path, context, name) -> answer.complete(Code.get(status)),
                            null);
                }
                for (Map.Entry<Integer, CompletableFuture<Code>> answer : answers.entrySet()) {
                    Code code = answer.getValue().get(deadline - System.nanoTime(), NANOSECONDS);
                    if (code == Code.OK || code == Code.NODEEXISTS) {
                        missing.remove(answer.getKey());
                    } else if (code != Code.CONNECTIONLOSS || System.nanoTime() > deadline) {
                        throw new IOException("a register was not created: " + code);
                    }
                }
            }
        } catch (ExecutionException | TimeoutException e) {
            throw new IOException("registers were not created", e);
        }
    }

    /** Reads every register at the end. */
    private String readAll(int registers) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + plan.patience().toNanos();
        try (RegisterClient client =
                new RegisterClient(ensemble.connectString(), recorder, processes)) {
            for (int key = 0; key < registers; key++) {
                while (!client.ready() || !client.read(key)) {
                    if (System.nanoTime() > deadline) {
                        return "register " + key + " cannot be read";
                    }
                    Thread.sleep(50);
                }
            }
        }
        return "";
    }

    private NemesisOutcome judge(
            History recorded, String unavailable, Path file, LinearizabilityChecker checker) {
        long millis = (System.nanoTime() - start) / 1_000_000;
        long begin = System.nanoTime();
        LinearizabilityChecker.Result result = checker.check(recorded);
        final long checkMillis = (System.nanoTime() - begin) / 1_000_000;
        Verdict verdict;
        String reason;
        switch (result.answer()) {
            case NOT_LINEARIZABLE -> {
                verdict = Verdict.NOT_LINEARIZABLE;
                reason = "register " + result.key() + " has no order of its calls";
            }
            case UNKNOWN -> {
                verdict = Verdict.UNKNOWN;
                reason = "register " + result.key() + " needs too many configurations";
            }
            default -> {
                verdict = unavailable.isEmpty() ? Verdict.LINEARIZABLE : Verdict.UNAVAILABLE;
                reason = unavailable;
            }
        }
        List<NemesisOutcome.Injected> injected =
                recorded.events().stream()
                        .filter(HistoryEvent.Nemesis.class::isInstance)
                        .map(HistoryEvent.Nemesis.class::cast)
                        .map(
                                event ->
                                        new NemesisOutcome.Injected(
                                                event.timeNanos() / 1_000_000,
                                                event.fault(),
                                                event.servers()))
                        .toList();
        return new NemesisOutcome(
                system.name(),
                system.distribution().version(),
                plan.servers(),
                plan.seed(),
                plan.length().toSeconds(),
                plan.faults(),
                backend.name(),
                verdict,
                reason,
                result.evidence(),
                recorded.operations().size(),
                recorded.count(HistoryEvent.Type.OK),
                recorded.count(HistoryEvent.Type.FAIL),
                recorded.count(HistoryEvent.Type.INFO),
                result.configurations(),
                checkMillis,
                millis,
                injected,
                nemesis.refusals(),
                file.getFileName().toString());
    }
}
