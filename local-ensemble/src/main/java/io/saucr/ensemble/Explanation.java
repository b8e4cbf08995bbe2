package io.saucr.ensemble;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Why a server does not serve, in its own words: {@code mntr} while it runs, its log, and where its
 * main thread is. Stateless.
 */
public final class Explanation {
    private static final int LINES = 80;
    private static final int MOST_CHARACTERS = 300;
    private static final String RECOVERY = "zk_saucr_recovery_";
    private static final String MAIN_THREAD = "\"QuorumPeer[";
    private static final int FRAMES = 3;

    private Explanation() {}

    /** One line. Of a server that runs, the log gets the stacks of all its threads, too. */
    public static String of(ServerProcess server) throws IOException, InterruptedException {
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
        String said = words(server, " ERROR ");
        return String.join(", ", words)
                + (said.isEmpty() ? words(server, " WARN ") : said)
                + position(server.threads());
    }

    private static String position(String threads) {
        List<String> frames =
                threads.lines()
                        .dropWhile(line -> !line.startsWith(MAIN_THREAD))
                        .takeWhile(line -> !line.isBlank())
                        .map(String::trim)
                        .filter(line -> line.startsWith("at ") && !line.contains("(java.base@"))
                        .map(line -> line.substring("at ".length()))
                        .limit(FRAMES)
                        .toList();
        return frames.isEmpty() ? "" : "; its main thread in " + String.join(" < ", frames);
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
