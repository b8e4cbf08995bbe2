package io.saucr.services.journal;

import io.saucr.services.core.Incarnation;
import io.saucr.services.core.journal.JournalRecovery;
import io.saucr.services.core.journal.JournalRecovery.Decision;
import io.saucr.services.core.journal.SegmentHeader;
import io.saucr.services.core.journal.SegmentHeader.UnreadableSegmentException;
import io.saucr.services.core.journal.SegmentScan;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * What the files of a folder say before anything is changed (K9): which base serves, which segments
 * matter, and how a start would continue. A start and the one that only looks take the same one.
 * Immutable.
 *
 * @param bases the turns of all bases, the newest first
 * @param baseTurn of the newest base that is whole; 0 without one
 * @param firstTurns of all segments, rising
 * @param needed the first of them that matters
 * @param scans of the segments from that one on
 * @param decision to continue; a folder that must not be used has no survey
 */
record Survey(
        List<Long> bases,
        long baseTurn,
        List<Long> firstTurns,
        int needed,
        List<SegmentScan> scans,
        Decision.GoOn decision) {

    /** So much of a file is read at once. */
    static final int PIECE_BYTES = 1 << 20;

    private static final String ADVICE =
            "Put it back from a copy under a new generation, or give the service up";

    Survey {
        bases = List.copyOf(bases);
        firstTurns = List.copyOf(firstTurns);
        scans = List.copyOf(scans);
    }

    /**
     * Looks at a folder.
     *
     * @throws RefusedFolderException where it must not be used as it is; says where and what to do
     * @throws IOException where the disk fails
     */
    static Survey of(Disk disk, Path folder, Identity identity) throws IOException {
        Path baseFolder = folder.resolve(ServiceFolder.BASE);
        Path journalFolder = folder.resolve(ServiceFolder.JOURNAL);
        List<Long> bases = Base.turns(disk, baseFolder);
        long baseTurn = newestWhole(disk, baseFolder, bases, identity::knows);
        List<Long> firstTurns = Segment.firstTurns(disk, journalFolder);
        if (identity.begun() && firstTurns.isEmpty() && bases.isEmpty()) {
            throw new RefusedFolderException(
                    journalFolder,
                    -1,
                    "the segments are missing, and there is no base. Put them back");
        }
        int needed = JournalRecovery.firstNeeded(firstTurns, baseTurn);
        List<SegmentScan> scans = new ArrayList<>();
        for (int index = needed; index < firstTurns.size(); index++) {
            scans.add(scan(disk, journalFolder, firstTurns, index, null));
        }
        Decision decision =
                JournalRecovery.decide(
                        baseTurn, bases.isEmpty() ? 0 : bases.get(0), scans, identity::knows);
        if (decision instanceof Decision.Refuse refuse) {
            throw new RefusedFolderException(
                    refuse.segment() == 0
                            ? journalFolder
                            : Segment.file(journalFolder, refuse.segment()),
                    refuse.segment() == 0 ? -1 : refuse.offset(),
                    refuse.reason());
        }
        return new Survey(bases, baseTurn, firstTurns, needed, scans, (Decision.GoOn) decision);
    }

    /** An older base serves where the newest is damaged: it goes only once the newer is on disk. */
    static long newestWhole(Disk disk, Path folder, List<Long> turns, Predicate<Incarnation> known)
            throws IOException {
        RefusedFolderException newest = null;
        for (long turn : turns) {
            try {
                readBase(disk, folder, turn, known, (name, content) -> {});
                return turn;
            } catch (RefusedFolderException e) {
                newest = newest == null ? e : newest;
            }
        }
        if (newest != null) {
            throw newest;
        }
        return 0;
    }

    static void readBase(
            Disk disk,
            Path folder,
            long turn,
            Predicate<Incarnation> known,
            Base.SectionReader reader)
            throws IOException {
        Path path = Base.file(folder, turn);
        try (Disk.File file = disk.open(path)) {
            new BaseFormat.FileReader(path, file, turn, known, ADVICE).sections(reader);
        }
    }

    /**
     * Scans one of several segments, up to the first turn of the next.
     *
     * @param visitor null for none
     */
    static SegmentScan scan(
            Disk disk, Path folder, List<Long> firstTurns, int index, SegmentScan.Visitor visitor)
            throws IOException {
        long last = index + 1 < firstTurns.size() ? firstTurns.get(index + 1) - 1 : Long.MAX_VALUE;
        long first = firstTurns.get(index);
        return scan(disk, Segment.file(folder, first), first, last, visitor);
    }

    static SegmentScan scan(
            Disk disk, Path file, long firstTurn, long lastTurn, SegmentScan.Visitor visitor)
            throws IOException {
        try (Disk.File opened = disk.open(file)) {
            FileWindow window = new FileWindow(opened, opened.size(), PIECE_BYTES);
            SegmentScan scan = SegmentScan.scan(window, lastTurn, visitor);
            if (scan.header().firstTurn() != firstTurn) {
                throw new RefusedFolderException(
                        file,
                        SegmentHeader.FIRST_TURN_OFFSET,
                        "the segment begins with turn "
                                + scan.header().firstTurn()
                                + ", not with that of its name; give it its name back");
            }
            return scan;
        } catch (UnreadableSegmentException e) {
            throw new RefusedFolderException(file, e.offset(), e.getMessage());
        }
    }
}
