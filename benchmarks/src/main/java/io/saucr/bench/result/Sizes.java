package io.saucr.bench.result;

import java.util.Locale;

/**
 * What an ensemble holds and serves besides the load that is measured. Immutable.
 *
 * @param observers servers besides the voters, 0 to 9
 * @param znodes besides those of the load, 0 to 10,000,000
 * @param sessions that are open and idle, 0 to 20,000
 * @param watches of nodes that nothing changes, 0 to 10,000,000
 * @param watchers sessions with a persistent recursive watch of the whole tree, each notified of
 *     every write; 0 to 5,000
 */
public record Sizes(int observers, int znodes, int sessions, int watches, int watchers) {
    public static final Sizes NONE = new Sizes(0, 0, 0, 0, 0);

    private static final int MOST_NODES = 10_000_000;

    public Sizes {
        require("observers", observers, 9);
        require("znodes", znodes, MOST_NODES);
        require("sessions", sessions, 20_000);
        require("watches", watches, MOST_NODES);
        require("watchers", watchers, 5_000);
    }

    private static void require(String what, int number, int most) {
        if (number < 0 || number > most) {
            throw new IllegalArgumentException(
                    String.format(
                            Locale.ROOT, "not possible: 0 to %,d %s, not %,d", most, what, number));
        }
    }

    /** Nothing but so many observers. */
    public static Sizes ofObservers(int number) {
        return new Sizes(number, 0, 0, 0, 0);
    }

    /** Nothing but so many znodes. */
    public static Sizes ofZnodes(int number) {
        return new Sizes(0, number, 0, 0, 0);
    }

    /** Nothing but so many idle sessions. */
    public static Sizes ofSessions(int number) {
        return new Sizes(0, 0, number, 0, 0);
    }

    /** Nothing but so many watches. */
    public static Sizes ofWatches(int number) {
        return new Sizes(0, 0, 0, number, 0);
    }

    /** Nothing but so many watchers. */
    public static Sizes ofWatchers(int number) {
        return new Sizes(0, 0, 0, 0, number);
    }

    /** What is not 0, each after a comma. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        add(text, observers, "observers");
        add(text, znodes, "znodes");
        add(text, sessions, "sessions");
        add(text, watches, "watches");
        add(text, watchers, "watchers");
        return text.toString();
    }

    private static void add(StringBuilder text, int number, String what) {
        if (number > 0) {
            text.append(", ").append(number).append(' ').append(what);
        }
    }
}
