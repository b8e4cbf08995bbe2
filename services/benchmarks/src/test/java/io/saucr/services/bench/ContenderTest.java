package io.saucr.services.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Who is compared does what is compared: no turn of a lone pair without a force of its own. */
@Tag("slow")
class ContenderTest {

    /** What counts here is forces, not time. */
    private static final List<String> SHORT_LIVED = List.of("-XX:TieredStopAtLevel=1");

    @TempDir private Path parent;

    @ParameterizedTest
    @EnumSource(names = {"RAW_APPEND", "JOURNAL", "SERVICE", "BERKELEY_DB"})
    void everyTurnIsForced(Contender contender) throws Exception {
        forcesEveryTurn(contender);
    }

    /** The peers that take long to start, or must be fetched, are for runs of the command. */
    @Tag("long")
    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "POSTGRES_ARTEMIS", "PEKKO"})
    void everyTurnIsForcedOnPostgres(Contender contender) throws Exception {
        forcesEveryTurn(contender);
    }

    private void forcesEveryTurn(Contender contender) throws Exception {
        SliceProcess process =
                new SliceProcess(
                        parent, Duration.ofMillis(100), Duration.ofMillis(300), SHORT_LIVED);

        SliceProcess.Measured measured = process.run(contender, 1, 0);

        assertThat(measured.slice().turns()).isPositive();
        long least = contender == Contender.POSTGRES_ARTEMIS ? 2 : 1;
        assertThat(measured.forces()).isGreaterThanOrEqualTo(least * measured.slice().allTurns());
        assertThat(parent).isEmptyDirectory();
    }

    @Test
    void whoseForcesCannotBeDelayedTakesPartOnlyWithoutDelay() {
        assertThat(ServicesBench.takesPart(Contender.RESTATE, 0)).isTrue();
        assertThat(ServicesBench.takesPart(Contender.RESTATE, 1)).isFalse();
        assertThat(ServicesBench.takesPart(Contender.DBOS, 1)).isTrue();
    }

    @Test
    void namesAreThoseOfTheOptions() {
        assertThat(Contender.of("raw-append")).isEqualTo(Contender.RAW_APPEND);
        assertThatThrownBy(() -> Contender.of("mysql"))
                .hasMessageContaining("unknown contender 'mysql'; known are raw-append, journal, ");
    }
}
