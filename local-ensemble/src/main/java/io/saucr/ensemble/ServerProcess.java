package io.saucr.ensemble;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;

/**
 * One server of an ensemble as a process of the operating system, with a folder for its
 * configuration and its log. The folder outlives the process; the process never outlives this JVM's
 * orderly end (a shutdown hook of {@link Ensemble} kills it).
 *
 * <p>Thread-safe: every method that changes the process holds this object's lock.
 */
public final class ServerProcess {
    private static final String LOGBACK =
            """
            <configuration>
              <appender name="OUT" class="ch.qos.logback.core.ConsoleAppender">
                <encoder>
                  <pattern>%d{HH:mm:ss.SSS} %-5p [%t:%C{1}] %m%n</pattern>
                </encoder>
              </appender>
              <root level="${saucr.crash.log.level:-INFO}"><appender-ref ref="OUT"/></root>
            </configuration>
            """;

    private static final Duration STACKS_PATIENCE = Duration.ofSeconds(2);
    private static final String END_OF_STACKS = "JNI global refs";

    private final int id;
    private final Path home;
    private Distribution distribution;
    private final Hosting hosting;
    private final List<String> jvmFlags;
    private final List<String> serverLines;
    private final Map<String, String> settings;
    private Process process;

    ServerProcess(
            int id,
            Path home,
            Distribution distribution,
            Hosting hosting,
            List<String> jvmFlags,
            List<String> serverLines,
            Map<String, String> settings)
            throws IOException {
        this.id = id;
        this.home = home;
        this.distribution = distribution;
        this.hosting = hosting;
        this.jvmFlags = new ArrayList<>(jvmFlags);
        this.serverLines = List.copyOf(serverLines);
        this.settings = new LinkedHashMap<>(settings);
        Files.createDirectories(home.resolve("conf"));
        Files.writeString(home.resolve("conf/logback.xml"), LOGBACK);
        writeConfiguration();
        writeMyid();
    }

