package io.saucr.model.cluster;

import io.saucr.core.Mode;

/**
 * S4: when a fast entry commits because F voters have it, and X has it only in memory, then at
 * least F-1 other voters know that X has it. A voter that is up and not recovering must know it
 * now, and any voter must still know it after it starts again, for one of these reasons:
 *
 * <ul>
 *   <li>the map on its disk says so;
 *   <li>its markers say "fast" and its power was lost, or its disk: until it has recovered it
 *       answers nobody, and so counts as knowing (R26);
 *   <li>its markers say "fast" and it has written an entry as new as this one: if only its process
 *       dies, it assumes that everybody has what it has written (R25).
 * </ul>
 *
 * <p>An entry that is on B disks commits without X, so nobody need know.
 */
final class OthersKnowWhatWasLogged implements Invariant {
    @Override
    public String name() {
        return "S4";
    }

    @Override
    public String onCommit(ModelCluster cluster, Server leader, int position) {
        long entry = leader.queue[position];
        long zxid = Entry.zxid(entry);
        if (leader.count.mode(zxid) == Mode.SLOW || onEnoughDisks(cluster, leader, zxid)) {
            return null;
        }
        for (Server x : cluster.servers) {
            if (x.recovered()
                    && position < x.length
                    && position >= x.forced
                    && position < x.acked
                    && x.log[position] == entry) {
                int know = 0;
                for (Server other : cluster.servers) {
                    if (other != x && knows(other, x.sid, zxid)) {
                        know++;
                    }
                }
                if (know < cluster.fastQuorum - 1) {
                    return "only %s others know that server %s has %s"
                            .formatted(know, x.sid, Entry.toString(entry));
                }
            }
        }
        return null;
    }

    private static boolean onEnoughDisks(ModelCluster cluster, Server leader, long zxid) {
        int disks = 0;
        for (Server s : cluster.servers) {
            disks += leader.count.durableThrough(s.sid) >= zxid ? 1 : 0;
        }
        return disks >= cluster.bareMajority;
    }

    private static boolean knows(Server other, long sid, long zxid) {
        if (other.recovered() && other.knowledge.get(sid) < zxid) {
            return false;
        }
        return other.mapOnDisk.get(sid) >= zxid
                || other.mayHaveForgotten()
                || (other.markersSayFast() && other.lastWritten() >= zxid);
    }
}
