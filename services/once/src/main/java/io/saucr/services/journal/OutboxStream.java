package io.saucr.services.journal;

import io.saucr.services.journal.OutboxFiles.Named;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/** The files of one stream of {@link OutboxFiles}, whose lock guards all fields. */
final class OutboxStream {

    final long number;
    final Deque<Segment> segments = new ArrayDeque<>();

    /** Whose successors are deleted: nobody needs them, and they were not deleted, or came back. */
    final List<Path> leftOver = new ArrayList<>();

    /** Of the newest file, or that which a base named and which is lost. */
    long index;

    int checksum;
    long last;
    long released;

    /** Where the last one who read stopped; null where nobody did. */
    private Place kept;

    OutboxStream(long number) {
        this.number = number;
    }

    /** One file. */
    static final class Segment {
        final Path path;
        final long index;
        final int before;
        long first;
        long last;
        long end = OutboxFile.HEADER_BYTES;
        long forced;
        boolean named;
        Disk.File file;

        Segment(Path path, long index, int before) {
            this.path = path;
            this.index = index;
            this.before = before;
        }

        private Place begin() {
            return new Place(this, OutboxFile.HEADER_BYTES, 0, end, 0);
        }
    }

    /** Where to read on, and up to where. */
    record Place(Segment segment, long offset, int checksum, long end, long count) {}

    /** As a base names it. */
    Named named() {
        Segment newest = segments.peekLast();
        return new Named(number, index, newest == null ? 0 : newest.end, checksum, last);
    }

    /** The count before the first message that is there and not released. */
    long neededAfter() {
        return Math.max(released, segments.isEmpty() ? last : segments.getFirst().first - 1);
    }

    /** Where to read messages behind a count; empty where they were released. */
    Optional<Place> place(long after) {
        if (released > after) {
            return Optional.empty();
        }
        if (kept != null && kept.count <= after && kept.segment.last > after) {
            return Optional.of(
                    new Place(
                            kept.segment,
                            kept.offset,
                            kept.checksum,
                            kept.segment.end,
                            kept.count));
        }
        return segments.stream().filter(it -> it.last > after).findFirst().map(Segment::begin);
    }

    /** The file behind that which was read. */
    Optional<Place> next(Place before) {
        return segments.stream()
                .filter(it -> it.index > before.segment.index)
                .findFirst()
                .map(Segment::begin);
    }

    /** The next one who reads continues there. */
    Optional<Place> keep(Place place) {
        if (place.offset > OutboxFile.HEADER_BYTES) {
            kept = place;
        }
        return Optional.of(place);
    }

    /** The message behind a count, where it is needed. */
    Optional<Long> needs(long after) {
        return released > after ? Optional.empty() : Optional.of(after + 1);
    }

    /**
     * Messages behind a count are needed.
     *
     * @param folder of the files
     * @throws RefusedFolderException where they are not there
     */
    void expect(Path folder, long after) throws RefusedFolderException {
        if (segments.isEmpty()) {
            throw OutboxFile.missing(OutboxFile.path(folder, number, index));
        }
        Segment first = segments.getFirst();
        if (first.first > after + 1 && first.index > 1) {
            throw OutboxFile.missing(OutboxFile.path(folder, number, first.index - 1));
        }
        if (first.first > after + 1 || last <= after) {
            throw OutboxFile.damaged(first.path, OutboxFile.HEADER_BYTES);
        }
    }
}
