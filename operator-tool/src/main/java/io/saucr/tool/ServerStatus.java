package io.saucr.tool;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.saucr.tool.Asked.Answer;
import io.saucr.tool.EndpointException.Reason;
import java.util.Map;
import java.util.concurrent.Future;

/**
 * What one server reports, put together from {@code srvr} on its port for clients and from its
 * AdminServer, or {@code mntr} where the AdminServer does not answer. Immutable.
 *
 * @param srvr by the names of its lines; empty if the server did not answer it
 * @param clients why not; null if it did
 * @param saucr null if neither the AdminServer nor mntr told
 * @param replication why not; null if one did
 */
record ServerStatus(
        Endpoint endpoint,
        Map<String, String> srvr,
        EndpointException clients,
        SaucrState saucr,
        EndpointException replication) {

    /** Asks one server; both ports at the same time. */
    static ServerStatus of(Endpoint endpoint, Connection connection, Deadline deadline)
            throws InterruptedException {
        Future<SaucrState> replication =
                Asked.beside(() -> replication(endpoint, connection, deadline));
        Map<String, String> srvr = Map.of();
        EndpointException clients = null;
        try {
            srvr = FourLetterWord.srvr(endpoint, connection, deadline);
        } catch (EndpointException e) {
            clients = e;
        }
        Answer<SaucrState> told = Asked.await(endpoint, replication, deadline, deadline.patience());
        return new ServerStatus(endpoint, srvr, clients, told.answer(), told.problem());
    }

    private static SaucrState replication(
            Endpoint endpoint, Connection connection, Deadline deadline) throws EndpointException {
        EndpointException admin;
        try {
            return new SaucrState(new AdminClient(connection).get(endpoint, "saucr", deadline));
        } catch (EndpointException e) {
            if (e.reason() == Reason.UNKNOWN_COMMAND) {
                return SaucrState.OFF;
            }
            admin = e;
        }
        try {
            return SaucrState.ofMntr(FourLetterWord.mntr(endpoint, connection, deadline));
        } catch (EndpointException e) {
            throw new EndpointException(
                    Reason.UNREACHABLE,
                    endpoint.adminName()
                            + " "
                            + admin.getMessage()
                            + (e.getMessage().startsWith("mntr") ? "; " : "; mntr: it ")
                            + e.getMessage());
        }
    }

    /** Whether it tells how it replicates: it has SAUCR on. */
    boolean tells() {
        return saucr != null && !saucr.off();
    }

    boolean serves() {
        return clients == null
                ? !readsAlone()
                : clients.reason() == Reason.UNKNOWN_COMMAND && knownToServe();
    }

    /** It has no majority, and answers those clients that ask for no more than reads. */
    private boolean readsAlone() {
        return srvr.getOrDefault("Mode", "").equals("read-only");
    }

    /** srvr is not allowed there, but the AdminServer says that it leads, follows or observes. */
    private boolean knownToServe() {
        return saucr != null && saucr.role().matches("leading|following|observing|leader|follower");
    }

    /** leader, follower, observer, standalone, looking, recovering; ? if it does not tell. */
    String role() {
        if (srvr.containsKey("Mode")) {
            return srvr.get("Mode");
        }
        if (saucr == null) {
            return "?";
        }
        return switch (saucr.role()) {
            case "leading" -> "leader";
            case "following" -> "follower";
            case "observing" -> "observer";
            case "leaderelection" -> "looking";
            case "" -> "?";
            default -> saucr.role();
        };
    }

    boolean leads() {
        return srvr.containsKey("Mode") ? role().equals("leader") : saucr != null && saucr.leads();
    }

    /** The mode of the ensemble as this server gives it: only the leader's counts. */
    String mode() {
        if (saucr == null) {
            return "?";
        }
        if (saucr.off()) {
            return "off";
        }
        if (leads()) {
            return saucr.mode() + (saucr.pin().isPresent() ? ", pinned" : "");
        }
        return saucr.pin().isPresent() ? "pinned" : "-";
    }

    /** ZooKeeper's, and ours where the server tells it. */
    String version() {
        String zooKeeper = srvr.getOrDefault("Zookeeper version", "?").replaceFirst("[-,].*", "");
        String ours =
                saucr == null
                        ? ""
                        : saucr.json()
                                .path("version")
                                .asText(srvr.getOrDefault("SAUCR version", ""));
        return ours.isEmpty() ? zooKeeper : zooKeeper + " saucr " + ours;
    }

    /** What is wrong, one sentence; null if nothing is. */
    String problem() {
        if (saucr != null && saucr.recovers()) {
            return saucr.recovery();
        }
        if (readsAlone()) {
            return "has no majority, and serves reads alone";
        }
        if (clients != null && !serves()) {
            return clients.getMessage();
        }
        return replication == null ? null : "mode unknown: " + replication.getMessage();
    }

    /** For programs. */
    ObjectNode json() {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("endpoint", endpoint.name());
        json.put("serves", serves());
        json.put("role", role());
        json.put("mode", saucr == null ? "unknown" : saucr.mode());
        json.put("version", version());
        put(json, "zxid", "Zxid");
        putNumber(json, "nodes", "Node count");
        putNumber(json, "connections", "Connections");
        putNumber(json, "outstanding", "Outstanding");
        json.put("problem", problem());
        if (tells()) {
            json.set("saucr", saucr.json());
        }
        return json;
    }

    private void put(ObjectNode json, String name, String line) {
        if (srvr.containsKey(line)) {
            json.put(name, srvr.get(line));
        }
    }

    private void putNumber(ObjectNode json, String name, String line) {
        if (srvr.getOrDefault(line, "").matches("\\d{1,18}")) {
            json.put(name, Long.parseLong(srvr.get(line)));
        }
    }
}
