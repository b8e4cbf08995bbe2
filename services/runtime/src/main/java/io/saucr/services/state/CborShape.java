package io.saucr.services.state;

/**
 * Refuses bytes that are not one item of the CBOR that this library writes, before a parser sees
 * them: Jackson's follows lengths beyond the end, backwards, too. No tags, no simple values but
 * false, true and null, names of texts alone, not too deep.
 */
final class CborShape {

    private static final int BYTES = 2;
    private static final int TEXT = 3;
    private static final int ARRAY = 4;
    private static final int MAP = 5;
    private static final int TAG = 6;
    private static final int SIMPLE = 7;
    private static final int BREAK = 0xff;
    private static final int INDEFINITE = 31;
    private static final long UNTIL_BREAK = -1;

    private final byte[] bytes;
    private final int deepest;
    private int at;

    /** The length or number that the last header told; {@link #UNTIL_BREAK} for none. */
    private long argument;

    private CborShape(byte[] bytes, int deepest) {
        this.bytes = bytes;
        this.deepest = deepest;
    }

    /**
     * Checks bytes.
     *
     * @param deepest so many arrays and maps may lie within each other
     * @throws MismatchException where they are not one item, from the first to the last byte
     */
    static void check(byte[] bytes, int deepest) {
        CborShape shape = new CborShape(bytes, deepest);
        shape.items();
        if (shape.at < bytes.length) {
            throw shape.refused("something follows the end");
        }
    }

    private MismatchException refused(String what) {
        return new MismatchException("byte " + at + " of " + bytes.length + ": " + what);
    }

    private int next() {
        if (at >= bytes.length) {
            throw refused("the bytes end early");
        }
        return bytes[at++] & 0xff;
    }

    private void items() {
        // Per open array or map: how many items are to come, and whether the next is a name.
        long[] left = new long[deepest + 1];
        boolean[] names = new boolean[deepest + 1];
        boolean[] nameNext = new boolean[deepest + 1];
        int open = 0;
        left[0] = 1;
        while (true) {
            while (left[open] == 0) {
                if (open == 0) {
                    return;
                }
                open--;
            }
            if (left[open] == UNTIL_BREAK && at < bytes.length && (bytes[at] & 0xff) == BREAK) {
                if (names[open] && !nameNext[open]) {
                    throw refused("a name without a value");
                }
                at++;
                left[open] = 0;
                continue;
            }
            int major = header();
            if (nameNext[open] && major != TEXT) {
                throw refused("a name that is no text");
            }
            if (left[open] != UNTIL_BREAK) {
                left[open]--;
            }
            nameNext[open] = names[open] && !nameNext[open];
            if (major == BYTES || major == TEXT) {
                skipString(major);
            } else if (major == ARRAY || major == MAP) {
                if (open == deepest) {
                    throw refused("more than " + deepest + " values lie within each other");
                }
                open++;
                // Each item has a byte at least.
                if (argument > bytes.length - at) {
                    throw refused("more items than bytes");
                }
                left[open] = major == MAP && argument > 0 ? 2 * argument : argument;
                names[open] = major == MAP;
                nameNext[open] = major == MAP;
            }
        }
    }

    /** Reads a header; returns its major type. */
    private int header() {
        int first = next();
        int major = first >> 5;
        int information = first & 0x1f;
        if (major == SIMPLE) {
            boolean allowed =
                    (information >= 20 && information <= 22)
                            || (information >= 25 && information <= 27);
            if (!allowed) {
                throw refused("no value begins with " + first);
            }
        } else if (major == TAG) {
            throw refused("tags are not read");
        }
        if (information < 24) {
            argument = information;
        } else if (information <= 27) {
            argument = 0;
            for (int count = 1 << (information - 24); count > 0; count--) {
                argument = (argument << 8) | next();
            }
            boolean number = major < BYTES || major == SIMPLE;
            if (argument < 0 && !number) {
                throw refused("more items than bytes");
            }
        } else if (information == INDEFINITE && major >= BYTES && major <= MAP) {
            argument = UNTIL_BREAK;
        } else {
            throw refused("no value begins with " + first);
        }
        return major;
    }

    private void skipString(int major) {
        if (argument != UNTIL_BREAK) {
            skip();
            return;
        }
        while (true) {
            if (at < bytes.length && (bytes[at] & 0xff) == BREAK) {
                at++;
                return;
            }
            if (header() != major || argument == UNTIL_BREAK) {
                throw refused("a part of a text or of bytes is something else");
            }
            skip();
        }
    }

    private void skip() {
        if (argument > bytes.length - at) {
            throw refused("a text or bytes go beyond the end");
        }
        at += (int) argument;
    }
}
