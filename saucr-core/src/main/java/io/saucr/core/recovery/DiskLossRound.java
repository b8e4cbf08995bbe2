package io.saucr.core.recovery;

import io.saucr.core.Zxid;
import io.saucr.core.quorum.Configuration;
import io.saucr.core.recovery.RecoveryMessage.LleAnswer;
import io.saucr.core.recovery.RecoveryMessage.LostAnswer;
import io.saucr.core.recovery.RecoveryMessage.LostQuery;
import io.saucr.core.recovery.RecoveryMessage.NoAnswer;
import io.saucr.core.recovery.RecoveryProcedure.Decision;
import io.saucr.core.recovery.RecoveryProcedure.Loss;
import io.saucr.core.recovery.RecoveryProcedure.OnDisk;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Answers to a server that lost its disk, or finds an empty one (R26). An answer counts only if no
 * ack of the lost disk can count after it; rounds have numbers, and begin when that changes.
 */
final class DiskLossRound extends AnswerRound {
    private final boolean mayBeNew;
    private final SortedSet<Long> blank = new TreeSet<>();

    /** Servers that have a history, or had one. */
    private final SortedSet<Long> notBlank = new TreeSet<>();

    /** The last answer of each server that has a history, whether it counts or not. */
    private final SortedMap<Long, LostAnswer> lastWords = new TreeMap<>();

    /**
     * Servers that were heard since this process began, at a time when they could not count an ack
     * of this server's old process.
     */
    private final SortedSet<Long> heard = new TreeSet<>();

    /**
     * Those that had been heard when the round began, if that was every other voter; else empty. If
     * it is not empty, the round's answers count without a leader's, whatever epochs were promised.
     */
    private final SortedSet<Long> heardBefore = new TreeSet<>();

    private long promisedEpoch;

    /** The newest epoch whose established leader has answered, -1 before that. */
    private long ledEpoch = -1;

    DiskLossRound(long self, long nonce, OnDisk onDisk, Loss loss, List<Decision> decisions) {
        super(self, nonce, onDisk, loss, decisions);
        this.mayBeNew = loss == Loss.EVERYTHING;
    }

    @Override
    Result received(RecoveryMessage message, long now) {
        if (message instanceof LostAnswer answer) {
            return answered(answer, now);
        }
        if (message instanceof NoAnswer standing) {
            speaks(standing.sender(), standing.blank());
            heard.add(standing.sender());
            if (isNew()) {
                return Result.NEW;
            }
            if (ledEpoch < 0) {
                beginIfAllWereHeard(now);
            }
        }
        return Result.WAIT;
    }

    @Override
    Result voted(long from, boolean isBlank) {
        if (!mayBeNew || from == self) {
            return Result.WAIT;
        }
        speaks(from, isBlank);
        return isNew() ? Result.NEW : Result.WAIT;
    }

    /**
     * R26: an established leader that has not answered yet may still count an ack of the lost disk.
     * A server that has answered may ack the same entry afterwards; the entry would commit, and no
     * answer would tell of it. The leader voids such acks before it answers, so only later answers
     * count, and none of a server that has promised a later epoch, whose leader may count such an
     * ack, too. The other way is that every other voter has been heard: then nobody counts such an
     * ack any more, and all later answers count.
     */
    private Result answered(LostAnswer answer, long now) {
        lastWords.put(answer.sender(), answer);
        heard.add(answer.sender());
        speaks(answer.sender(), false);
        if (!heardBefore.isEmpty() && !heardBefore.containsAll(otherVoters())) {
            // It tells of a configuration whose leader may not have been heard yet.
            heardBefore.clear();
            begin();
            query(now);
        }
        boolean ofRound = answer.round() == number();
        boolean afterAll = !heardBefore.isEmpty();
        boolean bound = answer.acceptedEpoch() <= ledEpoch;
        // Once all were heard, a leader's answer of an earlier round counts no more than others of
        // that round.
        if (answer.leads() && !bound && !afterAll) {
            ledEpoch = answer.acceptedEpoch();
            begin();
            Result result = count(answer);
            if (result == Result.WAIT) {
                query(now);
            }
            return result;
        }
        if (ofRound && (bound || afterAll)) {
            return count(answer);
        }
        if (isNew()) {
            return Result.NEW;
        }
        if (!bound) {
            beginIfAllWereHeard(now);
        }
        return Result.WAIT;
    }

