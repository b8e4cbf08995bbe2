package io.saucr.ensemble;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What one server says about itself at one moment. A value that the server does not give is {@link
 * #UNKNOWN}; a server that does not answer still has a report.
 *
 * @param role leader, follower, observer; "looking" when it answers without serving, "starting"
 *     when its process runs without answering, "down" when there is no process
 * @param mode of a leader, "fast" or "slow", which is the ensemble's; of another server, "pinned"
 *     if slow mode is pinned there, else unknown: what it logged last says nothing of the ensemble
 * @param recovery "recovered" or "recovering"
 * @param lastZxid the last zxid that is in its log, else the last that it has applied
 * @param lle its map of the last entry that each server may have logged, equal values together
 */
public record ServerReport(
        int id, String role, String mode, String recovery, String lastZxid, String lle) {
    public static final String UNKNOWN = "-";
    public static final String FAST = "fast";
    public static final String SLOW = "slow";

    private static final String DOWN = "down";
    private static final String PINNED = "pinned";
    private static final String STARTING = "starting";
    private static final String LEADER = "leader";
    private static final String LOOKING = "looking";

    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(2);
    private static final ObjectMapper JSON = new ObjectMapper();

    /**
     * Asks a server for everything. Takes some milliseconds, and not more than some seconds if it
     * hangs.
     */
    public static ServerReport of(ServerProcess server) {
        ServerReport brief = brief(server);
        if (!server.isAlive() || brief.role.equals(STARTING)) {
            return brief;
        }
        JsonNode saucr = adminCommand(server, "saucr");
        String zxid = saucr.path("lastLoggedZxid").asText(UNKNOWN);
        return new ServerReport(
                brief.id,
                brief.role,
                brief.mode,
                brief.recovery,
                zxid.equals(UNKNOWN) ? appliedZxid(server) : zxid,
                lleText(saucr.path("lleMap")));
    }

    /** Asks a server for role, mode and recovery state only: one question, one answer. */
    static ServerReport brief(ServerProcess server) {
        if (!server.isAlive()) {
            return new ServerReport(server.id(), DOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN);
        }
        String answer = server.ask("mntr", ANSWER_LIMIT);
        if (answer.isEmpty()) {
            return new ServerReport(server.id(), STARTING, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN);
        }
        Map<String, String> monitor = FourLetterWord.table(answer);
        String role = monitor.getOrDefault("zk_server_state", LOOKING);
        return new ServerReport(
                server.id(),
                role,
                role.equals(LEADER)
                        ? choose(monitor.get("zk_saucr_mode"), SLOW, FAST)
                        : choose(monitor.get("zk_saucr_pinned_slow"), UNKNOWN, PINNED),
                choose(monitor.get("zk_saucr_recovery_state"), "recovered", "recovering"),
                UNKNOWN,
                UNKNOWN);
    }

    /** Reports of all servers, in the order of the list. */
    public static List<ServerReport> of(List<ServerProcess> servers) {
        return servers.parallelStream().map(ServerReport::of).toList();
    }

    /** True when the server has a role in an ensemble that serves. */
    public boolean serves() {
        return role.equals(LEADER) || role.equals("follower") || role.equals("observer");
    }

    public boolean leads() {
        return role.equals(LEADER);
    }

    /** The JSON answer of an admin server's command; a missing node when there is none. */
    private static JsonNode adminCommand(ServerProcess server, String command) {
        String url = "http://" + server.address().admin() + "/commands/" + command;
        try {
            HttpURLConnection connection =
                    (HttpURLConnection) URI.create(url).toURL().openConnection();
            connection.setConnectTimeout((int) ANSWER_LIMIT.toMillis());
            connection.setReadTimeout((int) ANSWER_LIMIT.toMillis());
            try (InputStream body = connection.getInputStream()) {
                return JSON.readTree(body);
            } finally {
                connection.disconnect();
            }
        } catch (IOException unknownCommandOrNoServer) {
            return JSON.missingNode();
        }
    }

    private static String appliedZxid(ServerProcess server) {
        return server.ask("srvr", ANSWER_LIMIT)
                .lines()
                .filter(line -> line.startsWith("Zxid: "))
                .map(line -> line.substring("Zxid: ".length()).trim())
                .findFirst()
                .orElse(UNKNOWN);
    }

    private static String choose(String value, String zero, String one) {
        if (value == null) {
            return UNKNOWN;
        }
        // With Prometheus as metrics provider, mntr writes decimal fractions.
        return switch (value) {
            case "0", "0.0" -> zero;
            case "1", "1.0" -> one;
            default -> value;
        };
    }

    /** {1: a, 2: a, 3: b} becomes "1,2:a 3:b". */
    private static String lleText(JsonNode map) {
        if (!map.isObject() || map.isEmpty()) {
            return UNKNOWN;
        }
        Map<Integer, String> byServer = new TreeMap<>();
        map.fields()
                .forEachRemaining(
                        entry ->
                                byServer.put(
                                        Integer.valueOf(entry.getKey()),
                                        entry.getValue().asText()));
        Map<String, List<String>> serversByZxid = new LinkedHashMap<>();
        byServer.forEach(
                (server, zxid) ->
                        serversByZxid
                                .computeIfAbsent(zxid, z -> new ArrayList<>())
                                .add(Integer.toString(server)));
        List<String> parts = new ArrayList<>();
        serversByZxid.forEach((zxid, servers) -> parts.add(String.join(",", servers) + ":" + zxid));
        return String.join(" ", parts);
    }
}
