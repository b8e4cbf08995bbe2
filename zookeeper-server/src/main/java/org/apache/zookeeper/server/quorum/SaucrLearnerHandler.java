package org.apache.zookeeper.server.quorum;

import io.saucr.core.leader.FollowerConnection;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.server.Encoder;
import org.apache.zookeeper.server.ServerMetrics;
import org.apache.zookeeper.server.quorum.QuorumPeer.LearnerType;
import org.apache.zookeeper.server.quorum.auth.NullQuorumAuthServer;
import org.apache.zookeeper.server.quorum.auth.QuorumAuthServer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A leader's connection to a learner that wakes nobody to send: packets are collected, and all of a
 * batch leave in one write, by the thread that ends the batch. What one read brings is a batch.
 *
 * <p>Until the learner is synchronised, and while its socket does not take what it gets, a thread
 * sends what is queued, as ZooKeeper's does. Packets leave in the order of {@link #queuePacket},
 * which any thread may call, whatever it holds: it never waits and writes nothing.
 */
public final class SaucrLearnerHandler extends LearnerHandler {
    private static final Logger LOG = LoggerFactory.getLogger(SaucrLearnerHandler.class);

    /** Who ends batches. */
    interface Batches {
        /** Something was collected; called under whatever locks the caller holds. */
        void later();

        /** From now on this handler has to be flushed at the end of every batch. */
        void collects(SaucrLearnerHandler handler);

        /** The end of a batch; the calling thread holds no lock. */
        void batch();
    }

    private final PeerSocket peer;
    private final BufferedInputStream in;
    private final QuorumAuthServer authentication;
    private final Batches batches;
    private final Object sending = new Object();

    /** What the leader knows of the learner; null before it is accepted, and after its end. */
    private volatile FollowerConnection<SaucrLearnerHandler> connection;

    // This thread.
    private boolean batchDue;

    /** Whether the sender runs or has run: before that nobody is pinged. */
    private volatile boolean sends;

    // Guarded by sending.
    private final Encoder encoder = new Encoder();
    private boolean collects;
    private boolean expectsAcks;

    /** The oldest proposal without an ack, and the newest one after it; 0 if there is none. */
    private long unacked;

    private long unackedSince;
    private long unackedNext;
    private long unackedNextSince;

    /**
     * @param master whose {@code getQuorumAuthServer} is null: this constructor is called by the
     *     thread that accepts, which must not wait for what a learner sends
     * @param authentication what the handler's own thread asks of the learner first; null for
     *     nothing
     */
    SaucrLearnerHandler(
            PeerSocket peer,
            BufferedInputStream in,
            LearnerMaster master,
            QuorumAuthServer authentication,
            Batches batches)
            throws IOException {
        super(peer, in, master);
        this.peer = peer;
        this.in = in;
        this.authentication = authentication;
        this.batches = batches;
        peer.beforeReading(this::endBatch);
    }

    /**
     * The handler of a learner that has connected: ZooKeeper's own unless the leader is one of
     * ours, whose sockets are.
     */
    public static LearnerHandler of(Socket socket, BufferedInputStream in, LearnerMaster master)
            throws IOException {
        if (!(master instanceof SaucrLeader leader)) {
            return new LearnerHandler(socket, in, master);
        }
        PeerSocket peer = (PeerSocket) socket;
        QuorumAuthServer authentication = leader.learnerAuthentication();
        // SASL marks where it is, looks whether a learner speaks SASL, and goes back.
        boolean marks = !(authentication instanceof NullQuorumAuthServer);
        return new SaucrLearnerHandler(
                peer,
                marks ? in : new Unbuffered(peer.getInputStream()),
                leader,
                authentication,
                leader.pipeline());
    }

    /**
     * Stands before a stream that has a buffer of its own: it would be one copy more, and a lock
     * for each byte.
     */
    @SuppressWarnings("UnsynchronizedOverridesSynchronized") // read by one thread
    private static final class Unbuffered extends BufferedInputStream {
        Unbuffered(InputStream in) {
            super(in, 1);
        }

        @Override
        public int read() throws IOException {
            return in.read();
        }

        @Override
        public int read(byte[] to, int offset, int length) throws IOException {
            return in.read(to, offset, length);
        }

        @Override
        public long skip(long count) throws IOException {
            return in.skip(count);
        }

        @Override
        public int available() throws IOException {
            return in.available();
        }

        @Override
        public boolean markSupported() {
            return false;
        }

        @Override
        public void reset() throws IOException {
            throw new IOException("nothing is kept to go back to");
        }
    }

    @Override
    public void run() {
        if (!authenticated()) {
            return;
        }
        try {
            super.run();
        } finally {
            endBatch();
        }
    }

    private boolean authenticated() {
        boolean done = false;
        try {
            if (authentication != null) {
                authentication.authenticate(peer, new DataInputStream(in));
            }
            done = true;
        } catch (IOException e) {
            LOG.error(
                    "The learner at {} has not authenticated itself, closing the connection",
                    peer.getRemoteSocketAddress(),
                    e);
        } finally {
            if (!done) {
                closeSocket();
            }
        }
        return done;
    }

    void connectionIs(FollowerConnection<SaucrLearnerHandler> known) {
        connection = known;
    }

    FollowerConnection<SaucrLearnerHandler> connection() {
        return connection;
    }

    /** Whether something has come in that was not read yet. By the heartbeats' thread alone. */
    boolean unread() {
        return peer.unread();
    }

