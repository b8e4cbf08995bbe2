package org.apache.zookeeper.server.quorum;

import io.saucr.core.leader.FailureDetector;
import io.saucr.core.log.LleMap;
import io.saucr.core.log.ProposalTag;
import io.saucr.core.quorum.View;
import io.saucr.server.config.SaucrSettings;
import io.saucr.server.runtime.CriticalThread;
import io.saucr.server.runtime.FlushCause;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.persistence.SaucrTxnLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A follower that tells its log which proposals are fast (R3), and that flushes when its leader
 * falls silent (R10).
 *
 * <p>Packets are read by the peer's main thread alone; a thread of its own watches for silence.
 */
final class SaucrFollower extends Follower {
    private static final Logger LOG = LoggerFactory.getLogger(SaucrFollower.class);

    /**
     * For how long a leader that was elected may not be ready. Apache's follower gives up after 400
     * ms and four pauses, but on a busy machine a JVM takes longer to lead for the first time; then
     * this server would elect somebody else, while that leader waits for followers until initLimit.
     */
    private static final long LEADER_GETS_READY_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final int VERSION_OFFSET = Long.BYTES;
    private static final int NOTICE_BYTES = Long.BYTES + Integer.BYTES + Integer.BYTES;

    /**
     * The most servers in the map. What is in it once stays on disk for ever, and goes into the
     * tags of every later leader.
     */
    private static final int MOST_KNOWN = ProposalTag.MAX_MEMBERS;

    private final SaucrQuorumPeer peer;
    private final SaucrFollowerServer server;
    private final SaucrTxnLog log;
    private final FailureDetector detector;
    private final int missedBeforeElection;
    private final long diskTimeoutNanos;
    private final int incarnation;
    private final Thread watch;

    private final LeaderConnection connection = new LeaderConnection(this, this::endOfBatch);

    // The reading thread.
    private String announced;
    private boolean announcedForced;
    private boolean nothingAnnounced = true;

    /** Whether the leader seals views; it says so before UPTODATE (R23). */
    private boolean leaderSealsViews;

    /** The map that the log will have when everything that was read is in it. */
    private LleMap told = LleMap.empty();

    /** Everything up to UPTODATE is slow (H5). */
    private volatile boolean synced;

    /** Only a leader that sends heartbeats can be missed; it says so before UPTODATE. */
    private volatile boolean leaderSendsHeartbeats;

    private volatile long heard = System.nanoTime();

    /**
     * Since when the reading thread logs and applies what it has read; 0 while it does not. It
     * hears nothing meanwhile, which is not the leader's silence: perhaps the disk is slow.
     */
    private volatile long busySince;

    private volatile boolean stopped;

    /** The last entry that the leader has called committed. */
    private volatile long committed;

    // The watching thread (R24): where the log ends while others commit beyond it, and since when.
    private long stuckAt;
    private long stuckSince;

    SaucrFollower(
            SaucrQuorumPeer self,
            SaucrFollowerServer zk,
            SaucrTxnLog log,
            SaucrSettings settings,
            int incarnation) {
        super(self, zk);
        this.peer = self;
        this.server = zk;
        this.log = log;
        this.detector =
                new FailureDetector(
                        settings.heartbeatInterval().toNanos(), settings.tolerance().toNanos());
        this.incarnation = incarnation;
        this.missedBeforeElection = settings.missedHeartbeatsBeforeElection();
        this.diskTimeoutNanos = settings.diskTimeout().toNanos();
        this.watch =
                new CriticalThread(
                        "SaucrLeaderWatch:" + self.getMyId(), this::watchLeader, () -> stopped);
    }

    @Override
    void followLeader() throws InterruptedException {
        log.forgetTags();
        told = log.lleMap();
        log.wakeWhenNotOnDisk(watch);
        watch.start();
        try {
            super.followLeader();
        } finally {
            stopped = true;
            endOfBatch();
            log.wakeWhenNotOnDisk(null);
            LockSupport.unpark(watch);
        }
    }

    @Override
    public void shutdown() {
        peer.votes().hold();
        try {
            super.shutdown();
            // R10. If the disk hangs, this server waits here: it serves nobody any more, and holds
            // no lock that a status report needs.
            log.flushAndMark(FlushCause.ELECTION, "looking for a leader");
        } finally {
            peer.votes().release();
        }
    }

