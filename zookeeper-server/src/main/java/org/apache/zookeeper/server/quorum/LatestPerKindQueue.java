package org.apache.zookeeper.server.quorum;

import io.saucr.core.recovery.RecoveryWire;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * The send queue of one server's election channel: it holds the latest vote and the latest recovery
 * message. ZooKeeper's own queue holds one message. A recovery message would push out a vote, and
 * votes are repeated only when the election times out, which may take a minute.
 *
 * <p>On a new connection ZooKeeper sends the message once more that it noted as the last one sent.
 * That must be a vote. So before ZooKeeper reads the note, this queue replaces a recovery message
 * in it by the last vote. Thread-safe.
 */
@SuppressWarnings("serial") // never serialised
final class LatestPerKindQueue extends LinkedBlockingQueue<ByteBuffer> {
    private final long sid;
    private final Map<Long, ByteBuffer> lastSent;
    private volatile ByteBuffer lastVote;

    /** What a thread has taken out and may still be writing to the socket; null if nothing. */
    private volatile Sending sending;

    /** A thread that sends asks for the next message when it has written the one before. */
    private record Sending(Thread by, long since, boolean recovery) {}

    /**
     * @param lastSent where ZooKeeper notes what it sent last, by server
     * @param replaced a queue of ZooKeeper's with votes alone, whose place this one takes and which
     *     is emptied; null if there was none
     */
    LatestPerKindQueue(
            long sid, Map<Long, ByteBuffer> lastSent, BlockingQueue<ByteBuffer> replaced) {
        this.sid = sid;
        this.lastSent = lastSent;
        this.lastVote = lastSent.get(sid);
        ByteBuffer vote = replaced == null ? null : waitingIn(replaced);
        while (vote != null) {
            offer(vote);
            vote = waitingIn(replaced);
        }
    }

    /** ZooKeeper's queue knows no other way to take a message out without waiting for one. */
    private static ByteBuffer waitingIn(BlockingQueue<ByteBuffer> queue) {
        try {
            return queue.poll(0, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return null;
        }
    }

    @Override
    public synchronized boolean offer(ByteBuffer message) {
        boolean recovery = isRecovery(message);
        removeIf(waiting -> isRecovery(waiting) == recovery);
        return super.offer(message);
    }

    @Override
    public ByteBuffer poll(long timeout, TimeUnit unit) throws InterruptedException {
        noteLastVote();
        sending = null;
        ByteBuffer message = super.poll(timeout, unit);
        if (message != null) {
            boolean recovery = isRecovery(message);
            if (!recovery) {
                lastVote = message;
            }
            sending = new Sending(Thread.currentThread(), System.nanoTime(), recovery);
        }
        return message;
    }

    /** Whether no vote is waiting: what a new connection asks, to send the last one again if so. */
    @Override
    public boolean isEmpty() {
        noteLastVote();
        return stream().allMatch(LatestPerKindQueue::isRecovery);
    }

    /** Whether a recovery message waits, or is being sent: it may have 480 KB. */
    boolean hasRecoveryMessage() {
        Sending now = sending;
        return (now != null && now.recovery) || stream().anyMatch(LatestPerKindQueue::isRecovery);
    }

    /** The thread that has not finished writing a message for so long; null if there is none. */
    Thread stuckFor(long nanos) {
        Sending now = sending;
        return now != null && System.nanoTime() - now.since >= nanos ? now.by : null;
    }

    private void noteLastVote() {
        ByteBuffer vote = lastVote;
        if (vote != null) {
            lastSent.put(sid, vote);
        } else {
            lastSent.remove(sid);
        }
    }

    private static boolean isRecovery(ByteBuffer message) {
        ByteBuffer packet = message.duplicate();
        packet.clear();
        return RecoveryWire.isRecoveryMessage(packet);
    }
}
