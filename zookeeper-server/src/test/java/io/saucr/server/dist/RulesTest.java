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
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * {@code docs/internals/rules.md} and {@code rules-services.md} against the repository: every
 * number that is cited has a row, every row is cited somewhere else, each class and test that a row
 * names exists, and no text points to a document that is not here.
 *
 * <p>A number is cited where people write prose: in comments of code, scripts, configurations and
 * scenarios, and in pages. So a variable called L1 is none. In prose it is a letter of a family of
 * rules with one or two digits that stands alone: what is quoted or marked as code is none, nor is
 * a part of a longer word. Names cite as well: of tests (r12The...), scenario files (R12-...) and
 * broken rules (R12_...).
 */
class RulesTest {
    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final List<String> PAGES =
            List.of("docs/internals/rules.md", "docs/internals/rules-services.md");

    private static final String LETTERS = "[RHSLKECDPX]";

    private static final String NOT_BUILT = "not built yet";
    private static final Set<String> OUTPUT = Set.of("target", "node_modules");

    private static final Pattern ROW =
            Pattern.compile("^\\| (" + LETTERS + "\\d+a?) \\|(.*)\\|$", Pattern.MULTILINE);
    private static final Pattern MARKED = Pattern.compile("`([^`]+)`");

    private static final Pattern NUMBER =
            Pattern.compile(
                    "(?<![\\w.'\"`$-])(" + LETTERS + ")(\\d{1,2})(a?)(?![\\w'\"`]|[.-]\\w)");
    private static final Pattern RANGE =
            Pattern.compile("\\b(" + LETTERS + ")(\\d{1,2}) (?:to|\\.\\.\\.) \\1(\\d{1,2})\\b");
    private static final Pattern TEST = Pattern.compile("\\bvoid ([rhslkecdpx]\\d{1,2})(?=[A-Z])");
    private static final Pattern METHOD = Pattern.compile("^    void (\\w+)\\(");
    private static final Pattern KIND_OF_TEST =
            Pattern.compile(
                    "^    @(Test|ParameterizedTest|Property|Example)\\b", Pattern.MULTILINE);
    private static final String LONG = "@Tag(\"long\")";
    private static final Pattern CONSTANT =
            Pattern.compile("^ +([RHSL]\\d{1,2})_\\w+,?$", Pattern.MULTILINE);
    private static final Pattern FILE =
            Pattern.compile("/scenarios/[\\w-]+/([RHSL]\\d+)(?:-([RHSL]\\d+))?-");

    private static final Pattern JAVA_COMMENT =
            Pattern.compile(
                    "\"\"\"(?s:.*?)\"\"\"|\"(?:\\\\.|[^\"\\\\\n])*+\"|'(?:\\\\.|[^'\\\\\n])*+'"
                            + "|(/\\*(?s:.*?)\\*/|//[^\n]*)");
    private static final Pattern XML_COMMENT = Pattern.compile("(<!--(?s:.*?)-->)");
    private static final Pattern SCRIPT_COMMENT =
            Pattern.compile("(?:^|\\s)(#[^\n]*)", Pattern.MULTILINE);
    private static final Pattern INDENTED = Pattern.compile("^(?: {4}|\t).*$", Pattern.MULTILINE);

    private static final Pattern ELSEWHERE =
            Pattern.compile(
                    "(?i)\\b(?:the design(?:'s)?\\b(?! of)|design,? (?:page|section|document|notes?)\\b)"
                            + "|(?:\\.\\./)+(?:shared|papers)\\b");
    private static final Pattern NAMED_PAGE = Pattern.compile("[\\w./-]*[\\w-]\\.md\\b");

    private record Text(String path, String prose, String whole) {}

    private static List<Text> repository() throws IOException {
        List<Text> texts = new ArrayList<>();
        Files.walkFileTree(
                ROOT,
                new SimpleFileVisitor<>() {
                    @Override
                    public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes a) {
                        String name = folder.getFileName().toString();
                        boolean hidden = name.startsWith(".") && !name.equals(".ci");
                        return !folder.equals(ROOT) && (hidden || OUTPUT.contains(name))
                                ? FileVisitResult.SKIP_SUBTREE
                                : FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult visitFile(Path file, BasicFileAttributes a)
                            throws IOException {
                        String path = ROOT.relativize(file).toString();
                        if (kind(path) != Kind.OTHER) {
                            String whole = Files.readString(file);
                            texts.add(new Text(path, prose(path, whole), whole));
                        }
                        return FileVisitResult.CONTINUE;
                    }
                });
        return texts;
    }

