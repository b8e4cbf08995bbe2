package io.saucr.services.turns;

import io.saucr.services.core.Delta;
import io.saucr.services.journal.Base;
import io.saucr.services.journal.OutboxFiles;
import io.saucr.services.state.StateSnapshot;
import java.util.ArrayList;
import java.util.List;

/**
 * All that a service was behind some turn, without a copy of it. A life that ends otherwise than by
 * a crash is followed by one that begins from this instead of from disk: nothing undoes what
 * happened since, as all of that goes with the life that ended. Immutable.
 *
 * @param state behind the last of {@code core}
 * @param core the core's part of a base, then each turn above it, in order; at least one
 * @param files of the outbox that the base names: what was written behind them comes again with the
 *     turns above it. Where there are files on disk, this is the newest base there: a life begins
 *     by cutting off what these do not name, and a crash leads back to what the disk's base names
 */
public record Memory(StateSnapshot state, List<Delta> core, OutboxFiles.Names files) {

    public Memory {
        core = List.copyOf(core);
    }

    /** Behind which turn that was. */
    public long turn() {
        return core.get(core.size() - 1).turn();
    }

    /** With turns that followed, in order. */
    public Memory with(List<Delta> turns, StateSnapshot behind) {
        List<Delta> all = new ArrayList<>(core);
        all.addAll(turns);
        return new Memory(behind, all, files);
    }

    /**
     * As the sections of a base, apart from the files. Any thread.
     *
     * @throws IllegalStateException where there are turns above the base
     */
    public Base.Sections sections() {
        if (core.size() > 1) {
            throw new IllegalStateException("turns above the base of the core are not folded yet");
        }
        return writer -> {
            Recording.write(core.get(0), writer);
            state.writeTo(writer);
        };
    }
}
