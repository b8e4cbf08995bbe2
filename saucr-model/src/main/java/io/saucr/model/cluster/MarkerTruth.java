package io.saucr.model.cluster;

/**
 * A server has written whatever it has acked (R25). If its markers say "on disk", everything that
 * it has acked is on disk. And when it counts as having marked "on disk", its markers say so; else
 * it would recover needlessly after a crash, and an ensemble of such servers would wait for ever
 * (L1).
 */
final class MarkerTruth implements Invariant {
    @Override
    public String name() {
        return "marker truth";
    }

    @Override
    public String after(ModelCluster cluster, int step) {
        return of(cluster, cluster.servers[Step.server(step)]);
    }

    @Override
    public String of(ModelCluster cluster, Server s) {
        if (s.recovered() && s.written < s.acked) {
            return "server %s has acked %s, which would die with its process"
                    .formatted(s.sid, Entry.toString(s.log[s.written]));
        }
        if (s.recovered() && !s.markersSayFast() && s.forced < s.acked) {
            return ("the markers of server %s say that everything is on disk, but %s was"
                            + " acked and is not")
                    .formatted(s.sid, Entry.toString(s.log[s.forced]));
        }
        if (s.recovered() && !s.unrecovered && s.markersSayFast() && s.durability.claimsOnDisk()) {
            return "server "
                    + s.sid
                    + " has everything on disk and has marked that, but its markers say fast";
        }
        return null;
    }
}
