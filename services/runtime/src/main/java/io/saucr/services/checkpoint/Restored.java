package io.saucr.services.checkpoint;

import io.saucr.services.core.Incarnation;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.journal.Base;
import io.saucr.services.journal.RefusedFolderException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a member's folder gives up to one segment: a base, and the unbroken chain above it, which
 * were checked to their last byte when this was made (C4). Nothing beyond that segment is in it.
 * One thread.
 */
public final class Restored {

    private static final Logger LOG = LoggerFactory.getLogger(Restored.class);

    private final SegmentChain chain;
    private final Snapshots snapshots;
    private final MemberBase base;
    private final SegmentId upTo;

    private Restored(SegmentChain chain, Snapshots snapshots, MemberBase base, SegmentId upTo) {
        this.chain = chain;
        this.snapshots = snapshots;
        this.base = base;
        this.upTo = upTo;
    }

    /**
     * Checks the newest base and the chain above it, digest by digest; where that is damaged the
     * older base and its chain (C14), then the chain from segment 1.
     *
     * @throws RefusedFolderException as {@link MemberFolder#restore}
     */
    static Restored of(FolderState state, SegmentChain chain, Snapshots snapshots, SegmentId upTo)
            throws IOException {
        List<String> problems = new ArrayList<>();
        List<MemberBase> candidates = new ArrayList<>(snapshots.all());
        candidates.removeIf(it -> it.at().number() > upTo.number());
        candidates.add(new MemberBase(state.path, SegmentId.NONE, List.of(), 0));
        for (MemberBase base : candidates) {
            try {
                Restored restored = new Restored(chain, snapshots, base, upTo);
                restored.sections((name, content) -> {});
                restored.segments(segment -> {});
                for (String problem : problems) {
                    LOG.warn("Restored in spite of this: {}", problem);
                }
                return restored;
            } catch (RefusedFolderException e) {
                problems.add(e.getMessage());
                snapshots.damaged(e);
            } catch (RefusedSegmentException | MissingSegmentException e) {
                problems.add(e.getMessage());
            }
        }
        for (Damage damage : state.damages()) {
            problems.add(damage.toString());
        }
        throw new RefusedFolderException(
                state.path,
                -1,
                "nothing in it leads to segment "
                        + upTo
                        + ". "
                        + String.join("; ", problems.stream().distinct().toList())
                        + ". All was left as it is. Take the base or segments from another member,"
                        + " or put the files back");
    }

    /** As of which segment the base is; {@link SegmentId#NONE} where the chain begins with 1. */
    public SegmentId base() {
        return base.at();
    }

    /** The epochs up to the base, in order; those above it are the segments'. */
    public List<Incarnation> epochs() {
        return base.epochs();
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
        if (base.at().number() > 0) {
            snapshots.read(base.at().number(), reader);
        }
    }

    /**
     * Reads the segments above the base, in order.
     *
     * @throws IOException where the disk fails, or the reader throws it
     */
    public void segments(Reader reader) throws IOException {
        chain.read(base.at(), upTo, reader);
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
