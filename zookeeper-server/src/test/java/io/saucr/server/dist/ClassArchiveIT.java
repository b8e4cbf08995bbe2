package io.saucr.server.dist;

import static io.saucr.server.PatientWaits.await;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.server.dist.Scripts.Result;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code zkServer.sh class-archive}, and servers that start with what it makes. */
class ClassArchiveIT {
    private static final String OPTION = "-XX:SharedArchiveFile=";
    private static final String MAIN_CLASS = "org.apache.zookeeper.server.quorum.QuorumPeerMain";
    private static final String JAVA_S_ARCHIVE = "shared objects file";
    private static final String OUR_ARCHIVE = "shared objects file (top)";
    private static final String MARK = "as conf/logback.xml says: ";

    @TempDir static Path unpacked;
    @TempDir static Path maker;
    private static Path home;
    private static Path archive;
    private static Path description;

    @TempDir Path folder;
    private Scripts scripts;
    private Path loaded;

    @BeforeAll
    static void make() throws Exception {
        home = Scripts.unpack(unpacked);
        archive = home.resolve("lib/server.jsa");
        description = home.resolve("lib/server.jsa.txt");
        Result made = new Scripts(home, maker).server("class-archive");
        assertThat(made.exitCode()).as(made.output()).isZero();
        assertThat(made.output())
                .containsPattern("Made " + archive + ", \\d+ MB, for .*" + vmVersion());
        assertNothingElseIn(home.resolve("lib"));
        Files.copy(archive, maker.resolve("archive"));
        Files.copy(description, maker.resolve("description"));
    }

    private static String vmVersion() {
        return System.getProperty("java.vm.version").replace("+", "\\+");
    }

    private static void assertNothingElseIn(Path lib) throws IOException {
        try (Stream<Path> files = Files.list(lib)) {
            assertThat(files.filter(file -> !file.toString().endsWith(".jar")))
                    .isSubsetOf(archive, description);
        }
    }

    @BeforeEach
    void configure() throws Exception {
        restore();
        loaded = folder.resolve("loaded.txt");
        scripts = new Scripts(home, folder);
        // Not JVMFLAGS: "status" has a JVM, too.
        scripts.set("SERVER_JVMFLAGS", "-Xlog:class+load:file=" + loaded);
        scripts.writeConfig("zoo.cfg", "clientPort=" + Scripts.freePort());
        Path logback = scripts.conf().resolve("logback.xml");
        Files.writeString(logback, Files.readString(logback).replace("%m%n", MARK + "%m%n"));
    }

    private static void restore() throws IOException {
        Files.copy(
                maker.resolve("archive"),
                archive,
                StandardCopyOption.REPLACE_EXISTING,
                StandardCopyOption.COPY_ATTRIBUTES);
        Files.copy(maker.resolve("description"), description, StandardCopyOption.REPLACE_EXISTING);
    }

    @AfterEach
    void leaveNoProcess() throws Exception {
        if (Files.exists(scripts.pidFile())) {
            scripts.server("stop");
        }
    }

    @Test
    void startUsesItAndTheConfigurationFolderDecidesAboutTheLog() throws Exception {
        startAndStop();
        assertThat(sourceOf(MAIN_CLASS)).isEqualTo(OUR_ARCHIVE);
        assertThat(folder.resolve("log/server.log")).content().contains(MARK + "binding to port");
    }

    @Test
    void startForegroundUsesIt() throws Exception {
        Path console = folder.resolve("console.txt");
        Process server = scripts.start(console, List.of(), "zkServer.sh", "start-foreground");
        try {
            await().atMost(Scripts.LIMIT).until(() -> scripts.server("status").exitCode() == 0);
        } finally {
            server.destroy();
            server.waitFor();
        }
        assertThat(sourceOf(MAIN_CLASS)).isEqualTo(OUR_ARCHIVE);
        assertThat(console).content().contains(MARK + "binding to port").doesNotContain("[cds");
    }

    @Tag("long")
    @Test
    void aDamagedOneIsNotUsed() throws Exception {
        // Java would crash on both.
        try (FileChannel file = FileChannel.open(archive, WRITE)) {
            file.truncate(1_000_000);
        }
        assertStartsWithout();
        restore();
        try (FileChannel file = FileChannel.open(archive, WRITE)) {
            file.write(ByteBuffer.allocate(1_000_000), file.size() / 2);
        }
        assertStartsWithout();
    }

    @Test
    void oneWithoutADescriptionOrOfAnotherJavaIsNotUsed() throws Exception {
        Files.writeString(
                description, Files.readString(description).replaceFirst(vmVersion(), "16.0.1+9"));
        assertStartsWithout();
        Files.delete(description);
        assertStartsWithout();
    }

    @Test
    void javaItselfNoticesAnotherJarAndSaysNothing() throws Exception {
        Path jar;
        try (Stream<Path> jars = Files.list(home.resolve("lib"))) {
            jar = jars.filter(file -> file.toString().contains("slf4j-api")).toList().get(0);
        }
        FileTime before = Files.getLastModifiedTime(jar);
        Files.setLastModifiedTime(jar, FileTime.fromMillis(before.toMillis() - 10_000));
        try {
            assertThat(scripts.server("print-cmd").output()).contains(OPTION);
            startAndStop();
        } finally {
            Files.setLastModifiedTime(jar, before);
        }
        assertThat(sourceOf(MAIN_CLASS)).startsWith("file:").endsWith(".jar");
        assertThat(sourceOf("java.lang.String")).isEqualTo(JAVA_S_ARCHIVE);
    }

