package org.apache.zookeeper.server.quorum;

import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
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
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLException;
import org.apache.zookeeper.server.BufferInput;
import org.apache.zookeeper.server.Encoder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection between two servers for threads that must not wait: {@link #flush} writes what the
 * socket takes at once. The rest a thread of the socket's own writes, and everything after it until
 * nothing is left. The reader says when it is about to read on, so that what it has read can be
 * passed on as one batch.
 *
 * <p>With TLS a batch is encrypted by the thread that writes it, in records as large as it allows.
 * The side that connects makes the handshake in {@link #connect}; on the other side the first read
 * does, and what is written before waits for it. So nobody but the reader waits for a peer that
 * hesitates.
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

    /** Until one read fills it: a peer that connects and sends nothing must not cost much. */
    private static final int FIRST_INPUT_BYTES = 4 * 1024;

    private static final int INPUT_BYTES = 64 * 1024;
    private static final int OUTPUT_BYTES = 64 * 1024;

    /**
     * At most this much in one system call: the JVM keeps a buffer of its size for each thread that
     * has a large value. The reader wakes for each piece that arrives.
     */
    private static final int CALL_BYTES = 512 * 1024;

    private static final int MOST_LEFT_BYTES = 1024 * 1024;

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    /** Null for a connection without TLS. */
    private final PeerTls tls;

    /** Null before the handshake, and without TLS. */
    private volatile TlsLink link;

    /** Whether it is known how to write: always, but for TLS before its handshake. */
    private volatile boolean writable;

    /** Null before {@link #connect}: a socket that is given up earlier leaves nothing to close. */
    private volatile SocketChannel channel;

    /** Null until this socket is connected; remembered after its end, as by a plain socket. */
    private volatile InetSocketAddress remote;

    private final Output output = new Output();
    private final Input source = new Input();
    private final BufferInput input =
            new BufferInput(ByteBuffer.allocateDirect(FIRST_INPUT_BYTES).limit(0), source);
    private volatile int soTimeout;
    private volatile BeforeReading beforeReading = () -> {};
    private volatile boolean mayWait = true;

    /** The reader's and the sender's. */
    private final SocketSelectors selectors = new SocketSelectors();

    /** The thread's that calls {@link #unread}. */
    private Selector looks;

    /** A socket that is yet to be connected. */
    PeerSocket() throws IOException {
        this((PeerTls) null);
    }

    /**
     * A socket that is yet to be connected.
     *
     * @param tls null for a connection without TLS
     */
    PeerSocket(PeerTls tls) throws IOException {
        super((SocketImpl) null);
        this.tls = tls;
        writable = tls == null;
    }

    PeerSocket(SocketChannel channel) throws IOException {
        this(channel, null);
    }

    /**
     * @param channel connected, and from now on this socket's alone
     * @param tls null for a connection without TLS
     */
    PeerSocket(SocketChannel channel, PeerTls tls) throws IOException {
        this(tls);
        channel.configureBlocking(false);
        this.channel = channel;
        remote = (InetSocketAddress) channel.getRemoteAddress();
    }

    private SocketChannel connected() throws SocketException {
        if (remote == null) {
            throw new SocketException(isClosed() ? "Socket closed" : "Socket is not connected");
        }
        return channel;
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
    void collect(Encoder encoded) {
        output.collect(encoded);
    }

    /** As a write to its output stream, whose large values must not change any more. */
    void write(Encoder encoded) throws IOException {
        output.write(encoded);
    }

    /** Writes what was collected, as far as the socket takes it at once. Never waits. */
    void flush() throws IOException {
        output.write();
    }

    /**
     * Whether a read would not wait: something came in that was not read, or the end. By one
     * thread.
     */
    boolean unread() {
        try {
            if (looks == null) {
                looks = selectors.open(connected(), SelectionKey.OP_READ);
            }
            boolean unread = looks.selectNow() > 0;
            looks.selectedKeys().clear();
            return unread;
        } catch (IOException | ClosedSelectorException e) {
            LOG.debug("The socket is closed", e);
            return false;
        }
    }

    private final class Input implements BufferInput.Source {
        private Selector selector;

        /** The last read has not filled the buffer: nothing more was there. */
        private boolean drained;

        /** The last read has filled the first buffer. */
        private boolean grows;

        @Override
        public ByteBuffer fill(ByteBuffer last) throws IOException {
            if (!writable && accept(last)) {
                return last;
            }
            return link == null ? fillPlain(last) : fillDecrypted(link);
        }

        private ByteBuffer fillPlain(ByteBuffer last) throws IOException {
            ByteBuffer buffer = grows ? ByteBuffer.allocateDirect(INPUT_BYTES) : last;
            grows = false;
            int count;
            buffer.clear();
            try {
                count = receive(buffer);
            } finally {
                buffer.flip();
            }
            grows = !drained && buffer.capacity() < INPUT_BYTES;
            return count < 0 ? null : buffer;
        }

        /** The rest of a large value, which need not go through the buffer in small pieces. */
        @Override
        public int read(byte[] to, int offset, int length) throws IOException {
            return writable && link == null && length >= INPUT_BYTES
                    ? receive(ByteBuffer.wrap(to, offset, Math.min(length, CALL_BYTES)))
                    : 0;
        }

        /** At least a byte, or -1 at the end. */
        private int receive(ByteBuffer to) throws IOException {
            int count = 0;
            while (count == 0) {
                beforeReading.run();
                if (drained) {
                    awaitReadable(soTimeout);
                }
                count = connected().read(to);
                drained = to.hasRemaining();
            }
            return count;
        }

        private void awaitReadable(long millis) throws IOException {
            if (selector == null) {
                selector = selectors.open(connected(), SelectionKey.OP_READ);
            }
            SocketSelectors.await(selector, millis);
        }

        private ByteBuffer fillDecrypted(TlsLink from) throws IOException {
            while (true) {
                ByteBuffer content = decrypt(from);
                if (content == null || content.hasRemaining()) {
                    return content;
                }
                beforeReading.run();
                if (drained) {
                    awaitReadable(soTimeout);
                }
                ByteBuffer space = from.space();
                int count;
                try {
                    count = connected().read(space);
                    drained = space.hasRemaining();
                } finally {
                    from.received();
                }
                if (count < 0) {
                    if (isInputShutdown()) {
                        return null;
                    }
                    // It may have been cut short by somebody between the two.
                    throw new EOFException("The connection has ended without an end of TLS");
                }
            }
        }

        private ByteBuffer decrypt(TlsLink from) throws IOException {
            ByteBuffer content;
            try {
                content = from.next();
            } catch (IOException | RuntimeException e) {
                output.failed(e);
                output.end();
                throw e;
            }
            if (from.takeAsksToWrite()) {
                output.answer();
            }
            return content;
        }

        // ---- The first bytes of a connection ----

        private void connect(InetSocketAddress to, int millis) throws IOException {
            handshake(tls.connecting(to), NOTHING, millis);
            writable = true;
        }

        /** Finds out what the peer speaks, and makes the handshake of TLS. */
        private boolean accept(ByteBuffer first) throws IOException {
            boolean done = false;
            try {
                detect(first.clear());
                if (first.remaining() == PeerTls.DETECTION_BYTES && PeerTls.isTls(first)) {
                    TlsLink made = tls.accepting(remote);
                    handshake(made, first, soTimeout);
                    first.limit(0);
                    LOG.info("Accepted TLS connection from {} - {}", remote, made.describe());
                } else if (tls.plainToo()) {
                    LOG.info("Accepted plaintext connection from {}", remote);
                } else {
                    throw new SSLException("A peer that does not speak TLS is refused: " + remote);
                }
                done = true;
            } finally {
                if (!done) {
                    PeerSocket.this.close();
                }
            }
            writable = true;
            output.write();
            return first.hasRemaining();
        }

        private void detect(ByteBuffer first) throws IOException {
            first.limit(PeerTls.DETECTION_BYTES);
            SocketSelectors.Deadline deadline = new SocketSelectors.Deadline(tls.detectionMillis());
            try {
                int count = 0;
                while (count >= 0 && first.hasRemaining()) {
                    awaitReadable(deadline.left());
                    count = connected().read(first);
                }
            } catch (SocketTimeoutException e) {
                LOG.warn(
                        "{} has sent less than {} bytes in {} ms: it does not speak TLS",
                        remote,
                        PeerTls.DETECTION_BYTES,
                        tls.detectionMillis(),
                        e);
            } finally {
                first.flip();
            }
        }

        /** Waits for the peer, all in all no longer than this. */
        private void handshake(TlsLink made, ByteBuffer first, int millis) throws IOException {
            SocketSelectors.Deadline deadline = new SocketSelectors.Deadline(millis);
            made.handshake(
                    first,
                    new TlsLink.Wire() {
                        @Override
                        public int read(ByteBuffer to) throws IOException {
                            int count = 0;
                            while (count == 0) {
                                awaitReadable(deadline.left());
                                count = connected().read(to);
                            }
                            return count;
                        }

                        @Override
                        public void write(ByteBuffer from) throws IOException {
                            connected().write(from);
                            while (from.hasRemaining()) {
                                output.awaitWritable(deadline.left());
                                connected().write(from);
                            }
                        }
                    });
            link = made;
        }

        @Override
        public void close() throws IOException {
            PeerSocket.this.close();
        }
    }

    /**
     * One thread at a time writes: while {@code lagging} is false the thread that raised {@code
     * flushing} from 0, and the sender while it is true.
     */
    private final class Output extends OutputStream {
        private final AtomicInteger flushing = new AtomicInteger();

        /** Bytes may be lost, and nothing may follow them: every later call reports it again. */
        private volatile Throwable broken;

        /** Collected under the lock of this, written by the thread that writes. */
        private final OutgoingBytes bytes = new OutgoingBytes(MOST_LEFT_BYTES, CALL_BYTES);

        // Guarded by this.
        private volatile boolean lagging;
        private Thread sender;

        /** TLS itself has to answer something that was read. */
        private boolean answers;

        // The thread that writes.
        private boolean answering;
        private Selector selector;

        @Override
        public void write(int value) throws IOException {
            write(new byte[] {(byte) value}, 0, 1);
        }

        @Override
        public void write(byte[] from, int offset, int length) throws IOException {
            ensureUsable();
            if (collect(from, offset, length) >= OUTPUT_BYTES && mayWait) {
                flush();
            }
        }

        void write(Encoder encoded) throws IOException {
            ensureUsable();
            if (collect(encoded) >= OUTPUT_BYTES && mayWait) {
                flush();
            }
        }

        /** Returns how much is collected now. */
        private synchronized long collect(byte[] from, int offset, int length) {
            if (isClosed() || broken != null) {
                // Nobody will read it, and it must not pile up.
                return 0;
            }
            bytes.copy(from, offset, length);
            return bytes.collected();
        }

        private synchronized long collect(Encoder encoded) {
            if (isClosed() || broken != null) {
                return 0;
            }
            encoded.giveTo(bytes);
            return bytes.collected();
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

        private void failed(Throwable cause) {
            if (!isClosed()) {
                broken = cause;
            }
        }

        private void ensureUsable() throws IOException {
            Throwable cause = broken;
            if (cause != null) {
                throw new IOException("An earlier write has failed", cause);
            }
            if (isClosed()) {
                throw new SocketException("Socket closed");
            }
        }

        private synchronized void awaitSender() throws IOException {
            boolean interrupted = false;
            while (mayWait && lagging && bytes.collected() > MOST_LEFT_BYTES && !isClosed()) {
                try {
                    wait();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
            ensureUsable();
        }

        private synchronized void wake() {
            notifyAll();
        }

        /** Who finds another thread writing leaves it to that one, which goes round again. */
        private void write() throws IOException {
            ensureUsable();
            if (!writable) {
                return;
            }
            if (flushing.getAndIncrement() != 0) {
                return;
            }
            int seen;
            try {
                do {
                    seen = flushing.get();
                    writeCollected();
                } while (flushing.addAndGet(-seen) != 0);
            } catch (IOException | RuntimeException | Error e) {
                failed(e);
                throw e;
            }
        }

        private void writeCollected() throws IOException {
            while (!lagging && next()) {
                writePart();
                if (unwritten()) {
                    lag();
                }
            }
        }

        private boolean unwritten() {
            TlsLink to = link;
            return bytes.isLeft()
                    || answering
                    || (to != null && (to.encrypted().hasRemaining() || to.unfinished()));
        }

        /** As if something was collected, which comes before everything that was not encrypted. */
        private void answer() {
            synchronized (this) {
                answers = true;
            }
            try {
                write();
            } catch (IOException e) {
                // Every later write reports it again; what has come is still read.
                LOG.debug("Cannot answer {}", PeerSocket.this, e);
            }
        }

        /** The last that the peer hears; unless it takes nothing, or somebody is writing. */
        private void end() {
            TlsLink to = link;
            if (to == null || flushing.getAndIncrement() != 0 || lagging) {
                return;
            }
            try {
                channel.write(to.goodbye());
            } catch (IOException | RuntimeException e) {
                LOG.debug("Cannot end TLS with {}", PeerSocket.this, e);
            }
        }

        /** Takes what was collected; returns whether there is something to write. */
        private synchronized boolean next() {
            if (lagging) {
                notifyAll();
            }
            answering = answers;
            answers = false;
            boolean taken = bytes.take();
            if (!taken) {
                lagging &= answering;
            }
            return taken || answering;
        }

        private void writePart() throws IOException {
            TlsLink to = link;
            if (to == null) {
                bytes.writeTo(connected());
                return;
            }
            SocketChannel sink = connected();
            do {
                if (!to.encrypted().hasRemaining()) {
                    answering = false;
                    to.encrypt(bytes.next());
                }
                while (to.encrypted().hasRemaining() && sink.write(to.encrypted()) > 0) {
                    // Until it takes nothing more.
                }
            } while (!to.encrypted().hasRemaining() && (to.unfinished() || bytes.isLeft()));
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
                while (awaitLag()) {
                    do {
                        while (unwritten()) {
                            awaitWritable(0);
                            writePart();
                        }
                    } while (next());
                }
            } catch (IOException | RuntimeException | Error e) {
                failed(e);
                LOG.debug("Cannot write to {}", PeerSocket.this, e);
            } finally {
                // A reader meets the end of the connection, a thread that waits to write wakes up.
                closeQuietly();
            }
        }

        private void awaitWritable(long millis) throws IOException {
            if (selector == null) {
                selector = selectors.open(connected(), SelectionKey.OP_WRITE);
            }
            SocketSelectors.await(selector, millis);
        }

        private synchronized boolean awaitLag() {
            while (!lagging && !isClosed()) {
                try {
                    wait();
                } catch (InterruptedException e) {
                    LOG.debug("The end of the connection ends this thread, nothing else", e);
                }
            }
            return !isClosed();
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
        if (isClosed()) {
            throw new SocketException("Socket closed");
        }
        if (channel != null) {
            throw new SocketException("already connected");
        }
        SocketChannel connecting = SocketChannel.open();
        channel = connecting;
        boolean done = false;
        try {
            connecting.socket().connect(address, timeout);
            connecting.configureBlocking(false);
            remote = (InetSocketAddress) connecting.getRemoteAddress();
            if (tls != null) {
                source.connect((InetSocketAddress) address, soTimeout == 0 ? timeout : soTimeout);
            }
            done = true;
        } finally {
            if (!done || isClosed()) {
                close();
                connecting.close();
            }
        }
    }

    /** Needs no buffer before it. */
    @Override
    public BufferInput getInputStream() {
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
        if (!selectors.end()) {
            return;
        }
        output.wake();
        SocketChannel ended = channel;
        try {
            output.end();
            if (ended != null) {
                ended.close();
            }
        } finally {
            selectors.close();
        }
    }

    /** The reader reads what has come in, then the end, whatever the peer sends. */
    @Override
    public void shutdownInput() throws IOException {
        connected().shutdownInput();
    }

    @Override
    public boolean isInputShutdown() {
        return isConnected() && channel.socket().isInputShutdown();
    }

    /** Who flushed may have left something to the sender. */
    @Override
    public void shutdownOutput() {
        throw new UnsupportedOperationException("close it: half an end is not offered here");
    }

    @Override
    public boolean isClosed() {
        return selectors.isEnded();
    }

    @Override
    public boolean isConnected() {
        return remote != null;
    }

    @Override
    public boolean isBound() {
        return remote != null;
    }

    @Override
    public InetAddress getInetAddress() {
        return isConnected() ? remote.getAddress() : null;
    }

    @Override
    public int getPort() {
        return isConnected() ? remote.getPort() : 0;
    }

    @Override
    public SocketAddress getRemoteSocketAddress() {
        return remote;
    }

    @Override
    public InetAddress getLocalAddress() {
        return isConnected() ? channel.socket().getLocalAddress() : null;
    }

    @Override
    public int getLocalPort() {
        return isConnected() ? channel.socket().getLocalPort() : -1;
    }

    @Override
    public SocketAddress getLocalSocketAddress() {
        return isConnected() ? channel.socket().getLocalSocketAddress() : null;
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
        connected().socket().setTcpNoDelay(on);
    }

    @Override
    public boolean getTcpNoDelay() throws SocketException {
        return connected().socket().getTcpNoDelay();
    }

    @Override
    public void setKeepAlive(boolean on) throws SocketException {
        connected().socket().setKeepAlive(on);
    }

    @Override
    public boolean getKeepAlive() throws SocketException {
        return connected().socket().getKeepAlive();
    }

    @Override
    public String toString() {
        return channel == null ? "PeerSocket[not connected]" : channel.toString();
    }
}
