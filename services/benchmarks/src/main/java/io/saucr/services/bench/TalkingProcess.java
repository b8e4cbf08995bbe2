package io.saucr.services.bench;

import io.saucr.ensemble.LineProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;

/** A JVM that is told and answers line by line. Used by one thread. */
final class TalkingProcess implements AutoCloseable {

    /** In which Linux counts a thread's time. */
    private static final int TICKS_PER_SECOND = 100;

    private static final Duration PATIENCE = Duration.ofMinutes(3);

    private final LineProcess process;
    private int read;

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
        Files.createDirectories(log.getParent());
        process =
                new LineProcess(
                        "a process",
                        command(flags, program.getName(), arguments),
                        environment,
                        log,
                        PATIENCE,
                        line -> {});
    }

    /**
     * The command line of a JVM with the class path of this process, without its logging.
     *
     * @param flags the collector among them where it is not the serial one
     * @param program name of its main class
     */
    static List<String> command(List<String> flags, String program, String... arguments) {
        List<String> all = new ArrayList<>(flags);
        if (flags.stream().noneMatch(it -> it.startsWith("-XX:+Use"))) {
            all.add("-XX:+UseSerialGC");
        }
        all.add("-Dlogback.configurationFile=io/saucr/bench/logback.xml");
        return LineProcess.java(all, program, arguments);
    }

    /** In such a process: the lines that it is sent. */
    static BufferedReader lines() {
        return new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    }

    /** In such a process: says a line for each that it is sent, and exits at their end. */
    static void answer(Callable<String> answer) throws Exception {
        BufferedReader in = lines();
        while (in.readLine() != null) {
            System.out.println(answer.call());
        }
        Runtime.getRuntime().halt(0);
    }

    /**
     * The next line that it says.
     *
     * @throws IllegalStateException where it ends, or says nothing for minutes
     */
    String next() {
        return process.await(read++, "");
    }

    /** What follows these words in the next line, which has to begin with them. */
    String next(String words) throws IOException {
        String line = next();
        if (!line.startsWith(words)) {
            throw new IOException("a process said \"" + line + "\" where \"" + words + "\" comes");
        }
        return line.substring(words.length()).strip();
    }

    /** Sends an empty line. */
    void tell() {
        tell("");
    }

    /** Sends a line. */
    void tell(String line) {
        process.order(line);
    }

    /**
     * How long it has run on processors, of all its threads but those that compile, where the
     * system tells them apart (Linux): what they do comes to an end.
     */
    Duration processorTime() throws IOException {
        return process.process().info().totalCpuDuration().orElse(Duration.ZERO).minus(compiling());
    }

    private Duration compiling() throws IOException {
        Path tasks = Path.of("/proc", Long.toString(process.process().pid()), "task");
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
        Path status = Path.of("/proc", Long.toString(process.process().pid()), "status");
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
        process.close();
    }
}
