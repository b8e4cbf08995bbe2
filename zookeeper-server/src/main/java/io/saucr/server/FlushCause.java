package io.saucr.server;

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

    /** As metrics and reports write it: lower case with underscores. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
