package io.saucr.server.admin;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.quorum.ReadOnlyZooKeeperServer;

/**
 * Answers {@code /livez} and {@code /readyz} in the form that Kubernetes and etcd use. No session,
 * no write, and no other server is asked. Immutable.
 *
 * <ul>
 *   <li>Alive is a process that answers. A server that recovers or waits for others is alive: to
 *       end it would take away what the others wait for. A failed fsync, a disk that hangs and a
 *       thread that died end the process without help (R16).
 *   <li>Ready is a server that reads and writes for clients: it has recovered, leads or follows a
 *       leader, and is not in read-only mode.
 * </ul>
 */
final class Health {
    static final int OK = 200;
    static final int BAD_REQUEST = 400;
    static final int UNAVAILABLE = 503;

    private static final String PING = "ping";
    private static final String RECOVERED = "recovered";
    private static final String QUORUM = "quorum";
    private static final String RUNNING = "running";
    private static final String READ_WRITE = "read-write";

    private final String name;
    private final Map<String, String> problems;

    private Health(String name, Map<String, String> problems) {
        this.name = name;
        this.problems = problems;
    }

    /** What a probe gets: a status of HTTP and lines of text. */
    record Answer(int status, String text) {}

    static Health live() {
        Map<String, String> problems = new LinkedHashMap<>();
        problems.put(PING, "");
        return new Health("livez", problems);
    }

    /**
     * @param server that the AdminServer has now; null while there is none, which is while the
     *     process neither leads nor follows
     * @param recovery what a recovering server waits for (R19); null if it does not recover
     */
    static Health ready(ZooKeeperServer server, String recovery) {
        Map<String, String> problems = new LinkedHashMap<>();
        problems.put(RECOVERED, recovery == null ? "" : recovery);
        problems.put(
                QUORUM, server == null ? "this server neither leads nor follows a leader" : "");
        boolean runs = server == null || server.isRunning();
        problems.put(RUNNING, runs ? "" : "this server starts, or shuts down");
        boolean readOnly = server instanceof ReadOnlyZooKeeperServer;
        problems.put(READ_WRITE, readOnly ? "read-only mode: there is no quorum" : "");
        return new Health("readyz", problems);
    }

    /**
     * @param verbose also what passes is listed
     * @param excluded the names of checks that do not count, or none
     */
    Answer answer(boolean verbose, String... excluded) {
        Set<String> without = Set.copyOf(Arrays.asList(excluded));
        for (String check : without) {
            if (!problems.containsKey(check)) {
                return new Answer(
                        BAD_REQUEST,
                        "exclude=%s: %s has no such check; allowed: %s%n"
                                .formatted(check, name, List.copyOf(problems.keySet())));
            }
        }
        StringBuilder lines = new StringBuilder();
        boolean passed = true;
        for (Map.Entry<String, String> check : problems.entrySet()) {
            if (without.contains(check.getKey())) {
                lines.append("[+]%s excluded: ok%n".formatted(check.getKey()));
            } else if (check.getValue().isEmpty()) {
                lines.append("[+]%s ok%n".formatted(check.getKey()));
            } else {
                passed = false;
                lines.append("[-]%s failed: %s%n".formatted(check.getKey(), check.getValue()));
            }
        }
        if (passed && !verbose) {
            return new Answer(OK, String.format("ok%n"));
        }
        lines.append("%s check %s%n".formatted(name, passed ? "passed" : "failed"));
        return new Answer(passed ? OK : UNAVAILABLE, lines.toString());
    }
}
