package io.saucr.server.http;

import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * The body of a request. Its connection adds what comes; one thread reads. Nothing more is read
 * from the socket than this thread asks for: a body of any length needs little memory.
 */
final class RequestBody extends InputStream {
    private static final byte[] END = {};
    private static final byte[] BROKEN = {};

    private final BlockingQueue<byte[]> parts = new LinkedBlockingQueue<>();
    private final Runnable more;
    private final long patienceMillis;
    private byte[] part = {};
    private int position;
    private volatile boolean complete;

    /**
     * @param more asks the connection for the next part
     */
    RequestBody(long patienceMillis, Runnable more) {
        this.patienceMillis = patienceMillis;
        this.more = more;
    }

    void add(byte[] bytes) {
        if (bytes.length > 0) {
            parts.add(bytes);
        }
    }

    void complete() {
        complete = true;
        parts.add(END);
    }

    /** No more comes, though it should: the connection is closed. */
    void breakOff() {
        parts.add(BROKEN);
    }

    /** Whether all of it has come, read or not. */
    boolean isComplete() {
        return complete;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        while (position == part.length) {
            if (part == END) {
                return -1;
            }
            part = next();
            position = 0;
        }
        int taken = Math.min(length, part.length - position);
        System.arraycopy(part, position, bytes, offset, taken);
        position += taken;
        return taken;
    }

    private byte[] next() throws IOException {
        try {
            byte[] next = parts.poll();
            if (next == null) {
                more.run();
                next = parts.poll(patienceMillis, TimeUnit.MILLISECONDS);
            }
            if (next == null) {
                throw new IOException("the client sent nothing for " + patienceMillis + " ms");
            }
            if (next == BROKEN) {
                parts.add(BROKEN);
                throw new IOException("the client closed the connection within its request");
            }
            return next;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }
}
