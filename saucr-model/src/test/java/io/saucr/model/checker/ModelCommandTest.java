package io.saucr.model.checker;

import static io.saucr.model.cluster.StartingPoint.ACKED;
import static io.saucr.model.cluster.StartingPoint.COMMITTED;
import static io.saucr.model.cluster.StartingPoint.FAST;
import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.model.cluster.Bounds;
import io.saucr.model.cluster.ModelCluster;
import io.saucr.model.cluster.StartingPoint;
import io.saucr.model.cluster.Step;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import picocli.CommandLine;

class ModelCommandTest {
    private static final int USAGE = 2;

    @TempDir Path folder;

    private static String refused(String... arguments) {
        StringWriter said = new StringWriter();
        int status =
                new CommandLine(new ModelCommand())
                        .setErr(new PrintWriter(said))
                        .execute(arguments);
        assertThat(status).isEqualTo(USAGE);
        return said.toString();
    }

    /** As in the usage: the cluster first, then steps. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "world 3|elect 1 with 1,2|intact|line 3, 'intact': no such step: intact",
                "world 5|elect 1 with 1,2|crash 1|line 1, 'world 5': the search is of 3 servers",
                "world 3|elect 1 with 1,2|append 3|line 3, 'append 3': no server can do that here"
            })
    void aScenarioThatNoSearchCanBeginBehindIsRefusedWithItsLine(
            String first, String second, String third, String why) throws Exception {
        Path scenario = folder.resolve("scenario.txt");
        Files.writeString(scenario, String.join("\n", first, second, third));
        assertThat(refused("--from", scenario.toString()))
                .contains(scenario + ", " + why)
                .contains("allowed are");
    }

    @ParameterizedTest
    @EnumSource(StartingPoint.class)
    void aSearchBeginsAtEveryStartingPoint(StartingPoint from) {
        for (int servers : new int[] {3, 5}) {
            ModelCluster cluster = new ModelCluster(servers, Bounds.none(), Set.of());
            List<String> steps = from.steps(servers);
            assertThat(Scenario.steps(servers, Set.of(), steps)).isEqualTo(steps);
            steps.forEach(step -> cluster.apply(Step.parse(step)));
            boolean fast =
                    List.of(FAST, ACKED, COMMITTED).contains(from)
                            || (from == StartingPoint.SEALED && servers == 5);
            assertThat(from != StartingPoint.START && cluster.fastMode(0)).isEqualTo(fast);
        }
        int status =
                new CommandLine(new ModelCommand())
                        .execute("--from", from.name(), "--elections", "0", "--noops", "0");
        assertThat(status).isZero();
    }

    @Test
    void theUsageNamesEveryStartingPoint() {
        String usage = new CommandLine(new ModelCommand()).getUsageMessage();
        for (StartingPoint each : StartingPoint.values()) {
            assertThat(usage).containsPattern("\\n +" + each + " +[a-z]");
        }
    }

    @Test
    void whatIsNotThereOrOutOfRangeIsRefused() {
        Path missing = folder.resolve("missing");
        assertThat(refused("--from", missing.toString()))
                .contains("there is no file " + missing)
                .contains("SLOW_COMMITTED");
        assertThat(refused("--servers", "8")).contains("--servers is 8; allowed are 3 to 7");
    }
}
