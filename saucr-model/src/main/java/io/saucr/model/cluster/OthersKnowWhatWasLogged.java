package io.saucr.model.cluster;

import io.saucr.core.Mode;

/**
 * S4: when a fast entry commits because F voters have it, and X has it in its memory alone, then at
 * least F-1 other voters know that X has it, and will when they have crashed: they would say so if
 * X asked them now, and the map on their disk says so, or their markers say "fast", for voters that
 * crashed in fast mode count as knowing; but those among them whose process alone dies will say it
 * of everybody if they have written the entry, and else not (R25). Voters that lost their disks
 * count as knowing, too, until they have recovered: before that they answer nobody (R26).
 *
 * <p>An entry that B disks hold commits without X; then nobody need know.
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
                    return "only "
                            + know
                            + " others know that server "
                            + x.sid
                            + " has "
                            + Entry.toString(entry);
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
