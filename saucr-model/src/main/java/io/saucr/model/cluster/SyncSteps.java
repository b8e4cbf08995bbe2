package io.saucr.model.cluster;

import io.saucr.core.leader.FollowerConnection;
import io.saucr.model.cluster.Server.ClientSync;
import java.util.List;
import java.util.Set;

/**
 * How a leader answers the syncs of its clients (R22).
 *
 * <p>Owned by its cluster's thread.
 */
final class SyncSteps {
    /** More than these do not wait at one leader. */
    private static final int MOST_SYNCS = 4;

    private final ModelCluster cluster;
    private final int bareMajority;
    private final Set<BrokenRule> broken;
    private final boolean r22Unnumbered;

    SyncSteps(ModelCluster cluster) {
        this.cluster = cluster;
        bareMajority = cluster.bareMajority;
        broken = cluster.broken;
        r22Unnumbered = cluster.broken.contains(BrokenRule.R22_ANSWERS_WITHOUT_NUMBER);
    }

    void clientSync(Server l) {
        ClientSync sync =
                new ClientSync(LeaderSteps.lastProposed(l), l.asked + 1, cluster.history.length());
        l.waiting.add(sync);
        l.state.sync(sync, l.now);
        cluster.leaderSteps.carryOut(l);
    }

    /** An entry commits whose acks show who follows. */
    void answerBefore(Server l, int position) {
        boolean any = broken.contains(BrokenRule.R22_EARLIER_ENTRY);
        long zxid = any ? Long.MAX_VALUE : Entry.zxid(l.queue[position]);
        for (ClientSync sync = l.state.nextSyncBefore(zxid);
                sync != null;
                sync = l.state.nextSyncBefore(zxid)) {
            answered(l, sync, any ? position + 1 : position);
        }
    }

    /** Whether these servers are a majority of the voters, so that every new leader needs one. */
    boolean majority(Set<Long> sids) {
        return sids.size() >= bareMajority || broken.contains(BrokenRule.R22_NO_QUESTION);
    }

    /** A client reads what its leader has committed. */
    void answered(Server l, ClientSync sync, int read) {
        cluster.syncsAnswered++;
        if (!l.waiting.remove().equals(sync)) {
            throw new IllegalStateException("a sync is answered before an earlier one");
        }
        cluster.history.synced(l.index, l.queue, read, sync.acknowledged());
    }

    /** The leader asks again. */
    void askAgain(Server l) {
        l.state.ask(l.now);
        cluster.leaderSteps.carryOut(l);
    }

    static void ask(Server l, long question, List<FollowerConnection<Link>> followers) {
        l.asked = question;
        for (int i = 0; i < followers.size(); i++) {
            Link link = followers.get(i).endpoint();
            if (link.otherEnd != null) {
                link.asked = question;
                link.question = question;
            }
        }
    }

    void hear(Server l, Server from) {
        Link link = l.links[from.index];
        long question = r22Unnumbered ? l.asked : link.answer;
        link.answer = 0;
        LeaderSteps.heard(l, link);
        l.answered[from.index] = Math.max(l.answered[from.index], question);
        l.state.stillFollowing(link.known, question, l.now);
        cluster.leaderSteps.carryOut(l);
    }

    /** Whether an answer to this question can serve a sync. */
    boolean matters(Server l, long question) {
        return question != 0 && question >= firstThatMatters(l);
    }

    long firstThatMatters(Server l) {
        if (r22Unnumbered) {
            return 1;
        }
        return l.waiting.isEmpty() ? l.asked + 1 : l.waiting.peek().question();
    }

    /** A follower answers its leader's question. */
    static void reply(Server s) {
        s.link.answer = s.link.question;
        s.link.question = 0;
    }

    /** Whether another sync may wait at this leader. */
    static boolean takesMore(Server l) {
        return l.waiting.size() < MOST_SYNCS;
    }
}
