package io.saucr.server.dist;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The image's entry point, run as in a container, but for its folders: they are below one folder,
 * and the distribution is an unpacked one.
 */
final class EntryPoint {
    private static final Path SCRIPT =
            Path.of("").toAbsolutePath().resolveSibling("packaging/docker/docker-entrypoint.sh");

    private final Path folder;
    private Path output;
    private final Map<String, String> variables = new TreeMap<>();

    /**
     * @param home of the distribution
     * @param folder with {@code conf}, {@code data} and {@code log}, as far as they are there
     */
    EntryPoint(Path home, Path folder) throws IOException {
        this.folder = Files.createDirectories(folder);
        output = folder.resolve("output.txt");
        // The image has its scripts on the PATH, pod.sh among them.
        set("PATH", home.resolve("bin") + ":" + SCRIPT.getParent() + ":" + System.getenv("PATH"));
        set("JAVA_HOME", System.getProperty("java.home"));
        set("ZOO_CONF_DIR", conf().toString());
        set("ZOO_LOG_DIR", folder.resolve("logs").toString());
        set("ZK_SERVER_HEAP", "128");
        set("JVMFLAGS", "-XX:TieredStopAtLevel=1 -Xshare:auto");
        set("JMXDISABLE", "true");
    }

    Path conf() {
        return folder.resolve("conf");
    }

    Path data() {
        return folder.resolve("data");
    }

    /** What the command has written that was started last. */
    Path output() {
        return output;
    }

    /** Sets a variable for all later runs. */
    EntryPoint set(String variable, String value) {
        variables.put(variable, value);
        return this;
    }

    /** Its commands come before those of the image. */
    EntryPoint firstOnPath(Path commands) {
        return set("PATH", commands + ":" + variables.get("PATH"));
    }

    /** The folders of data, which are {@code /data} and {@code /datalog} in the image. */
    EntryPoint withFolders() {
        return set("ZOO_DATA_DIR", data().toString())
                .set("ZOO_DATA_LOG_DIR", folder.resolve("datalog").toString());
    }

    /** Starts the command that the image starts by default. */
    Process start() throws IOException {
        return start("zkServer.sh", "start-foreground");
    }

    /** Starts another command in the container. */
    Process start(String... command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(SCRIPT.toString());
        builder.command().addAll(List.of(command));
        builder.environment().clear();
        builder.environment().putAll(variables);
        return builder.redirectErrorStream(true).redirectOutput(output().toFile()).start();
    }

    /** A process that has been started here before keeps its file; later ones write in a folder. */
    void writeTo(Path other) {
        output = other.resolve("output.txt");
    }

    /** Runs a command to its end. */
    Scripts.Result run(String... command) throws IOException, InterruptedException {
        return Scripts.await(start(command), output(), Scripts.LIMIT);
    }
}
