package io.saucr.crash.process;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Why a server does not serve, in its own words: {@code mntr} while it runs, then its log.
 * Stateless.
 */
public final class Explanation {
    private static final int LINES = 80;
    private static final int MOST_CHARACTERS = 300;
    private static final String RECOVERY = "zk_saucr_recovery_";

    private Explanation() {}

    /** One line. */
    public static String of(ServerProcess server) {
        if (!server.isAlive()) {
            return "ended, status " + server.exitStatus().orElse(-1) + complaint(server);
        }
        Map<String, String> values = server.mntr();
        List<String> words = new ArrayList<>();
        words.add(values.getOrDefault("zk_server_state", "silent"));
        values.forEach(
                (key, value) -> {
                    if (key.startsWith(RECOVERY) && !value.isEmpty()) {
                        words.add(key.substring(RECOVERY.length()) + " " + value);
                    }
                });
        return String.join(", ", words) + words(server, " ERROR ");
    }

    /** The last exception, or what was logged last as an error. */
    private static String complaint(ServerProcess server) {
        String exception = words(server, "Exception: ");
        return exception.isEmpty() ? words(server, " ERROR ") : exception;
    }

    private static String words(ServerProcess server, String sign) {
        List<String> lines = server.logTail(LINES).lines().map(String::trim).toList();
        String found = last(lines, sign);
        return found.isEmpty()
                ? ""
                : ": " + found.substring(0, Math.min(found.length(), MOST_CHARACTERS));
    }

    private static String last(List<String> lines, String words) {
        return lines.stream()
                .filter(line -> line.contains(words))
                .reduce((first, second) -> second)
                .orElse("");
    }
}
