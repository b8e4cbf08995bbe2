package org.apache.zookeeper.server;

import java.nio.ByteBuffer;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.zookeeper.ClientCnxn;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.proto.ReplyHeader;

/**
 * What watchers are notified of while commits are applied. Each connection collects its
 * notifications; all that it has at the time of {@link #flush} leave in one write. Without that a
 * write that many watch costs its thread a system call for each of them.
 *
 * <p>One thread at a time applies, between {@link #begin} and {@link #end}; {@link #flush} is for
 * any thread.
 */
public final class Notifications {
    @SuppressWarnings("ThreadLocalUsage") // a thread applies commits of one server at a time
    private static final ThreadLocal<Notifications> COLLECTING = new ThreadLocal<>();

    /** A connection that has collected something. */
    public interface Receiver {
        /** Sends what was collected. Never waits for the client. */
        void flushNotifications();
    }

    private final Queue<Receiver> receivers = new ConcurrentLinkedQueue<>();

    // The thread that applies.
    private final Encoder encoder = new Encoder();
    private WatchedEvent encodedEvent;
    private byte[] encoded;
    private int made;
    private int unflushed;

    /** From now on, until {@link #end}, notifications that this thread makes are collected. */
    public void begin() {
        COLLECTING.set(this);
        made = 0;
    }

    /**
     * @return how many notifications were collected since {@link #begin}
     */
    public int end() {
        COLLECTING.remove();
        encodedEvent = null;
        encoded = null;
        return made;
    }

    /** Where this thread's notifications are collected; null if they leave at once. */
    public static Notifications ofThisThread() {
        return COLLECTING.get();
    }

    /** The event as clients read it. Every watcher of a node gets the same object. */
    @SuppressWarnings("ReferenceEquality") // another one may be equal, and is encoded anew
    public byte[] encoded(WatchedEvent event) {
        made++;
        if (event != encodedEvent) {
            encoder.clear();
            encoder.add(new ReplyHeader(ClientCnxn.NOTIFICATION_XID, event.getZxid(), 0), "header");
            encoder.add(event.getWrapper(), "notification");
            encoded = encoder.copyBehind(Integer.BYTES);
            ByteBuffer.wrap(encoded).putInt(encoder.size());
            encodedEvent = event;
        }
        return encoded;
    }

    /**
     * @param receiver has begun to collect; called once by a later {@link #flush}
     */
    public void flushLater(Receiver receiver) {
        receivers.add(receiver);
        unflushed++;
    }

    /**
     * How many connections have begun to collect since the last call. By the thread that applies.
     */
    public int takeUnflushed() {
        int taken = unflushed;
        unflushed = 0;
        return taken;
    }

    /**
     * Sends what connections have collected, those first that have waited longest. The caller holds
     * no lock.
     *
     * @param most of so many connections at most
     */
    public void flush(int most) {
        for (int i = 0; i < most; i++) {
            Receiver next = receivers.poll();
            if (next == null) {
                return;
            }
            next.flushNotifications();
        }
    }
}
