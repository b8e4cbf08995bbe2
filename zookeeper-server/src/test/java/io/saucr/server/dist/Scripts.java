package io.saucr.server.dist;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** The scripts of an unpacked distribution, for one server with its own folder. */
final class Scripts {
    static final Duration LIMIT = Duration.ofSeconds(60);

    /** The JVM's options for a server that runs for seconds. */
    private static final String SHORT_LIVED = "-XX:TieredStopAtLevel=1 -Xshare:auto";

    private final Path home;
    private final Path folder;
    private final Map<String, String> variables = new HashMap<>();

    /** What a process said, on both of its outputs. */
    record Result(int exitCode, String output) {}

    /**
     * @param home of the distribution
     * @param folder of the server: {@code conf} is made here, {@code data} and {@code log} are to
     *     be
     */
    Scripts(Path home, Path folder) throws IOException {
        this.home = home;
        this.folder = folder;
        Files.createDirectories(conf());
        Files.copy(home.resolve("conf/logback.xml"), conf().resolve("logback.xml"));
        variables.put("JAVA_HOME", System.getProperty("java.home"));
        variables.put("ZOO_LOG_DIR", folder.resolve("log").toString());
        variables.put("ZOO_LOG_FILE", "server.log");
        variables.put("ZK_SERVER_HEAP", "128");
        variables.put("SERVER_JVMFLAGS", SHORT_LIVED);
    }

    /** Unpacks the tarball that this build has made. Returns the folder that is in it. */
    static Path unpack(Path into) throws IOException, InterruptedException {
        Process tar =
                new ProcessBuilder(
                                "tar",
                                "-xzf",
                                System.getProperty("saucr.distribution"),
                                "-C",
                                into.toString())
                        .inheritIO()
                        .start();
        assertThat(tar.waitFor()).isZero();
        try (Stream<Path> entries = Files.list(into)) {
            List<Path> folders = entries.toList();
            assertThat(folders).as("one folder in the tarball").hasSize(1);
            return folders.get(0);
        }
    }

    /** The same, with an archive of the server's classes: a start takes half the processor time. */
    static Path unpackWithClassArchive(Path into) throws IOException, InterruptedException {
        Path home = unpack(into);
        ProcessBuilder archive =
                new ProcessBuilder(home.resolve("bin/zkServer.sh").toString(), "class-archive");
        archive.environment().put("JAVA_HOME", System.getProperty("java.home"));
        Result made = run(archive, LIMIT.multipliedBy(2));
        assertThat(made.exitCode()).as(made.output()).isZero();
        return home;
    }

    void set(String variable, String value) {
        variables.put(variable, value);
    }

    /** Servers that are started from now on do not wait for another one to leave their folders. */
    void setImpatient() {
        set("SERVER_JVMFLAGS", SHORT_LIVED + " -Dsaucr.folderLock.patienceMillis=0");
    }

    Path conf() {
        return folder.resolve("conf");
    }

    Path pidFile() {
        return folder.resolve("data/zookeeper_server.pid");
    }

    void writeConfig(String name, String... lines) throws IOException {
        List<String> all = new ArrayList<>(List.of("tickTime=500", "admin.enableServer=false"));
        all.add("dataDir=" + folder.resolve("data"));
        all.addAll(List.of(lines));
        Files.write(conf().resolve(name), all);
    }

    Result server(String... arguments) throws IOException, InterruptedException {
        return run(List.of(), "zkServer.sh", arguments);
    }

    /**
     * Runs a script; its output goes through a file, because a started server keeps a pipe open.
     *
     * @param runner a program in front of it, with its arguments
     */
    Result run(List<String> runner, String script, String... arguments)
            throws IOException, InterruptedException {
        Path output = Files.createTempFile(folder, "output", ".txt");
        return await(start(output, runner, script, arguments), output, LIMIT);
    }

    /** Runs any program to its end. */
    static Result run(ProcessBuilder program, Duration limit)
            throws IOException, InterruptedException {
        Path output = Files.createTempFile("output", ".txt");
        try {
            program.redirectErrorStream(true).redirectOutput(output.toFile());
            return await(program.start(), output, limit);
        } finally {
            Files.delete(output);
        }
    }

    /** Waits for the end of a process. One that takes longer is ended, and the test fails. */
    static Result await(Process process, Path output, Duration limit)
            throws IOException, InterruptedException {
        try {
            boolean ended = process.waitFor(limit.toSeconds(), TimeUnit.SECONDS);
            assertThat(ended).as(Files.readString(output)).isTrue();
        } finally {
            process.destroyForcibly();
        }
        return new Result(process.exitValue(), Files.readString(output));
    }

    /** The same, without waiting for its end. */
    Process start(Path output, List<String> runner, String script, String... arguments)
            throws IOException {
        List<String> line = new ArrayList<>(runner);
        line.add(home.resolve("bin").resolve(script).toString());
        line.add("--config");
        line.add(conf().toString());
        line.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(line);
        builder.environment().putAll(variables);
        return builder.redirectErrorStream(true).redirectOutput(output.toFile()).start();
    }

    /** Below the ports that the kernel gives to whoever connects to something meanwhile. */
    static int freePort() throws IOException {
        while (true) {
            int port = ThreadLocalRandom.current().nextInt(20_000, 32_768);
            try (ServerSocket socket =
                    new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                return socket.getLocalPort();
            } catch (BindException e) {
                // In use; another one.
            }
        }
    }
}
