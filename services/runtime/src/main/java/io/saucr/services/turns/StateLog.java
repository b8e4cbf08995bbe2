package io.saucr.services.turns;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.journal.JournalListener;
import io.saucr.services.once.OnceLog;
import io.saucr.services.once.OnceRecords;
import java.util.ArrayList;
import java.util.List;

/**
 * Records as a part of a service's state: forced once the turn is final that notes them. Where the
 * service continues, there they are, and nothing was sent that is not among them (E1). {@link
 * #records} on the thread of turns, the rest on the client's.
 */
final class StateLog implements OnceLog {

    private final OnceNotes notes;
    private final OnceNotes.Turns turns;
    private final List<Incarnation> starts;
    private final Birth birth;
    private List<OnceRecords.Entry> written = new ArrayList<>();
    private long newest;
    private JournalListener listener;

    StateLog(OnceNotes notes, OnceNotes.Turns turns, List<Incarnation> starts) {
        this.notes = notes;
        this.turns = turns;
        this.starts = List.copyOf(starts);
        this.birth = this.starts.get(this.starts.size() - 1).birth();
    }

    @Override
    public List<Incarnation> starts() {
        return starts;
    }

    @Override
    public OnceRecords records() {
        List<OnceRecords> found = new ArrayList<>();
        turns.look(() -> found.add(notes.records(birth)));
        return found.get(0);
    }

    @Override
    public long begin(JournalListener hears) {
        listener = hears;
        return 0;
    }

    @Override
    public void write(long number, OnceRecords.Entry record) {
        written.add(record);
        newest = number;
    }

    @Override
    public void force() {
        if (written.isEmpty()) {
            return;
        }
        List<OnceRecords.Entry> all = written;
        long upTo = newest;
        written = new ArrayList<>();
        turns.note(asks -> notes.take(all, birth, asks), () -> listener.forced(upTo));
    }

    @Override
    public void forced(long record, long upTo, OnceRecords all) {
        // The state has bases of its own.
    }

    @Override
    public void close(boolean known) {
        // What is not final never was.
    }

    @Override
    public String toString() {
        return "the state of the service";
    }
}