    /**
     * Apache's follower tries five times, with pauses that are shorter by default here. So this one
     * begins anew until the leader should be ready, unless its process has ended meanwhile. After a
     * reconfiguration the leader is one that nobody elected, and the election channel is being made
     * anew: that nothing is heard of it there then says nothing.
     */
    @Override
    protected void connectToLeader(MultipleAddresses addresses, String host) throws IOException {
        long end = System.nanoTime() + LEADER_GETS_READY_NANOS;
        long leader = peer.getCurrentVote().getId();
        boolean heard = peer.hears(leader);
        while (true) {
            try {
                super.connectToLeader(addresses, host);
                connection.connected();
                return;
            } catch (IOException e) {
                boolean reached = sock != null;
                boolean ended = heard && !peer.hears(leader);
                boolean over = System.nanoTime() - end >= 0;
                if (reached || ended || over || !peer.isRunning()) {
                    throw e;
                }
                LOG.info("Server {} does not lead yet", leader);
            }
        }
    }

    @Override
    void writePacket(QuorumPacket packet, boolean flush) throws IOException {
        if (packet != null && packet.getType() == Leader.FOLLOWERINFO) {
            // H12: announces SAUCR; Apache's leader asks for 0x10000 or more.
            ByteBuffer.wrap(packet.getData())
                    .putInt(VERSION_OFFSET, Incarnation.announcement(incarnation));
        }
        super.writePacket(packet, flush);
    }

    @Override
    protected Socket createSocket() throws IOException {
        return connection.createSocket();
    }

    @Override
    void request(Request request) throws IOException {
        if (getAsyncSending() || request.isThrottled()) {
            super.request(request);
        } else {
            connection.request(request);
        }
    }

    @Override
    void writePacketNow(QuorumPacket packet, boolean flushes) throws IOException {
        connection.writeNow(packet, flushes);
    }

    private void endOfBatch() {
        busySince = System.nanoTime() | 1;
        try {
            server.endOfBatch();
        } finally {
            heard = System.nanoTime();
            busySince = 0;
        }
    }

    /** When the leader was heard last, or would have been if this server had not been busy. */
    private long heard(long now) {
        return busySince == 0 ? heard : now;
    }

    @Override
    void readPacket(QuorumPacket packet) throws IOException {
        // The packet object is used again, and reading does not clear fields that the next packet
        // lacks.
        packet.setAuthinfo(null);
        super.readPacket(packet);
        heard = System.nanoTime();
        String info = info(packet.getAuthinfo(), 0, SaucrLeader.SCHEME);
        if (info != null && !leaderSendsHeartbeats) {
            leaderSendsHeartbeats = true;
        }
        if (!synced && sealsViews(packet.getAuthinfo())) {
            leaderSealsViews = true;
        }
        if (packet.getType() == Leader.PROPOSAL) {
            // Without a tag the one before still holds. Apache's leader never sends one.
            announce(packet.getZxid(), info == null ? announced : info);
            if (leaderSealsViews && synced) {
                announceSeal(packet.getZxid(), viewInfo(packet.getAuthinfo()));
            }
            log.proposed(packet.getZxid(), packet.getData());
        } else if (packet.getType() == Leader.PING && info != null && synced) {
            leaveIfNextIsNamed(info(packet.getAuthinfo(), 1, SaucrLeader.NEXT_SCHEME));
            answer(info);
        } else if (packet.getType() == Leader.COMMIT) {
            committed = packet.getZxid();
        } else if (packet.getType() == Leader.UPTODATE) {
            agreeOnViews();
            synced = true;
            connection.synchronised();
            LockSupport.unpark(watch);
        }
    }

    /**
     * R23: a leader that seals views counts this server once it has said, before it acks UPTODATE,
     * that it keeps them. One that does not, of a version without R23, would count what is in this
     * server's memory alone under a view that is long outdated: it gets acks from the disk.
     */
    private void agreeOnViews() throws IOException {
        if (leaderSealsViews) {
            writePacket(notice(0, 0, SaucrLeader.KEEPS_VIEWS), true);
        } else if (leaderSendsHeartbeats) {
            LOG.warn(
                    "Server {} leads with a version that seals no views: as long as it leads, this"
                            + " server syncs its log before every acknowledgement",
                    peer.getLeaderId());
        }
    }

