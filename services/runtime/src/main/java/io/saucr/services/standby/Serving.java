package io.saucr.services.standby;

import io.saucr.services.checkpoint.MemberFolder;
import io.saucr.services.checkpoint.Segment;
import io.saucr.services.checkpoint.SegmentHeader;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.replay.FlowControl;
import io.saucr.services.core.standby.Primary;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.core.standby.StandbyHead;
import io.saucr.services.ensemble.StandbyNode;
import io.saucr.services.members.MemberFrame;
import io.saucr.services.members.MemberLink;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a member does while it is primary: it cuts segments, stores them and sends them to its
 * standbys at the same time, and does with the head what {@link Primary} decides. The member's
 * thread, apart from what is said of others.
 */
final class Serving {

    private static final Logger LOG = LoggerFactory.getLogger(Serving.class);

    /** One waits for the head, and the next is being stored. */
    private static final int MOST_NOT_NAMED = 2;

    /** A follower that says nothing for so long holds no requests back (X16). */
    private static final long SILENT_MILLIS = 500;

    /** No proof of office yet, or none any more. */
    private static final long NONE = Long.MIN_VALUE;

    /** Segments are kept in memory for standbys up to so many bytes. */
    private static final long RECENT_BYTES = 32L << 20;

    /** So many bytes are under way to a standby that catches up. */
    private static final long AHEAD_BYTES = 8L << 20;

    /** So long a successor may still read its state, while turns continue. */
    private static final long READING_MILLIS = 5_000;

    /** What the office asks of its member, on the member's thread. */
    interface Member {

        /** Out of office. */
        void over(String reason, boolean stops);

        /** A successor takes over. */
        void handedOver(String member);

        /** That member was not there to take over. */
        void notHanded(String member);
    }

    private static final class Follower {
        final MemberLink link;
        long next;
        boolean reading;
        boolean sendsBase;

        Follower(MemberLink link, long next) {
            this.link = link;
            this.next = next;
        }
    }

    /** A successor that is sought. */
    private record Sought(
            Optional<String> wanted, long untilMillis, CompletableFuture<String> found) {}

    private record Recent(Segment segment, long cutNanos) {}

    private final String service;
    private final Incarnation self;
    private final Primary core;

    /** Asynchronously, between two cuts; 0 where each turn is cut as soon as it can be. */
    private final long everyMillis;

    private final StandbyNode node;
    private final Store store;
    private final MemberFolder folder;
    private final Replicated life;
    private final Executor thread;
    private final Executor reading;
    private final Member member;
    private final Map<String, Follower> followers = new HashMap<>();
    private final TreeMap<Long, Recent> recent = new TreeMap<>();
    private final Optional<FlowControl> flow;
    private volatile long millisBehind;
    private long recentBytes;
    private final ArrayDeque<Waiting> starting = new ArrayDeque<>();
    private final AtomicBoolean waking = new AtomicBoolean();
    private final AtomicLong notNamed = new AtomicLong();
    private final AtomicLong bytesNotNamed = new AtomicLong();
    private volatile long oldestNotNamedNanos;
    private volatile long lastCommitMicros;
    private volatile SegmentId named;
    private volatile boolean over;
    private volatile long officeMillis = NONE;

    /** Whether a cut does not wait for its time, as turns are held. */
    private volatile boolean atOnce;

    /**
     * Whether a standby answers promptly, or the store does, so that what is written may be forced
     * later (C15).
     */
    private volatile boolean prompt;

    /** What puts segments into the store that members share, where they do. */
    private final Optional<Sharing> sharing;

    private Optional<Sought> sought = Optional.empty();
    private Optional<String> handTo = Optional.empty();

    // Of the store's thread.
    private SegmentId tail;
    private long tailTurn;
    private boolean forcing;
    private long cutNanos;
    private boolean cutsLater;
    private volatile CompletableFuture<Void> start;

    private record Waiting(long number, CompletableFuture<Void> done) {}

    Serving(
            String service,
            Primary.Rules rules,
            long everyMillis,
            StandbyHead head,
            int version,
            StandbyNode node,
            Store store,
            MemberFolder folder,
            Replicated life,
            Executor thread,
            Executor reading,
            Optional<Sharing.Shared> shared,
            Optional<FlowControl> flow,
            Member member) {
        this.service = service;
        this.flow = flow;
        this.self = head.holder();
        this.core = new Primary(rules, head, version);
        this.everyMillis = everyMillis;
        this.cutNanos = System.nanoTime() - everyMillis * 1_000_000;
        this.node = node;
        this.store = store;
        this.folder = folder;
        this.life = life;
        this.thread = thread;
        this.reading = reading;
        this.member = member;
        this.named = head.segment();
        this.tail = head.segment();
        this.tailTurn = head.turn();
        this.sharing = shared.map(it -> new Sharing(service, it, folder, head, new OfStore()));
        sharing.ifPresent(
                it -> {
                    core.sharesStore();
                    prompt = true;
                    it.begin();
                });
    }

