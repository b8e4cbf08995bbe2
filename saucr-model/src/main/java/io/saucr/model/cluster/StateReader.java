package io.saucr.model.cluster;

import io.saucr.core.Zxid;
import io.saucr.core.log.LleKnowledge;
import io.saucr.core.log.LleMap;
import io.saucr.core.log.LogDurability;
import io.saucr.core.log.Markers;
import io.saucr.core.quorum.Configuration;
import io.saucr.core.recovery.EpochEnds;
import io.saucr.core.recovery.RecoveryMessage.EntriesAnswer;
import io.saucr.core.recovery.RecoveryMessage.EntriesRequest;
import io.saucr.core.recovery.RecoveryMessage.EpochEndsAnswer;
import io.saucr.core.recovery.RecoveryMessage.EpochEndsRequest;
import io.saucr.core.recovery.RecoveryMessage.LleAnswer;
import io.saucr.core.recovery.RecoveryMessage.Reason;
import io.saucr.core.recovery.RecoveryMessage.Unavailable;
import io.saucr.core.recovery.RecoveryProcedure.Finish;
import io.saucr.model.cluster.Server.Role;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Restores a {@link ModelCluster} from the bytes that {@link StateWriter} wrote.
 *
 * <p>The product's objects are not in the bytes. New ones are made and told what happened to the
 * old ones, in an order that makes them decide the same from then on.
 */
@SuppressWarnings("EnumOrdinal") // a code lives as long as the process
final class StateReader {
    private static final Role[] ROLES = Role.values();
    private static final Reason[] REASONS = Reason.values();

    private final int n;
    private final StateInput in;
    private final LeaderReader leaders;
    private final boolean answersAreLost;

    /** Stands for an answer that nobody will receive. */
    private final LleAnswer lost;

    StateReader(int servers, boolean answersAreLost) {
        n = servers;
        in = new StateInput(servers);
        leaders = new LeaderReader(servers, in);
        this.answersAreLost = answersAreLost;
        lost =
                new LleAnswer(
                        1,
                        1,
                        0,
                        Zxid.NONE,
                        LleMap.empty(),
                        new Configuration(0, List.of(1L)),
                        Optional.empty(),
                        Zxid.NONE);
    }

    /** Reads a state; its servers stand at their places. */
    void read(ModelCluster cluster, byte[] bytes) {
        in.begin(bytes);
        readCluster(cluster);
        for (int i = 0; i < n; i++) {
            readServer(cluster, cluster.servers[i]);
        }
        for (Server s : cluster.servers) {
            if (s.leader != Server.NOWHERE) {
                cluster.servers[s.leader].links[s.index].attach(s);
            }
        }
    }

    private void readCluster(ModelCluster w) {
        w.reset();
        w.entries = in.number();
        w.noops = in.number();
        w.elections = in.number();
        w.crashes = in.number();
        w.suspicions = in.number();
        w.confirmations = in.number();
        w.disconnects = in.number();
        w.forces = in.number();
        w.syncs = in.number();
        w.kills = in.number();
        w.lostDisks = in.number();
        w.pins = in.number();
        w.drains = in.number();
        w.misses = in.number();
        w.pauses = in.number();
        w.terms = in.number();
        int length = in.number();
        for (int i = 0; i < length; i++) {
            long entry = in.entry();
            w.history.add(entry, in.number(), in.number());
        }
    }

    private void readServer(ModelCluster w, Server s) {
        s.role = ROLES[in.number()];
        int flags = in.number();
        s.unrecovered = (flags & 1) != 0;
        s.proven = s.recovered() || (flags & 2) != 0;
        s.lost = (flags & 4) != 0;
        s.incarnation = in.number();
        int length = in.number();
        s.written = in.number();
        s.forced = in.number();
        s.length = 0;
        for (int i = 0; i < length; i++) {
            s.append(in.entry());
        }
        s.currentEpoch = in.number();
        s.acceptedEpoch = in.number();
        s.fastSwitch = in.zxid();
        s.latestOnDisk = in.zxid();
        s.mapOnDisk = in.map();
        s.ownView = in.view();
        s.durability = null;
        s.knowledge = null;
        if (s.recovered()) {
            readLogOwner(s);
        }
        switch (s.role) {
            case FOLLOWING -> readFollower(s);
            case LEADING -> leaders.read(w, s, this);
            case RECOVERING -> readRecovery(w, s);
            case DOWN -> {
                s.acked = s.length;
                s.flushed = Server.NOWHERE;
                s.claimed = 0;
            }
            case LOOKING -> {}
        }
    }

