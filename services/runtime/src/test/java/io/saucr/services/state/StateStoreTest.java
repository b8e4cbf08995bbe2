package io.saucr.services.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.ListState;
import io.saucr.services.MapState;
import io.saucr.services.ValueState;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;

/** What a turn sees, who may use a state when, and what is said where it is used otherwise. */
class StateStoreTest {

    private final StateStore store = new StateStore("bank", 7, false);
    private final MapState<String, Long> map = store.map("accounts", String.class, Long.class);
    private final ListState<String> list = store.list("waiting", String.class);
    private final ValueState<Integer> value = store.value("rate", Integer.class);

    @Test
    void aTurnSeesItsOwnChanges() {
        store.begin();
        assertThat(map.get("a")).isNull();
        assertThat(map.getOrDefault("a", 5L)).isEqualTo(5);
        map.put("a", 1L);
        assertThat(map.get("a")).isEqualTo(1);
        assertThat(map.putIfAbsent("a", 2L)).isEqualTo(1);
        assertThat(map.putIfAbsent("b", 2L)).isNull();
        assertThat(map.merge("b", 3L, Long::sum)).isEqualTo(5);
        assertThat(map.merge("c", 3L, Long::sum)).isEqualTo(3);
        assertThat(map.merge("c", 3L, (x, y) -> null)).isNull();
        assertThat(map.contains("c")).isFalse();
        assertThat(map.keys()).containsExactlyInAnyOrder("a", "b");
        assertThat(map.values()).containsExactlyInAnyOrder(1L, 5L);
        assertThat(map.remove("a")).isEqualTo(1);
        assertThat(map.remove("a")).isNull();
        assertThat(map.size()).isEqualTo(1);
        map.clear();
        assertThat(map.isEmpty()).isTrue();
        list.add("x");
        list.add("y");
        list.set(1, "z");
        assertThat(list).containsExactly("x", "z");
        assertThat(list.removeFirst()).isEqualTo("x");
        assertThat(list.get(0)).isEqualTo("z");
        assertThat(value.value()).isNull();
        assertThat(value.orElse(3)).isEqualTo(3);
        value.update(4);
        assertThat(value.value()).isEqualTo(4);
    }

