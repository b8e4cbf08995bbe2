package io.saucr.services.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.ServiceWorld.Broken;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** K3, C1: turns that are joined lead to what they lead to one after the other. */
class DeltaJoinTest {

    private static final int RUNS = 50;
    private static final Birth BIRTH = new Birth(1, 2);
    private static final Body BODY = new Body("one", new byte[] {1});

    /** How many changes were joined, and to how many. */
    private long before;

    private long after;

    /** Groups of random size, of one start each. */
    private List<Delta> grouped(List<Delta> turns, Random random, int most) {
        List<Delta> joined = new ArrayList<>();
        List<Delta> group = new ArrayList<>();
        int left = 1 + random.nextInt(most);
        for (Delta each : turns) {
            boolean other = !group.isEmpty() && group.get(0).incarnation() != each.incarnation();
            if (other || left == 0) {
                joined.add(join(group, random));
                group.clear();
                left = 1 + random.nextInt(most);
            }
            group.add(each);
            left--;
        }
        if (!group.isEmpty()) {
            joined.add(join(group, random));
        }
        return joined;
    }

    private Delta join(List<Delta> group, Random random) {
        Delta all = Delta.join(group);
        before += group.stream().mapToInt(it -> it.changes().size()).sum();
        after += all.changes().stream().filter(it -> !(it instanceof Change.At)).count();
        int cut = random.nextInt(group.size() + 1);
        List<Delta> halves = new ArrayList<>();
        for (List<Delta> half : List.of(group.subList(0, cut), group.subList(cut, group.size()))) {
            if (!half.isEmpty()) {
                halves.add(Delta.join(half));
            }
        }
        Delta again = Delta.join(halves);
        assertThat(again.changes()).isEqualTo(all.changes());
        assertThat(again.nowMillis()).isEqualTo(all.nowMillis());
        return all;
    }

    @Test
    void historiesLeadToTheSameHoweverTheyAreJoined() {
        for (long seed = 0; seed < RUNS; seed++) {
            Random random = new Random(seed);
            ServiceWorld world = new ServiceWorld(seed, Broken.NOTHING, false);
            world.run(50 + random.nextInt(300));
            String run = "seed " + seed;
            for (int most : new int[] {3, 20, 10_000}) {
                world.recoverJoined(
                        turns -> grouped(turns, random, most),
                        (one, other) -> assertThat(other).as(run).isEqualTo(one));
            }
        }
        assertThat(after).isPositive().isLessThan(before * 9 / 10);
    }

    private static List<Change> joined(List<List<Change>> turns) {
        List<Delta> deltas = new ArrayList<>();
        for (List<Change> each : turns) {
            long turn = deltas.size() + 1L;
            deltas.add(new Delta(turn, 1, 100, each));
        }
        return Delta.join(deltas).changes();
    }

    private static Change consumed(long number) {
        return new Change.Consumed("shop", new Count(number, 1, 1));
    }

    private static Change acked(long number) {
        return new Change.Acked("shop", new Count(number, 1, 1));
    }

    @Test
    void ofNumbersTheFirstAndTheLastAreLeft() {
        assertThat(
                        joined(
                                List.of(
                                        List.of(acked(1), consumed(1)),
                                        List.of(acked(2), consumed(2)),
                                        List.of(acked(3), consumed(3)),
                                        List.of(consumed(4)))))
                .containsExactly(consumed(1), acked(3), consumed(4));
    }

    @Test
    void aPairThatIsKnownByItsFirstNumberIsCountedFromThere() {
        Change sent = new Change.Sent("shop", 0, Optional.empty(), BODY);
        List<Delta> turns = new ArrayList<>();
        for (List<Change> each :
                List.of(
                        List.of(new Change.PairOpened("shop", false, BIRTH, Count.NONE), sent),
                        List.of(sent, consumed(1)),
                        List.of(acked(1), consumed(2)),
                        List.of(consumed(3)))) {
            turns.add(new Delta(turns.size() + 1L, 1, 100 + turns.size(), each));
        }
        ServiceCore one = new ServiceCore("bank", Limits.standard());
        turns.forEach(one::recover);
        ServiceCore other = new ServiceCore("bank", Limits.standard());
        other.recover(Delta.join(turns));
        assertThat(other.snapshot().changes()).isEqualTo(one.snapshot().changes());
    }

