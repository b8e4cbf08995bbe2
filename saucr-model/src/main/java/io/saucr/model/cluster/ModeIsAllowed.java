package io.saucr.model.cluster;

import io.saucr.core.Mode;

/**
 * A leader is not fast while an operator forbids it (R10), nor while it has heard no more members
 * of the sealed view than a bare majority in time (R6, R23); and a pause of its own process changes
 * nothing (H11).
 */
final class ModeIsAllowed implements Invariant {
    @Override
    public String name() {
        return "mode is allowed";
    }

    @Override
    public String after(ModelCluster cluster, int step) {
        return of(cluster, cluster.servers[Step.server(step)]);
    }

    @Override
    public String of(ModelCluster cluster, Server s) {
        if (!s.established) {
            return null;
        }
        if (s.turnedByPause) {
            return "server " + s.sid + " switched to slow mode because it stood still itself";
        }
        if (s.controller.mode() == Mode.SLOW) {
            return null;
        }
        if (s.pinned) {
            return "server " + s.sid + " is fast although an operator forbids it";
        }
        return tooFewHeard(cluster, s)
                ? "server " + s.sid + " is fast and has heard a bare majority in time"
                : null;
    }

    private static boolean tooFewHeard(ModelCluster cluster, Server l) {
        int heard = 1;
        boolean silent = false;
        for (Server s : cluster.servers) {
            Link link = l.links[s.index];
            boolean member = link.open && link.synced() && l.count.sealed(s.sid);
            heard += member && !link.silent ? 1 : 0;
            silent |= link.silent;
        }
        return silent && heard <= cluster.bareMajority;
    }
}