    @Test
    void listsKnowTheirBounds() {
        store.begin();
        assertThatThrownBy(list::removeFirst)
                .isInstanceOf(NoSuchElementException.class)
                .hasMessage("list waiting is empty");
        list.add("x");
        assertThatThrownBy(() -> list.get(1)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> list.set(-1, "")).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void aTurnThatChangesNothingHasNoChanges() {
        store.begin();
        assertThat(map.get("a")).isNull();
        assertThat(map.remove("a")).isNull();
        Changes changes = store.seal();
        assertThat(changes.isEmpty()).isTrue();
        assertThat(changes.encode()).isEmpty();
    }

    @Test
    void clearingIsSmallWhateverTheSize() {
        store.begin();
        for (int count = 0; count < 1000; count++) {
            map.put("k" + count, 1L);
            list.add("v" + count);
        }
        store.seal();
        store.begin();
        map.clear();
        list.clear();
        map.put("new", 1L);
        list.add("new");
        assertThat(store.seal().encode().length).isLessThan(150);
    }

    @Test
    void whatWasPutTwiceIsWrittenOnce() {
        store.begin();
        map.put("a", 1L);
        map.put("a", 2L);
        list.add("x");
        list.removeFirst();
        Changes changes = store.seal();
        assertThat(changes.entries()).isEqualTo(1);
    }

    @Test
    void anIterationSeesTheMapAsItBegan() {
        store.begin();
        for (int count = 0; count < 100; count++) {
            map.put("k" + count, (long) count);
            list.add("v" + count);
        }
        int seen = 0;
        for (Map.Entry<String, Long> entry : map.entries()) {
            map.remove(entry.getKey());
            map.put("new" + entry.getKey(), 0L);
            seen++;
        }
        assertThat(seen).isEqualTo(100);
        assertThat(map.size()).isEqualTo(100);
        Iterator<String> values = list.iterator();
        list.clear();
        list.add("new");
        assertThat(values).toIterable().hasSize(100);
        assertThat(list).containsExactly("new");
    }

    @Test
    void anIterationEndsWithItsTurn() {
        store.begin();
        map.put("a", 1L);
        Iterator<String> keys = map.keys().iterator();
        store.seal();
        store.begin();
        assertThatIllegalStateException()
                .isThrownBy(keys::hasNext)
                .withMessageContaining("began in an earlier turn");
        assertThatIllegalStateException().isThrownBy(keys::next);
    }

    @Test
    void outsideOfTurnsNothingCanBeUsed() {
        assertThatIllegalStateException()
                .isThrownBy(() -> map.put("a", 1L))
                .withMessageContaining("map accounts of bank was used before the first turn");
        store.begin();
        Iterable<String> keys = map.keys();
        store.rollback();
        for (Runnable use :
                List.<Runnable>of(
                        () -> map.get("a"),
                        () -> map.put("a", 1L),
                        () -> map.remove("a"),
                        map::clear,
                        map::size,
                        map::keys,
                        () -> assertThat(keys.iterator()).isNull(),
                        () -> list.add(""),
                        list::clear,
                        () -> assertThat(list.iterator()).isNull(),
                        () -> list.get(0),
                        list::removeFirst,
                        value::value,
                        () -> value.update(1),
                        value::clear)) {
            assertThatIllegalStateException()
                    .isThrownBy(use::run)
                    .withMessageContaining("was used outside of a turn: use state in handlers");
        }
    }

    @Test
    void otherThreadsCannotUseIt() {
        store.begin();
        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(() -> CompletableFuture.runAsync(() -> map.get("a")).join())
                .withMessageContaining("map accounts of bank was used on thread")
                .withMessageContaining("send the service a message");
        assertThatExceptionOfType(CompletionException.class)
                .isThrownBy(() -> CompletableFuture.runAsync(store::seal).join())
                .withMessageContaining("there is none on this thread");
    }

    @Test
    void queriesChangeNothing() {
        store.begin();
        map.put("a", 1L);
        list.add("x");
        store.seal();
        store.beginQuery();
        assertThat(map.get("a")).isEqualTo(1);
        for (Runnable change :
                List.<Runnable>of(
                        () -> map.put("a", 2L),
                        () -> map.remove("a"),
                        () -> map.remove("none"),
                        map::clear,
                        () -> list.add("y"),
                        () -> list.set(0, "y"),
                        list::removeFirst,
                        list::clear,
                        () -> value.update(1),
                        value::clear)) {
            assertThatIllegalStateException()
                    .isThrownBy(change::run)
                    .withMessageContaining("cannot be changed in a query");
        }
        assertThat(list).containsExactly("x");
        store.rollback();
    }

    @Test
    void turnsDoNotOverlap() {
        assertThatIllegalStateException().isThrownBy(store::seal);
        store.begin();
        assertThatIllegalStateException().isThrownBy(store::begin);
        assertThatIllegalStateException().isThrownBy(store::snapshot);
        store.seal();
        assertThatIllegalStateException().isThrownBy(store::rollback);
        assertThatIllegalStateException().isThrownBy(() -> store.apply(Changes.NONE));
    }

    @Test
    void declaringIsOverOnceItIsUsed() throws IOException {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> store.list("accounts", String.class))
                .withMessageContaining("the name accounts was declared before");
        assertThatIllegalArgumentException().isThrownBy(() -> store.list("", String.class));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> store.list("x".repeat(201), String.class));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> store.list("\ud800", String.class))
                .withMessageContaining("halves of surrogate pairs");
        store.apply(Changes.NONE);
        assertThatIllegalStateException()
                .isThrownBy(() -> store.list("late", String.class))
                .withMessageContaining("declare all state in the service's constructor");
    }

    @Test
    @SuppressWarnings({"unchecked", "rawtypes"})
    void whatIsNotAllowedChangesNothing() {
        store.begin();
        map.put("a", 1L);
        Changes before = store.seal();
        store.begin();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> map.put("a", null))
                .withMessage("the value of map accounts at key a: null where Long is needed");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> map.put(null, 1L))
                .withMessage("the key of map accounts: null where String is needed");
        assertThatIllegalArgumentException().isThrownBy(() -> map.get(null));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ((MapState) map).put("a", 1))
                .withMessageContaining("java.lang.Integer where Long is declared");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> map.put("x".repeat(65_536), 1L))
                .withMessageContaining("at most 65,536 are allowed");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> list.add("x".repeat(16 << 20)))
                .withMessageContaining("the value of list waiting has 16,");
        assertThat(map.size()).isEqualTo(1);
        assertThat(list.isEmpty()).isTrue();
        assertThat(store.seal().isEmpty()).isTrue();
        assertThat(before.entries()).isEqualTo(1);
    }

    @Test
    void aTurnThatWouldBeTooLargeIsRefused() {
        store.begin();
        String large = "x".repeat((16 << 20) - 20_000);
        for (int count = 0; count < 4; count++) {
            list.add(large);
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> list.add(large))
                .withMessageContaining("do it in several turns");
        assertThat(list.size()).isEqualTo(4);
        store.rollback();
    }

    @Test
    void messagesAreTheSameInEveryCountry() {
        Locale before = Locale.getDefault();
        Locale.setDefault(Locale.GERMANY);
        try {
            store.begin();
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> map.put("x".repeat(65_536), 1L))
                    .withMessageContaining("at most 65,536 are allowed");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> list.add("x".repeat(16 << 20)))
                    .withMessageContaining("the value of list waiting has 16,");
        } finally {
            Locale.setDefault(before);
        }
        store.rollback();
    }

    @Test
    void keysThatAreRemovedCountToo() {
        String long64k = "x".repeat(65_000);
        for (int half = 0; half < 2; half++) {
            store.begin();
            for (int count = half * 600; count < half * 600 + 600; count++) {
                map.put(count + long64k, 1L);
            }
            store.seal();
        }
        store.begin();
        assertThatIllegalArgumentException()
                .isThrownBy(
                        () -> {
                            for (String key : map.keys()) {
                                map.remove(key);
                            }
                        })
                .withMessageContaining("do it in several turns");
        store.rollback();
        assertThat(store.snapshot().entries()).isEqualTo(1200);
    }

    /** Its equals is that of a text whose case does not count. */
    record Lax(String text) {
        @Override
        public boolean equals(Object other) {
            return other instanceof Lax lax && text.equalsIgnoreCase(lax.text);
        }

        @Override
        public int hashCode() {
            return 1;
        }
    }

    /** Its equals is that of an object. */
    record Strict(String text) {
        @Override
        public boolean equals(Object other) {
            return this == other;
        }

        @Override
        public int hashCode() {
            return System.identityHashCode(this);
        }
    }

    @Test
    void keysAreTheSameWhereTheirBytesAre() {
        StateStore names = new StateStore("names", 1, false);
        MapState<Lax, Integer> laxes = names.map("lax", Lax.class, Integer.class);
        MapState<Strict, Integer> stricts = names.map("strict", Strict.class, Integer.class);
        names.begin();
        laxes.put(new Lax("a"), 1);
        laxes.put(new Lax("A"), 2);
        assertThat(laxes.get(new Lax("a"))).isEqualTo(1);
        assertThat(laxes.size()).isEqualTo(2);
        stricts.put(new Strict("a"), 1);
        stricts.put(new Strict("a"), 2);
        assertThat(stricts.get(new Strict("a"))).isEqualTo(2);
        assertThat(stricts.size()).isEqualTo(1);
    }

    /** Copies what it is given into something that can be changed. */
    record Open(List<String> list) {
        Open {
            list = new ArrayList<>(list);
        }
    }

    private static StateStore opened(boolean checking) {
        return new StateStore("test", 1, checking);
    }

    @Test
    void valuesChangedInPlaceAreFoundWhereTheyAreChecked() {
        StateStore checking = opened(true);
        MapState<String, Open> opens = checking.map("opens", String.class, Open.class);
        checking.begin();
        opens.put("k", new Open(List.of("a")));
        checking.seal();

        checking.begin();
        opens.put("other", new Open(List.of()));
        opens.get("k").list().add("b");
        assertThatIllegalStateException()
                .isThrownBy(checking::seal)
                .withMessageContaining("a value of map opens, key k, was changed in place")
                .withMessageContaining("make a new value and store it");

        // The turn is undone, and the value is found again wherever it is seen.
        checking.beginQuery();
        assertThat(opens.contains("other")).isFalse();
        assertThat(StreamSupport.stream(opens.values().spliterator(), false).count()).isEqualTo(1);
        assertThatIllegalStateException().isThrownBy(checking::rollback);
        assertThatIllegalStateException()
                .isThrownBy(() -> checking.snapshot().writeTo(new Survivor()));
    }

    /** Also one that no turn has seen since (C12). */
    @Test
    void aValueThatNoTurnLooksAtIsFoundInTheWholeState() {
        for (boolean checked : new boolean[] {true, false}) {
            StateStore checking = opened(checked);
            MapState<String, Open> opens = checking.map("opens", String.class, Open.class);
            checking.begin();
            for (int i = 0; i < 100; i++) {
                opens.put("k" + i, new Open(List.of("a")));
            }
            Open leaked = opens.get("k42");
            checking.seal();
            checking.check();
            leaked.list().add("b");
            checking.begin();
            opens.put("k7", new Open(List.of("c")));
            checking.seal();
            if (checked) {
                assertThatIllegalStateException()
                        .isThrownBy(checking::check)
                        .withMessageContaining(
                                "a value of map opens, key k42, was changed in place");
            } else {
                checking.check();
            }
        }
    }

    @Test
    void aValueOfAListOrAloneIsCheckedToo() {
        StateStore checking = opened(true);
        ListState<Open> opens = checking.list("opens", Open.class);
        ValueState<Open> alone = checking.value("alone", Open.class);
        checking.begin();
        opens.add(new Open(List.of()));
        opens.get(0).list().add("x");
        assertThatIllegalStateException().isThrownBy(checking::seal);
        checking.begin();
        alone.update(new Open(List.of()));
        alone.value().list().add("x");
        assertThatIllegalStateException()
                .isThrownBy(checking::seal)
                .withMessageContaining("a value of value alone was changed in place");
    }

    @Test
    void aSnapshotIsWrittenWhileTurnsGoOn() throws IOException {
        store.begin();
        for (int count = 0; count < 20_000; count++) {
            map.put("k" + count, (long) count);
        }
        store.seal();
        StateSnapshot snapshot = store.snapshot();
        CompletableFuture<Survivor> written =
                CompletableFuture.supplyAsync(() -> Survivor.of(snapshot));
        Random random = new Random(3);
        do {
            store.begin();
            map.put("k" + random.nextInt(20_000), -1L);
            map.remove("k" + random.nextInt(20_000));
            store.seal();
        } while (!written.isDone());
        StateStore read = new StateStore("bank", 8, false);
        MapState<String, Long> again = read.map("accounts", String.class, Long.class);
        written.join().loadInto(read);
        read.begin();
        assertThat(again.size()).isEqualTo(20_000);
        for (int count = 0; count < 20_000; count++) {
            assertThat(again.get("k" + count)).isEqualTo(count);
        }
    }

    @Test
    void aCollectionThatIsNotDeclaredIsKeptUnlessItIsDropped() throws IOException {
        store.begin();
        map.put("a", 1L);
        list.add("x");
        Survivor base;
        Changes changes = store.seal();
        base = Survivor.of(store.snapshot());

        StateStore without = new StateStore("bank", 8, false);
        without.drop("waiting");
        without.apply(changes);
        Survivor next = Survivor.of(without.snapshot());
        StateStore loaded = new StateStore("bank", 9, false);
        loaded.drop("waiting");
        base.loadInto(loaded);
        assertThat(loaded.snapshot().entries()).isEqualTo(1);

        StateStore again = new StateStore("bank", 9, false);
        MapState<String, Long> accounts = again.map("accounts", String.class, Long.class);
        ListState<String> waiting = again.list("waiting", String.class);
        next.loadInto(again);
        again.begin();
        assertThat(accounts.get("a")).isEqualTo(1);
        assertThat(waiting.isEmpty()).isTrue();
    }

    /** One key in three releases. */
    private static final class Keys {

        private Keys() {}

        record First(String id) {}

        record Second(String id, Optional<String> part) {}

        record Third() {}
    }

    @Test
    void aKeyThatGrewIsRemovedUnderItsOlderBytesToo() throws IOException {
        StateStore first = new StateStore("s", 1, false);
        MapState<Keys.First, Integer> firsts = first.map("m", Keys.First.class, Integer.class);
        first.begin();
        firsts.put(new Keys.First("removed"), 1);
        firsts.put(new Keys.First("replaced"), 2);
        firsts.put(new Keys.First("kept"), 3);
        Changes changes = first.seal();

        StateStore second = new StateStore("s", 2, false);
        MapState<Keys.Second, Integer> seconds = second.map("m", Keys.Second.class, Integer.class);
        second.apply(changes);
        second.begin();
        assertThat(seconds.get(new Keys.Second("kept", Optional.empty()))).isEqualTo(3);
        assertThat(seconds.remove(new Keys.Second("removed", Optional.empty()))).isEqualTo(1);
        seconds.put(new Keys.Second("replaced", Optional.empty()), 4);
        Changes later = second.seal();

        for (boolean joined : new boolean[] {false, true}) {
            // A release that tells keys apart by their bytes alone.
            StateStore none = new StateStore("s", 3, false);
            if (joined) {
                none.apply(changes.then(later));
            } else {
                none.apply(changes);
                none.apply(later);
            }
            assertThat(none.snapshot().entries()).isEqualTo(2);
            StateStore last = new StateStore("s", 4, false);
            MapState<Keys.Second, Integer> lasts = last.map("m", Keys.Second.class, Integer.class);
            Survivor.of(none.snapshot()).loadInto(last);
            last.begin();
            assertThat(lasts.size()).isEqualTo(2);
            assertThat(lasts.get(new Keys.Second("replaced", Optional.empty()))).isEqualTo(4);
            assertThat(lasts.get(new Keys.Second("kept", Optional.empty()))).isEqualTo(3);
        }
    }

    @Test
    void keysThatBecameOneAreRefused() throws IOException {
        StateStore first = new StateStore("s", 1, false);
        MapState<Keys.First, Integer> firsts = first.map("m", Keys.First.class, Integer.class);
        first.begin();
        firsts.put(new Keys.First("a"), 1);
        firsts.put(new Keys.First("b"), 2);
        Changes changes = first.seal();
        StateStore third = new StateStore("s", 2, false);
        third.map("m", Keys.Third.class, Integer.class);
        assertThatExceptionOfType(UnreadableStateException.class)
                .isThrownBy(() -> third.apply(changes))
                .withMessageContaining("which an earlier release told apart");
        StateStore fourth = new StateStore("s", 2, false);
        fourth.map("m", Keys.Third.class, Integer.class);
        assertThatExceptionOfType(UnreadableStateException.class)
                .isThrownBy(() -> Survivor.of(first.snapshot()).loadInto(fourth))
                .withMessageContaining("which an earlier release told apart");
    }

    @Test
    void whatWasStoredOtherwiseIsRefused() throws IOException {
        store.begin();
        map.put("a", 1L);
        Changes changes = store.seal();
        StateStore other = new StateStore("bank", 1, false);
        other.list("accounts", Long.class);
        assertThatExceptionOfType(UnreadableStateException.class)
                .isThrownBy(() -> other.apply(changes))
                .withMessage(
                        "list accounts was stored as a map: declare it so, or use another name");
        StateStore texts = new StateStore("bank", 1, false);
        texts.map("accounts", String.class, String.class);
        assertThatExceptionOfType(UnreadableStateException.class)
                .isThrownBy(() -> Survivor.of(store.snapshot()).loadInto(texts))
                .withMessageContaining("the value of key a of map accounts cannot be read")
                .withMessageContaining("String is declared");
    }

    @Test
    void everyCutOfASectionIsRefused() throws IOException {
        store.begin();
        map.put("a", 1L);
        map.put("b", 2L);
        list.add("x");
        list.add("y");
        list.removeFirst();
        Changes changes = store.seal();
        Survivor base = Survivor.of(store.snapshot());
        for (String name : List.of("accounts", "waiting")) {
            byte[] section = base.bytes(name);
            for (int length = 0; length <= section.length + 1; length++) {
                if (length == section.length) {
                    continue;
                }
                byte[] cut = Arrays.copyOf(section, length);
                StateStore read = new StateStore("bank", 1, false);
                read.map("accounts", String.class, Long.class);
                read.list("waiting", String.class);
                assertThatExceptionOfType(UnreadableStateException.class)
                        .as("%s, %d bytes", name, length)
                        .isThrownBy(
                                () ->
                                        read.load(
                                                StateStore.SECTION_PREFIX + name,
                                                new ByteArrayInputStream(cut)));
            }
        }
        byte[] bytes = changes.encode();
        for (int length = 1; length < bytes.length; length++) {
            byte[] cut = Arrays.copyOf(bytes, length);
            assertThatExceptionOfType(UnreadableStateException.class)
                    .isThrownBy(() -> Changes.decode(cut));
        }
    }

    @Test
    void damagedChangesAreReadOrRefusedAndNothingElse() {
        store.begin();
        map.put("a", 1L);
        map.remove("b");
        list.add("x");
        value.update(5);
        byte[] bytes = store.seal().encode();
        Random random = new Random(9);
        for (int run = 0; run < 8_000; run++) {
            byte[] damaged = bytes.clone();
            damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
            StateStore read = new StateStore("bank", 1, false);
            read.map("accounts", String.class, Long.class);
            read.list("waiting", String.class);
            read.value("rate", Integer.class);
            try {
                read.apply(Changes.decode(damaged));
            } catch (UnreadableStateException e) {
                assertThat(e).hasMessageNotContaining("Exception");
            }
        }
    }

    @Test
    void aListWithAGapIsRefused() throws IOException {
        store.begin();
        list.add("x");
        Changes first = store.seal();
        store.begin();
        list.add("y");
        Changes second = store.seal();
        StateStore read = new StateStore("bank", 1, false);
        read.list("waiting", String.class);
        assertThatExceptionOfType(UnreadableStateException.class)
                .isThrownBy(() -> read.apply(second))
                .withMessageContaining("turns are missing or damaged");
        StateStore twice = new StateStore("bank", 1, false);
        twice.list("waiting", String.class);
        twice.apply(first.then(second));
        assertThatExceptionOfType(UnreadableStateException.class)
                .isThrownBy(() -> twice.apply(first));
    }

    @Test
    void turnsOutOfOrderAreRefused() throws IOException {
        List<Changes> turns = new ArrayList<>();
        for (int turn = 0; turn < 2; turn++) {
            store.begin();
            list.add("x");
            list.removeFirst();
            turns.add(store.seal());
        }
        StateStore read = new StateStore("bank", 1, false);
        read.list("waiting", String.class);
        read.apply(turns.get(1));
        assertThatExceptionOfType(UnreadableStateException.class)
                .isThrownBy(() -> read.apply(turns.get(0)))
                .withMessageContaining("list waiting ends up with the values 1 to 1 behind 2 to 2");
    }

    record Tags(List<String> tags) {}

    @Test
    void whatIsChangedAfterItWasStoredStaysAsItWas() {
        StateStore tagged = opened(true);
        MapState<Tags, Tags> map = tagged.map("tags", Tags.class, Tags.class);
        List<String> mine = new ArrayList<>(List.of("a"));
        tagged.begin();
        map.put(new Tags(mine), new Tags(mine));
        mine.add("b");
        assertThat(map.get(new Tags(List.of("a")))).isEqualTo(new Tags(List.of("a")));
        assertThatThrownBy(() -> map.keys().iterator().next().tags().add("c"))
                .isInstanceOf(UnsupportedOperationException.class);
        tagged.seal();
    }
}
