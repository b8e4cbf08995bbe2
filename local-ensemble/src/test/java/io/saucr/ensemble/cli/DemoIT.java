package io.saucr.ensemble.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The demo on servers that have no modes; {@link SaucrCommandIT} runs it on those that have. */
class DemoIT extends StateFolder {
    // Of no other class here, and below those that the crash tester takes.
    private static final String BASE = "19200";

    @Tag("long")
    @Test
    void theDemoAlsoRunsOnServersWithoutModesAndWithoutASlowerDisk() throws Exception {
        assertThat(saucr("up", "-n", "3", "--port-base", BASE, "-c", "saucr.enabled=false").err())
                .isEmpty();
        assertThat(ensemble().canDelayForces()).isTrue();
        assertThat(saucr("kill", "3").exitCode()).isZero();
        // In the way of what the next start needs, as a missing compiler would be.
        Path shim = state().resolve("servers/3/shim");
        Files.move(shim, shim.resolveSibling("shim-before"));
        Files.createFile(shim);
        assertThat(saucr("start", "3").exitCode()).isZero();
        assertThat(ensemble().canDelayForces()).isFalse();
        CommandRun demo = saucr("demo", "--phase", "1", "--clients", "1", "--in-flight", "2");
        assertThat(demo.exitCode()).as(demo.out()).isZero();
        assertThat(demo.out())
                .contains("do not report a mode", "No slower disk to compare with")
                .contains("--- 2 of 3 servers, no added delay, no mode ---")
                .doesNotContain("per fsync");
    }
}