    private void readLogOwner(Server s) {
        s.acked = in.number();
        for (int i = s.acked; i < s.length; i++) {
            s.appendedAs[i] = (byte) in.number();
        }
        s.flushed = in.optional();
        s.claimed = in.zxid();
        long fastSwitch = in.zxid();
        long latestOnDisk = in.zxid();
        boolean fast = fastSwitch > latestOnDisk;
        s.durability =
                new LogDurability(
                        new Markers(fast ? Zxid.NONE : fastSwitch, latestOnDisk, s.mapOnDisk));
        if (fast) {
            s.durability.markedFastSwitch(fastSwitch);
        }
        for (int i = s.acked; i < s.length; i++) {
            s.tellDurability(i);
        }
        s.knowledge = new LleKnowledge(in.map());
    }

    void readQueue(Server s) {
        s.queueNext = in.number();
        int length = in.number();
        for (int i = 0; i < length; i++) {
            s.enqueue(in.entry(), null, null);
        }
        for (int i = StateWriter.firstTag(s); i < length; i++) {
            s.queueTags[i] = in.tag();
        }
        for (int i = in.number(); i < length; i++) {
            s.queueViews[i] = in.view(Entry.zxid(s.queue[i]));
        }
        s.announced = in.tag();
    }

    private void readFollower(Server s) {
        int flags = in.number();
        s.loggedInitialHistory = (flags & 1) != 0;
        s.upToDate = (flags & 2) != 0;
        s.initialHistory = in.number();
        s.upToDateAt = in.optional();
        readQueue(s);
        s.leader = in.optional();
    }

    private void readRecovery(ModelCluster w, Server s) {
        s.acked = s.length;
        s.flushed = Server.NOWHERE;
        s.claimed = 0;
        if (in.number() == 1) {
            w.recoverySteps.query(s, s.mapOnDisk);
            long lastLogged = in.zxid();
            long currentEpoch = in.number();
            long latestOnDisk = in.zxid();
            long fastSwitch = in.zxid();
            s.recovery.finish =
                    new Finish(
                            lastLogged,
                            currentEpoch,
                            latestOnDisk,
                            in.map(),
                            fastSwitch,
                            currentEpoch,
                            false);
            return;
        }
        long currentEpoch = in.number() - 1L;
        int ledEpoch = in.optional();
        int heard = in.number();
        EpochEnds log = in.epochEnds();
        LleMap map = in.map();
        Recovery recovery =
                new Recovery(
                        s.sid,
                        s.incarnation,
                        currentEpoch,
                        log,
                        w.recoverySteps.markers(s, map),
                        w.voters,
                        s.lost,
                        w.broken.contains(BrokenRule.R26_NO_NEW_ROUND));
        s.recovery = recovery;
        recovery.ledEpoch = ledEpoch;
        recovery.heard = heard;
        LleAnswer[] received = new LleAnswer[n];
        for (int j = 0; j < n; j++) {
            recovery.underway[j] = readUnderway(w, s, j);
            received[j] = readAnswer(w, s, j);
        }
        recovery.receiveAll(received);
        if (in.number() == 1) {
            long request = ((EpochEndsRequest) recovery.request).requestId();
            recovery.receive(
                    new EpochEndsAnswer(
                            s.incarnation, recovery.source + 1L, request, in.epochEnds()));
        }
        readSourceAnswer(s);
    }

    private LleAnswer readUnderway(ModelCluster w, Server asker, int from) {
        if (!answersAreLost) {
            return readAnswer(w, asker, from);
        }
        return in.number() == 0 ? null : lost;
    }

    private LleAnswer readAnswer(ModelCluster w, Server asker, int from) {
        int epoch = in.number() - 1;
        if (epoch < 0) {
            return null;
        }
        asker.recovery.promised[from] = in.number();
        long last = in.zxid();
        return new LleAnswer(
                asker.incarnation,
                from + 1L,
                epoch,
                last,
                in.map(),
                w.voters,
                Optional.empty(),
                in.zxid());
    }

    private void readSourceAnswer(Server s) {
        int kind = in.number();
        if (kind == 0) {
            return;
        }
        Recovery recovery = s.recovery;
        long source = recovery.source + 1L;
        long request =
                recovery.request instanceof EpochEndsRequest r
                        ? r.requestId()
                        : ((EntriesRequest) recovery.request).requestId();
        if (kind == 1) {
            recovery.sourceAnswer =
                    new EpochEndsAnswer(s.incarnation, source, request, in.epochEnds());
        } else if (kind <= 3) {
            int count = in.number();
            List<io.saucr.core.recovery.RecoveryMessage.Entry> entries = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                long entry = in.entry();
                entries.add(
                        new io.saucr.core.recovery.RecoveryMessage.Entry(
                                Entry.zxid(entry), Entry.transaction(entry)));
            }
            recovery.sourceAnswer =
                    new EntriesAnswer(s.incarnation, source, request, entries, kind == 2);
        } else {
            recovery.sourceAnswer =
                    new Unavailable(s.incarnation, source, request, REASONS[kind - 4]);
        }
    }
}
