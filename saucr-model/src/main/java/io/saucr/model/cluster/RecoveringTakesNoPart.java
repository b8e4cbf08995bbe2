package io.saucr.model.cluster;

import io.saucr.model.cluster.Server.Role;

/** S3: a recovering server never influences an election or epoch. */
final class RecoveringTakesNoPart implements Invariant {
    @Override
    public String name() {
        return "S3";
    }

    @Override
    public String after(ModelCluster cluster, int step) {
        return switch (Step.kind(step)) {
            case ELECT, CONNECT, RESTART -> anywhere(cluster);
            default -> null;
        };
    }

    @Override
    public String of(ModelCluster cluster, Server s) {
        return s.unrecovered && (s.role == Role.FOLLOWING || s.role == Role.LEADING)
                ? "server "
                        + s.sid
                        + (s.lost ? " lost its disk" : " crashed in fast mode")
                        + ", has not recovered, and takes part in an epoch"
                : null;
    }
}