    @Test
    void numbersOfTwoPairsOrStartsAreNotOfOneRun() {
        Change over = new Change.PairOver("shop", BIRTH, "gone");
        Change opened = new Change.PairOpened("shop", false, new Birth(3, 4), Count.NONE);
        Change known = new Change.PairKnown("shop");
        List<Change> all = List.of(acked(5), over, opened, known, acked(6));
        assertThat(joined(all.stream().map(List::of).toList())).isEqualTo(all);
        List<Change> starts =
                List.of(acked(5), new Change.Acked("shop", new Count(6, 2, 9)), acked(7));
        assertThat(joined(starts.stream().map(List::of).toList())).isEqualTo(starts);
        Change anew = new Change.BornAnew(BIRTH, new Birth(3, 4), "a backup");
        List<Change> births = List.of(acked(5), anew, acked(6));
        assertThat(joined(births.stream().map(List::of).toList())).isEqualTo(births);
    }

    @Test
    void aTimerThatWentOffLeavesItsNumber() {
        Change set = new Change.TimerSet(8, 5, BODY);
        Change kept = new Change.TimerSet(7, 5, BODY);
        Change before = new Change.TimerGone(3);
        assertThat(joined(List.of(List.of(kept, set), List.of(new Change.TimerGone(8), before))))
                .containsExactly(kept, before, new Change.TimersUpTo(8));
    }

    @Test
    void ofRepeatsAndTriesTheLastIsLeft() {
        Change due = new Change.RepeatDue("Tick", 1, 3);
        Change gone = new Change.RepeatGone("Tock");
        Change tried = new Change.Tried("shop", "", 0);
        assertThat(
                        joined(
                                List.of(
                                        List.of(
                                                new Change.RepeatDue("Tick", 1, 2),
                                                new Change.RepeatDue("Tock", 1, 2),
                                                new Change.Tried("shop", "4 one", 2)),
                                        List.of(due, gone, tried))))
                .containsExactly(due, gone, tried);
    }

    @Test
    void whoWaitedAndWasAnsweredWaitsNoMore() {
        Change answered = new Change.Answered("shop", 3);
        Change waits = new Change.Waits("shop", 4);
        assertThat(
                        joined(
                                List.of(
                                        List.of(new Change.Waits("shop", 3)),
                                        List.of(waits),
                                        List.of(answered))))
                .containsExactly(waits, answered);
    }

    /** When a message was sent, and a peer heard, is remembered. */
    @Test
    void timesThatMatterStay() {
        Change sent = new Change.Sent("shop", 0, Optional.empty(), BODY);
        Change made = new Change.OutputMade(BODY);
        Delta joined =
                Delta.join(
                        List.of(
                                new Delta(4, 1, 100, List.of(sent, sent)),
                                new Delta(5, 1, 100, List.of(sent)),
                                new Delta(6, 1, 103, List.of(made)),
                                new Delta(7, 1, 105, List.of(sent))));
        assertThat(joined.turn()).isEqualTo(7);
        assertThat(joined.nowMillis()).isEqualTo(105);
        assertThat(joined.changes())
                .containsExactly(
                        new Change.At(100), sent, sent, sent, made, new Change.At(105), sent);
    }

    @Test
    void whatIsNotInARowIsRefused() {
        Delta first = new Delta(4, 1, 100, List.of());
        assertThatThrownBy(() -> Delta.join(List.of(first, new Delta(4, 1, 100, List.of()))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("turn 4 of start 1 does not join to turn 4");
        assertThatThrownBy(() -> Delta.join(List.of(first, new Delta(5, 2, 100, List.of()))))
                .hasMessageContaining("turn 5 of start 2");
        assertThatThrownBy(() -> Delta.join(List.of(first.with(new byte[1]))))
                .hasMessageContaining("bytes of the state");
        assertThatThrownBy(() -> Delta.join(List.of())).hasMessageContaining("no turns");
    }
}
