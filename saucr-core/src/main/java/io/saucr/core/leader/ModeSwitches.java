package io.saucr.core.leader;

import io.saucr.core.Mode;
import io.saucr.core.leader.LeaderDecisions.Turn;
import io.saucr.core.leader.ModeController.Decision;
import io.saucr.core.leader.ModeController.Pin;
import io.saucr.core.quorum.CommitRule;

/**
 * When the mode switches (R5, R6): shows the {@link ModeController} the voters and the entries, and
 * makes its decisions those of the leader. A switch to slow mode asks for a no-op that makes
 * durable what is in memory; a no-op is also the seal of the view, if one is due (R23).
 *
 * <p>Not thread-safe: owned by its {@link LeaderState}. Times are monotonic nanoseconds.
 */
final class ModeSwitches {
    private final FailureDetector detector;
    private final CommitRule rule;
    private final ModeController controller;
    private final AckProgress progress;
    private final AckProgress.Peer own;
    private final AckProgress.Peer commits;
    private final ResponsiveVoters<?> voters;
    private final ViewSealing views;
    private final LeaderDecisions<?, ?> decisions;

    private long lastProposed;
    private long lastConfirmation;

    private boolean draining;
    private long drainStarted;

    // When the mode switched to slow, until that is durable; the last fast entry before it.
    private boolean slowNotDurable;
    private long slowSince;
    private long lastFast;

    /**
     * @param own the leader's own log
     * @param commits a peer that acks what is committed
     */
    ModeSwitches(
            FailureDetector detector,
            CommitRule rule,
            ModeController controller,
            AckProgress progress,
            AckProgress.Peer own,
            AckProgress.Peer commits,
            ResponsiveVoters<?> voters,
            ViewSealing views,
            LeaderDecisions<?, ?> decisions,
            long now) {
        this.detector = detector;
        this.rule = rule;
        this.controller = controller;
        this.progress = progress;
        this.own = own;
        this.commits = commits;
        this.voters = voters;
        this.views = views;
        this.decisions = decisions;
        this.lastConfirmation = now;
    }

    /** Continues from this state, in which everybody's promptness was looked at just now. */
    void resume(long newLastProposed, long now) {
        lastProposed = newLastProposed;
        lastConfirmation = now;
        draining = controller.draining();
    }

    /** Every entry up to the zxid is proposed. */
    void proposed(long zxid) {
        lastProposed = zxid;
    }

    /** The last entry that is proposed. */
    long lastProposed() {
        return lastProposed;
    }

    /** Every entry up to the zxid is committed. */
    void committed(long zxid, long now) {
        if (slowNotDurable && zxid > lastFast) {
            decisions.slowDurableNanos = Math.max(1, now - slowSince);
            slowNotDurable = false;
        }
    }

    /** An entry that can no longer get F acks of members does not wait for them (R6). */
    void gone(long sid, long now) {
        if (voters.count(now) <= voters.bareMajority()) {
            act(controller.tooFewPrompt(now), now, SwitchReason.GONE, sid);
        }
    }

    /** Slow until the reconfiguration is committed (R7). */
    void reconfigure(long now) {
        act(controller.pin(Pin.RECONFIGURATION, now), now, SwitchReason.RECONFIGURATION, 0);
    }

    /** An operator forbids fast mode. */
    void pin(String reason, long now) {
        act(controller.pin(Pin.OPERATOR, now), now, reason);
    }

    /** In fast mode: the leader's disk has not answered. Slow entries show whose disks answer. */
    void diskSilent(long silenceNanos, long now) {
        act(controller.overdue(now), now, SwitchReason.DISK_SILENT, silenceNanos);
    }

    /** Looks at a drain that is under way. */
    void drain(long now) {
        act(controller.drain(onDisks(now), now), now, SwitchReason.DRAINED, lastProposed);
    }

    /** In slow mode every ack may be the one that shows that fast mode is safe (R5). */
    void settled(long now) {
        if (controller.mode() == Mode.SLOW) {
            if (controller.draining()) {
                drain(now);
            } else if (!sealing(now)) {
                confirmIfDue(now);
            }
        }
    }

