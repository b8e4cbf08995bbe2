package io.saucr.core;

/**
 * Reads the small ASCII forms of this package strictly, one character at a time: numbers have
 * exactly one spelling (no sign on a positive number, no leading zeros, lower-case hex), so that
 * equal text means equal value and the reverse. Owned by the one call that parses.
 */
public final class AsciiScanner {
    private final String what;
    private final String text;
    private int position;

    public AsciiScanner(String what, String text) {
        this.what = what;
        this.text = text;
    }

    public int position() {
        return position;
    }

    public boolean atNumber() {
        return position < text.length()
                && (isDigit(text.charAt(position)) || text.charAt(position) == '-');
    }

    public boolean accept(char expected) {
        if (position < text.length() && text.charAt(position) == expected) {
            position++;
            return true;
        }
        return false;
    }

    public void expect(char expected) {
        if (!accept(expected)) {
            throw malformed(position, "'" + expected + "'", found());
        }
    }

    public void expectEnd() {
        if (position != text.length()) {
            throw malformed(position, "the end", found());
        }
    }

    /** Any long in its one decimal spelling. */
    public long decimal(String expected) {
        int start = position;
        accept('-');
        while (position < text.length() && isDigit(text.charAt(position))) {
            position++;
        }
        String digits = text.substring(start, position);
        try {
            long value = Long.parseLong(digits);
            if (Long.toString(value).equals(digits)) {
                return value;
            }
        } catch (NumberFormatException e) {
            throw malformed(start, expected, "'" + digits + "'", e);
        }
        throw malformed(start, expected, "'" + digits + "'");
    }

    /** A number of 0 to 2^63-1 in its one hexadecimal spelling. */
    public long hex(String expected) {
        int start = position;
        while (position < text.length() && isHexDigit(text.charAt(position))) {
            position++;
        }
        String digits = text.substring(start, position);
        try {
            long value = Long.parseLong(digits, 16);
            if (Long.toHexString(value).equals(digits)) {
                return value;
            }
        } catch (NumberFormatException e) {
            throw malformed(start, expected, "'" + digits + "'", e);
        }
        throw malformed(start, expected, "'" + digits + "'");
    }

    public IllegalArgumentException malformed(int at, String expected, String found) {
        return malformed(at, expected, found, null);
    }

    private IllegalArgumentException malformed(
            int at, String expected, String found, NumberFormatException cause) {
        return new IllegalArgumentException(
                "%s: expected %s at character %s, found %s"
                        .formatted(what, expected, at, shortened(found)),
                cause);
    }

    private String found() {
        return position == text.length() ? "the end" : "'" + text.charAt(position) + "'";
    }

    private static String shortened(String text) {
        return text.length() <= 40 ? text : text.substring(0, 40) + "...";
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    private static boolean isHexDigit(char c) {
        return isDigit(c) || (c >= 'a' && c <= 'f');
    }
}
