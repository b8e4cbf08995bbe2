package io.saucr.server.requests;

import io.saucr.server.metrics.StageMetrics;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.metrics.Summary;

/**
 * When a leader has proposed its newest {@value #PROPOSALS} writes, and when each server has
 * acknowledged them: the first {@value #SERVERS} servers that acknowledge anything in its epoch.
 *
 * <p>Not thread-safe: under the leader's monitor. Nothing is allocated for a proposal or an
 * acknowledgement; a write overwrites the one {@value #PROPOSALS} before it. Times are {@link
 * System#nanoTime}.
 */
public final class AckTimes {
    static final int PROPOSALS = 4096;
    static final int SERVERS = 16;

    private final StageMetrics metrics;
    private final long[] zxids = new long[PROPOSALS];
    private final long[] proposed = new long[PROPOSALS];

    /** Nanoseconds since the proposal, a row for each proposal; 0 without an acknowledgement. */
    private final long[] acks = new long[PROPOSALS * SERVERS];

    private final long[] sids = new long[SERVERS];
    private final Summary[] summaries = new Summary[SERVERS];
    private int servers;

    /**
     * An acknowledgement.
     *
     * @param server its id
     * @param nanos since the proposal
     */
    record Ack(long server, long nanos) {
        long millis() {
            return TimeUnit.NANOSECONDS.toMillis(nanos);
        }
    }

    /**
     * @param metrics gets the time of each acknowledgement
     */
    public AckTimes(StageMetrics metrics) {
        this.metrics = metrics;
    }

    /** A write is proposed. */
    public void proposed(long zxid, long now) {
        int slot = slot(zxid);
        zxids[slot] = zxid;
        proposed[slot] = now;
        Arrays.fill(acks, slot * SERVERS, slot * SERVERS + servers, 0);
    }

    /** A server has acknowledged a write; only its first acknowledgement counts. */
    public void acked(long sid, long zxid, long now) {
        int slot = slot(zxid);
        int column = column(sid);
        if (zxids[slot] != zxid || column == SERVERS || acks[slot * SERVERS + column] != 0) {
            return;
        }
        long nanos = Math.max(1, now - proposed[slot]);
        acks[slot * SERVERS + column] = nanos;
        summaries[column].add(TimeUnit.NANOSECONDS.toMicros(nanos));
    }

    private int column(long sid) {
        for (int i = 0; i < servers; i++) {
            if (sids[i] == sid) {
                return i;
            }
        }
        if (servers < SERVERS) {
            sids[servers] = sid;
            summaries[servers] = metrics.acksOf(sid);
            return servers++;
        }
        return SERVERS;
    }

    private static int slot(long zxid) {
        return (int) zxid & (PROPOSALS - 1);
    }

    /** A write is about to be committed. */
    public void committed(long zxid, long now) {
        long nanos = sinceProposal(zxid, now);
        if (nanos >= 0) {
            metrics.committed(nanos);
        }
    }

    /** Nanoseconds since the proposal of a write; -1 if it is not among the newest. */
    long sinceProposal(long zxid, long now) {
        int slot = slot(zxid);
        return zxids[slot] == zxid ? now - proposed[slot] : -1;
    }

    /** Who has acknowledged the write, the first one first. */
    List<Ack> of(long zxid) {
        int slot = slot(zxid);
        List<Ack> result = new ArrayList<>();
        for (int i = 0; zxids[slot] == zxid && i < servers; i++) {
            long nanos = acks[slot * SERVERS + i];
            if (nanos != 0) {
                result.add(new Ack(sids[i], nanos));
            }
        }
        result.sort(Comparator.comparingLong(Ack::nanos));
        return result;
    }
}
