package io.saucr.services.journal;

import java.io.IOException;
import java.nio.ByteBuffer;

/** The log of a folder that has a journal of its own. */
final class OwnLog implements TurnLog {

    private final Recovered recovered;
    private final Reserve reserve;
    private Journal journal;

    OwnLog(Recovered recovered, ServiceFolder folder, JournalOptions options) {
        this.recovered = recovered;
        this.reserve = folder.reserve(2L * options.segmentBytes());
    }

    @Override
    public long lastTurn() {
        return recovered.lastTurn();
    }

    @Override
    public void sections(Base.SectionReader reader) throws IOException {
        recovered.sections(reader);
    }

    @Override
    public void turns(Recovered.TurnReader reader) throws IOException {
        recovered.turns(reader);
    }

    @Override
    public void begin(JournalListener listener) {
        journal = recovered.journal(listener);
    }

    @Override
    public void append(long turn, ByteBuffer delta) {
        journal.append(turn, delta);
    }

    @Override
    public Base base() {
        return recovered.base();
    }

    @Override
    public void folded(long turn) {
        journal.folded(turn);
    }

    @Override
    public Reserve reserve() {
        return reserve;
    }

    @Override
    public long lastFsyncMicros() {
        return journal.lastFsyncMicros();
    }

    @Override
    public long unforcedBytes() {
        return journal.unforcedBytes();
    }

    @Override
    public long bytesAboveBase() {
        return journal.bytesAboveBase();
    }

    @Override
    public void close() {
        if (journal != null) {
            journal.close();
        }
    }
}
