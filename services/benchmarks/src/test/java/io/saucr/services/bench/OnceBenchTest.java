package io.saucr.services.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command that compares ways to write to ZooKeeper. */
class OnceBenchTest extends CommandRun {

    @TempDir private Path work;

    @Test
    void everyContenderWritesToARealServer() {
        int code =
                run(
                        "once",
                        "--rounds",
                        "1",
                        "--seconds",
                        "0.1",
                        "--warm-up",
                        "0",
                        "--work",
                        work.toString());

        assertThat(code).as(errors.toString()).isZero();
        for (OnceContender contender : OnceContender.values()) {
            assertThat(out.toString()).contains(contender + ": " + contender.description());
        }
        assertThat(out.toString()).contains("/ plain");
        assertThat(work).isEmptyDirectory();
    }

    @Test
    void wrongOptionsAreRefused() {
        assertThat(run("once", "--rounds", "0")).isEqualTo(2);
        assertThat(run("once", "--under-way", "0")).isEqualTo(2);
        assertThat(run("once", "--bytes", "-1")).isEqualTo(2);
        assertThat(errors.toString())
                .contains(
                        "allowed: one round or more",
                        "--under-way: allowed are 1 to 10000, not 0",
                        "--bytes: allowed are 0 to 100000, not -1");
    }
}
