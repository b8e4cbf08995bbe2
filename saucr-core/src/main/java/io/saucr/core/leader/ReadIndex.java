package io.saucr.core.leader;

import io.saucr.core.quorum.CommitRule;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Confirms reads (etcd: ReadIndex): which clients' syncs a leader may answer (R22). One that was
 * replaced and has not noticed, behind a cut link or after a long pause, must answer none: its
 * client would read what is older than what others were answered long ago. So a sync waits until a
 * majority has shown, after it came in, that it still follows: by an answer to a question that was
 * asked since, or by acks of an entry that was proposed since. A later leader needs one of them,
 * who then cannot have left before.
 *
 * <p>A question serves all syncs that came in before it, and so does an answer to any later one.
 *
 * <p>Syncs are answered in the order in which they came in, after all entries that were proposed
 * before them and before all others: servers match them with commits by that order.
 *
 * <p>Not thread-safe: owned by the leader's lock, together with {@link CommitRule}.
 *
 * @param <S> a sync
 */
public final class ReadIndex<S> {
    /**
     * @param question the first one that serves it
     * @param lastProposed the last entry before it
     */
    private record Waiting<S>(S sync, long question, long lastProposed) {}

    private final Deque<Waiting<S>> waiting = new ArrayDeque<>();

    /** The newest question that each server has answered. */
    private final Map<Long, Long> answered = new HashMap<>();

    private long asked;

    /**
     * @param self the leader, who follows itself
     */
    public ReadIndex(long self) {
        answered.put(self, Long.MAX_VALUE);
    }

    /**
     * A sync has come in.
     *
     * @param lastProposed zxid of the last entry that was proposed before it
     */
    public void add(S sync, long lastProposed) {
        waiting.add(new Waiting<>(sync, asked + 1, lastProposed));
    }

    /** How many wait. */
    public int size() {
        return waiting.size();
    }

    /** Whether the one that has waited longest needs a question that was not asked yet. */
    public boolean questionDue() {
        return !waiting.isEmpty() && waiting.peek().question > asked;
    }

    /** Whether the one that has waited longest waits for no entry, so that only answers help. */
    public boolean needsAnswers(long lastProposed) {
        return !waiting.isEmpty() && waiting.peek().lastProposed == lastProposed;
    }

    /** The number of a new question, to be sent to all voters now. */
    public long ask() {
        return ++asked;
    }

    /** A server that follows has answered. A question that was never asked is ignored. */
    public void answered(long sid, long question) {
        if (question <= asked) {
            answered.merge(sid, question, Math::max);
        }
    }

    /**
     * Takes the next sync that may be answered; null if there is none.
     *
     * @param lastCommitted zxid of the last entry that is committed
     * @param majority whether these servers include a majority of the voters; non-voters do not
     *     count
     */
    public S next(long lastCommitted, Predicate<Set<Long>> majority) {
        Waiting<S> first = waiting.peek();
        if (first == null || first.lastProposed > lastCommitted) {
            return null;
        }
        Set<Long> following = new HashSet<>();
        answered.forEach(
                (sid, newest) -> {
                    if (newest >= first.question) {
                        following.add(sid);
                    }
                });
        return majority.test(following) ? waiting.poll().sync : null;
    }

    /**
     * Takes the next sync that must be answered before this entry is committed; null if there is
     * none. That it can be committed shows what a question would.
     */
    public S nextBefore(long zxid) {
        Waiting<S> first = waiting.peek();
        return first == null || first.lastProposed >= zxid ? null : waiting.poll().sync;
    }
}