    private enum Kind {
        CODE,
        XML,
        SCRIPT,
        PAGE,
        OTHER
    }

    private static Kind kind(String path) {
        String name = path.substring(path.lastIndexOf('/') + 1);
        String ending = name.contains(".") ? name.substring(name.lastIndexOf('.') + 1) : "";
        return switch (ending) {
            case "java", "c", "go" -> Kind.CODE;
            case "xml" -> Kind.XML;
            case "md" -> Kind.PAGE;
            case "sh", "py", "yml", "cfg", "service", "properties" -> Kind.SCRIPT;
            case "txt" -> path.contains("/src/") ? Kind.SCRIPT : Kind.OTHER;
            case "" -> path.matches("(.*/)?bin/[^/]+|\\.ci/run|saucr") ? Kind.SCRIPT : Kind.OTHER;
            default -> Kind.OTHER;
        };
    }

    /** What people wrote for people. */
    private static String prose(String path, String whole) {
        return switch (kind(path)) {
            case CODE -> comments(JAVA_COMMENT, whole);
            case XML -> comments(XML_COMMENT, whole);
            case SCRIPT -> comments(SCRIPT_COMMENT, whole);
            case PAGE -> INDENTED.matcher(whole).replaceAll("");
            case OTHER -> "";
        };
    }

    private static String comments(Pattern comment, String whole) {
        return comment.matcher(whole)
                .results()
                .map(found -> found.group(1))
                .filter(text -> text != null)
                .collect(Collectors.joining("\n"));
    }

    private static Set<String> cited(String prose) {
        Set<String> cited = new TreeSet<>();
        for (MatchResult found : NUMBER.matcher(prose).results().toList()) {
            cited.add(found.group(1) + found.group(2) + found.group(3));
        }
        for (MatchResult found : RANGE.matcher(prose).results().toList()) {
            int last = Integer.parseInt(found.group(3));
            for (int each = Integer.parseInt(found.group(2)); each <= last; each++) {
                cited.add(found.group(1) + each);
            }
        }
        return cited;
    }

    private static Set<String> citedByNames(String path, String whole) {
        Set<String> cited = new TreeSet<>();
        Matcher file = FILE.matcher(path);
        if (file.find()) {
            cited.add(file.group(1));
            if (file.group(2) != null) {
                cited.add(file.group(2));
            }
        }
        if (path.endsWith(".java") && path.contains("/src/test/")) {
            TEST.matcher(whole).results().forEach(found -> cited.add(upper(found.group(1))));
        }
        if (path.endsWith("/BrokenRule.java")) {
            CONSTANT.matcher(whole).results().forEach(found -> cited.add(found.group(1)));
        }
        return cited;
    }

    private static String upper(String number) {
        return Character.toUpperCase(number.charAt(0)) + number.substring(1);
    }

    /** What stands beside a number: the rule, who decides, who acts, what shows it. */
    private static Map<String, List<String>> rows(String page) {
        Map<String, List<String>> rows = new TreeMap<>();
        for (MatchResult row : ROW.matcher(page).results().toList()) {
            List<String> cells = List.of(row.group(2).trim().split(" *\\| *", -1));
            assertThat(cells).as(row.group(1)).hasSize(4).noneMatch(String::isBlank);
            assertThat(rows.put(row.group(1), cells)).as("two rows of " + row.group(1)).isNull();
        }
        return rows;
    }

    private static Map<String, List<String>> rows() throws IOException {
        StringBuilder pages = new StringBuilder();
        for (String page : PAGES) {
            pages.append(Files.readString(ROOT.resolve(page)));
        }
        return rows(pages.toString());
    }

