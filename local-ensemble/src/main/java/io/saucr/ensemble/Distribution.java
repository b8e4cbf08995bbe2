package io.saucr.ensemble;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What it takes to launch a ZooKeeper server: a class path and a main class. Everything else, such
 * as configuration and logging, comes from {@link ServerProcess}. Immutable.
 *
 * @param name what reports call it
 * @param version the version in the name of its server jar
 * @param classPath jars and folders, in order
 */
public record Distribution(String name, String version, List<Path> classPath) {
    /** Class path of stock ZooKeeper, for programs that have none on their own class path. */
    public static final String STOCK_CLASS_PATH = "saucr.crash.stock.classpath";

    /** System property that tells a situation-aware server its machine's boot id. */
    static final String BOOT_ID = "zookeeper.saucr.bootId";

    public static final String MAIN_CLASS = "org.apache.zookeeper.server.quorum.QuorumPeerMain";

    private static final Pattern SERVER_JAR =
            Pattern.compile("(saucr-zookeeper|zookeeper)(?:-server)?-(\\d[\\w.-]*)\\.jar");

    /**
     * Names the keys that a situation-aware server takes; it refuses all others. Older
     * distributions have the class in another package.
     */
    private static final List<String> SETTINGS =
            List.of(
                    "io/saucr/server/config/SaucrSettings.class",
                    "io/saucr/server/SaucrSettings.class");

    /** The jars that a stock server needs, by the beginning of their names. */
    private static final List<String> STOCK_JARS =
            List.of(
                    "zookeeper-",
                    "audience-annotations-",
                    "netty-",
                    "slf4j-api-",
                    "logback-",
                    "commons-io-",
                    "metrics-core-",
                    "snappy-java-",
                    "jetty-",
                    "javax.servlet-api-",
                    "jackson-");

    public Distribution {
        classPath = List.copyOf(classPath);
    }

    /**
     * Apache's released server: from the system property {@value #STOCK_CLASS_PATH}, else from the
     * artifacts on this program's own class path.
     *
     * @throws IllegalStateException if neither holds a ZooKeeper server
     */
    public static Distribution stock() {
        String given = System.getProperty(STOCK_CLASS_PATH);
        List<Path> jars = new ArrayList<>();
        for (Path entry : given == null ? ownClassPath() : split(given)) {
            String file = entry.getFileName().toString();
            if (given != null || STOCK_JARS.stream().anyMatch(file::startsWith)) {
                jars.add(entry);
            }
        }
        return of("zookeeper", jars)
                .orElseThrow(
                        () ->
                                new IllegalStateException(
                                        "no zookeeper-VERSION.jar on the class path: set -D"
                                                + STOCK_CLASS_PATH));
    }

    /**
     * An unpacked distribution: {@code lib/*.jar} below the folder, after {@code conf}.
     *
     * @throws IOException if the folder holds no ZooKeeper server
     */
    public static Distribution folder(Path folder) throws IOException {
        Path home = folder.toRealPath();
        List<Path> entries = new ArrayList<>();
        if (Files.isDirectory(home.resolve("conf"))) {
            entries.add(home.resolve("conf"));
        }
        Path lib = home.resolve("lib");
        if (Files.isDirectory(lib)) {
            try (Stream<Path> jars = Files.list(lib)) {
                jars.filter(jar -> jar.toString().endsWith(".jar")).sorted().forEach(entries::add);
            }
        }
        return of(home.getFileName().toString(), entries)
                .orElseThrow(() -> new IOException(folder + " holds no lib/zookeeper-VERSION.jar"));
    }

    /**
     * The tarball that the build has made; the newest, if there are several.
     *
     * @param root the project's root folder
     */
    public static Optional<Path> tarball(Path root) throws IOException {
        Path target = root.resolve("zookeeper-server/target");
        if (!Files.isDirectory(target)) {
            return Optional.empty();
        }
        try (Stream<Path> files = Files.list(target)) {
            return files.filter(file -> file.toString().endsWith("-bin.tar.gz"))
                    .max(Comparator.comparing(file -> file.toFile().lastModified()));
        }
    }

