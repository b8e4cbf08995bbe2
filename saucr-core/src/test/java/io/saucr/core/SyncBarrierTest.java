package io.saucr.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** R22: a leader answers a sync only when a majority has followed since it came in. */
class SyncBarrierTest {
    private static final long SELF = 1;
    private static final int SERVERS = 5;

    private final SyncBarrier<String> barrier = new SyncBarrier<>(SELF);

    private static boolean majority(Set<Long> sids) {
        return sids.size() > SERVERS / 2;
    }

    private String next(long committed) {
        return barrier.next(committed, SyncBarrierTest::majority);
    }

    @Test
    void aSyncWaitsForAMajorityThatAnswersAQuestionAskedSince() {
        barrier.answered(2, barrier.ask());
        barrier.answered(3, 1);
        barrier.add("sync", 7);
        assertThat(barrier.questionDue()).isTrue();
        assertThat(next(7)).as("answers to an earlier question").isNull();

        long question = barrier.ask();
        assertThat(barrier.questionDue()).isFalse();
        barrier.answered(2, question);
        barrier.answered(2, question);
        assertThat(next(7)).as("itself and one more").isNull();
        barrier.answered(4, question);
        assertThat(next(7)).isEqualTo("sync");
        assertThat(next(7)).isNull();
        assertThat(barrier.size()).isZero();
    }

    @Test
    void anAnswerToALaterQuestionServesAndOneToAQuestionNeverAskedDoesNot() {
        barrier.add("first", 7);
        barrier.ask();
        barrier.answered(2, 2);
        barrier.answered(3, Long.MAX_VALUE);
        assertThat(next(7)).isNull();
        long later = barrier.ask();
        barrier.answered(2, later);
        barrier.answered(3, 1);
        assertThat(next(7)).isEqualTo("first");
    }

    @Test
    void oneQuestionServesAllThatCameBeforeItAndNoneThatCameLater() {
        barrier.add("first", 7);
        long one = barrier.ask();
        barrier.add("second", 7);
        barrier.add("third", 7);
        barrier.answered(2, one);
        barrier.answered(3, one);
        assertThat(next(7)).isEqualTo("first");
        assertThat(next(7)).isNull();
        assertThat(barrier.questionDue()).isTrue();
        long two = barrier.ask();
        barrier.answered(2, two);
        barrier.answered(3, two);
        assertThat(next(7)).isEqualTo("second");
        assertThat(next(7)).isEqualTo("third");
    }

    @Test
    void aSyncStandsBetweenTheEntriesBeforeAndAfterIt() {
        barrier.add("sync", 7);
        long question = barrier.ask();
        barrier.answered(2, question);
        barrier.answered(3, question);
        assertThat(next(6)).as("an entry before it is under way").isNull();
        assertThat(barrier.nextBefore(7)).isNull();
        assertThat(next(7)).isEqualTo("sync");

        barrier.add("other", 7);
        assertThat(barrier.needsAnswers(7)).isTrue();
        assertThat(barrier.needsAnswers(8)).isFalse();
        assertThat(barrier.nextBefore(8))
                .as("acks of a later entry say it, too")
                .isEqualTo("other");
        assertThat(barrier.nextBefore(8)).isNull();
        assertThat(barrier.needsAnswers(7)).isFalse();
    }

    /** Against a list of everything that happened: who showed what after which sync came in. */
    @Property(tries = 2000)
    void noSyncIsAnsweredWithoutAMajoritySinceItCame(@ForAll long seed) {
        Random random = new Random(seed);
        SyncBarrier<Integer> syncs = new SyncBarrier<>(SELF);
        List<Integer> came = new ArrayList<>();
        List<Long> entriesBefore = new ArrayList<>();
        Map<Integer, Set<Long>> shown = new HashMap<>();
        Map<Long, Integer> asked = new HashMap<>();
        int answered = 0;
        long proposed = 0;
        long committed = 0;
        for (int step = 0; step < 200; step++) {
            switch (random.nextInt(6)) {
                case 0 -> {
                    came.add(came.size());
                    entriesBefore.add(proposed);
                    shown.put(came.size() - 1, new HashSet<>(Set.of(SELF)));
                    syncs.add(came.size() - 1, proposed);
                }
                case 1 -> asked.put(syncs.ask(), came.size());
                case 2, 3 -> {
                    long sid = 2L + random.nextInt(SERVERS - 1);
                    long question = random.nextInt(asked.size() + 3);
                    syncs.answered(sid, question);
                    for (int sync = 0; sync < asked.getOrDefault(question, 0); sync++) {
                        shown.get(sync).add(sid);
                    }
                }
                case 4 -> proposed++;
                default -> {
                    if (committed < proposed) {
                        for (Integer sync = syncs.nextBefore(committed + 1);
                                sync != null;
                                sync = syncs.nextBefore(committed + 1)) {
                            assertThat(sync).isEqualTo(answered);
                            assertThat(entriesBefore.get(sync)).isLessThanOrEqualTo(committed);
                            answered++;
                        }
                        committed++;
                    }
                }
            }
            for (Integer sync = syncs.next(committed, SyncBarrierTest::majority);
                    sync != null;
                    sync = syncs.next(committed, SyncBarrierTest::majority)) {
                assertThat(sync).as("in their order").isEqualTo(answered);
                assertThat(shown.get(sync)).hasSizeGreaterThan(SERVERS / 2);
                assertThat(entriesBefore.get(sync)).isLessThanOrEqualTo(committed);
                answered++;
            }
            assertThat(syncs.size()).isEqualTo(came.size() - answered);
            if (answered < came.size()) {
                boolean ready =
                        shown.get(answered).size() > SERVERS / 2
                                && entriesBefore.get(answered) <= committed;
                assertThat(ready).as("none waits for nothing").isFalse();
            }
        }
    }
}
