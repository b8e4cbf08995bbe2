package io.saucr.services.standby;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.MapState;
import io.saucr.services.core.Delta;
import io.saucr.services.state.Changes;
import io.saucr.services.state.StateStore;
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

    /** Of what is written again and again the newest stays, and fills no batch. */
    @Test
    void aValueThatIsOverwrittenTakesNoRoom() {
        StateStore store = new StateStore("bank", 0, false);
        MapState<String, String> map = store.map("values", String.class, String.class);
        for (int count = 0; count < 9; count++) {
            assertThat(put(store, map, "same")).isEqualTo(count == 0);
        }
        assertThat(batches.isFull()).isFalse();
        assertThat(batches.bytes()).isLessThan(1_000);
        assertThat(batches.take().orElseThrow().changes().entries()).isEqualTo(1);
        assertThat(batches.bytes()).isZero();

        for (int count = 0; !batches.isFull(); count++) {
            boolean unused = put(store, map, "key " + count);
        }
        assertThat(batches.take().orElseThrow().changes().entries()).isEqualTo(3);
    }

    private boolean put(StateStore store, MapState<String, String> map, String key) {
        store.begin();
        map.put(key, "x".repeat(300));
        return batches.add(new Delta(++turn, 1, 0, List.of()), store.seal());
    }
}
