package io.saucr.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.LongStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/**
 * R2, R3, R4, R5, R6, R21: the commit rule agrees with one that keeps every event and counts anew
 * each time.
 */
class CommitRulePropertyTest {
    private static final long SELF = 1;
    private static final int EVENTS = 80;

    /** Keeps everything, forgets nothing, is slow. */
    private static final class Oracle {
        private record Proposed(long zxid, Mode mode, Map<Long, Long> putInto) {}

        private record Ack(long sid, long connection, long zxid) {}

        private final int voters;
        private final List<Proposed> proposed = new ArrayList<>();
        private final Set<Ack> acks = new HashSet<>();
        private final Map<Long, Long> newestConnection = new HashMap<>();
        private final Set<Long> alive = new HashSet<>();
        private final Set<Long> stock = new HashSet<>();
        private final Map<Long, Long> joined = new HashMap<>();
        private long committed;

        Oracle(int voters, long start) {
            this.voters = voters;
            committed = start;
            newestConnection.put(SELF, CommitRule.SELF);
            alive.add(CommitRule.SELF);
            joined.put(SELF, CommitRule.SELF);
        }

        int bareMajority() {
            return voters / 2 + 1;
        }

        void connect(long sid, long connection, boolean situationAware) {
            disconnect(sid);
            newestConnection.put(sid, connection);
            alive.add(connection);
            if (situationAware) {
                stock.remove(sid);
            } else {
                stock.add(sid);
            }
        }

        void disconnect(long sid) {
            Long connection = newestConnection.get(sid);
            if (connection != null) {
                alive.remove(connection);
                joined.remove(sid);
            }
        }

        void restart(long sid) {
            disconnect(sid);
            acks.removeIf(ack -> ack.sid == sid);
        }

        void ack(long sid, long connection, long zxid) {
            if (alive.contains(connection)
                    && newestConnection.getOrDefault(sid, -1L) == connection) {
                acks.add(new Ack(sid, connection, zxid));
            }
        }

        boolean isSlow(long zxid) {
            return proposed.stream().anyMatch(p -> p.zxid == zxid && p.mode == Mode.SLOW);
        }

        boolean durable(long sid, long zxid) {
            return acks.stream()
                    .anyMatch(
                            ack ->
                                    ack.sid == sid
                                            && ack.connection == newestConnection.get(sid)
                                            && ack.zxid >= zxid
                                            && (stock.contains(sid) || isSlow(ack.zxid)));
        }

        boolean itself(Proposed entry, long sid) {
            Long connection = entry.putInto.get(sid);
            return connection != null
                    && alive.contains(connection)
                    && !stock.contains(sid)
                    && acks.contains(new Ack(sid, connection, entry.zxid));
        }

        boolean committable(Proposed entry) {
            long memories =
                    LongStream.rangeClosed(1, voters).filter(sid -> itself(entry, sid)).count();
            long disks =
                    LongStream.rangeClosed(1, voters)
                            .filter(sid -> durable(sid, entry.zxid))
                            .count();
            return memories >= bareMajority() + 1 || disks >= bareMajority();
        }

        long committableThrough() {
            long through = committed;
            for (Proposed entry : proposed) {
                if (entry.zxid > committed) {
                    if (!committable(entry)) {
                        break;
                    }
                    through = entry.zxid;
                }
            }
            return through;
        }

        boolean stuck() {
            return proposed.stream()
                    .filter(entry -> entry.zxid > committed && entry.mode == Mode.FAST)
                    .anyMatch(
                            entry ->
                                    LongStream.rangeClosed(1, voters)
                                                    .filter(
                                                            sid ->
                                                                    entry.putInto.containsKey(sid)
                                                                            && alive.contains(
                                                                                    entry.putInto
                                                                                            .get(
                                                                                                    sid))
                                                                            && !stock.contains(sid))
                                                    .count()
                                            < bareMajority() + 1);
        }

        boolean lastSlowOnFastQuorumOfDisks(long start) {
            long lastSlow =
                    proposed.stream()
                            .filter(entry -> entry.mode == Mode.SLOW)
                            .mapToLong(Proposed::zxid)
                            .max()
                            .orElse(start);
            long disks =
                    LongStream.rangeClosed(1, voters).filter(sid -> durable(sid, lastSlow)).count();
            boolean nothingFastSince = proposed.stream().noneMatch(e -> e.zxid > lastSlow);
            return nothingFastSince && durable(SELF, lastSlow) && disks >= bareMajority() + 1;
        }
    }

