package io.saucr.services.examples.memcached;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The commands of the examples' README files do what the files say. */
class ExampleCommandsIT extends ReadmeCommands {

    private static final Path EXAMPLES =
            SERVICES.resolve("examples/src/main/java/io/saucr/services/examples");

    /** With a tenth of the work. */
    private static String smaller(String commands, String number) {
        assertThat(commands).contains(" " + number);
        return commands.replace(" " + number, " " + number.substring(0, number.length() - 1));
    }

    @Test
    void countersCount() throws Exception {
        String told = run(smaller(commands(EXAMPLES.resolve("counters/README.md")), "10000"));
        assertThat(told).containsPattern("(?m)^2 pairs counted up to 1[,.]?000 in ");
    }

    @Tag("long")
    @Test
    void theSetIsThatOfOneThread() throws Exception {
        String told =
                run(smaller(commands(EXAMPLES.resolve("independentset/README.md")), "200000"));
        assertThat(told).contains("One thread finds the same.");
    }

    @Test
    void theTableFindsWhatWasPutBeforeAllWereKilled() throws Exception {
        String commands = commands(EXAMPLES.resolve("dht/README.md"));
        List<String> serving =
                commands.lines().filter(line -> line.startsWith("$run serve ")).toList();
        Matcher killed =
                Pattern.compile("(?m)^kill -9 .* then start both again.*\n").matcher(commands);
        String again = String.join("\n", serving) + "\n";
        String told = run(killed.replaceFirst(it -> Matcher.quoteReplacement(it.group() + again)));
        assertThat(told.lines())
                .hasSize(2)
                .allMatch(line -> line.contains("red") && line.startsWith("Found["));
    }

    @Test
    void wordsAreCounted() throws Exception {
        String told = run(commands(EXAMPLES.resolve("mapreduce/README.md")));
        assertThat(told).contains("two did ").containsPattern("(?m)^[0-9]+ words$");
    }

    @Test
    void theProductIsThatOfThePlainProgram() throws Exception {
        String told = run(smaller(commands(EXAMPLES.resolve("product/README.md")), "300"));
        List<String> sums = told.lines().toList();
        assertThat(sums).hasSize(2);
        assertThat(sums.get(0)).isEqualTo(sums.get(1));
    }
}
