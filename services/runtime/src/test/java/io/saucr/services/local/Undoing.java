package io.saucr.services.local;

import io.saucr.services.core.Finals;
import io.saucr.services.journal.Base;
import io.saucr.services.journal.OutboxFiles;
import io.saucr.services.turns.Ending;
import io.saucr.services.turns.Guard;
import io.saucr.services.turns.Memory;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;

/**
 * A protection of a running service that undoes turns, as one of services that speculate does:
 * turns go to the disk only when they are {@link #seal sealed}, and {@link #undo} drops those that
 * are not. Then the next life of the engine begins from memory.
 */
public final class Undoing implements Guard, Guard.Folding {

    private final OwnDisk disk;

    /** Runs when all that is not undone is on disk, before the next life begins. */
    private final Check check;

    // All guarded by this.
    private TurnHistory history = new TurnHistory();

    /** Executed, and not given to the disk. */
    private final Deque<Done> open = new ArrayDeque<>();

    private Start start;
    private Listener listener;
    private Map<String, String> found;
    private long forced;
    private boolean undoing;
    private int lives;
    private boolean over;

    /** Looks at the folder as a crash would leave it. */
    public interface Check {
        void atUndo(Map<String, String> found) throws IOException;
    }

    public Undoing(OwnDisk disk, Check check) {
        this.disk = disk;
        this.check = check;
    }

    // ---- what the test does

    /** Gives the oldest turns to the disk; waits for nothing. */
    public synchronized void seal(int most) {
        for (int count = 0; count < most && !open.isEmpty() && !undoing; count++) {
            disk.done(open.remove());
        }
    }

    /** How many turns can be undone now. */
    public synchronized int open() {
        return undoing ? 0 : open.size();
    }

    /** Undoes the newest turns, but for so many; waits until the next life has begun. */
    public synchronized void undo(int keep) throws InterruptedException {
        seal(Math.min(keep, open.size() - 1));
        long upTo = open.element().turn() - 1;
        open.clear();
        undoing = true;
        int before = lives;
        while (forced < upTo && !over) {
            wait();
        }
        listener.over(new Ending.Undone(upTo, "the test undoes turns above " + upTo));
        while (lives == before && !over) {
            wait();
        }
    }

    /** No life follows: nobody waits for one. */
    public synchronized void over() {
        over = true;
        notifyAll();
    }

    /** All that this life began with, as the sections of a base. */
    public synchronized Map<String, String> found() {
        return found;
    }

    // ---- what the engine does

    @Override
    public Traits traits() {
        return disk.traits();
    }

    @Override
    public synchronized Start recover(Recovery into) throws IOException {
        if (start == null) {
            start = history.recover(disk, into);
            forced = start.newestTurn();
        } else {
            history = TurnHistory.behind(history, forced, into);
            start = new Start(start.incarnations(), start.formers(), start.markers(), forced);
        }
        found = history.begins(start.newestTurn(), into.soFar());
        check.atUndo(found);
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
    public synchronized void begin(Listener hears) {
        listener = hears;
        undoing = false;
        if (lives++ == 0) {
            disk.begin(new OfDisk());
        }
        notifyAll();
    }

    /** What the disk says is for the life that runs. */
    private final class OfDisk implements Listener {

        @Override
        public void moved(Finals now) {
            Listener hears;
            synchronized (Undoing.this) {
                forced = Math.max(forced, now.outside());
                Undoing.this.notifyAll();
                hears = listener;
            }
            hears.moved(now);
        }

        @Override
        public void over(Ending why) {
            listener.over(why);
        }
    }

    @Override
    public synchronized void done(Done turn) {
        if (undoing) {
            return;
        }
        history.done(turn);
        open.add(turn);
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
        return disk.bytesAboveBase();
    }

    @Override
    public synchronized void due(Memory of) {
        history.due(of);
    }

    @Override
    public void fold(long turn, OutboxFiles.Names files, Base.Sections sections)
            throws IOException {
        disk.fold(turn, files, sections);
        synchronized (this) {
            history.folded(turn);
        }
    }

    @Override
    public void close() throws IOException {
        disk.close();
    }
}
