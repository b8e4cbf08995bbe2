package io.saucr.services.client;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Finals;
import io.saucr.services.core.Incarnation;
import io.saucr.services.journal.Base;
import io.saucr.services.journal.OutboxFiles;
import io.saucr.services.turns.ClientGuard;
import io.saucr.services.turns.UnboundedGuard;
import java.security.SecureRandom;
import java.util.List;
import java.util.Set;

/**
 * A client's turns are final at once, and last as long as its process: nothing is written. Its
 * birth is drawn, and never seen again (K11), so that what the process takes along cannot be missed
 * by anybody: no later start has that birth.
 */
public final class InMemory implements ClientGuard, UnboundedGuard {

    private final Incarnation start;
    private final OutboxFiles outbox = OutboxFiles.none();
    private volatile String bound = "";

    /** Of the turn thread. */
    private Listener listener;

    private long newest;

    public InMemory(SecureRandom random) {
        Birth birth = new Birth(random.nextLong(), random.nextLong());
        start = new Incarnation(birth, 1, random.nextLong());
    }

    @Override
    public Traits traits() {
        return Traits.of(start.birth());
    }

    @Override
    public void confirm() {
        // No head names it.
    }

    @Override
    public void withdraw() {
        // Nobody ever hears of it.
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
    public Start recover(Recovery into) {
        return new Start(List.of(start), List.of(), Set.of(), 0);
    }

    @Override
    public void begin(Listener hears) {
        listener = hears;
    }

    @Override
    public void done(Done turn) {
        if (turn.turn() != newest + 1) {
            throw new IllegalArgumentException(
                    "turn " + (newest + 1) + " comes next, not " + turn.turn());
        }
        newest = turn.turn();
        listener.moved(Finals.turns(newest));
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