    @Tag("long")
    @Test
    void withAClassPathOfTheOperatorsNothingChanges() throws Exception {
        scripts.set("CLASSPATH", "/extra/classes");
        assertThat(scripts.server("print-cmd").output())
                .doesNotContain(OPTION)
                .contains(scripts.conf() + ":/extra/classes:");
        Result made = scripts.server("class-archive");
        assertThat(made.exitCode()).isZero();
        assertThat(made.output()).contains("not used as long as CLASSPATH is set");
    }

    @Test
    void aFolderThatCannotBeWrittenToIsSaid() throws Exception {
        Path lib = home.resolve("lib");
        Set<PosixFilePermission> before = Files.getPosixFilePermissions(lib);
        Set<PosixFilePermission> readOnly = new HashSet<>(before);
        readOnly.remove(PosixFilePermission.OWNER_WRITE);
        Files.setPosixFilePermissions(lib, readOnly);
        // Permissions do not bind root, unless it lays down the capability.
        List<String> runner =
                Files.isWritable(lib)
                        ? List.of("setpriv", "--bounding-set=-dac_override", "--")
                        : List.of();
        try {
            Result made = scripts.run(runner, "zkServer.sh", "class-archive");
            assertThat(made.exitCode()).isEqualTo(1);
            assertThat(made.output())
                    .contains("cannot write to " + lib + ", where the class archive belongs")
                    .contains("Run this as a user who can");
        } finally {
            Files.setPosixFilePermissions(lib, before);
        }
        assertNothingElseIn(lib);
        assertThat(Files.mismatch(archive, maker.resolve("archive"))).isEqualTo(-1);
    }

    @Test
    void whatCouldNotBeMadeIsSaidWithTheOutput() throws Exception {
        scripts.set("JAVA_TOOL_OPTIONS", "-Xshare:off");
        Result made = scripts.server("class-archive");
        assertThat(made.exitCode()).isEqualTo(1);
        assertThat(made.output()).contains("Error: no class archive was made.");
        assertNothingElseIn(home.resolve("lib"));
        assertThat(Files.mismatch(archive, maker.resolve("archive"))).isEqualTo(-1);
    }

    /** The "mv" that is found first puts another archive in place behind the first one. */
    @Tag("long")
    @Test
    void twoWhoMakeItAtOnceLeaveOneThatIsUsed() throws Exception {
        Path commands = Files.createDirectories(folder.resolve("commands"));
        Path move = commands.resolve("mv");
        Path once = folder.resolve("once");
        Files.writeString(
                move,
                """
                #!/bin/sh
                /bin/mv "$@" || exit 1
                for target in "$@"; do :; done
                if [ "$target" = '%s' ] && mkdir '%s'; then
                    cp '%s' "$target"
                fi
                """
                        .formatted(archive, once, maker.resolve("archive")));
        Files.setPosixFilePermissions(move, PosixFilePermissions.fromString("rwxr-xr-x"));
        scripts.set("PATH", commands + ":" + System.getenv("PATH"));
        Result made = scripts.server("class-archive");
        assertThat(made.exitCode()).as(made.output()).isZero();
        assertThat(once).exists();
        assertThat(Files.mismatch(archive, maker.resolve("archive"))).isEqualTo(-1);
        assertThat(scripts.server("print-cmd").output()).contains(OPTION);
    }

    @Test
    void aPipeInItsPlaceIsNoArchive() throws Exception {
        Files.delete(archive);
        assertThat(new ProcessBuilder("mkfifo", archive.toString()).start().waitFor()).isZero();
        try {
            assertThat(scripts.server("print-cmd").output()).doesNotContain(OPTION);
        } finally {
            Files.delete(archive);
        }
    }

    /** Where the server has a class from. */
    private String sourceOf(String type) throws IOException {
        try (Stream<String> lines = Files.lines(loaded)) {
            return lines.filter(line -> line.contains(" " + type + " source: "))
                    .map(line -> line.replaceFirst(".* source: ", ""))
                    .findFirst()
                    .orElseThrow();
        }
    }

    private void assertStartsWithout() throws Exception {
        assertThat(scripts.server("print-cmd").output())
                .doesNotContain(OPTION)
                .contains("-cp " + scripts.conf() + ":" + home + "/lib/\\*");
        startAndStop();
        assertThat(sourceOf(MAIN_CLASS)).startsWith("file:").endsWith(".jar");
        assertThat(sourceOf("java.lang.String")).isEqualTo(JAVA_S_ARCHIVE);
    }

    /** The output of the JVM itself goes to a file, which stays empty if it warns of nothing. */
    private void startAndStop() throws Exception {
        Result start = scripts.server("start");
        assertThat(start.exitCode()).as(start.output()).isZero();
        assertThat(start.output()).contains("STARTED").doesNotContain("[cds");
        await().atMost(Scripts.LIMIT).until(() -> scripts.server("status").exitCode() == 0);
        assertThat(scripts.server("stop").exitCode()).isZero();
        assertThat(folder.resolve("log/server.out")).content().isEmpty();
    }
}