    /** What the shared store says, on its threads. */
    private final class OfStore implements Sharing.Listener {

        @Override
        public void stored(long number) {
            thread.execute(
                    () -> {
                        if (!over) {
                            perform(core.stored(number, now()));
                            look();
                        }
                    });
        }

        @Override
        public void failed() {
            thread.execute(
                    () -> {
                        if (!over) {
                            perform(core.storeFailed(now()));
                            look();
                        }
                    });
        }
    }

    private static long now() {
        return System.nanoTime() / 1_000_000;
    }

    // ---- cutting: the store's thread

    /** There may be something to cut. Any thread. */
    void wake() {
        if (!over && waking.compareAndSet(false, true)) {
            store.then(this::cut);
        }
    }

    /** Has an empty segment named, which tells this start to all that come later. Any thread. */
    CompletableFuture<Void> nameStart() {
        CompletableFuture<Void> done = new CompletableFuture<>();
        start = done;
        wake();
        if (over) {
            done.completeExceptionally(new IOException("no longer primary"));
        }
        return done;
    }

    private void cut(MemberFolder into) throws IOException {
        waking.set(false);
        if (over || notNamed.get() >= (everyMillis > 0 ? 1 : MOST_NOT_NAMED)) {
            return;
        }
        CompletableFuture<Void> starts = start;
        if (starts == null && (waits() || isFewer())) {
            return;
        }
        Segment segment;
        long from = System.nanoTime();
        if (starts != null) {
            start = null;
            notNamed.incrementAndGet();
            segment = segment(tailTurn + 1, tailTurn, new byte[0]);
        } else {
            // Before it is taken: who hands over must not miss it in between.
            notNamed.incrementAndGet();
            Optional<Uncut.Cut> batch = life.uncut().cut();
            if (batch.isEmpty()) {
                notNamed.decrementAndGet();
                if (life.uncut().tellAt(1)) {
                    wake();
                }
                if (atOnce) {
                    thread.execute(this::handOverIfDone);
                }
                return;
            }
            cutNanos = from;
            if (everyMillis == 0) {
                from = batch.get().addedNanos();
                // What is there already is looked at below.
                boolean unused = life.uncut().tellAt(batch.get().count());
            }
            segment = segment(batch.get().firstTurn(), batch.get().lastTurn(), batch.get().body());
        }
        bytesNotNamed.addAndGet(segment.bytes());
        tail = segment.id();
        tailTurn = segment.header().lastTurn();
        life.cut(tail, tailTurn);
        long since = from;
        thread.execute(() -> wasCut(segment, since, Optional.ofNullable(starts)));
        into.append(segment);
        sharing.ifPresent(it -> it.cut(segment));
        if (prompt) {
            long number = tail.number();
            thread.execute(
                    () -> {
                        if (!over) {
                            perform(core.written(number, now()));
                        }
                    });
            if (!forcing) {
                forcing = true;
                store.later(this::force, Store.FORCED_AFTER_MILLIS);
            }
        } else {
            force(into);
        }
        wake();
    }

    /**
     * Whether a segment is under way and what came since is less than it holds: that waits for
     * more, or until nothing is under way. So clients that wait for their answers come together in
     * one segment, where each would cost disks, links and the ensemble as much as one of all; and
     * where turns come evenly, two segments of the same size are under way.
     */
    private boolean isFewer() {
        return notNamed.get() > 0 && !atOnce && !life.uncut().isEnough();
    }

    /** Whether the next cut has to wait for its time; it comes on its own then. */
    private boolean waits() {
        long passed = (System.nanoTime() - cutNanos) / 1_000_000;
        if (passed >= everyMillis || atOnce || life.uncut().isFull()) {
            return false;
        }
        if (!cutsLater) {
            cutsLater = true;
            store.later(
                    into -> {
                        cutsLater = false;
                        cut(into);
                    },
                    everyMillis - passed);
        }
        return true;
    }

    private void force(MemberFolder into) throws IOException {
        forcing = false;
        long number = tail.number();
        into.force();
        thread.execute(
                () -> {
                    if (!over) {
                        perform(core.forced(number, now()));
                    }
                });
    }

