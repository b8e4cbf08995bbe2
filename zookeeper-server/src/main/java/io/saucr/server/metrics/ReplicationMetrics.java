package io.saucr.server.metrics;

import io.saucr.core.Mode;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import org.apache.zookeeper.metrics.Summary;

/**
 * What a server counts as a leader, across all epochs that it leads, and how long its recovery
 * took. Thread-safe; commits and switches are reported under the leader's lock.
 */
public final class ReplicationMetrics {
    private final LongAdder fastCommits = new LongAdder();
    private final LongAdder slowCommits = new LongAdder();
    private final LongAdder modeSwitches = new LongAdder();
    private final RecentEvents recentSwitches = new RecentEvents();
    private final Summary switchTime;
    private final Summary recoveryTime;
    private volatile Leading leading;

    private record Leading(
            Supplier<Mode> mode, IntSupplier promptVoters, Supplier<List<VoterView>> followers) {}

    public ReplicationMetrics() {
        Exposition exposition = Exposition.ofThisProcess();
        switchTime = exposition.summary(Metric.MODE_SWITCH_TIME);
        recoveryTime = exposition.summary(Metric.RECOVERY_TIME);
    }

    /**
     * This server leads from now on; the suppliers are asked by threads that hold no lock.
     *
     * @param followers everyone who is connected
     */
    public void leading(
            Supplier<Mode> mode, IntSupplier promptVoters, Supplier<List<VoterView>> followers) {
        leading = new Leading(mode, promptVoters, followers);
    }

    /** This server does not lead any more. */
    public void notLeading() {
        leading = null;
    }

    /** An entry that was proposed in this mode has committed. */
    public void committed(Mode mode) {
        (mode == Mode.FAST ? fastCommits : slowCommits).increment();
    }

    /**
     * The mode is fast from now on.
     *
     * @param zxid the last slow entry
     * @param heldBackNanos how long proposals were held back for it (R5)
     */
    public void turnedFast(String reason, long zxid, long heldBackNanos) {
        long micros = TimeUnit.NANOSECONDS.toMicros(heldBackNanos);
        modeSwitches.increment();
        switchTime.add(micros);
        recentSwitches.add("fast", reason, zxid, micros);
    }

    /**
     * The mode is slow from now on.
     *
     * @param zxid the last fast entry
     */
    public void turnedSlow(String reason, long zxid) {
        modeSwitches.increment();
        recentSwitches.begin("slow", reason, zxid);
    }

    /**
     * The first entry after the switch to slow has committed: all before it is on the disks of a
     * majority.
     */
    public void slowIsDurable(long nanosSinceSwitch) {
        long micros = TimeUnit.NANOSECONDS.toMicros(nanosSinceSwitch);
        switchTime.add(micros);
        recentSwitches.finish(micros);
    }

    /** This server has recovered (R17). */
    public void recovered(long millis) {
        recoveryTime.add(millis);
    }

    /** Entries committed that were proposed fast. */
    public long fastCommits() {
        return fastCommits.sum();
    }

    /** Entries committed that were proposed slow. */
    public long slowCommits() {
        return slowCommits.sum();
    }

    /** How often the mode changed. */
    public long modeSwitches() {
        return modeSwitches.sum();
    }

    /** The mode of the epoch that this server leads, or null if it does not lead. */
    public Mode mode() {
        Leading now = leading;
        return now == null ? null : now.mode().get();
    }

    /** How many voters are responsive, this one included; 0 if it does not lead. */
    public int promptVoters() {
        Leading now = leading;
        return now == null ? 0 : now.promptVoters().getAsInt();
    }

    /** Those that follow this leader; nobody if it does not lead. */
    public List<VoterView> followers() {
        Leading now = leading;
        return now == null ? List.of() : now.followers().get();
    }

    /** The last switches with their reasons. */
    public RecentEvents recentSwitches() {
        return recentSwitches;
    }
}
