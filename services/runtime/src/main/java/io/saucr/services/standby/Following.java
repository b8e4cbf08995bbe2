package io.saucr.services.standby;

import io.saucr.services.Address;
import io.saucr.services.checkpoint.Loading;
import io.saucr.services.checkpoint.MemberFolder;
import io.saucr.services.checkpoint.RefusedSegmentException;
import io.saucr.services.checkpoint.Segment;
import io.saucr.services.checkpoint.SharedStore;
import io.saucr.services.core.Birth;
import io.saucr.services.core.standby.Replaced;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.core.standby.Standby;
import io.saucr.services.core.standby.StandbyHead;
import io.saucr.services.ensemble.StandbyNode;
import io.saucr.services.members.MemberFrame;
import io.saucr.services.members.MemberLink;
import io.saucr.services.members.MemberLinks;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a member does while it is not primary: it keeps the primary's segments, has those applied
 * that the head names (C16), and does what {@link Standby} decides. The member's thread, apart from
 * what is said of others.
 */
final class Following {

    private static final Logger LOG = LoggerFactory.getLogger(Following.class);

    /** So long a member that follows may lack what the head names without a word to the log. */
    private static final long LACKS_MILLIS = 2_000;

    /** So long the primary may take to send what a member lacks. */
    private static final long LINK_MILLIS = 500;

    private static final long LOAD_AGAIN_MILLIS = 200;
    private static final long KEPT_SECONDS = 30;

    /** So often a member that reads its state looks whether the office is vacant still. */
    private static final long COLD_MILLIS = 100;

    /** A store that is this much behind is told so by the end of its link. */
    private static final long MOST_ARRIVED_BYTES = 256L << 20;

    /** What a standby asks of its member, on the member's thread. */
    interface Member {

        /** The birth of the service is known, as the head says it: a life may begin. */
        void met(StandbyHead head);

        /** The birth of the service was replaced: the folder has to follow (C17). */
        void bearAnew(Birth birth, Replaced former);

        /** What the head names is to be applied. */
        void apply(SegmentId upTo);

        /** Whether the state is as of this segment, or will be in a moment. */
        boolean isWarm(SegmentId upTo);

        /** This member is primary. */
        void inOffice(StandbyHead head, int version);

        /** This member must not continue. */
        void refused(String reason);

        /** The folder holds a base that the life has not seen: begin another one. */
        void startOver(String reason);
    }

    private final String service;
    private final String name;
    private final Standby core;
    private final StandbyNode node;
    private final Store store;
    private final MemberFolder folder;
    private final MemberLinks links;

    /** The store that members share, where they do. */
    private final Optional<SharedStore.Opener> shared;

    /** Waits for that store. */
    private final Executor reading;

    private final Executor thread;
    private final Member member;
    private Optional<String> followed = Optional.empty();
    private Optional<MemberLink> upstream = Optional.empty();
    private Optional<BaseTransfer.Receiver> base = Optional.empty();
    private boolean warned;
    private boolean doubts;
    private long followsSince;
    private boolean loading;
    private long loadAgainMillis;
    private String notLoaded = "";
    private volatile boolean over;

    Following(
            String service,
            String name,
            Standby core,
            StandbyNode node,
            Store store,
            MemberFolder folder,
            MemberLinks links,
            Optional<SharedStore.Opener> shared,
            Executor reading,
            Executor thread,
            Member member) {
        this.service = service;
        this.name = name;
        this.core = core;
        this.node = node;
        this.store = store;
        this.folder = folder;
        this.links = links;
        this.shared = shared;
        this.reading = reading;
        this.thread = thread;
        this.member = member;
    }

    private static long now() {
        return System.nanoTime() / 1_000_000;
    }

