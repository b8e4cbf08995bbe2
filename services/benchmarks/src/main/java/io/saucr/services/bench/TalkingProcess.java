package io.saucr.services.bench;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A JVM that is told and answers line by line. Used by one thread. */
final class TalkingProcess implements AutoCloseable {

    /** In which Linux counts a thread's time. */
    private static final int TICKS_PER_SECOND = 100;

    private static final long PATIENCE_SECONDS = 180;

    private final Path log;
    private final Process process;
    private final BufferedWriter in;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

    /**
     * Starts it.
     *
     * @param log gets what it writes to its error stream
     * @param flags of its JVM, the collector among them where it is not the serial one
     * @param program its main class, of this process's class path
     */
    TalkingProcess(Path log, List<String> flags, Class<?> program, String... arguments)
            throws IOException {
        this(log, flags, Map.of(), program, arguments);
    }

    /**
     * Starts it with variables of the environment that this process does not have.
     *
     * @see #TalkingProcess(Path, List, Class, String...)
     */
    TalkingProcess(
            Path log,
            List<String> flags,
            Map<String, String> environment,
            Class<?> program,
            String... arguments)
            throws IOException {
        this.log = log;
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(flags);
        if (flags.stream().noneMatch(it -> it.startsWith("-XX:+Use"))) {
            command.add("-XX:+UseSerialGC");
        }
        command.addAll(
                List.of(
                        "-Xshare:auto",
                        "-Dlogback.configurationFile=io/saucr/bench/logback.xml",
                        "-cp",
                        System.getProperty("java.class.path"),
                        program.getName()));
        command.addAll(List.of(arguments));
        Files.createDirectories(log.getParent());
        ProcessBuilder builder =
                new ProcessBuilder(command)
                        .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()));
        builder.environment().putAll(environment);
        process = builder.start();
        in =
                new BufferedWriter(
                        new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
        Thread reader = new Thread(this::read, "lines of " + log.getFileName());
        reader.setDaemon(true);
        reader.start();
    }

    private void read() {
        try (BufferedReader out =
                new BufferedReader(
                        new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = out.readLine(); line != null; line = out.readLine()) {
                lines.add(line);
            }
        } catch (IOException e) {
            // It was killed.
        }
    }

    /**
     * The next line that it says.
     *
     * @throws IOException where it ends, or says nothing for minutes; with all that it logged
     */
    String next() throws IOException, InterruptedException {
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (System.nanoTime() < until) {
            String line = lines.poll(100, TimeUnit.MILLISECONDS);
            if (line != null) {
                return line;
            }
            if (!process.isAlive() && lines.isEmpty()) {
                throw new IOException(
                        "a process ended with "
                                + process.exitValue()
                                + ":\n"
                                + Files.readString(log));
            }
        }
        throw new IOException("a process says nothing:\n" + Files.readString(log));
    }

    /** What follows these words in the next line, which has to begin with them. */
    String next(String words) throws IOException, InterruptedException {
        String line = next();
        if (!line.startsWith(words)) {
            throw new IOException("a process said \"" + line + "\" where \"" + words + "\" comes");
        }
        return line.substring(words.length()).strip();
    }

    /** Sends an empty line. */
    void tell() throws IOException {
        tell("");
    }

    /** Sends a line. */
    void tell(String line) throws IOException {
        in.write(line);
        in.newLine();
        in.flush();
    }

    /**
     * How long it has run on processors, of all its threads but those that compile, where the
     * system tells them apart (Linux): what they do comes to an end.
     */
    Duration processorTime() throws IOException {
        return process.info().totalCpuDuration().orElse(Duration.ZERO).minus(compiling());
    }

    private Duration compiling() throws IOException {
        Path tasks = Path.of("/proc", Long.toString(process.pid()), "task");
        if (!Files.exists(tasks)) {
            return Duration.ZERO;
        }
        long ticks = 0;
        try (Stream<Path> all = Files.list(tasks)) {
            for (Path task : all.toList()) {
                try {
                    ticks += ticksIfCompiles(Files.readString(task.resolve("stat")));
                } catch (NoSuchFileException e) {
                    // That thread has ended.
                }
            }
        }
        return Duration.ofMillis(ticks * 1_000 / TICKS_PER_SECOND);
    }

    /** Of one thread: {@code tid (name) state ...}, of which fields 14 and 15 are its times. */
    private static long ticksIfCompiles(String stat) {
        String name = stat.substring(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
        if (!name.startsWith("C1 Compiler") && !name.startsWith("C2 Compiler")) {
            return 0;
        }
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
    }

    /** What it holds in memory at most, in bytes; 0 where the system does not say. */
    long mostMemory() throws IOException {
        Path status = Path.of("/proc", Long.toString(process.pid()), "status");
        if (!Files.exists(status)) {
            return 0;
        }
        for (String line : Files.readAllLines(status)) {
            if (line.startsWith("VmHWM:")) {
                return Long.parseLong(line.toLowerCase(Locale.ROOT).replaceAll("[^0-9]", ""))
                        * 1024;
            }
        }
        return 0;
    }

    /** SIGKILL. */
    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
