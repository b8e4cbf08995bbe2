package io.saucr.services.checkpoint;

import io.saucr.services.core.Incarnation;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.journal.Base;
import java.io.IOException;
import java.util.List;

/**
 * What a member's folder gives up to one segment: a base, and the unbroken chain above it, which
 * were checked to their last byte when this was made (C4). Nothing beyond that segment is in it.
 * One thread.
 */
public final class Restored {

    private final MemberFolder folder;
    private final SegmentId base;
    private final List<Incarnation> epochs;
    private final SegmentId upTo;

    Restored(MemberFolder folder, SegmentId base, List<Incarnation> epochs, SegmentId upTo) {
        this.folder = folder;
        this.base = base;
        this.epochs = List.copyOf(epochs);
        this.upTo = upTo;
    }

    /** As of which segment the base is; {@link SegmentId#NONE} where the chain begins with 1. */
    public SegmentId base() {
        return base;
    }

    /** The epochs up to the base, in order; those above it are the segments'. */
    public List<Incarnation> epochs() {
        return epochs;
    }

    /** The last segment. */
    public SegmentId upTo() {
        return upTo;
    }

    /**
     * Reads the base's sections, in the order they were written; none where there is no base.
     *
     * @throws IOException where the disk fails, or the reader throws it
     */
    public void sections(Base.SectionReader reader) throws IOException {
        if (base.number() > 0) {
            folder.sections(base.number(), reader);
        }
    }

    /**
     * Reads the segments above the base, in order.
     *
     * @throws IOException where the disk fails, or the reader throws it
     */
    public void segments(Reader reader) throws IOException {
        folder.chain(base, upTo, reader);
    }

    /** Takes segments. */
    @FunctionalInterface
    public interface Reader {

        /**
         * Takes the next one.
         *
         * @throws IOException passed on
         */
        void segment(Segment segment) throws IOException;
    }
}
