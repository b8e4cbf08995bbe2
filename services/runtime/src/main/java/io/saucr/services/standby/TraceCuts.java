package io.saucr.services.standby;

import io.saucr.services.core.replay.BadTraceException;
import io.saucr.services.core.replay.TraceFormat;
import io.saucr.services.core.replay.TraceSegment;
import io.saucr.services.core.standby.LaneCode;
import io.saucr.services.replay.ReplayedLanes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What lanes recorded and no segment holds. A cut takes all of it and counts as one turn, so that
 * the head's turn is the number of cuts. One is under way at a time: the next one is larger
 * instead.
 */
final class TraceCuts implements Uncut {

    private final ReplayedLanes lanes;
    private final LaneCode code;
    private volatile long turn;
    private OptionalLong changedNanos = OptionalLong.empty();

    /**
     * Behind a takeover.
     *
     * @param code that records
     * @param turn of the head
     */
    TraceCuts(ReplayedLanes lanes, LaneCode code, long turn) {
        this.lanes = lanes;
        this.code = code;
        this.turn = turn;
    }

    /** There is something to cut. */
    synchronized void changed() {
        if (changedNanos.isEmpty()) {
            changedNanos = OptionalLong.of(System.nanoTime());
        }
    }

    @Override
    public Optional<Cut> cut() {
        long since;
        synchronized (this) {
            since = changedNanos.orElseGet(System::nanoTime);
            // Before the cut: what is recorded meanwhile may not be in it.
            changedNanos = OptionalLong.empty();
        }
        return lanes.cut().map(it -> cut(it, since));
    }

    private Cut cut(TraceSegment segment, long since) {
        byte[] body = encode(segment, code);
        lanes.recorded(body.length);
        long next = turn + 1;
        turn = next;
        return new Cut(next, next, 1, body, since);
    }

    /** How many cuts there were. */
    long turn() {
        return turn;
    }

    // ---- the body of a segment: the length of the code, the code, and a part of the trace

    static byte[] encode(TraceSegment segment, LaneCode code) {
        byte[] name = code.code().getBytes(StandardCharsets.US_ASCII);
        byte[] trace = TraceFormat.encode(segment);
        return ByteBuffer.allocate(1 + name.length + trace.length)
                .put((byte) name.length)
                .put(name)
                .put(trace)
                .array();
    }

    /**
     * Reads a body.
     *
     * @param mine what would replay it
     * @throws BadTraceException if its trace is none
     * @throws IOException if something else recorded it: says what (X17)
     */
    static TraceSegment decode(ByteBuffer body, LaneCode mine)
            throws BadTraceException, IOException {
        int length = body.hasRemaining() ? body.get() : 0;
        if (length < 1 || length > body.remaining()) {
            throw new IOException("a segment that does not name the code of its trace");
        }
        byte[] name = new byte[length];
        body.get(name);
        String code = new String(name, StandardCharsets.US_ASCII);
        byte[] trace = new byte[body.remaining()];
        body.get(trace);
        TraceSegment segment = TraceFormat.decode(trace);
        int lanes = segment.lanes().size();
        if (!code.equals(mine.code()) || lanes != mine.lanes()) {
            throw new IOException(
                    "it was recorded by code "
                            + code
                            + " in "
                            + lanes
                            + " lanes, and this member has "
                            + mine
                            + ". Start it as it was, or with an empty folder: then it loads a"
                            + " snapshot");
        }
        return segment;
    }

    @Override
    public synchronized boolean tellAt(int count) {
        return changedNanos.isPresent() && !lanes.isHeld();
    }

    @Override
    public boolean isEnough() {
        return false;
    }

    @Override
    public boolean isFull() {
        return false;
    }

    @Override
    public void snapshotSoon() {
        lanes.quietSoon();
    }

    @Override
    public void tick(long millisBehind) {
        lanes.tick(millisBehind);
    }

    @Override
    public synchronized long bytes() {
        return changedNanos.isPresent() && !lanes.isHeld() ? 1 : 0;
    }

    @Override
    public synchronized long oldestMillis() {
        return changedNanos.isEmpty() || lanes.isHeld()
                ? 0
                : (System.nanoTime() - changedNanos.getAsLong()) / 1_000_000;
    }
}
