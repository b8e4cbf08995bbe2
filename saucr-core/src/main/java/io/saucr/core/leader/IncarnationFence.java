package io.saucr.core.leader;

import io.saucr.core.quorum.CommitRule;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;

/**
 * A leader's knowledge of which process is behind each connection, so that acks of a process that
 * is known to be dead are not counted (R20). When the leader hears that a server restarted, from a
 * follower's notice or because the server queries the leader itself, the old connection is dropped,
 * but not the connection of that very process.
 *
 * <p>A notice may be late: about a process that has died since, when the next one is connected.
 * That one is dropped, too. It connects again, and nothing is lost but time.
 *
 * <p>Not thread-safe: owned by the leader's lock, together with {@link CommitRule}.
 */
public final class IncarnationFence {
    /** The nonce of a server that announced none: one without SAUCR. */
    public static final long UNKNOWN = 0;

    private record Connected(long connection, long nonce) {}

    private final Map<Long, Connected> current = new HashMap<>();

    /**
     * A connection is accepted and replaces the server's earlier one.
     *
     * @param connection its number, from {@link CommitRule#connect}
     * @param nonce what the server announced, {@link #UNKNOWN} if nothing
     */
    public void connected(long sid, long connection, long nonce) {
        current.put(sid, new Connected(connection, nonce));
    }

    /** The connection is lost. Ignored if it is not the current one. */
    public void disconnected(long sid, long connection) {
        Connected known = current.get(sid);
        if (known != null && known.connection == connection) {
            current.remove(sid);
        }
    }

    /**
     * The server's process with this nonce is recovering, so every earlier one is dead.
     *
     * @return the number of the connection to drop at once, with {@link CommitRule#disconnect},
     *     before anything else is read from it and before a query is answered; empty if there is
     *     none
     */
    public OptionalLong restarted(long sid, long nonce) {
        Connected known = current.get(sid);
        if (known == null || (known.nonce == nonce && nonce != UNKNOWN)) {
            return OptionalLong.empty();
        }
        current.remove(sid);
        return OptionalLong.of(known.connection);
    }
}
