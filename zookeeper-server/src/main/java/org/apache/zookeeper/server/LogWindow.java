package org.apache.zookeeper.server;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;

/**
 * What a log's thread has got and has not acked. {@link SyncRequestProcessor} acks when it finds
 * nothing more to write, or after a thousand entries, however large they are: under load its disk
 * would look late (R24). So it gets no more than {@value #MOST_BYTES} bytes, or one entry; what
 * comes meanwhile waits for these acks. Several of the largest values fit: they share an fsync. Any
 * thread; entries by one at a time.
 */
public final class LogWindow {
    public static final int MOST_BYTES = 8 << 20;

    private final Consumer<Request> thread;

    // Guarded by this.
    private final Deque<Sized> waiting = new ArrayDeque<>();
    private final Deque<Sized> given = new ArrayDeque<>();
    private long givenBytes;

    private record Sized(Request request, long bytes) {}

    /**
     * @param thread queues an entry for the log's thread; waits for nothing
     */
    public LogWindow(Consumer<Request> thread) {
        this.thread = thread;
    }

    /** The entry is to be written, after all those before. */
    public synchronized void add(Request request, long bytes) {
        waiting.add(new Sized(request, bytes));
        give();
    }

    /** So many entries, the oldest, are acked. */
    public synchronized void acked(int count) {
        for (int i = 0; i < count; i++) {
            givenBytes -= given.remove().bytes;
        }
        give();
    }

    private void give() {
        while (!waiting.isEmpty()
                && (given.isEmpty() || givenBytes + waiting.peek().bytes <= MOST_BYTES)) {
            giveOne();
        }
    }

    private void giveOne() {
        Sized next = waiting.remove();
        given.add(next);
        givenBytes += next.bytes;
        thread.accept(next.request);
    }

    /** The end: what waits is to be written, however much it is. */
    public synchronized void giveAll() {
        while (!waiting.isEmpty()) {
            giveOne();
        }
    }
}
