package io.saucr.services.testkit;

import io.saucr.services.journal.Base;
import io.saucr.services.journal.OutboxFiles;
import io.saucr.services.local.TurnHistory;
import io.saucr.services.turns.Guard;
import io.saucr.services.turns.Memory;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;

/**
 * A protection that undoes turns which are not final: the next life begins from memory. It knows of
 * the state behind each turn, and of the core a base with the turns above it, as a protection of
 * services that speculate would. One life; thread of the test.
 */
final class Forgetful implements Guard, Guard.Folding {

    private final Guard disk;
    private final Optional<Forgetful> before;
    private final long upTo;

    private TurnHistory history = new TurnHistory();
    private Start start;

    /** All that this life began with. */
    private Map<String, String> found;

    /** The first life of a process. */
    Forgetful(Guard disk) {
        this.disk = disk;
        this.before = Optional.empty();
        this.upTo = 0;
    }

    /** Goes on from what another life of the same process was behind that turn. */
    Forgetful(Guard disk, Forgetful before, long upTo) {
        this.disk = disk;
        this.before = Optional.of(before);
        this.upTo = upTo;
    }

    /** What it began with. */
    Map<String, String> found() {
        return found;
    }

    @Override
    public Traits traits() {
        return disk.traits();
    }

    @Override
    public Start recover(Recovery into) throws IOException {
        if (before.isPresent()) {
            Forgetful ended = before.get();
            history = TurnHistory.behind(ended.history, upTo, into);
            Start old = ended.start;
            start = new Start(old.incarnations(), old.formers(), old.markers(), upTo);
        } else {
            start = history.recover(disk, into);
        }
        found = history.begins(start.newestTurn(), into.soFar());
        return start;
    }

    @Override
    public void confirm() throws IOException {
        disk.confirm();
    }

    @Override
    public void withdraw() throws IOException {
        disk.withdraw();
    }

    @Override
    public void begin(Listener listener) {
        disk.begin(listener);
    }

    @Override
    public void done(Done turn) {
        history.done(turn);
        disk.done(turn);
    }

    @Override
    public long lastFsyncMicros() {
        return disk.lastFsyncMicros();
    }

    @Override
    public Folding folding() {
        return this;
    }

    @Override
    public Room room() {
        return disk.room();
    }

    @Override
    public long bytesAboveBase() {
        return disk.folding().bytesAboveBase();
    }

    @Override
    public void due(Memory of) {
        history.due(of);
        disk.folding().due(of);
    }

    @Override
    public void fold(long turn, OutboxFiles.Names files, Base.Sections sections)
            throws IOException {
        disk.folding().fold(turn, files, sections);
        history.folded(turn);
    }

    @Override
    public void close() throws IOException {
        disk.close();
    }
}
