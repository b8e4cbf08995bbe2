package io.saucr.tool;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code saucr mode}, {@code view} and {@code recovery}: how the servers replicate. */
abstract class ReplicationCommand implements Callable<Integer> {
    @Mixin private ConnectionOptions options;
    @Mixin private Output output;

    @Override
    public Integer call() throws InterruptedException {
        Ensemble ensemble = Ensemble.ask(options.connection());
        if (output.json()) {
            output.print(json(ensemble));
        } else {
            print(ensemble, output);
        }
        return fine(ensemble) ? OperatorTool.FINE : OperatorTool.FAILED;
    }

    abstract void print(Ensemble ensemble, Output output);

    abstract JsonNode json(Ensemble ensemble);

    abstract boolean fine(Ensemble ensemble);

    /** What a cell says of a server that did not tell, or that has nothing to tell. */
    private static String silence(ServerStatus server) {
        if (server.saucr() != null && server.saucr().off()) {
            return "SAUCR is off: replicates as Apache's server";
        }
        String problem = server.problem();
        return problem == null ? "-" : problem;
    }

    private static String ids(List<Long> ids) {
        return ids.isEmpty()
                ? "-"
                : ids.stream().map(id -> Long.toString(id)).collect(Collectors.joining(","));
    }

    /** The mode. */
    @Command(
            name = "mode",
            description = {
                "Prints the mode of the ensemble: fast, slow, off or unknown.",
                "It is the leader's; below it stands each server. Exits with 1 if the mode is"
                        + " unknown."
            })
    static final class ModeCommand extends ReplicationCommand {
        @Option(names = "--brief", description = "Prints the mode alone.")
        private boolean brief;

        @Override
        void print(Ensemble ensemble, Output output) {
            output.out().println(ensemble.mode());
            if (brief) {
                // A reader of the one word wants to know why it is this one.
                if (!fine(ensemble)) {
                    ensemble.servers()
                            .forEach(
                                    server ->
                                            output.err()
                                                    .println(
                                                            server.endpoint().name()
                                                                    + ": "
                                                                    + problem(ensemble, server)));
                }
                return;
            }
            ensemble.leader()
                    .map(ModeCommand::because)
                    .filter(reason -> !reason.isEmpty())
                    .ifPresent(reason -> output.out().println("because: " + reason));
            List<List<String>> rows = new ArrayList<>();
            rows.add(List.of("ENDPOINT", "ROLE", "MODE", "PINNED", "ON DISK", "PROBLEM"));
            for (ServerStatus server : ensemble.servers()) {
                boolean tells = server.tells();
                rows.add(
                        List.of(
                                server.endpoint().name(),
                                server.role(),
                                server.mode(),
                                tells ? server.saucr().pin().orElse("-") : "-",
                                tells
                                        ? server.saucr().json().path("onDisk").asBoolean()
                                                ? "yes"
                                                : "no"
                                        : "-",
                                problem(ensemble, server)));
            }
            output.out().println(Output.table(rows));
        }

        /** Of a server that has nothing wrong: why it does not know the mode of its leader. */
        private static String problem(Ensemble ensemble, ServerStatus server) {
            String silence = silence(server);
            return silence.equals("-")
                    ? ensemble.withoutLeader().getOrDefault(server.endpoint().name(), "-")
                    : silence;
        }

        /** A pin outlasts what made the leader switch before, and what would make it switch now. */
        private static String because(SaucrState leader) {
            if (leader.pin().isPresent()) {
                return leader.pin().get();
            }
            JsonNode switches = leader.json().path("lastSwitches");
            JsonNode last = switches.path(switches.size() - 1);
            // A term begins in slow mode without a switch; what came before is no reason for it.
            return last.path("what").asText("").equals(leader.mode())
                    ? last.path("reason").asText("")
                    : "";
        }

        @Override
        JsonNode json(Ensemble ensemble) {
            ObjectNode json = JsonNodeFactory.instance.objectNode();
            json.put("mode", ensemble.mode());
            ensemble.leader().ifPresent(leader -> json.put("because", because(leader)));
            ArrayNode servers = json.putArray("servers");
            ensemble.servers().forEach(server -> servers.add(server.json()));
            return json;
        }

        @Override
        boolean fine(Ensemble ensemble) {
            return !ensemble.mode().equals("unknown");
        }
    }

