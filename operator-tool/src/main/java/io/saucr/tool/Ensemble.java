package io.saucr.tool;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Optional;

/**
 * What the answers of several servers say of the ensemble as a whole. Immutable.
 *
 * @param servers in the order of the endpoints
 * @param leader what its leader says, if one of them leads, or one of them knows
 */
record Ensemble(List<ServerStatus> servers, Optional<SaucrState> leader) {
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
        return new Ensemble(servers, leader.or(() -> elsewhere(servers, connection)));
    }

    private static Optional<SaucrState> elsewhere(
            List<ServerStatus> servers, Connection connection) {
        for (ServerStatus server : servers) {
            if (server.saucr() == null || !server.saucr().json().has("leader")) {
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
            } catch (EndpointException e) {
                // The next one may know.
            }
        }
        return Optional.empty();
    }

    /** fast, slow, slow pinned, off (as Apache's server replicates), or unknown. */
    String mode() {
        if (leader.isPresent()) {
            return leader.get().mode() + (leader.get().pin().isPresent() ? ", pinned" : "");
        }
        boolean stock =
                servers.stream()
                        .anyMatch(
                                each ->
                                        each.serves()
                                                && each.saucr() != null
                                                && each.saucr().off());
        return stock ? "off" : "unknown";
    }
}
