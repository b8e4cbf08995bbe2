package io.saucr.core.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.core.Mode;
import io.saucr.core.Zxid;
import java.util.ArrayList;
import java.util.Comparator;
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
import net.jqwik.api.statistics.Statistics;

/**
 * R2, R3, R4, R5, R6, R21, R23: the commit rule agrees with one that keeps every event and counts
 * anew each time. That one asks who acked a seal before it counts an ack towards F; the commit rule
 * only remembers who was sent the seal, because a server acks in the order of a connection.
 */
class CommitRulePropertyTest {
    private static final long SELF = 1;
    private static final int EVENTS = 160;

    /** Of 100 kinds of events so many take connections or the view away, unless a try is calm. */
    private static final int DISRUPTIONS = 20;

    /** Keeps everything, forgets nothing, is slow. */
    private static final class Oracle {
        /** Who may count as a member, and over which connection each was sent the seal. */
        private record Seal(long zxid, Map<Long, Long> members) {}

        /** An entry, and the newest seal before it, null if there was none. */
        private record Proposed(long zxid, Mode mode, Seal seal, Map<Long, Long> putInto) {}

        private record Ack(long sid, long connection, long zxid) {}

        private final int voters;
        private final List<Proposed> proposed = new ArrayList<>();
        private final Set<Ack> acks = new HashSet<>();
        private final Map<Long, Long> newestConnection = new HashMap<>();
        private final Set<Long> alive = new HashSet<>();
        private final Set<Long> stock = new HashSet<>();
        private final Set<Long> silent = new HashSet<>();
        private final Map<Long, Long> joined = new HashMap<>();
        private Seal newestSeal;
        private long committed;

        Oracle(int voters, long start) {
            this.voters = voters;
            committed = start;
            newestConnection.put(SELF, CommitRule.SELF);
            alive.add(CommitRule.SELF);
            joined.put(SELF, CommitRule.SELF);
        }

        void propose(long zxid, Mode mode) {
            proposed.add(new Proposed(zxid, mode, newestSeal, Map.copyOf(joined)));
        }

        void seal(long zxid) {
            propose(zxid, Mode.SLOW);
            newestSeal = new Seal(zxid, mayCount());
        }

        /** Voters that are sent to and heard now and keep views, and over which connection. */
        private Map<Long, Long> mayCount() {
            Map<Long, Long> result = new HashMap<>(joined);
            result.keySet()
                    .removeIf(sid -> sid > voters || stock.contains(sid) || silent.contains(sid));
            return result;
        }

        boolean sealDue() {
            return mayCount().size() >= bareMajority()
                    && (newestSeal == null || !mayCount().equals(newestSeal.members));
        }

        boolean viewIsWhole() {
            return newestSeal == null
                    || newestSeal.members.keySet().stream()
                            .allMatch(sid -> connectedSinceSeal(sid) && !silent.contains(sid));
        }

        boolean connectedSinceSeal(long sid) {
            return newestSeal != null && connectedSince(newestSeal, sid);
        }

        private boolean connectedSince(Seal seal, long sid) {
            Long connection = seal.members.get(sid);
            return connection != null && alive.contains(connection);
        }

        /** The seal that a server forces before it acks this entry over this connection. */
        Seal sealBefore(long connection, long zxid) {
            return proposed.stream()
                    .filter(entry -> entry.zxid <= zxid && entry.seal != null)
                    .map(Proposed::seal)
                    .filter(seal -> seal.members.containsValue(connection))
                    .max(Comparator.comparingLong(Seal::zxid))
                    .orElse(null);
        }

        int bareMajority() {
            return voters / 2 + 1;
        }

        void connect(long sid, long connection, boolean situationAware) {
            disconnect(sid);
            newestConnection.put(sid, connection);
            alive.add(connection);
            silent.remove(sid);
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
                    && acks.contains(new Ack(sid, connection, entry.zxid))
                    && entry.seal != null
                    && connection.equals(entry.seal.members.get(sid))
                    && acks.contains(new Ack(sid, connection, entry.seal.zxid));
        }

        boolean onMemories(Proposed entry) {
            return LongStream.rangeClosed(1, voters).filter(sid -> itself(entry, sid)).count()
                    > bareMajority();
        }

        boolean onDisks(Proposed entry) {
            return LongStream.rangeClosed(1, voters).filter(sid -> durable(sid, entry.zxid)).count()
                    >= bareMajority();
        }

        boolean committable(Proposed entry) {
            return onMemories(entry) || onDisks(entry);
        }

        /** Whether the commit through this zxid needs acks from memory. */
        boolean onMemoriesAlone(long through) {
            return proposed.stream()
                    .anyMatch(e -> e.zxid > committed && e.zxid <= through && !onDisks(e));
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

        boolean lastSlowOnFastQuorumOfDisks(long start) {
            long lastSlow =
                    proposed.stream()
                            .filter(entry -> entry.mode == Mode.SLOW)
                            .mapToLong(Proposed::zxid)
                            .max()
                            .orElse(start);
            long disks =
                    LongStream.rangeClosed(1, voters)
                            .filter(sid -> connectedSinceSeal(sid) && durable(sid, lastSlow))
                            .count();
            boolean nothingFastSince = proposed.stream().noneMatch(e -> e.zxid > lastSlow);
            return nothingFastSince && durable(SELF, lastSlow) && disks >= bareMajority() + 1;
        }
    }