    /**
     * Unpacks a tarball into a folder, unless that very one is there already. Of several processes
     * that do so one unpacks, and the others wait. No server may run from the folder: if it holds
     * another distribution, it is replaced.
     *
     * @param folder holds {@code bin}, {@code conf} and {@code lib} afterwards; its parent exists
     * @return the folder
     * @throws EnsembleException if the tarball cannot be unpacked
     */
    public static Path unpack(Path tarball, Path folder) throws IOException {
        String identity =
                tarball.toAbsolutePath()
                        + " "
                        + Files.size(tarball)
                        + " "
                        + Files.getLastModifiedTime(tarball).toMillis();
        Path source = folder.resolveSibling(folder.getFileName() + ".source");
        try (FileChannel channel =
                FileChannel.open(
                        folder.resolveSibling(folder.getFileName() + ".lock"),
                        StandardOpenOption.CREATE,
                        StandardOpenOption.WRITE)) {
            channel.lock(); // until it is closed
            if (Files.exists(source)
                    && Files.readString(source).equals(identity)
                    && Files.isDirectory(folder.resolve("lib"))
                    && Files.isExecutable(folder.resolve("bin/zkServer.sh"))) {
                return folder;
            }
            Files.deleteIfExists(source);
            Folders.remove(folder);
            Files.createDirectories(folder);
            Process tar =
                    new ProcessBuilder(
                                    "tar",
                                    "-xzf",
                                    tarball.toString(),
                                    "-C",
                                    folder.toString(),
                                    "--strip-components=1")
                            .redirectErrorStream(true)
                            .start();
            String output = new String(tar.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (tar.waitFor() != 0) {
                throw new EnsembleException(
                        tarball + " cannot be unpacked: " + output.stripTrailing());
            }
            Files.writeString(source, identity);
            return folder;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new EnsembleException("interrupted while " + tarball + " was unpacked", e);
        }
    }

    /**
     * Whether its servers take {@link #BOOT_ID}. To stock ones it means nothing; situation-aware
     * ones that are older than this key refuse to start with it.
     *
     * @throws IOException if a jar of it cannot be read
     */
    boolean takesBootId() throws IOException {
        for (Path entry : classPath) {
            if (!SERVER_JAR.matcher(entry.getFileName().toString()).matches()) {
                continue;
            }
            try (JarFile jar = new JarFile(entry.toFile())) {
                Optional<JarEntry> found =
                        SETTINGS.stream()
                                .map(jar::getJarEntry)
                                .filter(Objects::nonNull)
                                .findFirst();
                if (found.isEmpty()) {
                    continue;
                }
                try (InputStream settings = jar.getInputStream(found.get())) {
                    // Names of keys are constants of the class and stand in it as they are.
                    String constants =
                            new String(settings.readAllBytes(), StandardCharsets.ISO_8859_1);
                    return constants.contains(BOOT_ID.substring("zookeeper.".length()));
                }
            }
        }
        return true;
    }

    /** The same distribution under another name in reports. */
    public Distribution named(String newName) {
        return new Distribution(newName, version, classPath);
    }

    private static Optional<Distribution> of(String name, List<Path> entries) {
        for (Path entry : entries) {
            Matcher matcher = SERVER_JAR.matcher(entry.getFileName().toString());
            if (matcher.matches()) {
                return Optional.of(new Distribution(name, matcher.group(2), entries));
            }
        }
        return Optional.empty();
    }

    private static List<Path> split(String classPath) {
        return Stream.of(classPath.split(File.pathSeparator)).map(Path::of).toList();
    }

    /** Build tools put the real class path into a property or into the manifest of a single jar. */
    private static Set<Path> ownClassPath() {
        Set<Path> entries = new LinkedHashSet<>();
        for (String property : List.of("java.class.path", "surefire.test.class.path")) {
            for (Path entry : split(System.getProperty(property, ""))) {
                if (Files.exists(entry) && !entry.toString().isEmpty()) {
                    entries.add(entry.toAbsolutePath());
                    entries.addAll(manifestClassPath(entry));
                }
            }
        }
        return entries;
    }

    private static List<Path> manifestClassPath(Path entry) {
        List<Path> entries = new ArrayList<>();
        if (!entry.toString().endsWith(".jar")) {
            return entries;
        }
        try (JarFile jar = new JarFile(entry.toFile())) {
            String listed =
                    jar.getManifest() == null
                            ? null
                            : jar.getManifest()
                                    .getMainAttributes()
                                    .getValue(Attributes.Name.CLASS_PATH);
            for (String item : listed == null ? new String[0] : listed.trim().split("\\s+")) {
                URI uri = entry.toAbsolutePath().toUri().resolve(item);
                if ("file".equals(uri.getScheme()) && Files.exists(Path.of(uri))) {
                    entries.add(Path.of(uri));
                }
            }
            return entries;
        } catch (IOException e) {
            throw new UncheckedIOException(entry + " on the class path cannot be read", e);
        }
    }
}
