package io.saucr.tool;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.saucr.tool.Asked.Answer;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code saucr slow-requests}: the newest slow requests of all servers. What the leader knows of a
 * write is joined with what the server of its client knows.
 */
@Command(
        name = "slow-requests",
        description = {
            "Shows the newest slow requests, and the stage in which each was slow.",
            "A request is slow that takes as long as saucr.slowRequestTime says. Name all servers: the",
            "server of the client knows the request, the leader knows the acknowledgements.",
            "Exits with 1 if a server does not report."
        })
final class SlowRequestsCommand implements Callable<Integer> {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("HH:mm:ss.SSS").withZone(ZoneId.systemDefault());

    private static final String NONE = "-";
    private static final int MOST_ROWS = 1000;

    @Mixin private ConnectionOptions options;
    @Mixin private Output output;
    @Spec private CommandSpec spec;

    @Option(
            names = "--rows",
            paramLabel = "N",
            defaultValue = "20",
            description = "How many requests are printed, from 1 to 1000. Default: 20.")
    private int rows;

    @Option(
            names = "--threshold",
            paramLabel = "TIME",
            description = {
                "Changes saucr.slowRequestTime of each endpoint until it restarts: 1ms to 1h, or",
                "off. Prints no requests."
            })
    private String threshold;

    @Override
    public Integer call() throws InterruptedException {
        if (rows < 1 || rows > MOST_ROWS) {
            throw new ParameterException(
                    spec.commandLine(), "--rows: give 1 to " + MOST_ROWS + ", not " + rows);
        }
        if (threshold != null && !threshold.matches("off|\\d{1,9}(us|ms|s|m|h)?")) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--threshold: give a time from 1ms to 1h, or off, not '" + threshold + "'");
        }
        Connection connection = options.connection();
        List<Answer<JsonNode>> answers =
                Asked.all(
                        connection.endpoints(),
                        connection.patience(),
                        (endpoint, deadline) -> ask(endpoint, connection, deadline));
        if (threshold != null) {
            printThresholds(answers);
        } else if (output.json()) {
            output.print(json(answers));
        } else {
            print(answers);
        }
        return answers.stream().noneMatch(Answer::failed) ? OperatorTool.FINE : OperatorTool.FAILED;
    }

    private JsonNode ask(Endpoint endpoint, Connection connection, Deadline deadline)
            throws EndpointException {
        AdminClient client = new AdminClient(connection);
        try {
            return threshold == null
                    ? client.get(endpoint, "saucr/slowRequests", deadline)
                    : client.post(
                            endpoint,
                            "saucr/slowRequestTime",
                            threshold + " " + OrderCommand.why(null),
                            deadline);
        } catch (EndpointException e) {
            throw e.of(endpoint, "keeps no slow requests");
        }
    }

    private void printThresholds(List<Answer<JsonNode>> answers) {
        ArrayNode json = JsonNodeFactory.instance.arrayNode();
        List<List<String>> table = new ArrayList<>();
        table.add(List.of("ENDPOINT", "DONE", "RESULT"));
        for (Answer<JsonNode> answer : answers) {
            ObjectNode row = json.addObject();
            row.put("endpoint", answer.endpoint().name());
            row.put("done", !answer.failed());
            row.put(
                    "thresholdMillis",
                    answer.failed() ? null : answer.answer().path("thresholdMillis").asLong());
            row.put("problem", answer.failed() ? answer.problem().getMessage() : null);
            table.add(
                    List.of(
                            answer.endpoint().name(),
                            answer.failed() ? "no" : "yes",
                            answer.failed()
                                    ? answer.problem().getMessage()
                                    : threshold(answer.answer())));
        }
        if (output.json()) {
            output.print(json);
        } else {
            output.out().println(Output.table(table));
        }
    }

    private static String threshold(JsonNode said) {
        long millis = said.path("thresholdMillis").asLong();
        return millis == 0 ? "off" : "slow from " + millis + " ms on";
    }

    // ---- What was slow ----

    /** The requests, the newest first; each has its endpoint in front. */
    private static List<ObjectNode> requests(List<Answer<JsonNode>> answers, String key) {
        List<ObjectNode> clients = new ArrayList<>();
        Map<String, ObjectNode> ofLeader = new HashMap<>();
        for (Answer<JsonNode> answer : answers) {
            if (!answer.failed()) {
                for (JsonNode each : answer.answer().path(key)) {
                    ObjectNode row = JsonNodeFactory.instance.objectNode();
                    row.put("endpoint", answer.endpoint().name());
                    row.setAll((ObjectNode) each);
                    boolean waits = each.path("replication").path("commitMillis").isNull();
                    if (each.path("clientOf").isNull() || waits) {
                        clients.add(row);
                    } else {
                        ofLeader.put(row.path("zxid").asText(), row);
                    }
                }
            }
        }
        for (ObjectNode each : clients) {
            ObjectNode leaders = ofLeader.remove(each.path("zxid").asText());
            if (leaders != null) {
                each.set("replication", leaders.path("replication"));
            }
        }
        clients.addAll(ofLeader.values());
        clients.sort(
                Comparator.comparingLong((ObjectNode row) -> row.path("at").asLong()).reversed());
        return clients;
    }

    private void print(List<Answer<JsonNode>> answers) {
        List<List<String>> servers = new ArrayList<>();
        servers.add(List.of("ENDPOINT", "THRESHOLD", "SLOW", "LEFT OUT", "PROBLEM"));
        for (Answer<JsonNode> answer : answers) {
            servers.add(
                    answer.failed()
                            ? List.of(
                                    answer.endpoint().name(),
                                    NONE,
                                    NONE,
                                    NONE,
                                    answer.problem().getMessage())
                            : List.of(
                                    answer.endpoint().name(),
                                    threshold(answer.answer()),
                                    answer.answer().path("slow").asText(),
                                    answer.answer().path("leftOut").asText(),
                                    NONE));
        }
        output.out().println(Output.table(servers));
        List<List<String>> table = new ArrayList<>();
        table.add(
                List.of(
                        "TIME",
                        "ENDPOINT",
                        "TOOK",
                        "OPERATION",
                        "PATH",
                        "SESSION",
                        "CLIENT",
                        "STAGES, MS",
                        "ON THE LEADER"));
        List<ObjectNode> all = requests(answers, "waiting");
        all.addAll(requests(answers, "requests"));
        all.stream().limit(rows).forEach(row -> table.add(cells(row)));
        if (table.size() > 1) {
            output.out().println();
            output.out().println(Output.table(table));
        }
    }

    private static List<String> cells(JsonNode row) {
        JsonNode replication = row.path("replication");
        boolean waits = replication.isObject() && replication.path("commitMillis").isNull();
        return List.of(
                TIME.format(Instant.ofEpochMilli(row.path("at").asLong())),
                row.path("endpoint").asText(),
                row.path("millis").asLong() + (waits ? " ms so far" : " ms"),
                row.path("operation").asText(),
                row.path("path").isTextual() ? row.path("path").asText() : NONE,
                row.path("session").asText(),
                client(row),
                stages(row.path("stageMillis")),
                replication.isObject() ? onTheLeader(replication) : NONE);
    }

    private static String client(JsonNode row) {
        return row.path("client").isTextual()
                ? row.path("client").asText()
                : row.path("clientOf").isNumber()
                        ? "of server " + row.path("clientOf").asText()
                        : NONE;
    }

    private static String stages(JsonNode stages) {
        List<String> texts = new ArrayList<>();
        stages.fields()
                .forEachRemaining(
                        stage -> texts.add(stage.getKey() + " " + stage.getValue().asLong()));
        return texts.isEmpty() ? NONE : String.join(", ", texts);
    }

    private static String onTheLeader(JsonNode replication) {
        List<String> texts = new ArrayList<>();
        texts.add(replication.path("mode").asText() + " mode");
        texts.add("queue " + replication.path("queueMillis").asLong());
        texts.add("proposal " + replication.path("proposalMillis").asLong());
        texts.add(
                replication.path("commitMillis").isNull()
                        ? "not committed"
                        : "commit " + replication.path("commitMillis").asLong());
        List<String> acks = new ArrayList<>();
        for (JsonNode ack : replication.path("acks")) {
            boolean last = ack.path("server").asLong() == replication.path("completedBy").asLong();
            acks.add(
                    ack.path("server").asText()
                            + ": "
                            + ack.path("millis").asLong()
                            + (last ? " (last needed)" : ""));
        }
        texts.add("acks of " + (acks.isEmpty() ? "none" : String.join(", ", acks)));
        List<String> missing = new ArrayList<>();
        replication.path("missing").forEach(sid -> missing.add(sid.asText()));
        if (!missing.isEmpty()) {
            texts.add("none yet of " + missing.stream().collect(Collectors.joining(", ")));
        }
        return String.join(", ", texts);
    }

    private JsonNode json(List<Answer<JsonNode>> answers) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        ArrayNode servers = json.putArray("servers");
        for (Answer<JsonNode> answer : answers) {
            ObjectNode row = servers.addObject();
            row.put("endpoint", answer.endpoint().name());
            for (String key : List.of("server", "thresholdMillis", "slow", "leftOut")) {
                row.set(
                        key,
                        answer.failed()
                                ? JsonNodeFactory.instance.nullNode()
                                : answer.answer().path(key));
            }
            row.put("problem", answer.failed() ? answer.problem().getMessage() : null);
        }
        ArrayNode waiting = json.putArray("waiting");
        requests(answers, "waiting").forEach(waiting::add);
        ArrayNode requests = json.putArray("requests");
        requests(answers, "requests").stream().limit(rows).forEach(requests::add);
        return json;
    }
}
