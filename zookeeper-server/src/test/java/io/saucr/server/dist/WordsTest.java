package io.saucr.server.dist;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Pages and output use the words of the field: fails where a word of the left column of the table
 * in {@code docs/internals/HACKING.md} comes back. Only words without a second meaning are looked
 * for, and only in prose: code, commands, output and link targets keep the names that they have.
 */
class WordsTest {
    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();

    /** What HACKING.md has as a table is no use of these words. */
    private static final String TABLE_OF_WORDS = "| not | but |";

    private static final Pattern CODE =
            Pattern.compile(
                    "^ *```.*?^ *```|^(?: {4}|\t)[^\n]*|`[^`]*`|]\\([^)\\s]*\\)|<!--.*?-->",
                    Pattern.MULTILINE | Pattern.DOTALL);

    /** A string in a source of Java, or a comment, in which there may be quotes. */
    private static final Pattern TEXT =
            Pattern.compile("(\"(?:\\\\.|[^\"\\\\\n])*\")|//[^\n]*|/\\*.*?\\*/", Pattern.DOTALL);

    private static final Pattern CODE_IN_COMMENT =
            Pattern.compile("\\{@(?:link|code|value)[^}]*}|@param \\S+|</?\\w+>");

    /** Modules whose output is looked at, too: help, errors, lines of the log, reports. */
    private static final List<String> MODULES_WITH_OUTPUT =
            List.of(
                    "saucr-core",
                    "saucr-model",
                    "zookeeper-server",
                    "operator-tool",
                    "local-ensemble",
                    "history",
                    "crash-framework",
                    "apache-tests",
                    "client-suites",
                    "ycsb-binding",
                    "benchmarks",
                    "services/core",
                    "services/once",
                    "services/runtime",
                    "services/http",
                    "services/tool",
                    "services/spring-boot-starter",
                    "services/testkit",
                    "services/port",
                    "services/examples");

    /**
     * Sources of a format on disk or in the ensemble, which keeps its keys "birth" and "forced".
     */
    private static final Set<String> FORMATS =
            Set.of("Head.java", "Identity.java", "MarkerContent.java", "StandbyHead.java");

    /** A word that is not used, and the one to use. */
    private static final Map<String, String> WORDS =
            new TreeMap<>(
                    Map.ofEntries(
                            Map.entry("presets?", "default"),
                            Map.entry("who(?:m)?ever", "name the client, server or operator"),
                            Map.entry(
                                    "forces|forced|forcing|(?:a|one|each|every|or|its|per|with|no|failed)"
                                            + " force",
                                    "fsync, synced"),
                            Map.entry("mend(?:s|ed|ing)?", "fix"),
                            Map.entry("by (?:itself|themselves)", "automatically, on its own"),
                            Map.entry("strangers?", "unknown peer"),
                            Map.entry("(?:in|into|the|takes?|taking|took|taken) office", "primary"),
                            Map.entry("put aside|parked", "dead-lettered"),
                            Map.entry("births?", "generation"),
                            Map.entry(
                                    "turn(?:s|ed|ing)? (?:the mode|to fast|to slow)"
                                            + "|turned (?:fast|slow)|mode (?:turns|turned)"
                                            + "|turns? of the mode",
                                    "switch"),
                            Map.entry(
                                    "(?:is|are|was|were|be|been) told",
                                    "is reported, gets, learns"),
                            Map.entry("(?:is|are|was|were) (?:gone|away)", "lost, unreachable"),
                            Map.entry("ends? (?:itself|themselves)", "exits, shuts down"),
                            Map.entry("(?:go|goes|went|going|serves?) on", "continues"),
                            Map.entry("beside", "alongside, next to, compared with"),
                            Map.entry("prompt", "responsive"),
                            Map.entry(
                                    "(?:give|gives|gave|given|giving) (?:an? |the )?orders?",
                                    "admin command"),
                            Map.entry("half takes? at most", "median"),
                            Map.entry("disks? (?:are )?as (?:it is|they are)", "no added delay")));

