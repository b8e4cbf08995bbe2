package io.saucr.server;

import io.saucr.core.Mode;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/** What a server counts as a leader, across all epochs that it leads. Thread-safe. */
public final class ReplicationMetrics {
    private final LongAdder fastCommits = new LongAdder();
    private final LongAdder slowCommits = new LongAdder();
    private final LongAdder modeSwitches = new LongAdder();
    private volatile Leading leading;

    private record Leading(Supplier<Mode> mode, IntSupplier promptVoters) {}

    /** This server leads from now on; the suppliers are asked by threads that hold no lock. */
    public void leading(Supplier<Mode> mode, IntSupplier promptVoters) {
        leading = new Leading(mode, promptVoters);
    }

    /** This server does not lead any more. */
    public void notLeading() {
        leading = null;
    }

    /** An entry that was proposed in this mode has committed. */
    public void committed(Mode mode) {
        (mode == Mode.FAST ? fastCommits : slowCommits).increment();
    }

    /** The mode has changed. */
    public void switched() {
        modeSwitches.increment();
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

    /** How many voters are prompt, this one included; 0 if it does not lead. */
    public int promptVoters() {
        Leading now = leading;
        return now == null ? 0 : now.promptVoters().getAsInt();
    }
}