    private static boolean sealsViews(List<Id> authinfo) {
        return viewInfo(authinfo) != null;
    }

    private static String viewInfo(List<Id> authinfo) {
        return info(authinfo, 1, SaucrLeader.VIEW_SCHEME);
    }

    /**
     * @param text null if the proposal seals nothing
     */
    private void announceSeal(long zxid, String text) throws IOException {
        if (text == null) {
            return;
        }
        View view;
        try {
            view = View.decode(text);
        } catch (IllegalArgumentException e) {
            throw new IOException(
                    "proposal 0x" + Long.toHexString(zxid) + " carries a malformed view", e);
        }
        if (view.seal() != zxid) {
            throw new IOException(
                    "proposal 0x%s seals a view of the name 0x%s"
                            .formatted(Long.toHexString(zxid), Long.toHexString(view.seal())));
        }
        log.announceSeal(view);
    }

    /**
     * R28: the leader names the next one, has nothing more to say, and waits for this server to
     * leave.
     */
    private void leaveIfNextIsNamed(String next) throws IOException {
        if (next == null) {
            return;
        }
        try {
            peer.names(Long.parseLong(next));
        } catch (NumberFormatException e) {
            throw new IOException("the leader names \"" + next + "\" as the next one", e);
        }
        throw new IOException("the leader hands over to server " + next);
    }

    /** R22: a heartbeat with a number asks whether this server still follows. */
    private void answer(String question) throws IOException {
        if (question.isEmpty()) {
            return;
        }
        try {
            long number = Long.parseLong(question);
            writePacket(notice(number, 0, SaucrLeader.STILL_FOLLOWING), true);
        } catch (NumberFormatException e) {
            LOG.debug("The leader asks \"{}\", which is no number", question, e);
        }
    }

    /**
     * R1: the tag is announced to the log before the proposal reaches it, and only when it changes.
     */
    private void announce(long zxid, String info) throws IOException {
        boolean forced = !synced || !leaderSealsViews;
        if (!nothingAnnounced && announcedForced == forced && Objects.equals(info, announced)) {
            return;
        }
        nothingAnnounced = false;
        announcedForced = forced;
        announced = info;
        if (info == null) {
            log.announce(zxid, null);
            return;
        }
        try {
            ProposalTag tag = ProposalTag.decode(info);
            told = told.merge(tag.resolve(zxid));
            if (told.size() > MOST_KNOWN) {
                throw new IOException(
                        "the leader has told of %s servers, at most %s are remembered"
                                .formatted(told.size(), MOST_KNOWN));
            }
            if (forced) {
                log.announceForced(zxid, tag);
            } else {
                log.announce(zxid, tag);
            }
        } catch (IllegalArgumentException e) {
            throw new IOException(
                    "proposal 0x" + Long.toHexString(zxid) + " carries a malformed tag", e);
        }
    }

    /**
     * R20: tells the leader that a server has restarted, before any later ack. Any thread may call
     * it. A leader without SAUCR need not be told: it counts only what is on disk, and a server
     * that crashed in fast mode has acked nothing to it yet. A leader has no SAUCR if it has sent
     * UPTODATE without announcing SAUCR before.
     *
     * @return false if there is no leader that could be told now; then the server must not be
     *     answered
     */
    boolean tellLeader(long restarted, long nonce) throws IOException {
        if (!synced || sock == null) {
            return false;
        }
        if (leaderSendsHeartbeats) {
            writePacket(notice(restarted, (int) nonce, SaucrLeader.RESTART_NOTICE), true);
        }
        return true;
    }

    /** A REQUEST that no client can send. */
    private static QuorumPacket notice(long sessionId, int cxid, int type) {
        byte[] data = new byte[NOTICE_BYTES];
        ByteBuffer.wrap(data).putLong(sessionId).putInt(cxid).putInt(type);
        return new QuorumPacket(Leader.REQUEST, -1, data, null);
    }

