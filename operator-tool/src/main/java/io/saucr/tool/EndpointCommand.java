package io.saucr.tool;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.saucr.tool.Asked.Answer;
import io.saucr.tool.EndpointException.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code saucr endpoint}: what each server says, and whether each serves. */
@Command(
        name = "endpoint",
        description = "Shows role, mode and version of each server, and whether it serves.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {EndpointCommand.Status.class, EndpointCommand.Health.class})
final class EndpointCommand implements Runnable {
    private static final long NANOS_PER_MILLI = TimeUnit.MILLISECONDS.toNanos(1);

    @Spec private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "A command is missing.");
    }

    /** What they say. */
    @Command(
            name = "status",
            description = {
                "Prints role, mode, version and last zxid of each server.",
                "Exits with 0 if every server serves, else with 1."
            })
    static final class Status implements Callable<Integer> {
        @Mixin private ConnectionOptions options;
        @Mixin private Output output;

        @Override
        public Integer call() throws InterruptedException {
            List<ServerStatus> all = statuses(options.connection());
            if (output.json()) {
                ArrayNode json = JsonNodeFactory.instance.arrayNode();
                all.forEach(status -> json.add(status.json()));
                output.print(json);
            } else {
                print(all);
            }
            return all.stream().allMatch(ServerStatus::serves)
                    ? OperatorTool.FINE
                    : OperatorTool.FAILED;
        }

        private void print(List<ServerStatus> all) {
            List<List<String>> rows = new ArrayList<>();
            rows.add(
                    List.of(
                            "ENDPOINT",
                            "ROLE",
                            "MODE",
                            "VERSION",
                            "ZXID",
                            "NODES",
                            "CONNECTIONS",
                            "PROBLEM"));
            for (ServerStatus status : all) {
                rows.add(
                        List.of(
                                status.endpoint().name(),
                                status.role(),
                                status.mode(),
                                status.version(),
                                status.srvr().getOrDefault("Zxid", "?"),
                                status.srvr().getOrDefault("Node count", "?"),
                                status.srvr().getOrDefault("Connections", "?"),
                                status.problem() == null ? "-" : status.problem()));
            }
            output.out().println(Output.table(rows));
        }
    }

    /** Of every endpoint, in their order, whether they answer or not. */
    static List<ServerStatus> statuses(Connection connection) throws InterruptedException {
        List<ServerStatus> all = new ArrayList<>();
        for (Answer<ServerStatus> answer :
                Asked.all(
                        connection.endpoints(),
                        connection.patience(),
                        (endpoint, deadline) -> ServerStatus.of(endpoint, connection, deadline))) {
            all.add(
                    answer.failed()
                            ? new ServerStatus(
                                    answer.endpoint(),
                                    Map.of(),
                                    answer.problem(),
                                    null,
                                    answer.problem())
                            : answer.answer());
        }
        return all;
    }

    /** Whether they serve. */
    @Command(
            name = "health",
            description = {
                "Opens a session with each server, and reads after a sync.",
                "Exits with 0 if every server serves, else with 1. It costs the ensemble two writes for",
                "each server: the beginning and the end of a session."
            })
    static final class Health implements Callable<Integer> {
        @Mixin private ConnectionOptions options;
        @Mixin private Output output;

        @Override
        public Integer call() throws InterruptedException {
            Connection connection = options.connection();
            List<Answer<Long>> answers =
                    Asked.all(
                            connection.endpoints(),
                            connection.patience(),
                            (endpoint, deadline) -> check(endpoint, connection, deadline));
            if (output.json()) {
                ArrayNode json = JsonNodeFactory.instance.arrayNode();
                for (Answer<Long> answer : answers) {
                    ObjectNode row = json.addObject();
                    row.put("endpoint", answer.endpoint().name());
                    row.put("healthy", !answer.failed());
                    if (!answer.failed()) {
                        row.put("millis", answer.answer() / (double) NANOS_PER_MILLI);
                    }
                    row.put("problem", answer.failed() ? answer.problem().getMessage() : null);
                }
                output.print(json);
            } else {
                print(answers);
            }
            return answers.stream().noneMatch(Answer::failed)
                    ? OperatorTool.FINE
                    : OperatorTool.FAILED;
        }

        private void print(List<Answer<Long>> answers) {
            List<List<String>> rows = new ArrayList<>();
            rows.add(List.of("ENDPOINT", "HEALTHY", "TOOK", "PROBLEM"));
            for (Answer<Long> answer : answers) {
                rows.add(
                        List.of(
                                answer.endpoint().name(),
                                answer.failed() ? "no" : "yes",
                                answer.failed()
                                        ? "-"
                                        : String.format(
                                                Locale.ROOT,
                                                "%.1f ms",
                                                answer.answer() / (double) NANOS_PER_MILLI),
                                answer.failed() ? answer.problem().getMessage() : "-"));
            }
            output.out().println(Output.table(rows));
        }
    }

    /**
     * Nanoseconds that a session and a read took.
     *
     * @throws EndpointException with what is wrong, and what the server does instead, if it tells
     */
    static long check(Endpoint endpoint, Connection connection, Deadline deadline)
            throws EndpointException, InterruptedException {
        try {
            FourLetterWord.srvr(endpoint, connection, deadline);
        } catch (EndpointException e) {
            if (e.reason() == Reason.NOT_SERVING) {
                throw explained(endpoint, connection, deadline, e);
            }
            // Where srvr is not allowed the session tells as much.
            if (e.reason() != Reason.UNKNOWN_COMMAND) {
                throw e;
            }
        }
        long begin = System.nanoTime();
        try (Session session = Session.open(endpoint, connection, deadline)) {
            session.read();
            return System.nanoTime() - begin;
        } catch (EndpointException e) {
            throw explained(endpoint, connection, deadline, e);
        }
    }

    private static EndpointException explained(
            Endpoint endpoint, Connection connection, Deadline deadline, EndpointException problem)
            throws InterruptedException {
        if (deadline.hasPassed()) {
            return problem;
        }
        ServerStatus status = ServerStatus.of(endpoint, connection, deadline);
        if (!status.tells()) {
            return problem;
        }
        return new EndpointException(
                problem.reason(),
                problem.getMessage()
                        + ": "
                        + (status.saucr().recovers() ? status.saucr().recovery() : status.role()));
    }
}
