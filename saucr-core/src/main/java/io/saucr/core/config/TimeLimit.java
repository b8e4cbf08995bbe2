package io.saucr.core.config;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Time limits as options of commands have them: the same form in every tool. */
public final class TimeLimit {
    /** For the descriptions of options. */
    public static final String FORM = "500ms, 5s, 1m, or 5 for seconds";

    private static final Pattern WRITTEN = Pattern.compile("(\\d{1,9})(ms|s|m|h)?");

    private TimeLimit() {}

    /**
     * @param text a number with ms, s, m or h; without a unit it is seconds
     * @throws IllegalArgumentException with a sentence, unless it is one from 1 ms to 24 h
     */
    public static Duration parse(String text) {
        Matcher written = WRITTEN.matcher(text.strip());
        if (written.matches()) {
            long number = Long.parseLong(written.group(1));
            String unit = written.group(2) == null ? "s" : written.group(2);
            Duration duration =
                    switch (unit) {
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
                "'"
                        + text
                        + "' is not a time limit: a number of seconds, or one with ms, s, m or h,"
                        + " from 1ms to 24h");
    }
}