    /** What the entry at this place says, null if it is not there or not of this scheme. */
    private static String info(List<Id> authinfo, int at, String scheme) {
        if (authinfo == null || authinfo.size() <= at) {
            return null;
        }
        Id entry = authinfo.get(at);
        return scheme.equals(entry.getScheme()) ? entry.getId() : null;
    }

    /**
     * R10, H11. While the markers say "on disk" there is nothing to flush. So this thread then
     * sleeps until the silence that makes this server look for another leader: an idle ensemble
     * costs little.
     */
    private void watchLeader() {
        long excused = heard;
        int reactedTo = 0;
        long planned = System.nanoTime();
        while (!stopped) {
            long now = System.nanoTime();
            if (leftForDisk(now)) {
                return;
            }
            if (!synced || !leaderSendsHeartbeats) {
                planned = now + detector.intervalNanos();
            } else {
                // H11: the leader may have gone meanwhile. This server flushes at once, and
                // counts silent intervals from now on.
                boolean wokeUp =
                        detector.overslept(planned, now) && detector.suspected(heard(now), now);
                if (wokeUp) {
                    excused = detector.heardBeforeSleep(heard(now), excused, now - planned, now);
                }
                long since = Math.max(heard(now), excused);
                int silent = Math.max(wokeUp ? 1 : 0, detector.silentIntervals(since, now));
                if (silent > reactedTo) {
                    react(silent, wokeUp ? now - planned : 0);
                }
                reactedTo = silent;
                int next = log.claimsOnDisk() ? missedBeforeElection : silent + 1;
                planned =
                        Math.min(
                                detector.silentFor(Math.max(next, silent + 1), since),
                                now + diskTimeoutNanos);
            }
            LockSupport.parkNanos(this, Math.max(1, planned - System.nanoTime()));
        }
    }

    /**
     * R24: while the disk hangs, what comes in would fill the memory, and clients of this server
     * would wait in vain. So it leaves its leader; the others commit without it. While it still
     * synchronises it logs nothing, however long its snapshot takes, and has no clients: if it
     * left, it would only have to begin anew.
     */
    private boolean leftForDisk(long now) {
        long busy = busySince;
        if (busy != 0 && now - busy >= diskTimeoutNanos) {
            LOG.error(
                    "This server has been writing its log for {} ms: leaving the leader until its"
                            + " disk answers",
                    TimeUnit.NANOSECONDS.toMillis(now - busy));
            stopped = true;
            closeSocket();
            // The thread that would do so waits for the disk, and clients must not.
            self.setZooKeeperServer(null);
            self.closeAllConnections();
            return true;
        }
        long appended = log.lastAppended();
        if (!synced || appended != stuckAt || committed <= appended) {
            stuckAt = appended;
            stuckSince = now;
            return false;
        }
        if (now - stuckSince < diskTimeoutNanos) {
            return false;
        }
        LOG.error(
                "Others commit, but this server has logged nothing for {} ms: leaving the leader"
                        + " until its disk answers",
                TimeUnit.NANOSECONDS.toMillis(now - stuckSince));
        stopped = true;
        closeSocket();
        return true;
    }

    /**
     * @param pauseNanos for how long this process stood still, 0 if it did not (H11)
     */
    private void react(int silentIntervals, long pauseNanos) {
        switch (detector.reaction(silentIntervals, missedBeforeElection)) {
            case NONE -> {}
            case FLUSH -> {
                long now = System.nanoTime();
                if (detector.suspected(heard(now), now)) {
                    log.flushAndMark(
                            FlushCause.SILENT_LEADER,
                            "the leader was silent for "
                                    + TimeUnit.NANOSECONDS.toMillis(now - heard)
                                    + " ms"
                                    + (pauseNanos > 0
                                            ? "; this server itself stood still for at least "
                                                    + TimeUnit.NANOSECONDS.toMillis(pauseNanos)
                                                    + " ms"
                                            : ""));
                }
            }
            case LOOK_FOR_LEADER -> {
                log.flushAndMark(FlushCause.SILENT_LEADER, "the leader stays silent");
                LOG.warn(
                        "The leader was silent for {} heartbeat intervals, leaving it",
                        silentIntervals);
                stopped = true;
                closeSocket();
            }
        }
    }
}
