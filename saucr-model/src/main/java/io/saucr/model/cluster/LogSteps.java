package io.saucr.model.cluster;

import io.saucr.core.Mode;
import io.saucr.core.Zxid;
import io.saucr.core.log.LleKnowledge;
import io.saucr.core.log.ProposalTag;
import io.saucr.model.cluster.Server.Role;
import java.util.Set;

/**
 * What a server that is not recovering does with its log: appends, acks, forces and markers (R3,
 * R8, R10, R12, R13, R25).
 *
 * <p>Owned by its cluster's thread.
 */
final class LogSteps {
    private final Set<BrokenRule> broken;
    private final LeaderSteps leaderSteps;
    private final boolean r3;
    private final boolean r8;
    private final boolean r13Critical;
    private final boolean r13Order;
    private final boolean r25Write;
    private final boolean h5;

    LogSteps(ModelCluster cluster, LeaderSteps leaderSteps) {
        broken = cluster.broken;
        this.leaderSteps = leaderSteps;
        r3 = cluster.broken.contains(BrokenRule.R3_SLOW_ACK_FROM_MEMORY);
        r8 = cluster.broken.contains(BrokenRule.R8_MAP_REPLACED);
        r13Critical = cluster.broken.contains(BrokenRule.R13_NO_CRITICAL_SECTION);
        r13Order = cluster.broken.contains(BrokenRule.R13_MARKER_BEFORE_FORCE);
        r25Write = cluster.broken.contains(BrokenRule.R25_ACK_BEFORE_WRITE);
        h5 = cluster.broken.contains(BrokenRule.H5_FAST_BEFORE_UPTODATE);
    }

    void appendNext(Server s, boolean beforeUpToDate) {
        int position = s.queueNext++;
        ProposalTag attached = s.queueTags[position];
        if (attached != null) {
            s.announced = attached;
        }
        ProposalTag tag = s.announced;
        byte as = Server.FAST;
        if (s.queueViews[position] != null && !beforeUpToDate) {
            as = Server.SEAL;
        } else if (tag == null || tag.mode() == Mode.SLOW) {
            as = Server.SLOW;
        } else if (beforeUpToDate && !h5) {
            as = Server.FAST_TO_BE_FORCED;
        }
        append(s, s.queue[position], as, tag);
    }

    void append(Server s, long entry, byte as, ProposalTag tag) {
        long zxid = Entry.zxid(entry);
        s.append(entry);
        s.appendedAs[s.length - 1] = as;
        if (!r13Critical) {
            s.flushed = Server.NOWHERE;
        }
        s.tellDurability(s.length - 1);
        if (tag != null) {
            if (r8) {
                s.knowledge = new LleKnowledge(tag.resolve(zxid));
            } else {
                s.knowledge.appended(tag, zxid);
            }
        }
    }

    void ack(Server s) {
        int from = s.acked;
        settle(s);
        if (s.leads()) {
            for (int i = from; i < s.length; i++) {
                leaderSteps.ackedByLeader(s, Entry.zxid(s.log[i]));
            }
        } else if (s.attached()) {
            s.link.acksSent = s.queueNext;
        }
    }

    /** What the server's log does before an ack (R3, R12, R13, R25). */
    void settle(Server s) {
        if (!r25Write) {
            s.written = s.length;
        }
        if (s.durability.mustForce()) {
            if (!r3) {
                s.force();
            }
            if (s.durability.mustMarkOnDisk()) {
                if (s.durability.claimsOnDisk()
                        && broken.contains(BrokenRule.S4_STALE_MAP_ON_DISK)) {
                    s.ownView = s.viewThrough(s.length);
                    s.durability.markedOnDisk(s.lastLogged());
                } else {
                    writeOnDiskMarker(s, s.length);
                }
            }
        }
        long fastSwitch = s.durability.fastSwitchNeeded();
        if (fastSwitch != 0) {
            s.durability.markedFastSwitch(fastSwitch);
            if (!broken.contains(BrokenRule.R12_NO_FAST_SWITCH)) {
                s.fastSwitch = fastSwitch;
            }
        }
        s.durability.acked();
        s.acked = s.length;
    }

    /**
     * @param covered how many entries of the log it says are on disk
     */
    private static void writeOnDiskMarker(Server s, int covered) {
        s.ownView = s.viewThrough(covered);
        s.durability.markedOnDisk(covered == 0 ? Zxid.NONE : Entry.zxid(s.log[covered - 1]));
        s.latestOnDisk = s.durability.latestOnDisk();
        s.mapOnDisk = s.knowledge.snapshot();
    }

    void mark(Server s) {
        int covered = r13Order ? s.length : s.flushed;
        s.flushed = Server.NOWHERE;
        writeOnDiskMarker(s, covered);
    }

    /** R10: acks what is logged to the leader that still hears it, and has everything on disk. */
    private void flush(Server s) {
        settle(s);
        if (!s.durability.claimsOnDisk()) {
            s.force();
            writeOnDiskMarker(s, s.length);
        }
        s.flushed = Server.NOWHERE;
    }

    void drainAndLook(Server l) {
        while (l.queueNext < l.queueLength) {
            appendNext(l, false);
        }
        look(l);
    }

    void look(Server s) {
        flush(s);
        s.forgetRole();
        s.role = Role.LOOKING;
    }

    boolean mayMark(Server s) {
        if (r13Order) {
            return !s.durability.claimsOnDisk() && s.lastLogged() >= s.durability.fastSwitch();
        }
        if (s.flushed == Server.NOWHERE || s.flushed == 0) {
            return false;
        }
        long forced = Entry.zxid(s.log[s.flushed - 1]);
        if (r13Critical) {
            return !s.durability.claimsOnDisk() && forced >= s.durability.fastSwitch();
        }
        return s.durability.mayMarkOnDisk(forced, s.lastLogged());
    }

    /** The first half of a flush; {@link #mark} is the second one. */
    static void force(Server s) {
        s.force();
        s.flushed = s.length;
    }
}
