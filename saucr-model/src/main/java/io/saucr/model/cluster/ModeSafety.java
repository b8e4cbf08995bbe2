package io.saucr.model.cluster;

import io.saucr.model.cluster.Server.Role;

/**
 * An entry commits only when F logs or B disks hold it. Servers that crashed in fast mode or lost
 * their disks, and have not recovered, are counted as holding it; other servers that are down hold
 * what they have written.
 */
final class ModeSafety implements Invariant {
    @Override
    public String name() {
        return "mode safety";
    }

    @Override
    public String onCommit(ModelCluster cluster, Server leader, int position) {
        long entry = leader.queue[position];
        int logs = 0;
        int disks = 0;
        for (Server s : cluster.servers) {
            if (s.role == Role.RECOVERING || (s.role == Role.DOWN && s.mayHaveForgotten())) {
                logs++;
                disks++;
            } else if (position < s.length && s.log[position] == entry) {
                logs++;
                if (position < s.forced) {
                    disks++;
                }
            }
        }
        return logs >= cluster.fastQuorum || disks >= cluster.bareMajority
                ? null
                : "only "
                        + logs
                        + " servers can hold "
                        + Entry.toString(entry)
                        + ", and "
                        + disks
                        + " on disk";
    }
}
