package io.saucr.core.leader;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.core.Mode;
import io.saucr.core.log.LleMap;
import io.saucr.core.quorum.CommitRule;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/**
 * A leader of three on a machine that is busy (R27): its rounds are late, answers take their time,
 * and what has come in is read late. Whatever it does to turn its mode less often, the death of a
 * follower is noticed in an interval and the tolerance. Times are those of a simulated clock.
 */
class ReactionTimePropertyTest {
    private static final long MILLI = 1_000_000;
    private static final long INTERVAL = 50 * MILLI;
    private static final long TOLERANCE = 20 * MILLI;
    private static final long SECOND = 1_000 * MILLI;
    private static final long EPOCH = 1L << 32;
    private static final FailureDetector DETECTOR = new FailureDetector(INTERVAL, TOLERANCE);

    /** What came in, and when it is read. */
    private record Packet(long arrives, long read) {}

    /** A leader, a follower that is always heard, and one whose packets are on their way. */
    private static final class Machine {
        private final Random random;
        private long mostLate;
        private final long mostAnswer;
        private final long mostUnread;
        private final CommitRule rule = new CommitRule(1, List.of(1L, 2L, 3L));
        private final LeaderState<String, String> state =
                new LeaderState<>(
                        1,
                        DETECTOR,
                        SECOND,
                        5 * SECOND,
                        rule,
                        new ModeController(3, 3, 0, LeaderState.confirmationNanos(DETECTOR)),
                        new ReadIndex<>(1),
                        sids -> true,
                        0);
        private final List<FollowerConnection<String>> followers = new ArrayList<>();
        private final Deque<Packet> packets = new ArrayDeque<>();
        private final List<Long> turns = new ArrayList<>();
        private long now;
        private long again;
        private long zxid = EPOCH;
        private long lastRead;
        private long diesAt = Long.MAX_VALUE;
        private boolean readerHangs;
        private long sleptSinceDeath;

        /** All in milliseconds, at the most: of a round, of an answer, of a read. */
        Machine(long seed, int late, int answer, int unread) {
            random = new Random(seed);
            mostLate = late * MILLI;
            mostAnswer = answer * MILLI;
            mostUnread = unread * MILLI;
            state.startEpoch(new ReplicationSet(1, LleMap.empty(), EPOCH), EPOCH, 0);
            for (long sid = 2; sid <= 3; sid++) {
                FollowerConnection<String> follower =
                        state.connected("server " + sid, sid, true, sid, 0);
                state.forwarded(follower);
                state.keepsViews(follower);
                state.synced(follower, 0);
                followers.add(follower);
            }
            carryOut();
        }

        private long upTo(long most) {
            return most == 0 ? 0 : random.nextLong(most);
        }

        /** Every no-op is on all disks at once. */
        private void carryOut() {
            LeaderDecisions<String, String> decisions = state.decisions();
            boolean noop = decisions.noop();
            boolean asked =
                    decisions.pings().contains(followers.get(1))
                            || decisions.greetings().contains(followers.get(1));
            decisions.turns().forEach(turn -> turns.add(now));
            decisions.clear();
            if (asked) {
                long arrives = now + upTo(mostAnswer);
                packets.add(new Packet(arrives, arrives + upTo(mostUnread)));
            }
            if (noop) {
                zxid++;
                state.proposeNoop(zxid, now);
                state.handedToLog(zxid, now);
                state.ackedByLeader(zxid, now);
                long through = 0;
                for (FollowerConnection<String> follower : followers) {
                    through = state.acked(follower, zxid, now);
                }
                state.committed(through, now);
                state.settled(now);
                carryOut();
            }
        }

        void round() {
            now = again + upTo(mostLate);
            followers.get(0).heard(now);
            // In the order in which they come in, a connection is read by one thread.
            packets.removeIf(packet -> packet.arrives() > diesAt);
            while (!readerHangs && !packets.isEmpty() && packets.peek().read() <= now) {
                lastRead = Math.max(lastRead, packets.poll().read());
                followers.get(1).heard(lastRead);
            }
            boolean unread = packets.stream().anyMatch(packet -> packet.arrives() <= now);
            followers.get(0).looked(false, now);
            followers.get(1).looked(unread, now);
            again = state.round(now, 0, 0, true);
            carryOut();
            followers.get(0).heard(now);
        }

