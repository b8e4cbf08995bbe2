package io.saucr.bench.result;

import java.util.Locale;

/** How measured values are shown. Stateless. */
public final class Numbers {
    private Numbers() {}

    /** Three significant digits, whole numbers from 100 on. */
    public static String number(double value) {
        if (value == 0) {
            return "0";
        }
        double size = Math.abs(value);
        int digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : size >= 0.1 ? 3 : 4;
        return String.format(Locale.ROOT, "%." + digits + "f", value);
    }
}
