package io.saucr.services.bench;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Delta;
import io.saucr.services.core.Finals;
import io.saucr.services.core.Incarnation;
import io.saucr.services.journal.Base;
import io.saucr.services.journal.OutboxFiles;
import io.saucr.services.journal.Recovered;
import io.saucr.services.state.Changes;
import io.saucr.services.turns.Finality;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * The bare service, with which others are compared: a turn is final at once, nothing is encoded or
 * kept.
 */
final class Unprotected implements Finality {

    private final Incarnation start;
    private final OutboxFiles outbox = OutboxFiles.none();
    private Listener listener;

    Unprotected(SecureRandom random) {
        start = new Incarnation(new Birth(random.nextLong(), random.nextLong()), 1, 1);
    }

    @Override
    public List<Incarnation> incarnations() {
        return List.of(start);
    }

    @Override
    public long confirmed() {
        return 0;
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
        listener.moved(Finals.turns(delta.turn()));
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
        // Nothing is kept.
    }

    @Override
    public void close() {
        // Nothing is held.
    }
}
