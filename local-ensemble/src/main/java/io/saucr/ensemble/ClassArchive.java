package io.saucr.ensemble;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;

/**
 * The loaded classes of a server in a file that the next JVM maps instead of loading and verifying
 * them again: a server then needs a little more than half of the processor time to start. Made once
 * per class path by a server of a small ensemble that is started for it, and kept in a folder of
 * this user below {@code java.io.tmpdir}; a newer build of the same class path replaces it, and of
 * all that are there the {@value #MOST} last used stay.
 *
 * <p>It is a convenience: where it cannot be made or does not fit, or where a folder of classes
 * comes first and an archive would change what is loaded, servers start without it and nothing
 * fails. Thread-safe, and safe against other processes that make the same one.
 */
public final class ClassArchive {
    private static final Duration TRAINING_LIMIT = Duration.ofSeconds(60);
    private static final Duration OTHERS_LIMIT = Duration.ofSeconds(90);

    /** At about 22 MB each. */
    static final int MOST = 20;

    /** The results so far, by the archive's file; after a failure it is not tried again. */
    private static final Map<Path, Optional<Path>> KNOWN = new ConcurrentHashMap<>();

    private ClassArchive() {}

    /** The JVM flags that use the distribution's archive, made now if need be; none without one. */
    public static List<String> flags(Distribution distribution) {
        return flags(distribution, Folders.ofThisUser("classes"));
    }

    /** As {@link #flags(Distribution)}, with archives in another folder. */
    static List<String> flags(Distribution distribution, Path folder) {
        if (!foldersMayComeLast(distribution)) {
            return List.of();
        }
        Optional<Path> archive;
        try {
            Path file = Folders.own(folder).resolve(name(distribution));
            archive = KNOWN.computeIfAbsent(file, missing -> find(missing, distribution));
        } catch (IOException e) {
            archive = Optional.empty();
        }
        // Whatever does not fit (another JVM, changed jars) is passed over in silence.
        return archive.map(file -> List.of("-XX:SharedArchiveFile=" + file, "-Xlog:cds*=off"))
                .orElse(List.of());
    }

    /**
     * The jars, then the folders, because the JVM archives nothing where a folder comes first; but
     * in the distribution's own order where that would change which class is found.
     */
    static String classPath(Distribution distribution) {
        List<Path> entries = new ArrayList<>(distribution.classPath());
        if (foldersMayComeLast(distribution)) {
            entries.sort(Comparator.comparing(entry -> Files.isDirectory(entry)));
        }
        return entries.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    }

    /** Whether no folder that stands before a jar holds a class. */
    private static boolean foldersMayComeLast(Distribution distribution) {
        List<Path> entries = distribution.classPath();
        int lastJar = entries.size() - 1;
        while (lastJar >= 0 && Files.isDirectory(entries.get(lastJar))) {
            lastJar--;
        }
        return entries.subList(0, lastJar + 1).stream()
                .filter(Files::isDirectory)
                .noneMatch(ClassArchive::holdsClasses);
    }

