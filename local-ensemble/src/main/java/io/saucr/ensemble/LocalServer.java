package io.saucr.ensemble;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/**
 * One server process of a local ensemble, in a folder of its own: {@code conf}, {@code data},
 * {@code log} and {@code zk.pid}. The start script of the distribution is the interface: what works
 * here works for an operator. Holds no state that is not in the folder, so every command may make
 * its own object; changes of one folder must not run at the same time.
 */
public final class LocalServer {
    private static final String HEAP_MEGABYTES = "192";
    private static final Duration STOP_LIMIT = Duration.ofSeconds(30);

    private final int id;
    private final Path home;
    private final Path distribution;
    private final Ports ports;

    LocalServer(int id, Path home, Path distribution, Ports ports) {
        this.id = id;
        this.home = home.toAbsolutePath();
        this.distribution = distribution.toAbsolutePath();
        this.ports = ports;
    }

    public int id() {
        return id;
    }

    public Ports ports() {
        return ports;
    }

    /** Host and client port, as a client's connect string wants them. */
    public String address() {
        return "127.0.0.1:" + ports.client();
    }

    Path home() {
        return home;
    }

    /**
     * Writes {@code conf} and {@code data/myid}.
     *
     * @param ensemble all voters, this one included
     * @param extra lines for zoo.cfg that are added to the usual ones or replace them
     */
    void writeConfiguration(List<LocalServer> ensemble, Map<String, String> extra)
            throws IOException {
        Map<String, String> lines = new LinkedHashMap<>();
        lines.put("tickTime", "500");
        lines.put("initLimit", "10");
        lines.put("syncLimit", "4");
        lines.put("dataDir", home.resolve("data").toString());
        lines.put("clientPort", Integer.toString(ports.client()));
        lines.put("clientPortAddress", "127.0.0.1");
        lines.put("admin.serverPort", Integer.toString(ports.admin()));
        lines.put("admin.serverAddress", "127.0.0.1");
        lines.put("4lw.commands.whitelist", "*");
        lines.put("saucr.enabled", "true");
        for (LocalServer server : ensemble) {
            Ports other = server.ports;
            lines.put(
                    "server." + server.id,
                    "127.0.0.1:" + other.quorum() + ":" + other.election() + ":participant");
        }
        lines.putAll(extra);
        StringBuilder text = new StringBuilder();
        lines.forEach((key, value) -> text.append(key).append('=').append(value).append('\n'));

        Files.createDirectories(home.resolve("conf"));
        Files.createDirectories(home.resolve("data"));
        Files.createDirectories(home.resolve("log"));
        Files.writeString(home.resolve("conf/zoo.cfg"), text);
        Files.writeString(home.resolve("data/myid"), id + "\n");
        Files.copy(
                distribution.resolve("conf/logback.xml"),
                home.resolve("conf/logback.xml"),
                StandardCopyOption.REPLACE_EXISTING);
    }

    /** Runs the start script; its exit code is 0 when the server's process has come up. */
    Process launch() throws IOException {
        Files.createDirectories(home.resolve("log"));
        return script("start").start();
    }

    /** What the start script of the last {@link #launch} said. */
    String launchOutput() {
        return readOrEmpty(home.resolve("log/zkServer.out"));
    }

    /**
     * Stops the server as an operator would: SIGTERM, which lets it write what it has in memory.
     */
    Process stop() throws IOException {
        return script("stop").start();
    }

    /** Ends the process at once, as a crash does (SIGKILL). Returns false if it did not run. */
    public boolean kill() {
        OptionalLong pid = pid();
        if (pid.isEmpty()) {
            return false;
        }
        ProcessHandle.of(pid.getAsLong()).ifPresent(ProcessHandle::destroyForcibly);
        Deadline deadline = Deadline.in(STOP_LIMIT);
        while (pid().isPresent()) {
            deadline.requireTimeLeft(() -> "server " + id + " survives a kill");
            deadline.pause();
        }
        return true;
    }

