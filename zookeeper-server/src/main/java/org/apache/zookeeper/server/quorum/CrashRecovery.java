package org.apache.zookeeper.server.quorum;

import io.saucr.core.Zxid;
import io.saucr.core.log.Markers;
import io.saucr.core.quorum.View;
import io.saucr.core.recovery.EpochEnds;
import io.saucr.core.recovery.RecoveryMessage;
import io.saucr.core.recovery.RecoveryMessage.LostQuery;
import io.saucr.core.recovery.RecoveryMessage.NoAnswer;
import io.saucr.core.recovery.RecoveryProcedure;
import io.saucr.core.recovery.RecoveryProcedure.Append;
import io.saucr.core.recovery.RecoveryProcedure.Decision;
import io.saucr.core.recovery.RecoveryProcedure.DiscardStaged;
import io.saucr.core.recovery.RecoveryProcedure.Finish;
import io.saucr.core.recovery.RecoveryProcedure.Loss;
import io.saucr.core.recovery.RecoveryProcedure.OnDisk;
import io.saucr.core.recovery.RecoveryProcedure.Patience;
import io.saucr.core.recovery.RecoveryProcedure.Send;
import io.saucr.core.recovery.RecoveryProcedure.StageSnapshot;
import io.saucr.core.recovery.RecoveryProcedure.State;
import io.saucr.core.recovery.RecoveryProcedure.Status;
import io.saucr.core.recovery.RecoveryProcedure.Truncate;
import io.saucr.core.recovery.RecoveryWire;
import io.saucr.core.recovery.StartAssessment;
import io.saucr.core.recovery.StartAssessment.Verdict;
import io.saucr.server.runtime.RecoveryProgress;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.server.ServerArchive;
import org.apache.zookeeper.server.persistence.MarkerStore;
import org.apache.zookeeper.server.persistence.RecoveryStore;
import org.apache.zookeeper.server.persistence.SaucrTxnSnapLog;
import org.apache.zookeeper.server.quorum.flexible.QuorumVerifier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the recovery of a server that may lack what it acknowledged (R15 to R19, R26): passes
 * messages and the time to the procedure, and carries out what it decides. {@link #run} belongs to
 * the peer's main thread; messages may come in on any thread.
 */
final class CrashRecovery {
    private static final Logger LOG = LoggerFactory.getLogger(CrashRecovery.class);

    private static final Patience PATIENCE =
            new Patience(TimeUnit.MILLISECONDS.toNanos(100), TimeUnit.SECONDS.toNanos(2));
    private static final int INBOX = 256;

    // Offsets and values in a notification of ZooKeeper's election.
    private static final int VOTE_OF_WHO_LOOKS = 0;
    private static final int VOTE_ZXID = 12;
    private static final int VOTE_EPOCH = 28;
    private static final int VOTE_BYTES = 40;

    /**
     * Enough for the answers of all voters of a large ensemble; what exceeds it is dropped, as any
     * peer may send.
     */
    private static final int INBOX_BYTES = 16 * 1024 * 1024;

    private static final long REPORT_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final SaucrQuorumPeer peer;
    private final EpochFiles epochs;
    private final RecoveryChannel channel;
    private final MarkerStore markerStore;
    private final RecoveryStore store;
    private final long currentEpoch;
    private final EpochEnds epochEnds;
    private final Markers markers;
    private final Loss loss;
    private final StartAssessment assessment;
    private final long nonce;
    private boolean markedLost;
    private boolean logRemoved;
    private final BlockingQueue<Incoming> inbox = new ArrayBlockingQueue<>(INBOX);
    private final AtomicInteger inboxBytes = new AtomicInteger();
    private final LogRateLimiter malformed = new LogRateLimiter();
    private final long startedNanos = System.nanoTime();
    private volatile RecoveryProgress progress;
    private long entries;
    private long bytes;

    private record Incoming(long from, ByteBuffer packet) {}

    /**
     * Cuts the log where it is damaged.
     *
     * @param nonce of this process (R18a)
     * @param loss what it lost
     * @param assessment why it recovers
     */
    CrashRecovery(
            SaucrQuorumPeer peer,
            SaucrTxnSnapLog txnSnapLog,
            EpochFiles epochs,
            RecoveryChannel channel,
            Markers markers,
            long nonce,
            Loss loss,
            StartAssessment assessment)
            throws IOException {
        this.peer = peer;
        this.epochs = epochs;
        this.channel = channel;
        this.markers = markers;
        this.loss = loss;
        this.assessment = assessment;
        this.nonce = nonce;
        this.markerStore = txnSnapLog.markerStore();
        this.store =
                new RecoveryStore(
                        txnSnapLog.getDataLogDir().toPath(),
                        txnSnapLog.getSnapDir().toPath(),
                        markerStore);
        this.currentEpoch = RecoveryStore.currentEpochIn(txnSnapLog.getSnapDir().toPath());
        if (loss == Loss.DISK) {
            markLost();
        }
        this.epochEnds =
                switch (loss) {
                    case MEMORY -> store.prepare(currentEpoch);
                    case DISK -> store.prepareLost();
                    case EVERYTHING -> store.prepareWhole();
                };
    }

    void received(long from, ByteBuffer packet) {
        int length = packet.remaining();
        if (inboxBytes.addAndGet(length) > INBOX_BYTES
                || !inbox.offer(new Incoming(from, packet))) {
            inboxBytes.addAndGet(-length);
            LOG.debug("An answer of server {} was dropped, {} are waiting", from, inbox.size());
        }
    }

    /** Whether votes of others show whether the ensemble is new (R26). */
    boolean wantsVotes() {
        return assessment.verdict() == Verdict.EMPTY;
    }

    /** The last entry that was on the disk when the recovery began. */
    long lastOnDisk() {
        return epochEnds.last();
    }

    View ownView() {
        return loss.ownView(markers);
    }

    boolean lostDisk() {
        return loss.ofDisk();
    }

    /** The progress for operators (R19); null before the first query. */
    RecoveryProgress progress() {
        return progress;
    }

    /**
     * Returns when this server has regained what it may have logged, and everything about it is
     * durable.
     *
     * @return false if the server was stopped before
     */
    boolean run() throws IOException, InterruptedException {
        QuorumVerifier committed = peer.getQuorumVerifier();
        QuorumVerifier newest = peer.getLastSeenQuorumVerifier();
        OnDisk onDisk =
                new OnDisk(
                        Math.max(0, currentEpoch),
                        epochEnds,
                        markers,
                        RecoveryAnswers.configuration(committed),
                        newest != null && newest.getVersion() > committed.getVersion()
                                ? Optional.of(RecoveryAnswers.configuration(newest))
                                : Optional.empty());
        RecoveryProcedure procedure =
                loss.ofDisk()
                        ? RecoveryProcedure.ofLostDisk(
                                peer.getMyId(),
                                nonce,
                                onDisk,
                                loss,
                                PATIENCE,
                                ServerArchive.LARGEST_BYTES)
                        : new RecoveryProcedure(
                                peer.getMyId(),
                                nonce,
                                onDisk,
                                PATIENCE,
                                ServerArchive.LARGEST_BYTES);
        if (loss == Loss.EVERYTHING) {
            LOG.info(
                    "This server is empty. It asks the others whether the ensemble is new, or what it"
                            + " had, and takes part in nothing before it knows");
        } else {
            LOG.warn(
                    "This server may lack acknowledged writes: {}; {}. It asks the others what it"
                            + " had logged, and takes part in nothing before it has that",
                    assessment.reason(),
                    loss.ofDisk()
                            ? "it builds on nothing that it has"
                            : "its log ends at " + Zxid.toString(epochEnds.last()));
        }
        long reportAt = System.nanoTime() + REPORT_NANOS;
        carryOut(procedure.start(System.nanoTime()));
        while (procedure.state() != State.RECOVERED) {
            progress = new RecoveryProgress(procedure.status(), entries, bytes, elapsedMillis());
            if (!peer.isRunning()) {
                return false;
            }
            Incoming incoming = inbox.poll(PATIENCE.repeat() / 2, TimeUnit.NANOSECONDS);
            if (incoming != null) {
                inboxBytes.addAndGet(-incoming.packet.remaining());
                receive(procedure, incoming);
            }
            carryOut(procedure.tick(System.nanoTime()));
            if (System.nanoTime() - reportAt >= 0) {
                reportAt += REPORT_NANOS;
                LOG.warn("Still recovering: {}", progress.sentence());
            }
        }
        Status status = procedure.status();
        progress = new RecoveryProgress(status, entries, bytes, elapsedMillis());
        if (isNew(status)) {
            LOG.info("The ensemble is new, and so is this server: it takes part");
            return true;
        }
        LOG.info(
                "Recovered through {} in {} ms: {} entries, {} bytes copied, answers from {}",
                Zxid.toString(status.lastLogged()),
                elapsedMillis(),
                entries,
                bytes,
                status.answered());
        return true;
    }

    /** Whether there was nothing to recover after all; after {@link #run}. */
    boolean foundNewEnsemble() {
        return progress != null && isNew(progress.status());
    }

    /** Whether an empty server was told that the others are empty, too. */
    private boolean isNew(Status status) {
        return loss == Loss.EVERYTHING && status.source().isEmpty() && status.lastLogged() == 0;
    }

    private long elapsedMillis() {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startedNanos);
    }

    private void receive(RecoveryProcedure procedure, Incoming incoming) throws IOException {
        if (!RecoveryWire.isRecoveryMessage(incoming.packet)) {
            carryOut(procedure.voted(incoming.from, isEmptyVote(incoming.packet)));
            return;
        }
        RecoveryMessage message;
        try {
            message = RecoveryWire.decode(incoming.packet);
        } catch (IllegalArgumentException e) {
            long count = malformed.refused(incoming.from, System.nanoTime());
            if (count > 0) {
                LOG.warn(
                        "{} malformed recovery messages of server {} were dropped, the last one: {}",
                        count,
                        incoming.from,
                        e.getMessage());
            }
            return;
        }
        if (message instanceof LostQuery query) {
            if (query.sender() == incoming.from) {
                channel.send(
                        incoming.from,
                        new NoAnswer(query.nonce(), peer.getMyId(), loss == Loss.EVERYTHING));
            }
            return;
        }
        carryOut(procedure.received(incoming.from, message, System.nanoTime()));
    }

    /**
     * Whether a notification of ZooKeeper's election comes from a server that looks for a leader
     * and has no history, and neither has the server that it votes for.
     */
    private static boolean isEmptyVote(ByteBuffer packet) {
        ByteBuffer vote = packet.duplicate();
        vote.clear();
        if (vote.remaining() < VOTE_BYTES) {
            return false;
        }
        boolean looking = vote.getInt(0) == VOTE_OF_WHO_LOOKS;
        return looking && vote.getLong(VOTE_ZXID) == 0 && vote.getLong(VOTE_EPOCH) == 0;
    }

    /** Called once enough others have answered: what is left of the lost log is not needed. */
    private void removeLostLog() throws IOException {
        if (loss == Loss.DISK && !logRemoved) {
            store.removeLog();
            logRemoved = true;
        }
    }

    private void markLost() throws IOException {
        if (!markedLost) {
            markerStore.markLost(epochs.identityOfLoss());
            markedLost = true;
        }
    }

    private void carryOut(List<Decision> decisions) throws IOException {
        for (Decision decision : decisions) {
            if (decision instanceof Send send) {
                channel.send(send.to(), send.message());
            } else {
                peer.diskWatch().run("writing what is recovered", () -> write(decision));
            }
        }
    }

    private void write(Decision decision) throws IOException {
        if (loss.ofDisk()) {
            markLost();
            removeLostLog();
        }
        if (decision instanceof Truncate truncate) {
            LOG.warn(
                    "The log is cut after {}: what follows is not in the source's",
                    Zxid.toString(truncate.zxid()));
            store.truncate(truncate.zxid());
        } else if (decision instanceof Append append) {
            store.append(append);
            for (RecoveryMessage.Entry entry : append.entries()) {
                entries++;
                bytes += entry.transaction().length();
            }
        } else if (decision instanceof StageSnapshot part) {
            store.stage(part);
            bytes += part.bytes().length();
        } else if (decision instanceof DiscardStaged) {
            store.discardStaged();
        } else if (decision instanceof Finish finish) {
            finish(finish);
        }
    }

    /** The order is the procedure's: history, epochs, markers. */
    private void finish(Finish finish) throws IOException {
        store.install(finish);
        if (!loss.ofDisk() && markerStore.identity().isEmpty()) {
            // The epoch file is about to name this log: a crash must not make it look lost.
            if (!markerStore.hasLatestOnDisk()) {
                markerStore.writeLatestOnDisk(
                        markers.latestOnDisk(), markers.lleMap(), markers.view());
            }
            markerStore.writeIdentity(epochs.identityOfLoss());
        }
        if (peer.getAcceptedEpoch() < finish.acceptedEpoch()) {
            peer.setAcceptedEpoch(finish.acceptedEpoch());
        }
        if (loss.ofDisk() || peer.getCurrentEpoch() != finish.currentEpoch()) {
            peer.setCurrentEpoch(finish.currentEpoch());
        }
        if (loss.ofDisk()) {
            store.markFound(finish);
        } else {
            store.mark(finish);
        }
    }
}
