package io.saucr.services.core;

import java.util.HexFormat;
import java.util.regex.Pattern;

/**
 * The name of one life of a service's state or of an outside client: 128 random bits, drawn when
 * its folder is made, kept as long as the folder. The one that begins anew under an old name has
 * another birth, so that numbers given to the old one never pass for numbers of the new one (K11).
 * Immutable.
 *
 * @param high the first 64 bits
 * @param low the last 64 bits
 */
public record Birth(long high, long low) implements Comparable<Birth> {

    private static final Pattern HEX = Pattern.compile("[0-9a-f]{32}");

    /**
     * Reads what {@link #toString} writes.
     *
     * @param text 32 hexadecimal digits, lower case
     * @throws IllegalArgumentException where it is anything else; the message says what is allowed
     */
    public static Birth parse(String text) {
        if (!HEX.matcher(text).matches()) {
            throw new IllegalArgumentException(
                    "a generation is 32 hexadecimal digits in lower case, not \"" + text + "\"");
        }
        return new Birth(
                Long.parseUnsignedLong(text.substring(0, 16), 16),
                Long.parseUnsignedLong(text.substring(16), 16));
    }

    @Override
    public int compareTo(Birth other) {
        int first = Long.compareUnsigned(high, other.high);
        return first != 0 ? first : Long.compareUnsigned(low, other.low);
    }

    /** 32 hexadecimal digits, lower case. */
    @Override
    public String toString() {
        HexFormat hex = HexFormat.of();
        return hex.toHexDigits(high) + hex.toHexDigits(low);
    }
}
