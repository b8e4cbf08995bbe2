package io.saucr.core.recovery;

import io.saucr.core.quorum.Configuration;
import io.saucr.core.quorum.View;
import io.saucr.core.recovery.RecoveryMessage.LleAnswer;
import io.saucr.core.recovery.RecoveryProcedure.Decision;
import io.saucr.core.recovery.RecoveryProcedure.Loss;
import io.saucr.core.recovery.RecoveryProcedure.OnDisk;
import io.saucr.core.recovery.RecoveryProcedure.Send;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The answers of the other voters to a recovering server's queries, and whether they are enough
 * (R16, R23). What counts and how many are needed depends on what the server has lost.
 *
 * <p>Not thread-safe: owned by its {@link RecoveryProcedure}.
 */
abstract sealed class AnswerRound permits MemoryLossRound, DiskLossRound {
    final long self;
    final long nonce;
    final OnDisk onDisk;
    private final List<Decision> decisions;
    private final Map<Long, LleAnswer> answers = new TreeMap<>();
    private final Loss loss;
    private long number = 1;
    private long sentAt;

    /** What follows from a message. */
    enum Result {
        /** More answers are needed. */
        WAIT,
        /** The answers are enough. */
        ENOUGH,
        /** The ensemble is new, and this server with it: there is nothing to recover. */
        NEW
    }

    /**
     * @param decisions gets what is to be sent
     */
    AnswerRound(long self, long nonce, OnDisk onDisk, Loss loss, List<Decision> decisions) {
        this.self = self;
        this.nonce = nonce;
        this.onDisk = onDisk;
        this.loss = loss;
        this.decisions = decisions;
    }

    /** An answer, or anything else that another server reports, came in. */
    abstract Result received(RecoveryMessage message, long now);

    /** Another server's vote shows whether it has a history. */
    Result voted(long from, boolean isBlank) {
        return Result.WAIT;
    }

    /** How many answers of the voters of a configuration are needed before any seal. */
    abstract int needed(Configuration configuration);

    /** The answers that are looked at for configurations. */
    abstract Collection<LleAnswer> heardOf();

    /** Asks everybody whose answer may help. */
    abstract void ask();

    /** Whether the own log and epoch are not behind the best answer, so that nothing is copied. */
    abstract boolean complete(long lastLogged, LleAnswer best);

    /**
     * What the server must get back.
     *
     * @param recoveredLle the last entry that it may have logged, by the answers
     * @param best the answer of the source
     */
    abstract long through(long recoveredLle, LleAnswer best);

    /**
     * The epoch that a recovered log stands for at least.
     *
     * @param sourceEpoch the current epoch of the last source, 0 if there was none
     */
    abstract long epoch(long sourceEpoch);

    /**
     * What the latest-on-disk marker says of a recovered log.
     *
     * @param lastLogged how long the log is
     */
    abstract long latestOnDisk(long lastLogged);

    /** The newest epoch that a server whose answer counted has promised to join. */
    long promisedEpoch() {
        return 0;
    }

    /** The servers that have answered, whether that counts or not. */
    Set<Long> answered() {
        return answers.keySet();
    }

    /** The voters that said last that they are empty and new (R26). */
    SortedSet<Long> blank() {
        return new TreeSet<>();
    }

    /** The voters that must still be heard to make answers count without a leader's (R26). */
    SortedSet<Long> unheard() {
        return new TreeSet<>();
    }

    /** Answers of earlier queries do not count any more. */
    final void begin() {
        answers.clear();
        number++;
    }

    /** The number of this round, from 1 on. */
    final long number() {
        return number;
    }

    /** The own view of this server, whose members' answers count (R23). */
    final View ownView() {
        return loss.ownView(onDisk.markers());
    }

    /** Queries again. */
    final void query(long now) {
        sentAt = now;
        ask();
    }

    final void send(long to, RecoveryMessage message) {
        decisions.add(new Send(to, message));
    }

    /** When the last queries were sent. */
    final long sentAt() {
        return sentAt;
    }

    /** Counts an answer. Of two of one server the one with the newer view stays. */
    final boolean enoughWith(LleAnswer answer) {
        answers.merge(
                answer.sender(),
                answer,
                (old, late) -> late.ownView() < old.ownView() ? old : late);
        return stillNeeded() <= 0;
    }

    /** Whether an answer of this server counts. */
    final boolean counts(long sid) {
        return answers.containsKey(sid);
    }

    /** The answers that count, of voters, by server. */
    final List<LleAnswer> counted() {
        List<LleAnswer> counted = new ArrayList<>();
        for (long voter : otherVoters()) {
            if (answers.containsKey(voter)) {
                counted.add(answers.get(voter));
            }
        }
        return counted;
    }

    /** All that were counted, of whatever servers. */
    final Collection<LleAnswer> all() {
        return answers.values();
    }

    /** How many answers are missing at least; not above 0 once there are enough. */
    final int stillNeeded() {
        View own = ownView();
        if (newerView(own)) {
            return 0;
        }
        return own.isFirst()
                ? stillNeededOfConfigurations()
                : own.answersNeeded() - answersOf(own.members());
    }

    private boolean newerView(View own) {
        return counted().stream().anyMatch(each -> own.isOlderThan(each.ownView()));
    }

    private int stillNeededOfConfigurations() {
        int stillNeeded = 0;
        for (Configuration configuration : configurations()) {
            stillNeeded =
                    Math.max(
                            stillNeeded, needed(configuration) - answersOf(configuration.voters()));
        }
        return stillNeeded;
    }

    private int answersOf(List<Long> servers) {
        return (int) servers.stream().filter(answers::containsKey).count();
    }

    final SortedSet<Long> otherVoters() {
        SortedSet<Long> others = new TreeSet<>(ownView().members());
        for (Configuration configuration : configurations()) {
            others.addAll(configuration.voters());
        }
        others.remove(self);
        return others;
    }

    /**
     * The configurations whose voters count (R16): the newest one that is known to be in force, and
     * whatever was seen proposed after it. Which of the two was in force when an entry committed
     * cannot be known here, so both must have their quorum.
     */
    final List<Configuration> configurations() {
        List<LleAnswer> heardOf = List.copyOf(heardOf());
        Configuration committed = onDisk.committed();
        for (LleAnswer answer : heardOf) {
            if (answer.committed().version() > committed.version()) {
                committed = answer.committed();
            }
        }
        SortedMap<Long, Configuration> counted = new TreeMap<>();
        counted.put(committed.version(), committed);
        onDisk.pending().ifPresent(pending -> counted.putIfAbsent(pending.version(), pending));
        for (LleAnswer answer : heardOf) {
            answer.pending().ifPresent(pending -> counted.putIfAbsent(pending.version(), pending));
        }
        return List.copyOf(counted.tailMap(committed.version()).values());
    }
}
