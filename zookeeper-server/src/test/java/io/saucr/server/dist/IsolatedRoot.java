package io.saucr.server.dist;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * This machine's own files, with a layer of memory above them: programs that run here see and
 * change what looks like the machine, and it stays as it was. Processes end, and the layer is gone,
 * when this is closed, or when the JVM ends in whatever way. The network is the machine's.
 */
final class IsolatedRoot implements AutoCloseable {
    private final Path folder;
    private final Path root;
    private final Process holder;

    /** What a command said, on both of its outputs. */
    record Result(int exitCode, String output) {}

    /**
     * Needs root's rights.
     *
     * @param folder empty; what the namespace mounts is mounted here, and nobody else sees it
     */
    IsolatedRoot(Path folder) throws IOException {
        this.folder = folder;
        root = folder.resolve("root");
        String script =
                """
                set -e
                mount -t tmpfs none '%1$s'
                mkdir '%1$s/changed' '%1$s/work' '%1$s/root'
                mount -t overlay none -o lowerdir=/,upperdir='%1$s/changed',workdir='%1$s/work' '%1$s/root'
                mount --rbind /dev '%1$s/root/dev'
                mount -t proc none '%1$s/root/proc'
                mount -t tmpfs none '%1$s/root/run'
                mount -t tmpfs none '%1$s/root/tmp'
                echo ready
                exec cat
                """
                        .formatted(folder);
        holder =
                new ProcessBuilder(
                                "unshare",
                                "--mount",
                                "--pid",
                                "--fork",
                                "--kill-child=KILL",
                                "--propagation",
                                "private",
                                "sh",
                                "-c",
                                script)
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
        Result copied =
                await(outside(List.of("cp", file.toString(), root.resolve("tmp").toString())));
        assertThat(copied.exitCode()).as(copied.output()).isZero();
        return target;
    }

    /** Runs a command to its end, with little but a PATH in its environment. */
    Result run(String... command) throws IOException, InterruptedException {
        return await(start(List.of(command)));
    }

    /** As {@link #run}, of a command that must succeed. Returns its output. */
    String succeed(String... command) throws IOException, InterruptedException {
        Result result = run(command);
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
        long first = holder.children().findFirst().orElseThrow().pid();
        List<String> line =
                new ArrayList<>(
                        List.of("nsenter", "--target", Long.toString(first), "--mount", "--pid"));
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

    private static Result await(Started started) throws IOException, InterruptedException {
        boolean ended = started.process().waitFor(Scripts.LIMIT.toSeconds(), TimeUnit.SECONDS);
        started.process().destroyForcibly();
        String output = Files.readString(started.output());
        assertThat(ended).as(output).isTrue();
        return new Result(started.process().exitValue(), output);
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
