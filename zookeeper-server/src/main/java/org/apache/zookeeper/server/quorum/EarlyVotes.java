package org.apache.zookeeper.server.quorum;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.zookeeper.server.quorum.QuorumCnxManager.Message;

/**
 * The newest vote of each other server, for an election that this server takes part in later (R28).
 * After a hand-over the servers leave one after the other, and the first one, which may be the
 * named server, votes while the others still follow. ZooKeeper's election drops a vote that comes
 * then, and it is repeated no sooner than 200 ms later. Thread-safe.
 */
final class EarlyVotes {
    // Of a notification: state, leader, zxid, round of the election.
    private static final int STATE = 0;
    private static final int ROUND = 20;

    /** The state of a server that votes, as it is sent. */
    private static final int LOOKING = 0;

    private final Map<Long, Early> newest = new HashMap<>();

    /**
     * @param at of {@link System#nanoTime}
     */
    private record Early(ByteBuffer vote, long at) {}

    /**
     * A server has sent a notification.
     *
     * @param now of {@link System#nanoTime}
     */
    synchronized void heard(Message message, long now) {
        ByteBuffer notification = message.buffer.duplicate().clear();
        boolean votes =
                notification.capacity() >= ROUND + Long.BYTES
                        && notification.getInt(STATE) == LOOKING;
        if (votes) {
            newest.put(message.sid, new Early(notification, now));
        } else {
            newest.remove(message.sid);
        }
    }

    /**
     * Takes all votes out.
     *
     * @param since of {@link System#nanoTime}: older votes are not returned
     * @param after the number of the last election: only votes of later ones are returned
     */
    synchronized List<Message> take(long since, long after) {
        List<Message> votes = new ArrayList<>();
        newest.forEach(
                (sid, early) -> {
                    if (early.at - since >= 0 && early.vote.getLong(ROUND) > after) {
                        votes.add(new Message(early.vote, sid));
                    }
                });
        newest.clear();
        return votes;
    }
}
