package io.saucr.core.leader;

import io.saucr.core.Mode;
import io.saucr.core.Zxid;
import io.saucr.core.log.LleMap;
import io.saucr.core.log.ProposalTag;
import java.util.Arrays;

/**
 * The leader's side of R1 and R2: who is sent proposals now, and what each server may have logged
 * at most. Hands out the {@link ProposalTag} that goes with a proposal; its bytes change only when
 * the set changes.
 *
 * <p>Not thread-safe: owned by the leader's lock.
 */
public final class ReplicationSet {
    /**
     * From so many known servers on only voters and servers known already may join. A tag that
     * names so many servers is well below the limits of {@link ProposalTag}.
     */
    static final int MAX_KNOWN = 128;

    private long[] members;
    private long[] joinedAfter;
    private LleMap others;
    private long lastProposed;
    private ProposalTag fast;
    private ProposalTag slow;

    /**
     * @param self the leader's sid, always a member
     * @param known what the leader knew of everyone's last logged entry when its epoch began (R8)
     * @param epochStart the zxid before the epoch's first proposal
     */
    public ReplicationSet(long self, LleMap known, long epochStart) {
        members = new long[] {self};
        joinedAfter = new long[] {epochStart};
        others = known;
        lastProposed = epochStart;
    }

    /**
     * Whether a server that is no voter may join. Each one that did stays for ever in this leader's
     * tags and on everyone's disk, so their number is limited: no new one joins once {@value
     * #MAX_KNOWN} servers are known.
     */
    public boolean admits(long sid) {
        return contains(sid)
                || others.get(sid) != Zxid.NONE
                || members.length + others.size() < MAX_KNOWN;
    }

    /** A follower's queue receives every proposal from now on. */
    public void join(long sid) {
        if (Arrays.binarySearch(members, sid) >= 0) {
            return;
        }
        int at = -(Arrays.binarySearch(members, sid) + 1);
        members = insert(members, at, sid);
        joinedAfter = insert(joinedAfter, at, lastProposed);
        forgetTags();
    }

    /**
     * A follower's queue receives no more; it may have logged up to the last proposal that was put
     * into it.
     */
    public void leave(long sid) {
        int at = Arrays.binarySearch(members, sid);
        if (at < 0) {
            return;
        }
        if (joinedAfter[at] < lastProposed) {
            others = others.with(sid, lastProposed);
        }
        members = remove(members, at);
        joinedAfter = remove(joinedAfter, at);
        forgetTags();
    }

    /**
     * The tag of a proposal that is now put into the members' queues.
     *
     * @param zxid the proposal's, higher than any before
     */
    public ProposalTag propose(long zxid, Mode mode) {
        lastProposed = zxid;
        if (mode == Mode.FAST) {
            if (fast == null) {
                fast = ProposalTag.of(Mode.FAST, members.clone(), others);
            }
            return fast;
        }
        if (slow == null) {
            slow = ProposalTag.of(Mode.SLOW, members.clone(), others);
        }
        return slow;
    }

    /**
     * What is known of everyone's last logged entry, but for what the members have been sent since
     * they joined.
     */
    public LleMap others() {
        return others;
    }

    /** Whether the server is sent proposals. */
    public boolean contains(long sid) {
        return Arrays.binarySearch(members, sid) >= 0;
    }

    private void forgetTags() {
        fast = null;
        slow = null;
    }

    private static long[] insert(long[] array, int at, long value) {
        long[] result = Arrays.copyOf(array, array.length + 1);
        System.arraycopy(array, at, result, at + 1, array.length - at);
        result[at] = value;
        return result;
    }

    private static long[] remove(long[] array, int at) {
        long[] result = Arrays.copyOf(array, array.length - 1);
        System.arraycopy(array, at + 1, result, at, array.length - at - 1);
        return result;
    }
}
