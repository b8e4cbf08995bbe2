package org.apache.zookeeper.server;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.zookeeper.ClientCnxn;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.proto.ReplyHeader;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What watchers are notified of while commits are applied. Each connection collects its
 * notifications; all that it has at the time of {@link #flush} leave in one write. Without that a
 * write that many watch costs its thread a system call for each of them.
 *
 * <p>One thread at a time applies, between {@link #begin} and {@link #end}; {@link #flush} is for
 * any thread.
 */
public final class Notifications {
    private static final Logger LOG = LoggerFactory.getLogger(Notifications.class);

    @SuppressWarnings("ThreadLocalUsage") // a thread applies commits of one server at a time
    private static final ThreadLocal<Notifications> COLLECTING = new ThreadLocal<>();

    /** A connection that has collected something. */
    public interface Receiver {
        /** Sends what was collected. Never waits for the client. */
        void flushNotifications();
    }

    private final Queue<Receiver> receivers = new ConcurrentLinkedQueue<>();
    private final Queue<Receiver> quick = new ConcurrentLinkedQueue<>();

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
     * The event as a client reads it. Every watcher of a node gets the same object.
     *
     * @return null if the client may not read the node
     */
    byte[] encoded(WatchedEvent event, List<ACL> acl, ServerCnxn client) {
        try {
            client.zkServer.checkACL(
                    client, acl, Perms.READ, client.getAuthInfo(), event.getPath(), null);
        } catch (KeeperException.NoAuthException e) {
            LOG.trace("Not notified of {}: {}", event, client, e);
            return null;
        }
        byte[] notification = encoded(event);
        int size = notification.length - Integer.BYTES;
        ServerMetrics.getMetrics().WATCH_BYTES.add(size);
        ServerStats stats = client.serverStats();
        if (stats != null) {
            stats.updateClientResponseSize(size);
        }
        return notification;
    }

    /**
     * @param receiver has begun to collect, and sends in no time; called once by a later {@link
     *     #flush}, whatever its bound
     */
    public void flushSoon(Receiver receiver) {
        quick.add(receiver);
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
        for (Receiver next = quick.poll(); next != null; next = quick.poll()) {
            next.flushNotifications();
        }
        for (int i = 0; i < most; i++) {
            Receiver next = receivers.poll();
            if (next == null) {
                return;
            }
            next.flushNotifications();
        }
    }
}
