package io.saucr.services.journal;

import io.saucr.services.core.Incarnation;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.concurrent.Semaphore;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The folded state of a service as of one turn, in named sections of bytes (K10). A new base is
 * complete on disk before the older one goes, so that a crash at any point leaves one that can be
 * read. One write at a time, on any thread, while turns continue.
 */
public final class Base {

    private static final Logger LOG = LoggerFactory.getLogger(Base.class);

    private static final Pattern NAME = Pattern.compile("([0-9]{19})\\.snap");

    private final Disk disk;
    private final Path folder;
    private final Incarnation start;
    private final Semaphore writing = new Semaphore(1);
    private volatile long turn;

    Base(Disk disk, Path folder, Incarnation start, long turn) {
        this.disk = disk;
        this.folder = folder;
        this.start = start;
        this.turn = turn;
    }

    /** The turns of the bases in a folder, the newest first. */
    static List<Long> turns(Disk disk, Path folder) throws IOException {
        List<Long> turns = new ArrayList<>();
        for (String name : disk.list(folder)) {
            turnOf(name).ifPresent(turns::add);
        }
        turns.sort(Collections.reverseOrder());
        return turns;
    }

    private static OptionalLong turnOf(String name) {
        Matcher matcher = NAME.matcher(name);
        try {
            return matcher.matches()
                    ? OptionalLong.of(Long.parseLong(matcher.group(1)))
                    : OptionalLong.empty();
        } catch (NumberFormatException e) {
            return OptionalLong.empty();
        }
    }

    static Path file(Path folder, long turn) {
        return folder.resolve(String.format(Locale.ROOT, "%019d.snap", turn));
    }

    /**
     * Writes the base of a turn: to a file next to it, forced, renamed, the folder forced; then
     * older ones are deleted. Afterwards call {@link Journal#folded}.
     *
     * @param turn the newest whose changes the sections hold; forced, and larger than that of the
     *     newest base
     * @param sections writes them, one after the other
     * @throws IllegalArgumentException where there is a base of this turn or a newer one
     * @throws IllegalStateException where another write is under way
     * @throws IOException where the disk or the sections fail: the older base stands, and another
     *     write may be tried
     */
    public void write(long turn, Sections sections) throws IOException {
        if (!writing.tryAcquire()) {
            throw new IllegalStateException("one base at a time: another one is being written");
        }
        try {
            if (turn <= this.turn) {
                throw new IllegalArgumentException(
                        "there is a base of turn " + this.turn + ", and this one is of " + turn);
            }
            Path beside = folder.resolve("new.tmp");
            boolean written = false;
            try (Disk.File file = disk.open(beside)) {
                file.truncate(0);
                BaseFormat.FileWriter writer = new BaseFormat.FileWriter(file, start, turn);
                sections.writeTo(writer);
                writer.end();
                file.force();
                written = true;
            } finally {
                if (!written) {
                    deleteQuietly(beside);
                }
            }
            disk.rename(beside, file(folder, turn));
            disk.forceFolder(folder);
            this.turn = turn;
            try {
                deleteOthers();
            } catch (IOException e) {
                LOG.warn(
                        "Older bases in {} could not be deleted: the next one tries again",
                        folder,
                        e);
            }
        } finally {
            writing.release();
        }
    }

    /** On a disk that is full a part of a base would keep the bytes that everything waits for. */
    private void deleteQuietly(Path beside) {
        try {
            disk.delete(beside);
        } catch (IOException e) {
            LOG.warn("{} could not be deleted: the next base replaces it", beside, e);
        }
    }

    /** Deletes all but the newest that is complete. */
    void deleteOthers() throws IOException {
        for (String name : disk.list(folder)) {
            OptionalLong other = turnOf(name);
            if (name.endsWith(".tmp") || (other.isPresent() && other.getAsLong() != turn)) {
                disk.delete(folder.resolve(name));
            }
        }
    }

    /** The turn of the newest base that is complete on disk; 0 while there is none. Any thread. */
    public long turn() {
        return turn;
    }

    /** What is to be written. */
    @FunctionalInterface
    public interface Sections {

        /**
         * Writes all sections.
         *
         * @throws IOException passed on; the base is not made
         */
        void writeTo(Writer writer) throws IOException;
    }

    /** Takes sections one after the other. */
    public interface Writer {

        /**
         * Begins a section and ends the one before it.
         *
         * @param name of 1 to 255 characters, each name once
         * @return buffered; need not be closed; refuses bytes once the next section has begun
         */
        OutputStream section(String name) throws IOException;
    }

    /** Takes what a base holds, in the order it was written. */
    @FunctionalInterface
    public interface SectionReader {

        /**
         * Reads one section.
         *
         * @param name as it was written
         * @param content to its end; what is left unread is skipped
         */
        void section(String name, InputStream content) throws IOException;
    }
}