    @Property(tries = 400)
    void agreesWithANaiveCount(@ForAll @IntRange(min = 3, max = 7) int voters, @ForAll long seed) {
        Random random = new Random(seed);
        long start = Zxid.of(3, 0);
        List<Long> ofVoters = LongStream.rangeClosed(1, voters).boxed().toList();
        CommitRule rule = new CommitRule(SELF, ofVoters);
        rule.startEpoch(start);
        Oracle oracle = new Oracle(voters, start);
        List<long[]> connections = new ArrayList<>();
        connections.add(new long[] {SELF, CommitRule.SELF});
        long last = start;
        Mode mode = Mode.SLOW;
        int calm = random.nextInt(21);
        boolean fromMemory = false;
        StringBuilder trace = new StringBuilder();
        for (int event = 0; event < EVENTS; event++) {
            int kind = random.nextInt(100);
            if (kind < DISRUPTIONS && random.nextInt(20) < calm) {
                kind = DISRUPTIONS + random.nextInt(100 - DISRUPTIONS);
            }
            // One more than there are voters: an observer.
            long sid = 2L + (event < voters ? event : random.nextInt(voters));
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
                rule.disconnect(any[0], any[1]);
                if (current) {
                    oracle.disconnect(any[0]);
                }
                trace.append("disconnect ").append(any[0]).append('/').append(any[1]);
            } else if (kind < 19) {
                rule.restarted(sid);
                oracle.restart(sid);
                trace.append("restarted ").append(sid);
            } else if (kind < DISRUPTIONS) {
                // A configuration of the same voters; it has no view yet.
                rule.voters(ofVoters);
                oracle.newestSeal = null;
                trace.append("configured");
            } else if (kind < 27 && rule.sealDue()) {
                last++;
                View view = rule.proposeSeal(last);
                oracle.seal(last);
                mode = Mode.FAST;
                trace.append("seal ").append(view.members());
                assertThat(view.members()).hasSameElementsAs(oracle.newestSeal.members.keySet());
                assertThat(view.voters()).isEqualTo(voters);
                assertThat(view.seal()).isEqualTo(last);
            } else if (kind < 33) {
                if (random.nextInt(8) == 0) {
                    mode = mode == Mode.FAST ? Mode.SLOW : Mode.FAST;
                }
                last++;
                rule.propose(last, mode);
                oracle.propose(last, mode);
                trace.append("propose ").append(mode);
            } else if (kind < 88) {
                long[] any = connections.get(random.nextInt(connections.size()));
                if (random.nextInt(4) > 0) {
                    // Mostly a connection that counts, and an entry that waits.
                    long acker = 1L + random.nextInt(voters);
                    any = new long[] {acker, oracle.newestConnection.getOrDefault(acker, any[1])};
                }
                int waiting = (int) Math.min(4, last - oracle.committed);
                long zxid =
                        random.nextBoolean()
                                ? Math.min(last, oracle.committed + 1)
                                : last - random.nextInt(waiting + 1);
                if (zxid > start) {
                    Oracle.Seal before = oracle.sealBefore(any[1], zxid);
                    if (before != null) {
                        rule.ack(any[0], any[1], before.zxid);
                        oracle.ack(any[0], any[1], before.zxid);
                    }
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
                fromMemory |= oracle.onMemoriesAlone(committed);
                rule.committed(committed);
                oracle.committed = committed;
                trace.append("commit ").append(committed - start);
            }
            if (event >= voters && random.nextInt(10) == 0) {
                boolean silent = random.nextInt(3) == 0;
                rule.silent(sid, silent);
                if (silent) {
                    oracle.silent.add(sid);
                } else {
                    oracle.silent.remove(sid);
                }
                trace.append(silent ? ", silent " : ", heard ").append(sid);
            }
            trace.append('\n');
            assertThat(rule.committableThrough())
                    .as(trace.toString())
                    .isEqualTo(oracle.committableThrough());
            assertThat(rule.lastSlowOnFastQuorumOfDisks())
                    .as(trace.toString())
                    .isEqualTo(oracle.lastSlowOnFastQuorumOfDisks(start));
            assertThat(rule.outstanding()).isEqualTo((int) (last - oracle.committed));
            assertThat(rule.sealDue()).as(trace.toString()).isEqualTo(oracle.sealDue());
            assertThat(rule.viewIsWhole()).as(trace.toString()).isEqualTo(oracle.viewIsWhole());
            for (long server = 1; server <= voters + 1; server++) {
                assertThat(rule.sealed(server))
                        .as(trace.toString())
                        .isEqualTo(oracle.connectedSinceSeal(server));
            }
        }
        Statistics.label("an entry committed on F memories")
                .collect(fromMemory)
                .coverage(found -> found.check(true).percentage(share -> share > 5));
    }
}
