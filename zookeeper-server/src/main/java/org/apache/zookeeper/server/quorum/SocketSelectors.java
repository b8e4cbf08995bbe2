package org.apache.zookeeper.server.quorum;

import java.io.IOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * How the threads of one {@link PeerSocket} wait for it: each has a selector of its own, and all
 * end with the socket. Any thread.
 */
final class SocketSelectors {

    /** Guarded by this. */
    private final List<Selector> open = new ArrayList<>();

    private volatile boolean ended;

    /** Whether {@link #end} was called. */
    boolean isEnded() {
        return ended;
    }

    /**
     * From now on none is opened.
     *
     * @return false where it had been called before
     */
    synchronized boolean end() {
        boolean first = !ended;
        ended = true;
        return first;
    }

    /** Wakes all that wait. After {@link #end}. */
    void close() throws IOException {
        List<Selector> left;
        synchronized (this) {
            left = List.copyOf(open);
        }
        for (Selector each : left) {
            each.close();
        }
    }

    /**
     * @param operation a {@link java.nio.channels.SelectionKey}'s
     * @throws SocketException after {@link #end}
     */
    Selector open(SocketChannel channel, int operation) throws IOException {
        Selector selector;
        synchronized (this) {
            if (ended) {
                throw new SocketException("Socket closed");
            }
            selector = Selector.open();
            open.add(selector);
        }
        channel.register(selector, operation);
        return selector;
    }

    /**
     * As a plain socket does, it takes no notice of an interruption; a selector would return at
     * once, again and again.
     *
     * @param millis 0 for ever
     */
    static void await(Selector selector, long millis) throws IOException {
        boolean interrupted = false;
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        try {
            while (true) {
                interrupted |= Thread.interrupted();
                // Rounded up, and at least one look: what is there is read, however short the time.
                long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime()) + 1;
                if (selector.select(millis == 0 ? 0 : Math.max(1, left)) > 0) {
                    selector.selectedKeys().clear();
                    return;
                }
                if (!selector.isOpen()) {
                    throw new SocketException("Socket closed");
                }
                if (millis != 0 && System.nanoTime() - end >= 0) {
                    throw new SocketTimeoutException("Read timed out");
                }
            }
        } catch (ClosedSelectorException e) {
            throw new SocketException("Socket closed");
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** The latest time by which several waits must be over. */
    static final class Deadline {
        private final int millis;
        private final long end;

        /**
         * @param millis 0 for none
         */
        Deadline(int millis) {
            this.millis = millis;
            end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        }

        /** As {@link #await} takes it. */
        long left() throws SocketTimeoutException {
            long left = end - System.nanoTime();
            if (millis != 0 && left <= 0) {
                throw new SocketTimeoutException("Not done in " + millis + " ms");
            }
            return millis == 0 ? 0 : TimeUnit.NANOSECONDS.toMillis(left) + 1;
        }
    }
}
