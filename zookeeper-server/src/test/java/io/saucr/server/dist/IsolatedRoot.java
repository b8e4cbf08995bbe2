package io.saucr.server.dist;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * This machine's own files, with a layer of memory above them: programs that run here see and
 * change what looks like the machine, and it stays as it was. Processes end, and the layer is gone,
 * when this is closed, or when the JVM ends in whatever way.
 */
final class IsolatedRoot implements AutoCloseable {
    private static final String SCRIPT = "isolated-root.sh";

    private final Path folder;
    private final Path root;
    private final Process holder;

    /**
     * Needs root's rights.
     *
     * @param folder empty, and with nothing else beside it; what is mounted in it nobody else sees
     * @param system "systemd" if it is to run here as on a machine that has started, with a network
     *     of its own; else "" for nothing, and the network of the machine
     */
    IsolatedRoot(Path folder, String system) throws IOException {
        this.folder = folder;
        root = folder.resolve("root");
        Path script = folder.resolveSibling(SCRIPT);
        try (InputStream resource = IsolatedRoot.class.getResourceAsStream(SCRIPT)) {
            Files.copy(resource, script);
        }
        holder =
                new ProcessBuilder("sh", script.toString(), folder.toString(), system)
                        .redirectErrorStream(true)
                        .start();
        BufferedReader said = holder.inputReader(StandardCharsets.UTF_8);
        String line = said.readLine();
        if (!"ready".equals(line)) {
            close();
            throw new IOException("no root of its own: " + line);
        }
    }

    /** Copies a file of the machine to {@code /tmp}. Returns its path as seen here. */
    Path copy(Path file) throws IOException, InterruptedException {
        Path target = Path.of("/tmp").resolve(file.getFileName());
        Scripts.Result copied =
                await(outside(List.of("cp", file.toString(), root.resolve("tmp").toString())));
        assertThat(copied.exitCode()).as(copied.output()).isZero();
        return target;
    }

    /** Runs a command to its end, with little but a PATH in its environment. */
    Scripts.Result run(String... command) throws IOException, InterruptedException {
        return await(start(List.of(command)));
    }

    /** As {@link #run}, of a command that must succeed. Returns its output. */
    String succeed(String... command) throws IOException, InterruptedException {
        Scripts.Result result = run(command);
        assertThat(result.exitCode())
                .as("%s%n%s", String.join(" ", command), result.output())
                .isZero();
        return result.output();
    }

    /** Starts a command that goes on; its output goes to a file. */
    Started start(List<String> command) throws IOException {
        List<String> inside =
                new ArrayList<>(
                        List.of(
                                "chroot",
                                root.toString(),
                                "env",
                                "-i",
                                "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                                "LC_ALL=C",
                                "DEBIAN_FRONTEND=noninteractive"));
        inside.addAll(command);
        return outside(inside);
    }

    /** A process, and the file that its outputs go to. */
    record Started(Process process, Path output) {}

    private Started outside(List<String> command) throws IOException {
        long first =
                holder.children()
                        .filter(child -> child.info().command().orElse("").endsWith("/unshare"))
                        .flatMap(ProcessHandle::children)
                        .findFirst()
                        .orElseThrow()
                        .pid();
        List<String> line =
                new ArrayList<>(
                        List.of(
                                "nsenter",
                                "--target",
                                Long.toString(first),
                                "--mount",
                                "--pid",
                                "--net",
                                "--uts",
                                "--ipc",
                                "--cgroup"));
        line.addAll(command);
        // Beside the folder: what is in it is hidden for us, and in it for them.
        Path output = Files.createTempFile(folder.getParent(), "output", ".txt");
        Process process =
                new ProcessBuilder(line)
                        .redirectInput(Path.of("/dev/null").toFile())
                        .redirectErrorStream(true)
                        .redirectOutput(output.toFile())
                        .start();
        return new Started(process, output);
    }

    private static Scripts.Result await(Started started) throws IOException, InterruptedException {
        return Scripts.await(started.process(), started.output(), Scripts.LIMIT);
    }

    @Override
    public void close() throws IOException {
        holder.getOutputStream().close();
        try {
            if (!holder.waitFor(Scripts.LIMIT.toSeconds(), TimeUnit.SECONDS)) {
                holder.destroyForcibly();
            }
        } catch (InterruptedException e) {
            holder.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
