package io.saucr.crash.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Stock servers on the root back end, where this machine allows it. */
class RootBackendTest {
    @TempDir Path work;

    private int run(String... scenarios) throws Exception {
        assumeTrue(Enclosure.obstacle().isEmpty(), () -> "not here: " + Enclosure.obstacle().get());
        List<String> arguments = new java.util.ArrayList<>(List.of(work.toString()));
        arguments.addAll(List.of(scenarios));
        return Enclosure.run(RootBackendProgram.class, List.of("-Xmx128m"), arguments);
    }

    @Test
    void whatWasForcedSurvivesThePowerCutOfAll() throws Exception {
        assertThat(run("powerCutOfAllForced")).isZero();
    }

    @Test
    void whatWasNotForcedIsGone() throws Exception {
        assertThat(run("powerCutOfAllUnforced")).isZero();
    }

    @Test
    void aPowerCutIsSilent() throws Exception {
        assertThat(run("silence")).isZero();
    }

    @Test
    void aPartitionSeparatesTheLeader() throws Exception {
        assertThat(run("partition")).isZero();
    }
}
