package io.saucr.model.cluster;

import io.saucr.core.Zxid;
import io.saucr.core.log.LleMap;
import io.saucr.core.log.Markers;
import io.saucr.core.quorum.Quorums;
import io.saucr.core.quorum.View;
import io.saucr.core.recovery.RecoveryMessage;
import io.saucr.core.recovery.RecoveryMessage.EntriesRequest;
import io.saucr.core.recovery.RecoveryMessage.EpochEndsAnswer;
import io.saucr.core.recovery.RecoveryMessage.EpochEndsRequest;
import io.saucr.core.recovery.RecoveryMessage.LleAnswer;
import io.saucr.core.recovery.RecoveryProcedure;
import io.saucr.core.recovery.RecoveryProcedure.Append;
import io.saucr.core.recovery.RecoveryProcedure.Finish;
import io.saucr.core.recovery.RecoveryProcedure.Truncate;
import io.saucr.core.recovery.RecoverySource;
import io.saucr.model.cluster.Server.Role;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What a recovery does to the disk of its server, and to the leader that hears of it (R16 to R20,
 * R26).
 *
 * <p>Owned by its cluster's thread.
 */
final class RecoverySteps {
    private static final int HISTORY_BYTES = 1024;

    private final ModelCluster cluster;
    private final Server[] servers;
    private final int n;
    private final RecoverySource[] recoverySources;
    private final Set<BrokenRule> broken;
    private final LeaderSteps leaderSteps;
    private final RecoveryQueries queries;

    RecoverySteps(ModelCluster cluster, LeaderSteps leaderSteps, RecoveryQueries queries) {
        this.cluster = cluster;
        servers = cluster.servers;
        n = cluster.n;
        recoverySources = new RecoverySource[n];
        for (int i = 0; i < n; i++) {
            recoverySources[i] = new RecoverySource(i + 1L, HISTORY_BYTES);
        }
        broken = cluster.broken;
        this.leaderSteps = leaderSteps;
        this.queries = queries;
    }

    void query(Server s, LleMap map) {
        boolean neverAhead = broken.contains(BrokenRule.R17_OWN_LOG_AHEAD);
        s.recovery =
                new Recovery(
                        s.sid,
                        s.incarnation,
                        neverAhead ? -1 : s.currentEpoch,
                        s.epochEnds(),
                        markers(s, map),
                        cluster.voters,
                        s.lost,
                        broken.contains(BrokenRule.R26_NO_NEW_ROUND));
    }

    /** What the procedure is told is on the disk. */
    Markers markers(Server s, LleMap map) {
        return new Markers(s.fastSwitch, s.latestOnDisk, map, viewToListenTo(s.ownView));
    }

    /** Breaks R23, by another view than the own one; else it is the own one. */
    private View viewToListenTo(View own) {
        if (broken.contains(BrokenRule.R23_OWN_VIEW_NOT_LOOKED_AT) && !own.isFirst()) {
            // Older than any seal; the first view is not compared with seals.
            return ofEverybody(1, Quorums.recoveryQuorum(n));
        }
        if (broken.contains(BrokenRule.R23_ONE_ANSWER_ENOUGH)) {
            return ofEverybody(Math.max(own.seal(), 1), 1);
        }
        return broken.contains(BrokenRule.R23_ANSWERS_OF_NON_MEMBERS) && !own.isFirst()
                ? ofEverybody(own.seal(), own.answersNeeded())
                : own;
    }

    /** A view of all servers of which so many answers are enough. */
    private View ofEverybody(long seal, int answers) {
        int voters = n;
        while (Quorums.viewQuorum(n, voters) > answers) {
            voters++;
        }
        return new View(seal, voters, cluster.sids);
    }

    void answer(Server s, Server asker) {
        if (s.leads() && !queries.silent(asker)) {
            leaderSteps.fence(s, asker.index, asker.incarnation);
        } else if (s.role == Role.FOLLOWING && !queries.silent(asker) && s.attached()) {
            s.link.tell(asker.index, asker.incarnation);
        }
        if (!asker.recovery.asksForAnswers()) {
            return;
        }
        if (queries.isNewToHear(s, asker) && noteHeard(s, asker)) {
            return;
        }
        if (!asker.recovery.asksForAnswers()
                || !queries.answersQueries(s, asker.lost)
                || !queries.counts(s, asker)) {
            return;
        }
        if (asker.lost && queries.leadsAnew(s, asker.recovery)) {
            queryAnew(asker);
            asker.recovery.ledEpoch = (int) s.acceptedEpoch;
        }
        LleMap known = s.recovered() ? s.knowledge.snapshot() : s.mapOnDisk;
        asker.recovery.underway[s.index] =
                new LleAnswer(
                        asker.incarnation,
                        s.sid,
                        s.currentEpoch,
                        s.lastLogged(),
                        known,
                        cluster.voters,
                        Optional.empty(),
                        queries.namedView(s));
        asker.recovery.promised[s.index] = asker.lost ? queries.promise(s) : 0;
        if (broken.contains(
                asker.lost ? BrokenRule.R26_R_ANSWERS_ENOUGH : BrokenRule.R16_ONE_ANSWER_TOO_FEW)) {
            countOneTooMany(asker, s.index);
        }
    }

