package io.saucr.server.runtime;

/** Makes text that somebody else has chosen fit for a log, a terminal and JSON. */
public final class Printable {
    /** Control characters, those that turn the direction of the text among them, and line ends. */
    private static final String UNPRINTABLE = "[\\p{C}\\p{Zl}\\p{Zp}]";

    private Printable() {}

    /**
     * The text with a blank in place of each character that cannot be printed.
     *
     * @param most code points; what is longer is cut off
     */
    public static String of(String text, int most) {
        String printable = text.replaceAll(UNPRINTABLE, " ");
        return printable.codePointCount(0, printable.length()) <= most
                ? printable
                : printable.substring(0, printable.offsetByCodePoints(0, most));
    }
}
