package io.saucr.services.standby;

import io.saucr.services.checkpoint.MemberFolder;
import io.saucr.services.checkpoint.Segment;
import io.saucr.services.checkpoint.SharedStore;
import io.saucr.services.checkpoint.ShippedBase;
import io.saucr.services.core.standby.Replaced;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.core.standby.StandbyHead;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts the primary's segments into the store that members share, in order, and its bases. It says
 * that a segment is stored once the whole chain up to it is (C3, C4): what an earlier primary could
 * not put there comes first, from this member's folder. Of bases the two newest stay, with the
 * chain above the older one (C14); orphans go once a base lies above them (C16).
 *
 * <p>Where the store fails, that is told, and all is looked at anew a while later. Segments are put
 * by one thread, bases by another, as these may be large; both may hang with the store.
 */
final class Sharing {

    private static final Logger LOG = LoggerFactory.getLogger(Sharing.class);

    /** So long it is left alone once it failed. */
    static final long RETRY_MILLIS = 1_000;

    /** Segments are kept in memory until they are stored, up to so many bytes. */
    private static final long WAITING_BYTES = 32L << 20;

    /** Where the store is, the threads that write to it, and so long it rests once it failed. */
    record Shared(
            SharedStore.Opener opener,
            ScheduledExecutorService segments,
            ScheduledExecutorService bases,
            long retryMillis) {}

    /** Hears what became of segments. On the threads of the store. */
    interface Listener {

        /** The store has the whole chain up to this segment. */
        void stored(long number);

        /** The store failed. */
        void failed();
    }

    private final String service;
    private final Shared shared;
    private final MemberFolder folder;
    private final StandbyHead taken;
    private final Listener listener;
    private volatile boolean over;
    private volatile String problem = "";

    // Guarded by this.
    private final TreeMap<Long, Segment> waiting = new TreeMap<>();
    private long waitingBytes;
    private long newest;
    private boolean stepping;

    // Of the thread that puts segments; empty before all that was named is there.
    private Optional<SharedStore> store = Optional.empty();

    /** The segment that {@link #stored} numbers; the folder may have let it go since. */
    private SegmentId storedAs = SegmentId.NONE;

    /** Up to which segment the store has the chain. */
    private volatile long stored;

    /** As of which segment the newest base in the store is that leads there. */
    private volatile long newestBase;

    private volatile boolean puttingBase;

    /**
     * Of one epoch.
     *
     * @param taken the head as this member wrote it
     */
    Sharing(
            String service,
            Shared shared,
            MemberFolder folder,
            StandbyHead taken,
            Listener listener) {
        this.service = service;
        this.shared = shared;
        this.folder = folder;
        this.taken = taken;
        this.listener = listener;
        this.newest = taken.segment().number();
    }

    /** Begins with what the head names. */
    void begin() {
        synchronized (this) {
            stepping = true;
        }
        run(shared.segments(), this::step, 0);
    }

    /** A segment was cut, and is in the folder. Any thread. */
    void cut(Segment segment) {
        synchronized (this) {
            newest = segment.id().number();
            waiting.put(newest, segment);
            waitingBytes += segment.bytes();
            while (waitingBytes > WAITING_BYTES && waiting.size() > 1) {
                waitingBytes -= waiting.pollFirstEntry().getValue().bytes();
            }
            if (stepping) {
                return;
            }
            stepping = true;
        }
        run(shared.segments(), this::step, 0);
    }

    /** Why the store holds less than the head names; empty text where it does not. Any thread. */
    String problem() {
        return problem;
    }

    /** Nothing more is put; what is being put may still come, and nobody waits for it. */
    void end() {
        over = true;
    }