    private static boolean exists(String named, List<Text> texts) {
        if (named.contains("/")) {
            return texts.stream()
                    .anyMatch(text -> text.path().endsWith("/scenarios/" + named + ".txt"));
        }
        String[] parts = named.split("\\.", 2);
        return texts.stream()
                .filter(text -> text.path().endsWith("/" + parts[0] + ".java"))
                .anyMatch(
                        text ->
                                parts.length == 1
                                        || Pattern.compile("\\b" + parts[1] + "\\b")
                                                .matcher(text.whole())
                                                .find());
    }

    private static boolean isInEachBuild(String named, List<Text> texts) {
        if (named.contains("/")) {
            return true; // a scenario
        }
        String[] parts = named.split("\\.", 2);
        return texts.stream()
                .filter(text -> text.path().endsWith("/" + parts[0] + ".java"))
                .flatMap(text -> quickTests(text.whole()).stream())
                .anyMatch(test -> parts.length == 1 || parts[1].equals(test));
    }

    /** The names of the tests in a class that have not the tag long. */
    private static List<String> quickTests(String whole) {
        List<String> quick = new ArrayList<>();
        String annotations = "";
        for (String line : whole.split("\n", -1)) {
            Matcher method = METHOD.matcher(line);
            if (line.equals(LONG)) {
                return List.of();
            } else if (line.isBlank()) {
                annotations = "";
            } else if (method.find()) {
                if (KIND_OF_TEST.matcher(annotations).find() && !annotations.contains(LONG)) {
                    quick.add(method.group(1));
                }
            } else {
                annotations += line + "\n";
            }
        }
        return quick;
    }

    private static List<String> pointersElsewhere(String prose, Set<String> pages) {
        List<String> found = new ArrayList<>();
        ELSEWHERE.matcher(prose).results().forEach(each -> found.add(each.group()));
        for (MatchResult each : NAMED_PAGE.matcher(prose).results().toList()) {
            String name = each.group().substring(each.group().lastIndexOf('/') + 1);
            if (!pages.contains(name) && !name.startsWith("*")) {
                found.add(each.group());
            }
        }
        return found;
    }

    // ---- The repository ----

    @Test
    void everyNumberThatIsCitedHasARow() throws Exception {
        Set<String> known = rows().keySet();
        for (Text text : repository()) {
            Set<String> cited = cited(text.prose());
            cited.addAll(citedByNames(text.path(), text.whole()));
            assertThat(known).as(text.path()).containsAll(cited);
        }
    }

    @Test
    void everyRuleThatIsBuiltIsCitedOutsideItsRow() throws Exception {
        Set<String> cited = new TreeSet<>();
        for (Text text : repository()) {
            if (!PAGES.contains(text.path())) {
                cited.addAll(cited(text.prose()));
                cited.addAll(citedByNames(text.path(), text.whole()));
            }
        }
        rows().forEach(
                        (number, cells) -> {
                            if (!cells.get(1).equals(NOT_BUILT)) {
                                assertThat(cited).contains(number);
                            }
                        });
    }

    @Test
    void everyNumberUpToTheLastOneHasARow() throws Exception {
        Set<String> known = rows().keySet();
        for (String last :
                List.of("R28", "H17", "S5", "L2", "K17", "E10", "C17", "D18", "P5", "X19")) {
            for (int i = 1; i <= Integer.parseInt(last.substring(1)); i++) {
                assertThat(known).contains(last.substring(0, 1) + i);
            }
        }
    }

    @Test
    void whateverARowNamesExists() throws Exception {
        List<Text> texts = repository();
        rows().forEach(
                        (number, cells) -> {
                            for (String cell : cells.subList(1, 4)) {
                                for (MatchResult named : MARKED.matcher(cell).results().toList()) {
                                    assertThat(exists(named.group(1), texts))
                                            .as(number + " names " + named.group(1))
                                            .isTrue();
                                }
                            }
                            if (!cells.get(1).equals(NOT_BUILT)) {
                                assertThat(cells.get(3)).as(number + " is shown by").contains("`");
                            }
                        });
    }