    private Result count(LostAnswer answer) {
        promisedEpoch = Math.max(promisedEpoch, answer.acceptedEpoch());
        if (enoughWith(answer.answer())) {
            return Result.ENOUGH;
        }
        return isNew() ? Result.NEW : Result.WAIT;
    }

    /**
     * Begins a round whose answers count without a leader's, unless such a round is under way or
     * somebody has not been heard.
     */
    private void beginIfAllWereHeard(long now) {
        if (heardBefore.isEmpty() && heard.containsAll(otherVoters())) {
            heardBefore.addAll(heard);
            begin();
            query(now);
        }
    }

    /** Observers and unknown servers have no say in whether the ensemble is new. */
    private void speaks(long from, boolean isBlank) {
        if (configurations().stream().noneMatch(each -> each.voters().contains(from))) {
            return;
        }
        (isBlank ? blank : notBlank).add(from);
        (isBlank ? notBlank : blank).remove(from);
    }

    /**
     * Whether this server and the ensemble are new. An empty server may get entries later and then
     * says so: each server's last answer counts.
     */
    private boolean isNew() {
        if (!mayBeNew) {
            return false;
        }
        boolean couldHaveElected = true;
        boolean allHaveSpoken = true;
        boolean nobodyHasEntries = true;
        for (Configuration configuration : configurations()) {
            int empty = 0;
            for (long voter : configuration.voters()) {
                if (voter == self || blank.contains(voter)) {
                    empty++;
                } else if (!lastWords.containsKey(voter)) {
                    allHaveSpoken = false;
                } else {
                    nobodyHasEntries &= lastWords.get(voter).answer().lastLogged() == Zxid.NONE;
                }
            }
            couldHaveElected &= empty >= configuration.bareMajority();
        }
        return (couldHaveElected && notBlank.isEmpty()) || (allHaveSpoken && nobodyHasEntries);
    }

    /** Whose answer counts is not asked again. */
    @Override
    void ask() {
        for (long voter : otherVoters()) {
            if (!counts(voter)) {
                send(voter, new LostQuery(nonce, self, number()));
            }
        }
    }

    @Override
    int needed(Configuration configuration) {
        return configuration.lostDiskQuorum();
    }

    /** Those that do not count are looked at, too. */
    @Override
    Collection<LleAnswer> heardOf() {
        return lastWords.values().stream().map(LostAnswer::answer).toList();
    }

    /** The disk is never taken for complete. */
    @Override
    boolean complete(long lastLogged, LleAnswer best) {
        return false;
    }

    /** Everything that the source has. */
    @Override
    long through(long recoveredLle, LleAnswer best) {
        return Math.max(recoveredLle, best.lastLogged());
    }

    /**
     * The lost log may have been of an epoch that never came about; the copy belongs to the
     * source's epoch.
     */
    @Override
    long epoch(long sourceEpoch) {
        return sourceEpoch;
    }

    /** The markers of a lost disk speak of a log that does not exist any more. */
    @Override
    long latestOnDisk(long lastLogged) {
        return lastLogged;
    }

    @Override
    long promisedEpoch() {
        return promisedEpoch;
    }

    @Override
    Set<Long> answered() {
        return lastWords.keySet();
    }

    @Override
    SortedSet<Long> blank() {
        return new TreeSet<>(blank);
    }

    @Override
    SortedSet<Long> unheard() {
        SortedSet<Long> unheard = new TreeSet<>();
        boolean unbound =
                ledEpoch < 0
                        || lastWords.values().stream()
                                .anyMatch(answer -> answer.acceptedEpoch() > ledEpoch);
        if (unbound && heardBefore.isEmpty()) {
            unheard.addAll(otherVoters());
            unheard.removeAll(heard);
        }
        return unheard;
    }
}
