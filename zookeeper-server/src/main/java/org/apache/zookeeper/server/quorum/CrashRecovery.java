package org.apache.zookeeper.server.quorum;

import io.saucr.core.LogOutline;
import io.saucr.core.Markers;
import io.saucr.core.RecoveryMessage;
import io.saucr.core.RecoveryProcedure;
import io.saucr.core.RecoveryProcedure.Append;
import io.saucr.core.RecoveryProcedure.Decision;
import io.saucr.core.RecoveryProcedure.DiscardStaged;
import io.saucr.core.RecoveryProcedure.Finish;
import io.saucr.core.RecoveryProcedure.OnDisk;
import io.saucr.core.RecoveryProcedure.Patience;
import io.saucr.core.RecoveryProcedure.Send;
import io.saucr.core.RecoveryProcedure.StageSnapshot;
import io.saucr.core.RecoveryProcedure.State;
import io.saucr.core.RecoveryProcedure.Status;
import io.saucr.core.RecoveryProcedure.Truncate;
import io.saucr.core.RecoveryWire;
import io.saucr.core.Zxid;
import io.saucr.server.RecoveryProgress;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.server.persistence.RecoveryStore;
import org.apache.zookeeper.server.persistence.SaucrTxnSnapLog;
import org.apache.zookeeper.server.quorum.flexible.QuorumVerifier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the recovery of a server that crashed in fast mode (R15 to R19): feeds the procedure with
 * messages and time, and carries out what it decides. {@link #run} belongs to the peer's main
 * thread; messages may come in from any.
 */
final class CrashRecovery {
    private static final Logger LOG = LoggerFactory.getLogger(CrashRecovery.class);

    private static final Patience PATIENCE =
            new Patience(TimeUnit.MILLISECONDS.toNanos(100), TimeUnit.SECONDS.toNanos(2));
    private static final int LARGEST_TRANSACTION = 64 * 1024 * 1024;
    private static final int INBOX = 256;
    private static final long REPORT_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final SaucrQuorumPeer peer;
    private final RecoveryStore store;
    private final LogOutline outline;
    private final Markers markers;
    private final long nonce;
    private final BlockingQueue<Incoming> inbox = new ArrayBlockingQueue<>(INBOX);
    private final RefusedMessages malformed = new RefusedMessages();
    private final long startedNanos = System.nanoTime();
    private volatile RecoveryProgress progress;
    private long entries;
    private long bytes;

    private record Incoming(long from, ByteBuffer packet) {}

    /**
     * Cuts the log where it is damaged.
     *
     * @param nonce of this process (R18a)
     * @param currentEpoch as the disk says; the peer has not read it yet
     */
    CrashRecovery(
            SaucrQuorumPeer peer,
            SaucrTxnSnapLog txnSnapLog,
            Markers markers,
            long nonce,
            long currentEpoch)
            throws IOException {
        this.peer = peer;
        this.markers = markers;
        this.nonce = nonce;
        this.store =
                new RecoveryStore(
                        txnSnapLog.getDataLogDir().toPath(),
                        txnSnapLog.getSnapDir().toPath(),
                        txnSnapLog.markerStore());
        this.outline = store.prepare(currentEpoch);
    }

    void received(long from, ByteBuffer packet) {
        if (!inbox.offer(new Incoming(from, packet))) {
            LOG.debug("An answer of server {} was dropped, {} are waiting", from, INBOX);
        }
    }

    /** What an operator may know (R19); null before the first query. */
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
        RecoveryProcedure procedure =
                new RecoveryProcedure(
                        peer.getMyId(),
                        nonce,
                        new OnDisk(
                                peer.getCurrentEpoch(),
                                outline,
                                markers,
                                RecoveryAnswers.configuration(committed),
                                newest != null && newest.getVersion() > committed.getVersion()
                                        ? Optional.of(RecoveryAnswers.configuration(newest))
                                        : Optional.empty()),
                        PATIENCE,
                        LARGEST_TRANSACTION);
        LOG.warn(
                "This server crashed in fast mode: fast since {}, on disk through {}, its log ends at {}. It asks the"
                        + " others what it had logged, and takes part in nothing before it has that",
                Zxid.toString(markers.fastSwitch()),
                Zxid.toString(markers.latestOnDisk()),
                Zxid.toString(outline.last()));
        long reportAt = System.nanoTime() + REPORT_NANOS;
        carryOut(procedure.start(System.nanoTime()));
        while (procedure.state() != State.RECOVERED) {
            progress = new RecoveryProgress(procedure.status(), entries, bytes, elapsedMillis());
            if (!peer.isRunning()) {
                return false;
            }
            Incoming incoming = inbox.poll(PATIENCE.repeat() / 2, TimeUnit.NANOSECONDS);
            if (incoming != null) {
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
        LOG.info(
                "Recovered through {} in {} ms: {} entries, {} bytes copied, answers from {}",
                Zxid.toString(status.lastLogged()),
                elapsedMillis(),
                entries,
                bytes,
                status.answered());
        return true;
    }

    private long elapsedMillis() {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startedNanos);
    }

    private void receive(RecoveryProcedure procedure, Incoming incoming) throws IOException {
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
        carryOut(procedure.received(incoming.from, message, System.nanoTime()));
    }

    private void carryOut(List<Decision> decisions) throws IOException {
        for (Decision decision : decisions) {
            if (decision instanceof Send send) {
                peer.send(send.to(), send.message());
            } else if (decision instanceof Truncate truncate) {
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
    }

    /** The order is the procedure's: history, epochs, markers. */
    private void finish(Finish finish) throws IOException {
        store.install(finish);
        if (peer.getAcceptedEpoch() < finish.currentEpoch()) {
            peer.setAcceptedEpoch(finish.currentEpoch());
        }
        if (peer.getCurrentEpoch() < finish.currentEpoch()) {
            peer.setCurrentEpoch(finish.currentEpoch());
        }
        store.mark(finish);
    }
}
