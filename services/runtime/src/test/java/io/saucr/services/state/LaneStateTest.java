package io.saucr.services.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.saucr.services.ListState;
import io.saucr.services.MapState;
import io.saucr.services.ValueState;
import io.saucr.services.core.lanes.Seen;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** What a run ahead of its turn sees, what of that is compared, and what its commit changes. */
class LaneStateTest {

    private static final int KEYS = 5;

    /** A service's collections, in the state or in a lane. */
    private static final class Collections {
        private final MapState<String, Long> map;
        private final ListState<Long> list;
        private final ValueState<Long> value;

        Collections(StateStore store) {
            map = store.map("map", String.class, Long.class);
            list = store.list("list", Long.class);
            value = store.value("value", Long.class);
        }

        /** Something random; what is seen goes into what is written, and into the log. */
        void step(Random random, List<Object> log) {
            String key = "k" + random.nextInt(KEYS);
            long number = 31L * log.hashCode() + random.nextInt(10);
            switch (random.nextInt(16)) {
                case 0, 1 -> log.add("get " + map.get(key));
                case 2, 3 -> map.put(key, number);
                case 4 -> log.add("removed " + map.remove(key));
                case 5 -> log.add("merged " + map.merge(key, number, Long::sum));
                case 6 -> log.add("absent " + map.putIfAbsent(key, number));
                case 7 -> map.entries().forEach(it -> log.add(it.getKey() + it.getValue()));
                case 8 -> log.add("size " + map.size() + " " + list.isEmpty());
                case 9 -> map.clear();
                case 10, 11 -> list.add(number);
                case 12 -> list.forEach(log::add);
                case 13 -> {
                    if (!list.isEmpty()) {
                        log.add("first " + list.removeFirst());
                        log.add(list.size() == 0 ? "" : list.get(list.size() - 1));
                    }
                }
                case 14 -> log.add("value " + value.value());
                default -> {
                    if (random.nextBoolean()) {
                        value.update(number);
                    } else {
                        list.clear();
                        value.clear();
                    }
                }
            }
        }
    }

    private final StateStore state = new StateStore("bank", 7, true);
    private final Collections own = new Collections(state);
    private final LaneState lane = new LaneState(state);
    private final Collections ahead = new Collections(lane);

    private Changes turn(Consumer<Collections> does) {
        state.begin();
        does.accept(own);
        return state.seal();
    }

    private Seen<Object> run(Consumer<Collections> does) {
        lane.begin(state::snapshot);
        does.accept(ahead);
        return lane.seen();
    }

    private boolean isUnchanged(Seen<Object> seen) {
        return seen.isUnchangedIn(state.newest());
    }

    private static Changes random(StateStore store, Collections in, long seed, List<Object> log) {
        Random random = new Random(seed);
        store.begin();
        for (int steps = 1 + random.nextInt(6); steps > 0; steps--) {
            in.step(random, log);
        }
        return store.seal();
    }

    /** What a run did, committed, is what its handler does alone, at that turn. */
    @Test
    void p1WhatIsUnchangedIsCommittedAsIfItRanNow() {
        int committed = 0;
        int behindOthers = 0;
        for (long seed = 0; seed < 4_000; seed++) {
            LaneStateTest world = new LaneStateTest();
            random(world.state, world.own, ~seed, new ArrayList<>());
            List<Object> log = new ArrayList<>();
            Random random = new Random(seed);
            Seen<Object> seen =
                    world.run(
                            it -> {
                                for (int steps = 1 + random.nextInt(6); steps > 0; steps--) {
                                    it.step(random, log);
                                }
                            });
            LaneState.Written written = world.lane.end();
            boolean other = seed % 2 == 0;
            if (other) {
                random(world.state, world.own, seed + 1_000_000, new ArrayList<>());
            }
            StateStore alone = new StateStore("bank", 7, true);
            Collections same = new Collections(alone);
            alone.restore(world.state.snapshot());
            List<Object> expected = new ArrayList<>();
            Changes changes = random(alone, same, seed, expected);
            if (world.isUnchanged(seen)) {
                committed++;
                behindOthers += other ? 1 : 0;
                assertThat(log).as("seed " + seed).isEqualTo(expected);
                world.state.begin();
                written.makeIn(world.state);
                assertThat(world.state.seal().encode())
                        .as("seed " + seed)
                        .isEqualTo(changes.encode());
            } else {
                assertThat(other).as("seed " + seed).isTrue();
            }
        }
        assertThat(committed).isGreaterThan(2_500);
        assertThat(behindOthers).isGreaterThan(300);
    }

    @Test
    void p1TheVersionIsFixedByTheFirstAccess() {
        turn(it -> it.map.put("k", 1L));
        lane.begin(state::snapshot);
        turn(it -> it.map.put("k", 2L));
        assertThat(ahead.map.get("k")).isEqualTo(2);
        turn(it -> it.value.update(3L));
        turn(it -> it.map.put("k", 3L));
        assertThat(ahead.map.get("k")).isEqualTo(2);
        assertThat(ahead.value.value()).isNull();
        Seen<Object> seen = lane.seen();
        lane.end();
        assertThat(isUnchanged(seen)).isFalse();
    }

    @Test
    void p2BlindWritesMeetNobody() {
        turn(
                it -> {
                    it.map.put("k", 1L);
                    it.list.add(1L);
                });
        Seen<Object> seen =
                run(
                        it -> {
                            it.map.put("k", 5L);
                            it.list.add(5L);
                            it.value.update(5L);
                            assertThat(it.map.get("k")).isEqualTo(5);
                            assertThat(it.value.value()).isEqualTo(5);
                        });
        LaneState.Written written = lane.end();
        turn(
                it -> {
                    it.map.clear();
                    it.list.add(2L);
                    it.value.update(2L);
                });
        assertThat(isUnchanged(seen)).isTrue();
        turn(it -> written.makeIn(state));
        turn(
                it -> {
                    assertThat(it.list).containsExactly(1L, 2L, 5L);
                    assertThat(it.map.entries()).hasSize(1);
                    assertThat(it.value.value()).isEqualTo(5);
                });
    }

    @Test
    void p2ReadsOfOtherKeysMeetNobodyAndSizesMeetAll() {
        Seen<Object> other = run(it -> it.map.get("other"));
        lane.end();
        Seen<Object> size = run(it -> it.map.size());
        lane.end();
        turn(it -> it.map.put("k", 1L));
        assertThat(isUnchanged(other)).isTrue();
        assertThat(isUnchanged(size)).isFalse();
        turn(it -> it.map.put("other", 1L));
        assertThat(isUnchanged(other)).isFalse();
    }

    /** Nothing of a run is left in its lane, whether it is committed or not. */
    @Test
    void aRunSeesNothingOfTheOneBefore() {
        run(it -> it.map.put("k", 1L));
        lane.end();
        run(it -> assertThat(it.map.get("k")).isNull());
        lane.end();
    }

    @Test
    void p1CollectionsAreDeclaredAlikeInEachLane() {
        LaneState other = new LaneState(state);
        MapState<String, Long> more = other.map("more", String.class, Long.class);
        other.begin(state::snapshot);
        assertThatIllegalStateException()
                .isThrownBy(() -> more.get("k"))
                .withMessageContaining("map more is declared by one object of the service");
    }
}
