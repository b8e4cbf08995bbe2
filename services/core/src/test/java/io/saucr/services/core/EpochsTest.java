package io.saucr.services.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.Epochs.Begun;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class EpochsTest {

    /** Of epoch 3 nothing survived. */
    private final Epochs epochs =
            new Epochs(List.of(new Begun(1, 0), new Begun(2, 10), new Begun(4, 15)));

    @Test
    void whatAnEpochDidAboveTheNextOnesBeginningIsLost() {
        assertThat(epochs.lostFrom(new Mark(1, 10))).isEmpty();
        assertThat(epochs.lostFrom(new Mark(1, 11))).isEqualTo(OptionalLong.of(10));
        assertThat(epochs.lostFrom(new Mark(2, 15))).isEmpty();
        assertThat(epochs.lostFrom(new Mark(2, 16))).isEqualTo(OptionalLong.of(15));
        assertThat(epochs.lostFrom(new Mark(3, 16))).isEqualTo(OptionalLong.of(15));
    }

    @Test
    void ofTheEpochThatGoesOnNothingIsLostYet() {
        assertThat(epochs.isOver(3)).isTrue();
        assertThat(epochs.isOver(4)).isFalse();
        assertThat(epochs.lostFrom(new Mark(4, 1_000))).isEmpty();
        assertThat(Epochs.NONE.lostFrom(new Mark(1, 1))).isEmpty();
    }

    @Test
    void ofAnEpochBeforeAllThatAreKnownEverythingIsLost() {
        Epochs late = new Epochs(List.of(new Begun(7, 20), new Begun(8, 30)));
        assertThat(late.lostFrom(new Mark(6, 1))).isEqualTo(OptionalLong.of(0));
        assertThat(late.lostFrom(new Mark(7, 30))).isEmpty();
    }

    @Test
    void theNewestAreKept() {
        Epochs all = Epochs.NONE;
        for (long epoch = 1; epoch <= Epochs.MOST + 2; epoch++) {
            all = all.with(new Begun(epoch, epoch - 1));
        }
        assertThat(all.begun()).hasSize(Epochs.MOST);
        assertThat(all.newest()).isEqualTo(Epochs.MOST + 2);
        assertThat(all.lostFrom(new Mark(1, 1))).isEqualTo(OptionalLong.of(0));
    }

    @Test
    void anotherBirthBeginsAnew() {
        assertThat(epochs.with(new Begun(1, 20)).begun()).containsExactly(new Begun(1, 20));
    }

    @Test
    void whatCannotBeIsRefused() {
        assertThatThrownBy(() -> new Epochs(List.of(new Begun(0, 0))))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Epochs(List.of(new Begun(2, 3), new Begun(2, 4))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("rise");
        assertThatThrownBy(() -> new Epochs(List.of(new Begun(2, 3), new Begun(3, 2))))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