    private static List<Path> pages() throws IOException {
        return files(ROOT, ".md");
    }

    private static List<Path> files(Path root, String ending) throws IOException {
        List<Path> files = new ArrayList<>();
        Files.walkFileTree(
                root,
                new SimpleFileVisitor<>() {
                    @Override
                    public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes a) {
                        String name = folder.getFileName().toString();
                        boolean sources = !name.startsWith(".") && !name.equals("target");
                        return sources || folder.equals(root)
                                ? FileVisitResult.CONTINUE
                                : FileVisitResult.SKIP_SUBTREE;
                    }

                    @Override
                    public FileVisitResult visitFile(Path file, BasicFileAttributes a) {
                        if (file.toString().endsWith(ending)) {
                            files.add(file);
                        }
                        return FileVisitResult.CONTINUE;
                    }
                });
        return files;
    }

    /**
     * What a source of Java prints: its strings of several words, put together where they are
     * split.
     */
    private static String output(String source) {
        StringBuilder output = new StringBuilder();
        Matcher texts = TEXT.matcher(source.replaceAll("\"\\s*\\+\\s*\"", ""));
        while (texts.find()) {
            String text = texts.group(1);
            if (text != null && text.strip().contains(" ")) {
                output.append(text).append('\n');
            }
        }
        return output.toString();
    }

    /** The comments of a source of Java, without the code and the names of parameters in them. */
    private static String comments(String source) {
        StringBuilder comments = new StringBuilder();
        Matcher texts = TEXT.matcher(source);
        while (texts.find()) {
            if (texts.group(1) == null) {
                String text = texts.group().replaceAll("(?m)^ *(?:/\\*\\*|\\*/?|//) *", "");
                comments.append(CODE_IN_COMMENT.matcher(text).replaceAll("_")).append('\n');
            }
        }
        return comments.toString();
    }

    /** The text of the same length without what is no prose. */
    private static String prose(String page) {
        int table = page.indexOf(TABLE_OF_WORDS);
        return CODE.matcher(table < 0 ? page : page.substring(0, table))
                .replaceAll(code -> code.group().replaceAll("[^\n]", "_"));
    }

    private static List<String> found(String page) {
        List<String> found = new ArrayList<>();
        String prose = prose(page);
        WORDS.forEach(
                (word, instead) -> {
                    // A phrase may be wrapped to the next line.
                    Pattern pattern =
                            Pattern.compile("(?i)\\b(?:" + word.replace(" ", "\\s+") + ")\\b(?!-)");
                    for (MatchResult each : pattern.matcher(prose).results().toList()) {
                        long line =
                                1
                                        + prose.chars()
                                                .limit(each.start())
                                                .filter(c -> c == '\n')
                                                .count();
                        found.add("line %d: '%s', use: %s".formatted(line, each.group(), instead));
                    }
                });
        return found;
    }

    @Test
    void pagesUseTheWordsOfTheField() throws Exception {
        List<Path> pages = pages();
        assertThat(pages).contains(ROOT.resolve("README.md"), ROOT.resolve("docs/index.md"));
        Map<String, List<String>> wrong = new TreeMap<>();
        for (Path page : pages) {
            List<String> found = found(Files.readString(page));
            if (!found.isEmpty()) {
                wrong.put(ROOT.relativize(page).toString(), found);
            }
        }
        assertThat(wrong).isEmpty();
    }

    @Test
    void outputUsesTheWordsOfTheField() throws Exception {
        Map<String, List<String>> wrong = new TreeMap<>();
        for (String module : MODULES_WITH_OUTPUT) {
            List<Path> sources = files(ROOT.resolve(module).resolve("src/main/java"), ".java");
            assertThat(sources).as(module).isNotEmpty();
            for (Path source : sources) {
                String output = output(Files.readString(source));
                if (FORMATS.contains(source.getFileName().toString())) {
                    output = output.replaceAll("\\b(?:birth|forced)\\b", "_");
                }
                List<String> found = found(output);
                if (!found.isEmpty()) {
                    wrong.put(ROOT.relativize(source).toString(), found);
                }
            }
        }
        assertThat(wrong).isEmpty();
    }

    @Test
    void commentsOfTheCoreUseTheWordsOfTheField() throws Exception {
        Map<String, List<String>> wrong = new TreeMap<>();
        List<Path> sources = files(ROOT.resolve("saucr-core/src/main/java"), ".java");
        assertThat(sources).isNotEmpty();
        for (Path source : sources) {
            List<String> found = found(comments(Files.readString(source)));
            if (!found.isEmpty()) {
                wrong.put(ROOT.relativize(source).toString(), found);
            }
        }
        assertThat(wrong).isEmpty();
    }

    @Test
    void settingsAndAlertsUseTheWordsOfTheField() throws Exception {
        List<Path> files = new ArrayList<>(files(ROOT.resolve("conf"), ".cfg"));
        files.addAll(files(ROOT, ".yml"));
        assertThat(files)
                .contains(
                        ROOT.resolve("conf/zoo_sample.cfg"), ROOT.resolve("conf/saucr-alerts.yml"));
        Map<String, List<String>> wrong = new TreeMap<>();
        for (Path file : files) {
            // Indented lines are not code here.
            List<String> found = found(Files.readString(file).replaceAll("(?m)^[ \t]+", ""));
            if (!found.isEmpty()) {
                wrong.put(ROOT.relativize(file).toString(), found);
            }
        }
        assertThat(wrong).isEmpty();
    }

    @Test
    void commentsAreReadWithoutTheirCode() {
        String source =
                """
                /**
                 * Is forced, as {@link #forced} says.
                 *
                 * @param forced up to here it goes
                 *     on
                 */
                void forced(long forced); // "the preset"
                """;
        assertThat(found(comments(source)))
                .hasSize(3)
                .anyMatch(each -> each.contains("'forced'"))
                .anyMatch(each -> each.contains("goes\n"))
                .anyMatch(each -> each.contains("'preset'"));
    }

    @Test
    void outputIsWhatTheStringsSay() {
        String source =
                """
                // The log is "forced to the disk".
                String key = "preset";
                String two = "ends \\"by" + " itself\\" at last"
                        + ", it is mended";
                """;
        assertThat(found(output(source)))
                .hasSize(2)
                .anyMatch(each -> each.contains("'mended'"))
                .anyMatch(each -> each.contains("'by itself'"));
    }

    @Test
    void theTableOfWordsIsWhereItIsSaidToBe() throws Exception {
        assertThat(Files.readString(ROOT.resolve("docs/internals/HACKING.md")))
                .containsOnlyOnce(TABLE_OF_WORDS);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "The preset is 50 ms. | preset",
                "A disk that is mended. | mended",
                "The log is forced before it. | forced",
                "It costs a force for each turn. | a force",
                "The leader turns to slow mode. | turns to slow",
                "The standby takes office. | takes office",
                "A new birth of the folder. | birth",
                "The others go on. | go on",
            })
    void aWordThatIsNotUsedIsFound(String text, String word) {
        assertThat(found(text)).singleElement().asString().contains("'" + word + "'");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "`force()` of Java, `--force`, `saucr_log_forces` and `new-birth`",
                "'```\nthe mode turns, 3 were parked\n```'",
                "'    bin/saucr-bench fig7   # forces take 10 ms'",
                "[page](../forces/preset.md)",
                "by force of habit; order of writes; the turn of a service; he responds promptly",
                "a prompt-like word is none",
            })
    void codeAndOtherMeaningsAreNot(String text) {
        assertThat(found(text)).isEmpty();
    }
}
