package org.apache.zookeeper.server.persistence;

import io.saucr.core.log.ProposalTag;
import io.saucr.core.quorum.View;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.zookeeper.server.Request;

/**
 * What is known of proposals before they are appended: the tag that applies to each of them (R1,
 * R3), the view that it seals (R23), and the bytes in which it was sent or received, so that they
 * need not be made again.
 *
 * <p>The thread that proposes or receives adds to it, in the order of zxids and before it hands the
 * proposal on; the thread that appends takes from it, in the same order. {@link #forget} is called
 * when neither does. No lock: the pipeline must not wait for the log here.
 */
final class AnnouncedProposals {
    /** Each applies from its zxid on, until the next. */
    private final ConcurrentLinkedQueue<Announcement> announcements = new ConcurrentLinkedQueue<>();

    private final ConcurrentLinkedQueue<Proposed> proposals = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<View> views = new ConcurrentLinkedQueue<>();

    // The thread that proposes or receives.
    private long announcedBytes;

    // Of the entry that was appended last; written by the appending thread, or by forget().
    private volatile ProposalTag tag;
    private volatile boolean everythingForced;

    private record Announcement(long from, ProposalTag tag, boolean everythingForced) {}

    private static final class Proposed {
        final long zxid;
        final byte[] bytes;

        Proposed(long zxid, byte[] bytes) {
            this.zxid = zxid;
            this.bytes = bytes;
        }
    }

    /**
     * Proposals from this zxid on carry this tag, until another is announced.
     *
     * @param tag null if they carry none
     * @param everythingForced whether they are forced before their ack even if the tag says fast
     */
    void announce(long from, ProposalTag tag, boolean everythingForced) {
        announcements.add(new Announcement(from, tag, everythingForced));
    }

    /**
     * A proposal that will be appended, unless a snapshot covers it.
     *
     * @param bytes those of the log; not changed any more
     */
    void proposed(long zxid, byte[] bytes) {
        proposals.add(new Proposed(zxid, bytes));
        announcedBytes += bytes.length;
    }

    /** Bytes of all proposals so far. For the thread that announces them. */
    long announcedBytes() {
        return announcedBytes;
    }

    /** The proposal that the view names by its zxid seals it. */
    void seals(View view) {
        views.add(view);
    }

    /** Nothing is announced any more: there is no tag until the next announcement. */
    void forget() {
        announcements.clear();
        proposals.clear();
        views.clear();
        tag = null;
        everythingForced = false;
    }

    /** The bytes of the proposal that is appended now; made here if they were not announced. */
    byte[] takeBytes(long zxid, Request request) {
        Proposed head = proposals.peek();
        while (head != null && head.zxid < zxid) {
            proposals.remove();
            head = proposals.peek();
        }
        if (head == null || head.zxid != zxid) {
            return request.getSerializeData();
        }
        proposals.remove();
        return head.bytes;
    }

    /** The tag of the proposal that is appended now; null if it has none. */
    ProposalTag takeTag(long zxid) {
        ProposalTag current = tag;
        for (Announcement next = announcements.peek();
                next != null && next.from <= zxid;
                next = announcements.peek()) {
            current = next.tag;
            tag = current;
            everythingForced = next.everythingForced;
            announcements.remove();
        }
        return current;
    }

    /** The view that the proposal which is appended now seals; null if it seals none. */
    View takeView(long zxid) {
        View head = views.peek();
        while (head != null && head.seal() < zxid) {
            views.remove();
            head = views.peek();
        }
        if (head == null || head.seal() != zxid) {
            return null;
        }
        views.remove();
        return head;
    }

    /** The tag of the entry that was appended last, or null. Any thread. */
    ProposalTag tag() {
        return tag;
    }

    /** Whether that entry is forced before its ack, whatever its tag says. Any thread. */
    boolean everythingForced() {
        return everythingForced;
    }
}
