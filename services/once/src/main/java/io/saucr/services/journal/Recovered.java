package io.saucr.services.journal;

import io.saucr.services.core.journal.JournalRecovery.Behind;
import io.saucr.services.core.journal.JournalRecovery.Decision;
import io.saucr.services.core.journal.SegmentHeader;
import io.saucr.services.core.journal.SegmentScan;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * What survived in a folder (K9): a base and the turns above it. All of it is on disk now, whatever
 * the last process knew, and what was torn behind it is cut off. Read it, then begin the journal.
 * One thread.
 */
public final class Recovered {

    private final Disk disk;
    private final Path baseFolder;
    private final Identity identity;
    private final JournalOptions options;
    private final Base base;
    private final long baseTurn;
    private final long lastTurn;
    private final List<Segment> segments;
    private final Segment next;
    private boolean begun;

    private Recovered(
            Disk disk,
            Path baseFolder,
            Identity identity,
            JournalOptions options,
            Base base,
            long lastTurn,
            List<Segment> segments,
            Segment next) {
        this.disk = disk;
        this.baseFolder = baseFolder;
        this.identity = identity;
        this.options = options;
        this.base = base;
        this.baseTurn = base.turn();
        this.lastTurn = lastTurn;
        this.segments = segments;
        this.next = next;
    }

    /**
     * Looks first and changes nothing; then makes what was found durable, begins the next segment,
     * and deletes what is covered.
     */
    static Recovered recover(Disk disk, Path folder, Identity identity, JournalOptions options)
            throws IOException {
        Path baseFolder = folder.resolve(ServiceFolder.BASE);
        Path journalFolder = folder.resolve(ServiceFolder.JOURNAL);
        Survey survey = Survey.of(disk, folder, identity);
        List<Long> bases = survey.bases();
        long baseTurn = survey.baseTurn();
        List<Long> firstTurns = survey.firstTurns();
        Decision.GoOn goOn = survey.decision();

        if (goOn.behind() != Behind.NOTHING) {
            writeAgain(
                    disk, Segment.file(journalFolder, firstTurns.get(firstTurns.size() - 1)), goOn);
        }
        boolean ofBase = goOn.behind() == Behind.NOTHING && goOn.lastTurn() == baseTurn;
        List<Segment> kept = new ArrayList<>();
        List<Path> covered = new ArrayList<>();
        for (int index = 0; index < firstTurns.size(); index++) {
            long first = firstTurns.get(index);
            long last =
                    index + 1 < firstTurns.size()
                            ? firstTurns.get(index + 1) - 1
                            : ofBase ? baseTurn : goOn.lastTurn();
            Path file = Segment.file(journalFolder, first);
            if (first == goOn.lastTurn() + 1) {
                continue; // It holds nothing and is replaced.
            }
            if (last <= baseTurn) {
                covered.add(file);
            } else {
                SegmentScan scan = survey.scans().get(index - survey.needed());
                kept.add(Segment.sealed(file, first, last, scan.end() - SegmentHeader.BYTES));
            }
        }
        if (baseTurn > 0 && (!covered.isEmpty() || bases.size() > 1)) {
            // Something is about to go that this base stands for: its name may be the last
            // process's, and not on disk yet.
            writeBaseAgain(disk, baseFolder, baseTurn);
        }
        Segment next =
                Segment.begin(
                        disk,
                        journalFolder,
                        options.segmentBytes(),
                        new SegmentHeader(
                                identity.newest(), goOn.lastTurn() + 1, goOn.lastChecksum()));
        for (Path file : covered) {
            disk.delete(file);
        }
        Segment.deleteUnnamed(disk, journalFolder);
        Base base = new Base(disk, baseFolder, identity.newest(), baseTurn);
        if (!bases.isEmpty() && bases.get(0) == baseTurn) {
            base.deleteOthers();
        }
        return new Recovered(
                disk, baseFolder, identity, options, base, goOn.lastTurn(), kept, next);
    }

    static void writeBaseAgain(Disk disk, Path folder, long turn) throws IOException {
        copy(disk, Base.file(folder, turn), folder.resolve("again.tmp"), Long.MAX_VALUE);
    }

