package io.saucr.model.cluster;

import io.saucr.core.Zxid;
import io.saucr.core.log.LleMap;
import io.saucr.core.quorum.View;
import io.saucr.model.cluster.Server.Role;
import java.util.List;
import java.util.Set;

/**
 * What a process loses when it dies, when its machine loses power or its disk; and how it starts
 * again (R15, R25, R26).
 *
 * <p>Owned by its cluster's thread.
 */
final class ProcessSteps {
    private final List<Long> sids;
    private final Set<BrokenRule> broken;
    private final RecoverySteps recoverySteps;

    ProcessSteps(ModelCluster cluster, RecoverySteps recoverySteps) {
        sids = cluster.sids;
        broken = cluster.broken;
        this.recoverySteps = recoverySteps;
    }

    static void crash(Server s, int kept) {
        s.length = s.forced + kept;
        s.force();
        s.proven = false;
        stop(s);
    }

    static void kill(Server s, int kept) {
        s.length = s.written + kept;
        s.written = s.length;
        stop(s);
    }

    static void loseDisk(Server s) {
        s.lost = true;
        s.length = 0;
        s.force();
        s.proven = false;
        s.currentEpoch = 0;
        s.acceptedEpoch = 0;
        s.fastSwitch = 0;
        s.latestOnDisk = 0;
        s.mapOnDisk = LleMap.empty();
        s.ownView = View.FIRST;
        stop(s);
    }

    private static void stop(Server s) {
        s.acked = s.length;
        s.forgetRole();
        s.role = Role.DOWN;
        s.durability = null;
        s.knowledge = null;
        s.recovery = null;
        s.flushed = Server.NOWHERE;
        s.claimed = 0;
    }

    void restart(Server s) {
        s.incarnation++;
        s.unrecovered = s.mayHaveForgotten();
        boolean recovers =
                s.unrecovered
                        && !broken.contains(
                                s.lost
                                        ? BrokenRule.R26_LOST_DISK_COUNTS_AS_COMPLETE
                                        : BrokenRule.R25_BOOT_ID_NOT_LOOKED_AT);
        if (recovers && !broken.contains(BrokenRule.R15_RECOVERING_TAKES_PART)) {
            // What an interrupted recovery has copied of epochs that this server was never in.
            int keep = s.length;
            while (keep > 0 && Zxid.epoch(Entry.zxid(s.log[keep - 1])) > s.currentEpoch) {
                keep--;
            }
            s.cut(keep);
            s.role = Role.RECOVERING;
            recoverySteps.query(s, s.mapOnDisk);
        } else {
            if (!recovers) {
                complete(s);
            }
            raiseEpoch(s);
            s.role = Role.LOOKING;
            s.open();
        }
    }

    /**
     * A server that died while it logged its leader's history has entries of an epoch after its
     * own. It is in the epoch of its last entry then, as if it had died with that log in that
     * epoch, and not in the one that it was about to join, whose history it may have in part.
     */
    private void raiseEpoch(Server s) {
        long logged = Zxid.epoch(s.lastLogged());
        if (logged > s.currentEpoch) {
            s.currentEpoch =
                    broken.contains(BrokenRule.R25_EPOCH_OF_UNFINISHED_JOIN)
                            ? s.acceptedEpoch
                            : logged;
        }
    }

    /**
     * A server that finds whatever it has acked (R25). Its map died with its process, if it had
     * acked fast entries since it wrote the one on disk: then any server may have logged what it
     * has logged itself.
     */
    private void complete(Server s) {
        if (!broken.contains(BrokenRule.R25_START_WITHOUT_FORCE)) {
            s.force();
        }
        if (!s.markersSayFast()) {
            return;
        }
        s.latestOnDisk = Math.max(s.latestOnDisk, s.lastLogged());
        s.fastSwitch = Math.min(s.fastSwitch, s.latestOnDisk);
        if (!broken.contains(BrokenRule.R25_MAP_OF_MARKER)) {
            for (long sid : sids) {
                if (s.mapOnDisk.get(sid) < s.lastLogged()) {
                    s.mapOnDisk = s.mapOnDisk.with(sid, s.lastLogged());
                }
            }
        }
    }
}
