package io.saucr.ensemble;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class TableTest {
    @Test
    void columnsAreAsWideAsTheirWidestCell() {
        assertThat(new Table("id", "role").row("1", "follower").row("12", "down"))
                .hasToString("id  role\n1   follower\n12  down");
    }

    @Test
    void numbersStandToTheRight() {
        assertThat(Table.ofNumbers("name", "value").row("a", "1").row("longer", "1000"))
                .hasToString("name    value\na           1\nlonger   1000");
    }

    @Test
    void aRowMustFitTheHeader() {
        assertThatThrownBy(() -> new Table("id").row("1", "2"))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
