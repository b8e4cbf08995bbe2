package io.saucr.model.cluster;

import io.saucr.core.log.LleMap;
import io.saucr.core.log.Markers;
import io.saucr.core.quorum.Configuration;
import io.saucr.core.quorum.View;
import io.saucr.core.recovery.EpochEnds;
import io.saucr.core.recovery.RecoveryMessage;
import io.saucr.core.recovery.RecoveryMessage.EpochEndsAnswer;
import io.saucr.core.recovery.RecoveryMessage.LleAnswer;
import io.saucr.core.recovery.RecoveryMessage.LostAnswer;
import io.saucr.core.recovery.RecoveryMessage.SourceAnswer;
import io.saucr.core.recovery.RecoveryProcedure;
import io.saucr.core.recovery.RecoveryProcedure.Decision;
import io.saucr.core.recovery.RecoveryProcedure.Finish;
import io.saucr.core.recovery.RecoveryProcedure.Loss;
import io.saucr.core.recovery.RecoveryProcedure.OnDisk;
import io.saucr.core.recovery.RecoveryProcedure.Patience;
import io.saucr.core.recovery.RecoveryProcedure.Send;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The recovery of one process: the product's {@link RecoveryProcedure}, the answers that are on
 * their way to it, the request that its source has not answered yet, and what is left to write.
 */
final class Recovery {
    static final int SILENCE = 10;

    private static final Patience PATIENCE = new Patience(1, SILENCE);
    private static final int LONGEST_ENTRY = 2;

    /** How much an answer of a newer view than the own one weighs. */
    private static final int NEWER = 2;

    final OnDisk onDisk;
    final RecoveryProcedure procedure;

    /** Whether the disk was lost (R26). */
    final boolean lost;

    private final int self;

    /** Whether answers that do not count yet are kept until all others were heard. */
    private final boolean keepsEarly;

    /** Answers that are on their way, by server. */
    final LleAnswer[] underway;

    /**
     * The newest epoch whose established leader has answered, {@link Server#NOWHERE} before that:
     * only what is answered after that counts, and by nobody who has promised more (R26).
     */
    int ledEpoch = Server.NOWHERE;

    /**
     * Who was heard since the process began, counted or not, as bits; and the asker itself, once
     * the answers count that are given after all others were heard (R26).
     */
    int heard;

    /** The newest epochs that those who answered had promised to, 0 unless the disk was lost. */
    final long[] promised;

    /** Answers that were received since the procedure began, by server. */
    final LleAnswer[] received;

    /** The source's epoch ends, once they were received. */
    EpochEndsAnswer epochEnds;

    /** What the source has not been asked yet, or null. */
    RecoveryMessage request;

    int source = Server.NOWHERE;

    /** The source's answer that is on its way, or null. */
    SourceAnswer sourceAnswer;

    /** The last step, when all but the markers is written. */
    Finish finish;

    Recovery(
            long sid,
            long nonce,
            long currentEpoch,
            EpochEnds log,
            Markers markers,
            Configuration voters,
            boolean lost,
            boolean keepsEarly) {
        self = (int) sid - 1;
        this.lost = lost;
        this.keepsEarly = keepsEarly;
        onDisk = new OnDisk(currentEpoch, log, markers, voters, Optional.empty());
        procedure =
                lost
                        ? RecoveryProcedure.ofLostDisk(
                                sid, nonce, onDisk, Loss.DISK, PATIENCE, LONGEST_ENTRY)
                        : new RecoveryProcedure(sid, nonce, onDisk, PATIENCE, LONGEST_ENTRY);
        underway = new LleAnswer[voters.voters().size()];
        received = new LleAnswer[underway.length];
        promised = new long[underway.length];
        procedure.start(0);
    }

    boolean asksForAnswers() {
        return procedure.state() == RecoveryProcedure.State.QUERYING;
    }

    boolean asksSource() {
        return source != Server.NOWHERE && finish == null;
    }

    /**
     * Feeds an answer, and returns what is to be done about the disk.
     *
     * @param epoch the newest that a server which answered had promised to
     */
    List<Decision> receive(int from, LleAnswer answer, long epoch) {
        received[from] = answer;
        promised[from] = epoch;
        if (keepsEarly && lost && !afterAll() && epoch > ledEpoch) {
            return List.of();
        }
        return feed(from, answer);
    }

