package io.saucr.core.recovery;

import io.saucr.core.quorum.Configuration;
import io.saucr.core.recovery.RecoveryMessage.LleAnswer;
import io.saucr.core.recovery.RecoveryMessage.LleQuery;
import io.saucr.core.recovery.RecoveryProcedure.Decision;
import io.saucr.core.recovery.RecoveryProcedure.Loss;
import io.saucr.core.recovery.RecoveryProcedure.OnDisk;
import java.util.Collection;
import java.util.List;

/**
 * Answers to a server that crashed in fast mode (R16, R23): what it acked from memory alone may be
 * missing, its disk is its own.
 */
final class MemoryLossRound extends AnswerRound {
    /** Versions without R23 drop a query that asks for a view, so both kinds alternate. */
    private boolean asksForViews = true;

    MemoryLossRound(long self, long nonce, OnDisk onDisk, List<Decision> decisions) {
        super(self, nonce, onDisk, Loss.MEMORY, decisions);
    }

    @Override
    Result received(RecoveryMessage message, long now) {
        return message instanceof LleAnswer answer && enoughWith(answer)
                ? Result.ENOUGH
                : Result.WAIT;
    }

    @Override
    int needed(Configuration configuration) {
        return configuration.recoveryQuorum();
    }

    @Override
    Collection<LleAnswer> heardOf() {
        return all();
    }

    /**
     * Who has answered is asked again: it may have a newer view by now, or know of a newer
     * configuration.
     */
    @Override
    void ask() {
        for (long voter : otherVoters()) {
            send(voter, new LleQuery(nonce, self, asksForViews));
        }
        asksForViews = !asksForViews;
    }

    @Override
    boolean complete(long lastLogged, LleAnswer best) {
        return !best.isAheadOf(onDisk.currentEpoch(), lastLogged);
    }

    @Override
    long through(long recoveredLle, LleAnswer best) {
        return recoveredLle;
    }

    @Override
    long epoch(long sourceEpoch) {
        return onDisk.currentEpoch();
    }

    @Override
    long latestOnDisk(long lastLogged) {
        return Math.max(onDisk.markers().latestOnDisk(), lastLogged);
    }
}
