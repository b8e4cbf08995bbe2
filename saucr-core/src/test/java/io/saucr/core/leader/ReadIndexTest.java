package io.saucr.core.leader;

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
class ReadIndexTest {
    private static final long SELF = 1;
    private static final int SERVERS = 5;

    private final ReadIndex<String> index = new ReadIndex<>(SELF);

    private static boolean majority(Set<Long> sids) {
        return sids.size() > SERVERS / 2;
    }

    private String next(long committed) {
        return index.next(committed, ReadIndexTest::majority);
    }

    @Test
    void aSyncWaitsForAMajorityThatAnswersAQuestionAskedSince() {
        index.answered(2, index.ask());
        index.answered(3, 1);
        index.add("sync", 7);
        assertThat(index.questionDue()).isTrue();
        assertThat(next(7)).as("answers to an earlier question").isNull();

        long question = index.ask();
        assertThat(index.questionDue()).isFalse();
        index.answered(2, question);
        index.answered(2, question);
        assertThat(next(7)).as("itself and one more").isNull();
        index.answered(4, question);
        assertThat(next(7)).isEqualTo("sync");
        assertThat(next(7)).isNull();
        assertThat(index.size()).isZero();
    }

    @Test
    void anAnswerToALaterQuestionServesAndOneToAQuestionNeverAskedDoesNot() {
        index.add("first", 7);
        index.ask();
        index.answered(2, 2);
        index.answered(3, Long.MAX_VALUE);
        assertThat(next(7)).isNull();
        long later = index.ask();
        index.answered(2, later);
        index.answered(3, 1);
        assertThat(next(7)).isEqualTo("first");
    }

    @Test
    void oneQuestionServesAllThatCameBeforeItAndNoneThatCameLater() {
        index.add("first", 7);
        long one = index.ask();
        index.add("second", 7);
        index.add("third", 7);
        index.answered(2, one);
        index.answered(3, one);
        assertThat(next(7)).isEqualTo("first");
        assertThat(next(7)).isNull();
        assertThat(index.questionDue()).isTrue();
        long two = index.ask();
        index.answered(2, two);
        index.answered(3, two);
        assertThat(next(7)).isEqualTo("second");
        assertThat(next(7)).isEqualTo("third");
    }

    @Test
    void aSyncStandsBetweenTheEntriesBeforeAndAfterIt() {
        index.add("sync", 7);
        long question = index.ask();
        index.answered(2, question);
        index.answered(3, question);
        assertThat(next(6)).as("an entry before it is under way").isNull();
        assertThat(index.nextBefore(7)).isNull();
        assertThat(next(7)).isEqualTo("sync");

        index.add("other", 7);
        assertThat(index.needsAnswers(7)).isTrue();
        assertThat(index.needsAnswers(8)).isFalse();
        assertThat(index.nextBefore(8)).as("acks of a later entry say it, too").isEqualTo("other");
        assertThat(index.nextBefore(8)).isNull();
        assertThat(index.needsAnswers(7)).isFalse();
    }

    /** Against a list of everything that happened: who showed what after which sync came in. */
    @Property(tries = 2000)
    void noSyncIsAnsweredWithoutAMajoritySinceItCame(@ForAll long seed) {
        Random random = new Random(seed);
        ReadIndex<Integer> syncs = new ReadIndex<>(SELF);
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
            for (Integer sync = syncs.next(committed, ReadIndexTest::majority);
                    sync != null;
                    sync = syncs.next(committed, ReadIndexTest::majority)) {
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