    /** Forces the file: an operator would have written it long before the first fault. */
    private void writeMyid() throws IOException {
        Path myid = dataDirectory().resolve("myid");
        if (Files.exists(myid)) {
            return;
        }
        try (FileChannel file =
                FileChannel.open(myid, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            file.write(ByteBuffer.wrap((id + "\n").getBytes(StandardCharsets.UTF_8)));
            file.force(true);
        }
        try (FileChannel folder = FileChannel.open(dataDirectory(), StandardOpenOption.READ)) {
            folder.force(true);
        }
    }

    public int id() {
        return id;
    }

    public ServerAddress address() {
        return hosting.address(id);
    }

    /** Holds {@code conf/} and the log. */
    public Path home() {
        return home;
    }

    /** Holds {@code myid} and {@code version-2/}. */
    public Path dataDirectory() {
        return hosting.dataDirectory(id);
    }

    /** Everything that the server printed, over all its starts. */
    public Path logFile() {
        return home.resolve("server.log");
    }

    public Path configurationFile() {
        return home.resolve("conf/zoo.cfg");
    }

    /**
     * Another distribution over the same folders, as an upgrade does; counts from the next start.
     */
    public synchronized void install(Distribution other) {
        distribution = other;
    }

    /** Sets (or, with null, removes) a key of {@code zoo.cfg}; counts from the next start. */
    public synchronized void configure(String key, String value) throws IOException {
        if (value == null) {
            settings.remove(key);
        } else {
            settings.put(key, value);
        }
        writeConfiguration();
    }

    private void writeConfiguration() throws IOException {
        List<String> lines = new ArrayList<>();
        lines.add("dataDir=" + dataDirectory());
        settings.forEach((key, value) -> lines.add(key + "=" + value));
        lines.addAll(serverLines);
        Files.write(configurationFile(), lines);
    }

    /** One more flag for this server's JVM; counts from the next start. */
    synchronized void addJvmFlag(String flag) {
        jvmFlags.add(flag);
    }

    /**
     * Starts the process and returns at once.
     *
     * @throws IllegalStateException if it runs already
     */
    public synchronized void start() throws IOException {
        if (isAlive()) {
            throw new IllegalStateException("server " + id + " runs already, pid " + pid());
        }
        hosting.beforeStart(id);
        List<String> command = new ArrayList<>(hosting.commandPrefix(id));
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(jvmFlags);
        if (distribution.takesBootId()) {
            command.add("-D" + Distribution.BOOT_ID + "=" + hosting.bootId(id));
        }
        command.add("-Dsaucr.crash.home=" + home);
        command.add("-Dlogback.configurationFile=" + home.resolve("conf/logback.xml"));
        command.add("-cp");
        command.add(ClassArchive.classPath(distribution));
        command.add(Distribution.MAIN_CLASS);
        command.add(configurationFile().toString());
        ProcessBuilder builder =
                new ProcessBuilder(command)
                        .directory(home.toFile())
                        .redirectErrorStream(true)
                        .redirectOutput(ProcessBuilder.Redirect.appendTo(logFile().toFile()));
        builder.environment().putAll(hosting.environment(id));
        process = builder.start();
    }

    public synchronized boolean isAlive() {
        return process != null && process.isAlive();
    }

    /** The process that was started last. */
    public synchronized long pid() {
        if (process == null) {
            throw new IllegalStateException("server " + id + " was never started");
        }
        return process.pid();
    }

    /** The exit status of the process that was started last; empty while it runs. */
    public synchronized OptionalInt exitStatus() {
        return process == null || process.isAlive()
                ? OptionalInt.empty()
                : OptionalInt.of(process.exitValue());
    }

    /** SIGKILL, and waits for the end: its sockets close, its page cache stays. */
    public synchronized void kill() {
        if (process != null) {
            process.destroyForcibly();
            await(Duration.ofSeconds(30));
        }
    }

    /**
     * SIGTERM, and waits.
     *
     * @return whether it ended in time; if not, it still runs
     */
    public synchronized boolean terminate(Duration timeout) {
        if (process == null) {
            return true;
        }
        process.destroy();
        return await(timeout);
    }

    private boolean await(Duration timeout) {
        try {
            return process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** SIGSTOP: the process stands still, its sockets stay open. */
    public synchronized void pause() throws IOException {
        Signal.STOP.send(List.of(pid()));
    }

    /** SIGCONT. */
    public synchronized void resume() throws IOException {
        Signal.CONT.send(List.of(pid()));
    }

    /**
     * The stacks of the process' threads, which then stand in its log, too.
     *
     * @return empty if they are not there within two seconds, as of a process that is stopped
     */
    public String threads() throws IOException, InterruptedException {
        long from = logFile().toFile().length();
        Signal.QUIT.send(List.of(pid()));
        long deadline = System.nanoTime() + STACKS_PATIENCE.toNanos();
        while (System.nanoTime() < deadline) {
            String printed = log(from);
            if (printed.contains(END_OF_STACKS)) {
                return printed;
            }
            Thread.sleep(20);
        }
        return "";
    }

    private String log(long from) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(logFile().toFile(), "r")) {
            byte[] bytes = new byte[(int) (file.length() - from)];
            file.seek(from);
            file.readFully(bytes);
            return new String(bytes, StandardCharsets.UTF_8);
        }
    }

    /** The last lines of the log, at most 64 KB of them. */
    public String logTail(int lines) {
        if (!Files.exists(logFile())) {
            return "";
        }
        try {
            String[] all = log(Math.max(0, logFile().toFile().length() - 65536)).split("\n", -1);
            List<String> kept =
                    List.of(all).subList(Math.max(0, all.length - lines - 1), all.length);
            return String.join("\n", kept);
        } catch (IOException e) {
            throw new UncheckedIOException(logFile() + " cannot be read", e);
        }
    }

    /** Answers {@code mntr}; empty if the server does not answer, or not with a table. */
    public Map<String, String> mntr() {
        return FourLetterWord.table(ask("mntr"));
    }

    /** leader, follower, observer or standalone; empty if it serves no client now. */
    public String role() {
        for (String line : ask("srvr").split("\n", -1)) {
            if (line.startsWith("Mode: ")) {
                return line.substring(6).trim();
            }
        }
        return "";
    }

    /** The answer to a four-letter word; empty if the server does not answer within a second. */
    public String ask(String word) {
        try {
            return FourLetterWord.ask(
                    address().clientHost(), address().clientPort(), word, Duration.ofSeconds(1));
        } catch (IOException e) {
            return "";
        }
    }
}
