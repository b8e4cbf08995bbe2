package io.saucr.apache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class SubsetTest {
    @Test
    void everyClassStandsWithItsReason() {
        Subset subset = Subset.parse("# comment\n\na.B  elections\na.C sync, too\n");
        assertThat(subset.reasons())
                .containsEntry("a.B", "elections")
                .containsEntry("a.C", "sync, too")
                .hasSize(2);
        assertThat(subset.contains("a.C")).isTrue();
        assertThat(subset.contains("a.D")).isFalse();
    }

    @Test
    void aLineWithoutReasonOrAClassTwiceIsRefused() {
        assertThatThrownBy(() -> Subset.parse("a.B\n")).hasMessageContaining("a.B");
        assertThatThrownBy(() -> Subset.parse("a.B x\na.B y\n")).hasMessageContaining("a.B y");
        assertThatThrownBy(() -> Subset.named("none")).hasMessageContaining("none");
    }
}
