package io.saucr.services.bench;

import io.saucr.services.Bytes;
import io.saucr.services.Handlers;
import io.saucr.services.MapState;
import io.saucr.services.Service;
import io.saucr.services.State;

/** Entries of a large state, of which some are changed by each message. */
final class PauseService implements Service {

    private final MapState<String, Bytes> entries;

    /**
     * Changes so many entries in a row. Answered by {@link Done}.
     *
     * @param first its number
     * @param value that all of them get
     */
    public record Change(long first, int count, Bytes value) {}

    /** How many entries there are now. */
    public record Done(long entries) {}

    PauseService(State state) {
        entries = state.map("entries", String.class, Bytes.class);
    }

    @Override
    public void handlers(Handlers on) {
        on.message(
                Change.class,
                (change, turn) -> {
                    byte[] value = change.value().toArray();
                    for (long i = 0; i < change.count(); i++) {
                        // A copy for each, as values of different entries are.
                        entries.put(key(change.first() + i), Bytes.of(value));
                    }
                    turn.reply(new Done(entries.size()));
                });
    }

    private static String key(long number) {
        return "entry-" + number;
    }
}
