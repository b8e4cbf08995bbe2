package io.saucr.crash.campaign;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The folder of a campaign: files with a line of JSON for each run that is through, so that an
 * interrupted campaign continues where it stopped; {@code work/} with the servers of the present
 * run; {@code failures/} with the servers' logs of every run that was not as it should be. Used by
 * one thread.
 */
public final class OutFolder {
    /** The longest name that a folder is given; file systems allow 255 bytes. */
    private static final int LONGEST_NAME = 150;

    private final Path folder;
    private final PrintStream progress;
    private final ObjectMapper json = new ObjectMapper();

    /**
     * @param folder made if it does not exist
     * @param progress is told what was found left over
     */
    public OutFolder(Path folder, PrintStream progress) throws IOException {
        this.folder = Files.createDirectories(folder).toRealPath();
        this.progress = progress;
    }

    public Path path() {
        return folder;
    }

    /** Where the servers of a run live. */
    private Path work() {
        return folder.resolve("work");
    }

    /** An empty {@link #work}. */
    public Path freshWork() throws IOException {
        delete(work());
        return Files.createDirectories(work());
    }

    /** The outcomes in a file; a line that an interruption left incomplete is dropped. */
    public <T> List<T> read(String file, Class<T> type) throws IOException {
        Path path = folder.resolve(file);
        List<T> found = new ArrayList<>();
        if (!Files.exists(path)) {
            return found;
        }
        List<String> whole = new ArrayList<>();
        boolean dropped = false;
        for (String line : Files.readAllLines(path)) {
            try {
                found.add(json.readValue(line, type));
                whole.add(line);
            } catch (JsonProcessingException e) {
                progress.println("dropped an incomplete line of " + path);
                dropped = true;
            }
        }
        if (dropped) {
            Files.write(path, whole);
        }
        return found;
    }

    public void append(String file, Object outcome) throws IOException {
        Files.writeString(
                folder.resolve(file),
                json.writeValueAsString(outcome) + "\n",
                StandardCharsets.UTF_8,
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
    }

    /** Copies the logs of the servers in {@link #work} to {@code failures/}, by the run's name. */
    public void keepLogs(String run) throws IOException {
        String name = run.replaceAll("[^A-Za-z0-9-]+", "-");
        if (name.length() > LONGEST_NAME) {
            name = name.substring(0, LONGEST_NAME) + "-" + Integer.toHexString(run.hashCode());
        }
        Path target = folder.resolve("failures").resolve(name);
        Files.createDirectories(target);
        try (Stream<Path> servers = Files.list(work())) {
            for (Path server : servers.toList()) {
                Path log = server.resolve("server.log");
                if (Files.exists(log)) {
                    Files.copy(
                            log,
                            target.resolve(server.getFileName() + ".log"),
                            StandardCopyOption.REPLACE_EXISTING);
                }
            }
        }
    }

    /**
     * Names and removes what an interrupted run left here: servers that still run, and their
     * folder. Mounts and namespaces cannot be left: the kernel took them with the enclosure.
     *
     * @throws IOException if a server does not end
     */
    public void removeLeftovers() throws IOException {
        String mark = "-Dsaucr.crash.home=" + work() + "/";
        List<ProcessHandle> servers =
                ProcessHandle.allProcesses()
                        .filter(p -> p.info().commandLine().orElse("").contains(mark))
                        .toList();
        for (ProcessHandle server : servers) {
            progress.println("left over from an interrupted run, ended: process " + server.pid());
            server.destroyForcibly();
        }
        for (ProcessHandle server : servers) {
            try {
                server.onExit().get(30, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted", e);
            } catch (java.util.concurrent.ExecutionException
                    | java.util.concurrent.TimeoutException e) {
                throw new IOException("process " + server.pid() + " survives a kill", e);
            }
        }
        if (Files.exists(work())) {
            progress.println("left over from an interrupted run, removed: " + work());
            delete(work());
        }
    }

    /** Removes {@link #work}, at the end of a run. */
    public void deleteWork() throws IOException {
        delete(work());
    }

    private static void delete(Path tree) throws IOException {
        if (!Files.exists(tree)) {
            return;
        }
        try (Stream<Path> paths = Files.walk(tree)) {
            for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }
}