    private static boolean holdsClasses(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.anyMatch(file -> file.toString().endsWith(".class"));
        } catch (IOException | UncheckedIOException e) {
            return true; // What cannot be looked at stays where it is.
        }
    }

    /** By the class path and by the state of its jars and of the JVM. */
    private static String name(Distribution distribution) throws IOException {
        StringBuilder state = new StringBuilder(System.getProperty("java.vm.version"));
        state.append(' ').append(System.getProperty("java.home"));
        for (Path entry : distribution.classPath()) {
            state.append('\n').append(Files.size(entry));
            state.append(' ').append(Files.getLastModifiedTime(entry).toMillis());
        }
        return hash(classPath(distribution)) + "-" + hash(state.toString()) + ".jsa";
    }

    private static String hash(String text) {
        return Folders.digest(text.getBytes(StandardCharsets.UTF_8));
    }

    private static Optional<Path> find(Path file, Distribution distribution) {
        if (Files.exists(file)) {
            used(file);
            return Optional.of(file);
        }
        try (FileChannel channel =
                FileChannel.open(
                        file.resolveSibling(file.getFileName() + ".lock"),
                        StandardOpenOption.CREATE,
                        StandardOpenOption.WRITE)) {
            long deadline = System.nanoTime() + OTHERS_LIMIT.toNanos();
            FileLock lock = tryLock(channel);
            while (lock == null && System.nanoTime() < deadline) {
                Thread.sleep(100);
                lock = tryLock(channel);
            }
            if (lock == null) {
                return Optional.empty();
            }
            if (!Files.exists(file)) {
                make(file, distribution);
            }
            return Optional.of(file);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        } catch (IOException | IllegalStateException e) {
            return Optional.empty();
        }
    }

    private static FileLock tryLock(FileChannel channel) throws IOException {
        try {
            return channel.tryLock();
        } catch (OverlappingFileLockException e) {
            return null; // another class loader of this very process
        }
    }

    /**
     * @throws IOException if the servers do not serve, or leave no archive
     */
    private static void make(Path file, Distribution distribution)
            throws IOException, InterruptedException {
        Path work = Files.createTempDirectory(file.getParent(), "training");
        try {
            Path made = work.resolve("made.jsa");
            train(distribution, work, made);
            if (!Files.exists(made)) {
                throw new IOException("no archive was left");
            }
            removeOlder(file);
            removeUnused(file.getParent());
            Files.move(made, file, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Folders.remove(work);
        }
    }

    /** The one with the highest number leads at its first start; the archive is its own. */
    private static void train(Distribution distribution, Path work, Path made)
            throws IOException, InterruptedException {
        try (Ensemble ensemble =
                Ensemble.of(distribution, work)
                        .jvm(Ensemble.SMALL_JVM)
                        .disk(
                                FsyncShim.available() // its servers end with this JVM in any case
                                        ? LoopbackHosting.Disk.SHIM_WITH_JOURNAL
                                        : LoopbackHosting.Disk.PLAIN)
                        .set("saucr.enabled", "true") // means nothing to servers without it
                        .build()) {
            ServerProcess last = ensemble.server(ensemble.size());
            last.addJvmFlag("-XX:ArchiveClassesAtExit=" + made);
            ensemble.start();
            ensemble.awaitServing(TRAINING_LIMIT);
            use(last.address().client());
            last.terminate(TRAINING_LIMIT);
        }
    }

    private static void use(String server) throws IOException, InterruptedException {
        try (ClientSession client = ClientSession.connectedWithoutTls(server, TRAINING_LIMIT)) {
            client.create("/a", new byte[100], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            client.setData("/a", new byte[100], 0);
            client.getData("/a", false, null);
        } catch (KeeperException e) {
            throw new IOException(e);
        }
    }

    /** So that it is not taken for one that nobody needs. */
    private static void used(Path file) {
        try {
            Files.setLastModifiedTime(file, FileTime.from(Instant.now()));
        } catch (IOException e) {
            return; // Another process has removed it, which does no harm.
        }
    }

    /** The longest unused, so that there is room for one more. */
    private static void removeUnused(Path folder) throws IOException {
        // Asked once for each: others may use one meanwhile.
        Map<Path, FileTime> lastUsed;
        try (Stream<Path> files = Files.list(folder)) {
            lastUsed =
                    files.filter(path -> path.toString().endsWith(".jsa"))
                            .collect(Collectors.toMap(path -> path, ClassArchive::lastUsed));
        }
        List<Path> unused =
                lastUsed.entrySet().stream()
                        .sorted(Map.Entry.<Path, FileTime>comparingByValue().reversed())
                        .skip(MOST - 1)
                        .map(Map.Entry::getKey)
                        .toList();
        for (Path archive : unused) {
            Files.deleteIfExists(archive);
        }
    }

    private static FileTime lastUsed(Path archive) {
        try {
            return Files.getLastModifiedTime(archive);
        } catch (IOException e) {
            return FileTime.fromMillis(0); // removed meanwhile
        }
    }

    /** Archives of earlier builds; a JVM that uses one of them keeps it mapped. */
    private static void removeOlder(Path file) throws IOException {
        String name = file.getFileName().toString();
        String sameClassPath = name.substring(0, name.indexOf('-') + 1);
        try (Stream<Path> files = Files.list(file.getParent())) {
            for (Path other :
                    files.filter(
                                    path -> {
                                        String candidate = path.getFileName().toString();
                                        return candidate.startsWith(sameClassPath)
                                                && !candidate.startsWith(name);
                                    })
                            .toList()) {
                Files.deleteIfExists(other);
            }
        }
    }
}
