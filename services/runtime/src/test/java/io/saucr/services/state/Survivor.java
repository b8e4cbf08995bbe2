package io.saucr.services.state;

import io.saucr.services.journal.Base;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.LinkedHashMap;
import java.util.Map;

/** The sections of a base, in memory. */
final class Survivor implements Base.Writer {

    private final Map<String, ByteArrayOutputStream> sections = new LinkedHashMap<>();

    static Survivor of(StateSnapshot snapshot) {
        Survivor survivor = new Survivor();
        try {
            snapshot.writeTo(survivor);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return survivor;
    }

    @Override
    public OutputStream section(String name) {
        ByteArrayOutputStream section = new ByteArrayOutputStream();
        sections.put(name, section);
        return section;
    }

    byte[] bytes(String collection) {
        return sections.get(StateStore.SECTION_PREFIX + collection).toByteArray();
    }

    void loadInto(StateStore store) throws IOException {
        for (Map.Entry<String, ByteArrayOutputStream> section : sections.entrySet()) {
            store.load(
                    section.getKey(), new ByteArrayInputStream(section.getValue().toByteArray()));
        }
    }
}
