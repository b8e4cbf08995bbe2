package io.saucr.server.dist;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.server.config.ParsedProperties;
import io.saucr.server.config.SaucrSettings;
import io.saucr.server.config.SaucrSettings.InvalidSettingException;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.jute.BinaryInputArchive;
import org.apache.zookeeper.server.quorum.QuorumPeer;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Guides and sample configurations against the code: settings, ranges, links. */
@Tag("trial")
class DocumentsTest {
    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();

    /** A row of the table of settings: key, default, range. */
    private static final Pattern ROW =
            Pattern.compile("^\\| `(saucr\\.\\w+)` \\| (.*?) \\| (.*?) \\| ", Pattern.MULTILINE);

    private static final Pattern CODE = Pattern.compile("`([^`]+)`");
    private static final Pattern MENTIONED = Pattern.compile("(?<![\\w.])saucr\\.([a-z]\\w*)");

    /** Files, and properties of the tests' and the tools' JVMs. */
    private static final Set<String> NO_SETTINGS =
            Set.of(
                    // Metrics of services; ServiceMetricsTest compares their page with the code.
                    "services",
                    "fastSwitch",
                    "latestOnDisk",
                    "identity",
                    "lock",
                    "proof",
                    "staging",
                    "replacement",
                    "snapshot",
                    "audit",
                    "crash",
                    "log");

    private static final Pattern LINK = Pattern.compile("]\\(([^)\\s]+)\\)");
    private static final Pattern SAMPLE = Pattern.compile("([lw]an)-(\\d)\\.cfg");

    /** In a POM that depends on this project, or as the tag of the image. */
    private static final Pattern NAMED_VERSION =
            Pattern.compile(
                    "(?:<artifactId>saucr-[\\w-]+</artifactId>\\s*<version>"
                            + "|io\\.saucr:saucr-[\\w-]+:|io\\.saucr/[\\w-]+ \"|saucr-zookeeper:)"
                            + "([0-9][\\w.-]*)");

    /** A row of the table of accepted vulnerabilities. */
    private static final Pattern ACCEPTED =
            Pattern.compile("^\\| ((?:CVE|GHSA)-[\\w-]+) ", Pattern.MULTILINE);

    /** A class of several words, and the member behind it. */
    private static final Pattern CLASS =
            Pattern.compile(
                    "(?<![\\w.$/#-])[A-Z][a-z0-9]+(?:[A-Z][A-Za-z0-9]*)+(?:\\.[a-z]\\w*)?"
                            + "(?![\\w/-])");

    private static final Pattern DECLARED =
            Pattern.compile("\\b(?:class|interface|enum|record|@interface) ([A-Z]\\w+)");
    private static final Pattern DIAGRAM = Pattern.compile("(?s)```mermaid\\n(.*?)```");
    private static final Pattern FENCED = Pattern.compile("(?s)```.*?```");

    /** Pages of internals that name tests of other projects. */
    private static final Set<String> TESTS_OF_OTHERS =
            Set.of("apache-tests.md", "client-suites.md");

    /** Threads are named like classes. */
    private static final Set<String> THREADS =
            Set.of("ProcessThread", "SyncThread", "SaucrBackgroundFlush");

    @TempDir Path folder;

    @AfterEach
    void forgetProperties() {
        ParsedProperties.forget();
    }

    private static SaucrSettings parse(Map<String, String> settings)
            throws InvalidSettingException {
        Properties properties = new Properties();
        settings.forEach((key, value) -> properties.setProperty("zookeeper." + key, value));
        return SaucrSettings.parse("zoo.cfg", properties);
    }

    /** The refusal of an unknown key names those that there are. */
    private static Set<String> keysOfTheCode() {
        try {
            parse(Map.of("saucr.unknown", "1"));
        } catch (InvalidSettingException e) {
            String known = e.getMessage().substring(e.getMessage().indexOf("known are "));
            return new TreeSet<>(List.of(known.substring("known are ".length()).split(", ")));
        }
        throw new AssertionError("an unknown key was accepted");
    }

