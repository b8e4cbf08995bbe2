package io.saucr.server;

import java.util.Locale;

/** Why a server flushed: everything forced, and the markers say so (R10, R13). */
public enum FlushCause {
    /** No write for a while (R13). */
    IDLE,
    /** The leader was not heard in time. */
    SILENT_LEADER,
    /** The server looks for a leader. */
    ELECTION,
    /** An operator told it to. */
    OPERATOR,
    /** The system said that the power fails. */
    POWER_FAILURE,
    /** The server's own housekeeping: truncation, reloading, closing. */
    LOG;

    /** As metrics and reports write it: lower case with underscores. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
