package io.saucr.tool;

import io.saucr.tool.EndpointException.Reason;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.admin.ZooKeeperAdmin;
import org.apache.zookeeper.data.Stat;

/**
 * A client's session with one server, to see whether it serves, or with one of several, to change
 * the members: it costs the ensemble two writes, its beginning and its end. Used by one thread.
 */
final class Session implements AutoCloseable {
    private static final int SHORTEST_SESSION_MILLIS = 4000;

    private final ZooKeeperAdmin client;
    private final Deadline deadline;

    private Session(ZooKeeperAdmin client, Deadline deadline) {
        this.client = client;
        this.deadline = deadline;
    }

    /**
     * Begins a session, which a majority of the voters must agree to.
     *
     * @throws EndpointException if it does not begin in time, or if the server does not accept who
     *     we are
     */
    static Session open(Endpoint endpoint, Connection connection, Deadline deadline)
            throws EndpointException, InterruptedException {
        return open(endpoint.name(), connection, deadline);
    }

    /** The same with one of several servers, HOST:PORT,... */
    static Session open(String endpoints, Connection connection, Deadline deadline)
            throws EndpointException, InterruptedException {
        BlockingQueue<KeeperState> states = new ArrayBlockingQueue<>(64);
        ZooKeeperAdmin client;
        try {
            client =
                    new ZooKeeperAdmin(
                            endpoints,
                            Math.max(SHORTEST_SESSION_MILLIS, 2 * deadline.millisLeft()),
                            event -> states.offer(event.getState()),
                            connection.client());
        } catch (IOException | IllegalArgumentException e) {
            throw new EndpointException(Reason.UNREACHABLE, e.getMessage());
        }
        Session session = new Session(client, deadline);
        try {
            while (true) {
                KeeperState state = states.poll(deadline.millisLeft(), TimeUnit.MILLISECONDS);
                if (state == KeeperState.SyncConnected || state == KeeperState.SaslAuthenticated) {
                    break;
                }
                if (state == KeeperState.AuthFailed) {
                    throw new EndpointException(
                            Reason.REFUSED, "refuses: the credentials are wrong");
                }
                if (state == null && deadline.hasPassed()) {
                    throw new EndpointException(
                            Reason.NOT_SERVING,
                            "begins no session within " + Durations.readable(deadline.patience()));
                }
            }
            connection
                    .auth()
                    .ifPresent(
                            auth ->
                                    client.addAuthInfo(
                                            auth.scheme(),
                                            auth.value().getBytes(StandardCharsets.UTF_8)));
            return session;
        } catch (EndpointException | InterruptedException | RuntimeException e) {
            session.close();
            throw e;
        }
    }

    /**
     * Reads the root node after a sync, so that a server which is cut off from its leader cannot
     * answer from what it remembers.
     */
    void read() throws EndpointException, InterruptedException {
        try {
            client.sync("/");
            client.exists("/", false);
        } catch (KeeperException.NoAuthException e) {
            // It reads, and refuses: that is an answer.
        } catch (KeeperException e) {
            throw new EndpointException(
                    e.code() == KeeperException.Code.AUTHFAILED
                                    || e.code() == KeeperException.Code.SESSIONCLOSEDREQUIRESASLAUTH
                            ? Reason.REFUSED
                            : Reason.NOT_SERVING,
                    switch (e.code()) {
                        case AUTHFAILED -> "refuses: the credentials are wrong";
                        case SESSIONCLOSEDREQUIRESASLAUTH ->
                                "refuses: it wants a login by SASL (--jaas)";
                        case REQUESTTIMEOUT ->
                                "began a session, but answers no read within "
                                        + Durations.readable(deadline.patience());
                        default -> "began a session, but answers no read: " + e.code();
                    });
        }
    }

    /** The members, as a majority has committed them. */
    Membership members() throws KeeperException, InterruptedException {
        client.sync(ZooDefs.CONFIG_NODE);
        return parsed(client.getConfig(false, new Stat()));
    }

    /**
     * Sends a change that replaces this configuration, and no other. ZooKeeper adds no server
     * without a port for clients in its line; a list of all members may have one.
     */
    Membership reconfigure(MemberChange change, Membership before)
            throws KeeperException, InterruptedException {
        if (change.joining() != null && change.joining().client().isEmpty()) {
            return parsed(
                    client.reconfigure(
                            null, null, change.linesAfter(before), before.version(), new Stat()));
        }
        return parsed(
                client.reconfigure(
                        change.joining() == null ? null : change.joining().line(),
                        change.leaving() == null ? null : change.leaving().toString(),
                        null,
                        before.version(),
                        new Stat()));
    }

    private static Membership parsed(byte[] configuration) {
        return Membership.parse(new String(configuration, StandardCharsets.UTF_8));
    }

    @Override
    public void close() {
        try {
            client.close(deadline.millisLeft());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
