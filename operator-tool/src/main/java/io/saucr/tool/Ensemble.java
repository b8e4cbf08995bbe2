package io.saucr.tool;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What the answers of several servers say of the ensemble as a whole. Immutable.
 *
 * @param servers in the order of the endpoints
 * @param leader what its leader says, if one of them leads, or one of them knows
 * @param withoutLeader if not, why the servers that were asked for it do not know, by their names
 */
record Ensemble(
        List<ServerStatus> servers,
        Optional<SaucrState> leader,
        Map<String, String> withoutLeader) {
    /**
     * Asks all of them. If none of them leads, the first whose AdminServer can asks the others of
     * the ensemble.
     */
    static Ensemble ask(Connection connection) throws InterruptedException {
        List<ServerStatus> servers = EndpointCommand.statuses(connection);
        Optional<SaucrState> leader =
                servers.stream()
                        .filter(each -> each.saucr() != null && each.leads())
                        .map(ServerStatus::saucr)
                        .findFirst();
        Map<String, String> withoutLeader = new HashMap<>();
        leader = leader.or(() -> elsewhere(servers, connection, withoutLeader));
        return new Ensemble(servers, leader, Map.copyOf(withoutLeader));
    }

    private static Optional<SaucrState> elsewhere(
            List<ServerStatus> servers, Connection connection, Map<String, String> withoutLeader) {
        for (ServerStatus server : servers) {
            if (!server.tells()) {
                continue;
            }
            String name = server.endpoint().name();
            if (!server.saucr().json().has("leader")) {
                withoutLeader.put(name, "only a leader's mntr tells the mode");
                continue;
            }
            try {
                JsonNode answer =
                        new AdminClient(connection)
                                .get(
                                        server.endpoint(),
                                        "saucr/ensemble",
                                        Deadline.in(connection.patience()));
                for (JsonNode each : answer.path("servers")) {
                    SaucrState other = new SaucrState(each.path("status"));
                    if (other.leads()) {
                        return Optional.of(other);
                    }
                }
                withoutLeader.put(
                        name, whyUnknown(server.saucr().json().path("leader").asLong(), answer));
            } catch (EndpointException e) {
                withoutLeader.put(name, "its AdminServer " + e.getMessage());
            }
        }
        return Optional.empty();
    }

    /**
     * Why the leader is not in the answer of an AdminServer that has asked the others.
     *
     * @param leader its id as the same server knows it
     */
    static String whyUnknown(long leader, JsonNode answer) {
        for (JsonNode each : answer.path("servers")) {
            if (each.path("server").asLong() == leader && each.has("error")) {
                return "it did not get the mode from the AdminServer of the leader, server %s at %s: %s"
                        .formatted(
                                leader, each.path("address").asText(), each.path("error").asText());
            }
        }
        return "it knows no server that leads";
    }

    /** fast, slow, slow pinned, off (as Apache's server replicates), or unknown. */
    String mode() {
        if (leader.isPresent()) {
            return leader.get().mode() + (leader.get().pin().isPresent() ? ", pinned" : "");
        }
        // Where one has SAUCR on, or does not tell, it may lead, and in fast mode.
        boolean stock =
                servers.stream().allMatch(each -> each.saucr() != null && each.saucr().off());
        return stock && servers.stream().anyMatch(ServerStatus::serves) ? "off" : "unknown";
    }
}
