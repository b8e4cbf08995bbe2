package io.saucr.tool;

import java.time.Duration;
import java.util.Optional;

/** The order to a leader to let another server lead (R28), and its end. Used by one thread. */
final class HandOver {
    private static final long LOOK_MILLIS = 20;

    /** Also while it counts votes, a server answers within this time. */
    private static final Duration LOOK = Duration.ofSeconds(1);

    private final Connection connection;

    HandOver(Connection connection) {
        this.connection = connection;
    }

    /** The endpoint that leads, if one does. */
    Optional<ServerStatus> leader() throws InterruptedException {
        return EndpointCommand.statuses(connection).stream()
                .filter(ServerStatus::leads)
                .findFirst();
    }

    /** A server's number, 0 where SAUCR is off. */
    static long id(ServerStatus server) {
        return server.saucr() == null ? 0 : server.saucr().json().path("server").asLong();
    }

    /**
     * Gives the order, and waits until a server leads again.
     *
     * @param to the next leader, or 0 for one that has everything
     * @return the number of the server that leads then, which may be another one
     * @throws FailureException with the reason if the leader leads on, or if nobody leads in time
     */
    long from(ServerStatus leader, long to, String reason) throws InterruptedException {
        order(leader.endpoint(), to + " " + OrderCommand.why(reason));
        Deadline deadline = Deadline.in(connection.patience());
        Connection quick = connection.within(LOOK);
        do {
            for (ServerStatus each : EndpointCommand.statuses(quick)) {
                if (each.leads() && each.serves()) {
                    return id(each);
                }
            }
            Thread.sleep(LOOK_MILLIS);
        } while (!deadline.hasPassed());
        throw new FailureException(
                "server %d no longer leads, and no other endpoint does after %s: is a majority up?"
                        .formatted(id(leader), Durations.readable(connection.patience())));
    }

    private void order(Endpoint leader, String body) {
        try {
            new AdminClient(connection)
                    .post(leader, "saucr/moveLeader", body, Deadline.in(connection.patience()));
        } catch (EndpointException e) {
            throw new FailureException(
                    e.of(leader, "does not know this admin command").getMessage(), e);
        }
    }
}
