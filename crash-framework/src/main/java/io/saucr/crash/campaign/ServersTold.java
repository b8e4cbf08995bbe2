package io.saucr.crash.campaign;

import io.saucr.ensemble.Ensemble;
import io.saucr.ensemble.ServerProcess;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * What the servers of a state say of themselves at one moment, by {@code mntr}. Used by one thread.
 *
 * @param values of each server, by its id; empty where it does not answer
 */
record ServersTold(Ensemble ensemble, Map<Integer, Map<String, String>> values) {
    // Keys of servers that seal views.
    private static final String VIEW = "zk_saucr_view";
    private static final String VIEW_SEAL = "zk_saucr_view_zxid";
    private static final String NEEDED = "zk_saucr_recovery_needed";
    private static final String ROLE = "zk_server_state";

    private static final Set<String> SERVING = Set.of("leader", "follower");

    /** Asks the servers of a state. */
    static ServersTold of(Ensemble ensemble, ClusterState state) {
        Map<Integer, Map<String, String>> told = new LinkedHashMap<>();
        for (int id : state.alive()) {
            told.put(id, ensemble.server(id).mntr());
        }
        return new ServersTold(ensemble, told);
    }

    /** Whether each of them answered. */
    boolean isComplete() {
        return values.values().stream().noneMatch(Map::isEmpty);
    }

    /** Whether each of them seals views. */
    boolean sealViews() {
        return values.values().stream().allMatch(each -> each.containsKey(VIEW));
    }

    /** Whether the leader has sealed the view of all that serve, or is in fast mode. */
    boolean isSealed() {
        List<String> serving = new ArrayList<>();
        Map<String, String> leader = Map.of();
        for (Map.Entry<Integer, Map<String, String>> each : values.entrySet()) {
            String role = each.getValue().getOrDefault(ROLE, "");
            if (SERVING.contains(role)) {
                serving.add(each.getKey().toString());
            }
            if (role.equals("leader")) {
                leader = each.getValue();
            }
        }
        return "1".equals(leader.get("zk_saucr_mode"))
                || String.join(",", serving).equals(leader.get(VIEW));
    }

    /** The servers that are recovering. */
    List<Integer> recovering() {
        return values.keySet().stream().filter(id -> isRecovering(values.get(id))).toList();
    }

    private static boolean isRecovering(Map<String, String> of) {
        return of.getOrDefault("zk_saucr_recovery_state", "0").startsWith("1");
    }

    /** Whether a server that is recovering lacks answers of servers that it needs. */
    boolean lacksAnswers(int id) {
        return !"0".equals(values.get(id).getOrDefault(NEEDED, "0"));
    }

    /** Tells the model about the newest view that is sealed, and who is not in service. */
    void tell(AvailabilityModel model, AvailabilityModel.Served served) {
        SortedSet<Integer> view = new TreeSet<>();
        SortedSet<Integer> lagging = new TreeSet<>();
        long newest = -1;
        for (Map.Entry<Integer, Map<String, String>> each : values.entrySet()) {
            Map<String, String> of = each.getValue();
            long seal = Long.decode(of.getOrDefault(VIEW_SEAL, "-1"));
            if (seal > newest) {
                newest = seal;
                view.clear();
                for (String id : of.getOrDefault(VIEW, "").split(",")) {
                    view.add(Integer.parseInt(id));
                }
            }
            if (!SERVING.contains(of.getOrDefault(ROLE, ""))) {
                lagging.add(each.getKey());
            }
        }
        model.seen(served, isComplete() ? view : new TreeSet<>(), lagging);
    }

    /** Role, mode, view and recovery state of each server. */
    Map<String, String> describe() {
        Map<String, String> details = new LinkedHashMap<>();
        values.forEach(
                (id, of) -> {
                    ServerProcess server = ensemble.server(id);
                    List<String> words = new ArrayList<>();
                    words.add(
                            server.isAlive()
                                    ? of.getOrDefault(ROLE, "silent")
                                    : "ended, status " + server.exitStatus().orElse(-1));
                    if (of.containsKey("zk_saucr_mode")) {
                        words.add(of.get("zk_saucr_mode").startsWith("1") ? "fast" : "slow");
                    }
                    if (of.containsKey(VIEW)) {
                        words.add("view {" + of.get(VIEW) + "}");
                    }
                    if (isRecovering(of)) {
                        words.add("recovering");
                    }
                    details.put("server " + id, String.join(", ", words));
                });
        return details;
    }
}
