package io.saucr.services.examples.memcached;

import static org.assertj.core.api.Assertions.assertThat;

import com.thimbleware.jmemcached.MemCacheDaemon;
import java.io.IOException;
import java.net.URI;
import java.net.URL;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The figures that docs/services/porting.md gives for the port, counted in the original's released
 * sources and in ours: lines that hold something beside comments, imports and the package.
 */
class ChangedLinesTest {

    private static final Path PAGE = Path.of("../../docs/services/porting.md");
    private static final Path OURS = Path.of("src/main/java/io/saucr/services/examples/memcached");
    private static final Pattern COMMENT = Pattern.compile("(?s)/\\*.*?\\*/|//[^\n]*");
    private static final Pattern HEAD = Pattern.compile("(import|package) .*");

    /** Its tests are no part of the jar of sources. */
    private static Map<String, Integer> original() throws Exception {
        Map<String, Integer> lines = new TreeMap<>();
        URL one = MemCacheDaemon.class.getResource("MemCacheDaemon.java");
        assertThat(one).as("the jar of the original's sources").isNotNull();
        URI jar = URI.create(one.toString().substring(0, one.toString().indexOf("!/")));
        try (FileSystem files = FileSystems.newFileSystem(jar, Map.of());
                Stream<Path> all = Files.walk(files.getPath("/com"))) {
            for (Path file : all.filter(it -> it.toString().endsWith(".java")).toList()) {
                lines.put(file.toString(), lines(file));
            }
        }
        return lines;
    }

    private static int lines(Path file) throws IOException {
        return (int)
                COMMENT.matcher(Files.readString(file))
                        .replaceAll("")
                        .lines()
                        .map(String::trim)
                        .filter(line -> !line.isEmpty() && !HEAD.matcher(line).matches())
                        .count();
    }

    private static int sum(Map<String, Integer> lines, String part) {
        return lines.entrySet().stream()
                .filter(it -> it.getKey().contains(part))
                .mapToInt(Map.Entry::getValue)
                .sum();
    }

    @Test
    void thePageGivesTheNumbersOfLines() throws Exception {
        Map<String, Integer> original = original();
        int gone = sum(original, "/jmemcached/CacheImpl.java");
        int storage = sum(original, "/jmemcached/storage/");
        int all = sum(original, "");
        assertThat(gone).isPositive();
        assertThat(storage).isPositive();
        assertThat(Files.readString(PAGE))
                .contains(
                        String.format("| jmemcached, all of it | %,d |\n", all),
                        String.format("| of it unchanged | %,d |\n", all - gone - storage),
                        String.format("| gone: `CacheImpl`, which held the items | %,d |\n", gone),
                        String.format("| gone: `storage`, its maps | %,d |\n", storage),
                        String.format(
                                "| new: `CacheService`, state and handlers | %,d |\n",
                                lines(OURS.resolve("CacheService.java"))),
                        String.format(
                                "| new: `ServedCache`, from method calls to messages | %,d |\n",
                                lines(OURS.resolve("ServedCache.java"))));
    }

    /** Else a class of ours would stand before one of theirs, and what is counted would not run. */
    @Test
    void noClassOfTheOriginalIsReplacedInSilence() throws Exception {
        try (Stream<Path> files = Files.walk(Path.of("src/main/java"))) {
            List<Path> sources = files.filter(it -> it.toString().endsWith(".java")).toList();
            assertThat(sources).allMatch(it -> it.startsWith(OURS));
        }
        assertThat(
                        MemCacheDaemon.class
                                .getProtectionDomain()
                                .getCodeSource()
                                .getLocation()
                                .getPath())
                .endsWith("/jmemcached-core-1.0.0.jar");
    }
}