    /** What {@code ./saucr test --all} alone runs adds to it. */
    @Test
    void everyRuleThatIsBuiltIsShownInEachBuild() throws Exception {
        List<Text> texts = repository();
        rows().forEach(
                        (number, cells) -> {
                            if (!cells.get(1).equals(NOT_BUILT)) {
                                assertThat(MARKED.matcher(cells.get(3)).results())
                                        .as("%s is shown without the tag long", number)
                                        .anyMatch(named -> isInEachBuild(named.group(1), texts));
                            }
                        });
    }

    @Test
    void nothingPointsToADocumentThatIsNotHere() throws Exception {
        List<Text> texts = repository();
        Set<String> pages =
                texts.stream()
                        .map(Text::path)
                        .filter(path -> path.endsWith(".md"))
                        .map(path -> path.substring(path.lastIndexOf('/') + 1))
                        .collect(Collectors.toCollection(TreeSet::new));
        for (Text text : texts) {
            if (!text.path().endsWith("/RulesTest.java")) {
                assertThat(pointersElsewhere(text.prose(), pages)).as(text.path()).isEmpty();
            }
        }
    }

    // ---- What counts as a citation ----

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "A.java | // why (R4, H6). | H6 R4",
                "A.java | /** R15 to R17 of it */ | R15 R16 R17",
                "A.java | /* R18a */ | R18a",
                "A.java | int R4 = L1; | ''",
                "A.java | call(\"// R4\"); // S1 | S1",
                "A.java | /** {@code x-R4} and R44x, T1.R4, R4.md */ | ''",
                "A.java | /** the server \"S4\" */ | ''",
                "A.md | R1 ... R3 and `H5` | R1 R2 R3",
                "m/src/a.txt | # R7: why | R7",
                "m/src/a.txt | propose R7 | ''",
                "a.xml | <!-- H7 --><H8/> | H7",
                "bin/a | x=R1 # H2 | H2",
            })
    void aNumberIsCitedInProseAlone(String path, String whole, String expected) {
        assertThat(String.join(" ", cited(prose(path, whole)))).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "m/src/test/java/A.java | void r4Commits() {} | R4",
                "m/src/main/java/A.java | void r4Commits() {} | ''",
                "m/src/test/resources/scenarios/x/R3-R4-why.txt | '' | R3 R4",
                "m/src/main/java/BrokenRule.java | '    R2_REJOINED,' | R2",
            })
    void namesCite(String path, String whole, String expected) {
        assertThat(String.join(" ", citedByNames(path, whole))).isEqualTo(expected);
    }

    @Test
    void whatIsMissingIsFound() {
        List<Text> texts =
                List.of(
                        new Text("m/src/main/java/Known.java", "", "void decides() {}"),
                        new Text("m/src/test/resources/scenarios/log/R1-it.txt", "", ""));
        assertThat(exists("Known", texts)).isTrue();
        assertThat(exists("Known.decides", texts)).isTrue();
        assertThat(exists("log/R1-it", texts)).isTrue();
        assertThat(exists("Known.acts", texts)).isFalse();
        assertThat(exists("Unknown", texts)).isFalse();
        assertThat(exists("log/R2-it", texts)).isFalse();
    }

    @Test
    void testsOfEachBuildAreThoseWithoutTheTagLong() {
        String tests =
                """
                class AnIT {
                    @BeforeEach
                    void configure() {}

                    /** Why. */
                    @Test
                    void quick() {
                        call();
                    }

                    @Tag("long")
                    @ParameterizedTest
                    @CsvSource({"1", "2"})
                    void slow(int number) {}

                    @ParameterizedTest
                    @CsvSource({"1", "2"})
                    void other(int number) {}
                }
                """;
        assertThat(quickTests(tests)).containsExactly("quick", "other");
        assertThat(quickTests("@Tag(\"long\")\n" + tests)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "as the design calls it | the design",
                "the design's section 7 | the design's",
                "R (design, section 3) | 'design, section'",
                "see ../shared/x | ../shared",
                "rules of pipeline.md | pipeline.md",
                "docs/internals/rules.md and section 3.5 of the paper | ''",
            })
    void aPointerToADocumentElsewhereIsFound(String prose, String expected) {
        assertThat(String.join(" ", pointersElsewhere(prose, Set.of("rules.md"))))
                .isEqualTo(expected);
    }
}
