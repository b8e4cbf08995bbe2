package io.saucr.tool;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.saucr.tool.Asked.Answer;
import io.saucr.tool.EndpointException.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code saucr slow}, {@code fast}, {@code flush} and {@code shed}: the orders of
 * docs/operate/operating.md, given to the AdminServer of each endpoint.
 */
abstract class OrderCommand implements Callable<Integer> {
    @Mixin private ConnectionOptions options;
    @Mixin private Output output;

    @Parameters(
            arity = "0..1",
            paramLabel = "REASON",
            description = "For the servers' logs; by default the user that runs this tool.")
    private String reason;

    private final String order;

    private OrderCommand(String order) {
        this.order = order;
    }

    /** Slow mode. */
    @Command(
            name = "slow",
            description = {
                "Pins slow mode on each endpoint, and flushes.",
                "Until 'fast' or the end of its process a server syncs every write to disk before it",
                "acknowledges it. A leader makes the ensemble slow, a follower only itself. To keep the",
                "ensemble slow whichever server leads, name every server.",
                "Exits with 1 if a server fails to do it."
            })
    static final class Slow extends OrderCommand {
        Slow() {
            super("pin");
        }
    }

    /** The end of it. */
    @Command(
            name = "fast",
            description = {
                "Unpins slow mode on each endpoint.",
                "The leader chooses the mode again, fast as soon as more than a bare majority is",
                "responsive. Exits with 1 if a server fails to do it."
            })
    static final class Fast extends OrderCommand {
        Fast() {
            super("unpin");
        }
    }

    /** To the disk. */
    @Command(
            name = "flush",
            description = {
                "Makes each endpoint sync its log to disk now, and record that in its markers.",
                "Exits with 1 if a server fails to do it."
            })
    static final class Flush extends OrderCommand {
        Flush() {
            super("flush");
        }
    }

    /** Away with clients. */
    @Command(
            name = "shed",
            description = {
                "Closes a share of the client connections of each endpoint.",
                "Their clients keep their sessions and connect to another server of their lists. Name",
                "the servers that have too many clients, or one that will be stopped, with --share 100.",
                "Exits with 1 if a server fails to do it."
            })
    static final class Shed extends OrderCommand {
        @Spec private CommandSpec spec;

        @Option(
                names = "--share",
                paramLabel = "PERCENT",
                defaultValue = "50",
                description = "How many of them, from 1 to 100 percent; else 50.")
        private int share;

        Shed() {
            super("shed");
        }

        @Override
        String body(String why) {
            if (share < 1 || share > 100) {
                throw new ParameterException(
                        spec.commandLine(), "--share: give 1 to 100 percent, not " + share);
            }
            return share + " " + why;
        }
    }

    /** The reason for the servers' logs, or who gave the order if there is none. */
    static String why(String reason) {
        return reason == null ? System.getProperty("user.name", "?") + " ran bin/saucr" : reason;
    }

    /** What is sent with the order. */
    String body(String why) {
        return why;
    }

    @Override
    public Integer call() throws InterruptedException {
        Connection connection = options.connection();
        String why = body(why(reason));
        List<Answer<JsonNode>> answers =
                Asked.all(
                        connection.endpoints(),
                        connection.patience(),
                        (endpoint, deadline) -> give(endpoint, connection, why, deadline));
        if (output.json()) {
            print(answers);
        } else {
            List<List<String>> rows = new ArrayList<>();
            rows.add(List.of("ENDPOINT", "DONE", "RESULT"));
            for (Answer<JsonNode> answer : answers) {
                rows.add(
                        List.of(
                                answer.endpoint().name(),
                                answer.failed() ? "no" : "yes",
                                result(answer)));
            }
            output.out().println(Output.table(rows));
        }
        return answers.stream().noneMatch(Answer::failed) ? OperatorTool.FINE : OperatorTool.FAILED;
    }

    private JsonNode give(Endpoint endpoint, Connection connection, String why, Deadline deadline)
            throws EndpointException {
        try {
            return new AdminClient(connection).post(endpoint, "saucr/" + order, why, deadline);
        } catch (EndpointException e) {
            String place = endpoint.adminName() + " ";
            throw new EndpointException(
                    e.reason(),
                    e.reason() == Reason.UNKNOWN_COMMAND
                            ? place
                                    + "does not know this admin command: this is a server of Apache's, or one with"
                                    + " SAUCR off"
                            : place
                                    + e.getMessage()
                                    + (e.reason() == Reason.NOT_SERVING && !order.equals("shed")
                                            ? "; zkServer.sh "
                                                    + order
                                                    + " on its machine works meanwhile"
                                            : ""));
        }
    }

    private static String result(Answer<JsonNode> answer) {
        if (answer.failed()) {
            return answer.problem().getMessage();
        }
        JsonNode said = answer.answer();
        if (said.has("closed")) {
            return "closed %d of %d connections"
                    .formatted(said.path("closed").asInt(), said.path("connections").asInt());
        }
        String pin = said.path("pinnedSlow").asBoolean() ? "pinned slow" : "not pinned";
        return said.has("result") ? pin + "; " + said.path("result").asText() : pin;
    }

    private void print(List<Answer<JsonNode>> answers) {
        ArrayNode json = JsonNodeFactory.instance.arrayNode();
        for (Answer<JsonNode> answer : answers) {
            ObjectNode row = json.addObject();
            row.put("endpoint", answer.endpoint().name());
            row.put("done", !answer.failed());
            if (answer.failed()) {
                row.put("problem", answer.problem().getMessage());
            } else {
                row.set("answer", answer.answer());
            }
        }
        output.print(json);
    }
}
