package io.saucr.bench.result;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class SpreadTest {
    @Test
    void medianQuartilesAndExtremes() {
        assertThat(Spread.of(5, 1, 4, 2, 3)).isEqualTo(new Spread(3, 2, 4, 1, 5));
        assertThat(Spread.of(1, 2, 3, 4)).isEqualTo(new Spread(2.5, 1.75, 3.25, 1, 4));
        assertThat(Spread.of(7)).isEqualTo(new Spread(7, 7, 7, 7, 7));
        assertThatThrownBy(() -> Spread.of()).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void numbersForPeopleHaveThreeDigits() {
        assertThat(Numbers.number(0)).isEqualTo("0");
        assertThat(Numbers.number(1234.5)).isEqualTo("1235");
        assertThat(Numbers.number(12.345)).isEqualTo("12.3");
        assertThat(Numbers.number(1.2345)).isEqualTo("1.23");
        assertThat(Numbers.number(0.12345)).isEqualTo("0.123");
        assertThat(Numbers.number(0.012345)).isEqualTo("0.0123");
    }
}
