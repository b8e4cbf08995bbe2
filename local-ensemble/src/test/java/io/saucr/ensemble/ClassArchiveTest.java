package io.saucr.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Stock servers with and without an archive of their classes. */
@Tag("slow")
class ClassArchiveTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir Path work;

    @Test
    void aServerMapsMostOfItsClassesAndBadArchivesArePassedOver() throws Exception {
        Path folder = work.resolve("archives");
        List<Path> others = archivesOfOtherPrograms(Folders.own(folder));
        CompletableFuture<List<String>> other =
                CompletableFuture.supplyAsync(
                        () -> ClassArchive.flags(Distribution.stock(), folder));
        List<String> flags = ClassArchive.flags(Distribution.stock(), folder);
        assertThat(flags).isNotEmpty().isEqualTo(other.get(60, TimeUnit.SECONDS));
        Path archive = Path.of(flags.get(0).substring(flags.get(0).indexOf('=') + 1));
        assertThat(archive).exists();
        assertThat(others.subList(0, 3)).as("the longest unused").noneMatch(Files::exists);
        assertThat(others.subList(3, others.size())).allMatch(Files::exists);
        try (Stream<Path> left = Files.list(folder)) {
            assertThat(left.filter(path -> !path.toString().contains(".jsa"))).isEmpty();
        }

        String log = serve("mapped", flags);
        assertThat(log.lines().filter(line -> line.contains("shared objects file (top)")).count())
                .isGreaterThan(1000);

        Path broken = Files.writeString(folder.resolve("broken"), "not an archive");
        Files.move(broken, archive, StandardCopyOption.REPLACE_EXISTING);
        assertThat(serve("broken", flags)).doesNotContain("(top)");
        Files.delete(archive);
        assertThat(serve("missing", flags)).doesNotContain("(top)");
    }

    @Test
    void whatIsNoServerHasNone() throws Exception {
        Path jar = Files.writeString(work.resolve("zookeeper-1.jar"), "not a jar");
        Distribution nothing = new Distribution("nothing", "1", List.of(jar));
        assertThat(ClassArchive.flags(nothing, work.resolve("archives"))).isEmpty();
        Files.writeString(work.resolve("file"), "");
        assertThat(ClassArchive.flags(Distribution.stock(), work.resolve("file"))).isEmpty();
    }

    @Test
    void aFolderOfClassesStaysInFrontAndThenThereIsNoArchive() throws Exception {
        Distribution stock = Distribution.stock();
        Path folder = Files.createDirectories(work.resolve("classes/org"));
        List<Path> entries = new ArrayList<>(stock.classPath());
        entries.add(0, folder.getParent());
        Distribution changed = new Distribution("changed", stock.version(), entries);
        assertThat(ClassArchive.classPath(changed))
                .as("a folder without classes")
                .endsWith(File.pathSeparator + folder.getParent());

        Files.writeString(folder.resolve("Changed.class"), "");
        assertThat(ClassArchive.classPath(changed))
                .startsWith(folder.getParent() + File.pathSeparator);
        assertThat(ClassArchive.flags(changed, work.resolve("archives"))).isEmpty();
    }

    /** Two more than may stay, beside one that is made; the longest unused first. */
    private static List<Path> archivesOfOtherPrograms(Path folder) throws Exception {
        List<Path> archives = new ArrayList<>();
        for (int i = 0; i < ClassArchive.MOST + 2; i++) {
            Path archive = Files.writeString(folder.resolve("other-" + i + ".jsa"), "");
            archives.add(
                    Files.setLastModifiedTime(
                            archive, FileTime.from(Instant.now().minusSeconds(1000 - i))));
        }
        return archives;
    }

    /** What a server printed that loaded its classes and served. */
    private String serve(String name, List<String> flags) throws Exception {
        Ensemble.Builder builder =
                Ensemble.of(Distribution.stock(), work.resolve(name)).jvm(Ensemble.SMALL_JVM);
        flags.forEach(builder::jvmFlag);
        try (Ensemble ensemble = builder.jvmFlag("-Xlog:class+load").build()) {
            ensemble.start();
            ensemble.awaitServing(PATIENCE);
            return Files.readString(ensemble.server(1).logFile());
        }
    }
}