    /** Looks at everyone, in a round of heartbeats. */
    void round(long now) {
        boolean sealing = sealing(now);
        int prompt = voters.count(now);
        boolean tooFew = prompt <= voters.bareMajority();
        boolean late = tooFew && voters.heard(now) > voters.bareMajority();
        if (controller.mode() == Mode.FAST) {
            if (commits.owedFor(now) > detector.ackBoundNanos()) {
                act(controller.overdue(now), now, SwitchReason.ENTRY_WAITS, commits.owedFor(now));
            } else if (late) {
                act(controller.overdue(now), now, SwitchReason.ACKS_LATE, prompt);
            } else if (tooFew) {
                act(controller.silence(now), now, SwitchReason.TOO_FEW_PROMPT, prompt);
            }
            return;
        }
        if (tooFew) {
            act(controller.tooFewPrompt(now), now, SwitchReason.TOO_FEW_PROMPT, prompt);
        } else if (!sealing) {
            confirmIfDue(now);
        }
        if ((late || own.lateAndIdle()) && voters.somebodyIsLateAndIdle()) {
            act(controller.probe(now), now, SwitchReason.PROMPT, prompt);
        }
    }

    private void confirmIfDue(long now) {
        if (now - lastConfirmation < LeaderState.confirmationNanos(detector)) {
            return;
        }
        lastConfirmation = now;
        // R5 needs the leader's own disk, too.
        int prompt = own.inTime(now) ? voters.count(now) : 0;
        boolean nearlyOnDisks =
                rule.onFastQuorumOfDisks(progress.recent()) && voters.fastQuorumOfMembers(now);
        act(
                controller.promptness(
                        prompt, onDisks(now), !rule.slowEntriesCommitted(), nearlyOnDisks, now),
                now,
                SwitchReason.PROMPT,
                prompt);
    }

    /**
     * Whether fast mode could begin: F members of the view have the last slow entry on disk (R5),
     * and F of them, maybe others, are responsive.
     */
    private boolean onDisks(long now) {
        return rule.lastSlowOnFastQuorumOfDisks() && voters.fastQuorumOfMembers(now);
    }

    /**
     * Asks for a seal if one is due and its time has come (R23). In slow mode that is at once when
     * a member of the view is lost; who came may be followed by others, or find that the no-op of
     * R5 is due anyway. In fast mode it costs a mode switch, so the set has to be settled first.
     *
     * @return whether a seal is due and asked for: whatever waits for F disks waits for it, too
     */
    private boolean sealing(long now) {
        views.noteSilence(now);
        if (!views.due() || controller.draining()) {
            return false;
        }
        if (controller.mode() == Mode.FAST) {
            if (!views.settled(now)) {
                return false;
            }
            act(controller.reseal(now), now, SwitchReason.VIEW, rule.voters());
            return true;
        }
        if (views.underWay(now)) {
            return true;
        }
        if (views.tooSoon(now)) {
            return false;
        }
        askForNoop(now);
        return true;
    }

    /** The no-op is the seal, too, if one is due. */
    private void askForNoop(long now) {
        decisions.noop = true;
        views.noteSilence(now);
        if (views.due()) {
            views.asked(now);
        }
    }

    private void act(Decision decision, long now, SwitchReason reason, long number) {
        act(
                decision,
                now,
                decision == Decision.NONE
                        ? ""
                        : reason.text(number, rule.voters(), () -> voters.missing(now)));
    }

    private void act(Decision decision, long now, String reason) {
        switch (decision) {
            case NONE -> {}
            case TURN_FAST -> {
                long heldBack = draining ? now - drainStarted : 0;
                decisions.turns.add(new Turn(Mode.FAST, reason, lastProposed, heldBack));
            }
            case TURN_SLOW -> {
                decisions.turns.add(new Turn(Mode.SLOW, reason, lastProposed, 0));
                slowNotDurable = true;
                slowSince = now;
                lastFast = lastProposed;
                askForNoop(now);
            }
            case PROPOSE_NOOP -> askForNoop(now);
        }
        if (draining && !controller.draining()) {
            draining = false;
            decisions.drainOver = true;
        } else if (controller.draining() && !draining) {
            draining = true;
            drainStarted = now;
        }
    }
}
