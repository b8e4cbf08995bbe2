package io.saucr.tool;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * A snapshot, and the log that completes it if it needs one: all that new servers need to begin
 * with. Immutable.
 *
 * @param snapshotFile where the snapshot is
 * @param logFile where the log is; null if it needs none
 * @param begun the last zxid that the snapshot shows whole
 * @param complete whether it is the state of one moment: the snapshot is exact, the log completes
 *     it, or the server that gave it had logged nothing behind it
 * @param log null if it needs none
 */
record Backup(
        Path snapshotFile,
        Snapshot snapshot,
        long begun,
        boolean complete,
        Path logFile,
        LogFile log) {
    /** What it is, for people who find it, and which files belong to it. */
    static final String DESCRIPTION = "backup.json";

    /** The names of its other files, as a regular expression without groups. */
    static final String FILE_NAME = "(?:snapshot|log)\\.[0-9a-f]+(?:\\.gz|\\.snappy)?";

    private static final String VERSION_FOLDER = "version-2";

    /** A snapshot alone. */
    static Backup ofSnapshot(Path file) throws IOException {
        Snapshot snapshot = Snapshot.read(file);
        return new Backup(
                file,
                snapshot,
                snapshot.zxid(),
                snapshot.kind() == Snapshot.Kind.EXACT,
                null,
                null);
    }

    /** What {@code saucr backup} made, read from end to end. */
    static Backup read(Path folder) throws IOException {
        JsonNode description;
        try {
            description = new ObjectMapper().readTree(folder.resolve(DESCRIPTION).toFile());
        } catch (JsonProcessingException e) {
            throw new UnusableFileException(
                    folder.resolve(DESCRIPTION) + ": it is damaged: it is no JSON");
        } catch (IOException e) {
            throw new UnusableFileException(
                    folder + ": it is no backup: " + DESCRIPTION + " is missing in it");
        }
        Path snapshotFile = file(folder, description.path("snapshot"));
        Snapshot snapshot = Snapshot.read(snapshotFile);
        long begun = zxid(folder, description.path("begun"));
        if (zxid(folder, description.path("snapshot").path("zxid")) != snapshot.zxid()
                || !Long.toHexString(snapshot.digest())
                        .equals(description.path("snapshot").path("digest").asText())) {
            throw new UnusableFileException(
                    snapshotFile + ": it is not the snapshot that " + DESCRIPTION + " describes");
        }
        boolean alone = !description.has("log");
        if (begun > snapshot.zxid()
                || (alone && snapshot.kind() == Snapshot.Kind.EXACT && begun != snapshot.zxid())) {
            throw new UnusableFileException(
                    "%s: it is damaged: the snapshot does not begin at %s"
                            .formatted(folder.resolve(DESCRIPTION), Snapshot.hex(begun)));
        }
        if (alone) {
            boolean complete =
                    switch (snapshot.kind()) {
                        case EXACT -> true;
                        case FUZZY -> false;
                        case UNKNOWN ->
                                begun == snapshot.zxid()
                                        && description.path("complete").asBoolean();
                    };
            return new Backup(snapshotFile, snapshot, begun, complete, null, null);
        }
        Path logFile = file(folder, description.path("log"));
        LogFile log = LogFile.read(logFile, begun, snapshot.zxid());
        if (zxid(folder, description.path("log").path("last")) != log.last()) {
            throw new UnusableFileException(
                    logFile + ": it is not the log that " + DESCRIPTION + " describes");
        }
        return new Backup(snapshotFile, snapshot, begun, true, logFile, log);
    }

    private static Path file(Path folder, JsonNode part) throws UnusableFileException {
        String name = part.path("file").asText("");
        if (!name.matches(FILE_NAME)) {
            throw new UnusableFileException(
                    folder.resolve(DESCRIPTION) + ": it is damaged: it names no file");
        }
        return folder.resolve(name);
    }

    private static long zxid(Path folder, JsonNode value) throws UnusableFileException {
        try {
            return Long.decode(value.asText(""));
        } catch (NumberFormatException e) {
            throw new UnusableFileException(
                    folder.resolve(DESCRIPTION) + ": it is damaged: it lacks a zxid");
        }
    }

    /** The last entry that servers have which begin with it. */
    long through() {
        return log == null ? snapshot.zxid() : log.last();
    }

    /**
     * The earliest zxid whose state it has: with the log cut there, it shows nothing later. A
     * snapshot that is not exact may show in part even the write behind its own zxid.
     */
    long earliest() {
        return snapshot.kind() == Snapshot.Kind.EXACT ? snapshot.zxid() : through();
    }

    /** The name that a server finds the snapshot by: what it shows whole. */
    private String snapshotName() {
        return "snapshot." + Long.toHexString(begun) + snapshot.suffix();
    }

    ObjectNode json() {
        ObjectNode json = snapshot.json();
        json.put("through", Snapshot.hex(through()));
        json.put("complete", complete);
        if (log != null) {
            json.put("logEntries", log.entries());
        }
        return json;
    }

    /**
     * Gives the files of a folder that is being made their names, and writes the description.
     *
     * @param facts more of it: when, from where
     */
    void describe(Path folder, ObjectNode facts) throws IOException {
        ObjectNode json = facts.objectNode();
        json.put("format", 1);
        json.setAll(facts);
        json.put("through", Snapshot.hex(through()));
        json.put("begun", Snapshot.hex(begun));
        json.put("complete", complete);
        Files.move(snapshotFile, folder.resolve(snapshotName()));
        json.set("snapshot", snapshot.json().put("file", snapshotName()));
        if (log != null) {
            Files.move(logFile, folder.resolve(log.fileName()));
            json.set("log", log.json().put("file", log.fileName()));
        }
        byte[] text = json.toPrettyString().getBytes(StandardCharsets.UTF_8);
        NewFile.write(new ByteArrayInputStream(text), folder.resolve(DESCRIPTION));
    }

    /**
     * Copies it into the folders of a server, all or nothing. The log gets its name first: if this
     * process is killed then, a server does not start on a log without a snapshot, but would on a
     * snapshot without the log that completes it.
     *
     * @param data the server's dataDir
     * @param logs its dataLogDir; the same if it has none
     * @throws FileAlreadyExistsException if there is data in one of them
     * @throws UnusableFileException if {@code version-2} is a symbolic link, or a file
     */
    void restore(Path data, Path logs) throws IOException {
        for (Path each : List.of(data, logs)) {
            if (!Files.isDirectory(each)) {
                throw new NoSuchFileException(each.toString(), null, "there is no such folder");
            }
            requireEmpty(each.resolve(VERSION_FOLDER));
        }
        boolean apart = !Files.isSameFile(data, logs);
        for (Path each : List.of(data, logs)) {
            Files.deleteIfExists(each.resolve(VERSION_FOLDER));
        }
        // With or without a log in it: a server that has both has such a folder in both.
        try (NewFile folder = NewFile.folder(data.resolve(VERSION_FOLDER));
                NewFile other = apart ? NewFile.folder(logs.resolve(VERSION_FOLDER)) : null) {
            if (log != null) {
                NewFile place = other == null ? folder : other;
                copy(logFile, place.partial().resolve(log.fileName()));
            }
            copy(snapshotFile, folder.partial().resolve(snapshotName()));
            NewFile.commit(other, folder);
        }
    }

    private static void requireEmpty(Path folder) throws IOException {
        if (Files.isSymbolicLink(folder)) {
            throw new UnusableFileException(
                    ("%s is a symbolic link to %s, and would be replaced. Move the"
                                    + " link away, restore, and move what is restored to where it leads")
                            .formatted(folder, Files.readSymbolicLink(folder)));
        }
        if (!Files.exists(folder)) {
            return;
        }
        if (!Files.isDirectory(folder)) {
            throw new UnusableFileException(
                    folder + " is a file, and should be a folder, or not be");
        }
        try (Stream<Path> files = Files.list(folder)) {
            if (files.findAny().isPresent()) {
                throw new FileAlreadyExistsException("data of a server in " + folder);
            }
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        try (InputStream in = Files.newInputStream(from)) {
            NewFile.write(in, to);
        }
    }
}
