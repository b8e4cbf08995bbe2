package io.saucr.services.core.replay;

import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Which requests are open: begun, and not consumed. A channel has one at most (X1), and a request
 * that is open or was consumed does not begin again (X10). Primary and followers keep the same, as
 * all of it follows from the trace. Turn thread.
 */
public final class Requests {

    /** What becomes of a message that comes in. */
    public enum Verdict {
        BEGIN,
        /** It is open: its sender waits for the reply. */
        OPEN,
        /** It was consumed before. */
        CONSUMED,
        /** Its channel has an open request, or it has a gap before it. */
        NOT_ITS_TIME,
        NO_LANE
    }

    /** An open request. */
    public static final class Open {
        private final long request;
        private final long sender;
        private final long number;
        private final int lane;
        private int attempts = 1;

        private Open(long request, long sender, long number, int lane) {
            this.request = request;
            this.sender = sender;
            this.number = number;
            this.lane = lane;
        }

        public long request() {
            return request;
        }

        public long sender() {
            return sender;
        }

        public long number() {
            return number;
        }

        public int lane() {
            return lane;
        }

        /** How many primaries have run it. */
        public int attempts() {
            return attempts;
        }
    }

    private final int lanes;
    private final Map<Long, Long> consumed;
    private final Map<Long, Open> open = new TreeMap<>();
    private final Map<Long, Open> bySender = new HashMap<>();
    private final Open[] byLane;
    private long newest;

    /**
     * No requests yet.
     *
     * @param lanes that there are, from 1
     */
    public Requests(int lanes) {
        this(lanes, Map.of(), 0);
    }

    /** Those of a snapshot, none of which is open (X13). */
    public Requests(int lanes, Map<Long, Long> consumed, long newest) {
        if (lanes < 1 || lanes > TraceFormat.MOST_LANES) {
            throw new IllegalArgumentException(
                    "there are 1 to " + TraceFormat.MOST_LANES + " lanes, not " + lanes);
        }
        this.lanes = lanes;
        this.consumed = new HashMap<>(consumed);
        this.newest = newest;
        byLane = new Open[lanes + 1];
    }

    public int lanes() {
        return lanes;
    }

    /** The newest number that was consumed, by sender. */
    public Map<Long, Long> consumed() {
        return Collections.unmodifiableMap(consumed);
    }

    /** The newest request that began. */
    public long newest() {
        return newest;
    }

    /** Those that are open, in the order in which they began. */
    public Collection<Open> open() {
        return Collections.unmodifiableCollection(open.values());
    }

    /** Decides whether a message begins now. */
    public Verdict offer(long sender, long number) {
        long last = consumed.getOrDefault(sender, 0L);
        if (number <= last) {
            return Verdict.CONSUMED;
        }
        Open other = bySender.get(sender);
        if (other != null) {
            return other.number == number ? Verdict.OPEN : Verdict.NOT_ITS_TIME;
        }
        if (number > last + 1) {
            return Verdict.NOT_ITS_TIME;
        }
        return open.size() == lanes ? Verdict.NO_LANE : Verdict.BEGIN;
    }

    /** The lowest lane without a request. */
    public int idleLane() {
        for (int lane = 1; lane <= lanes; lane++) {
            if (byLane[lane] == null) {
                return lane;
            }
        }
        throw new IllegalStateException("all " + lanes + " lanes have a request");
    }

    /** The number of a sender's next request. */
    public long nextNumber(long sender) {
        Open other = bySender.get(sender);
        return 1 + (other == null ? consumed.getOrDefault(sender, 0L) : other.number);
    }

    /** The open request of a number; null if it is not open. */
    public Open open(long request) {
        return open.get(request);
    }

    /** The open request of a lane; null if it is idle. */
    Open in(int lane) {
        return byLane[lane];
    }

    void begin(long request, int lane, long sender, long number) {
        Verdict verdict = offer(sender, number);
        if (verdict != Verdict.BEGIN || in(lane) != null || request != newest + 1) {
            throw new IllegalStateException(
                    "request %d (number %d of sender %d) can not begin in lane %d: %s"
                            .formatted(request, number, sender, lane, verdict));
        }
        newest = request;
        byLane[lane] = new Open(request, sender, number, lane);
        open.put(request, byLane[lane]);
        bySender.put(sender, byLane[lane]);
    }

    void attempt(long request) {
        open.get(request).attempts++;
    }

    void end(long request) {
        Open ended = open.remove(request);
        byLane[ended.lane] = null;
        bySender.remove(ended.sender);
        consumed.put(ended.sender, ended.number);
    }

    /** The state, for messages and models. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(newest + ":");
        for (Open each : open.values()) {
            text.append(each.request).append(" in ").append(each.lane);
            text.append(" for the ").append(each.attempts).append(". time, ");
        }
        return text.append(new TreeMap<>(consumed)).toString();
    }
}
