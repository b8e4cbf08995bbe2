package io.saucr.crash.history;

import java.util.List;
import java.util.Locale;

/** One line of a history, in the order in which they happened. */
public sealed interface HistoryEvent {
    /** From 0, without gaps. */
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
     * A fault, or its end; Jepsen's type INFO, process {@code :nemesis}.
     *
     * @param fault a keyword without the colon
     * @param servers whom it is about
     */
    record Nemesis(int index, long timeNanos, String fault, List<Integer> servers)
            implements HistoryEvent {
        public Nemesis {
            servers = List.copyOf(servers);
        }
    }
}
