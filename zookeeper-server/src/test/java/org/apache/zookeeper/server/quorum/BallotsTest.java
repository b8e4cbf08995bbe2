package org.apache.zookeeper.server.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.core.leader.NominatedSuccessor;
import io.saucr.server.config.SaucrSettings;
import io.saucr.server.metrics.LogMetrics;
import io.saucr.server.metrics.ReplicationMetrics;
import io.saucr.server.requests.RequestWatch;
import io.saucr.server.requests.SlowRequests;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.zookeeper.server.quorum.FastLeaderElection.Notification;
import org.apache.zookeeper.server.quorum.QuorumPeer.QuorumServer;
import org.apache.zookeeper.server.quorum.QuorumPeer.ServerState;
import org.apache.zookeeper.server.quorum.flexible.QuorumMaj;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** When server 1 of five takes the leader that it knows a quorum for. */
class BallotsTest {
    private static final long ROUND = 3;
    private static final long EPOCH = 2;
    private static final long ZXID = 0x2_0000_0007L;
    private static final long LEADER = 4;

    /** No test waits that long. */
    private static final long LONG_SECONDS = 600;

    private static final long SHORT_MILLIS = 20;

    private final Set<Long> mayVote = ConcurrentHashMap.newKeySet();
    private volatile NominatedSuccessor named;
    private FastLeaderElection election;
    private Ballots ballots;

    @BeforeEach
    void begin() throws Exception {
        for (long sid = 1; sid <= 5; sid++) {
            mayVote.add(sid);
        }
        QuorumPeer self = server1Of5(new QuorumPeer());
        election = new FastLeaderElection(self, null);
        election.logicalclock.set(ROUND);
        election.updateProposal(LEADER, ZXID, EPOCH);
        ballots = new Ballots(self, election, mayVote::contains, () -> named);
    }

    private static <T extends QuorumPeer> T server1Of5(T peer) {
        Map<Long, QuorumServer> servers = new HashMap<>();
        for (long sid = 1; sid <= 5; sid++) {
            InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
            servers.put(sid, new QuorumServer(sid, any, any));
        }
        peer.setMyid(1);
        peer.setQuorumVerifier(new QuorumMaj(servers), false);
        return peer;
    }

    private static Notification vote(long voter, long leader, long round) {
        Notification vote = new Notification();
        vote.sid = voter;
        vote.leader = leader;
        vote.zxid = ZXID;
        vote.peerEpoch = EPOCH;
        vote.electionEpoch = round;
        vote.state = ServerState.LOOKING;
        return vote;
    }

    /** They vote for the leader, and the election has heard of it. */
    private void voted(long... voters) throws InterruptedException {
        for (long voter : voters) {
            ballots.offer(vote(voter, LEADER, ROUND));
            assertThat(ballots.poll(LONG_SECONDS, TimeUnit.SECONDS).sid).isEqualTo(voter);
        }
    }

    private void assertDecided() throws InterruptedException {
        long begin = System.nanoTime();
        assertThat(ballots.poll(LONG_SECONDS, TimeUnit.SECONDS)).isNull();
        assertThat(System.nanoTime() - begin).isLessThan(TimeUnit.SECONDS.toNanos(LONG_SECONDS));
    }

