package io.saucr.model.cluster;

import io.saucr.core.Zxid;
import io.saucr.model.cluster.Step.Kind;

/**
 * Logs have no gaps: the entries of an epoch count from 1, and epochs ascend. If two logs contain
 * the same zxid, they are equal up to it. What a follower logs after UPTODATE continues what its
 * leader sent before.
 */
final class LogOrder implements Invariant {
    @Override
    public String name() {
        return "log order";
    }

    @Override
    public String after(ModelCluster cluster, int step) {
        Kind kind = Step.kind(step);
        boolean grew =
                kind == Kind.APPEND
                        || kind == Kind.SYNC
                        || kind == Kind.UPTODATE
                        || kind == Kind.HISTORY
                        || kind == Kind.STEP_DOWN;
        if (!grew) {
            return null;
        }
        Server s = cluster.servers[Step.server(step)];
        return kind == Kind.APPEND ? appended(cluster, s) : of(cluster, s);
    }

    @Override
    public String of(ModelCluster cluster, Server s) {
        String gap = gap(s, 0);
        if (gap != null) {
            return gap;
        }
        for (Server other : cluster.servers) {
            if (other != s && !samePast(s, other)) {
                return shared(s, other);
            }
        }
        return null;
    }

    /** What was in order stays so: only the new entry can break it. */
    private static String appended(ModelCluster cluster, Server s) {
        int last = s.length - 1;
        String gap = gap(s, last);
        if (gap != null) {
            return gap;
        }
        if (s.length != s.queueNext || (last > 0 && s.log[last - 1] != s.queue[last - 1])) {
            return "the log of server " + s.sid + " is not what its leader sent";
        }
        for (Server other : cluster.servers) {
            if (other != s && !samePast(s, last, other)) {
                return shared(s, other);
            }
        }
        return null;
    }

    private static boolean samePast(Server s, int last, Server other) {
        long zxid = Entry.zxid(s.log[last]);
        if (zxid > other.lastLogged()) {
            return true;
        }
        if (other.length > last && Entry.zxid(other.log[last]) == zxid) {
            return other.log[last] == s.log[last]
                    && (last == 0 || other.log[last - 1] == s.log[last - 1]);
        }
        return !contains(other, zxid);
    }

    private static boolean contains(Server s, long zxid) {
        int low = 0;
        int high = s.length - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            long there = Entry.zxid(s.log[middle]);
            if (there == zxid) {
                return true;
            } else if (there < zxid) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return false;
    }

    private static String shared(Server s, Server other) {
        return "servers " + s.sid + " and " + other.sid + " share a zxid but not its past";
    }

    /** In a log that has no gap before {@code from}. */
    private static String gap(Server s, int from) {
        long before = from == 0 ? Zxid.NONE : Entry.zxid(s.log[from - 1]);
        for (int i = from; i < s.length; i++) {
            long zxid = Entry.zxid(s.log[i]);
            boolean follows =
                    Zxid.epoch(zxid) == Zxid.epoch(before)
                            ? zxid == before + 1
                            : zxid > before && Zxid.counter(zxid) == 1;
            if (!follows) {
                return "in the log of server %s %s follows %s"
                        .formatted(s.sid, Entry.toString(zxid), Entry.toString(before));
            }
            before = zxid;
        }
        return null;
    }

    /** In logs without gaps: the newest common zxid stands at the same place, after the same. */
    private static boolean samePast(Server a, Server b) {
        int i = a.length - 1;
        int j = b.length - 1;
        while (i >= 0 && j >= 0) {
            long mine = Entry.zxid(a.log[i]);
            long theirs = Entry.zxid(b.log[j]);
            if (mine == theirs) {
                break;
            }
            if (mine > theirs) {
                i--;
            } else {
                j--;
            }
        }
        if (i < 0 || j < 0) {
            return true;
        }
        if (i != j) {
            return false;
        }
        for (int k = i; k >= 0; k--) {
            if (a.log[k] != b.log[k]) {
                return false;
            }
        }
        return true;
    }
}