    private Segment segment(long firstTurn, long lastTurn, byte[] body) {
        return Segment.of(
                new SegmentHeader(
                        service,
                        self,
                        tail.number() + 1,
                        firstTurn,
                        lastTurn,
                        tail.digest(),
                        named.number()),
                body);
    }

    // ---- the member's thread

    private void wasCut(Segment segment, long cutNanos, Optional<CompletableFuture<Void>> starts) {
        if (over) {
            starts.ifPresent(it -> it.completeExceptionally(new IOException("no longer primary")));
            return;
        }
        long number = segment.header().number();
        starts.ifPresent(it -> starting.add(new Waiting(number, it)));
        recent.put(number, new Recent(segment, cutNanos));
        recentBytes += segment.bytes();
        oldestNotNamedNanos = oldest();
        for (Follower follower : followers.values()) {
            feed(follower);
        }
        perform(core.cut(segment.id(), segment.header().lastTurn(), now()));
        forgetRecent();
    }

    private long oldest() {
        Map.Entry<Long, Recent> first = recent.higherEntry(named.number());
        return first == null ? 0 : first.getValue().cutNanos();
    }

    private void forgetRecent() {
        while (recentBytes > RECENT_BYTES && recent.firstKey() <= named.number()) {
            recentBytes -= recent.pollFirstEntry().getValue().segment().bytes();
        }
    }

    /** Does what was decided. */
    private void perform(List<Primary.Action> actions) {
        for (Primary.Action action : actions) {
            if (over) {
                return;
            }
            if (action instanceof Primary.Action.Write it) {
                node.write(it.head(), it.version(), true);
            } else if (action instanceof Primary.Action.Check it) {
                node.check(it.version(), holds -> thread.execute(() -> checked(holds)));
            } else if (action instanceof Primary.Action.Read) {
                node.read();
            } else if (action instanceof Primary.Action.Named it) {
                isNamed(it.segment(), it.turn());
            } else if (action instanceof Primary.Action.Proven it) {
                life.proven(it.read());
            } else if (action instanceof Primary.Action.NotHanded it) {
                atOnce = false;
                member.notHanded(it.member());
            } else if (action instanceof Primary.Action.HandedOver it) {
                end("handed over to member " + it.member());
                member.handedOver(it.member());
            } else if (action instanceof Primary.Action.Over it) {
                end(it.reason());
                member.over(it.reason(), it.stops());
            }
        }
    }

    private void isNamed(SegmentId id, long turn) {
        Map<Long, Recent> done = recent.subMap(named.number() + 1, id.number() + 1);
        for (Recent each : done.values()) {
            notNamed.decrementAndGet();
            bytesNotNamed.addAndGet(-each.segment().bytes());
            lastCommitMicros = (System.nanoTime() - each.cutNanos()) / 1_000;
        }
        named = id;
        flow.ifPresent(it -> it.named(id.number(), now()));
        if (notNamed.get() == 0) {
            // Whatever is there is looked at below.
            boolean unused = life.uncut().tellAt(1);
        }
        oldestNotNamedNanos = oldest();
        life.named(turn);
        MemberFrame committed = new MemberFrame.Committed(id);
        followers.values().forEach(it -> it.link.send(committed));
        while (!starting.isEmpty() && starting.element().number() <= id.number()) {
            starting.remove().done().complete(null);
        }
        wake();
        handOverIfDone();
    }

    private void end(String reason) {
        over = true;
        sharing.ifPresent(Sharing::end);
        IOException cause = new IOException(reason);
        starting.forEach(it -> it.done().completeExceptionally(cause));
        CompletableFuture<Void> starts = start;
        if (starts != null) {
            starts.completeExceptionally(cause);
        }
        sought.ifPresent(it -> it.found().completeExceptionally(cause));
        followers.values().forEach(it -> it.link.close(reason));
        followers.clear();
    }

    /** Ends it without a word to the head, as the member closes. */
    void close(String reason) {
        if (!over) {
            end(reason);
        }
    }

    void wrote(int version) {
        if (!over) {
            List<Primary.Action> actions = core.wrote(version, now());
            lookAtOffice();
            perform(actions);
        }
    }

    private void checked(boolean holds) {
        if (!over) {
            List<Primary.Action> actions = holds ? core.checked(now()) : core.unchecked();
            lookAtOffice();
            perform(actions);
        }
    }

