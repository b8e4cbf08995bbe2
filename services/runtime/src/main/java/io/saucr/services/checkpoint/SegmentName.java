package io.saucr.services.checkpoint;

import io.saucr.services.core.Birth;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.RefusedFolderException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How a segment is called in a shared store, and a base as of it (C2): epoch, number, digest of the
 * segment.
 */
final class SegmentName {

    private static final String SEGMENT = ".seg";
    private static final String BASE = ".base";

    private static final Pattern NAME =
            Pattern.compile("([1-9][0-9]{0,18})-([1-9][0-9]{0,18})-([0-9a-f]{64})(\\.[a-z]+)");

    private SegmentName() {}

    static String of(SegmentId id) {
        return of(id, SEGMENT);
    }

    static String ofBase(SegmentId id) {
        return of(id, BASE);
    }

    private static String of(SegmentId id, String end) {
        return id.epoch() + "-" + id.number() + "-" + id.digest() + end;
    }

    /** Empty where it is no such name. */
    private static Optional<SegmentId> parse(String name, String end) {
        Matcher matcher = NAME.matcher(name);
        try {
            return matcher.matches() && matcher.group(4).equals(end)
                    ? Optional.of(
                            new SegmentId(
                                    Long.parseLong(matcher.group(1)),
                                    Long.parseLong(matcher.group(2)),
                                    matcher.group(3)))
                    : Optional.empty();
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    /** Segments among some names, by number and epoch. */
    static List<SegmentId> parse(Collection<String> names) {
        return parse(names, SEGMENT);
    }

    /** The segments as of which there are bases, among some names, by number and epoch. */
    static List<SegmentId> parseBases(Collection<String> names) {
        return parse(names, BASE);
    }

    private static List<SegmentId> parse(Collection<String> names, String end) {
        return names.stream()
                .flatMap(name -> parse(name, end).stream())
                .sorted(
                        Comparator.comparingLong(SegmentId::number)
                                .thenComparingLong(SegmentId::epoch)
                                .thenComparing(SegmentId::digest))
                .toList();
    }

    /**
     * Checks what was found under the name of a segment.
     *
     * @throws RefusedSegmentException where it is another one, or of another service or birth
     */
    static Segment checked(SegmentId id, Segment segment, String service, Birth birth)
            throws RefusedSegmentException {
        segment.header().throwUnlessOf(service, birth);
        if (!segment.id().equals(id)) {
            throw new RefusedSegmentException(
                    RefusedSegmentException.Reason.OUT_OF_PLACE,
                    0,
                    "it is segment "
                            + segment.id()
                            + " under the name of "
                            + id
                            + ". It was left as it is; take the segment from a member");
        }
        return segment;
    }

    /**
     * Checks what was found under the name of a base, to its last byte.
     *
     * @throws RefusedFolderException where it is damaged, or another one
     */
    static ShippedBase checkedBase(
            SegmentId at, Disk.File file, Path path, String service, Birth birth)
            throws IOException {
        DigestedFile read = new DigestedFile(file);
        MemberBase found =
                MemberBase.whole(read, path, at.number(), service, birth, (name, content) -> {});
        if (!found.at().equals(at)) {
            throw new RefusedFolderException(
                    path,
                    -1,
                    "it is a base as of segment "
                            + found.at()
                            + " under the name of "
                            + at
                            + ". It was left as it is; the older base serves instead");
        }
        return new ShippedBase(at, file, read.digest());
    }

    /**
     * Checks what is to be stored.
     *
     * @throws IllegalArgumentException where it is of another service or birth
     */
    static void throwUnlessOf(Segment segment, String service, Birth birth) {
        try {
            segment.header().throwUnlessOf(service, birth);
        } catch (RefusedSegmentException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
    }
}
