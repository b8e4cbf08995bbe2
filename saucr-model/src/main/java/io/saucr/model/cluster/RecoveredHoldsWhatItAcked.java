package io.saucr.model.cluster;

import io.saucr.model.cluster.Step.Kind;

/**
 * S5: a recovered server holds every committed entry whose commit counted its ack. Everything else
 * that makes an entry survive follows from that: a later leader needs a bare majority, and one of
 * them has acked what was committed.
 */
final class RecoveredHoldsWhatItAcked implements Invariant {
    @Override
    public String name() {
        return "S5";
    }

    /** A recovered server loses entries when it starts, recovers, or is truncated. */
    @Override
    public String after(ModelCluster cluster, int step) {
        Kind kind = Step.kind(step);
        return kind == Kind.RESTART || kind == Kind.FINISH || kind == Kind.TRUNCATE
                ? of(cluster, cluster.servers[Step.server(step)])
                : null;
    }

    /** The ack may be one of a process that has recovered since without the entry. */
    @Override
    public String onCommit(ModelCluster cluster, Server leader, int position) {
        for (Server s : cluster.servers) {
            String broke = of(cluster, s, position);
            if (broke != null) {
                return broke;
            }
        }
        return null;
    }

    @Override
    public String of(ModelCluster cluster, Server s) {
        for (int position = 0; position < cluster.history.length(); position++) {
            String broke = of(cluster, s, position);
            if (broke != null) {
                return broke;
            }
        }
        return null;
    }

    private static String of(ModelCluster cluster, Server s, int position) {
        AcknowledgedHistory history = cluster.history;
        boolean holds = position < s.length && s.log[position] == history.get(position);
        return s.recovered() && !s.unrecovered && history.countsAckOf(position, s.index) && !holds
                ? "server "
                        + s.sid
                        + " counts as recovered without "
                        + Entry.toString(history.get(position))
                        + ", whose commit counted its ack"
                : null;
    }
}
