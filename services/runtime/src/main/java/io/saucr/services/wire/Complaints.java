package io.saucr.services.wire;

import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What strangers did wrong, in the log: at most one line a second, so that who floods a port does
 * not flood the disk, too. Any thread.
 */
public final class Complaints {

    private static final Logger LOG = LoggerFactory.getLogger(Endpoint.class);
    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private long lastNanos = System.nanoTime() - PAUSE_NANOS;
    private long left;

    /** Logs it, or counts it for the next line. */
    public synchronized void add(String service, String complaint) {
        long now = System.nanoTime();
        if (now - lastNanos < PAUSE_NANOS) {
            left++;
            return;
        }
        if (left > 0) {
            LOG.warn("{}: {} ({} more since the last line)", service, complaint, left);
        } else {
            LOG.warn("{}: {}", service, complaint);
        }
        lastNanos = now;
        left = 0;
    }
}
