package io.saucr.tool;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;

/**
 * Where an archive of backups is kept: objects with names, whose parts are separated by slashes.
 */
interface ArchiveStore extends Closeable {
    /**
     * The store of a place that the user gave.
     *
     * @param place a folder, or {@code s3://BUCKET/FOLDER}
     * @param create whether to make a folder that is missing
     */
    static ArchiveStore of(String place, boolean create) throws IOException {
        return place.startsWith(S3Store.SCHEME)
                ? new S3Store(place)
                : new FolderStore(Path.of(place), create);
    }

    /** Its place as the user gave it. */
    String place();

    /** The names of all objects, also of those that are no part of an archive. */
    List<String> names() throws IOException;

    /** The content of an object. */
    InputStream open(String name) throws IOException;

    /** Gives a file this name, whole or not at all, and for good. Replaces what has it. */
    void put(String name, Path file) throws IOException;

    /** Takes an object away if it is there. */
    void delete(String name) throws IOException;

    @Override
    default void close() {}
}
