package io.saucr.services.standby;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.core.Delta;
import io.saucr.services.state.Changes;
import java.util.List;
import org.junit.jupiter.api.Test;

/** When whoever cuts is told. */
class BatchesTest {

    private final Batches batches = new Batches(1_000);
    private long turn;

    private boolean add() {
        return batches.add(new Delta(++turn, 1, 0, List.of()), Changes.NONE);
    }

    private int take() {
        return batches.take().map(it -> it.deltas().size()).orElse(0);
    }

    @Test
    void theFirstTurnIsToldAndTheOthersComeWithIt() {
        assertThat(add()).isTrue();
        assertThat(add()).isFalse();
        assertThat(add()).isFalse();
        assertThat(take()).isEqualTo(3);
        assertThat(take()).isZero();
    }

    @Test
    void fewerThanAreUnderWayAreNotTold() {
        assertThat(batches.tellAt(3)).isFalse();
        assertThat(add()).isFalse();
        assertThat(add()).isFalse();
        assertThat(batches.isEnough()).isFalse();
        assertThat(add()).isTrue();
        assertThat(batches.isEnough()).isTrue();
        assertThat(add()).isFalse();
    }

    /** Of these nobody was told, so whoever wants fewer has to look. */
    @Test
    void whoWantsFewerHearsOfThoseThatAreThere() {
        assertThat(batches.tellAt(3)).isFalse();
        assertThat(add()).isFalse();
        assertThat(batches.tellAt(1)).isTrue();
        assertThat(take()).isEqualTo(1);
        assertThat(batches.tellAt(1)).isFalse();
        assertThat(add()).isTrue();
    }

    @Test
    void aWholeBatchIsToldHoweverFewTurnsItHas() {
        assertThat(batches.tellAt(100)).isFalse();
        assertThat(add()).isFalse();
        batches.end();
        assertThat(add()).isTrue();
        assertThat(batches.isEnough()).isTrue();
        assertThat(take()).isEqualTo(1);
        assertThat(batches.isEnough()).isFalse();
    }
}