    private void assertWaits() throws InterruptedException {
        long begin = System.nanoTime();
        assertThat(ballots.poll(SHORT_MILLIS, TimeUnit.MILLISECONDS)).isNull();
        assertThat(System.nanoTime() - begin)
                .isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(SHORT_MILLIS));
    }

    @Test
    void nobodyIsWaitedForWhenAllHaveVoted() throws Exception {
        voted(1, 2, 3, 4, 5);
        assertDecided();
    }

    @Test
    void whoCannotVoteIsNotWaitedFor() throws Exception {
        mayVote.remove(5L);
        voted(1, 2, 3, 4);
        assertDecided();
    }

    @Test
    void whoMayStillVoteIsWaitedFor() throws Exception {
        voted(1, 2, 3, 4);
        assertWaits();
        ballots.offer(vote(5, 5, ROUND));
        assertThat(ballots.poll(LONG_SECONDS, TimeUnit.SECONDS).leader).isEqualTo(5);
    }

    @Test
    void aConnectionThatBreaksEndsTheWait() throws Exception {
        voted(1, 2, 3, 4);
        Thread breaks = new Thread(() -> mayVote.remove(5L));
        breaks.start();
        assertDecided();
        breaks.join();
    }

    @Test
    void withoutAQuorumNobodyIsElected() throws Exception {
        mayVote.removeAll(Set.of(3L, 4L, 5L));
        voted(1, 2);
        assertWaits();
    }

    @Test
    void votesForAnotherLeaderAndOfAnotherRoundAreNone() throws Exception {
        mayVote.remove(5L);
        ballots.offer(vote(1, 1, ROUND));
        ballots.offer(vote(2, LEADER, ROUND - 1));
        assertThat(ballots.poll(LONG_SECONDS, TimeUnit.SECONDS)).isNotNull();
        assertThat(ballots.poll(LONG_SECONDS, TimeUnit.SECONDS)).isNotNull();
        voted(3, 4);
        assertWaits();
        voted(1);
        assertWaits();
    }

    private static final long OLD_LEADER = 5;

    private void names(long sid) {
        named = new NominatedSuccessor(sid, OLD_LEADER, 0);
    }

    @Test
    void r28OnceAQuorumHasVotedForTheNamedServerNobodyIsWaitedFor() throws Exception {
        names(LEADER);
        voted(1, 4, 5);
        assertDecided();
    }

    @Test
    void r28TheNamedServerIsWaitedForAlsoLonger() throws Exception {
        names(2);
        voted(1, 3, 4, 5);
        Thread votesLate =
                new Thread(
                        () -> {
                            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5 * SHORT_MILLIS));
                            ballots.offer(vote(2, 2, ROUND));
                        });
        votesLate.start();
        assertThat(ballots.poll(SHORT_MILLIS, TimeUnit.MILLISECONDS).leader).isEqualTo(2);
        votesLate.join();
    }

    @Test
    void r28OnceTheNameNoLongerHoldsTheElectionEnds() throws Exception {
        names(2);
        voted(1, 3, 4, 5);
        Thread ends =
                new Thread(
                        () -> {
                            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5 * SHORT_MILLIS));
                            named = null;
                        });
        ends.start();
        assertThat(ballots.poll(SHORT_MILLIS, TimeUnit.MILLISECONDS)).isNull();
        assertThat(named).isNull();
        ends.join();
    }

    /** It has less, or another vote would be for it. */
    @Test
    void r28ANamedServerThatHasVotedIsNotWaitedFor() throws Exception {
        names(2);
        mayVote.remove(5L);
        voted(1, 2, 3, 4);
        assertDecided();
        assertThat(named).isNotNull();
    }

    private static Notification role(long sid, ServerState state, long round) {
        Notification role = vote(sid, OLD_LEADER, round);
        role.state = state;
        return role;
    }

    /** Else a server that left before the others would follow the old leader again. */
    @Test
    void r28ATermThatEndedByAHandOverIsNotHeardOf() throws Exception {
        names(2);
        ballots.offer(role(OLD_LEADER, ServerState.LEADING, ROUND - 1));
        ballots.offer(role(3, ServerState.FOLLOWING, ROUND - 1));
        ballots.offer(vote(4, 4, ROUND));
        assertThat(ballots.poll(LONG_SECONDS, TimeUnit.SECONDS).sid).isEqualTo(4);
        ballots.offer(role(OLD_LEADER, ServerState.LEADING, ROUND));
        assertThat(ballots.poll(LONG_SECONDS, TimeUnit.SECONDS).sid).isEqualTo(OLD_LEADER);
        named = null;
        ballots.offer(role(OLD_LEADER, ServerState.LEADING, ROUND - 1));
        assertThat(ballots.poll(LONG_SECONDS, TimeUnit.SECONDS).sid).isEqualTo(OLD_LEADER);
    }

    /** The election need not take what it is offered, and then it asks again. */
    @Test
    void aWaitIsEndedOnce() throws Exception {
        voted(1, 2, 3, 4, 5);
        assertDecided();
        assertWaits();
        election.logicalclock.set(ROUND + 1);
        for (long voter = 1; voter <= 5; voter++) {
            ballots.offer(vote(voter, LEADER, ROUND + 1));
            assertThat(ballots.poll(LONG_SECONDS, TimeUnit.SECONDS)).isNotNull();
        }
        assertDecided();
    }

    @Test
    void aPeersElectionHasThem() throws Exception {
        Properties properties = new Properties();
        properties.setProperty("zookeeper.saucr.enabled", "true");
        SaucrSettings settings = SaucrSettings.parse("test", properties);
        SaucrQuorumPeer peer =
                server1Of5(
                        new SaucrQuorumPeer(
                                settings,
                                new LogMetrics(),
                                new ReplicationMetrics(),
                                new RequestWatch(new SlowRequests(Duration.ZERO)),
                                null));
        FastLeaderElection created = (FastLeaderElection) peer.createElectionAlgorithm(3);
        try {
            assertThat(created.recvqueue).isInstanceOf(Ballots.class);
        } finally {
            created.shutdown();
        }
    }
}
