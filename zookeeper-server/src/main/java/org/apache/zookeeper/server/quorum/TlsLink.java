package org.apache.zookeeper.server.quorum;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLEngineResult.Status;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLSession;

/**
 * The TLS of one connection. It has what was received and is not decrypted yet, and what is
 * encrypted and not sent yet; it reads and writes no socket.
 *
 * <p>One thread at a time decrypts, and one at a time encrypts; they may do so at the same time.
 */
final class TlsLink {
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    /** How many full records one system call brings or takes, once there is so much. */
    private static final int RECORDS = 5;

    private static final String WITHOUT_RENEGOTIATION = "TLSv1.3";

    /** What a handshake is made over; both calls wait as long as it may take. */
    interface Wire {
        /** Returns how many bytes came, at least one; negative at the end. */
        int read(ByteBuffer to) throws IOException;

        /** Writes everything. */
        void write(ByteBuffer from) throws IOException;
    }

    private final SSLEngine engine;

    // The thread that decrypts.
    private ByteBuffer received;
    private ByteBuffer decrypted;
    private boolean ended;
    private boolean asksToWrite;

    // The thread that encrypts.
    private ByteBuffer encrypted;
    private boolean unfinished;

    TlsLink(SSLEngine engine) {
        this.engine = engine;
        int packet = engine.getSession().getPacketBufferSize();
        received = ByteBuffer.allocate(packet).limit(0);
        encrypted = ByteBuffer.allocate(packet).limit(0);
        decrypted = ByteBuffer.allocate(engine.getSession().getApplicationBufferSize()).limit(0);
    }

    /** Protocol and cipher suite, for a log line. */
    String describe() {
        SSLSession session = engine.getSession();
        return session.getProtocol() + " - " + session.getCipherSuite();
    }

    // ---- Handshake ----

    /**
     * Makes the handshake; nothing else is done meanwhile.
     *
     * @param first what has come in already
     */
    void handshake(ByteBuffer first, Wire wire) throws IOException {
        put(first);
        encrypted.clear();
        try {
            engine.beginHandshake();
            HandshakeStatus status = engine.getHandshakeStatus();
            while (status != HandshakeStatus.FINISHED
                    && status != HandshakeStatus.NOT_HANDSHAKING) {
                status = step(status, wire);
            }
            send(wire);
        } catch (IOException | RuntimeException e) {
            tellWhy(wire, e);
            throw e;
        }
        encrypted.limit(0);
    }

    private void put(ByteBuffer first) {
        while (received.capacity() < first.remaining()) {
            received = ByteBuffer.allocate(2 * received.capacity());
        }
        received.clear().put(first).flip();
    }

    private HandshakeStatus step(HandshakeStatus status, Wire wire) throws IOException {
        switch (status) {
            case NEED_TASK -> {
                runTasks();
                return engine.getHandshakeStatus();
            }
            case NEED_WRAP -> {
                SSLEngineResult result = engine.wrap(NOTHING, encrypted);
                if (result.getStatus() == Status.BUFFER_OVERFLOW) {
                    makeRoomToEncrypt(wire);
                } else if (result.getStatus() == Status.CLOSED) {
                    throw new SSLHandshakeException("The peer has ended the handshake");
                }
                return result.getHandshakeStatus();
            }
            default -> {
                return receiveStep(wire);
            }
        }
    }

    private void makeRoomToEncrypt(Wire wire) throws IOException {
        if (encrypted.position() > 0) {
            send(wire);
        } else {
            encrypted = ByteBuffer.allocate(2 * encrypted.capacity());
        }
    }

    private HandshakeStatus receiveStep(Wire wire) throws IOException {
        decrypted.clear();
        SSLEngineResult result = engine.unwrap(received, decrypted);
        switch (result.getStatus()) {
            case BUFFER_UNDERFLOW -> {
                // The peer answers to what it has got.
                send(wire);
                makeRoom();
                int count;
                try {
                    count = wire.read(received);
                } finally {
                    received.flip();
                }
                if (count < 0) {
                    throw new EOFException("The peer hung up during the TLS handshake");
                }
            }
            case BUFFER_OVERFLOW -> decrypted = ByteBuffer.allocate(2 * decrypted.capacity());
            case CLOSED -> throw new SSLHandshakeException("The peer has ended the handshake");
            default -> {
                if (result.bytesProduced() > 0) {
                    throw new SSLException("The peer sent data before the end of the handshake");
                }
            }
        }
        decrypted.limit(0);
        return result.getStatus() == Status.OK
                ? result.getHandshakeStatus()
                : engine.getHandshakeStatus();
    }

    private void send(Wire wire) throws IOException {
        encrypted.flip();
        try {
            if (encrypted.hasRemaining()) {
                wire.write(encrypted);
            }
        } finally {
            encrypted.clear();
        }
    }

