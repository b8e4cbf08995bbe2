package io.saucr.crash.fault;

import io.saucr.ensemble.Command;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Network, mount and process namespaces of their own around a Java program, which is the first
 * process in them. Whatever it makes there, network interfaces, mounts, loop devices, processes, is
 * taken down by the kernel when it ends, however it ends, and none of its traffic leaves. It ends
 * when the program that started it does: that one holds the other end of its standard input.
 */
public final class Enclosure {
    private static final String MARK = "SAUCR_CRASH_ENCLOSED";
    private static final List<String> TOOLS =
            List.of("unshare", "nsenter", "ip", "mount", "umount", "mkfs.ext4");

    private Enclosure() {}

    /** Whether this program runs inside. */
    public static boolean inside() {
        return System.getenv(MARK) != null;
    }

    /** What stands in the way of {@link #run} here; empty if nothing does. */
    public static Optional<String> obstacle() {
        for (String tool : TOOLS) {
            if (!Command.exists(tool)) {
                return Optional.of("no " + tool + " on the PATH");
            }
        }
        if (!Files.exists(Path.of("/dev/loop-control"))) {
            return Optional.of("no /dev/loop-control");
        }
        if (inside()) {
            return Optional.empty();
        }
        try {
            List<String> words = unshare();
            words.addAll(
                    List.of(
                            "sh",
                            "-c",
                            "mount -t tmpfs none /run && ip link add saucr0 type bridge"));
            Command.run(words.toArray(String[]::new));
            return Optional.empty();
        } catch (IOException e) {
            return Optional.of("not allowed to make namespaces, mounts and bridges");
        }
    }

    private static List<String> unshare() {
        return new ArrayList<>(
                List.of(
                        "unshare",
                        "--mount",
                        "--net",
                        "--pid",
                        "--fork",
                        "--kill-child=KILL",
                        "--mount-proc",
                        "--propagation",
                        "private"));
    }

    /**
     * Runs the main class in a JVM inside, with this program's class path and output, and waits.
     *
     * @param jvmFlags flags of that JVM
     * @return its exit status
     */
    public static int run(Class<?> main, List<String> jvmFlags, List<String> arguments)
            throws IOException, InterruptedException {
        List<String> command = unshare();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-XX:-UsePerfData"); // its file is named by the process, here always 1
        // It lives for a minute or two: more would cost it more than it gives.
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
        command.addAll(jvmFlags);
        command.add("-cp");
        command.add(
                System.getProperty("java.class.path")
                        + File.pathSeparator
                        + System.getProperty("surefire.test.class.path", ""));
        command.add(main.getName());
        command.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put(MARK, Long.toString(ProcessHandle.current().pid()));
        Process process = builder.start();
        Thread hook =
                new Thread(
                        () -> {
                            // It usually gets the signal, too; in case it does not, its input ends
                            // here.
                            try {
                                process.getOutputStream().close();
                                if (!process.waitFor(20, TimeUnit.SECONDS)) {
                                    process.destroyForcibly();
                                }
                            } catch (IOException | InterruptedException e) {
                                process.destroyForcibly();
                            }
                        },
                        "end the enclosure");
        Runtime.getRuntime().addShutdownHook(hook);
        process.getInputStream().transferTo(System.out);
        int status = process.waitFor();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // Shutting down: the hook runs.
        }
        return status;
    }

    /**
     * To be called first by a main class that {@link #run} started: makes this JVM end with the one
     * outside, and gives it an empty /run and a loopback interface.
     *
     * @throws IllegalStateException outside
     */
    public static void enter() throws IOException {
        if (!inside()) {
            throw new IllegalStateException("not in an enclosure");
        }
        Thread watch =
                new Thread(
                        () -> {
                            try {
                                while (System.in.read() >= 0) {
                                    // Nothing is ever written to it: only its end matters.
                                }
                            } catch (IOException e) {
                                // Counts as the end.
                            }
                            System.exit(130);
                        },
                        "watch the outside");
        watch.setDaemon(true);
        watch.start();
        Command.run("mount", "-t", "tmpfs", "none", "/run");
        Command.run("ip", "link", "set", "lo", "up");
    }
}
