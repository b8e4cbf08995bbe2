package io.saucr.model.cluster;

import io.saucr.core.quorum.Quorums;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Where a search may begin: the first steps of a schedule, for any number of servers. Server 1
 * leads. {@code bin/saucr-model --from} takes these names, and so do the tables of {@code
 * docs/internals/proof.md}.
 */
public enum StartingPoint {
    /** Nothing has happened yet. */
    START,

    /** Everybody follows the leader, in slow mode. */
    SLOW,

    /** As {@link #SLOW}; a no-op is committed, and on all disks. */
    ON_DISKS,

    /** As {@link #ON_DISKS}, and the mode is fast. */
    FAST,

    /** As {@link #FAST}; server 2's ack of a fast entry is unread, which nobody else has got. */
    ACKED,

    /** As {@link #ACKED}, and the entry is in all logs and committed. */
    COMMITTED,

    /** As {@link #SLOW}; an entry is committed, and on all disks. */
    SLOW_COMMITTED,

    /** As {@link #SLOW}; an entry is committed that the leader's own log lacks. */
    ON_OTHERS,

    /** As {@link #SLOW}; server 2 has left, and 3's ack of an entry is unread. */
    LEFT,

    /**
     * As {@link #ON_DISKS}; the last server has left, the view of the others is sealed, and the
     * mode is fast if they are F.
     */
    SEALED;

    private static final int LEADER = 1;

    /** The steps that lead there. */
    public List<String> steps(int servers) {
        Schedule schedule = new Schedule(servers);
        switch (this) {
            case START -> {}
            case SLOW -> schedule.slow();
            case ON_DISKS -> schedule.onDisks();
            case FAST -> schedule.fast();
            case ACKED -> schedule.acked();
            case COMMITTED -> schedule.committed();
            case SLOW_COMMITTED -> schedule.slowCommitted();
            case ON_OTHERS -> schedule.onOthers();
            case LEFT -> schedule.left();
            case SEALED -> schedule.sealed();
        }
        return List.copyOf(schedule.steps);
    }

    /** Grows step by step. */
    private static final class Schedule {
        private final List<String> steps = new ArrayList<>();
        private final int servers;

        Schedule(int servers) {
            this.servers = servers;
        }

        void slow() {
            int majority = Quorums.bareMajority(servers);
            steps.add(
                    IntStream.rangeClosed(LEADER, majority)
                            .mapToObj(Integer::toString)
                            .collect(Collectors.joining(",", "elect 1 with ", "")));
            each(majority + 1, "connect %d to 1");
            each(2, "sync %d");
            each(2, "receive 1 from %d");
            each(2, "uptodate %d");
            each(2, "receive 1 from %d");
        }

        void onDisks() {
            slow();
            steps.add("confirm 1");
            steps.add("noop 1");
            everybodyHasIt();
        }

        void fast() {
            onDisks();
            steps.add("confirm 1");
        }

        void acked() {
            fast();
            steps.addAll(List.of("propose 1", "append 1", "append 2", "ack 1", "ack 2"));
        }

        void committed() {
            acked();
            each(3, "append %d");
            each(3, "ack %d");
            each(2, "receive 1 from %d");
        }

        void slowCommitted() {
            slow();
            steps.add("propose 1");
            everybodyHasIt();
        }

        void onOthers() {
            slow();
            steps.add("propose 1");
            each(2, "append %d");
            each(2, "ack %d");
            each(2, "receive 1 from %d");
        }

        void left() {
            slow();
            steps.addAll(List.of("leave 2", "propose 1", "append 3", "ack 3"));
        }

        void sealed() {
            onDisks();
            steps.add("leave " + servers);
            steps.add("close 1 from " + servers);
            steps.add("confirm 1");
            steps.add("noop 1");
            int others = servers - 1;
            each(LEADER, others, "append %d");
            each(LEADER, others, "ack %d");
            each(2, others, "receive 1 from %d");
            if (others >= Quorums.fastQuorum(servers)) {
                steps.add("confirm 1");
            }
        }

        private void everybodyHasIt() {
            each(LEADER, "append %d");
            each(LEADER, "ack %d");
            each(2, "receive 1 from %d");
        }

        private void each(int first, String step) {
            each(first, servers, step);
        }

        private void each(int first, int last, String step) {
            for (int server = first; server <= last; server++) {
                steps.add(String.format(step, server));
            }
        }
    }
}
