package io.saucr.services.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.services.bench.Rounds.Measurement;
import io.saucr.services.bench.RoundsReport.Figure;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Applications side by side: their order, and what a report says of them. */
class RoundsTest {

    private final ByteArrayOutputStream progress = new ByteArrayOutputStream();

    private List<Measurement> measured() throws Exception {
        Map<String, Rounds.Trial> trials = new LinkedHashMap<>();
        trials.put("slow", round -> Map.of("seconds", 4.0 * (round + 1)));
        trials.put("fast", round -> Map.of("seconds", 2.0 * (round + 1), "wrong", 1.0));
        return new Rounds(new PrintStream(progress, true, StandardCharsets.UTF_8)).run(trials, 2);
    }

    @Test
    void theOrderMovesOnAndEachRunIsTold() throws Exception {
        assertThat(measured())
                .extracting(it -> it.contender() + it.round())
                .containsExactly("slow0", "fast0", "fast1", "slow1");
        assertThat(progress.toString(StandardCharsets.UTF_8))
                .contains("1 of 4: round 1, slow: seconds 4", "4 of 4: round 2, slow: seconds 8");
    }

    @Test
    void aReportHasFiguresRatiosAndWhatIsMissing(@TempDir Path folder) throws Exception {
        Map<String, String> contenders = new LinkedHashMap<>();
        contenders.put("fast", "one");
        contenders.put("slow", "another");
        RoundsReport report =
                new RoundsReport(
                        "A race",
                        contenders,
                        List.of(new Figure("seconds", true), new Figure("wrong", false)),
                        measured());

        report.write(folder);

        assertThat(folder.resolve("table.txt"))
                .content()
                .contains("fast: one", "contender / fast", "Medians [quartiles] over 2 rounds.")
                .containsPattern("seconds +3.00 \\[2.50, 3.50] +6.00 \\[5.00, 7.00]")
                .containsPattern("wrong +1.00 \\[1.00, 1.00] +-")
                .containsPattern("slow +seconds +2.00 +\\[2.00, 2.00]");
        assertThat(folder.resolve("report.html"))
                .content()
                .contains("<title>A race</title>", "<h2>seconds</h2>", "</html>")
                .doesNotContain("<h2>wrong</h2>");
        JsonNode result = new ObjectMapper().readTree(folder.resolve("result.json").toFile());
        assertThat(result.get("measurements")).hasSize(4);
    }
}
