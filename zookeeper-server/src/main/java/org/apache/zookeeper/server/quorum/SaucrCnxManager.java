package org.apache.zookeeper.server.quorum;

import io.saucr.core.recovery.RecoveryMessage;
import io.saucr.core.recovery.RecoveryWire;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.server.quorum.auth.QuorumAuthLearner;
import org.apache.zookeeper.server.quorum.auth.QuorumAuthServer;
import org.apache.zookeeper.server.quorum.flexible.QuorumVerifier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The election channel, which also carries recovery messages (R18), and which lets no vote in or
 * out while this server recovers (R15). Until then the newest vote of each other server is kept, as
 * its sender may not repeat it for a minute. Thread-safe.
 *
 * <p>A server whose number is in no configuration that this one knows is a <em>peer outside of the
 * configuration</em>: one that is about to join, an observer without a number, or, where the port
 * has neither TLS nor SASL, any process. Such peers are answered, but only while they are
 * connected. One that hangs up is forgotten, and repeats its question when it is back. At most
 * {@value #OUTSIDE_PEERS} are connected, and at most {@value #OUTSIDE_PEERS_ANSWERED} of them have
 * a recovery message under way. When there are more, the one whose last question is the oldest is
 * disconnected, and the message is dropped. A message that is no question counts as silence.
 */
final class SaucrCnxManager extends QuorumCnxManager {
    private static final Logger LOG = LoggerFactory.getLogger(SaucrCnxManager.class);

    /** A connection costs two threads, and up to 512 KB while a message comes in. */
    static final int OUTSIDE_PEERS = 32;

    /** A recovery message costs up to three times 480 KB while it is sent. */
    static final int OUTSIDE_PEERS_ANSWERED = 8;

    /** A peer that reads nothing for so long is disconnected. */
    private static final long LONGEST_SEND_NANOS = TimeUnit.SECONDS.toNanos(10);

    private static final long LEAST_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long LONGEST_WAIT_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** Where recovery messages go, and whether votes may pass. */
    interface Recovery {
        /** A recovery message has come in; must return soon. */
        void received(long from, ByteBuffer message);

        /** A vote has come in that is not heard before this server has recovered. */
        void held(long from, ByteBuffer vote);

        /** Whether this server must neither vote nor hear votes. */
        boolean recovering();
    }

    private final Recovery recovery;

    /** The newest votes that came in while recovering. Guarded by its own monitor. */
    private final Map<Long, Message> heldVotes = new HashMap<>();

    private final EarlyVotes earlyVotes = new EarlyVotes();

    /** For known servers without a connection: when the next attempt is due. */
    private final ConcurrentHashMap<Long, Attempt> attempts = new ConcurrentHashMap<>();

    /**
     * Connected peers outside of the configuration; the one that asked last is at the end. Its own
     * monitor guards it.
     */
    private final LinkedHashSet<Long> outsidePeers = new LinkedHashSet<>();

    private final Greetings greetings;

    /** Whether a peer that has greeted logs in, for which it is waited. */
    private final boolean logsIn;

    /** Held while a connection without a login is taken: they are taken one after the other. */
    private final Object taking = new Object();

    private final LogRateLimiter disconnected = new LogRateLimiter();
    private final LogRateLimiter badGreetings = new LogRateLimiter();

    /** A connection was tried; the next time is {@code waitNanos} later. */
    private record Attempt(long at, long waitNanos) {}

    SaucrCnxManager(
            QuorumPeer self,
            Map<Long, QuorumPeer.QuorumServer> view,
            QuorumAuthServer authServer,
            QuorumAuthLearner authLearner,
            int socketTimeout,
            Recovery recovery) {
        super(
                self,
                self.getMyId(),
                view,
                authServer,
                authLearner,
                socketTimeout,
                self.getQuorumListenOnAllIPs(),
                self.quorumCnxnThreadsSize,
                self.isQuorumSaslAuthEnabled());
        this.recovery = recovery;
        greetings = new Greetings(self.getMyId(), this::takeConnection);
        logsIn = self.isQuorumSaslAuthEnabled();
        view.keySet().forEach(this::queueTo);
    }

    @Override
    public void addToRecvQueue(Message message) {
        ByteBuffer packet = message.buffer.duplicate();
        packet.clear();
        if (RecoveryWire.isRecoveryMessage(packet)) {
            if (!known(message.sid) && isReadable(message.sid, packet)) {
                synchronized (outsidePeers) {
                    if (outsidePeers.remove(message.sid)) {
                        outsidePeers.add(message.sid);
                    }
                }
            }
            recovery.received(message.sid, packet);
        } else {
            if (message.sid != mySid && self.viewContains(message.sid)) {
                earlyVotes.heard(message, System.nanoTime());
            }
            if (!held(message)) {
                super.addToRecvQueue(message);
            }
        }
    }

    /**
     * Whether its reader can use it. A packet that is dropped unread does not keep its sender
     * connected.
     */
    private boolean isReadable(long sid, ByteBuffer packet) {
        if (!recovery.recovering() && packet.remaining() > RecoveryAnswers.LONGEST_QUESTION) {
            return false;
        }
        try {
            return RecoveryWire.decode(packet).sender() == sid;
        } catch (RuntimeException e) {
            // The reader logs what is malformed, and how often.
            return false;
        }
    }

    /**
     * This server looks for a leader after a hand-over (R28): it hears once more the votes that
     * came in before it did so.
     *
     * @param since of {@link System#nanoTime}
     * @param after the number of the last election
     */
    void hearEarlyVotes(long since, long after) {
        earlyVotes.take(since, after).forEach(super::addToRecvQueue);
    }

    private boolean held(Message message) {
        synchronized (heldVotes) {
            if (!recovery.recovering()) {
                return false;
            }
            recovery.held(message.sid, message.buffer);
            if (self.viewContains(message.sid)) {
                heldVotes.put(message.sid, message);
            }
            return true;
        }
    }

    /** The recovery is over: the votes that came in meanwhile are heard now. */
    void releaseVotes() {
        synchronized (heldVotes) {
            heldVotes.values().forEach(super::addToRecvQueue);
            heldVotes.clear();
        }
    }

    @Override
    public void toSend(Long sid, ByteBuffer packet) {
        if (!recovery.recovering() && (known(sid) || senderWorkerMap.containsKey(sid))) {
            queueTo(sid);
            super.toSend(sid, packet);
        }
    }

    /**
     * Sends a recovery message; it may get lost, like everything on this channel. A server that
     * cannot be reached is tried less and less often, at last every two seconds, whatever is sent
     * to it; a connection that it opens itself is used at once.
     */
    void send(long sid, RecoveryMessage message) {
        if (!known(sid)) {
            sendOutside(sid, message);
            return;
        }
        queueTo(sid).offer(RecoveryWire.encode(message));
        if (senderWorkerMap.containsKey(sid)) {
            attempts.remove(sid);
        } else if (attemptIsDue(sid)) {
            connectOne(sid);
        }
    }

    /**
     * Two threads may both find it due at once; the second one then finds the attempt under way.
     */
    private boolean attemptIsDue(long sid) {
        long now = System.nanoTime();
        Attempt last = attempts.get(sid);
        if (last != null && now - last.at < last.waitNanos) {
            return false;
        }
        long wait =
                last == null ? LEAST_WAIT_NANOS : Math.min(2 * last.waitNanos, LONGEST_WAIT_NANOS);
        attempts.put(sid, new Attempt(now, wait));
        return true;
    }

    /**
     * For servers that were not in the configuration at the start ZooKeeper may have made a queue
     * of its own.
     */
    private BlockingQueue<ByteBuffer> queueTo(long sid) {
        return queueSendMap.compute(
                sid,
                (key, queue) ->
                        queue instanceof LatestPerKindQueue
                                ? queue
                                : new LatestPerKindQueue(sid, lastMessageSent, queue));
    }

    // ---- Peers outside of the configuration, and peers that do not read ----

    /** Only of these servers addresses are known, so only to these a connection can be opened. */
    private boolean known(long sid) {
        return sid == mySid || view.containsKey(sid) || known(sid, configurations());
    }

    private boolean known(long sid, List<Map<Long, ?>> configurations) {
        return sid == mySid || configurations.stream().anyMatch(each -> each.containsKey(sid));
    }

    /** Those that this server knows; takes ZooKeeper's lock of configurations. */
    private List<Map<Long, ?>> configurations() {
        QuorumVerifier newest = self.getLastSeenQuorumVerifier();
        return List.of(view, self.getView(), newest == null ? Map.of() : newest.getAllMembers());
    }

    private void sendOutside(long sid, RecoveryMessage message) {
        forgetGonePeers();
        if (senderWorkerMap.containsKey(sid) && answeredBeside(sid) < OUTSIDE_PEERS_ANSWERED) {
            queueTo(sid).offer(RecoveryWire.encode(message));
        }
    }

    private long answeredBeside(long sid) {
        return queueSendMap.entrySet().stream()
                .filter(each -> each.getKey() != sid && !known(each.getKey()))
                .filter(
                        each ->
                                each.getValue() instanceof LatestPerKindQueue queue
                                        && queue.hasRecoveryMessage())
                .count();
    }

    /**
     * A connection that another server opened. ZooKeeper's listening thread, which calls this,
     * would read its greeting, and meanwhile accept no other.
     */
    @Override
    public void receiveConnection(Socket socket) {
        greetings.read(socket);
    }

    /** With SASL ZooKeeper has threads for that, which silent peers can use up. */
    @Override
    public void receiveConnectionAsync(Socket socket) {
        greetings.read(socket);
    }

    /** Some greetings cause an exception: an address with port -1, for example. */
    private void takeConnection(Socket socket) {
        try {
            if (logsIn) {
                greet(socket);
            } else {
                synchronized (taking) {
                    greet(socket);
                }
            }
        } catch (RuntimeException e) {
            close(socket);
            long count = badGreetings.refused(mySid, System.nanoTime());
            if (count > 0) {
                LOG.warn(
                        "{} connections of other servers began with a greeting that cannot be used,"
                                + " the last one, from {}:",
                        count,
                        socket.getRemoteSocketAddress(),
                        e);
            }
        }
    }

    /** Also a greeting that cannot be used may have added a peer. */
    private void greet(Socket socket) {
        try {
            super.receiveConnection(socket);
        } finally {
            boundOutsidePeers();
        }
    }

    @Override
    public void halt() {
        greetings.close();
        super.halt();
    }

    /**
     * A connection that this server opens; also to an address that a peer outside of the
     * configuration gave as its own.
     */
    @Override
    public void initiateConnection(MultipleAddresses address, Long sid) {
        super.initiateConnection(address, sid);
        boundOutsidePeers();
    }

    /**
     * Disconnects peers, known or not, that do not read what they are sent, and forgets peers
     * outside of the configuration that have hung up. To be called every few seconds, by a thread
     * that blocks on no peer: the thread that takes connections would wait for such a server when
     * it connects anew.
     */
    void tidy() {
        queueSendMap.forEach(
                (sid, queue) -> {
                    if (queue instanceof LatestPerKindQueue ours
                            && ours.stuckFor(LONGEST_SEND_NANOS) instanceof SendWorker stuck
                            && senderWorkerMap.get(sid) == stuck) {
                        LOG.warn(
                                "Server {} does not read what it is sent, so its connection is"
                                        + " closed",
                                sid);
                        Greetings.hangUp(stuck.sock);
                    }
                });
        forgetGonePeers();
    }

    private void boundOutsidePeers() {
        forgetGonePeers();
        for (Optional<SendWorker> worker = oneTooMany();
                worker.isPresent();
                worker = oneTooMany()) {
            long sid = worker.get().sid;
            Greetings.hangUp(worker.get().sock);
            worker.get().finish();
            forget(sid);
            long count = disconnected.refused(mySid, System.nanoTime());
            if (count > 0) {
                LOG.warn(
                        "{} servers that are in no configuration were disconnected, there are more"
                                + " than {}; the last one said it was server {}",
                        count,
                        OUTSIDE_PEERS,
                        sid);
            }
        }
    }

    /**
     * Takes out the peer outside of the configuration that has been silent for longest, if there
     * are too many. It leaves both collections in one step, so that no other thread takes it for
     * one that has just connected.
     */
    private Optional<SendWorker> oneTooMany() {
        synchronized (outsidePeers) {
            Iterator<Long> silentForLongest = outsidePeers.iterator();
            while (outsidePeers.size() > OUTSIDE_PEERS) {
                long sid = silentForLongest.next();
                silentForLongest.remove();
                SendWorker worker = senderWorkerMap.remove(sid);
                if (worker != null) {
                    return Optional.of(worker);
                }
                // It has hung up meanwhile.
            }
            return Optional.empty();
        }
    }

    /**
     * Forgets peers outside of the configuration that have hung up, and remembers those that have
     * connected.
     */
    private void forgetGonePeers() {
        List<Map<Long, ?>> configurations = configurations();
        Set<Long> gone = new HashSet<>();
        synchronized (outsidePeers) {
            // Looked at in here: an older look would forget a peer that connected meanwhile.
            for (Map<Long, ?> perServer :
                    List.of(senderWorkerMap, queueSendMap, lastMessageSent, attempts)) {
                gone.addAll(perServer.keySet());
            }
            gone.removeIf(sid -> known(sid, configurations));
            Set<Long> present = new HashSet<>(gone);
            present.retainAll(senderWorkerMap.keySet());
            outsidePeers.retainAll(present);
            outsidePeers.addAll(present);
            gone.removeAll(present);
        }
        gone.forEach(this::forget);
    }

    /** A peer that connects at this moment keeps this queue or gets a new one. */
    private void forget(long sid) {
        queueSendMap.computeIfPresent(
                sid, (key, queue) -> senderWorkerMap.containsKey(key) ? queue : null);
        lastMessageSent.remove(sid);
        attempts.remove(sid);
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            LOG.debug("Closing a connection", e);
        }
    }
}
