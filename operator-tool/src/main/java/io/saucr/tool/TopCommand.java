package io.saucr.tool;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.saucr.core.config.TimeLimit;
import io.saucr.tool.Asked.Answer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code saucr top}: which paths, sessions or operations cause the load. */
@Command(
        name = "top",
        description = {
            "Shows which path prefixes, sessions or operations cause the load.",
            "Each endpoint counts the requests of its own clients for an interval, and only then: name",
            "all servers. MEAN MS and MAX MS are from the arrival of a request to its answer.",
            "Exits with 1 if a server does not report."
        })
final class TopCommand implements Callable<Integer> {
    private static final Duration SHORTEST = Duration.ofMillis(100);
    private static final Duration LONGEST = Duration.ofSeconds(10);
    private static final int MOST_DEPTH = 100;
    private static final int MOST_ROWS = 1000;

    /** So that what is a row on one server is one on the others. */
    private static final int ENTRIES_PER_ROW = 4;

    private static final double MILLIS_PER_SECOND = 1000.0;

    @Mixin private ConnectionOptions options;
    @Mixin private Output output;
    @Spec private CommandSpec spec;

    enum By {
        PREFIX,
        SESSION,
        OPERATION;

        private String lower() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    @Option(
            names = "--by",
            paramLabel = "WHAT",
            defaultValue = "prefix",
            description = "prefix, session or operation. Default: prefix.")
    private By by;

    @Option(
            names = "--depth",
            paramLabel = "N",
            defaultValue = "1",
            description = "How many names of a path are its prefix, from 1 to 100. Default: 1.")
    private int depth;

    @Option(
            names = "--interval",
            paramLabel = "TIME",
            defaultValue = "2s",
            description = "How long is counted, from 100ms to 10s. Default: 2s.")
    private String interval;

    @Option(names = "--once", description = "Prints one interval, and not one after the other.")
    private boolean once;

    @Option(
            names = "--rows",
            paramLabel = "N",
            defaultValue = "20",
            description = "How many rows are printed, from 1 to 1000. Default: 20.")
    private int rows;

    /** Of one key, or of several. */
    private static final class Load {
        final String key;
        final String client;
        final String server;
        double reads;
        double writes;
        double bytesRead;
        double bytesWritten;
        double requests;
        double sumMillis;
        long maxMillis;

        Load(String key, String client, String server) {
            this.key = key;
            this.client = client;
            this.server = server;
        }

        /**
         * @param counts of a server
         * @param seconds for which it has counted
         */
        void add(JsonNode counts, double seconds) {
            reads += counts.path("reads").asDouble() / seconds;
            writes += counts.path("writes").asDouble() / seconds;
            bytesRead += counts.path("bytesRead").asDouble() / seconds;
            bytesWritten += counts.path("bytesWritten").asDouble() / seconds;
            requests += counts.path("reads").asDouble() + counts.path("writes").asDouble();
            sumMillis += counts.path("sumMillis").asDouble();
            maxMillis = Math.max(maxMillis, counts.path("maxMillis").asLong());
        }

        void add(Load other) {
            reads += other.reads;
            writes += other.writes;
            bytesRead += other.bytesRead;
            bytesWritten += other.bytesWritten;
            requests += other.requests;
            sumMillis += other.sumMillis;
            maxMillis = Math.max(maxMillis, other.maxMillis);
        }

        double mean() {
            return requests == 0 ? 0 : sumMillis / requests;
        }

        List<String> cells() {
            return List.of(
                    number(reads),
                    number(writes),
                    number(bytesRead),
                    number(bytesWritten),
                    String.format(Locale.ROOT, "%.1f", mean()),
                    Long.toString(maxMillis));
        }

        private static String number(double value) {
            return String.format(Locale.ROOT, "%.0f", value);
        }

        ObjectNode json() {
            ObjectNode json = JsonNodeFactory.instance.objectNode();
            json.put("key", key);
            json.put("client", client);
            json.put("endpoint", server);
            json.put("readsPerSecond", rounded(reads));
            json.put("writesPerSecond", rounded(writes));
            json.put("bytesReadPerSecond", rounded(bytesRead));
            json.put("bytesWrittenPerSecond", rounded(bytesWritten));
            json.put("meanMillis", rounded(mean()));
            json.put("maxMillis", maxMillis);
            return json;
        }

        private static double rounded(double value) {
            return (double) Math.round(value * MILLIS_PER_SECOND) / MILLIS_PER_SECOND;
        }
    }

    /**
     * What the servers have counted.
     *
     * @param loads the busiest first
     */
    private record Counted(
            List<Answer<JsonNode>> answers, List<Load> loads, Load rest, Load total) {}

    @Override
    public Integer call() throws InterruptedException {
        require(depth, 1, MOST_DEPTH, "--depth");
        require(rows, 1, MOST_ROWS, "--rows");
        Duration time = interval();
        Connection connection = options.connection();
        boolean fine;
        boolean goesOn;
        do {
            Counted counted = count(connection, time);
            fine = counted.answers.stream().noneMatch(Answer::failed);
            // Without any answer the next one would be the same, at once.
            goesOn = !once && !counted.answers.stream().allMatch(Answer::failed);
            if (output.json()) {
                ObjectNode json = json(counted, time);
                output.out().println(once ? json.toPrettyString() : json.toString());
            } else {
                print(counted, time);
            }
        } while (goesOn);
        return fine ? OperatorTool.FINE : OperatorTool.FAILED;
    }

