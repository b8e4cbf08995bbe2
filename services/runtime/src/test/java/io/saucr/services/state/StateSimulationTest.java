package io.saucr.services.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.ListState;
import io.saucr.services.MapState;
import io.saucr.services.ValueState;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random lives of a state beside plain collections: turns that are sealed or undone, snapshots that
 * are written long after they were taken, and starts from a base and the turns above it, joined in
 * any grouping, by releases that declare all or some of it.
 */
class StateSimulationTest {

    record Key(int number, String text) {}

    record Item(int number, List<Integer> parts) {}

    /** What a service knows. */
    private record Model(Map<Key, Item> map, List<Item> list, AtomicReference<Item> value) {

        Model() {
            this(new HashMap<>(), new ArrayList<>(), new AtomicReference<>());
        }

        Model copy() {
            return new Model(
                    new HashMap<>(map), new ArrayList<>(list), new AtomicReference<>(value.get()));
        }
    }

    private static final class Life {

        final StateStore store;
        final MapState<Key, Item> map;
        final ListState<Item> list;
        final ValueState<Item> value;

        Life(Random random, boolean declaring) {
            store = new StateStore("test", random.nextLong(), random.nextBoolean());
            map = declaring ? store.map("map", Key.class, Item.class) : null;
            list = declaring ? store.list("list", Item.class) : null;
            value = declaring ? store.value("value", Item.class) : null;
        }

        void act(Random random, Model model) {
            Item item = new Item(random.nextInt(), List.of(random.nextInt(9)));
            Key key = new Key(random.nextInt(12), "k");
            switch (random.nextInt(14)) {
                case 0, 1, 2 -> {
                    map.put(key, item);
                    model.map().put(key, item);
                }
                case 3, 4 -> assertThat(map.remove(key)).isEqualTo(model.map().remove(key));
                case 5, 6, 7 -> {
                    list.add(item);
                    model.list().add(item);
                }
                case 8, 9 -> {
                    if (!list.isEmpty()) {
                        assertThat(list.removeFirst()).isEqualTo(model.list().remove(0));
                    }
                }
                case 10 -> {
                    if (!list.isEmpty()) {
                        int index = random.nextInt(list.size());
                        list.set(index, item);
                        model.list().set(index, item);
                    }
                }
                case 11, 12 -> {
                    boolean clear = random.nextBoolean();
                    if (clear) {
                        value.clear();
                    } else {
                        value.update(item);
                    }
                    model.value().set(clear ? null : item);
                }
                default -> {
                    if (random.nextInt(4) == 0) {
                        map.clear();
                        model.map().clear();
                    } else if (random.nextInt(4) == 0) {
                        list.clear();
                        model.list().clear();
                    }
                }
            }
        }

        void equalTo(Model model) {
            Map<Key, Item> seen = new HashMap<>();
            map.entries().forEach(entry -> seen.put(entry.getKey(), entry.getValue()));
            assertThat(seen).isEqualTo(model.map());
            assertThat(map.size()).isEqualTo(model.map().size());
            for (int number = 0; number < 12; number++) {
                Key key = new Key(number, "k");
                assertThat(map.get(key)).isEqualTo(model.map().get(key));
                assertThat(map.contains(key)).isEqualTo(model.map().containsKey(key));
            }
            assertThat(list).containsExactlyElementsOf(model.list());
            assertThat(list.size()).isEqualTo(model.list().size());
            for (int index = 0; index < model.list().size(); index++) {
                assertThat(list.get(index)).isEqualTo(model.list().get(index));
            }
            assertThat(value.value()).isEqualTo(model.value().get());
        }
    }

    private record Taken(StateSnapshot snapshot, Model model) {}

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void survivesWhateverHappens(long seed) throws IOException {
        Random random = new Random(seed);
        Model model = new Model();
        Life life = new Life(random, true);
        Survivor base = new Survivor();
        List<byte[]> above = new ArrayList<>();
        List<Taken> taken = new ArrayList<>();
        for (int turn = 0; turn < 400; turn++) {
            Model after = model.copy();
            life.store.begin();
            life.equalTo(after);
            for (int count = random.nextInt(12); count > 0; count--) {
                life.act(random, after);
            }
            life.equalTo(after);
            if (random.nextInt(4) == 0) {
                life.store.rollback();
            } else {
                above.add(life.store.seal().encode());
                model = after;
            }
            life.store.beginQuery();
            life.equalTo(model);
            life.store.rollback();
            if (random.nextInt(10) == 0) {
                taken.add(new Taken(life.store.snapshot(), model.copy()));
            }
            if (random.nextInt(30) == 0) {
                base = Survivor.of(life.store.snapshot());
                above.clear();
            }
            if (random.nextInt(20) == 0) {
                boolean declaring = random.nextBoolean();
                life = recovered(random, declaring, base, above);
                if (!declaring) {
                    // A release that declares nothing folds, and then comes one that does.
                    base = Survivor.of(life.store.snapshot());
                    above.clear();
                    life = recovered(random, true, base, above);
                }
            }
        }
        for (Taken one : taken) {
            Life read = recovered(random, true, Survivor.of(one.snapshot()), List.of());
            read.store.begin();
            read.equalTo(one.model());
        }
    }

    private static Life recovered(
            Random random, boolean declaring, Survivor base, List<byte[]> above)
            throws IOException {
        Life life = new Life(random, declaring);
        base.loadInto(life.store);
        List<Changes> changes = new ArrayList<>();
        for (byte[] bytes : above) {
            changes.add(Changes.decode(bytes));
        }
        while (changes.size() > 1 && random.nextInt(10) > 0) {
            int index = random.nextInt(changes.size() - 1);
            Changes joined = changes.get(index).then(changes.remove(index + 1));
            changes.set(index, Changes.decode(joined.encode()));
        }
        for (Changes one : changes) {
            life.store.apply(one);
        }
        return life;
    }

    @ParameterizedTest
    @ValueSource(longs = {11, 12, 13, 14})
    void changesJoinInAnyGrouping(long seed) throws IOException {
        Random random = new Random(seed);
        for (int run = 0; run < 100; run++) {
            Life life = new Life(random, true);
            List<Changes> changes = new ArrayList<>();
            for (int turn = 0; turn < 6; turn++) {
                life.store.begin();
                Model ignored = new Model();
                for (int count = random.nextInt(8); count > 0; count--) {
                    actAlone(life, random, ignored);
                }
                changes.add(life.store.seal());
            }
            Changes left = Changes.NONE;
            for (Changes one : changes) {
                left = left.then(one);
            }
            Changes right = Changes.NONE;
            for (int index = changes.size() - 1; index >= 0; index--) {
                right = changes.get(index).then(right);
            }
            assertThat(right.encode()).isEqualTo(left.encode());
            assertThat(Changes.join(changes).encode()).isEqualTo(left.encode());
            Changes.Joiner joiner = new Changes.Joiner();
            long held = 0;
            for (Changes one : changes) {
                held += joiner.add(one);
            }
            // What a list let go from its front is held until it is joined.
            assertThat(held).isGreaterThanOrEqualTo(left.bytes());
            assertThat(Changes.decode(left.encode()).encode()).isEqualTo(left.encode());
        }
    }

    private static void actAlone(Life life, Random random, Model ignored) {
        ignored.map().clear();
        life.map.entries().forEach(entry -> ignored.map().put(entry.getKey(), entry.getValue()));
        ignored.list().clear();
        life.list.forEach(ignored.list()::add);
        life.act(random, ignored);
    }
}
