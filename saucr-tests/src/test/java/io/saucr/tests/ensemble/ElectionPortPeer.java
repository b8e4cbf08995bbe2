package io.saucr.tests.ensemble;

import io.saucr.core.recovery.RecoveryMessage;
import io.saucr.core.recovery.RecoveryWire;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;

/**
 * Speaks the protocol of the election port over a socket, as a server with a higher id does.
 * Closing it closes the socket. Used by one thread.
 */
final class ElectionPortPeer implements AutoCloseable {
    private static final long PROTOCOL_VERSION = -65536;
    private static final int MOST_BYTES = 512 * 1024;

    /** Codes for the state of the server that sends a vote. */
    private static final int LOOKING = 0;

    private static final int LEADING = 2;

    private static final Duration REPEAT = Duration.ofMillis(500);

    private final Socket socket;
    private final long sid;
    private final DataOutputStream out;
    private final DataInputStream in;

    /** The number that stands between the greeting and the first message. */
    interface Authentication {
        void authenticate(Socket socket) throws IOException;
    }

    /**
     * Sends the greeting.
     *
     * @param socket connected
     * @param sid the id that it announces; higher than that of the server at the other end, which
     *     would otherwise hang up and connect itself
     */
    ElectionPortPeer(Socket socket, long sid, Authentication authentication) throws IOException {
        this.socket = socket;
        this.sid = sid;
        socket.setTcpNoDelay(true);
        out = new DataOutputStream(socket.getOutputStream());
        byte[] address = "127.0.0.1:1".getBytes(StandardCharsets.UTF_8);
        ByteBuffer greeting = ByteBuffer.allocate(20 + address.length);
        greeting.putLong(PROTOCOL_VERSION).putLong(sid).putInt(address.length).put(address);
        out.write(greeting.array());
        authentication.authenticate(socket);
        in = new DataInputStream(socket.getInputStream());
    }

    void send(RecoveryMessage message) throws IOException {
        send(RecoveryWire.encode(message));
    }

    /** Sends one packet with any bytes. */
    void send(ByteBuffer packet) throws IOException {
        ByteBuffer frame = ByteBuffer.allocate(Integer.BYTES + packet.remaining());
        frame.putInt(packet.remaining()).put(packet);
        out.write(frame.array());
    }

    /**
     * Asks until there is an answer, as a recovering server does: the channel may lose a question
     * or its answer, and a server that is about to follow a leader does not answer yet (R20).
     *
     * @return empty if the other side hangs up, or is silent for that long
     */
    Optional<RecoveryMessage> ask(RecoveryMessage question, Duration patience) {
        long deadline = System.nanoTime() + patience.toNanos();
        try {
            while (System.nanoTime() - deadline < 0) {
                send(question);
                Optional<RecoveryMessage> answer = receive(REPEAT);
                if (answer.isPresent()) {
                    return answer;
                }
            }
        } catch (IOException e) {
            return Optional.empty(); // Hung up.
        }
        return Optional.empty();
    }

    /**
     * Votes for the other side, as the last server that it needs to lead, until it says that it
     * leads. That leader then waits for this peer, which never follows.
     *
     * @throws IOException if it does not lead by then, or has hung up
     */
    void elect(Duration patience) throws IOException {
        socket.setSoTimeout((int) REPEAT.toMillis());
        long deadline = System.nanoTime() + patience.toNanos();
        Optional<ByteBuffer> vote = Optional.empty();
        while (System.nanoTime() - deadline < 0) {
            try {
                ByteBuffer packet = read();
                if (!RecoveryWire.isRecoveryMessage(packet)) {
                    int state = packet.getInt(0);
                    if (state == LEADING) {
                        return;
                    }
                    if (state == LOOKING) {
                        vote = Optional.of(packet);
                    }
                }
            } catch (SocketTimeoutException e) {
                // A leader answers only those who are still looking for one.
            }
            if (vote.isPresent()) {
                send(vote.get().duplicate());
            }
        }
        throw new IOException("the other side does not lead");
    }

    /** Sends bytes that need not be a packet. */
    void sendRaw(byte[] bytes) throws IOException {
        out.write(bytes);
    }

    /**
     * The next recovery message to this peer; votes are skipped.
     *
     * @return empty if the other side is silent for that long
     * @throws IOException if it has hung up
     */
    Optional<RecoveryMessage> receive(Duration patience) throws IOException {
        socket.setSoTimeout((int) patience.toMillis());
        try {
            while (true) {
                ByteBuffer packet = read();
                if (RecoveryWire.isRecoveryMessage(packet)) {
                    return Optional.of(RecoveryWire.decode(packet));
                }
            }
        } catch (SocketTimeoutException e) {
            return Optional.empty();
        }
    }

    private ByteBuffer read() throws IOException {
        int length = in.readInt();
        if (length < 0 || length > MOST_BYTES) {
            throw new IOException("a packet of " + length + " bytes");
        }
        return ByteBuffer.wrap(in.readNBytes(length));
    }

    long sid() {
        return sid;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