    /** This thread ends a batch before it reads again. */
    void batchIsDue() {
        batchDue = true;
    }

    private void endBatch() {
        while (batchDue) {
            batchDue = false;
            batches.batch();
        }
    }

    @Override
    protected void startSendingPackets() {
        sends = true;
        startSender(false);
    }

    private void startSender(boolean untilEmpty) {
        Thread sender =
                new Thread(() -> sendQueued(untilEmpty), "Sender-" + peer.getRemoteSocketAddress());
        sender.start();
    }

    /** The learner is synchronised: nothing is queued but by {@link #queuePacket} any more. */
    void synchronised() {
        synchronized (sending) {
            expectsAcks = getLearnerType() == LearnerType.PARTICIPANT;
        }
        queuedPackets.add(new WhenEmpty());
    }

    /** The sender ends when it finds nothing behind this one. */
    private static final class WhenEmpty extends QuorumPacket {}

    @SuppressWarnings("ReferenceEquality") // a mark, not a packet
    private void sendQueued(boolean ends) {
        boolean untilEmpty = ends;
        try {
            OutputStream out = peer.getOutputStream();
            Encoder sendersEncoder = new Encoder();
            while (true) {
                QuorumPacket packet = queuedPackets.poll();
                if (packet == null) {
                    out.flush();
                    if (untilEmpty && collectsFromNow()) {
                        return;
                    }
                    packet = queuedPackets.take();
                }
                if (packet == proposalOfDeath) {
                    return;
                }
                if (packet instanceof WhenEmpty) {
                    untilEmpty = true;
                    continue;
                }
                synchronized (sending) {
                    sent(packet, System.nanoTime());
                }
                sendersEncoder.add(packet, "packet");
                peer.write(sendersEncoder);
                sendersEncoder.clear();
            }
        } catch (IOException e) {
            LOG.warn("Cannot send to server {}, closing the connection", getSid(), e);
            closeSocket();
        } catch (InterruptedException e) {
            LOG.warn("Interrupted while sending to server {}", getSid(), e);
            closeSocket();
        }
    }

    private boolean collectsFromNow() {
        batches.collects(this);
        synchronized (sending) {
            if (queuedPackets.isEmpty() && !peer.lagging()) {
                collects = true;
            }
            return collects;
        }
    }

    @Override
    void queuePacket(QuorumPacket packet) {
        synchronized (sending) {
            if (!takes(packet, System.nanoTime())) {
                return;
            }
            encoder.add(packet, "packet");
            peer.collect(encoder);
            // It must not hold a large value.
            encoder.clear();
        }
        batches.later();
    }

    /**
     * As {@link #queuePacket}, of a packet that is encoded for several learners. The caller ends
     * the batch.
     *
     * @param now in nanoseconds
     */
    void queuePacket(QuorumPacket packet, Encoder encoded, long now) {
        synchronized (sending) {
            if (takes(packet, now)) {
                peer.collect(encoded);
            }
        }
    }

    /** Whether the packet is to be collected; if not, the sender sends it. */
    private boolean takes(QuorumPacket packet, long now) {
        if (collects && !peer.lagging()) {
            sent(packet, now);
            return true;
        }
        queuedPackets.add(packet);
        if (collects) {
            collects = false;
            startSender(true);
        }
        return false;
    }

    private void sent(QuorumPacket packet, long now) {
        if (packet.getType() == Leader.PROPOSAL && expectsAcks) {
            if (unacked == 0) {
                unacked = packet.getZxid();
                unackedSince = now;
            } else {
                unackedNext = packet.getZxid();
                unackedNextSince = now;
            }
        }
        if (packet.getZxid() > 0) {
            lastZxid = packet.getZxid();
        }
        packetsSent.incrementAndGet();
        messageTracker.trackSent(packet.getType());
    }

    /** Writes what was collected, as far as the socket takes it; the rest follows on its own. */
    void flush() {
        if (peer.isClosed()) {
            return;
        }
        try {
            peer.flush();
        } catch (IOException e) {
            LOG.warn("Cannot send to server {}, closing the connection", getSid(), e);
            closeSocket();
        }
    }

    /** The learner has acked the proposal. */
    void acked(long zxid) {
        synchronized (sending) {
            if (zxid == unacked) {
                unacked = unackedNext;
                unackedSince = unackedNextSince;
                unackedNext = 0;
            } else if (zxid == unackedNext) {
                unackedNext = 0;
            }
        }
    }

    /** A learner that acks nothing for the sync limit is closed, as ZooKeeper does. */
    @Override
    public void ping() {
        if (!sends) {
            return;
        }
        ServerMetrics.getMetrics()
                .LEARNER_HANDLER_QP_SIZE
                .add(Long.toString(getSid()), queuedPackets.size());
        boolean late;
        synchronized (sending) {
            long waits = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - unackedSince);
            late = unacked != 0 && waits >= learnerMaster.syncTimeout();
        }
        if (late) {
            LOG.warn(
                    "Server {} has not acknowledged for the sync limit: closing its connection",
                    getSid());
            shutdown();
        } else {
            queuePacket(new QuorumPacket(Leader.PING, learnerMaster.getLastProposed(), null, null));
        }
    }

    @Override
    public synchronized Map<String, Object> getLearnerHandlerInfo() {
        Map<String, Object> info = super.getLearnerHandlerInfo();
        long bytes = 0;
        for (QuorumPacket each : queuedPackets) {
            bytes += packetSize(each);
        }
        info.put("queued_packets_size", bytes);
        return info;
    }
}
