package io.saucr.tool;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations as options have them and as people read them. */
final class Durations {
    private static final Pattern WRITTEN = Pattern.compile("(\\d{1,9})(ms|s|m|h)");

    private Durations() {}

    /**
     * @throws IllegalArgumentException unless it is a positive number with a unit
     */
    static Duration parse(String text) {
        Matcher written = WRITTEN.matcher(text.strip());
        if (written.matches()) {
            long number = Long.parseLong(written.group(1));
            Duration duration =
                    switch (written.group(2)) {
                        case "ms" -> Duration.ofMillis(number);
                        case "s" -> Duration.ofSeconds(number);
                        case "m" -> Duration.ofMinutes(number);
                        default -> Duration.ofHours(number);
                    };
            if (!duration.isZero() && duration.compareTo(Duration.ofDays(1)) <= 0) {
                return duration;
            }
        }
        throw new IllegalArgumentException(
                "'" + text + "' is no time limit: a number with ms, s, m or h, 1ms to 24h");
    }

    /** For messages: 5 s, 500 ms. */
    static String readable(Duration duration) {
        long millis = duration.toMillis();
        return millis % 1000 == 0 ? millis / 1000 + " s" : millis + " ms";
    }
}
