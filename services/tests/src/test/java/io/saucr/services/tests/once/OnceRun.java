package io.saucr.services.tests.once;

import io.saucr.ensemble.ClientSession;
import io.saucr.ensemble.Deadline;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.apache.zookeeper.KeeperException;

/**
 * One workload, done by processes in one way, each behind a line of its own, in a part of the
 * ensemble that is this run's. Whoever kills a process starts it again. Used by one thread, but for
 * what {@link Fate#then} does to processes and lines.
 */
final class OnceRun implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofMinutes(10);
    private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    /**
     * @param servers a connect string without a chroot
     * @param name of the run, its chroot and its folder
     * @param depth the most operations that a client has under way
     * @param work where the run's folder is made
     */
    record Plan(
            Writer.Way way,
            String servers,
            String name,
            int clients,
            int operationsOfEach,
            long seed,
            int depth,
            Path work) {
        Workload workload() {
            return Workload.seeded(clients, operationsOfEach, seed);
        }
    }

    private final Plan plan;
    private final List<ClientLine> lines = new ArrayList<>();
    private final List<WriterProcess> processes = new ArrayList<>();
    private final ClientSession session;

    /**
     * Makes the nodes that the clients work on, and starts no client.
     *
     * @param fates of the writes of each client
     */
    OnceRun(Plan plan, List<Function<Request, Fate>> fates)
            throws IOException, InterruptedException, KeeperException {
        this.plan = plan;
        try (ClientSession root = ClientSession.connected(plan.servers(), PATIENCE)) {
            root.multi(new Step.Create("/" + plan.name(), "").ops());
        }
        session = ClientSession.connected(plan.servers() + "/" + plan.name(), PATIENCE);
        Workload.ground(plan.clients()).writeTo(session);
        for (int client = 0; client < plan.clients(); client++) {
            ClientLine line = new ClientLine(plan.servers(), fates.get(client));
            lines.add(line);
            processes.add(
                    new WriterProcess(
                            plan.work().resolve(plan.name()).resolve("client-" + client),
                            List.of(
                                    plan.way().name(),
                                    line.connectString() + "/" + plan.name(),
                                    Integer.toString(client),
                                    Integer.toString(plan.clients()),
                                    Integer.toString(plan.operationsOfEach()),
                                    Long.toString(plan.seed()),
                                    Integer.toString(plan.depth()))));
        }
    }

    ClientLine line(int client) {
        return lines.get(client);
    }

    WriterProcess process(int client) {
        return processes.get(client);
    }

    void start() throws IOException {
        for (WriterProcess process : processes) {
            process.start();
        }
    }

    /**
     * Waits until every client has told every outcome and ended, starting again those that were
     * killed.
     *
     * @throws IllegalStateException if a client ends otherwise or does not end
     */
    void awaitDone() throws IOException {
        awaitDone(PATIENCE);
    }

    /** The same, for at most this long. */
    void awaitDone(Duration patience) throws IOException {
        Deadline deadline = Deadline.in(patience);
        for (WriterProcess process : processes) {
            while (process.exitStatus().orElse(-1) != 0) {
                restartKilled();
                if (deadline.hasPassed()) {
                    throw new IllegalStateException(
                            process.folder() + " does not end:\n" + process.log());
                }
                LockSupport.parkNanos(POLL_NANOS);
            }
        }
    }

    private void restartKilled() throws IOException {
        for (WriterProcess process : processes) {
            int status = process.exitStatus().orElse(0);
            if (status == WriterProcess.KILLED) {
                process.start();
            } else if (status != 0) {
                throw new IllegalStateException(
                        process.folder()
                                + " ended, status "
                                + status
                                + " "
                                + process.reason()
                                + "\n"
                                + process.log());
            }
        }
    }

    /** Delivers everything that is still held. */
    void releaseAll() {
        lines.forEach(ClientLine::release);
    }

    /** What the clients left and told that exactly once does not allow. */
    List<String> violations() throws IOException, KeeperException, InterruptedException {
        List<List<Told>> told = new ArrayList<>();
        for (WriterProcess process : processes) {
            told.add(OutcomeFile.read(process.folder(), plan.operationsOfEach()));
        }
        session.sync("/", (code, path, context) -> {}, null);
        return Judge.violations(plan.workload(), Tree.read(session), told);
    }

    @Override
    public void close() {
        for (WriterProcess process : processes) {
            process.close();
        }
        lines.forEach(ClientLine::close);
        session.close();
    }
}