    /** Whether a round begins: then the answer is older than the round, and does not count. */
    private boolean noteHeard(Server s, Server asker) {
        asker.recovery.heard |= 1 << s.index;
        if (!asker.recovery.allHeard()
                || queries.leadsAnew(s, asker.recovery)
                || !queries.makesBegin(s, asker.recovery)) {
            return false;
        }
        asker.recovery.beginAfterAll();
        if (broken.contains(BrokenRule.R26_NO_NEW_ROUND)) {
            carryOut(asker, asker.recovery.feedEarly());
            return false;
        }
        queryAnew(asker);
        return true;
    }

    /**
     * Breaks R16 or R26: gives the asker an empty answer of the first server of its view that has
     * not answered, so that one real answer fewer is enough.
     */
    private void countOneTooMany(Server asker, int except) {
        for (int j = 0; j < n; j++) {
            if (j != except
                    && j != asker.index
                    && asker.recovery.received[j] == null
                    && asker.ownView.includes(j + 1L)) {
                learn(
                        asker,
                        j,
                        new LleAnswer(
                                asker.incarnation,
                                j + 1L,
                                0,
                                Zxid.NONE,
                                LleMap.empty(),
                                cluster.voters,
                                Optional.empty(),
                                Zxid.NONE),
                        0);
                return;
            }
        }
    }

    /** An answer that was on its way is received. */
    void learn(Server s, int from) {
        LleAnswer answer = s.recovery.underway[from];
        s.recovery.underway[from] = null;
        learn(s, from, answer, s.recovery.promised[from]);
    }

    private void learn(Server s, int from, LleAnswer answer, long promised) {
        carryOut(s, s.recovery.receive(from, answer, promised));
    }

    private void carryOut(Server s, List<RecoveryProcedure.Decision> decisions) {
        for (RecoveryProcedure.Decision decision : decisions) {
            if (decision instanceof Truncate truncate) {
                int keep = s.length;
                while (keep > 0 && Entry.zxid(s.log[keep - 1]) > truncate.zxid()) {
                    keep--;
                }
                s.cut(keep);
            } else if (decision instanceof Append append) {
                for (RecoveryMessage.Entry entry : append.entries()) {
                    s.append(Entry.of(entry.zxid(), Entry.leader(entry.transaction())));
                }
            } else if (decision instanceof Finish last) {
                s.force();
                s.acceptedEpoch = Math.max(s.acceptedEpoch, last.acceptedEpoch());
                s.currentEpoch =
                        s.lost
                                ? last.currentEpoch()
                                : Math.max(s.currentEpoch, last.currentEpoch());
            }
        }
    }

    void sourceAnswers(Server s) {
        Server source = servers[s.recovery.source];
        RecoverySource answering = recoverySources[source.index];
        ServerHistory log = new ServerHistory(source);
        RecoveryMessage request = s.recovery.request;
        if (request instanceof EpochEndsRequest r) {
            s.recovery.sourceAnswer = answering.answer(r, log);
        } else if (request instanceof EntriesRequest after) {
            s.recovery.sourceAnswer = answering.answer(after, log);
        } else {
            throw new IllegalStateException("nobody asks for that here: " + request);
        }
    }

    void historyReceived(Server s) {
        if (broken.contains(BrokenRule.R17_CUT_TO_L)
                && !s.lost
                && s.recovery.sourceAnswer instanceof EpochEndsAnswer) {
            copyAfterCuttingToL(s);
            return;
        }
        carryOut(s, s.recovery.receive(s.recovery.sourceAnswer));
        if (s.recovery.asksForAnswers()) {
            queryAnew(s);
        }
    }

    private void copyAfterCuttingToL(Server s) {
        LleMap merged = s.recovery.merged();
        long through = s.recovery.through();
        int keep = s.length;
        while (keep > 0 && Entry.zxid(s.log[keep - 1]) > through) {
            keep--;
        }
        s.cut(keep);
        Server source = servers[s.recovery.source];
        for (int i = 0; i < source.length; i++) {
            long zxid = Entry.zxid(source.log[i]);
            if (zxid > s.lastLogged() && zxid <= through) {
                s.append(source.log[i]);
            }
        }
        long last = s.lastLogged();
        long onDisk = Math.max(s.latestOnDisk, last);
        Finish finish =
                new Finish(
                        last,
                        Math.max(s.currentEpoch, Zxid.epoch(last)),
                        onDisk,
                        merged,
                        Math.min(s.fastSwitch, onDisk),
                        Math.max(s.currentEpoch, Zxid.epoch(last)),
                        false);
        s.recovery.finish = finish;
        carryOut(s, List.of(finish));
    }

    /** The source is given up: all over again, with what is on disk now. */
    void queryAnew(Server s) {
        int heard = s.recovery.heard;
        query(s, s.recovery.merged());
        s.recovery.heard = heard;
    }

    void finish(Server s) {
        Finish last = s.recovery.finish;
        if (!broken.contains(BrokenRule.R17_MARKER_LEFT)) {
            s.fastSwitch = last.fastSwitch();
        }
        s.latestOnDisk = last.latestOnDisk();
        s.mapOnDisk = last.lleMap();
        if (broken.contains(BrokenRule.R17_MARKER_LEFT)) {
            s.fastSwitch = Math.max(s.fastSwitch, s.latestOnDisk + 1);
        }
        s.unrecovered = false;
        s.lost = false;
        s.recovery = null;
        s.role = Role.LOOKING;
        s.open();
    }
}
