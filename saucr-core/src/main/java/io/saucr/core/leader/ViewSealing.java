package io.saucr.core.leader;

import io.saucr.core.quorum.CommitRule;
import io.saucr.core.quorum.View;
import java.util.List;

/**
 * When the view of those who count is sealed (R23). A seal is due if the voters that count, or
 * would if a seal said so, are others than the members of the newest one. Its time has come at once
 * when a member is lost; who came may be followed by others. A set that keeps changing is sealed
 * ever more rarely, up to a limit.
 *
 * <p>Not thread-safe: owned by its {@link LeaderState}. Times are monotonic nanoseconds.
 */
final class ViewSealing {
    /**
     * The longest time between two seals of a set that keeps changing; when none was needed for
     * twice as long, the next one is at once again.
     */
    private static final long MOST_DELAY_NANOS = 1_000_000_000L;

    /**
     * After so many silent intervals a follower is sealed out although its connection stands, as
     * one is whose machine has lost power. A late heartbeat changes no view.
     */
    private static final int SILENT_INTERVALS = 4;

    private final CommitRule rule;
    private final FailureDetector detector;
    private final List<? extends FollowerConnection<?>> connections;

    /** How often the set is looked at. */
    private final long confirmationNanos;

    private final long settledNanos;

    /** Of the newest seal, null before the first. */
    private View view;

    /** When the set of those who count last changed. */
    private long changedAt;

    /** Whether a seal is asked for that is not proposed yet. */
    private boolean asked;

    /** When one was last asked for, and how long the next one has to wait, if it is soon. */
    private long askedAt;

    private long delay;

    /**
     * @param connections everyone who is connected, as it changes
     * @param settledNanos see {@link LeaderState}'s constructor
     */
    ViewSealing(
            CommitRule rule,
            FailureDetector detector,
            List<? extends FollowerConnection<?>> connections,
            long settledNanos,
            long now) {
        this.rule = rule;
        this.detector = detector;
        this.connections = connections;
        this.confirmationNanos = LeaderState.confirmationNanos(detector);
        this.settledNanos = settledNanos;
        this.changedAt = now;
    }

    /** The view of the newest seal of this term; null before the first. */
    View view() {
        return view;
    }

    /** Continues with this view. */
    void resume(View newest) {
        view = newest;
    }

    /** The configuration is another than before. */
    void changed(long now) {
        changedAt = now;
    }

    /**
     * A connection has come or gone. A server that can be in no view does not keep others waiting.
     */
    void changed(FollowerConnection<?> connection, long now) {
        if (connection.synced && connection.keepsViews && rule.voter(connection.sid())) {
            changedAt = now;
        }
    }

    /** Takes note of who is silent by now: that counts as gone. */
    void noteSilence(long now) {
        for (int i = 0; i < connections.size(); i++) {
            FollowerConnection<?> each = connections.get(i);
            boolean silent = detector.silentIntervals(each.lastHeard(), now) >= SILENT_INTERVALS;
            if (rule.silent(each.sid(), silent)) {
                changed(each, now);
            }
        }
    }

    /** Whether a seal is due, by the silence that was taken note of. */
    boolean due() {
        return rule.sealDue();
    }

    /** In fast mode a seal costs two mode switches, so the set has to be settled first. */
    boolean settled(long now) {
        return now - changedAt >= settledNanos;
    }

    /** In slow mode: whether a seal was asked for a short time ago, and is not proposed yet. */
    boolean underWay(long now) {
        return settledNanos > 0 && asked && now - askedAt < MOST_DELAY_NANOS;
    }

    /** In slow mode: whether others may follow who came, or the last seal was too recent. */
    boolean tooSoon(long now) {
        if (settledNanos == 0) {
            return false;
        }
        long sinceAsked = now - askedAt;
        if (delay > 0 && sinceAsked >= 2 * MOST_DELAY_NANOS) {
            delay = 0;
        }
        return (delay > 0 && sinceAsked < delay)
                || (rule.viewIsWhole() && now - changedAt < confirmationNanos);
    }

    /** The no-op that is asked for is the seal, too. */
    void asked(long now) {
        asked = true;
        askedAt = now;
        delay = delay == 0 ? confirmationNanos : Math.min(2 * delay, MOST_DELAY_NANOS);
    }

    /** A no-op is proposed; it may become a seal. */
    void noopComes() {
        asked = false;
    }

    /** The no-op with this zxid, a slow one, seals the view of those who count from now on. */
    void seal(long zxid) {
        view = rule.proposeSeal(zxid);
    }
}