    private void perform(List<Standby.Action> actions) {
        for (Standby.Action action : actions) {
            if (over) {
                return;
            }
            if (action instanceof Standby.Action.Read) {
                node.read();
            } else if (action instanceof Standby.Action.Challenge) {
                if (!doubts) {
                    doubts = true;
                    LOG.info("{}: member {} doubts that the primary lives", service, name);
                }
                node.challenge("member " + name + " asks");
            } else if (action instanceof Standby.Action.Create it) {
                node.create(it.head());
            } else if (action instanceof Standby.Action.Take it) {
                take(it);
            } else if (action instanceof Standby.Action.Follow it) {
                follow(it.head());
            } else if (action instanceof Standby.Action.Apply it) {
                member.apply(it.upTo());
            } else if (action instanceof Standby.Action.Fetch it) {
                warnOnce(it.head());
                load(it.head());
            } else if (action instanceof Standby.Action.BearAnew it) {
                end();
                member.bearAnew(it.birth(), it.former());
            } else if (action instanceof Standby.Action.InOffice it) {
                end();
                member.met(it.head());
                member.inOffice(it.head(), it.version());
            } else if (action instanceof Standby.Action.Refuse it) {
                end();
                member.refused(it.reason());
            }
        }
    }

    private void warnOnce(StandbyHead head) {
        // Who begins to follow lacks most, for a moment.
        if (!warned && now() - followsSince > LACKS_MILLIS) {
            warned = true;
            LOG.warn(
                    "{}: member {} cannot take over: it lacks segment {}, which members {} have{}."
                            + " Start one of them",
                    service,
                    name,
                    head.segment(),
                    head.holders(),
                    ofStore(head));
        }
    }

    /** What is to be said of the store, behind who has a segment. */
    private String ofStore(StandbyHead head) {
        boolean there = head.copies() == StandbyHead.Copies.STORE;
        if (shared.isEmpty()) {
            return there
                    ? ", and a shared store has it, of which this member knows nothing:"
                            + " Protection.standby().store(...)"
                    : "";
        }
        return (there ? ", as has the store " : ", and not the store ")
                + shared.get().where()
                + (notLoaded.isEmpty() ? "" : ", from which it could not be loaded: " + notLoaded);
    }

    /** Gets from the store what the head names, where nobody sends it (C6). */
    private void load(StandbyHead head) {
        long now = now();
        if (shared.isEmpty()
                || loading
                || now - followsSince < LINK_MILLIS
                || now < loadAgainMillis) {
            return;
        }
        loading = true;
        reading.execute(
                () -> {
                    String problem = "";
                    boolean based = false;
                    // After an accepted loss that is of the birth before, until more is named
                    // (C17).
                    Birth of = head.birthOf(head.segment().number());
                    try (SharedStore from = shared.get().open(of)) {
                        based = new Loading(from, folder).load(head.segment(), this::keepLoaded);
                    } catch (IOException | RuntimeException e) {
                        problem = e.getMessage() == null ? e.toString() : e.getMessage();
                    }
                    String why = problem;
                    boolean anew = based;
                    thread.execute(() -> loaded(why, anew));
                });
    }

    /** Where that failed the head is read again before the next try (C14). */
    private void loaded(String problem, boolean based) {
        loading = false;
        if (over) {
            return;
        }
        if (!problem.isEmpty() && !problem.equals(notLoaded)) {
            LOG.warn(
                    "{}: member {} could not load what it lacks from {}: {}",
                    service,
                    name,
                    shared.orElseThrow().where(),
                    problem);
        }
        notLoaded = problem;
        loadAgainMillis = problem.isEmpty() ? 0 : now() + LOAD_AGAIN_MILLIS;
        if (based) {
            member.startOver("a base came from the store");
        }
    }

