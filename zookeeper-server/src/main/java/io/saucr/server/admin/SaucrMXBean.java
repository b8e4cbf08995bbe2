package io.saucr.server.admin;

import java.util.List;
import java.util.Map;

/**
 * What JMX shows, and the orders that it takes, as {@code
 * org.apache.ZooKeeperService:name0=Saucr_idN}, in addition to ZooKeeper's own beans. Who may
 * connect is a matter of the JVM's settings for remote management.
 */
public interface SaucrMXBean {
    /** leading, following, observing, leaderelection or recovering. */
    String getRole();

    /** fast or slow. */
    String getMode();

    /** Whether a crash now would lose nothing that was acknowledged. */
    boolean isOnDisk();

    /** Why an operator pinned slow mode; empty if none did. */
    String getPinnedSlow();

    /** Leader: the voters that fast mode relies on now. */
    List<Long> getPromptSet();

    long getModeSwitches();

    long getFastCommits();

    long getSlowCommits();

    long getLogForces();

    /** Flushes by cause. */
    Map<String, Long> getFlushes();

    /** The last switches of the mode, oldest first, each in one line. */
    List<String> getLastSwitches();

    /** The last flushes that were no routine ("idle"), oldest first, each in one line. */
    List<String> getLastFlushes();

    /** How far the recovery is; empty if this process needed none. */
    String getRecovery();

    /**
     * Forces the log and marks it.
     *
     * @param reason for the log
     * @return what came of it, one sentence
     */
    String flush(String reason);

    /**
     * Pins slow mode, then flushes; see {@code docs/operate/operating.md}.
     *
     * @param reason for the log
     * @return what came of it, one sentence
     */
    String pinSlow(String reason);

    /**
     * Removes the pin.
     *
     * @param reason for the log
     * @return what came of it, one sentence
     */
    String unpin(String reason);
}
