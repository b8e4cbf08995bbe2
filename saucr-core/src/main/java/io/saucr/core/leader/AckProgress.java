package io.saucr.core.leader;

import io.saucr.core.Zxid;
import java.util.Arrays;

/**
 * Who acknowledges in time (R24): a heartbeat proves a network, an ack proves a log.
 *
 * <p>For each peer one entry at a time is timed; when it is acked, the next one is. So a peer costs
 * six numbers however far it lags. A peer is in time if the timed entry has waited no longer than
 * the bound and the one before it was acked within the bound. A disk that is too slow for every
 * entry is therefore always late. The commit is a peer like any other: it tells how long the oldest
 * uncommitted entry has waited. The leader's own log is one that owes what it was handed, from then
 * on, and whose thread may have had no processor, which is no delay of its disk.
 *
 * <p>Not thread-safe: owned by the leader's lock. Times are monotonic nanoseconds. Allocates only
 * when a peer is added or taken away.
 */
public final class AckProgress {
    private final long boundNanos;
    private Peer[] peers = new Peer[0];
    private long lastProposed;

    // Entries up to this one were proposed at least half a bound ago.
    private long recent;
    private long sample;
    private long sampledAt;

    /** Somebody who is to ack entries; removed by {@link AckProgress#remove}. */
    public final class Peer {
        private final boolean handed;
        private long acked;

        /** The newest entry that it is to ack, and since when. */
        private long owed = Zxid.NONE;

        private long owedAt;

        /** The entry that is timed; {@link Zxid#NONE} if the peer has acked everything. */
        private long timed = Zxid.NONE;

        private long since;
        private boolean late;

        private Peer(boolean handed) {
            this.handed = handed;
            acked = lastProposed;
        }

        private void owes(long zxid, long now) {
            owed = zxid;
            owedAt = now;
            if (timed == Zxid.NONE) {
                timed = zxid;
                since = now;
            }
        }

        /** The own log was handed everything up to the zxid; ignored if it has acked that. */
        public void handed(long zxid, long now) {
            if (zxid > acked) {
                owes(zxid, now);
            }
        }

        /**
         * It could do nothing for so long, until now at the latest: that time is not its delay.
         *
         * @param nanos at least 0
         */
        public void excused(long nanos, long now) {
            since = earlier(since + nanos, now);
            owedAt = earlier(owedAt + nanos, now);
        }

        /** It has acked everything up to the zxid. */
        public void acked(long zxid, long now) {
            if (zxid <= acked) {
                return;
            }
            acked = zxid;
            if (timed == Zxid.NONE || zxid < timed) {
                return;
            }
            late = now - since > boundNanos;
            timed = Zxid.NONE;
            if (zxid < owed) {
                timed = owed;
                since = owedAt;
            }
        }

        /** Whether it has acked everything up to the zxid. */
        boolean has(long zxid) {
            return acked >= zxid;
        }

        /** Whether it acks in time. */
        public boolean inTime(long now) {
            return !late && owedFor(now) <= boundNanos;
        }

        /** For how long the timed entry has waited for the ack, nanoseconds; 0 if none is timed. */
        public long owedFor(long now) {
            return timed == Zxid.NONE ? 0 : now - since;
        }

        /**
         * Whether its last ack was late and it has acked everything: only a further entry can show
         * that it is in time again.
         */
        public boolean lateAndIdle() {
            return late && timed == Zxid.NONE;
        }
    }

    /**
     * @param boundNanos how long an ack may take, at least 1
     */
    public AckProgress(long boundNanos) {
        if (boundNanos < 1) {
            throw new IllegalArgumentException("bound " + boundNanos + " ns");
        }
        this.boundNanos = boundNanos;
    }

    /**
     * The epoch is known.
     *
     * @param zxid the zxid before the epoch's first proposal
     */
    public void startEpoch(long zxid, long now) {
        lastProposed = zxid;
        recent = zxid;
        sample = zxid;
        sampledAt = now;
        for (Peer peer : peers) {
            peer.acked = zxid;
        }
    }

    /** Adds a peer that is to ack everything that is proposed from now on. */
    public Peer add() {
        return add(false);
    }

    /** Adds the own log, which is to ack what it is {@link Peer#handed}. */
    public Peer addOwnLog() {
        return add(true);
    }

    private Peer add(boolean handed) {
        Peer peer = new Peer(handed);
        peers = Arrays.copyOf(peers, peers.length + 1);
        peers[peers.length - 1] = peer;
        return peer;
    }

    /** Removes a peer. Ignored if it is not there. */
    @SuppressWarnings("ReferenceEquality") // peers have no other identity
    public void remove(Peer peer) {
        peers = Arrays.stream(peers).filter(each -> each != peer).toArray(Peer[]::new);
    }

    /** An entry was proposed. */
    public void proposed(long zxid, long now) {
        lastProposed = zxid;
        if (now - sampledAt >= boundNanos / 2) {
            recent = sample;
            sample = zxid;
            sampledAt = now;
        }
        for (Peer peer : peers) {
            if (!peer.handed) {
                peer.owes(zxid, now);
            }
        }
    }

    /**
     * An entry that was proposed at least half a bound ago, and under load not much longer ago. A
     * server that has it on disk has nearly caught up (R5).
     */
    public long recent() {
        return recent;
    }

    /**
     * The process stood still until now and read no acks meanwhile (H11): that time does not count
     * as a server's delay.
     *
     * @param nanos for how long, at least 0
     */
    public void stoodStill(long nanos, long now) {
        for (Peer peer : peers) {
            peer.excused(nanos, now);
        }
    }

    private static long earlier(long a, long b) {
        return a - b < 0 ? a : b;
    }
}
