package org.apache.zookeeper.server.quorum;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketImpl;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection between two servers for threads that must not wait: {@link #flush} writes what the
 * socket takes at once. The rest a thread of the socket's own writes, and everything after it until
 * nothing is left. The reader says when it is about to read on, so that what it has read can be
 * passed on as one batch.
 *
 * <p>To those who know only {@link Socket} it is one; its output stream collects what is written
 * until it is flushed. A writer that has not called {@link #neverWait} waits while more than
 * {@value #MOST_LEFT_BYTES} bytes are left.
 *
 * <p>Reads by one thread at a time, everything else by any.
 */
@SuppressWarnings("UnsynchronizedOverridesSynchronized") // a lock of nothing here
final class PeerSocket extends Socket {
    private static final Logger LOG = LoggerFactory.getLogger(PeerSocket.class);

    /** What a reader does with all that it has read, before it reads on. */
    interface BeforeReading {
        void run() throws IOException;
    }

    private static final int INPUT_BYTES = 64 * 1024;
    private static final int OUTPUT_BYTES = 64 * 1024;

    /** At most this much in one system call: the JVM keeps a buffer of its size for each thread. */
    private static final int WRITE_BYTES = 128 * 1024;

    private static final int MOST_LEFT_BYTES = 1024 * 1024;

    private final SocketChannel channel;
    private final Output output = new Output();
    private final Input input = new Input();
    private volatile int soTimeout;
    private volatile BeforeReading beforeReading = () -> {};
    private volatile boolean mayWait = true;

    /** Guarded by itself: the reader's and the sender's. */
    private final List<Selector> selectors = new ArrayList<>();

    private volatile boolean closed;

    /** A socket that is yet to be connected. */
    PeerSocket() throws IOException {
        this(SocketChannel.open());
    }

    /**
     * @param channel from now on this socket's alone
     */
    PeerSocket(SocketChannel channel) throws IOException {
        super((SocketImpl) null);
        this.channel = channel;
        if (channel.isConnected()) {
            channel.configureBlocking(false);
        }
    }

    /**
     * @param work done by the reading thread whenever it has handed out all that one read brought
     */
    void beforeReading(BeforeReading work) {
        beforeReading = work;
    }

    /** From now on no writer waits, and only {@link #flush} writes. */
    void neverWait() {
        mayWait = false;
        output.wake();
    }

    /** Whether the sender writes what the socket did not take at once. */
    boolean lagging() {
        return output.lagging;
    }

    /** Adds to what {@link #flush} writes. Never waits, and writes nothing. */
    void collect(byte[] from, int length) {
        output.collect(from, 0, length);
    }

    /** Writes what was collected, as far as the socket takes it at once. Never waits. */
    void flush() throws IOException {
        output.write();
    }

    private Selector selectorFor(int operation) throws IOException {
        Selector selector;
        synchronized (selectors) {
            if (closed) {
                throw new SocketException("Socket closed");
            }
            selector = Selector.open();
            selectors.add(selector);
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
    private static void await(Selector selector, long millis) throws IOException {
        boolean interrupted = false;
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        try {
            while (true) {
                interrupted |= Thread.interrupted();
                long left =
                        millis == 0 ? 0 : TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
                if (millis != 0 && left <= 0) {
                    throw new SocketTimeoutException("Read timed out");
                }
                if (selector.select(left) > 0) {
                    selector.selectedKeys().clear();
                    return;
                }
                if (!selector.isOpen()) {
                    throw new SocketException("Socket closed");
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

    private final class Input extends InputStream {
        private final ByteBuffer buffer = ByteBuffer.allocateDirect(INPUT_BYTES).limit(0);
        private Selector selector;

        /** The last read has not filled the buffer: nothing more was there. */
        private boolean drained;

        @Override
        public int read() throws IOException {
            return fill() ? buffer.get() & 0xff : -1;
        }

        @Override
        public int read(byte[] to, int offset, int length) throws IOException {
            if (length == 0) {
                return 0;
            }
            if (!fill()) {
                return -1;
            }
            int count = Math.min(length, buffer.remaining());
            buffer.get(to, offset, count);
            return count;
        }

        @Override
        public int available() {
            return buffer.remaining();
        }

        @Override
        public void close() throws IOException {
            PeerSocket.this.close();
        }

        /** Returns false at the end of the stream. */
        private boolean fill() throws IOException {
            while (!buffer.hasRemaining()) {
                beforeReading.run();
                if (drained) {
                    if (selector == null) {
                        selector = selectorFor(SelectionKey.OP_READ);
                    }
                    await(selector, soTimeout);
                }
                int count;
                try {
                    count = channel.read(buffer.clear());
                } finally {
                    buffer.flip();
                }
                drained = count < buffer.capacity();
                if (count < 0) {
                    return false;
                }
            }
            return true;
        }
    }

    /**
     * One thread at a time writes: while {@code lagging} is false whoever raised {@code flushing}
     * from 0, and the sender while it is true.
     */
    private final class Output extends OutputStream {
        private final AtomicInteger flushing = new AtomicInteger();

        // Guarded by this.
        private byte[] collected = new byte[OUTPUT_BYTES];
        private int size;
        private volatile boolean lagging;
        private Thread sender;

        // The thread that writes.
        private ByteBuffer writing = ByteBuffer.wrap(new byte[OUTPUT_BYTES]).limit(0);

        @Override
        public void write(int value) throws IOException {
            write(new byte[] {(byte) value}, 0, 1);
        }

        @Override
        public void write(byte[] from, int offset, int length) throws IOException {
            if (collect(from, offset, length) >= OUTPUT_BYTES && mayWait) {
                flush();
            }
        }

        /** Returns how much is collected now. */
        private synchronized int collect(byte[] from, int offset, int length) {
            if (size + length > collected.length) {
                int capacity = Math.max(size + length, 2 * collected.length);
                byte[] larger = new byte[capacity];
                System.arraycopy(collected, 0, larger, 0, size);
                collected = larger;
            }
            System.arraycopy(from, offset, collected, size, length);
            size += length;
            return size;
        }

        @Override
        public void flush() throws IOException {
            write();
            if (mayWait && lagging) {
                awaitSender();
            }
        }

        @Override
        public void close() throws IOException {
            PeerSocket.this.close();
        }

        private synchronized void awaitSender() throws IOException {
            boolean interrupted = false;
            while (mayWait && lagging && size > MOST_LEFT_BYTES && !closed) {
                try {
                    wait();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
            if (closed) {
                throw new SocketException("Socket closed");
            }
        }

        private synchronized void wake() {
            notifyAll();
        }

        /** Who finds another thread writing leaves it to that one, which goes round again. */
        private void write() throws IOException {
            if (flushing.getAndIncrement() != 0) {
                return;
            }
            int seen = 1;
            try {
                do {
                    seen = flushing.get();
                    writeCollected();
                } while (flushing.addAndGet(-seen) != 0);
            } catch (IOException e) {
                flushing.set(0);
                throw e;
            }
        }

        private void writeCollected() throws IOException {
            while (!lagging && next()) {
                writePart();
                if (writing.hasRemaining()) {
                    lag();
                }
            }
        }

        /** Takes what was collected; returns whether there is something to write. */
        private synchronized boolean next() {
            if (lagging) {
                notifyAll();
            }
            if (size == 0) {
                lagging = false;
                return false;
            }
            byte[] taken = collected;
            byte[] old = writing.array();
            collected = old.length > MOST_LEFT_BYTES ? new byte[OUTPUT_BYTES] : old;
            writing = ByteBuffer.wrap(taken, 0, size);
            size = 0;
            return true;
        }

        private void writePart() throws IOException {
            int end = writing.limit();
            int taken;
            do {
                writing.limit(Math.min(end, writing.position() + WRITE_BYTES));
                try {
                    taken = channel.write(writing);
                } finally {
                    writing.limit(end);
                }
            } while (taken > 0 && writing.hasRemaining());
        }

        private synchronized void lag() {
            lagging = true;
            if (sender == null) {
                sender = new Thread(this::send, "Sender-" + getRemoteSocketAddress());
                sender.setDaemon(true);
                sender.start();
            }
            notifyAll();
        }

        private void send() {
            try {
                Selector selector = selectorFor(SelectionKey.OP_WRITE);
                while (awaitLag()) {
                    do {
                        while (writing.hasRemaining()) {
                            await(selector, 0);
                            writePart();
                        }
                    } while (next());
                }
            } catch (IOException e) {
                LOG.debug("Cannot write to {}", PeerSocket.this, e);
                // Whoever reads meets the end of the connection.
                closeQuietly();
            }
        }

        private synchronized boolean awaitLag() {
            while (!lagging && !closed) {
                try {
                    wait();
                } catch (InterruptedException e) {
                    LOG.debug("The end of the connection ends this thread, nothing else", e);
                }
            }
            return !closed;
        }

        private void closeQuietly() {
            try {
                PeerSocket.this.close();
            } catch (IOException e) {
                LOG.debug("Cannot close {}", PeerSocket.this, e);
            }
        }
    }

    // ---- What a socket does ----

    @Override
    public void connect(SocketAddress address) throws IOException {
        connect(address, 0);
    }

    @Override
    public void connect(SocketAddress address, int timeout) throws IOException {
        channel.socket().connect(address, timeout);
        channel.configureBlocking(false);
    }

    @Override
    public InputStream getInputStream() {
        return input;
    }

    @Override
    public OutputStream getOutputStream() {
        return output;
    }

    @Override
    public SocketChannel getChannel() {
        return channel;
    }

    @Override
    public void close() throws IOException {
        List<Selector> open;
        synchronized (selectors) {
            if (closed) {
                return;
            }
            closed = true;
            open = List.copyOf(selectors);
        }
        output.wake();
        try {
            channel.close();
        } finally {
            for (Selector each : open) {
                each.close();
            }
        }
    }

    @Override
    public boolean isClosed() {
        return closed || !channel.isOpen();
    }

    @Override
    public boolean isConnected() {
        return channel.isConnected() || channel.socket().isConnected();
    }

    @Override
    public boolean isBound() {
        return channel.socket().isBound();
    }

    @Override
    public InetAddress getInetAddress() {
        return channel.socket().getInetAddress();
    }

    @Override
    public InetAddress getLocalAddress() {
        return channel.socket().getLocalAddress();
    }

    @Override
    public int getPort() {
        return channel.socket().getPort();
    }

    @Override
    public int getLocalPort() {
        return channel.socket().getLocalPort();
    }

    @Override
    public SocketAddress getRemoteSocketAddress() {
        return channel.socket().getRemoteSocketAddress();
    }

    @Override
    public SocketAddress getLocalSocketAddress() {
        return channel.socket().getLocalSocketAddress();
    }

    @Override
    public void setSoTimeout(int millis) throws SocketException {
        if (millis < 0) {
            throw new IllegalArgumentException("timeout " + millis + " ms, must not be negative");
        }
        soTimeout = millis;
    }

    @Override
    public int getSoTimeout() {
        return soTimeout;
    }

    @Override
    public void setTcpNoDelay(boolean on) throws SocketException {
        channel.socket().setTcpNoDelay(on);
    }

    @Override
    public boolean getTcpNoDelay() throws SocketException {
        return channel.socket().getTcpNoDelay();
    }

    @Override
    public void setKeepAlive(boolean on) throws SocketException {
        channel.socket().setKeepAlive(on);
    }

    @Override
    public boolean getKeepAlive() throws SocketException {
        return channel.socket().getKeepAlive();
    }

    @Override
    public String toString() {
        return channel.toString();
    }
}
