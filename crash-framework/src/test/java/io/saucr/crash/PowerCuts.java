package io.saucr.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.crash.campaign.Campaign;
import io.saucr.ensemble.FsyncShim;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Power cuts of servers in fast mode while clients write: which of them the ensemble survives, and
 * that it says so where it does not, until an operator accepts the loss.
 */
abstract class PowerCuts {
    @TempDir static Path work;

    @RegisterExtension static final FailedRuns KEPT = new FailedRuns(() -> work);

    private static Path distribution;

    @BeforeAll
    static void unpack() throws Exception {
        assumeTrue(FsyncShim.available(), "no C compiler");
        distribution = UnpackedDistribution.shared();
    }

    static JsonNode correct(TestInfo test, String... arguments) throws Exception {
        JsonNode outcome = replay(test, arguments);
        assertThat(outcome.get("verdict").textValue()).isEqualTo("CORRECT");
        return outcome;
    }

    /** Whether writes were acknowledged while exactly these servers were alive. */
    static boolean acknowledgedBy(String alive, JsonNode outcome) {
        for (JsonNode event : outcome.get("events")) {
            if (event.get("kind").textValue().equals("acknowledged")
                    && event.get("servers").textValue().equals(alive)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Nothing is forced for its age, and no busy machine turns the ensemble slow: whoever loses
     * power lacks writes for certain.
     */
    static void refusedUntilTheLossIsAccepted(TestInfo test, String... arguments) throws Exception {
        String[] plan = {
            "--order",
            "simultaneous",
            "--set",
            "saucr.heartbeatInterval=2s",
            "--set",
            "saucr.fastModeConfirmations=1",
            "--set",
            "saucr.backgroundFlushInterval=1h",
            "--set",
            "saucr.idleFlush=1h"
        };
        JsonNode outcome = replay(test, with(plan, arguments));
        assertThat(outcome.get("verdict").textValue()).isEqualTo("TOO_FEW_RECOVERED");
        assertThat(outcome.get("reason").textValue()).contains("missing ");
        List<String> kinds = new ArrayList<>();
        outcome.get("events").forEach(event -> kinds.add(event.get("kind").textValue()));
        assertThat(kinds).endsWith("end", "accepted-loss", "serving");
    }

    private static JsonNode replay(TestInfo test, String... arguments) throws Exception {
        Path out = work.resolve(test.getTestMethod().orElseThrow().getName());
        String[] line = {"replay", "--system", "saucr", "--steady", "-o", out.toString()};
        String[] rest = {"--distribution", distribution.toString()};
        String said = CommandOutput.run(0, with(with(line, rest), arguments));
        List<String> outcomes = Files.readAllLines(out.resolve(Campaign.OUTCOMES));
        assertThat(outcomes).as(said).hasSize(1);
        return new ObjectMapper().readTree(outcomes.get(0));
    }

    private static String[] with(String[] first, String... second) {
        return Stream.concat(Stream.of(first), Stream.of(second)).toArray(String[]::new);
    }
}