    private void lookAtOffice() {
        officeMillis = core.officeSince().orElse(NONE);
    }

    /** Since when it was primary for certain; empty where it is not (C9). Any thread. */
    OptionalLong officeSince() {
        long since = officeMillis;
        return over || since == NONE ? OptionalLong.empty() : OptionalLong.of(since);
    }

    void unknown(String why) {
        if (!over) {
            LOG.debug("{}: a request to the head: {}", service, why);
            perform(core.unknown());
        }
    }

    void read(Optional<StandbyHead> head, int version) {
        if (!over) {
            perform(core.seen(head, version, now()));
        }
    }

    void challenged() {
        if (!over) {
            perform(core.challenged(now()));
        }
    }

    void prove(long read) {
        if (!over) {
            perform(core.prove(read, now()));
        }
    }

    void tick() {
        if (over) {
            return;
        }
        followers.forEach(
                (name, it) -> {
                    core.heard(name, it.link.lastHeardNanos() / 1_000_000);
                    it.link
                            .lastHeartbeat()
                            .ifPresent(beat -> hasState(name, it.link, beat.state()));
                });
        flow.ifPresent(
                it -> {
                    millisBehind = it.fastestMillisBehind(now());
                    life.uncut().tick(millisBehind);
                });
        sought.ifPresent(this::seek);
        look();
        perform(core.tick(now()));
        followers.values().forEach(this::feed);
    }

    private void hasState(String name, MemberLink link, long segment) {
        core.hasState(name, segment);
        if (now() - link.lastHeardNanos() / 1_000_000 > SILENT_MILLIS) {
            flow.ifPresent(it -> it.silent(name));
        } else {
            flow.ifPresent(it -> it.replayed(name, segment, now()));
        }
    }

    /** Alone, all that is written is forced before the head moves (C15). */
    private void look() {
        boolean was = prompt;
        prompt = core.isPrompt(now());
        if (was && !prompt) {
            store.then(this::force);
        }
    }

    // ---- standbys

    /** A standby asks for all segments from now on. */
    void follow(MemberLink link, MemberFrame.Follow asks) {
        SegmentId last = asks.last();
        // What is above is being dropped from this folder, too.
        boolean shares =
                last.equals(SegmentId.NONE)
                        || (last.number() <= core.newest().number()
                                && folder.at(last.number()).equals(Optional.of(last)));
        long from = shares ? last.number() : asks.base();
        if ((from > 0 && folder.at(from).isEmpty()) || from + 1 < folder.oldest()) {
            from = 0;
        }
        if (from + 1 < folder.oldest() || from < folder.untold()) {
            sendBase(link);
            return;
        }
        String name = link.hello().member();
        Follower before = followers.put(name, new Follower(link, from + 1));
        if (before != null && before.link.id() != link.id()) {
            before.link.close("a newer link of the same member is there");
        }
        core.linked(name, now());
        if (shares && last.number() > 0) {
            perform(core.forced(name, last.number(), now()));
        }
        Follower follower = followers.get(name);
        if (follower != null) {
            link.send(new MemberFrame.Committed(named));
            feed(follower);
        }
    }

    /** A standby needs a base in place of its own state, as of a segment or a later one (X14). */
    void needsBase(MemberLink link, long from) {
        Follower follower = followers.get(link.hello().member());
        if (over || follower == null || follower.link.id() != link.id() || follower.sendsBase) {
            return;
        }
        if (folder.newestBase().number() < from) {
            // It asks again.
            life.uncut().snapshotSoon();
            return;
        }
        follower.sendsBase = true;
        sendBase(link);
        reading.execute(() -> thread.execute(() -> follower.sendsBase = false));
    }

    private void sendBase(MemberLink link) {
        reading.execute(
                () -> {
                    try {
                        BaseTransfer.send(folder, link);
                    } catch (IOException e) {
                        LOG.warn("{}: no base could be sent to {}", service, link.remote(), e);
                        link.close("no base could be sent: " + e.getMessage());
                    }
                });
    }

    /** Sends what comes next, as far as the link takes it. */
    private void feed(Follower follower) {
        while (!over
                && !follower.reading
                && follower.next <= newest()
                && follower.link.unsentBytes() < AHEAD_BYTES) {
            Recent here = recent.get(follower.next);
            if (here == null) {
                read(follower);
                return;
            }
            follower.link.send(new MemberFrame.Segment(here.segment().encoded()));
            follower.next++;
        }
    }

    private long newest() {
        return recent.isEmpty() ? core.newest().number() : recent.lastKey();
    }