    /**
     * Feeds all answers that were received, in an order in which they may have come: the procedure
     * looks at those that it has got when they are enough, and at no later one. So those come last
     * that make them enough (R23): of members of the own view, then one of a newer view.
     *
     * @param answers by server, null of who has not answered
     */
    void receiveAll(LleAnswer[] answers) {
        for (int weight = 0; weight <= NEWER; weight++) {
            for (int from = 0; from < answers.length; from++) {
                if (answers[from] != null && weight(answers[from]) == weight) {
                    receive(from, answers[from], promised[from]);
                }
            }
        }
    }

    /** The own view, as the procedure is told it. */
    View ownView() {
        return onDisk.markers().view();
    }

    private int weight(LleAnswer answer) {
        View own = ownView();
        if (own.isOlderThan(answer.ownView())) {
            return NEWER;
        }
        return own.includes(answer.sender()) ? 1 : 0;
    }

    private List<Decision> feed(int from, LleAnswer answer) {
        RecoveryMessage message = lost ? asOfALeader(answer) : answer;
        return remember(procedure.received(from + 1L, message, 0));
    }

    /** Whether all others were heard before the answers that count. */
    boolean afterAll() {
        return (heard & 1 << self) != 0;
    }

    /** Whether all others were heard. */
    boolean allHeard() {
        return (heard | 1 << self) == (1 << received.length) - 1;
    }

    /** From now on answers count without a leader's. */
    void beginAfterAll() {
        heard |= 1 << self;
    }

    /** Feeds what was kept, and returns what is to be done about the disk. */
    List<Decision> feedEarly() {
        List<Decision> decisions = new ArrayList<>();
        for (int from = 0; from < received.length; from++) {
            if (received[from] != null && asksForAnswers()) {
                decisions.addAll(feed(from, received[from]));
            }
        }
        return decisions;
    }

    /**
     * The answer in the form that the product's procedure takes after a lost disk. Whose answers
     * count is decided by {@link RecoveryQueries}, which can break that rule (R26); the procedure
     * is told that a leader sent each of them in the present round, and so counts them all.
     */
    private LostAnswer asOfALeader(LleAnswer answer) {
        return new LostAnswer(
                answer.nonce(),
                answer.sender(),
                procedure.round(),
                true,
                Math.max(0, ledEpoch),
                answer);
    }

    /** The newest epoch that a server which answered has promised to. */
    private long mostPromised() {
        long most = 0;
        for (long epoch : promised) {
            most = Math.max(most, epoch);
        }
        return most;
    }

    /** Feeds the source's answer. */
    List<Decision> receive(SourceAnswer answer) {
        if (answer instanceof EpochEndsAnswer theirs) {
            epochEnds = theirs;
        }
        request = null;
        sourceAnswer = null;
        return remember(procedure.received(answer.sender(), answer, 0));
    }

    private List<Decision> remember(List<Decision> decisions) {
        for (Decision decision : decisions) {
            if (decision instanceof Send send
                    && !(send.message() instanceof RecoveryMessage.LleQuery)
                    && !(send.message() instanceof RecoveryMessage.LostQuery)) {
                request = send.message();
                source = (int) send.to() - 1;
            } else if (decision instanceof Finish last) {
                finish = lost ? withPromise(last) : last;
                request = null;
            }
        }
        return decisions;
    }

    private Finish withPromise(Finish last) {
        return new Finish(
                last.lastLogged(),
                last.currentEpoch(),
                last.latestOnDisk(),
                last.lleMap(),
                last.fastSwitch(),
                Math.max(last.currentEpoch(), mostPromised()),
                last.staged());
    }

    /**
     * L': how far the log has to reach again at least, by its own map and the answers (R16, R23).
     */
    long through() {
        long through = merged().get(self + 1L);
        for (LleAnswer answer : received) {
            if (answer != null) {
                through = Math.max(through, answer.ownView());
            }
        }
        return through;
    }

    /** Its own map, merged with those of the answers. */
    LleMap merged() {
        LleMap merged = onDisk.markers().lleMap();
        for (LleAnswer answer : received) {
            if (answer != null) {
                merged = merged.merge(answer.lleMap());
            }
        }
        return merged;
    }
}