    /** Puts a copy in the place of a file, up to a byte. */
    private static void copy(Disk disk, Path path, Path beside, long end) throws IOException {
        try (Disk.File from = disk.open(path);
                Disk.File to = disk.open(beside)) {
            to.truncate(0);
            copy(from, to, 0, Math.min(end, from.size()));
            to.force();
        }
        disk.rename(beside, path);
        disk.forceFolder(path.toAbsolutePath().getParent());
    }

    private static void copy(Disk.File from, Disk.File to, long begin, long end)
            throws IOException {
        for (long at = begin; at < end; at += Survey.PIECE_BYTES) {
            int bytes = (int) Math.min(Survey.PIECE_BYTES, end - at);
            to.write(FileWindow.read(from, at, bytes), at);
        }
    }

    /**
     * Writes the end of the last segment again, as after a failed force it may stand in the page
     * cache alone, and cuts what is torn (K9). Where nothing in the segment is called forced, its
     * name may not be on disk either: then another file takes its place.
     */
    private static void writeAgain(Disk disk, Path path, Decision.GoOn goOn) throws IOException {
        if (goOn.from() == SegmentHeader.BYTES) {
            copy(disk, path, path.resolveSibling(path.getFileName() + ".tmp"), goOn.end());
            return;
        }
        try (Disk.File file = disk.open(path)) {
            copy(file, file, goOn.from(), goOn.end());
            if (goOn.behind() == Behind.TORN) {
                file.truncate(goOn.end());
            }
            file.force();
        }
    }

    /** The turn of the base; 0 where there is none. */
    public long baseTurn() {
        return baseTurn;
    }

    /** The newest turn; 0 in a new folder. The next one to append is the one after it. */
    public long lastTurn() {
        return lastTurn;
    }

    /**
     * Reads the sections of the base; none where there is no base. Before the first {@link
     * Base#write}.
     *
     * @throws IOException where the disk fails or the reader does
     */
    public void sections(Base.SectionReader reader) throws IOException {
        throwIfReplaced();
        if (baseTurn > 0) {
            Survey.readBase(disk, baseFolder, baseTurn, identity::knows, reader);
        }
    }

    private void throwIfReplaced() {
        if (base.turn() != baseTurn) {
            throw new IllegalStateException(
                    "the base of turn " + baseTurn + " was replaced by one of " + base.turn());
        }
    }

    /**
     * Reads the turns above the base, in order, without gaps; what a journal appends is none of
     * them. Before the first {@link Base#write}.
     *
     * @throws IOException where the disk fails or the reader does
     */
    public void turns(TurnReader reader) throws IOException {
        throwIfReplaced();
        for (Segment segment : segments) {
            SegmentScan scan =
                    Survey.scan(
                            disk,
                            segment.path(),
                            segment.firstTurn(),
                            segment.lastTurn(),
                            (turn, delta) -> {
                                if (turn > baseTurn) {
                                    reader.turn(turn, delta);
                                }
                            });
            if (scan.lastTurn() != segment.lastTurn()) {
                throw new IOException(
                        segment.path() + ", byte " + scan.end() + ": it changed since it was read");
            }
        }
    }

    /** Where bases are written from now on. */
    public Base base() {
        return base;
    }

    /**
     * Begins the journal behind the newest turn, once: starts its threads.
     *
     * @param listener hears of turns that are forced, beginning with the next one
     */
    public Journal journal(JournalListener listener) {
        if (begun) {
            throw new IllegalStateException("the journal was begun already");
        }
        begun = true;
        Journal journal =
                new Journal(disk, options, identity.newest(), listener, lastTurn, segments, next);
        journal.begin();
        return journal;
    }

    /** Takes turns. */
    @FunctionalInterface
    public interface TurnReader {

        /**
         * Takes one turn.
         *
         * @param turn its number
         * @param delta as it was appended; read only, valid until this returns
         */
        void turn(long turn, ByteBuffer delta) throws IOException;
    }
}
