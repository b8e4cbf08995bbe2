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
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * One server of an ensemble as a process of the operating system, with a folder for its
 * configuration and its log, which outlives the process.
 *
 * <p>Thread-safe: every method that changes the process holds this object's lock.
 */
public final class ServerProcess implements HostedProcess {
    private static final Duration STACKS_PATIENCE = Duration.ofSeconds(2);
    private static final Duration KILL_LIMIT = Duration.ofSeconds(30);
    private static final String END_OF_STACKS = "JNI global refs";
    private static final int LOG_LINES_QUOTED = 30;
    private static final long TAIL_BYTES = 65536;

    private final Path home;
    private final ServerAddress address;
    private final Path dataDirectory;
    private final List<String> serverLines;
    private final Map<String, String> settings;
    private final Launcher launcher;

    /**
     * @param home the folder for {@code conf} and the log
     * @param dataDirectory the server's disk
     * @param serverLines those of {@code zoo.cfg} that name the ensemble
     * @param settings its other lines
     */
    ServerProcess(
            Path home,
            ServerAddress address,
            Path dataDirectory,
            List<String> serverLines,
            Map<String, String> settings,
            Launcher launcher) {
        this.home = home;
        this.address = address;
        this.dataDirectory = dataDirectory;
        this.serverLines = List.copyOf(serverLines);
        this.settings = new LinkedHashMap<>(settings);
        this.launcher = launcher;
    }

    /** Writes the configuration, in folders that may not be there yet. */
    void writeFiles() throws IOException {
        Files.createDirectories(home.resolve("conf"));
        Files.createDirectories(dataDirectory);
        launcher.prepare();
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
            file.write(ByteBuffer.wrap((id() + "\n").getBytes(StandardCharsets.UTF_8)));
            file.force(true);
        }
        try (FileChannel folder = FileChannel.open(dataDirectory(), StandardOpenOption.READ)) {
            folder.force(true);
        }
    }

    @Override
    public int id() {
        return address.id();
    }

    public ServerAddress address() {
        return address;
    }

    /** Holds {@code conf/} and the log. */
    public Path home() {
        return home;
    }

    /** Holds {@code myid} and {@code version-2/}. */
    public Path dataDirectory() {
        return dataDirectory;
    }

    /** Everything that the server printed, over all its starts. */
    public Path logFile() {
        return launcher.logFile();
    }

    public Path configurationFile() {
        return home.resolve("conf/zoo.cfg");
    }

    /**
     * Another distribution over the same folders, as an upgrade does; counts from the next start.
     *
     * @throws IllegalStateException if the server is started by scripts
     */
    public synchronized void install(Distribution other) {
        child().install(other);
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
        lines.addAll(serverLines);
        settings.forEach((key, value) -> lines.add(key + "=" + value)); // of two, the last counts
        Files.write(configurationFile(), lines.stream().map(ServerProcess::escaped).toList());
    }

    /** A line as {@link java.util.Properties} reads it, for which a file is Latin-1. */
    private static String escaped(String line) {
        StringBuilder escaped = new StringBuilder();
        for (int i = 0; i < line.length(); i++) {
            char c = line.charAt(i);
            if (c == '\\' || c < ' ' || c > '~') {
                escaped.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
            } else {
                escaped.append(c);
            }
        }
        return escaped.toString();
    }

    /**
     * One more flag for this server's JVM; counts from the next start.
     *
     * @throws IllegalStateException if the server is started by scripts
     */
    synchronized void addJvmFlag(String flag) {
        child().addJvmFlag(flag);
    }

    private ChildLauncher child() {
        if (launcher instanceof ChildLauncher child) {
            return child;
        }
        throw new IllegalStateException("server " + id() + " is started by its scripts");
    }

    /**
     * Starts the process and returns at once.
     *
     * @throws IllegalStateException if it runs already
     */
    public synchronized void start() throws IOException {
        if (isAlive()) {
            throw new IllegalStateException("server " + id() + " runs already, pid " + pid());
        }
        launcher.start();
    }

    /**
     * Waits until the script that starts the process has done its part; does nothing without one.
     * Others may kill the server meanwhile.
     *
     * @throws EnsembleException with what the script said, if it failed
     */
    void awaitStarted() {
        try {
            launcher.awaitStarted();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new EnsembleException("interrupted while " + this + " starts", e);
        }
        if (exitStatus().isPresent()) {
            throw new EnsembleException(this + " does not start:\n" + quoteLog());
        }
    }

    /** The end of the log, indented, for a message. */
    String quoteLog() {
        return logTail(LOG_LINES_QUOTED).indent(4).stripTrailing();
    }

    @Override
    public synchronized boolean isAlive() {
        return launcher.isAlive();
    }

    @Override
    public synchronized long pid() {
        return launcher.process()
                .orElseThrow(() -> new IllegalStateException("server " + id() + " was not started"))
                .pid();
    }

    /** The number of the process, if it runs. */
    synchronized OptionalLong runningPid() {
        return isAlive()
                ? launcher.process().stream().mapToLong(ProcessHandle::pid).findFirst()
                : OptionalLong.empty();
    }

    /**
     * The exit status of the process that was started last; empty while it runs, and of servers
     * that are started by scripts, unless the script failed.
     */
    public synchronized OptionalInt exitStatus() {
        return launcher.exitStatus();
    }

    @Override
    public synchronized void kill() {
        launcher.process().ifPresent(ProcessHandle::destroyForcibly);
        if (!await(KILL_LIMIT) && !Thread.currentThread().isInterrupted()) {
            throw new EnsembleException("server " + id() + " survives a kill");
        }
    }

    /**
     * Gives one of the orders of {@code zkServer.sh}: {@code flush}, {@code pin} or {@code unpin}.
     *
     * @throws EnsembleException with what the script said, if it failed
     * @throws IllegalStateException if the server is not started by scripts
     */
    synchronized void order(String verb, String reason) throws IOException, InterruptedException {
        if (!(launcher instanceof ScriptLauncher scripts)) {
            throw new IllegalStateException("server " + id() + " is not started by scripts");
        }
        scripts.order(verb, reason);
    }

    /** Asks the process to end in good order (SIGTERM), and returns at once. */
    synchronized void beginToTerminate() throws IOException {
        launcher.terminate();
    }

    /**
     * Asks the process to end in good order (SIGTERM), and waits.
     *
     * @return whether it ended in time; if not, it still runs
     */
    public synchronized boolean terminate(Duration timeout) throws IOException {
        launcher.terminate();
        return await(timeout);
    }

    /** Waits for the end of the process; true if it has ended in time. */
    synchronized boolean await(Duration timeout) {
        try {
            return launcher.awaitEnd(timeout);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** SIGSTOP: the process stands still when this returns, its sockets stay open. */
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
            String[] all =
                    log(Math.max(0, logFile().toFile().length() - TAIL_BYTES)).split("\n", -1);
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
        return ask(word, Duration.ofSeconds(1));
    }

    /** The answer to a four-letter word; empty if the server does not answer in time. */
    String ask(String word, Duration timeout) {
        try {
            return FourLetterWord.ask(address.clientHost(), address.clientPort(), word, timeout);
        } catch (IOException e) {
            return "";
        }
    }

    @Override
    public String toString() {
        return "server " + id();
    }
}
