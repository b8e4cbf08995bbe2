package io.saucr.services.checkpoint;

import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.journal.RefusedFolderException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gets what a member's folder lacks from the store that members share, up to a segment that the
 * head names, and never beyond (C6): the unbroken chain, digest by digest, down to what the folder
 * has, or to a base (C4). Where a base is damaged the older one serves, with its chain (C14). One
 * thread, which waits for the store.
 */
public final class Loading {

    private static final int PART_BYTES = 256 << 10;

    private static final Logger LOG = LoggerFactory.getLogger(Loading.class);

    /** Keeps what was loaded. */
    public interface Keeping {

        /**
         * Keeps the next segment.
         *
         * @return whether more is wanted
         * @throws IOException where it does not fit, or the folder fails
         */
        boolean keep(Segment segment) throws IOException;
    }

    /**
     * From where to where: a base, where the number is above 0 and it is to be taken, then these.
     */
    private record Chain(SegmentId base, boolean takesBase, Deque<SegmentId> segments) {}

    private final SharedStore store;
    private final MemberFolder folder;
    private final List<String> problems = new ArrayList<>();
    private final Set<SegmentId> damaged = new HashSet<>();

    /**
     * Nothing is read yet.
     *
     * @param folder into which bases are taken
     */
    public Loading(SharedStore store, MemberFolder folder) {
        this.store = store;
        this.folder = folder;
    }

    /**
     * Loads.
     *
     * @return whether a base was taken, so that the state begins anew
     * @throws MissingSegmentException where something is not there (any more): the head is to be
     *     read again (C14)
     * @throws IOException where the store or the folder fails
     */
    public boolean load(SegmentId upTo, Keeping keeping) throws IOException {
        boolean based = false;
        for (; ; ) {
            Chain chain = find(upTo);
            if (chain.takesBase()) {
                try {
                    take(chain.base());
                    based = true;
                } catch (RefusedFolderException e) {
                    LOG.warn("A base of the store cannot be used: {}", e.getMessage());
                    problems.add(e.getMessage());
                    damaged.add(chain.base());
                    continue;
                }
            }
            for (SegmentId each : chain.segments()) {
                if (!keeping.keep(store.read(each))) {
                    return based;
                }
            }
            return based;
        }
    }

    /** Down from a segment, as only the digests of predecessors say who they are. */
    private Chain find(SegmentId upTo) throws IOException {
        Set<SegmentId> bases = new HashSet<>(store.bases());
        List<SegmentId> all = new ArrayList<>(store.list());
        all.addAll(bases);
        Deque<SegmentId> segments = new ArrayDeque<>();
        SegmentId at = upTo;
        for (; ; ) {
            SegmentId here = at;
            if (folder.at(at.number()).filter(here::equals).isPresent()) {
                return new Chain(at, false, segments);
            }
            if (bases.contains(at) && !damaged.contains(at)) {
                return new Chain(at, true, segments);
            }
            Segment segment;
            try {
                segment = store.read(at);
            } catch (MissingSegmentException e) {
                throw missing(e.getMessage());
            }
            segments.addFirst(at);
            at = before(segment, all);
        }
    }

    private SegmentId before(Segment segment, List<SegmentId> all) throws MissingSegmentException {
        long number = segment.header().number() - 1;
        String digest = segment.header().previous();
        if (number == 0) {
            return SegmentId.NONE;
        }
        for (SegmentId each : all) {
            if (each.number() == number && each.digest().equals(digest)) {
                return each;
            }
        }
        throw missing(
                "segment "
                        + number
                        + ", after which segment "
                        + segment.id()
                        + " comes, is not there, nor a base as of it");
    }

    private MissingSegmentException missing(String what) {
        return new MissingSegmentException(
                String.join("; ", problems) + (problems.isEmpty() ? "" : "; ") + what);
    }

    private void take(SegmentId at) throws IOException {
        try (ShippedBase base = store.base(at)) {
            if (folder.last().number() >= at.number()) {
                // Of an epoch that is over: else it would lead there.
                folder.dropAfter(folder.known());
            }
            try (BaseReceipt receipt = folder.receive(at.number(), base.length(), base.digest())) {
                for (ByteBuffer part = base.next(PART_BYTES);
                        part.hasRemaining();
                        part = base.next(PART_BYTES)) {
                    receipt.part(part);
                }
                SegmentId unused = receipt.finish();
            }
        }
    }
}
