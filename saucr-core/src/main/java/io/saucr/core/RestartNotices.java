package io.saucr.core;

import java.util.HashMap;
import java.util.Map;

/**
 * What a follower owes its leader before it answers a recovering server's query (R20): word that
 * the server restarted, on the learner connection and before any later ack.
 *
 * <p>The order is what makes it safe: first the notice goes into the connection's queue, then the
 * LLE map is read for the answer. So an entry that the answer does not know of is acked after its
 * notice. A notice that went into this connection once holds for every later answer to the same
 * incarnation.
 *
 * <p>Not thread-safe: owned by the lock under which the learner connection's queue is written.
 */
public final class RestartNotices {
    /** Incarnations of this many servers are remembered; telling one twice is harmless. */
    private static final int MAX_REMEMBERED = 255;

    private final Map<Long, Long> told = new HashMap<>();
    private boolean connected;

    /** A new connection to a leader: nothing was told over it. */
    public void connected() {
        told.clear();
        connected = true;
    }

    /** There is no connection: nobody to tell, and whatever was told may have been lost. */
    public void disconnected() {
        told.clear();
        connected = false;
    }

    /**
     * Whether the leader must be told before the query of this incarnation is answered.
     *
     * @param nonce the recovering server's
     */
    public boolean mustTell(long sid, long nonce) {
        Long last = told.get(sid);
        return connected && (last == null || last != nonce);
    }

    /** The notice is in the connection's queue. */
    public void told(long sid, long nonce) {
        if (!connected) {
            throw new IllegalStateException("no leader to tell of server " + sid);
        }
        if (told.size() == MAX_REMEMBERED) {
            told.clear();
        }
        told.put(sid, nonce);
    }
}
