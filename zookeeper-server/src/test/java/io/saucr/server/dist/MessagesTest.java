package io.saucr.server.dist;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.core.log.MarkerFile;
import io.saucr.server.Boot;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a server logs, throws and answers says nothing of the numbers of {@code
 * docs/internals/rules.md}: they are for those who read the code. Looks at every string of the
 * classes that are ours, and at the page and the scripts.
 */
@Tag("trial")
class MessagesTest {
    private static final Path SOURCES = Path.of("src/main/java").toAbsolutePath();
    private static final Pattern NUMBER =
            Pattern.compile("(?<![\\w.%{/-])([RHSL])(\\d{1,2})(a?)(?![\\w-]|\\.\\w)");

    private static boolean cites(String message) {
        return NUMBER.matcher(message).find();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "R9",
                "see R24",
                "broken (H11): stop",
                "S5, the seal",
                "\u0001 (R18a)",
                "L2."
            })
    void aNumberInAMessageIsFound(String message) {
        assertThat(cites(message)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"R2D2", "SHA-256", "x.R4", "IPv4", "R", "%S1", "PT1S", "H264-R4"})
    void otherWordsAreNone(String message) {
        assertThat(cites(message)).isFalse();
    }

    @Test
    void noStringOfOurClassesCitesARule() throws Exception {
        Set<String> own = ownClasses();
        Map<String, List<String>> strings = new TreeMap<>();
        strings.putAll(strings(home(Boot.class), own));
        strings.putAll(strings(home(MarkerFile.class), Set.of()));
        assertThat(strings.keySet())
                .contains("io/saucr/server/Boot", "io/saucr/core/log/MarkerFile")
                .contains("org/apache/zookeeper/server/quorum/SaucrQuorumPeer");
        assertThat(strings.get("io/saucr/server/StartCheck"))
                .as("messages are among the strings")
                .anyMatch(each -> each.contains("needs majority quorums"));
        strings.forEach(
                (type, constants) -> assertThat(constants).as(type).noneMatch(MessagesTest::cites));
    }

    @Test
    void neitherDoThePageAndTheScripts() throws IOException {
        List<Path> files = new ArrayList<>();
        files.add(SOURCES.resolveSibling("resources/io/saucr/server/admin/saucr.html"));
        try (Stream<Path> scripts = Files.list(SOURCES.resolve("../../dist/bin").normalize())) {
            files.addAll(scripts.toList());
        }
        assertThat(files).hasSizeGreaterThan(8);
        for (Path file : files) {
            assertThat(Files.readString(file)).as(file.toString()).doesNotContainPattern(NUMBER);
        }
    }

    /** Names of the classes that have a source here, without those inside of them. */
    private static Set<String> ownClasses() throws IOException {
        try (Stream<Path> files = Files.walk(SOURCES)) {
            Set<String> names = new TreeSet<>();
            files.map(file -> SOURCES.relativize(file).toString())
                    .filter(name -> name.endsWith(".java"))
                    .forEach(name -> names.add(name.replaceFirst("\\.java$", "")));
            return names;
        }
    }

    private static Path home(Class<?> type) throws URISyntaxException {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    }

    /**
     * Every string of every class in a folder or a jar.
     *
     * @param only names of classes; empty for all
     */
    private static Map<String, List<String>> strings(Path home, Set<String> only)
            throws IOException {
        if (Files.isDirectory(home)) {
            return stringsBelow(home, only);
        }
        try (FileSystem jar =
                FileSystems.newFileSystem(URI.create("jar:" + home.toUri()), Map.of())) {
            return stringsBelow(jar.getPath("/"), only);
        }
    }

    private static Map<String, List<String>> stringsBelow(Path root, Set<String> only)
            throws IOException {
        Map<String, List<String>> result = new TreeMap<>();
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file : files.filter(each -> each.toString().endsWith(".class")).toList()) {
                String name = root.relativize(file).toString().replaceFirst("\\.class$", "");
                if (only.isEmpty() || only.contains(name.replaceFirst("\\$.*", ""))) {
                    result.put(name, strings(Files.readAllBytes(file)));
                }
            }
        }
        return result;
    }

    /** The string literals of a class file, and the fixed parts of those that are put together. */
    private static List<String> strings(byte[] file) throws IOException {
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(file));
        in.skipNBytes(8);
        int count = in.readUnsignedShort();
        String[] texts = new String[count];
        List<Integer> literals = new ArrayList<>();
        for (int i = 1; i < count; i++) {
            int kind = in.readUnsignedByte();
            switch (kind) {
                case 1 -> texts[i] = in.readUTF();
                case 8 -> literals.add(in.readUnsignedShort());
                case 7, 16, 19, 20 -> in.skipNBytes(2);
                case 15 -> in.skipNBytes(3);
                case 3, 4, 9, 10, 11, 12, 17, 18 -> in.skipNBytes(4);
                case 5, 6 -> {
                    in.skipNBytes(8);
                    i++;
                }
                default -> throw new IOException("constant of kind " + kind);
            }
        }
        return literals.stream().map(each -> texts[each]).toList();
    }
}
