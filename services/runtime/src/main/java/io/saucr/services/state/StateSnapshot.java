package io.saucr.services.state;

import io.saucr.services.journal.Base;
import java.io.IOException;
import java.util.List;

/**
 * All collections as of one turn; turns may continue while it is written. Immutable, any thread.
 */
public final class StateSnapshot {

    record Part(Table table, Table.Version version) {}

    private final List<Part> parts;

    /** Of who remembers nothing. */
    public static final StateSnapshot NONE = new StateSnapshot(List.of());

    StateSnapshot(List<Part> parts) {
        this.parts = List.copyOf(parts);
    }

    List<Part> parts() {
        return parts;
    }

    /** How many entries there are in all collections. */
    public long entries() {
        return parts.stream().mapToLong(part -> part.version().entries().size()).sum();
    }

    /**
     * Writes one section for each collection, of names that {@link StateStore#isSection} knows.
     *
     * @throws IOException where the writer throws it
     * @throws IllegalStateException where values are checked and one was changed in place (C12)
     */
    public void writeTo(Base.Writer writer) throws IOException {
        for (Part part : parts) {
            part.table()
                    .write(
                            part.version(),
                            writer.section(StateStore.SECTION_PREFIX + part.table().name()));
        }
    }
}