    /** A peer that is refused gets to know the reason, as far as TLS has a name for it. */
    private void tellWhy(Wire wire, Exception cause) {
        try {
            wire.write(goodbye());
        } catch (IOException | RuntimeException e) {
            cause.addSuppressed(e);
        }
    }

    private void runTasks() {
        for (Runnable task = engine.getDelegatedTask();
                task != null;
                task = engine.getDelegatedTask()) {
            task.run();
        }
    }

    // ---- Receiving ----

    /**
     * The content of the next records. Valid until the next call.
     *
     * @return with nothing in it if more must be {@link #received} before; null at the end
     */
    ByteBuffer next() throws IOException {
        decrypted.clear();
        while (!ended && received.hasRemaining()) {
            SSLEngineResult result = engine.unwrap(received, decrypted);
            if (result.getStatus() == Status.BUFFER_UNDERFLOW) {
                break;
            }
            if (result.getStatus() == Status.BUFFER_OVERFLOW) {
                decrypted = ByteBuffer.allocate(2 * decrypted.capacity());
                continue;
            }
            ended = result.getStatus() == Status.CLOSED;
            asksToWrite |= result.getHandshakeStatus() == HandshakeStatus.NEED_WRAP;
            if (result.getHandshakeStatus() == HandshakeStatus.NEED_TASK) {
                refuseRenegotiation();
            }
            if (decrypted.position() > 0) {
                break;
            }
        }
        decrypted.flip();
        return ended && !decrypted.hasRemaining() ? null : decrypted;
    }

    /** TLS 1.3 has none; what it has instead, new keys, needs no consent. */
    private void refuseRenegotiation() throws IOException {
        if (!engine.getSession().getProtocol().equals(WITHOUT_RENEGOTIATION)) {
            throw new SSLException("The peer asks for a second handshake, which is refused");
        }
        runTasks();
        asksToWrite = true;
    }

    /** Whether what was decrypted calls for an answer of TLS itself. Says so once. */
    boolean takeAsksToWrite() {
        boolean asks = asksToWrite;
        asksToWrite = false;
        return asks;
    }

    /** Where to put what is received, behind what is not decrypted yet; then {@link #received}. */
    ByteBuffer space() throws IOException {
        makeRoom();
        return received;
    }

    private void makeRoom() throws IOException {
        boolean full = received.limit() == received.capacity();
        received.compact();
        if (full && received.capacity() < largest()) {
            // The last read has brought more than one record, or the next one is larger.
            received = ByteBuffer.allocate(largest()).put(received.flip());
        }
        if (!received.hasRemaining()) {
            throw new SSLException("A record of TLS is longer than " + received.capacity());
        }
    }

    /** Something was put into {@link #space}, or nothing. */
    void received() {
        received.flip();
    }

    // ---- Sending ----

    /** What is encrypted and to be sent. */
    ByteBuffer encrypted() {
        return encrypted;
    }

    /** Whether more is to be encrypted once {@link #encrypted} is sent. */
    boolean unfinished() {
        return unfinished;
    }

    /**
     * Encrypts as much of it as one write takes, and before it what TLS itself has to say. What was
     * encrypted before must have been sent.
     */
    void encrypt(ByteBuffer from) throws IOException {
        encrypted.clear();
        do {
            SSLEngineResult result = engine.wrap(from, encrypted);
            unfinished =
                    from.hasRemaining() || result.getHandshakeStatus() == HandshakeStatus.NEED_WRAP;
            if (result.getStatus() == Status.BUFFER_OVERFLOW) {
                if (encrypted.capacity() >= largest() && encrypted.position() > 0) {
                    break;
                }
                int capacity = Math.max(largest(), 2 * encrypted.capacity());
                encrypted = ByteBuffer.allocate(capacity).put(encrypted.flip());
            } else if (result.getStatus() == Status.CLOSED) {
                if (from.hasRemaining()) {
                    throw new SSLException("The TLS connection has ended");
                }
                unfinished = false;
            } else if (unfinished && result.bytesConsumed() + result.bytesProduced() == 0) {
                throw new SSLException("TLS does not continue: " + result.getHandshakeStatus());
            }
        } while (unfinished);
        encrypted.flip();
    }

    private int largest() {
        return RECORDS * engine.getSession().getPacketBufferSize();
    }

    /**
     * The last record: why this side gives up, or that it ends. What was encrypted before must have
     * been sent; nothing follows it.
     */
    ByteBuffer goodbye() throws IOException {
        engine.closeOutbound();
        encrypted.clear();
        int produced = 1;
        while (produced > 0 && !engine.isOutboundDone()) {
            produced = engine.wrap(NOTHING, encrypted).bytesProduced();
        }
        return encrypted.flip();
    }
}