    private static List<Path> pages() throws IOException {
        List<Path> pages = new ArrayList<>(files(ROOT.resolve("docs"), ".md"));
        for (String page :
                List.of("README.md", "CHANGELOG.md", "SECURITY.md", "ycsb-binding/README.md")) {
            pages.add(ROOT.resolve(page));
        }
        return pages;
    }

    private static List<Path> files(Path folder, String ending) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> file.toString().endsWith(ending)).sorted().toList();
        }
    }

    private static Map<String, MatchResult> rows() throws IOException {
        Map<String, MatchResult> rows = new TreeMap<>();
        ROW.matcher(Files.readString(ROOT.resolve("docs/operate/settings.md")))
                .results()
                .forEach(row -> rows.put(row.group(1), row));
        return rows;
    }

    private static List<String> code(String cell) {
        return CODE.matcher(cell).results().map(found -> found.group(1)).toList();
    }

    @Test
    void theTableOfSettingsHasEveryKeyWithItsDefaultAndItsRange() throws Exception {
        Map<String, MatchResult> rows = rows();
        assertThat(rows.keySet()).isEqualTo(keysOfTheCode());
        SaucrSettings defaults = parse(Map.of());
        for (Map.Entry<String, MatchResult> row : rows.entrySet()) {
            String key = row.getKey();
            List<String> preset = code(row.getValue().group(2));
            if (row.getValue().group(2).startsWith("`")) {
                assertThat(parse(Map.of(key, preset.get(0)))).as(key).isEqualTo(defaults);
            }
            String range = row.getValue().group(3);
            if (range.contains(" to ")) {
                for (String end : code(range)) {
                    assertThat(parse(Map.of(key, end))).as(key).isNotNull();
                }
                for (String beyond : List.of("0", "100h", "100000000")) {
                    assertThatThrownBy(() -> parse(Map.of(key, beyond)))
                            .as(key + "=" + beyond)
                            .hasMessageContaining(code(range).get(0) + " to " + code(range).get(1));
                }
            }
        }
    }

    @Test
    void everyPageNamesTheVersionOfTheProject() throws Exception {
        Matcher version =
                Pattern.compile("<artifactId>saucr-zookeeper</artifactId>\\s*<version>(.*?)<")
                        .matcher(Files.readString(ROOT.resolve("pom.xml")));
        assertThat(version.find()).isTrue();
        List<Path> pages = new ArrayList<>(pages());
        pages.add(ROOT.resolve("jepsen/project.clj"));
        List<String> named = new ArrayList<>();
        for (Path page : pages) {
            NAMED_VERSION
                    .matcher(Files.readString(page))
                    .results()
                    .forEach(found -> named.add(found.group(1)));
        }
        assertThat(named).isNotEmpty().containsOnly(version.group(1));
    }

    @Test
    void theTableOfAcceptedVulnerabilitiesHasThoseOfTheList() throws Exception {
        Set<String> accepted = new TreeSet<>();
        new ObjectMapper()
                .readTree(ROOT.resolve("packaging/vulnerabilities.json").toFile())
                .get("accepted")
                .fieldNames()
                .forEachRemaining(accepted::add);
        Set<String> told = new TreeSet<>();
        ACCEPTED.matcher(Files.readString(ROOT.resolve("SECURITY.md")))
                .results()
                .forEach(row -> told.add(row.group(1)));
        assertThat(told).isEqualTo(accepted);
    }

    @Test
    void everySettingThatIsMentionedExists() throws Exception {
        Set<String> known = keysOfTheCode();
        List<Path> files = new ArrayList<>(pages());
        files.addAll(files(ROOT.resolve("conf"), ".cfg"));
        for (Path file : files) {
            for (MatchResult found : MENTIONED.matcher(Files.readString(file)).results().toList()) {
                if (!NO_SETTINGS.contains(found.group(1))) {
                    assertThat(known).as(file.toString()).contains("saucr." + found.group(1));
                }
            }
        }
    }

    static List<Path> configurations() throws IOException {
        return files(ROOT.resolve("conf"), ".cfg");
    }

    @ParameterizedTest
    @MethodSource("configurations")
    void theServerAcceptsEverySampleConfiguration(Path file) throws Exception {
        Path data = Files.createDirectories(folder.resolve("data"));
        Files.writeString(data.resolve("myid"), "1\n");
        String text =
                Files.readString(file)
                        .replaceAll("(?m)^dataDir=.*$", "dataDir=" + data)
                        .replaceAll("(?m)^dataLogDir=.*$", "dataLogDir=" + data)
                        // Nobody is asked for addresses of names that do not exist.
                        .replaceAll("zk(\\d)[\\w.]*\\.example", "127.0.0.$1");
        QuorumPeerConfig config = new QuorumPeerConfig();
        config.parse(Files.writeString(folder.resolve("zoo.cfg"), text).toString());
        SaucrSettings settings = SaucrSettings.parse("zoo.cfg", System.getProperties());
        var sample = SAMPLE.matcher(file.getFileName().toString());
        if (sample.matches()) {
            assertThat(settings.enabled()).isTrue();
            assertThat(config.getQuorumVerifier().getVotingMembers())
                    .hasSize(Integer.parseInt(sample.group(2)));
            assertThat(settings.tolerance().toMillis())
                    .isEqualTo(sample.group(1).equals("wan") ? 200 : 20);
        }
    }

    @Test
    void thereAreSamplesForThreeFiveAndSevenServers() throws Exception {
        assertThat(files(ROOT.resolve("conf/samples"), ".cfg"))
                .extracting(file -> file.getFileName().toString())
                .containsExactly(
                        "lan-3.cfg",
                        "lan-5.cfg",
                        "lan-7.cfg",
                        "wan-3.cfg",
                        "wan-5.cfg",
                        "wan-7.cfg");
    }

    @Test
    void everyLinkLeadsSomewhere() throws Exception {
        Path docs = ROOT.resolve("docs");
        String index = Files.readString(docs.resolve("index.md"));
        for (Path page : pages()) {
            for (MatchResult link : LINK.matcher(Files.readString(page)).results().toList()) {
                if (!link.group(1).contains("://")) {
                    String[] target = link.group(1).split("#", 2);
                    Path file = target[0].isEmpty() ? page : page.resolveSibling(target[0]);
                    assertThat(file.normalize()).as("%s in %s", link.group(1), page).exists();
                    if (target.length == 2) {
                        assertThat(anchors(file)).as(link.group(1)).contains(target[1]);
                    }
                }
            }
            if (page.startsWith(docs) && !page.endsWith("index.md")) {
                assertThat(index).contains("(" + docs.relativize(page) + ")");
            }
        }
    }

    /** A longer page has more than one purpose. A changelog grows with each release. */
    @Test
    void noPageIsLongerThan300Lines() throws Exception {
        for (Path page : pages()) {
            if (!page.endsWith("CHANGELOG.md")) {
                assertThat(Files.readAllLines(page))
                        .as(page.toString())
                        .hasSizeLessThanOrEqualTo(300);
            }
        }
    }

    @Test
    void everyClassThatInternalsNameExists() throws Exception {
        Map<String, String> types = typesOfTheProject();
        Set<String> ofZooKeeper = typesOfZooKeeper();
        List<String> unknown = new ArrayList<>();
        for (Path page : files(ROOT.resolve("docs/internals"), ".md")) {
            if (!TESTS_OF_OTHERS.contains(page.getFileName().toString())) {
                for (String named : namedClasses(Files.readString(page))) {
                    if (!exists(named, types, ofZooKeeper)) {
                        unknown.add(named + " in " + page.getFileName());
                    }
                }
            }
        }
        assertThat(unknown).isEmpty();
    }

    @Test
    void aClassThatDoesNotExistIsFound() throws Exception {
        String page =
                """
                `LogNobody` has `LogFlusher.stop()`, `-DxLogFoo=1` and `docs/LogPage.md`; LogText is prose.
                ```mermaid
                participant L as SaucrLeader, LeaderState
                Note over L: SyncThread
                ```
                ```java
                new LogExample();
                ```
                """;
        assertThat(namedClasses(page))
                .containsExactlyInAnyOrder(
                        "LogNobody", "LogFlusher.stop", "SaucrLeader", "LeaderState", "SyncThread");
        Map<String, String> types = Map.of("LogFlusher", "void stop() {}");
        Set<String> ofZooKeeper = typesOfZooKeeper();
        assertThat(exists("LogFlusher.stop", types, ofZooKeeper)).isTrue();
        assertThat(exists("LogFlusher.start", types, ofZooKeeper)).isFalse();
        assertThat(exists("LogNobody", types, ofZooKeeper)).isFalse();
        assertThat(exists("FileTxnSnapLog", types, ofZooKeeper)).isTrue();
        assertThat(exists("BinaryInputArchive", types, ofZooKeeper)).isTrue();
        assertThat(exists("SyncThread", types, ofZooKeeper)).isTrue();
        assertThat(typesOfTheProject()).containsKeys("LogFlusher", "ServiceCore");
    }

    /** In code font, or in a diagram: names of several words, with a member if one follows. */
    private static Set<String> namedClasses(String page) {
        StringBuilder code = new StringBuilder();
        DIAGRAM.matcher(page).results().forEach(found -> code.append(found.group(1)));
        String prose = FENCED.matcher(page).replaceAll("");
        CODE.matcher(prose).results().forEach(found -> code.append(found.group(1)).append('\n'));
        Set<String> named = new TreeSet<>();
        CLASS.matcher(code).results().forEach(found -> named.add(found.group()));
        return named;
    }

    private static boolean exists(String named, Map<String, String> types, Set<String> others) {
        String[] parts = named.split("\\.", 2);
        String source = types.get(parts[0]);
        if (source == null) {
            return others.contains(parts[0]) || THREADS.contains(parts[0]);
        }
        return parts.length == 1
                || Pattern.compile("\\b" + parts[1] + "\\b").matcher(source).find();
    }

    /** With the source that declares each. */
    private static Map<String, String> typesOfTheProject() throws IOException {
        Map<String, String> types = new TreeMap<>();
        Files.walkFileTree(
                ROOT,
                new SimpleFileVisitor<>() {
                    @Override
                    public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes a) {
                        String name = folder.getFileName().toString();
                        boolean sources = !name.startsWith(".") && !name.equals("target");
                        return sources || folder.equals(ROOT)
                                ? FileVisitResult.CONTINUE
                                : FileVisitResult.SKIP_SUBTREE;
                    }

                    @Override
                    public FileVisitResult visitFile(Path file, BasicFileAttributes a)
                            throws IOException {
                        if (file.toString().endsWith(".java")) {
                            String source = Files.readString(file);
                            DECLARED.matcher(source)
                                    .results()
                                    .forEach(
                                            each ->
                                                    types.merge(
                                                            each.group(1), source, String::concat));
                        }
                        return FileVisitResult.CONTINUE;
                    }
                });
        return types;
    }

    /**
     * Of its jar, which the build unpacks next to what it patches, and the one of jute that pages
     * name.
     */
    private static Set<String> typesOfZooKeeper() throws Exception {
        Path classes =
                Path.of(
                        QuorumPeer.class
                                .getProtectionDomain()
                                .getCodeSource()
                                .getLocation()
                                .toURI());
        Set<String> types = new TreeSet<>();
        types.add(BinaryInputArchive.class.getSimpleName());
        for (Path file : files(classes, ".class")) {
            String name = file.getFileName().toString().replace(".class", "");
            types.addAll(List.of(name.split("\\$")));
        }
        return types;
    }

    /** As the usual renderers make them of headings. */
    private static List<String> anchors(Path page) throws IOException {
        return Files.readAllLines(page).stream()
                .filter(line -> line.startsWith("#"))
                .map(line -> line.replaceAll("^#+ ", "").toLowerCase(Locale.ROOT))
                .map(line -> line.replaceAll("[^\\w -]", "").replace(' ', '-'))
                .toList();
    }
}
