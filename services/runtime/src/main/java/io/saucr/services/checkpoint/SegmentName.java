package io.saucr.services.checkpoint;

import io.saucr.services.core.Birth;
import io.saucr.services.core.standby.SegmentId;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** How a segment is called in a shared store (C2): epoch, number, digest. */
final class SegmentName {

    private static final Pattern NAME =
            Pattern.compile("([1-9][0-9]{0,18})-([1-9][0-9]{0,18})-([0-9a-f]{64})\\.seg");

    private SegmentName() {}

    static String of(SegmentId id) {
        return id.epoch() + "-" + id.number() + "-" + id.digest() + ".seg";
    }

    /** Empty where it is no segment's name. */
    static Optional<SegmentId> parse(String name) {
        Matcher matcher = NAME.matcher(name);
        try {
            return matcher.matches()
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

    /** Those among some names, by number and epoch. */
    static List<SegmentId> parse(Collection<String> names) {
        return names.stream()
                .flatMap(name -> parse(name).stream())
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
