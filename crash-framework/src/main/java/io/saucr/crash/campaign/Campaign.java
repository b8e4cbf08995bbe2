package io.saucr.crash.campaign;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.crash.fault.Backend;
import io.saucr.crash.fault.FaultBackend;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Sequences against systems, one after the other, with the outcomes in a folder: {@value #OUTCOMES}
 * gets a line of JSON when a sequence is through, so that an interrupted campaign goes on where it
 * stopped; {@code failures/} keeps the servers' logs of every sequence that was not correct. Used
 * by one thread.
 */
public final class Campaign {
    public static final String OUTCOMES = "outcomes.jsonl";
    private static final String WORK = "work";

    private final Path folder;
    private final Backend backend;
    private final PrintStream progress;
    private final ObjectMapper json = new ObjectMapper();

    /**
     * @param folder made if it does not exist
     * @param progress gets a line per sequence
     */
    public Campaign(Path folder, Backend backend, PrintStream progress) throws IOException {
        this.folder = Files.createDirectories(folder).toRealPath();
        this.backend = backend;
        this.progress = progress;
    }

    /** The plan, as outcomes and reports name it. */
    public static String words(FaultPlan plan) {
        String order = plan.order().name().toLowerCase(Locale.ROOT).replace('_', ' ');
        return order
                + (plan.order() == FaultPlan.Order.SIMULTANEOUS
                        ? ""
                        : ", gap " + plan.gap().toMillis() + " ms")
                + (plan.idle().isZero() ? "" : ", idle " + plan.idle().toMillis() + " ms")
                + (plan.young() ? ", young" : "");
    }

    /** What the folder holds already; a line that an interruption left incomplete is dropped. */
    public List<Outcome> outcomes() throws IOException {
        Path file = folder.resolve(OUTCOMES);
        List<Outcome> found = new ArrayList<>();
        if (!Files.exists(file)) {
            return found;
        }
        List<String> whole = new ArrayList<>();
        for (String line : Files.readAllLines(file)) {
            try {
                found.add(json.readValue(line, Outcome.class));
                whole.add(line);
            } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
                progress.println("dropped an incomplete line of " + file);
            }
        }
        Files.write(file, whole);
        return found;
    }

    /**
     * Runs every sequence that has no outcome yet, with every system and plan.
     *
     * @return all outcomes of the folder
     * @throws IOException if a system does not serve before any fault, or the back end fails
     */
    public List<Outcome> run(
            List<SystemUnderTest> systems, List<FaultPlan> plans, List<Sequence> sequences)
            throws IOException, InterruptedException {
        removeLeftovers();
        Set<String> done = new HashSet<>();
        outcomes().forEach(outcome -> done.add(outcome.key()));
        record Task(SystemUnderTest system, FaultPlan plan, Sequence sequence) {
            String key() {
                return system.name() + " " + words(plan) + " " + sequence;
            }
        }
        List<Task> tasks = new ArrayList<>();
        for (Sequence sequence : sequences) {
            for (FaultPlan plan : plans) {
                for (SystemUnderTest system : systems) {
                    Task task = new Task(system, plan, sequence);
                    if (!done.contains(task.key())) {
                        tasks.add(task);
                    }
                }
            }
        }
        progress.println(
                tasks.size()
                        + " runs, "
                        + done.size()
                        + " done before; faults by the "
                        + backend
                        + " back end");
        long begin = System.nanoTime();
        for (int i = 0; i < tasks.size(); i++) {
            Task task = tasks.get(i);
            Outcome outcome = runOne(task.system(), task.plan(), task.sequence());
            append(outcome);
            long each = (System.nanoTime() - begin) / (i + 1);
            Duration left = Duration.ofNanos(each * (tasks.size() - i - 1));
            progress.printf(
                    "%d/%d  %-11s %5.1f s  %-7s %-28s %s%s  (%d:%02d left)%n",
                    i + 1,
                    tasks.size(),
                    outcome.verdict(),
                    outcome.millis() / 1000.0,
                    outcome.system(),
                    outcome.plan(),
                    outcome.sequence(),
                    outcome.reason().isEmpty() ? "" : "  " + outcome.reason(),
                    left.toMinutes(),
                    left.toSecondsPart());
        }
        return outcomes();
    }

    /** The ideal model of viewstamped replication, which needs no servers. */
    public static Outcome viewstamped(Sequence sequence, FaultPlan plan) {
        boolean serves = MemoryModel.viewstampedServes(sequence);
        return new Outcome(
                "vr-ideal",
                "model",
                sequence.servers(),
                sequence,
                words(plan),
                "model",
                serves ? Verdict.CORRECT : Verdict.UNAVAILABLE,
                serves ? "" : "no majority remembers",
                0,
                0,
                List.of(),
                MemoryModel.lossPossible(sequence),
                List.of(),
                0,
                List.of());
    }

    /** Adds the model's outcomes for sequences that have none. */
    public void model(List<FaultPlan> plans, List<Sequence> sequences) throws IOException {
        Set<String> done = new HashSet<>();
        outcomes().forEach(outcome -> done.add(outcome.key()));
        for (Sequence sequence : sequences) {
            for (FaultPlan plan : plans) {
                Outcome outcome = viewstamped(sequence, plan);
                if (done.add(outcome.key())) {
                    append(outcome);
                }
            }
        }
    }

    private Outcome runOne(SystemUnderTest system, FaultPlan plan, Sequence sequence)
            throws IOException, InterruptedException {
        Path work = Files.createDirectories(folder.resolve(WORK));
        Outcome outcome;
        try {
            FaultBackend machines = backend.open(work, sequence.servers());
            outcome = SequenceRunner.run(system, plan, sequence, machines, work);
        } catch (IOException e) {
            keepLogs(work, folder.resolve("failures").resolve("aborted"));
            throw e;
        }
        if (outcome.verdict() != Verdict.CORRECT) {
            String name =
                    (outcome.system() + " " + outcome.plan() + " " + sequence)
                            .replaceAll("[^A-Za-z0-9-]+", "-");
            keepLogs(work, folder.resolve("failures").resolve(name));
        }
        delete(work);
        return outcome;
    }

    private void append(Outcome outcome) throws IOException {
        Files.writeString(
                folder.resolve(OUTCOMES),
                json.writeValueAsString(outcome) + "\n",
                StandardCharsets.UTF_8,
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
    }

    private static void keepLogs(Path work, Path target) throws IOException {
        Files.createDirectories(target);
        try (Stream<Path> servers = Files.list(work)) {
            for (Path server : servers.toList()) {
                Path log = server.resolve("server.log");
                if (Files.exists(log)) {
                    Files.copy(
                            log,
                            target.resolve(server.getFileName() + ".log"),
                            StandardCopyOption.REPLACE_EXISTING);
                }
            }
        }
    }

    /** The folder of a sequence that was interrupted; its processes and mounts have gone before. */
    private void removeLeftovers() throws IOException {
        Path work = folder.resolve(WORK);
        if (Files.exists(work)) {
            progress.println("left over from an interrupted run, removed: " + work);
            delete(work);
        }
    }

    private static void delete(Path tree) throws IOException {
        try (Stream<Path> paths = Files.walk(tree)) {
            for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }
}
