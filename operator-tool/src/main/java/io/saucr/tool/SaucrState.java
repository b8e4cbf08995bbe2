package io.saucr.tool;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a server tells of its replication, in the words of the AdminServer's {@code
 * /commands/saucr}. Immutable.
 *
 * @param json that answer, or as much of it as {@code mntr} has; missing if the server replicates
 *     as Apache's does
 */
record SaucrState(JsonNode json) {
    /** Of a server of Apache's, and of ours with {@code saucr.enabled=false}. */
    static final SaucrState OFF = new SaucrState(MissingNode.getInstance());

    private static final String PREFIX = "zk_saucr_";
    private static final int LONGEST_ID = 18;

    /** From the answer to {@code mntr}, which has less. */
    static SaucrState ofMntr(Map<String, String> mntr) {
        if (!mntr.containsKey(PREFIX + "mode")) {
            return OFF;
        }
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("role", mntr.getOrDefault("zk_server_state", ""));
        if (mntr.containsKey(PREFIX + "version")) {
            json.put("version", mntr.get(PREFIX + "version"));
        }
        json.put("mode", number(mntr, "mode") == 1 ? "fast" : "slow");
        json.put("onDisk", number(mntr, "on_disk") == 1);
        json.put("promptVoters", number(mntr, "prompt_voters"));
        if (number(mntr, "pinned_slow") == 1) {
            json.putObject("pinnedSlow").put("reason", "mntr does not tell the reason");
        }
        ObjectNode view = json.putObject("view");
        view.set("members", ids(mntr.getOrDefault(PREFIX + "view", "")));
        view.put("zxid", mntr.getOrDefault(PREFIX + "view_zxid", ""));
        view.put("answersNeeded", number(mntr, "answers_needed"));
        ObjectNode recovery = json.putObject("recovery");
        recovery.put("recovering", number(mntr, "recovery_state") == 1);
        if (mntr.containsKey(PREFIX + "recovery_step")) {
            recovery.put("step", mntr.get(PREFIX + "recovery_step"));
            for (String who : List.of("answered", "uncounted", "missing")) {
                recovery.set(who, ids(mntr.getOrDefault(PREFIX + "recovery_" + who, "")));
            }
            recovery.put("answersStillNeeded", number(mntr, "recovery_needed"));
            recovery.put("lastLoggedZxid", mntr.get(PREFIX + "recovery_last_logged"));
            recovery.put("throughZxid", mntr.get(PREFIX + "recovery_through"));
            recovery.put("entries", number(mntr, "recovery_entries"));
            recovery.put("bytes", number(mntr, "recovery_bytes"));
        }
        return new SaucrState(json);
    }

    /** With Prometheus as the provider of metrics, mntr has 1.0 for 1. */
    private static long number(Map<String, String> mntr, String name) {
        try {
            return (long) Double.parseDouble(mntr.getOrDefault(PREFIX + name, "0"));
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    private static ArrayNode ids(String text) {
        ArrayNode ids = JsonNodeFactory.instance.arrayNode();
        for (String id : text.split("[^0-9]+")) {
            // Longer than any id is what no server says; its row is no reason to print none.
            if (!id.isEmpty() && id.length() <= LONGEST_ID) {
                ids.add(Long.parseLong(id));
            }
        }
        return ids;
    }

    boolean off() {
        return json.isMissingNode();
    }

    /** fast, slow, or off. */
    String mode() {
        return off() ? "off" : json.path("mode").asText("");
    }

    /** leading, following, observing, leaderelection or recovering. */
    String role() {
        return json.path("role").asText("");
    }

    boolean leads() {
        return role().startsWith("lead") && !role().equals("leaderelection");
    }

    boolean recovers() {
        return json.path("recovery").path("recovering").asBoolean();
    }

    /** The reason of its pin to slow mode, if there is one. */
    Optional<String> pin() {
        JsonNode pin = json.path("pinnedSlow");
        return pin.isObject() ? Optional.of(pin.path("reason").asText("")) : Optional.empty();
    }

    List<Long> ids(String... path) {
        JsonNode found = json;
        for (String name : path) {
            found = found.path(name);
        }
        List<Long> ids = new ArrayList<>();
        found.forEach(id -> ids.add(id.asLong()));
        return ids;
    }

    /** What a server that recovers does, or waits for: one sentence. */
    String recovery() {
        JsonNode recovery = json.path("recovery");
        List<Long> missing = ids("recovery", "missing");
        List<Long> uncounted = ids("recovery", "uncounted");
        List<Long> unheard = ids("recovery", "unheard");
        long needed = recovery.path("answersStillNeeded").asLong();
        StringBuilder text = new StringBuilder("recovering");
        String step = recovery.path("step").asText("");
        if (!step.isEmpty()) {
            text.append(" (").append(step).append(")");
        }
        if (needed > 0) {
            text.append(": waits for ")
                    .append(needed)
                    .append(needed == 1 ? " more answer; " : " more answers; ")
                    .append(missing.isEmpty() ? "no voter" : "voters " + missing)
                    .append(" did not answer");
            if (!uncounted.isEmpty()) {
                text.append(", ").append(uncounted).append(" did, but do not count yet");
            }
            if (!unheard.isEmpty()) {
                text.append(", ").append(unheard).append(" have not been heard");
            }
        } else if (recovery.path("entries").asLong() + recovery.path("bytes").asLong() > 0) {
            text.append(": copied ")
                    .append(recovery.path("entries").asLong())
                    .append(" entries, ")
                    .append(recovery.path("bytes").asLong())
                    .append(" bytes; at ")
                    .append(recovery.path("lastLoggedZxid").asText("?"))
                    .append(" of ")
                    .append(recovery.path("throughZxid").asText("?"));
        }
        String problem = recovery.path("problem").asText("");
        if (!problem.isEmpty() && !problem.equals("null")) {
            text.append("; last problem: ").append(problem);
        }
        return text.toString();
    }
}
