package io.saucr.tests.ensemble;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.apache.jute.BinaryInputArchive;
import org.apache.jute.BinaryOutputArchive;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.server.quorum.QuorumPacket;

/**
 * A cable between one follower and its leader that can insert packets of the test between theirs,
 * and can change those that pass. It takes every new connection of the follower. Thread-safe.
 */
final class LearnerCable implements AutoCloseable {
    // The numbers of ZooKeeper's Leader.
    static final int REQUEST = 1;
    static final int PROPOSAL = 2;
    static final int ACK = 3;
    static final int PING = 5;
    private static final int UPTODATE = 12;
    private static final int SNAP = 15;

    private final int leaderPort;
    private final ServerSocket listener = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
    private final AtomicReference<List<Id>> nextInfo = new AtomicReference<>();

    // Guarded by this.
    private final List<Socket> sockets = new ArrayList<>();
    private OutputStream toLeader;
    private OutputStream toFollower;

    /**
     * @param leaderPort the leader's port for followers, on loopback
     */
    LearnerCable(int leaderPort) throws IOException {
        this.leaderPort = leaderPort;
        daemon("accept", this::accept);
    }

    private void daemon(String what, Runnable work) {
        Thread thread = new Thread(work, "cable to " + leaderPort + ", " + what);
        thread.setDaemon(true);
        thread.start();
    }

    /** The port that the follower is to connect to. */
    int port() {
        return listener.getLocalPort();
    }

    /** The bytes of a packet. */
    static byte[] bytes(QuorumPacket packet) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        packet.serialize(BinaryOutputArchive.getArchive(bytes), "packet");
        return bytes.toByteArray();
    }

    /**
     * @param packets the bytes of one or more whole packets
     * @throws IOException if there is no connection over which the follower has synchronised
     */
    synchronized void sendToLeader(byte[] packets) throws IOException {
        send(toLeader, packets);
    }

    /** As {@link #sendToLeader}. */
    synchronized void sendToFollower(byte[] packets) throws IOException {
        send(toFollower, packets);
    }

    private static void send(OutputStream out, byte[] packets) throws IOException {
        if (out == null) {
            throw new IOException("the follower has not synchronised");
        }
        out.write(packets);
    }

    /** The next proposal that the leader sends carries this as its tag. */
    void mark(List<Id> authinfo) {
        nextInfo.set(authinfo);
    }

    /** Whether the tag still waits for a proposal. */
    boolean marking() {
        return nextInfo.get() != null;
    }

    private void accept() {
        try {
            while (true) {
                connect(listener.accept());
            }
        } catch (IOException e) {
            // Closed.
        }
    }

    private void connect(Socket follower) throws IOException {
        Socket leader;
        try {
            leader = new Socket(InetAddress.getLoopbackAddress(), leaderPort);
        } catch (IOException e) {
            follower.close(); // It tries again.
            return;
        }
        follower.setTcpNoDelay(true);
        leader.setTcpNoDelay(true);
        OutputStream out = leader.getOutputStream();
        OutputStream back = follower.getOutputStream();
        synchronized (this) {
            sockets.addAll(List.of(follower, leader));
            toLeader = null;
            toFollower = null;
        }
        daemon("out", () -> pump(follower, leader, out, packet -> packet, () -> {}));
        daemon("back", () -> pump(leader, follower, back, this::marked, () -> open(out, back)));
    }

    private synchronized void open(OutputStream out, OutputStream back) {
        toLeader = out;
        toFollower = back;
    }

    private QuorumPacket marked(QuorumPacket packet) {
        if (packet.getType() == PROPOSAL) {
            List<Id> info = nextInfo.getAndSet(null);
            if (info != null) {
                packet.setAuthinfo(info);
            }
        }
        return packet;
    }

    private void pump(
            Socket from,
            Socket to,
            OutputStream out,
            UnaryOperator<QuorumPacket> hand,
            Runnable upToDate) {
        try {
            BinaryInputArchive in =
                    new BinaryInputArchive(
                            new DataInputStream(new BufferedInputStream(from.getInputStream())));
            while (true) {
                QuorumPacket packet = new QuorumPacket();
                packet.deserialize(in, "packet");
                if (packet.getType() == SNAP) {
                    throw new IOException("a snapshot is not made of packets");
                }
                byte[] bytes = bytes(hand.apply(packet));
                synchronized (this) {
                    out.write(bytes);
                }
                if (packet.getType() == UPTODATE) {
                    upToDate.run();
                }
            }
        } catch (IOException e) {
            // One side has hung up; the other one is closed, too.
        }
        try {
            from.close();
            to.close();
        } catch (IOException e) {
            // Closed already.
        }
    }

    @Override
    public synchronized void close() throws IOException {
        listener.close();
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
