package io.saucr.services.client;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Delta;
import io.saucr.services.core.Finals;
import io.saucr.services.core.Incarnation;
import io.saucr.services.journal.Base;
import io.saucr.services.journal.OutboxFiles;
import io.saucr.services.journal.Recovered;
import io.saucr.services.state.Changes;
import io.saucr.services.turns.ClientFinality;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * A client's turns are final at once, and last as long as its process: nothing is written. Its
 * birth is drawn, and never seen again (K11), so that what the process takes along cannot be missed
 * by anybody: no later start has that birth.
 */
public final class InMemory implements ClientFinality {

    private final Incarnation start;
    private final OutboxFiles outbox = OutboxFiles.none();
    private volatile String bound = "";
    private volatile long confirmed;

    /** Of the turn thread. */
    private Listener listener;

    private long newest;

    public InMemory(SecureRandom random) {
        Birth birth = new Birth(random.nextLong(), random.nextLong());
        start = new Incarnation(birth, 1, random.nextLong());
    }

    @Override
    public List<Incarnation> incarnations() {
        return List.of(start);
    }

    @Override
    public long confirmed() {
        return confirmed;
    }

    @Override
    public void confirm() {
        confirmed = start.number();
    }

    @Override
    public void withdraw() {
        // Nobody ever hears of it.
    }

    @Override
    public List<Birth> formers() {
        return List.of();
    }

    @Override
    public Optional<Incarnation> replaces() {
        return Optional.empty();
    }

    @Override
    public Set<Birth> markers() {
        return Set.of();
    }

    @Override
    public String bound() {
        return bound;
    }

    @Override
    public void bind(String to) {
        bound = to;
    }

    @Override
    public long recover(
            Base.SectionReader base, Recovered.TurnReader turns, Supplier<Base.Sections> soFar) {
        return 0;
    }

    @Override
    public void begin(Listener hears) {
        listener = hears;
    }

    @Override
    public void done(Delta delta, Changes changes) {
        if (delta.turn() != newest + 1) {
            throw new IllegalArgumentException(
                    "turn " + (newest + 1) + " comes next, not " + delta.turn());
        }
        newest = delta.turn();
        listener.moved(Finals.turns(newest));
    }

    @Override
    public boolean hasRoom() {
        return true;
    }

    @Override
    public boolean isScarce() {
        return false;
    }

    @Override
    public long lastFsyncMicros() {
        return 0;
    }

    @Override
    public long bytesNotFinal() {
        return 0;
    }

    @Override
    public long bytesAboveBase() {
        return 0;
    }

    @Override
    public OutboxFiles outbox() {
        return outbox;
    }

    @Override
    public void fold(long turn, OutboxFiles.Names files, Base.Sections sections) {
        // A base is for a start that recovers, and none does.
    }

    @Override
    public void close() {
        // It goes with its process.
    }
}
