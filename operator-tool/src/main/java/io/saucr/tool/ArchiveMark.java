package io.saucr.tool;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.saucr.core.NamedErrors;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The file that marks a place as an archive. It is written after each round of a backup process, so
 * that its age shows whether one runs.
 *
 * @param checked when the last round began that succeeded: what was committed before is in the
 *     archive; empty if there was none
 */
record ArchiveMark(Optional<Instant> checked) {
    private static final int FORMAT = 1;

    /**
     * Reads it.
     *
     * @throws UnusableFileException if the place is no archive, or one of a later version
     */
    static ArchiveMark read(ArchiveStore store) throws IOException {
        if (!store.names().contains(Archive.MARK)) {
            throw new UnusableFileException(
                    store.place()
                            + ": it is no archive of backups: "
                            + Archive.MARK
                            + " is missing in it");
        }
        JsonNode json;
        try (InputStream in = store.open(Archive.MARK)) {
            json = new ObjectMapper().readTree(in);
        } catch (JsonProcessingException e) {
            throw damaged(store);
        }
        if (json.path("format").asInt() != FORMAT) {
            throw new UnusableFileException(
                    "%s: %s has format %s, and this version knows %d"
                            .formatted(
                                    store.place(),
                                    Archive.MARK,
                                    json.path("format").asText("none"),
                                    FORMAT));
        }
        try {
            return new ArchiveMark(
                    json.has("checked")
                            ? Optional.of(Instant.parse(json.path("checked").asText()))
                            : Optional.empty());
        } catch (DateTimeException e) {
            throw damaged(store);
        }
    }

    private static UnusableFileException damaged(ArchiveStore store) {
        return new UnusableFileException(
                store.place() + ": " + Archive.MARK + " is damaged; the next round replaces it");
    }

    /**
     * Makes an empty place an archive. An archive stays as it is.
     *
     * @param names what the place has
     * @throws UnusableFileException if there is something else
     */
    static void begin(ArchiveStore store, List<String> names, Path scratch) throws IOException {
        if (names.contains(Archive.MARK)) {
            return;
        }
        if (!names.isEmpty()) {
            throw new UnusableFileException(
                    "%s: there are other files in it, such as %s; an archive begins in an empty place"
                            .formatted(store.place(), names.get(0)));
        }
        new ArchiveMark(Optional.empty()).write(store, scratch);
    }

    void write(ArchiveStore store, Path scratch) throws IOException {
        ObjectNode json = new ObjectMapper().createObjectNode().put("format", FORMAT);
        checked.ifPresent(when -> json.put("checked", when.toString()));
        Path file = scratch.resolve(Archive.MARK);
        NamedErrors.in(file, () -> Files.writeString(file, json.toPrettyString() + "\n"));
        store.put(Archive.MARK, file);
    }
}
