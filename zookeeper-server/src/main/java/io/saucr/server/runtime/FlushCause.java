package io.saucr.server.runtime;

import java.util.Locale;

/** Why a server flushed, that is, forced everything and marked it as on disk (R10, R13). */
public enum FlushCause {
    /** No write for a while (R13). */
    IDLE,
    /** The leader was not heard in time. */
    SILENT_LEADER,
    /** The server looks for a leader. */
    ELECTION,
    /** An operator told it to. */
    OPERATOR,
    /** The system reported a power failure. */
    POWER_FAILURE,
    /** The server's own housekeeping: truncation, reloading, closing. */
    LOG;

    /**
     * Whether it goes with every pause of the clients and tells of nothing that went wrong or was
     * ordered: then it is counted, but not told of one by one.
     */
    public boolean routine() {
        return this == IDLE;
    }

    /** As metrics and reports write it: lower case with underscores. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
