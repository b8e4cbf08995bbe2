package io.saucr.tool;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** Durations as people read and write them. */
final class Durations {
    /** For the descriptions of options. */
    static final String FORM = "30s, 5m, 1h or 7d";

    private static final Pattern PERIOD = Pattern.compile("([1-9]\\d{0,5})([smhd])");

    private Durations() {}

    /** For messages: 5 s, 500 ms. */
    static String readable(Duration duration) {
        long millis = duration.toMillis();
        return millis % 1000 == 0 ? millis / 1000 + " s" : millis + " ms";
    }

    /**
     * How often something is done, or how long it is kept.
     *
     * @throws IllegalArgumentException with a sentence, unless it is a number with s, m, h or d
     */
    static Duration period(String text) {
        Matcher written = PERIOD.matcher(text.strip());
        if (!written.matches()) {
            throw new IllegalArgumentException("'" + text + "' is no period: give " + FORM);
        }
        long number = Long.parseLong(written.group(1));
        return switch (written.group(2)) {
            case "s" -> Duration.ofSeconds(number);
            case "m" -> Duration.ofMinutes(number);
            case "h" -> Duration.ofHours(number);
            default -> Duration.ofDays(number);
        };
    }

    /**
     * The value of an option.
     *
     * @param text null if the option is not given
     */
    static Duration period(CommandSpec spec, String option, String text, Duration otherwise) {
        try {
            return text == null ? otherwise : period(text);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), option + ": " + e.getMessage(), e);
        }
    }
}