    private void run(ScheduledExecutorService on, Runnable task, long millis) {
        try {
            var unused = on.schedule(task, millis, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            LOG.debug("{}: closed", service);
        }
    }

    // ---- segments

    private void step() {
        try {
            if (!over && store.isEmpty()) {
                SharedStore opened = shared.opener().open(taken.holder().birth());
                fill(opened);
                store = Optional.of(opened);
            }
            for (long next = next(); !over && next > 0; next = next()) {
                Segment segment = segment(next);
                store.orElseThrow().append(segment);
                isStored(segment.id());
            }
            lookAtBase();
        } catch (IOException | RuntimeException e) {
            failed(e);
        }
    }

    /** The next one to be put; 0 where none is, and a cut begins anew. */
    private synchronized long next() {
        if (over || stored >= newest) {
            stepping = false;
            return 0;
        }
        return stored + 1;
    }

    private Segment segment(long number) throws IOException {
        Segment here;
        synchronized (this) {
            here = waiting.get(number);
        }
        return here != null ? here : folder.read(number);
    }

    private void isStored(SegmentId segment) {
        long number = segment.number();
        boolean takes;
        synchronized (this) {
            // A store that is full is opened and looked at: that alone fixes nothing.
            takes = number > stored || number >= newest;
            stored = number;
            storedAs = segment;
            while (!waiting.isEmpty() && waiting.firstKey() <= number) {
                waitingBytes -= waiting.pollFirstEntry().getValue().bytes();
            }
        }
        if (takes && !problem.isEmpty()) {
            LOG.info(
                    "{}: the store {} takes segments again, up to {}",
                    service,
                    shared.opener().where(),
                    number);
            problem = "";
        }
        if (!over) {
            listener.stored(number);
        }
    }

    private void failed(Exception e) {
        store = Optional.empty();
        if (over) {
            return;
        }
        String reason = e.getMessage() == null ? e.toString() : e.getMessage();
        if (!reason.equals(problem)) {
            LOG.warn(
                    "{}: the store {} does not take segments, and is tried again: {}",
                    service,
                    shared.opener().where(),
                    reason);
            problem = reason;
        }
        listener.failed();
        run(shared.segments(), this::step, shared.retryMillis());
    }

    /** Has the store hold all that the head named when this member took it, and what came since. */
    private void fill(SharedStore into) throws IOException {
        long upTo = Math.max(stored, taken.segment().number());
        Set<SegmentId> segments = new HashSet<>(into.list());
        List<SegmentId> bases = into.bases();
        throwIfOther(segments, bases);
        SegmentId from = start(into, bases, upTo);
        newestBase = from.number();
        SegmentId end = from;
        for (long number = from.number() + 1; number <= upTo && !over; number++) {
            end = held(number);
            if (!segments.contains(end)) {
                into.append(folder.read(number));
            }
        }
        if (!over) {
            isStored(end);
        }
    }

    private SegmentId held(long number) throws IOException {
        return folder.at(number)
                .orElseThrow(
                        () -> new IOException("segment " + number + " is not in the folder now"));
    }

    /** A store that is not mounted is an empty folder: it must not pass for one that is new. */
    private void throwIfOther(Set<SegmentId> segments, List<SegmentId> bases) throws IOException {
        boolean told = taken.copies() == StandbyHead.Copies.STORE;
        SegmentId newestTold =
                told && taken.segment().number() > stored ? taken.segment() : storedAs;
        long number = newestTold.number();
        if (number == 0
                || segments.contains(newestTold)
                || bases.stream().anyMatch(it -> it.number() >= number)) {
            return;
        }
        throw new IOException(
                "segment "
                        + newestTold
                        + " was stored there, and is not: this is another folder, is not mounted, or"
                        + " was emptied. Mount it. If what was there is lost, hand the primary's role over:"
                        + " the store is filled from members' disks by the first primary whose head"
                        + " does not say copies=store");
    }

    /**
     * From where the chain of the store begins: its newest base that fits, or one that is put. That
     * one may lie above what was stored, where the store failed until the folder let go what
     * follows that.
     */
    private SegmentId start(SharedStore into, List<SegmentId> bases, long upTo) throws IOException {
        long floor = floor();
        SegmentId best = SegmentId.NONE;
        for (SegmentId each : bases) {
            if (each.number() > floor
                    && each.number() <= upTo
                    && folder.at(each.number()).equals(Optional.of(each))) {
                best = each;
            }
        }
        boolean fromFirst = floor == 0 && folder.oldest() == 1;
        if (best.number() > 0 || fromFirst) {
            return best;
        }
        try (ShippedBase own = newestOfFolder(floor, Long.MAX_VALUE)) {
            into.putBase(own);
            return own.at();
        }
    }

    private ShippedBase newestOfFolder(long floor, long upTo) throws IOException {
        ShippedBase own =
                folder.ship()
                        .orElseThrow(
                                () -> new IOException("this member has no base to begin with yet"));
        if (own.at().number() <= floor || own.at().number() > upTo) {
            own.close();
            throw new IOException("this member has no base of this generation to begin with yet");
        }
        return own;
    }

    /** Up to there segments are of the birth before (C17). */
    private long floor() {
        return taken.replaces().map(Replaced::upTo).map(SegmentId::number).orElse(0L);
    }

    // ---- bases

    private void lookAtBase() {
        long number = folder.newestBase().number();
        if (over || puttingBase || number <= Math.max(newestBase, floor()) || number > stored) {
            return;
        }
        puttingBase = true;
        SharedStore into = store.orElseThrow();
        run(shared.bases(), () -> putBase(into), 0);
    }

    private void putBase(SharedStore into) {
        try {
            try (ShippedBase base = newestOfFolder(floor(), stored)) {
                into.putBase(base);
                newestBase = base.at().number();
            }
            sweep(into);
        } catch (IOException | RuntimeException e) {
            if (!over) {
                LOG.warn(
                        "{}: no base could be put into {}; the ones before stand: {}",
                        service,
                        shared.opener().where(),
                        e.getMessage());
            }
        } finally {
            puttingBase = false;
        }
    }

    /** Lets go what two bases do not need, and what no head named. */
    private void sweep(SharedStore into) throws IOException {
        List<SegmentId> bases =
                into.bases().stream()
                        .filter(it -> it.number() <= newestBase)
                        .filter(it -> folder.at(it.number()).equals(Optional.of(it)))
                        .toList();
        if (bases.size() < 2) {
            return;
        }
        // A deposed primary lets go less than its successor would, never more.
        long oldest = bases.get(bases.size() - 2).number();
        for (SegmentId each : into.bases()) {
            if (each.number() < oldest) {
                into.dropBase(each);
            }
        }
        for (SegmentId each : into.list()) {
            boolean orphan =
                    each.number() <= newestBase
                            && folder.at(each.number()).filter(it -> !it.equals(each)).isPresent();
            if (each.number() <= oldest || orphan) {
                into.drop(each);
            }
        }
        into.sweep();
    }
}
