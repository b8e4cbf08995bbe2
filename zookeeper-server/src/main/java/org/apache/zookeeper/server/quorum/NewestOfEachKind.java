package org.apache.zookeeper.server.quorum;

import io.saucr.core.RecoveryWire;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * What waits to be sent to one server over the election channel: the newest vote and the newest
 * recovery message. ZooKeeper's own queue holds one message, so that an answer would replace a vote
 * that nobody repeats before the election's next timeout, which may be a minute away.
 *
 * <p>ZooKeeper also sends the last message again when a connection is new. That has to be the last
 * vote, so this queue corrects the note of it. Thread-safe.
 */
@SuppressWarnings("serial") // never serialised
final class NewestOfEachKind extends LinkedBlockingQueue<ByteBuffer> {
    private final long sid;
    private final Map<Long, ByteBuffer> lastSent;
    private volatile ByteBuffer lastVote;

    /**
     * @param lastSent where ZooKeeper notes what it sent last, by server
     * @param replaced a queue of ZooKeeper's with votes alone, whose place this one takes and which
     *     is emptied; null if there was none
     */
    NewestOfEachKind(long sid, Map<Long, ByteBuffer> lastSent, BlockingQueue<ByteBuffer> replaced) {
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
        ByteBuffer message = super.poll(timeout, unit);
        if (message != null && !isRecovery(message)) {
            lastVote = message;
        }
        return message;
    }

    /** Whether no vote is waiting: what a new connection asks, to send the last one again if so. */
    @Override
    public boolean isEmpty() {
        noteLastVote();
        return stream().allMatch(NewestOfEachKind::isRecovery);
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
