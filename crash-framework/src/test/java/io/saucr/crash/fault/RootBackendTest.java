package io.saucr.crash.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.contentOf;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Stock servers on the root back end, where this machine allows it. */
@Tag("slow")
class RootBackendTest {
    @TempDir Path work;

    private void run(String... scenarios) throws Exception {
        assumeTrue(
                Backend.ROOT.obstacle().isEmpty(),
                () -> "not here: " + Backend.ROOT.obstacle().get());
        List<String> arguments = new java.util.ArrayList<>(List.of(work.toString()));
        arguments.addAll(List.of(scenarios));
        int status = Enclosure.run(RootBackendProgram.class, List.of("-Xmx128m"), arguments);
        Path failure = work.resolve(RootBackendProgram.FAILURE);
        assertThat(status)
                .withFailMessage(
                        () ->
                                Files.exists(failure)
                                        ? contentOf(failure.toFile())
                                        : "exit status " + status)
                .isZero();
    }

    @Test
    void whatWasForcedSurvivesThePowerCutOfAll() throws Exception {
        run("powerCutOfAllForced");
    }

    @Test
    void whatWasNotForcedIsGone() throws Exception {
        run("powerCutOfAllUnforced");
    }

    @Tag("long")
    @Test
    void aPowerCutIsSilent() throws Exception {
        run("silence");
    }

    @Tag("long")
    @Test
    void aPartitionSeparatesTheLeader() throws Exception {
        run("partition");
    }

    @Test
    void disksBecomeSlowFailAndFillUp() throws Exception {
        run("disks");
    }

    @Test
    void logsAndDisksAreLost() throws Exception {
        run("lostDisks");
    }
}