        void runUntil(long end) {
            while (again < end) {
                round();
            }
        }

        boolean fast() {
            return state.mode() == Mode.FAST;
        }

        /** What it has sent is read meanwhile, however late, or not at all. */
        void followerDies() {
            diesAt = now;
            readerHangs = random.nextBoolean();
            while (fast() && now - diesAt < 5 * SECOND) {
                long planned = again;
                round();
                sleptSinceDeath += now - planned;
            }
        }

        /** From its last sign of life until the mode turned. */
        long noticedAfter() {
            return now - Math.max(diesAt, lastRead);
        }
    }

    @Property(tries = 300)
    void r27ADeadFollowerIsNoticedInAnIntervalAndTheTolerance(@ForAll long seed) {
        Random random = new Random(seed);
        int late = random.nextInt(20);
        Machine machine = new Machine(seed, late, 1 + random.nextInt(60), random.nextInt(60));
        machine.runUntil(SECOND + random.nextLong(20 * SECOND));
        boolean fast = machine.fast();
        machine.followerDies();
        if (fast) {
            assertThat(machine.noticedAfter())
                    .isLessThanOrEqualTo(INTERVAL + TOLERANCE + late * MILLI);
        }
    }

    /** Whatever is excused because this process slept (H11), it is for no longer than it slept. */
    @Property(tries = 1000)
    void h11ALeaderThatOversleepsAgainAndAgainNoticesItToo(@ForAll long seed) {
        Random random = new Random(seed);
        int late = 20 + random.nextInt(100);
        Machine machine = new Machine(seed, late, 1 + random.nextInt(15), random.nextInt(30));
        machine.runUntil(SECOND + random.nextLong(3 * SECOND));
        boolean fast = machine.fast();
        machine.followerDies();
        if (fast) {
            assertThat(machine.noticedAfter())
                    .isLessThanOrEqualTo(INTERVAL + TOLERANCE + machine.sleptSinceDeath);
        }
    }

    /** However this process oversleeps afterwards: fast mode needs a sign of life. */
    @Property(tries = 300)
    void h11AServerThatIsGoneDoesNotBringFastModeBack(@ForAll long seed) {
        Random random = new Random(seed);
        Machine machine = new Machine(seed, 10, 1 + random.nextInt(15), random.nextInt(30));
        machine.runUntil(SECOND + random.nextLong(3 * SECOND));
        machine.followerDies();
        // What it had sent is read by then.
        machine.runUntil(machine.now + SECOND);
        int before = machine.turns.size();
        machine.mostLate = random.nextInt(200) * MILLI;
        machine.runUntil(machine.now + 20 * SECOND);
        assertThat(machine.fast()).isFalse();
        assertThat(machine.turns).hasSize(before);
    }

    /** With one heartbeat an interval each of these answers would be late. */
    @Property(tries = 50)
    void r27AnswersThatTakeLongerThanTheToleranceDoNotFlap(@ForAll long seed) {
        Machine machine = new Machine(seed, 5, 25, 5);
        machine.runUntil(10 * SECOND);
        int before = machine.turns.size();
        machine.runUntil(600 * SECOND);
        assertThat(machine.turns.size() - before).isLessThanOrEqualTo(4);
        assertThat(machine.fast()).isTrue();
    }

    /** However unsteady a follower is: at once six times, and then once in ten seconds. */
    @Property(tries = 5)
    void r27TheModeTurnsALimitedNumberOfTimes(@ForAll long seed) {
        Random random = new Random(seed);
        Machine machine = new Machine(seed, 15, 40 + random.nextInt(300), random.nextInt(50));
        machine.runUntil(600 * SECOND);
        assertThat(machine.turns.size()).isLessThanOrEqualTo(2 * (60 + 6 + 1));
    }
}
