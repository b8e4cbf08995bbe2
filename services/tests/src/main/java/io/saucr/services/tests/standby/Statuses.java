package io.saucr.services.tests.standby;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** How members say that they are, by the names of {@link StandbyProgram}. */
final class Statuses {

    /** While clients continue, standbys apply what the head named a moment before. */
    private static final long NEARLY = 20;

    private Statuses() {}

    /** The words {@code <name>=<value>} of a line; others are passed over. */
    static Map<String, String> parse(String line) {
        Map<String, String> status = new HashMap<>();
        for (String word : line.split(" ")) {
            int is = word.indexOf('=');
            if (is > 0) {
                status.put(word.substring(0, is), word.substring(is + 1));
            }
        }
        return status;
    }

    /**
     * The primary: of those that say so, the one of the newest epoch. One that was cut off or stood
     * still learns of its successor only once it is asked to commit.
     *
     * @param statuses of members, by whatever stands for them
     */
    static <M> Optional<M> inOffice(Map<M, Map<String, String>> statuses) {
        return statuses.entrySet().stream()
                .filter(it -> "primary".equals(it.getValue().get("role")))
                .max(
                        (one, other) ->
                                Long.compare(
                                        number(one.getValue(), "epoch"),
                                        number(other.getValue(), "epoch")))
                .map(Map.Entry::getKey);
    }

    /**
     * Whether one is primary and has so many standbys, each with all segments, on its disk and in
     * its state, and the head says so.
     */
    static <M> boolean areReady(Map<M, Map<String, String>> statuses, int standbys) {
        Optional<Map<String, String>> primary = inOffice(statuses).map(statuses::get);
        if (primary.isEmpty()
                || !primary.get().get("followers").equals(Integer.toString(standbys))
                || primary.get().get("copies").equals("alone")) {
            return false;
        }
        long named = number(primary.get(), "segment");
        return statuses.values().stream()
                .filter(it -> "standby".equals(it.get("role")))
                .allMatch(it -> number(it, "applied") >= named - NEARLY);
    }

    private static long number(Map<String, String> status, String name) {
        return Long.parseLong(status.get(name));
    }
}
