package io.saucr.services.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * The figures that docs/services/porting.md gives for the paper's table 3: lines that differ
 * between a plain program and the same one as a service, without comments, imports and the package.
 */
class ChangedLinesTest {

    private static final Path PAGE = Path.of("../../docs/services/porting.md");
    private static final Path EXAMPLES = Path.of("src/main/java/io/saucr/services/examples");
    private static final Pattern COMMENT = Pattern.compile("(?s)/\\*.*?\\*/|//[^\n]*");
    private static final Pattern HEAD = Pattern.compile("(import|package) .*");

    private static List<String> lines(String file) throws IOException {
        return COMMENT.matcher(Files.readString(EXAMPLES.resolve(file)))
                .replaceAll("")
                .lines()
                .map(String::trim)
                .filter(line -> !line.isEmpty() && !HEAD.matcher(line).matches())
                .toList();
    }

    /** Lines that both have, in the same order: the longest such list. */
    private static int common(List<String> one, List<String> other) {
        int[][] longest = new int[one.size() + 1][other.size() + 1];
        for (int i = one.size() - 1; i >= 0; i--) {
            for (int j = other.size() - 1; j >= 0; j--) {
                longest[i][j] =
                        one.get(i).equals(other.get(j))
                                ? longest[i + 1][j + 1] + 1
                                : Math.max(longest[i + 1][j], longest[i][j + 1]);
            }
        }
        return longest[0][0];
    }

    private static String row(String what, String plain, String service) throws IOException {
        List<String> before = lines(plain);
        List<String> after = lines(service);
        int common = common(before, after);
        return String.format(
                "| %s | %d | %d | %d | %d |%n",
                what,
                before.size(),
                before.size() - common,
                after.size() - common,
                after.stream().filter(line -> line.startsWith("public record ")).count());
    }

    @Test
    void thePageGivesTheNumbersOfLines() throws Exception {
        assertThat(Files.readString(PAGE))
                .contains(
                        row(
                                "coordinator",
                                "mapreduce/PlainCoordinator.java",
                                "mapreduce/Coordinator.java"),
                        row("product", "product/PlainProduct.java", "product/Product.java"));
    }
}
