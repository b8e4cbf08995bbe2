package io.saucr.server.metrics;

import io.saucr.core.Zxid;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The last things of one kind that happened to a server, newest last, so that an operator sees them
 * without searching the log. Holds {@value #MOST}; the oldest is dropped first. Thread-safe.
 */
public final class RecentEvents {
    static final int MOST = 50;
    private static final long UNFINISHED = -1;

    /**
     * @param at wall-clock time, milliseconds since 1970
     * @param what in one word
     * @param reason one sentence
     * @param zxid the last entry before it
     * @param micros how long it took; -1 if it has not ended yet
     */
    public record Event(long at, String what, String reason, long zxid, long micros) {
        Map<String, Object> readable() {
            Map<String, Object> result = new LinkedHashMap<>();
            result.put("at", at);
            result.put("what", what);
            result.put("reason", reason);
            result.put("zxid", Zxid.toString(zxid));
            result.put("micros", micros == UNFINISHED ? null : micros);
            return result;
        }
    }

    private final ArrayDeque<Event> events = new ArrayDeque<>();

    /** Something took that long. */
    void add(String what, String reason, long zxid, long micros) {
        add(new Event(System.currentTimeMillis(), what, reason, zxid, micros));
    }

    /** Something has begun; {@link #finish} says when it is over. */
    void begin(String what, String reason, long zxid) {
        add(new Event(System.currentTimeMillis(), what, reason, zxid, UNFINISHED));
    }

    private synchronized void add(Event event) {
        if (events.size() == MOST) {
            events.removeFirst();
        }
        events.addLast(event);
    }

    /** The newest event is over, if it was not yet. */
    synchronized void finish(long micros) {
        Event last = events.pollLast();
        if (last != null) {
            events.addLast(
                    last.micros() == UNFINISHED
                            ? new Event(last.at(), last.what(), last.reason(), last.zxid(), micros)
                            : last);
        }
    }

    /** Oldest first. */
    public synchronized List<Event> all() {
        return List.copyOf(events);
    }

    public List<Map<String, Object>> readable() {
        List<Map<String, Object>> result = new ArrayList<>();
        all().forEach(event -> result.add(event.readable()));
        return result;
    }
}