    @Property(tries = 400)
    void agreesWithANaiveCount(@ForAll @IntRange(min = 3, max = 7) int voters, @ForAll long seed) {
        Random random = new Random(seed);
        long start = Zxid.of(3, 0);
        CommitRule rule = new CommitRule(SELF, LongStream.rangeClosed(1, voters).boxed().toList());
        rule.startEpoch(start);
        Oracle oracle = new Oracle(voters, start);
        List<long[]> connections = new ArrayList<>();
        connections.add(new long[] {SELF, CommitRule.SELF});
        long last = start;
        Mode mode = Mode.SLOW;
        StringBuilder trace = new StringBuilder();
        for (int event = 0; event < EVENTS; event++) {
            int kind = random.nextInt(100);
            // One more than there are voters: an observer.
            long sid = 2L + random.nextInt(voters);
            if (kind < 10 || event < voters) {
                boolean situationAware = random.nextInt(8) > 0;
                long connection = rule.connect(sid, situationAware);
                oracle.connect(sid, connection, situationAware);
                connections.add(new long[] {sid, connection});
                if (random.nextInt(8) > 0) {
                    rule.join(sid, connection);
                    oracle.joined.put(sid, connection);
                }
                trace.append("connect ").append(sid).append(' ').append(situationAware);
            } else if (kind < 16) {
                long[] any = connections.get(random.nextInt(connections.size()));
                boolean current =
                        any[0] != SELF
                                && oracle.newestConnection.get(any[0]) == any[1]
                                && oracle.alive.contains(any[1]);
                boolean stuck = rule.disconnect(any[0], any[1]);
                if (current) {
                    oracle.disconnect(any[0]);
                }
                assertThat(stuck).as(trace.toString()).isEqualTo(current && oracle.stuck());
                trace.append("disconnect ").append(any[0]).append('/').append(any[1]);
            } else if (kind < 19) {
                boolean stuck = rule.restarted(sid);
                boolean known = sid <= voters || oracle.newestConnection.containsKey(sid);
                oracle.restart(sid);
                assertThat(stuck).as(trace.toString()).isEqualTo(known && oracle.stuck());
                trace.append("restarted ").append(sid);
            } else if (kind < 36) {
                if (random.nextInt(5) == 0) {
                    mode = mode == Mode.FAST ? Mode.SLOW : Mode.FAST;
                }
                last++;
                rule.propose(last, mode);
                oracle.proposed.add(new Oracle.Proposed(last, mode, Map.copyOf(oracle.joined)));
                trace.append("propose ").append(mode);
            } else if (kind < 94) {
                long[] any = connections.get(random.nextInt(connections.size()));
                if (random.nextInt(4) > 0) {
                    // Mostly a connection that counts, and an entry that waits.
                    long acker = 1L + random.nextInt(voters);
                    any = new long[] {acker, oracle.newestConnection.getOrDefault(acker, any[1])};
                }
                int waiting = (int) Math.min(4, last - oracle.committed);
                long zxid = last - random.nextInt(waiting + 1);
                if (zxid > start) {
                    rule.ack(any[0], any[1], zxid);
                    oracle.ack(any[0], any[1], zxid);
                    trace.append("ack ")
                            .append(any[0])
                            .append('/')
                            .append(any[1])
                            .append(' ')
                            .append(zxid - start);
                }
            } else if (rule.committableThrough() > oracle.committed) {
                long committed = rule.committableThrough();
                rule.committed(committed);
                oracle.committed = committed;
                trace.append("commit ").append(committed - start);
            }
            trace.append('\n');
            assertThat(rule.committableThrough())
                    .as(trace.toString())
                    .isEqualTo(oracle.committableThrough());
            assertThat(rule.lastSlowOnFastQuorumOfDisks())
                    .as(trace.toString())
                    .isEqualTo(oracle.lastSlowOnFastQuorumOfDisks(start));
            assertThat(rule.outstanding()).isEqualTo((int) (last - oracle.committed));
        }
    }
}
