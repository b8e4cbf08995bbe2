package org.apache.zookeeper.server.quorum;

import io.saucr.core.recovery.RecoveryMessage;
import java.nio.ByteBuffer;

/**
 * The way of recovery messages (R18): from the election channel to this server's own recovery while
 * it recovers, else to the thread that answers others; and from both to the channel. Thread-safe.
 */
final class RecoveryChannel implements SaucrCnxManager.Recovery {
    private final ElectionGate gate = new ElectionGate(this::hearVotes);
    private volatile SaucrCnxManager elections;
    private volatile CrashRecovery recovery;
    private volatile RecoveryAnswers answers;

    /** The election channel that messages leave by. */
    void over(SaucrCnxManager channel) {
        elections = channel;
    }

    /** Who gets messages while this server recovers. */
    void recoversBy(CrashRecovery own) {
        recovery = own;
        gate.beginRecovery();
    }

    /** Who gets messages when this server does not recover. */
    void answersBy(RecoveryAnswers others) {
        answers = others;
    }

    ElectionGate gate() {
        return gate;
    }

    @Override
    public void received(long from, ByteBuffer message) {
        if (gate.recovering()) {
            recovery.received(from, message);
        } else {
            answers.received(from, message);
        }
    }

    @Override
    public void held(long from, ByteBuffer vote) {
        if (gate.recovering() && recovery.wantsVotes()) {
            recovery.received(from, vote);
        }
    }

    @Override
    public boolean recovering() {
        return gate.closed();
    }

    /** Sends a message, which may get lost. */
    void send(long sid, RecoveryMessage message) {
        elections.send(sid, message);
    }

    /** Whether the election channel has a connection to this other server. */
    boolean hears(long sid) {
        return elections.connectedToPeer(sid);
    }

    /** See {@link SaucrCnxManager#hearEarlyVotes}. */
    void hearEarlyVotes(long since, long after) {
        elections.hearEarlyVotes(since, after);
    }

    /** See {@link SaucrCnxManager#tidy}. */
    void tidy() {
        SaucrCnxManager created = elections;
        if (created != null) {
            created.tidy();
        }
    }

    private void hearVotes() {
        elections.releaseVotes();
    }
}
