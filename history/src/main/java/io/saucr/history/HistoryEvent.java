package io.saucr.history;

import java.util.Locale;

/** One line of a history, in the order in which they happened. */
public sealed interface HistoryEvent {
    /** Grows from event to event; without gaps from 0 in what this program records. */
    int index();

    /** Nanoseconds since the history began, of the monotonic clock. */
    long timeNanos();

    /** Jepsen's four types. */
    enum Type {
        INVOKE,
        /** It took effect. */
        OK,
        /** It took no effect. */
        FAIL,
        /** Nobody knows; it may still take effect, at any time. The process asks nothing more. */
        INFO;

        /** As a keyword, without the colon. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * A client asks, or has its answer.
     *
     * @param process from 0; has at most one call under way, and none after INFO
     */
    record Client(int index, long timeNanos, Type type, int process, RegisterCall call)
            implements HistoryEvent {}

    /**
     * A fault or its end is about to be brought about, or has been: Jepsen's type INFO, process
     * {@code :nemesis}, and two events each.
     *
     * @param fault a keyword without the colon
     * @param value what it is about, as EDN; a vector of servers in what this program records
     */
    record Nemesis(int index, long timeNanos, String fault, String value) implements HistoryEvent {}
}
