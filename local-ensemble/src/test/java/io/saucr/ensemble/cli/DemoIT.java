package io.saucr.ensemble.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The demo on servers that have no modes; {@link SaucrCommandIT} runs it on those that have. */
class DemoIT extends StateFolder {
    // Of no other class here, and below those that the crash tester takes.
    private static final String BASE = "19200";

    @Test
    void theDemoAlsoRunsOnServersWithoutModes() {
        assertThat(saucr("up", "-n", "3", "--port-base", BASE, "-c", "saucr.enabled=false").err())
                .isEmpty();
        CommandRun demo = saucr("demo", "--phase", "3", "--clients", "1", "--in-flight", "2");
        assertThat(demo.exitCode()).as(demo.out()).isZero();
        assertThat(demo.out()).contains("do not report a mode", "--- all back ---");
    }
}
