package io.saucr.services.checkpoint;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.standby.SegmentId;
import java.util.ArrayList;
import java.util.List;

/** Makes segments that follow each other, and remembers them. */
final class Chain {

    static final String SERVICE = "bank";
    static final Birth BIRTH = new Birth(11, 12);

    private final List<Segment> segments = new ArrayList<>();
    private long epoch = 1;
    private long made;

    /** The next one: one turn, whose words are of that many bytes or more. */
    Segment next(int bytes, long named) {
        long number = segments.size() + 1L;
        String words = "segment " + number + ", made as " + ++made + " " + "x".repeat(bytes);
        Segment segment =
                Segment.of(
                        new SegmentHeader(
                                SERVICE, epoch(), number, number, number, last().digest(), named),
                        words.getBytes(UTF_8));
        segments.add(segment);
        return segment;
    }

    Segment next() {
        return next(10, 0);
    }

    /** Begins the next epoch. */
    void takeover() {
        epoch++;
    }

    Incarnation epoch() {
        return new Incarnation(BIRTH, epoch, 100 + epoch);
    }

    /** All up to now. */
    List<Incarnation> epochs() {
        List<Incarnation> epochs = new ArrayList<>();
        for (long each = 1; each <= epoch; each++) {
            epochs.add(new Incarnation(BIRTH, each, 100 + each));
        }
        return epochs;
    }

    SegmentId last() {
        return id(segments.size());
    }

    SegmentId id(long number) {
        return number == 0 ? SegmentId.NONE : get(number).id();
    }

    Segment get(long number) {
        return segments.get((int) number - 1);
    }

    /** Forgets those above a number: others follow it. */
    void cutAfter(long number) {
        segments.subList((int) number, segments.size()).clear();
    }

    int size() {
        return segments.size();
    }
}
