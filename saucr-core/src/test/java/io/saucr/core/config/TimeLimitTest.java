package io.saucr.core.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TimeLimitTest {
    @ParameterizedTest
    @CsvSource({"500ms, 500", "5s, 5000", "5, 5000", "2m, 120000", "24h, 86400000"})
    void aNumberWithoutAUnitIsSeconds(String text, long millis) {
        assertThat(TimeLimit.parse(text)).isEqualTo(Duration.ofMillis(millis));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "x", "0", "0s", "-1s", "25h", "1.5s", "5 s", "99999999999s"})
    void othersAreRefused(String text) {
        assertThatThrownBy(() -> TimeLimit.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'" + text + "'");
    }
}
