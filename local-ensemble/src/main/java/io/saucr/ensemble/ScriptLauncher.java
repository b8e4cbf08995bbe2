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
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;

/**
 * Starts and stops a server by the distribution's {@code zkServer.sh}, as an operator does: what
 * works here works for an operator. The server outlives this JVM; its pid file tells another one
 * which process it is.
 */
final class ScriptLauncher implements Launcher {
    private static final String HEAP_MEGABYTES = "192";

    private final int id;
    private final Path home;
    private final Hosting hosting;
    private final Path distribution;
    private volatile Process script;
    private volatile ProcessHandle lastSeen;

    /**
     * @param home holds {@code conf/zoo.cfg}
     * @param distribution the unpacked folder, with {@code bin/zkServer.sh}
     */
    ScriptLauncher(int id, Path home, Hosting hosting, Path distribution) {
        this.id = id;
        this.home = home;
        this.hosting = hosting;
        this.distribution = distribution;
    }

    @Override
    public void prepare() throws IOException {
        Files.copy(
                distribution.resolve("conf/logback.xml"),
                home.resolve("conf/logback.xml"),
                StandardCopyOption.REPLACE_EXISTING);
    }

    @Override
    public void start() throws IOException {
        hosting.beforeStart(id);
        script = run(scriptOutput(), hosting.environment(id), "start");
    }

    @Override
    public void awaitStarted() throws InterruptedException {
        script.waitFor();
    }

    @Override
    public void terminate() throws IOException {
        if (Files.exists(pidFile())) {
            script = run(scriptOutput(), Map.of(), "stop");
        }
    }

    @Override
    public boolean awaitEnd(Duration timeout) {
        Deadline deadline = Deadline.in(timeout);
        while (isAlive() || (lastSeen != null && holdsSockets(lastSeen))) {
            if (deadline.hasPassed()) {
                return false;
            }
            deadline.pause();
        }
        return true;
    }

    /** While its script runs, the server is about to run or to end. */
    @Override
    public boolean isAlive() {
        return (script != null && script.isAlive()) || server().isPresent();
    }

    /** The server's, else that of its script. */
    @Override
    public Optional<ProcessHandle> process() {
        return server().or(() -> Optional.ofNullable(script).map(Process::toHandle));
    }

    /** The exit status of its script, if that has failed: nobody is told of the server's own. */
    @Override
    public OptionalInt exitStatus() {
        return script == null || script.isAlive() || script.exitValue() == 0
                ? OptionalInt.empty()
                : OptionalInt.of(script.exitValue());
    }

    /** What the script said, if it has failed: then the server may have no log. */
    @Override
    public Path logFile() {
        return exitStatus().isPresent() ? scriptOutput() : home.resolve("log/zookeeper.log");
    }

    /**
     * The process, if the pid file names one that runs this very server: the system may have given
     * the number to another program since.
     */
    private Optional<ProcessHandle> server() {
        String pid = readOrEmpty(pidFile()).trim();
        if (!pid.matches("[0-9]{1,10}")) {
            return Optional.empty();
        }
        Optional<ProcessHandle> found =
                ProcessHandle.of(Long.parseLong(pid))
                        .filter(process -> process.isAlive() && runsThisServer(process));
        found.ifPresent(process -> lastSeen = process);
        return found;
    }

    /**
     * A killed process has lost its memory, and its command line with it, a moment before the last
     * of its threads lets its sockets go.
     */
    static boolean holdsSockets(ProcessHandle process) {
        if (!process.isAlive()) {
            return false;
        }
        Path folder = Path.of("/proc", Long.toString(process.pid()));
        try (Stream<Path> threads = Files.list(folder.resolve("task"))) {
            boolean zombie = ProcStat.fields(folder)[0].equals("Z");
            return threads.count() > 1 || !zombie;
        } catch (IOException | UncheckedIOException e) {
            return false; // gone meanwhile, or a system without /proc
        }
    }

    private boolean runsThisServer(ProcessHandle process) {
        if (Files.exists(Path.of("/proc/self/cmdline"))) {
            // Empty for a process that has ended and that nobody has waited for.
            return readOrEmpty(Path.of("/proc", Long.toString(process.pid()), "cmdline"))
                    .contains(home.resolve("conf/zoo.cfg").toString());
        }
        return process.info().command().map(command -> command.endsWith("java")).orElse(true);
    }

    private Path pidFile() {
        return home.resolve("zk.pid");
    }

    private Path scriptOutput() {
        return home.resolve("log/zkServer.out");
    }

    /**
     * Gives the server one of the orders of {@code zkServer.sh} and waits until it is carried out.
     *
     * @throws EnsembleException with what the script said, if it failed
     */
    void order(String verb, String reason) throws IOException, InterruptedException {
        Path output = home.resolve("log/order.out");
        if (run(output, Map.of(), verb, reason).waitFor() != 0) {
            throw new EnsembleException(
                    "zkServer.sh " + verb + " of server " + id + ":\n" + readOrEmpty(output));
        }
    }

    private Process run(Path output, Map<String, String> variables, String... words)
            throws IOException {
        Files.createDirectories(output.getParent());
        List<String> command = new ArrayList<>();
        command.add(distribution.resolve("bin/zkServer.sh").toString());
        command.addAll(List.of("--config", home.resolve("conf").toString()));
        command.addAll(List.of(words));
        ProcessBuilder builder = new ProcessBuilder(command);
        prepareEnvironment(builder.environment());
        builder.environment().putAll(variables);
        // No pipe: the server inherits what its script has, and would keep a pipe open.
        return builder.directory(home.toFile())
                .redirectInput(new File("/dev/null"))
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
    }

    /** Takes away what would lead a script to another installation than this one. */
    private void prepareEnvironment(Map<String, String> environment) {
        List<String> foreign = new ArrayList<>();
        for (String key : environment.keySet()) {
            if (key.startsWith("ZOO") || key.startsWith("JMX") || key.equals("CLASSPATH")) {
                foreign.add(key);
            }
        }
        environment.keySet().removeAll(foreign);
        environment.put("JAVA_HOME", System.getProperty("java.home"));
        environment.put("ZOO_LOG_DIR", home.resolve("log").toString());
        environment.put("ZOO_LOG_FILE", "zookeeper.log");
        environment.put("ZOOPIDFILE", pidFile().toString());
        environment.put("JMXDISABLE", "true");
        environment.putIfAbsent("ZK_SERVER_HEAP", HEAP_MEGABYTES);
        environment.put(
                "SERVER_JVMFLAGS",
                "-XX:+UseSerialGC -Xshare:auto " + environment.getOrDefault("SERVER_JVMFLAGS", ""));
    }

    private static String readOrEmpty(Path file) {
        try {
            return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
        } catch (NoSuchFileException missing) {
            return "";
        } catch (IOException e) {
            // A file of a process that has just ended reads as nothing.
            if (file.startsWith("/proc")) {
                return "";
            }
            throw new UncheckedIOException(e);
        }
    }
}