    /** On the store's thread, as all segments; the reading one waits for it. */
    private boolean keepLoaded(Segment segment) throws IOException {
        CompletableFuture<Boolean> kept = new CompletableFuture<>();
        store.then(
                into -> {
                    boolean keeps = false;
                    try {
                        keeps = !over && isKept(keep(segment, into));
                    } finally {
                        kept.complete(keeps);
                    }
                });
        try {
            return kept.get(KEPT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted");
        } catch (ExecutionException | TimeoutException e) {
            throw new IOException("the disk of this member takes nothing: " + e, e);
        }
    }

    private Standby.Arrival keep(Segment segment, MemberFolder into) throws IOException {
        return put(core.arrived(segment.id(), segment.header().previous()), segment, into);
    }

    /**
     * Keeps a segment as was decided.
     *
     * @return what became of it: where a base from the store came in between, the segment does not
     *     follow any more, and nothing was changed
     */
    static Standby.Arrival put(Standby.Arrival arrival, Segment segment, MemberFolder into)
            throws IOException {
        try {
            if (arrival == Standby.Arrival.REPLACE) {
                into.dropAfter(segment.id().number() - 1);
            }
            if (isKept(arrival) && arrival != Standby.Arrival.KNOWN) {
                into.append(segment);
            }
            return arrival;
        } catch (IllegalArgumentException e) {
            LOG.info("segment {} comes too late: {}", segment.id(), e.getMessage());
            return Standby.Arrival.GAP;
        }
    }

    private static boolean isKept(Standby.Arrival arrival) {
        return arrival != Standby.Arrival.GAP && arrival != Standby.Arrival.REFUSE;
    }

    /** What it lacks to take over, and why; empty text where it could. */
    String lacks() {
        String lacks = core.lacks();
        return lacks.isEmpty() ? "" : lacks + core.head().map(this::ofStore).orElse("");
    }

    /** What it has is forced before it stands for it. */
    private void take(Standby.Action.Take take) {
        if (!member.isWarm(take.head().segment())) {
            // Nobody would be answered before its state is read: until then who is suspected may
            // continue, and another standby comes first. Then all is looked at again.
            store.later(
                    into -> thread.execute(() -> unknown("the state is being read")), COLD_MILLIS);
            return;
        }
        store.then(
                into -> {
                    into.force();
                    thread.execute(
                            () -> {
                                if (!over) {
                                    node.write(take.head(), take.version(), false);
                                }
                            });
                });
    }

    private void follow(StandbyHead head) {
        warned = false;
        doubts = false;
        followsSince = now();
        leave();
        member.met(head);
        if (head.member().equals(name)) {
            // An earlier process of this member, or one on a copy of its folder.
            return;
        }
        LOG.info(
                "{}: member {} follows member {} at {}, epoch {}",
                service,
                name,
                head.member(),
                head.at(),
                head.holder().number());
        followed = Optional.of(head.member());
        links.dial(head.member(), Address.parse(head.at()));
    }

    private void leave() {
        followed.ifPresent(links::leave);
        followed = Optional.empty();
        upstream = Optional.empty();
        base.ifPresent(this::giveUp);
        base = Optional.empty();
    }

    private void end() {
        leave();
        over = true;
    }

    /** Ends it, as the member closes. */
    void close() {
        if (!over) {
            end();
        }
    }

    void tick() {
        if (!over) {
            upstream.ifPresent(
                    it -> {
                        it.lastHeartbeat()
                                .ifPresent(
                                        beat -> perform(core.waits(beat.waitingMillis(), now())));
                        // The last heartbeat may be old: what was heard last says when.
                        core.heard(it.lastHeardNanos() / 1_000_000);
                        askForBase(it);
                    });
        }
        if (!over) {
            perform(core.tick(now()));
        }
    }

    private void askForBase(MemberLink link) {
        if (!over && base.isEmpty()) {
            core.needsSnapshot(now()).ifPresent(from -> link.send(new MemberFrame.NeedsBase(from)));
        }
    }

    void read(Optional<StandbyHead> head, int version) {
        if (!over) {
            perform(core.seen(head, version, now()));
        }
    }

    void wrote(int version) {
        if (!over) {
            perform(core.took(version));
        }
    }

    void unknown(String why) {
        if (!over) {
            LOG.debug("{}: a request of member {}: {}", service, name, why);
            perform(core.unknown(now()));
        }
    }

    void challengeWritten() {
        if (!over) {
            perform(core.challenged(now()));
        }
    }

    // ---- links

    void up(MemberLink link) {
        if (over || !followed.equals(Optional.of(link.hello().member()))) {
            return;
        }
        upstream = Optional.of(link);
        core.linked(now());
        doubts = false;
        link.send(new MemberFrame.Follow(folder.last(), folder.known()));
    }

    void down(MemberLink link) {
        if (!over && isUpstream(link)) {
            upstream = Optional.empty();
            base.ifPresent(this::giveUp);
            base = Optional.empty();
            perform(core.unlinked(now()));
        }
    }

    private boolean isUpstream(MemberLink link) {
        return upstream.map(MemberLink::id).equals(Optional.of(link.id()));
    }

    void frame(MemberLink link, MemberFrame frame) {
        if (over || !isUpstream(link)) {
            return;
        }
        core.heard(now());
        if (frame instanceof MemberFrame.Segment it) {
            segment(link, it);
        } else if (frame instanceof MemberFrame.Committed it) {
            // Behind the segments that came before it.
            store.then(into -> thread.execute(() -> named(it.segment())));
        } else if (frame instanceof MemberFrame.Base
                || frame instanceof MemberFrame.BasePart
                || frame instanceof MemberFrame.BaseEnd) {
            base(link, frame);
        }
    }

    private void named(SegmentId id) {
        if (!over) {
            perform(core.named(id));
        }
    }

    private void segment(MemberLink link, MemberFrame.Segment frame) {
        Segment segment;
        try {
            segment = Segment.decode(frame.bytes());
            segment.header()
                    .throwUnlessOf(
                            service, core.head().orElseThrow().birthOf(segment.header().number()));
        } catch (RefusedSegmentException e) {
            LOG.warn("{}: a segment from {} is refused", service, link.remote(), e);
            link.close("a segment is refused: " + e.getMessage());
            return;
        }
        if (store.arrivedBytes() > MOST_ARRIVED_BYTES) {
            link.close("the disk of member " + name + " is too slow");
            return;
        }
        store.arrived(segment, new Keeping(link));
    }

    private void base(MemberLink link, MemberFrame frame) {
        if (frame instanceof MemberFrame.Base it) {
            base.ifPresent(this::giveUp);
            // One that was asked for twice is of no use.
            base =
                    core.differs() && it.number() <= folder.newestBase().number()
                            ? Optional.empty()
                            : Optional.of(new BaseTransfer.Receiver(core.differs()));
        }
        BaseTransfer.Receiver receiver = base.orElse(null);
        if (receiver == null) {
            return;
        }
        // All of a base does not wait in memory for a slow disk.
        long bytes = frame instanceof MemberFrame.BasePart it ? it.bytes().remaining() : 0;
        link.hold(bytes);
        store.then(
                into -> {
                    boolean done;
                    try {
                        done = receiver.take(frame, into);
                    } catch (IOException | IllegalArgumentException | IllegalStateException e) {
                        LOG.warn("{}: a base from {} is not kept", service, link.remote(), e);
                        receiver.close();
                        link.close("a base is not kept: " + e.getMessage());
                        return;
                    } finally {
                        link.release(bytes);
                    }
                    if (done) {
                        thread.execute(() -> hasBase(link));
                    }
                });
    }

    private void giveUp(BaseTransfer.Receiver receiver) {
        store.then(into -> receiver.close());
    }

    private void hasBase(MemberLink link) {
        if (!over && isUpstream(link)) {
            base = Optional.empty();
            member.startOver("a base came from member " + link.hello().member());
            link.send(new MemberFrame.Follow(folder.last(), folder.known()));
        }
    }

    /** Decides on the store's thread what is kept. */
    private final class Keeping implements Store.Keeping {

        private final MemberLink link;

        Keeping(MemberLink link) {
            this.link = link;
        }

        @Override
        public boolean keeps(Segment segment, MemberFolder into) throws IOException {
            if (over) {
                return false;
            }
            SegmentId id = segment.id();
            Standby.Arrival arrival = keep(segment, into);
            if (!isKept(arrival)) {
                LOG.warn("{}: segment {} from {}: {}", service, id, link.remote(), arrival);
                link.close(
                        arrival == Standby.Arrival.GAP
                                ? "segments before " + id + " are missing"
                                : "segment " + id + " contradicts " + into.last());
            }
            return isKept(arrival);
        }

        @Override
        public void written(long number) {
            link.send(new MemberFrame.Written(number));
        }

        @Override
        public void stored(long number) {
            link.send(new MemberFrame.Stored(number));
        }
    }

    // ---- questions

    Standby core() {
        return core;
    }
}