    /** The views, and whom the leader hears. */
    @Command(
            name = "view",
            description = {
                "Prints the servers whose acknowledgements from memory count.",
                "It is as each server has it on its disk (docs/operate/recovery.md, Views), and how the",
                "leader sees the others. Exits with 1 if a server did not report it."
            })
    static final class ViewCommand extends ReplicationCommand {
        @Override
        void print(Ensemble ensemble, Output output) {
            List<List<String>> rows = new ArrayList<>();
            rows.add(
                    List.of(
                            "ENDPOINT",
                            "ROLE",
                            "MEMBERS",
                            "SEALED AT",
                            "ANSWERS NEEDED",
                            "PROBLEM"));
            for (ServerStatus server : ensemble.servers()) {
                boolean tells = server.tells();
                JsonNode view = tells ? server.saucr().json().path("view") : null;
                rows.add(
                        List.of(
                                server.endpoint().name(),
                                server.role(),
                                tells ? ids(server.saucr().ids("view", "members")) : "-",
                                tells ? view.path("zxid").asText("-") : "-",
                                tells ? view.path("answersNeeded").asText("-") : "-",
                                silence(server)));
            }
            output.out().println(Output.table(rows));
            ensemble.leader().ifPresent(leader -> printFollowers(leader, output));
        }

        private static void printFollowers(SaucrState leader, Output output) {
            JsonNode followers = leader.json().path("followers");
            if (followers.isEmpty()) {
                return;
            }
            output.out().println();
            output.out().println("Leader: server " + leader.json().path("server").asText("?"));
            List<List<String>> rows = new ArrayList<>();
            rows.add(List.of("FOLLOWER", "VOTER", "SAUCR", "IN VIEW", "PROMPT", "SILENT"));
            for (JsonNode follower : followers) {
                rows.add(
                        List.of(
                                follower.path("server").asText("?"),
                                yes(follower, "voter"),
                                yes(follower, "situationAware"),
                                yes(follower, "inView"),
                                yes(follower, "prompt"),
                                follower.path("silentMillis").asText("?") + " ms"));
            }
            output.out().println(Output.table(rows));
        }

        private static String yes(JsonNode row, String name) {
            return row.path(name).asBoolean() ? "yes" : "no";
        }

        @Override
        JsonNode json(Ensemble ensemble) {
            ObjectNode json = JsonNodeFactory.instance.objectNode();
            ArrayNode servers = json.putArray("servers");
            for (ServerStatus server : ensemble.servers()) {
                ObjectNode row = servers.addObject();
                row.put("endpoint", server.endpoint().name());
                row.put("role", server.role());
                if (server.tells()) {
                    row.set("view", server.saucr().json().path("view"));
                }
                row.put("problem", server.tells() ? null : silence(server));
            }
            ensemble.leader()
                    .ifPresent(leader -> json.set("followers", leader.json().path("followers")));
            return json;
        }

        @Override
        boolean fine(Ensemble ensemble) {
            return ensemble.servers().stream().allMatch(ServerStatus::tells);
        }
    }

    /** Who recovers, and what that waits for. */
    @Command(
            name = "recovery",
            description = {
                "Prints for each server whether it recovers, how far it is, and which servers it waits for.",
                "See docs/operate/recovery.md. Exits with 1 if one recovers, or did not report it."
            })
    static final class RecoveryCommand extends ReplicationCommand {
        @Override
        void print(Ensemble ensemble, Output output) {
            List<List<String>> rows = new ArrayList<>();
            rows.add(List.of("ENDPOINT", "ROLE", "RECOVERY"));
            for (ServerStatus server : ensemble.servers()) {
                rows.add(List.of(server.endpoint().name(), server.role(), state(server)));
            }
            output.out().println(Output.table(rows));
        }

        private static String state(ServerStatus server) {
            if (!server.tells()) {
                return silence(server);
            }
            return server.saucr().recovers() ? server.saucr().recovery() : "complete";
        }

        @Override
        JsonNode json(Ensemble ensemble) {
            ArrayNode json = JsonNodeFactory.instance.arrayNode();
            for (ServerStatus server : ensemble.servers()) {
                ObjectNode row = json.addObject();
                row.put("endpoint", server.endpoint().name());
                row.put("role", server.role());
                row.put("state", state(server));
                if (server.tells()) {
                    row.set("recovery", server.saucr().json().path("recovery"));
                }
            }
            return json;
        }

        @Override
        boolean fine(Ensemble ensemble) {
            return ensemble.servers().stream()
                    .allMatch(
                            server ->
                                    server.saucr() != null
                                            && !server.saucr().recovers()
                                            && (server.saucr().off() || server.serves()));
        }
    }
}
