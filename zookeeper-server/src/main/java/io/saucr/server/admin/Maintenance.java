package io.saucr.server.admin;

import io.saucr.core.Zxid;
import io.saucr.server.runtime.FlushCause;
import io.saucr.server.runtime.Printable;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.server.persistence.SaucrTxnLog;
import org.apache.zookeeper.server.persistence.SaucrTxnSnapLog;
import org.apache.zookeeper.server.quorum.SaucrQuorumPeer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What an operator, or a system whose power fails, can order a running server to do: flush now
 * (R10), and stay slow until told otherwise. AdminServer, JMX and signals all come here; each order
 * is one line of the log. Orders may come from any thread; they are carried out one after the
 * other.
 *
 * <p>A pinned server forces everything before it acks, whatever mode the leader gave it, so that it
 * can lose power at any moment without having to recover. A pinned leader keeps the whole ensemble
 * slow. A pin is in memory: it belongs to this process, holds through elections, and ends with it.
 */
public final class Maintenance {
    private static final Logger LOG = LoggerFactory.getLogger(Maintenance.class);

    private static final int LONGEST_REASON = 200;

    private final SaucrQuorumPeer peer;
    private final SaucrTxnSnapLog txnSnapLog;
    private volatile Pinned pinned;

    /**
     * The order that holds.
     *
     * @param reason as it was given
     * @param since wall-clock time, milliseconds since 1970
     */
    record Pinned(String reason, long since) {}

    /**
     * What came of a flush.
     *
     * @param marked whether the markers say that everything acknowledged is on disk; false while
     *     writes keep coming in fast mode, although all that was logged before the order is forced
     * @param through the last entry that had been logged when the order came; it is on disk
     * @param micros how long it took
     */
    record Flushed(boolean marked, long through, long micros) {
        /** One sentence. */
        String sentence() {
            return "on disk through "
                    + Zxid.toString(through)
                    + (marked
                            ? ", and the markers say so"
                            : "; writes keep coming in fast mode, so the markers still say fast (pin"
                                    + " slow mode to change that)")
                    + ", in "
                    + micros
                    + " us";
        }
    }

    public Maintenance(SaucrQuorumPeer peer, SaucrTxnSnapLog txnSnapLog) {
        this.peer = peer;
        this.txnSnapLog = txnSnapLog;
    }

    /** The pin that holds now, or null. */
    Pinned pinned() {
        return pinned;
    }

    /**
     * Forces the log and marks it.
     *
     * @param reason given by the operator, shortened and freed of control characters
     * @throws IllegalStateException while this server recovers: what it has recovered is forced
     *     anyway
     */
    synchronized Flushed flush(FlushCause cause, String reason) {
        if (!txnSnapLog.isOpen()) {
            throw new IllegalStateException(
                    "server "
                            + peer.getMyId()
                            + " is recovering and has nothing in memory that could be flushed");
        }
        SaucrTxnLog log = txnSnapLog.log();
        long through = log.lastAppended();
        long start = System.nanoTime();
        String why = cause.label() + ": " + cleaned(reason);
        boolean before = log.claimsOnDisk();
        boolean marked = log.flushAndMark(cause, why);
        Flushed result =
                new Flushed(
                        marked, through, TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - start));
        if (before) {
            LOG.info("Nothing to flush, {}: {}", result.sentence(), why);
        }
        return result;
    }

    /** From now on nothing that this server acks, or that it proposes as a leader, is fast. */
    synchronized void pinSlow(FlushCause cause, String reason) {
        String why = cause.label() + ": " + cleaned(reason);
        pinned = new Pinned(why, System.currentTimeMillis());
        LOG.warn("Pinned to slow mode until unpinned or restarted ({})", why);
        peer.pinSlow(true, why);
    }

    /** Takes the pin out; the mode is the leader's choice again. */
    synchronized void unpin(String reason) {
        String why = cleaned(reason);
        pinned = null;
        LOG.warn("The pin to slow mode is taken out ({})", why);
        peer.pinSlow(false, why);
    }

    /**
     * The power fails, or may fail: slow from now on, and everything on disk as fast as it goes.
     */
    void powerFails(String signal) {
        pinSlow(FlushCause.POWER_FAILURE, signal);
        if (txnSnapLog.isOpen()) {
            flush(FlushCause.POWER_FAILURE, signal);
        }
    }

    /** In one line, at most as long as a line of the log should be. */
    static String cleaned(String reason) {
        String printable =
                Printable.of(reason == null ? "" : reason.strip(), LONGEST_REASON).strip();
        return printable.isEmpty() ? "no reason given" : printable;
    }
}
