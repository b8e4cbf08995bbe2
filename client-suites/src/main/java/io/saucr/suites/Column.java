package io.saucr.suites;

import java.util.Locale;

/** Whose servers a suite meets. */
enum Column {
    /** Apache's released server. */
    APACHE,
    /** Ours, SAUCR on. */
    SAUCR,
    /** Ours, SAUCR on; now and then a server is killed and started again. */
    KILLED;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
