package io.saucr.tool;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code saucr move-leader}: another server leads, with a shorter pause than after a kill. */
@Command(
        name = "move-leader",
        description = {
            "Lets another server lead, for example before maintenance of the leader's machine.",
            "The leader stops proposing until everything is committed and the next one has it, names",
            "it to the voters, and leaves. If that takes more than a second, it leads on.",
            "Exits with 1 if it leads on, or if another server than TO was elected."
        })
final class MoveLeaderCommand implements Callable<Integer> {
    private static final long LOOK_MILLIS = 20;

    /** Also while it counts votes, a server answers within this time. */
    private static final Duration LOOK = Duration.ofSeconds(1);

    @Mixin private ConnectionOptions options;
    @Mixin private Output output;

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "TO",
            description = "The number of the server that is to lead; else one that can.")
    private Long to;

    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "REASON",
            description = "For the leader's log; by default the user that runs this tool.")
    private String reason;

    @Override
    public Integer call() throws InterruptedException {
        Connection connection = options.connection();
        ServerStatus leader =
                EndpointCommand.statuses(connection).stream()
                        .filter(ServerStatus::leads)
                        .findFirst()
                        .orElseThrow(
                                () ->
                                        new FailureException(
                                                "none of the endpoints leads: name all servers"
                                                        + " (--endpoints)"));
        long from = id(leader);
        if (to != null && to == from) {
            return say(from, from, 0);
        }
        long begin = System.nanoTime();
        order(leader.endpoint(), connection);
        return awaitAnother(from, begin, connection);
    }

    private void order(Endpoint leader, Connection connection) {
        try {
            new AdminClient(connection)
                    .post(
                            leader,
                            "saucr/moveLeader",
                            (to == null ? 0 : to) + " " + OrderCommand.why(reason),
                            Deadline.in(connection.patience()));
        } catch (EndpointException e) {
            throw new FailureException(
                    e.reason() == EndpointException.Reason.UNKNOWN_COMMAND
                            ? leader.adminName()
                                    + " knows no such order: this is a server of Apache's, an older"
                                    + " version, or one with SAUCR off"
                            : leader.adminName() + " " + e.getMessage(),
                    e);
        }
    }

    private int awaitAnother(long from, long begin, Connection connection)
            throws InterruptedException {
        Deadline deadline = Deadline.in(connection.patience());
        Connection quick = connection.within(LOOK);
        do {
            for (ServerStatus each : EndpointCommand.statuses(quick)) {
                if (each.leads() && each.serves()) {
                    return say(
                            from,
                            id(each),
                            TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin));
                }
            }
            Thread.sleep(LOOK_MILLIS);
        } while (!deadline.hasPassed());
        throw new FailureException(
                "server %d no longer leads, and no other endpoint does after %s: is a majority up?"
                        .formatted(from, Durations.readable(connection.patience())));
    }

    private static long id(ServerStatus server) {
        return server.saucr() == null ? 0 : server.saucr().json().path("server").asLong();
    }

    private int say(long from, long leads, long millis) {
        if (output.json()) {
            ObjectNode json = JsonNodeFactory.instance.objectNode();
            json.put("from", from);
            json.put("leads", leads);
            json.put("millis", millis);
            output.print(json);
        } else {
            output.out().println("server " + leads + " leads");
        }
        if (to == null ? leads == from : leads != to) {
            output.err().println("saucr: server " + leads + " was elected instead; try again");
            return OperatorTool.FAILED;
        }
        return OperatorTool.FINE;
    }
}
