package io.saucr.services.core;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * How often the first input of each channel was tried, and until when the channel pauses (K12).
 * Turn thread.
 *
 * <p>After a start the first input of each channel that was there before is recorded as tried
 * before it runs. This goes one channel after the other, each until that input's turn is final, so
 * that only what killed the process is counted: had another channel's been recorded as well, or its
 * turn been lost, it would be blamed, too.
 */
final class Attempts {

    private final Limits limits;
    private final Map<String, Integer> begun = new HashMap<>();
    private final Map<String, Long> pausedUntilSteady = new HashMap<>();
    private final Set<String> stopped = new HashSet<>();

    /** Channels of which nothing has run since the start. */
    private final Set<String> unproven = new HashSet<>();

    private Proof proof;

    /**
     * The one channel whose first input is on trial.
     *
     * @param turn of the record, or of the input once that ran
     */
    private record Proof(String channel, long turn, boolean ran) {}

    Attempts(Limits limits) {
        this.limits = limits;
    }

    void distrust(String channel) {
        unproven.add(channel);
    }

    /** Whether there is a channel of which nothing has run since the start. */
    boolean anyUnproven() {
        return !unproven.isEmpty();
    }

    /** Whether an input of it has to be recorded as tried now. */
    boolean toRecord(String channel, long steadyMillis) {
        return proof == null && unproven.contains(channel) && !waits(channel, steadyMillis);
    }

    /**
     * That was recorded.
     *
     * @param times by this start and those before
     */
    void recorded(String channel, int times, long turn) {
        proof = new Proof(channel, turn, false);
        begun.put(channel, times - 1);
    }

    /** Whether one is on trial. */
    boolean isOnTrial() {
        return proof != null;
    }

    /** Whether it had all its attempts in starts before this one. */
    boolean isSpent(int timesBefore) {
        return timesBefore >= limits.attempts();
    }

    boolean mayRun(String channel, long finalTurn, long steadyMillis) {
        if (waits(channel, steadyMillis)) {
            return false;
        }
        if (proof != null && proof.channel().equals(channel)) {
            return !proof.ran() && proof.turn() <= finalTurn;
        }
        return !unproven.contains(channel);
    }

    private boolean waits(String channel, long steadyMillis) {
        return stopped.contains(channel)
                || pausedUntilSteady.getOrDefault(channel, Long.MIN_VALUE) > steadyMillis;
    }

    void begins(String channel) {
        begun.merge(channel, 1, Integer::sum);
    }

    /** Its input was consumed by this turn. */
    void consumed(String channel, long turn) {
        begun.remove(channel);
        pausedUntilSteady.remove(channel);
        if (unproven.contains(channel)) {
            proof = new Proof(channel, turn, true);
        }
    }

    /** Nothing is left to run on it: what was recorded as tried has gone. */
    void vanished(String channel) {
        begun.remove(channel);
        if (proof != null && proof.channel().equals(channel) && !proof.ran()) {
            proof = null;
        }
    }

    void finalUpTo(long turn) {
        if (proof != null && proof.ran() && proof.turn() <= turn) {
            unproven.remove(proof.channel());
            proof = null;
        }
    }

    /**
     * Its input failed, and did not kill the process.
     *
     * @return whether it had its attempts
     */
    boolean failed(String channel, long steadyMillis) {
        unproven.remove(channel);
        if (proof != null && proof.channel().equals(channel)) {
            proof = null;
        }
        int times = begun.getOrDefault(channel, 1);
        if (times >= limits.attempts()) {
            return true;
        }
        long pause = limits.firstRetryMillis();
        for (int doubled = 1; doubled < times && pause < limits.lastRetryMillis(); doubled++) {
            pause *= 2;
        }
        pausedUntilSteady.put(channel, steadyMillis + Math.min(pause, limits.lastRetryMillis()));
        return false;
    }

    /** It waits for a person, or for a start that knows the type. */
    void stop(String channel) {
        unproven.remove(channel);
        if (proof != null && proof.channel().equals(channel)) {
            proof = null;
        }
        stopped.add(channel);
    }

    /** A person lets it continue. */
    void resume(String channel) {
        begun.remove(channel);
        pausedUntilSteady.remove(channel);
        stopped.remove(channel);
    }

    boolean isStopped(String channel) {
        return stopped.contains(channel);
    }

    /** The channel was removed. */
    void forget(String channel) {
        resume(channel);
        unproven.remove(channel);
        if (proof != null && proof.channel().equals(channel)) {
            proof = null;
        }
    }

    /** In how many milliseconds the first paused channel continues. */
    long waitMillis(long steadyMillis) {
        long least = Long.MAX_VALUE;
        for (long until : pausedUntilSteady.values()) {
            if (until > steadyMillis) {
                least = Math.min(least, until - steadyMillis);
            }
        }
        return least;
    }
}
