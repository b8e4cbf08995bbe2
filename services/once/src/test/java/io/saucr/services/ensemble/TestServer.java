package io.saucr.services.ensemble;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/**
 * One ZooKeeper server in this JVM, on a free port of loopback; it may be stopped and started on
 * its data.
 */
public final class TestServer implements AutoCloseable {

    private static final int TICK_MILLIS = 200;

    /** A zxid that is higher than any that a server of a test gives. */
    private static final long BEYOND = 1_000_000;

    private final Path data;
    private int port;
    private NIOServerCnxnFactory factory;
    private ZooKeeperServer server;

    /**
     * Starts it.
     *
     * @param data an empty folder, or one of an earlier server
     */
    public TestServer(Path data) {
        this.data = data;
        start();
    }

    /** Starts a server on the same port and data. */
    public void start() {
        try {
            server = new ZooKeeperServer(data.toFile(), data.toFile(), TICK_MILLIS);
            factory = new NIOServerCnxnFactory();
            factory.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 100);
            factory.startup(server);
            port = factory.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Stops it; connections end. */
    public void stop() {
        factory.shutdown();
    }

    /**
     * Starts a server without data on the same port, as after a restore from before everything. Its
     * zxid is beyond those that clients have seen: a server refuses a client that has seen more.
     */
    public void startEmpty() throws IOException {
        try (Stream<Path> files = Files.walk(data)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
        Files.createDirectories(data);
        start();
        server.getZKDatabase().setlastProcessedZxid(BEYOND);
        server.setZxid(BEYOND);
    }

    /** Ends a session as if its client had been silent for too long. */
    public void expire(long session) {
        server.getSessionTracker().setSessionClosing(session);
        server.closeSession(session);
    }

    /** Ends every session but one. */
    public void expireAllBut(long session) {
        for (long each : server.getSessionTracker().globalSessions()) {
            if (each != session) {
                expire(each);
            }
        }
    }

    /** How many sessions there are. */
    public int sessions() {
        return server.getSessionTracker().globalSessions().size();
    }

    /** What clients connect to. */
    public String connect() {
        return "127.0.0.1:" + port;
    }

    @Override
    public void close() {
        stop();
    }
}