    public boolean isRunning() {
        return pid().isPresent();
    }

    /**
     * The process id, if the pid file names a process that runs this very server: the system may
     * have given the number to another program since.
     */
    public OptionalLong pid() {
        String text = readOrEmpty(pidFile()).trim();
        if (!text.matches("[0-9]{1,10}")) {
            return OptionalLong.empty();
        }
        long pid = Long.parseLong(text);
        ProcessHandle process = ProcessHandle.of(pid).orElse(null);
        if (process == null || !process.isAlive()) {
            return OptionalLong.empty();
        }
        Path commandLine = Path.of("/proc", text, "cmdline");
        if (Files.exists(Path.of("/proc/self/cmdline"))) {
            // Empty for a process that has ended and that nobody has waited for.
            return readOrEmpty(commandLine).contains(configFile().toString())
                    ? OptionalLong.of(pid)
                    : OptionalLong.empty();
        }
        boolean java = process.info().command().map(c -> c.endsWith("java")).orElse(true);
        return java ? OptionalLong.of(pid) : OptionalLong.empty();
    }

    Path pidFile() {
        return home.resolve("zk.pid");
    }

    Path logFile() {
        return home.resolve("log/zookeeper.log");
    }

    /** The end of the server's log without stack frames; empty if there is none. */
    List<String> lastLogLines(int count) {
        List<String> lines =
                readOrEmpty(logFile()).lines().filter(line -> !line.startsWith("\t")).toList();
        return lines.subList(Math.max(0, lines.size() - count), lines.size());
    }

    private Path configFile() {
        return home.resolve("conf/zoo.cfg");
    }

    private ProcessBuilder script(String verb) {
        ProcessBuilder builder =
                new ProcessBuilder(
                        distribution.resolve("bin/zkServer.sh").toString(),
                        "--config",
                        home.resolve("conf").toString(),
                        verb);
        prepareEnvironment(builder.environment());
        Map<String, String> env = builder.environment();
        env.put("ZOO_LOG_DIR", home.resolve("log").toString());
        env.put("ZOO_LOG_FILE", "zookeeper.log");
        env.put("ZOOPIDFILE", pidFile().toString());
        env.put("JMXDISABLE", "true");
        env.putIfAbsent("ZK_SERVER_HEAP", HEAP_MEGABYTES);
        env.put(
                "SERVER_JVMFLAGS",
                "-XX:+UseSerialGC -Xshare:auto " + env.getOrDefault("SERVER_JVMFLAGS", ""));
        File out = home.resolve("log/zkServer.out").toFile();
        // No pipe: the server inherits what its script has, and would keep a pipe open.
        return builder.directory(home.toFile())
                .redirectInput(new File("/dev/null"))
                .redirectErrorStream(true)
                .redirectOutput(out);
    }

    /** Takes away what would lead a script to another installation than this one. */
    static void prepareEnvironment(Map<String, String> environment) {
        List<String> foreign = new ArrayList<>();
        for (String key : environment.keySet()) {
            if (key.startsWith("ZOO") || key.startsWith("JMX") || key.equals("CLASSPATH")) {
                foreign.add(key);
            }
        }
        environment.keySet().removeAll(foreign);
        environment.put("JAVA_HOME", System.getProperty("java.home"));
    }

    private static String readOrEmpty(Path file) {
        try {
            return Files.exists(file)
                    ? new String(Files.readAllBytes(file), StandardCharsets.UTF_8)
                    : "";
        } catch (NoSuchFileException vanished) {
            return "";
        } catch (IOException e) {
            // A file of a process that has just ended reads as nothing.
            if (file.startsWith("/proc")) {
                return "";
            }
            throw new UncheckedIOException(e);
        }
    }

    static List<Integer> ids(List<LocalServer> servers) {
        return servers.stream().map(LocalServer::id).toList();
    }

    @Override
    public String toString() {
        return "server " + id;
    }
}
