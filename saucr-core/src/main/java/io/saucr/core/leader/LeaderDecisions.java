package io.saucr.core.leader;

import io.saucr.core.Mode;
import java.util.ArrayList;
import java.util.List;

/**
 * What a leader has to do after an event, by kind. {@link LeaderState} fills it in; the owner of
 * the leader's lock carries it out before the next event, in the order of the methods here, and
 * calls {@link #clear()}. The storage is used again: nothing is allocated for a proposal.
 *
 * @param <C> what the leader's shell reads and writes
 * @param <S> a sync
 */
public final class LeaderDecisions<C, S> {

    /** Why a connection is closed. */
    public enum Why {
        /** Its server has connected anew (R21). */
        REPLACED,
        /** Its process is dead, and another one recovers (R20). */
        RESTARTED,
        /** It has not acknowledged for too long what others have (R24). */
        ACKS_TOO_LATE
    }

    /**
     * A connection that is to be closed, not necessarily under the lock.
     *
     * @param lateNanos for how long an ack has been owed, 0 if that is not why
     */
    public record Closing<C>(FollowerConnection<C> connection, Why why, long lateNanos) {}

    /**
     * The mode has changed.
     *
     * @param mode of the next proposal
     * @param reason for an operator
     * @param lastProposed the last entry of the other mode
     * @param heldBackNanos how long proposals were held back for it (R5)
     */
    public record Turn(Mode mode, String reason, long lastProposed, long heldBackNanos) {}

    final List<Closing<C>> closings = new ArrayList<>();
    final List<Turn> turns = new ArrayList<>();
    final List<FollowerConnection<C>> greetings = new ArrayList<>();
    final List<FollowerConnection<C>> pings = new ArrayList<>();
    final List<FollowerConnection<C>> asked = new ArrayList<>();
    final List<S> answers = new ArrayList<>();
    long slowDurableNanos;
    boolean drainOver;
    boolean noop;
    long question;
    long stepDownNanos;

    LeaderDecisions() {}

    /**
     * How long it took, nanoseconds, until what was fast before the last switch to slow mode was
     * durable; 0 if that is not so just now.
     */
    public long slowDurableNanos() {
        return slowDurableNanos;
    }

    /** The switches of the mode, to be reported. */
    public List<Turn> turns() {
        return turns;
    }

    /** Whether a proposal that is held back may continue, or look again (R5). */
    public boolean drainOver() {
        return drainOver;
    }

    /** Whether a no-op is to be proposed, for whatever reasons (R5, R6, R22, R23). */
    public boolean noop() {
        return noop;
    }

    /** Followers that are to be pinged, and told by it that this leader sends heartbeats (R9). */
    public List<FollowerConnection<C>> greetings() {
        return greetings;
    }

    /** Followers that are to be pinged (R9). */
    public List<FollowerConnection<C>> pings() {
        return pings;
    }

    /** Syncs that are to be answered, in their order (R22). */
    public List<S> answers() {
        return answers;
    }

    /** Followers that are to be asked {@link #question()} (R22). */
    public List<FollowerConnection<C>> asked() {
        return asked;
    }

    /** The number of a new question; 0 if there is none. */
    public long question() {
        return question;
    }

    /** Connections that are to be closed. */
    public List<Closing<C>> closings() {
        return closings;
    }

    /**
     * For how long this server's own log has been late, if it must not lead any more (R24); else 0.
     */
    public long stepDownNanos() {
        return stepDownNanos;
    }

    /** Everything has been carried out. */
    public void clear() {
        closings.clear();
        turns.clear();
        greetings.clear();
        pings.clear();
        asked.clear();
        answers.clear();
        slowDurableNanos = 0;
        drainOver = false;
        noop = false;
        question = 0;
        stepDownNanos = 0;
    }
}
