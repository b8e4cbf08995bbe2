package io.saucr.server.config;

import java.util.Collection;
import java.util.Locale;
import java.util.Optional;

/**
 * Finds the key that somebody meant who wrote another one: upper and lower case, dots, dashes and
 * underscores do not count, and two wrong letters are forgiven.
 */
final class Misspelling {
    private static final String OURS = "saucr";
    private static final int FORGIVEN = 2;

    private Misspelling() {}

    /** Whether a key claims to be one of ours, however it is written. */
    static boolean isOurs(String key) {
        return letters(key).startsWith(OURS);
    }

    /**
     * @param key an unknown one
     * @return the nearest known key, empty if none is near
     */
    static Optional<String> of(String key, Collection<String> known) {
        String written = letters(key);
        String nearest = null;
        int least = FORGIVEN + 1;
        for (String candidate : known) {
            int distance = distance(written, letters(candidate));
            if (distance < least) {
                least = distance;
                nearest = candidate;
            }
        }
        return Optional.ofNullable(nearest);
    }

    /** Somebody may have written ZooKeeper's own prefix, which the file does without. */
    private static String letters(String key) {
        String letters = key.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]", "");
        return letters.startsWith("zookeeper" + OURS)
                ? letters.substring("zookeeper".length())
                : letters;
    }

    /** Letters that are missing, too many, wrong, or in the place of their neighbour. */
    private static int distance(String one, String other) {
        int[][] distance = new int[one.length() + 1][other.length() + 1];
        for (int i = 0; i <= one.length(); i++) {
            for (int j = 0; j <= other.length(); j++) {
                if (i == 0 || j == 0) {
                    distance[i][j] = i + j;
                    continue;
                }
                int wrong = one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1;
                int least =
                        Math.min(
                                distance[i - 1][j - 1] + wrong,
                                1 + Math.min(distance[i - 1][j], distance[i][j - 1]));
                boolean swapped =
                        i > 1
                                && j > 1
                                && one.charAt(i - 1) == other.charAt(j - 2)
                                && one.charAt(i - 2) == other.charAt(j - 1);
                distance[i][j] = swapped ? Math.min(least, 1 + distance[i - 2][j - 2]) : least;
            }
        }
        return distance[one.length()][other.length()];
    }
}
