package io.saucr.services.tests.standby;

import io.saucr.services.tests.crash.Member;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A {@link StandbyProgram} as a process of this machine, which may be killed, stopped, and started
 * again in its folder. Orders are given by one thread; what it says is read by another.
 */
public final class MemberProcess implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final List<String> command;
    private final Path log;
    private final List<String> lines = new ArrayList<>(); // Guarded by itself, of this start.
    private Process process;
    private BufferedWriter orders;
    private String member;

    /**
     * Starts it, and waits until it says so.
     *
     * @param place servers and path of the service
     * @param folder its own; its log is beside it
     * @param copies members that force each segment
     * @param fast whether a standby takes the place of a disk (C15)
     * @param everyMillis between two checkpoints; 0 where replies wait (C7)
     * @param jvm options of its JVM
     */
    public MemberProcess(
            String place, Path folder, int copies, boolean fast, long everyMillis, List<String> jvm)
            throws IOException {
        this(place, folder, copies, fast, everyMillis, StandbyProgram.MEMBERS, jvm);
    }

    /**
     * The same with segments in a store.
     *
     * @param store as {@link StandbyProgram#STORE} says
     */
    public MemberProcess(
            String place, Path folder, int copies, boolean fast, long everyMillis, String store)
            throws IOException {
        this(place, folder, copies, fast, everyMillis, store, Member.SMALL_JVM);
    }

    private MemberProcess(
            String place,
            Path folder,
            int copies,
            boolean fast,
            long everyMillis,
            String store,
            List<String> jvm)
            throws IOException {
        log = folder.resolveSibling(folder.getFileName() + ".log");
        command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(jvm);
        command.addAll(
                List.of(
                        "-XX:-UsePerfData",
                        "-Xshare:auto",
                        "-D" + StandbyProgram.STORE + "=" + store,
                        "-Dlogback.configurationFile=io/saucr/services/tests/crash/logback.xml",
                        "-cp",
                        System.getProperty("java.class.path"),
                        StandbyProgram.class.getName(),
                        place,
                        folder.toString(),
                        Integer.toString(copies),
                        Boolean.toString(fast),
                        Long.toString(everyMillis)));
        start();
    }

    /** Starts it again in its folder, and waits until it says so. */
    public void start() throws IOException {
        Process begun =
                new ProcessBuilder(command)
                        .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()))
                        .start();
        process = begun;
        orders =
                new BufferedWriter(
                        new OutputStreamWriter(begun.getOutputStream(), StandardCharsets.UTF_8));
        synchronized (lines) {
            lines.clear();
        }
        Thread reader = new Thread(() -> read(begun), "lines of " + log.getFileName());
        reader.setDaemon(true);
        reader.start();
        member = await("started ");
    }

    private void read(Process of) {
        try (BufferedReader in =
                new BufferedReader(
                        new InputStreamReader(of.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                synchronized (lines) {
                    lines.add(line);
                    lines.notifyAll();
                }
            }
        } catch (IOException e) {
            // It was killed.
        }
    }

    /** Its member, 16 hexadecimal digits. */
    public String member() {
        return member;
    }

    /** Takes the first line that begins so; gives the rest of it. */
    private String await(String begins) {
        return await(begins, begins).substring(begins.length());
    }

    /** Takes the first line that begins in one of these ways. */
    private String await(String begins, String orElse) {
        long until = System.nanoTime() + PATIENCE.toNanos();
        synchronized (lines) {
            while (true) {
                Optional<String> line =
                        lines.stream()
                                .filter(it -> it.startsWith(begins) || it.startsWith(orElse))
                                .findFirst();
                if (line.isPresent()) {
                    lines.remove(line.get());
                    return line.get();
                }
                if (System.nanoTime() - until > 0 || !process.isAlive()) {
                    throw new IllegalStateException(
                            "a member "
                                    + (process.isAlive() ? "says no " : "ended without ")
                                    + begins
                                    + "; its log is "
                                    + log);
                }
                try {
                    lines.wait(20);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        }
    }

    private void order(String line) throws IOException {
        orders.write(line);
        orders.newLine();
        orders.flush();
    }

    /** How it is, by the names of {@link StandbyProgram}. */
    public Map<String, String> status() throws IOException {
        order("status");
        return Statuses.parse(await("status "));
    }

    /** Whether it is in office. */
    public boolean isPrimary() throws IOException {
        return "primary".equals(status().get("role"));
    }

    /**
     * Hands its office over to any member.
     *
     * @throws IllegalStateException where it does not
     */
    public void handOver() throws IOException {
        order("handover");
        String answer = await("handed", "refused");
        if (!answer.equals("handed")) {
            throw new IllegalStateException("member " + member + " does not hand over: " + answer);
        }
    }

    /** SIGKILL; returns when it is dead. */
    public void kill() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor();
    }

    /** SIGSTOP, or SIGCONT after it. */
    public void freeze(boolean frozen) throws IOException, InterruptedException {
        Process signal =
                new ProcessBuilder(
                                "sh",
                                "-c",
                                (frozen ? "kill -STOP " : "kill -CONT ") + process.pid())
                        .start();
        if (signal.waitFor() != 0) {
            throw new IllegalStateException("no process " + process.pid());
        }
    }

    /** SIGKILL, where it runs. */
    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
