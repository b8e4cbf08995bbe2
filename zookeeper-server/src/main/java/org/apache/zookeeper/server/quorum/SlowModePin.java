package org.apache.zookeeper.server.quorum;

import org.apache.zookeeper.server.persistence.SaucrTxnSnapLog;

/**
 * Whether this server's log, and the ensemble while this server leads, must stay slow (R7). Holds
 * through elections, and for a log that opens later. Thread-safe.
 */
final class SlowModePin {
    private boolean pinned;
    private String reason = "";
    private SaucrTxnSnapLog txnSnapLog;
    private SaucrLeader newestLeader;

    /**
     * Sets or lifts it.
     *
     * @param why for the log line of the switch
     */
    synchronized void set(boolean pin, String why) {
        pinned = pin;
        reason = why;
        apply();
    }

    /** The server's log, which may not be open yet. */
    synchronized void log(SaucrTxnSnapLog log) {
        txnSnapLog = log;
        apply();
    }

    /** From now on this is the server's leader. */
    synchronized void leader(SaucrLeader leader) {
        newestLeader = leader;
        apply();
    }

    private void apply() {
        if (txnSnapLog != null && txnSnapLog.isOpen()) {
            txnSnapLog.log().pinSlow(pinned);
        }
        if (newestLeader != null) {
            newestLeader.pinSlow(pinned, reason);
        }
    }
}
