package io.saucr.crash.nemesis;

import io.saucr.crash.campaign.SystemUnderTest;
import io.saucr.crash.fault.FaultBackend;
import io.saucr.crash.nemesis.NemesisOutcome.Verdict;
import io.saucr.ensemble.Ensemble;
import io.saucr.ensemble.Explanation;
import io.saucr.ensemble.ServerProcess;
import io.saucr.history.EdnHistory;
import io.saucr.history.History;
import io.saucr.history.HistoryEvent;
import io.saucr.history.HistoryRecorder;
import io.saucr.history.LinearizabilityChecker;
import io.saucr.history.LinearizabilityChecker.Answer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One run: new servers, registers that are durable before the first fault, clients and faults for a
 * while, then everything fixed and every register read once more, so that what a fault destroyed
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
     * @param history gets the history, checked or not, also if the run fails
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
        system.configure(builder);
        boolean moves = plan.kinds().contains(FaultKind.MOVE_LEADER);
        if (moves) {
            builder.set("admin.enableServer", "true");
        }
        try (Ensemble ensemble = builder.build()) {
            for (ServerProcess server : ensemble.servers()) {
                Path logs = logs(server.dataDirectory());
                server.configure("dataLogDir", logs.toString());
                if (moves) {
                    server.configure("admin.serverAddress", server.address().clientHost());
                }
            }
            NemesisRunner run = new NemesisRunner(system, plan, backend, ensemble);
            String unavailable;
            History recorded;
            try {
                unavailable = run.run();
            } finally {
                recorded = run.recorder.history();
                EdnHistory.write(recorded, history);
            }
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
            return "not all servers serve %s s after the last fault: %s"
                    .formatted(plan.patience().toSeconds(), refusals);
        }
        return readAll(registers);
    }

    private void createRegisters(int count) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + START_PATIENCE.toNanos();
        try (RegisterClient client =
                new RegisterClient(ensemble.connectString(), recorder, processes)) {
            for (int key = 0; key < count; key++) {
                client.create(key, deadline);
            }
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
        Verdict verdict =
                switch (result.answer()) {
                    case NOT_LINEARIZABLE -> Verdict.NOT_LINEARIZABLE;
                    case UNKNOWN -> Verdict.UNKNOWN;
                    case LINEARIZABLE ->
                            unavailable.isEmpty() ? Verdict.LINEARIZABLE : Verdict.UNAVAILABLE;
                };
        String reason = result.answer() == Answer.LINEARIZABLE ? unavailable : result.summary();
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
                result.registers().size(),
                recorded.count(HistoryEvent.Type.OK),
                recorded.count(HistoryEvent.Type.FAIL),
                recorded.count(HistoryEvent.Type.INFO),
                result.configurations(),
                checkMillis,
                millis,
                nemesis.injected(),
                nemesis.refusals(),
                file.getFileName().toString());
    }
}