    /** From the folder, next to the member's thread. */
    private void read(Follower follower) {
        follower.reading = true;
        long number = follower.next;
        reading.execute(
                () -> {
                    Segment found;
                    try {
                        found = folder.read(number);
                    } catch (IOException | RuntimeException e) {
                        LOG.warn("{}: segment {} could not be read", service, number, e);
                        follower.link.close("segment " + number + " could not be read");
                        return;
                    }
                    thread.execute(
                            () -> {
                                follower.reading = false;
                                if (!over && follower.next == number) {
                                    follower.link.send(new MemberFrame.Segment(found.encoded()));
                                    follower.next++;
                                    feed(follower);
                                }
                            });
                });
    }

    void written(MemberLink link, long number) {
        String name = link.hello().member();
        Follower follower = followers.get(name);
        if (!over && follower != null && follower.link.id() == link.id()) {
            perform(core.written(name, number, now()));
            look();
            feed(follower);
        }
    }

    void stored(MemberLink link, long number) {
        String name = link.hello().member();
        Follower follower = followers.get(name);
        if (!over && follower != null && follower.link.id() == link.id()) {
            perform(core.forced(name, number, now()));
            if (!over && number == named.number()) {
                // It may have been told so before it had the segment.
                link.send(new MemberFrame.Committed(named));
            }
            feed(follower);
        }
    }

    void unlinked(MemberLink link) {
        String name = link.hello().member();
        Follower follower = followers.get(name);
        if (!over && follower != null && follower.link.id() == link.id()) {
            followers.remove(name);
            flow.ifPresent(it -> it.silent(name));
            List<Primary.Action> actions = core.unlinked(name, now());
            look();
            perform(actions);
        }
    }

    // ---- handing over

    /**
     * Finds who takes over, for whom it is waited a while where he only reads his state still:
     * nobody would be answered meanwhile, and here all are.
     *
     * @param found fails with IllegalArgumentException where nobody is ready
     */
    void seek(Optional<String> wanted, CompletableFuture<String> found) {
        seek(new Sought(wanted, now() + READING_MILLIS, found));
    }

    private void seek(Sought asked) {
        sought = Optional.empty();
        try {
            Optional<String> found = core.successor(asked.wanted(), now() < asked.untilMillis());
            if (found.isPresent()) {
                asked.found().complete(found.get());
            } else {
                sought = Optional.of(asked);
            }
        } catch (IllegalArgumentException e) {
            asked.found().completeExceptionally(e);
        }
    }

    /**
     * Hands over once all turns are named; turns are held meanwhile.
     *
     * @throws IllegalArgumentException where that member is not ready any more
     */
    void handOver(String to) {
        if (!core.ready().contains(to)) {
            throw new IllegalArgumentException(
                    "member "
                            + to
                            + " is not ready to take over any more; ready are "
                            + core.ready());
        }
        handTo = Optional.of(to);
        cutAtOnce();
        handOverIfDone();
    }

    /** Turns are held: what is there is cut without waiting for its time. Any thread. */
    void cutAtOnce() {
        atOnce = true;
        wake();
    }

    private void handOverIfDone() {
        if (!over && handTo.isPresent() && life.uncut().bytes() == 0 && notNamed.get() == 0) {
            String to = handTo.get();
            handTo = Optional.empty();
            try {
                perform(core.handOver(to, now()));
            } catch (IllegalArgumentException e) {
                LOG.warn("{}: {}", service, e.getMessage());
                atOnce = false;
                member.notHanded(to);
            }
        }
    }

    // ---- questions

    Primary core() {
        return core;
    }

    /** How far the replay of the fastest standby is behind (X16), in milliseconds. Any thread. */
    long millisBehind() {
        return millisBehind;
    }

    long bytesNotNamed() {
        return bytesNotNamed.get();
    }

    long lastCommitMicros() {
        return lastCommitMicros;
    }

    /** Why the shared store does not hold all; empty text where it does, or there is none. */
    String storeProblem() {
        return sharing.map(Sharing::problem).orElse("");
    }

    /** How long the oldest turn has waited for the head (R24). Any thread. */
    long waitingMillis() {
        long since = oldestNotNamedNanos;
        long cut = since == 0 ? 0 : (System.nanoTime() - since) / 1_000_000;
        // Until its time has come a turn waits for no disk and no head.
        return Math.max(cut, life.uncut().oldestMillis() - everyMillis);
    }

    /** The newest segment that the head names. Any thread. */
    SegmentId named() {
        return named;
    }
}