    private void require(int value, int least, int most, String option) {
        if (value < least || value > most) {
            throw new ParameterException(
                    spec.commandLine(),
                    option + ": give " + least + " to " + most + ", not " + value);
        }
    }

    private Duration interval() {
        try {
            Duration given = TimeLimit.parse(interval);
            if (given.compareTo(SHORTEST) >= 0 && given.compareTo(LONGEST) <= 0) {
                return given;
            }
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), "--interval: " + e.getMessage(), e);
        }
        throw new ParameterException(
                spec.commandLine(), "--interval: give 100ms to 10s, not " + interval);
    }

    private Counted count(Connection connection, Duration time) throws InterruptedException {
        String command =
                "saucr/top?by=%s&depth=%d&millis=%d&most=%d"
                        .formatted(
                                by.lower(),
                                depth,
                                time.toMillis(),
                                Math.min(MOST_ROWS, rows * ENTRIES_PER_ROW));
        List<Answer<JsonNode>> answers =
                Asked.all(
                        connection.endpoints(),
                        connection.patience().plus(time),
                        (endpoint, deadline) -> ask(endpoint, connection, command, deadline));
        Map<String, Load> byKey = new LinkedHashMap<>();
        Load rest = new Load("other", null, null);
        Load total = new Load("total", null, null);
        for (Answer<JsonNode> answer : answers) {
            if (!answer.failed()) {
                JsonNode said = answer.answer();
                double seconds = said.path("millis").asDouble() / MILLIS_PER_SECOND;
                for (JsonNode entry : said.path("entries")) {
                    String key = entry.path("key").asText();
                    boolean session = by == By.SESSION;
                    String name = session ? answer.endpoint().name() : null;
                    String client = session ? entry.path("client").asText(null) : null;
                    byKey.computeIfAbsent(
                                    session ? key + name : key,
                                    absent -> new Load(key, client, name))
                            .add(entry, seconds);
                }
                rest.add(said.path("rest"), seconds);
            }
        }
        List<Load> loads = new ArrayList<>(byKey.values());
        loads.forEach(total::add);
        total.add(rest);
        loads.sort(Comparator.comparingDouble((Load load) -> load.reads + load.writes).reversed());
        loads.subList(Math.min(rows, loads.size()), loads.size()).forEach(rest::add);
        return new Counted(
                answers, List.copyOf(loads.subList(0, Math.min(rows, loads.size()))), rest, total);
    }

    private static JsonNode ask(
            Endpoint endpoint, Connection connection, String command, Deadline deadline)
            throws EndpointException {
        try {
            return new AdminClient(connection).get(endpoint, command, deadline);
        } catch (EndpointException e) {
            throw e.of(endpoint, "counts no requests");
        }
    }

    private void print(Counted counted, Duration time) {
        printProblems(counted.answers);
        List<List<String>> table = new ArrayList<>();
        List<String> header = new ArrayList<>(List.of(by.name()));
        if (by == By.SESSION) {
            header.addAll(List.of("CLIENT", "ENDPOINT"));
        }
        header.addAll(
                List.of("READS/S", "WRITES/S", "READ B/S", "WRITTEN B/S", "MEAN MS", "MAX MS"));
        table.add(header);
        counted.loads.forEach(load -> table.add(row(load)));
        if (counted.rest.requests > 0) {
            table.add(row(counted.rest));
        }
        table.add(row(counted.total));
        output.out().println(Output.table(table));
        if (!once) {
            output.out().println("-- " + Durations.readable(time));
        }
        output.out().flush();
    }

    private List<String> row(Load load) {
        List<String> row = new ArrayList<>(List.of(load.key));
        if (by == By.SESSION) {
            row.add(load.client == null ? "-" : load.client);
            row.add(load.server == null ? "-" : load.server);
        }
        row.addAll(load.cells());
        return row;
    }

    private void printProblems(List<Answer<JsonNode>> answers) {
        for (Answer<JsonNode> answer : answers) {
            if (answer.failed()) {
                output.err()
                        .println(
                                "saucr: "
                                        + answer.endpoint().name()
                                        + ": "
                                        + answer.problem().getMessage());
            }
        }
    }

    private ObjectNode json(Counted counted, Duration time) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("by", by.lower());
        json.put("depth", by == By.PREFIX ? depth : null);
        json.put("millis", time.toMillis());
        ArrayNode servers = json.putArray("servers");
        for (Answer<JsonNode> answer : counted.answers) {
            ObjectNode server = servers.addObject();
            server.put("endpoint", answer.endpoint().name());
            server.put("server", answer.failed() ? null : answer.answer().path("server").asLong());
            server.put("problem", answer.failed() ? answer.problem().getMessage() : null);
        }
        ArrayNode entries = json.putArray("entries");
        counted.loads.forEach(load -> entries.add(load.json()));
        json.set("other", counted.rest.json());
        json.set("total", counted.total.json());
        return json;
    }
}
