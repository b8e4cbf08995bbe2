package io.saucr.services.turns;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.Birth;
import io.saucr.services.once.OnceRecords;
import io.saucr.services.once.OnceRecords.Accepted;
import io.saucr.services.once.OnceRecords.Decided;
import io.saucr.services.once.OnceRecords.Entry;
import io.saucr.services.once.OnceRecords.MarkerMade;
import io.saucr.services.once.OnceRecords.Withdrawn;
import io.saucr.services.once.Operation;
import io.saucr.services.state.Changes;
import io.saucr.services.state.StateStore;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** What a service's state says of its writes to the ensemble. */
class OnceNotesTest {

    private static final Birth BIRTH = new Birth(1, 2);

    private final StateStore state = new StateStore("s", 7, true);
    private final OnceNotes notes = state.reserve(OnceNotes::of);

    private static Accepted accepted(long number) {
        return new Accepted(
                number, "key-" + number, Operation.create("/n" + number, "data".getBytes(UTF_8)));
    }

    /** In a turn; those keys may be asked for again. */
    private Changes take(Birth birth, Set<String> asked, Entry... entries) {
        state.begin();
        notes.take(List.of(entries), birth, asked::contains);
        return state.seal();
    }

    private <T> T look(OnceNotes of, StateStore in, Function<OnceNotes, T> what) {
        in.beginQuery();
        T found = what.apply(of);
        in.rollback();
        return found;
    }

    private OnceRecords records(Birth birth) {
        return look(notes, state, it -> it.records(birth));
    }

    @Test
    void nothingIsKnownAtFirst() {
        OnceRecords records = records(BIRTH);
        assertThat(records.open).isEmpty();
        assertThat(records.markerMade).isFalse();
        assertThat(records.lastNumber).isZero();
        assertThat(records.highestDecided).isZero();
    }

    @Test
    void whatWasNotedComesBack() throws Exception {
        Set<String> asked = Set.of("key-1", "key-2", "key-3");
        StateStore elsewhere = new StateStore("s", 7, true);
        OnceNotes successor = elsewhere.reserve(OnceNotes::of);
        elsewhere.apply(take(BIRTH, asked, accepted(1), accepted(2), new MarkerMade()));
        elsewhere.apply(take(BIRTH, asked, accepted(3), new Decided(1, 0, "/n1-0000000001")));
        elsewhere.apply(take(BIRTH, asked, new Decided(2, -110, "")));

        OnceRecords records = look(successor, elsewhere, it -> it.records(BIRTH));

        assertThat(records.open).containsOnlyKeys(3L);
        assertThat(records.open.get(3L).key()).isEqualTo("key-3");
        assertThat(records.open.get(3L).operation()).hasToString("Create /n3");
        assertThat(records.remembered)
                .containsOnly(
                        Map.entry("key-1", new Decided(1, 0, "/n1-0000000001")),
                        Map.entry("key-2", new Decided(2, -110, "")));
        assertThat(records.markerMade).isTrue();
        assertThat(records.lastNumber).isEqualTo(3);
        assertThat(records.highestDecided).isEqualTo(2);
    }

    @Test
    void whatNobodyCanAskForIsForgottenOnceItIsDecided() {
        take(BIRTH, Set.of("key-2"), accepted(1), accepted(2), accepted(3));
        // Not decided, whoever asks.
        assertThat(look(notes, state, OnceNotes::size)).isEqualTo(3);
        take(BIRTH, Set.of("key-2"), new Decided(1, 0, ""), new Decided(2, 0, ""));
        assertThat(look(notes, state, OnceNotes::size)).isEqualTo(2);
        assertThat(records(BIRTH).remembered).containsOnlyKeys("key-2");
        take(BIRTH, Set.of(), new Decided(3, 0, ""));
        assertThat(look(notes, state, OnceNotes::size)).isZero();

        OnceRecords records = records(BIRTH);
        assertThat(records.open).isEmpty();
        assertThat(records.lastNumber).isEqualTo(3);
        assertThat(records.highestDecided).isEqualTo(3);
    }

    @Test
    void anotherBirthBeginsAnew() {
        take(BIRTH, Set.of(), accepted(1), accepted(2), new MarkerMade(), new Decided(1, 0, ""));
        Birth next = new Birth(3, 4);
        assertThat(records(next).open).isEmpty();
        assertThat(records(next).lastNumber).isZero();
        assertThat(records(next).markerMade).isFalse();
        take(next, Set.of(), accepted(1));
        assertThat(look(notes, state, OnceNotes::size)).isEqualTo(1);
        assertThat(records(next).open).containsOnlyKeys(1L);
        assertThat(records(BIRTH).open).isEmpty();
    }

    @Test
    void ephemeralsAreNoneOfAService() {
        state.begin();
        assertThatThrownBy(() -> notes.take(List.of(new Withdrawn("/e")), BIRTH, key -> false))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("declares no ephemerals");
        state.rollback();
    }
}
