package io.saucr.services.bench;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Finals;
import io.saucr.services.core.Incarnation;
import io.saucr.services.journal.Base;
import io.saucr.services.journal.OutboxFiles;
import io.saucr.services.turns.UnboundedGuard;
import java.security.SecureRandom;
import java.util.List;
import java.util.Set;

/**
 * The bare service, with which others are compared: a turn is final at once, nothing is encoded or
 * kept.
 */
final class Unprotected implements UnboundedGuard {

    private final Incarnation start;
    private final OutboxFiles outbox = OutboxFiles.none();
    private Listener listener;

    Unprotected(SecureRandom random) {
        start = new Incarnation(new Birth(random.nextLong(), random.nextLong()), 1, 1);
    }

    @Override
    public Traits traits() {
        return Traits.of(start.birth());
    }

    @Override
    public void confirm() {
        // Nobody asks.
    }

    @Override
    public void withdraw() {
        // Nothing is left.
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
        listener.moved(Finals.turns(turn.turn()));
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
        // Nothing is kept.
    }

    @Override
    public void close() {
        // Nothing is held.
    }
}
