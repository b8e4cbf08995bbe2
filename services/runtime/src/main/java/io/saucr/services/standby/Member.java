package io.saucr.services.standby;

import io.saucr.services.Address;
import io.saucr.services.MemberStatus;
import io.saucr.services.ServiceException;
import io.saucr.services.checkpoint.MemberFolder;
import io.saucr.services.core.Birth;
import io.saucr.services.core.replay.FlowControl;
import io.saucr.services.core.replay.Quarantine;
import io.saucr.services.core.standby.LaneCode;
import io.saucr.services.core.standby.Primary;
import io.saucr.services.core.standby.Replaced;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.core.standby.Standby;
import io.saucr.services.core.standby.StandbyHead;
import io.saucr.services.ensemble.StandbyNode;
import io.saucr.services.journal.OutboxFiles;
import io.saucr.services.journal.RefusedFolderException;
import io.saucr.services.members.MemberFrame;
import io.saucr.services.members.MemberLink;
import io.saucr.services.members.MemberLinks;
import io.saucr.services.members.MemberListener;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One member of a service with standbys: a standby, then perhaps the primary, then a standby again.
 * Everything of it happens on one thread, but the writing of its folder and the turns. Each time
 * that it begins to follow it begins a life, whose state is filled until it is primary or over.
 */
final class Member
        implements StandbyNode.Listener,
                MemberListener,
                Replicated.Member,
                Following.Member,
                Serving.Member {

    private static final Logger LOG = LoggerFactory.getLogger(Member.class);

    private static final long TICK_MILLIS = 20;

    /** A turn that takes longer makes standbys suspect its primary. */
    private static final long LONGEST_TURN_MILLIS = 30_000;

    /** What becomes of lives; on the member's thread, must not wait. */
    interface Lives {

        /** A life begins: turns are to be opened on it. One before it is over. */
        void begin(Replicated life);

        /** The life that began last is over: its turns end. */
        void over(Replicated life, String reason);

        /** The member that was to take over did not: turns continue. */
        void notHanded(String member);

        /** The member must not continue. */
        void refused(String reason);

        /**
         * How long the handler that runs has taken so far, in ms; 0 where none runs. Any thread.
         */
        long handlerMillis();

        /** How long the turns' thread has waited outside of a handler, in ms. Any thread. */
        long blockedMillis();
    }

    /** Says how much the disk could still take. */
    interface Room {
        long usableBytes() throws IOException;
    }

    /** What a member is made of. */
    record Parts(
            String service,
            String name,
            long nonce,
            MemberFolder folder,
            Primary.Rules primary,
            Standby.Rules standby,
            long everyMillis,
            long foldBytes,
            long batchBytes,
            Room room,
            Function<Birth, OutboxFiles> outbox,
            Supplier<Birth> births,
            ScheduledExecutorService thread,
            Executor reading,
            ExecutorService folding,
            Optional<Sharing.Shared> shared,
            Optional<LaneCode> lanes) {}

    private final Parts parts;
    private final Lives lives;
    private final Store store;

    /** Of this process: who restarts it has it replay what it has once more. */
    private final Quarantine quarantine = new Quarantine();

    private StandbyNode node;
    private MemberLinks links;
    private String at;
    private Following following;
    private volatile Serving serving;
    private volatile Replicated life;

    /** As of which segment the state is, or will be in a moment; heartbeats wait for no disk. */
    private volatile long warmUpTo;

    private Optional<Birth> birth = Optional.empty();
    private boolean over;
    private volatile String refusal = "";

    Member(Parts parts, Store store, Lives lives) {
        this.parts = parts;
        this.store = store;
        this.lives = lives;
    }

    /**
     * Begins to follow.
     *
     * @param where where other members reach this one
     */
    void begin(StandbyNode with, MemberLinks over, String where) {
        node = with;
        links = over;
        at = where;
        parts.thread()
                .execute(
                        () -> {
                            parts.folder().birth().ifPresent(this::knows);
                            follow();
                        });
        var unused =
                parts.thread()
                        .scheduleWithFixedDelay(
                                guarded(this::tick),
                                TICK_MILLIS,
                                TICK_MILLIS,
                                TimeUnit.MILLISECONDS);
    }

    private Runnable guarded(Runnable task) {
        return () -> {
            try {
                task.run();
            } catch (RuntimeException e) {
                defect(e);
            }
        };
    }

    private void defect(RuntimeException e) {
        LOG.error("{}: member {} failed; report this", parts.service(), parts.name(), e);
        refuse("member " + parts.name() + " failed: " + e);
    }

    /**
     * On the member's thread, where a defect ends the member, as nobody knows what is true then.
     */
    private void run(Runnable task) {
        try {
            parts.thread().execute(guarded(task));
        } catch (RejectedExecutionException e) {
            LOG.debug("{}: member {} is closed", parts.service(), parts.name());
        }
    }

    private void follow() {
        life = null;
        Standby core =
                new Standby(
                        parts.standby(),
                        parts.name(),
                        parts.nonce(),
                        at,
                        new FolderChain(parts.folder()),
                        parts.births().get(),
                        parts.lanes(),
                        quarantine);
        following =
                new Following(
                        parts.service(),
                        parts.name(),
                        core,
                        node,
                        store,
                        parts.folder(),
                        links,
                        parts.shared().map(Sharing.Shared::opener),
                        parts.reading(),
                        this::run,
                        this);
        tick();
    }

    private void tick() {
        if (over) {
            return;
        }
        if (following != null) {
            following.tick();
            Replicated filled = life;
            warmUpTo = filled == null ? 0 : filled.warmUpTo();
        }
        Serving now = serving;
        if (now != null) {
            now.tick();
        }
    }

    /** Ends it; the head stays. Any thread; waits for the member's thread. */
    void close() {
        CompletableFuture<Void> done = new CompletableFuture<>();
        run(
                () -> {
                    over = true;
                    if (following != null) {
                        following.close();
                    }
                    if (serving != null) {
                        serving.close("member " + parts.name() + " was closed");
                    }
                    if (life != null) {
                        life.end("closed");
                    }
                    done.complete(null);
                });
        try {
            done.orTimeout(10, TimeUnit.SECONDS).join();
        } catch (RuntimeException e) {
            LOG.warn("{}: member {} did not end", parts.service(), parts.name(), e);
        }
    }

    // ---- what a standby asks

    @Override
    public void met(StandbyHead head) {
        Birth of = head.holder().birth();
        if (birth.isEmpty()) {
            knows(of);
            store.then(into -> into.birth(of, head.replaces()));
        }
        if (life == null && quarantine.isOver()) {
            beginLife(of);
        }
    }

    private void beginLife(Birth of) {
        life =
                new Replicated(
                        parts.service(),
                        of,
                        parts.folder(),
                        parts.outbox().apply(of),
                        new Batches(parts.batchBytes()),
                        this,
                        parts.foldBytes(),
                        parts.folding());
        lives.begin(life);
    }

    @Override
    public void bearAnew(Birth now, Replaced former) {
        String reason = "generation " + now + " of the service replaced " + former.birth();
        following = null;
        endLife(reason);
        store.then(
                into -> {
                    try {
                        Optional<MemberFolder.GivenUp> givenUp = into.bearAnew(now, former);
                        run(() -> bornAnew(now, former, givenUp));
                    } catch (RefusedFolderException e) {
                        run(() -> refuse(e.getMessage()));
                    }
                });
    }

    private void bornAnew(Birth now, Replaced former, Optional<MemberFolder.GivenUp> givenUp) {
        if (over) {
            return;
        }
        LOG.warn(
                "{}: member {} follows generation {}, which replaced {} behind segment {}, as an"
                        + " operator accepted a loss. {}",
                parts.service(),
                parts.name(),
                now,
                former.birth(),
                former.upTo(),
                givenUp.map(
                                it ->
                                        "This member has segments "
                                                + it.from()
                                                + " to "
                                                + it.to()
                                                + " of the former generation: they were given up, do not"
                                                + " count any more, and are kept aside in "
                                                + it.files())
                        .orElse("This member has nothing behind that"));
        birth = Optional.of(now);
        links.bornAnew(now);
        follow();
    }

    private void knows(Birth of) {
        birth = Optional.of(of);
        links.birth(of);
    }

    @Override
    public void apply(SegmentId upTo) {
        life.apply(upTo);
    }

    @Override
    public boolean isWarm(SegmentId upTo) {
        return life != null && life.isWarm(upTo);
    }

    @Override
    public void startOver(String reason) {
        endLife(reason);
        long snapshot = parts.folder().newestBase().number();
        if (!quarantine.isOver()) {
            quarantine.loaded(snapshot);
            LOG.warn(
                    "{}: member {} loaded a snapshot as of segment {}{}",
                    parts.service(),
                    parts.name(),
                    snapshot,
                    quarantine.isOver()
                            ? ": it replays what follows, and can take over again"
                            : ", and needs one as of segment " + quarantine.from());
        }
        if (quarantine.isOver()) {
            beginLife(birth.orElseThrow());
        }
    }

    /** The replay of a life differs from what the primary recorded (X14). Any thread. */
    void diverged(Replicated of, String what) {
        run(
                () -> {
                    if (over || of != life) {
                        return;
                    }
                    if (following == null) {
                        refuse(differs(what));
                        return;
                    }
                    long segment = Math.max(1, of.told().number());
                    quarantine.diverged(what, segment, System.nanoTime() / 1_000_000);
                    LOG.error(
                            "{}: the state of member {} differs from the primary's: {}. It stores"
                                    + " segments, and does not take over, until it has loaded a"
                                    + " snapshot of the primary as of segment {} or a later one."
                                    + " Look for what the handler does that a replay can not"
                                    + " repeat",
                            parts.service(),
                            parts.name(),
                            what,
                            segment);
                    endLife("its state differs: " + what);
                });
    }

    private String differs(String what) {
        return "member "
                + parts.name()
                + " has become primary, and its state differs from that of the primary before: "
                + what
                + ". It stops, so that another member takes over";
    }

    @Override
    public void inOffice(StandbyHead head, int version) {
        if (!quarantine.isOver()) {
            // Found while the head was being written.
            refuse(differs(quarantine.difference()));
            return;
        }
        LOG.info(
                "{}: member {} is primary: epoch {}, from segment {}, turn {}",
                parts.service(),
                parts.name(),
                head.holder().number(),
                head.segment(),
                head.turn());
        following = null;
        // No head will ever name what is above: the one that could have is fenced (C16).
        store.then(into -> into.dropAfter(head.segment().number()));
        serving =
                new Serving(
                        parts.service(),
                        parts.primary(),
                        parts.everyMillis(),
                        head,
                        version,
                        node,
                        store,
                        parts.folder(),
                        life,
                        this::run,
                        parts.reading(),
                        parts.shared(),
                        parts.lanes().map(it -> new FlowControl(head.segment().number())),
                        this);
        node.watch();
        life.takeOffice(head);
    }

    @Override
    public void refused(String reason) {
        refuse(reason);
    }

    private void refuse(String reason) {
        if (!over) {
            over = true;
            refusal = reason;
            lives.refused(reason);
        }
    }

    // ---- what the office asks

    @Override
    public void over(String reason, boolean stops) {
        LOG.warn("{}: member {} is no longer primary: {}", parts.service(), parts.name(), reason);
        leaveOffice(reason);
        if (stops) {
            refuse(reason);
        } else {
            follow();
        }
    }

    @Override
    public void handedOver(String to) {
        LOG.info("{}: member {} handed over to member {}", parts.service(), parts.name(), to);
        leaveOffice("handed over to member " + to);
        follow();
    }

    private void leaveOffice(String reason) {
        serving = null;
        node.leave();
        endLife(reason);
    }

    private void endLife(String reason) {
        Replicated before = life;
        life = null;
        if (before != null) {
            before.end(reason);
            lives.over(before, reason);
        }
    }

    @Override
    public void notHanded(String to) {
        lives.notHanded(to);
    }

    // ---- what the ensemble says

    @Override
    public void read(Optional<StandbyHead> head, int version) {
        guarded(
                        () -> {
                            if (following != null) {
                                following.read(head, version);
                            } else if (serving != null) {
                                serving.read(head, version);
                            }
                        })
                .run();
    }

    @Override
    public void wrote(int version) {
        guarded(
                        () -> {
                            if (following != null) {
                                following.wrote(version);
                            } else if (serving != null) {
                                serving.wrote(version);
                            }
                        })
                .run();
    }

    @Override
    public void unknown(String why) {
        guarded(
                        () -> {
                            if (following != null) {
                                following.unknown(why);
                            } else if (serving != null) {
                                serving.unknown(why);
                            }
                        })
                .run();
    }

    @Override
    public void challengeWritten() {
        guarded(
                        () -> {
                            if (following != null) {
                                following.challengeWritten();
                            }
                        })
                .run();
    }

    @Override
    public void challenged() {
        guarded(
                        () -> {
                            if (serving != null) {
                                serving.challenged();
                            }
                        })
                .run();
    }

    // ---- what other members say

    @Override
    public void up(MemberLink link) {
        if (following != null && link.dialled()) {
            following.up(link);
        }
    }

    @Override
    public void frame(MemberLink link, MemberFrame frame) {
        guarded(() -> take(link, frame)).run();
    }

    private void take(MemberLink link, MemberFrame frame) {
        Serving now = serving;
        if (frame instanceof MemberFrame.Follow it) {
            if (now == null) {
                link.close("member " + parts.name() + " is not primary");
            } else {
                now.follow(link, it);
            }
        } else if (frame instanceof MemberFrame.Written it) {
            if (now != null) {
                now.written(link, it.number());
            }
        } else if (frame instanceof MemberFrame.NeedsBase it) {
            if (now != null) {
                now.needsBase(link, it.from());
            }
        } else if (frame instanceof MemberFrame.Stored it) {
            if (now != null) {
                now.stored(link, it.number());
            }
        } else if (following != null) {
            following.frame(link, frame);
        }
    }

    @Override
    public void down(MemberLink link, String reason) {
        LOG.debug("{}: link with {} ended: {}", parts.service(), link.remote(), reason);
        guarded(
                        () -> {
                            if (following != null) {
                                following.down(link);
                            }
                            if (serving != null) {
                                serving.unlinked(link);
                            }
                        })
                .run();
    }

    /** How this member fares, for others. Any thread. */
    MemberFrame.Heartbeat heartbeat() {
        Serving now = serving;
        return now == null
                ? new MemberFrame.Heartbeat(0, warmUpTo)
                : new MemberFrame.Heartbeat(
                        Math.max(now.waitingMillis(), stuckMillis()), now.named().number());
    }

    /**
     * A handler may take long, and one that does not end is taken for one at some time; all else on
     * the turns' thread takes moments (R24).
     */
    private long stuckMillis() {
        long handler = lives.handlerMillis();
        return handler > LONGEST_TURN_MILLIS ? handler : lives.blockedMillis();
    }

    // ---- what a life asks

    @Override
    public void wake() {
        Serving now = serving;
        if (now != null) {
            now.wake();
        }
    }

    @Override
    public CompletableFuture<Void> nameStart() {
        Serving now = serving;
        return now == null
                ? CompletableFuture.failedFuture(new IOException("no longer primary"))
                : now.nameStart();
    }

    @Override
    public void prove(long read) {
        run(
                () -> {
                    if (serving != null) {
                        serving.prove(read);
                    }
                });
    }

    @Override
    public long bytesNotNamed() {
        Serving now = serving;
        return now == null ? 0 : now.bytesNotNamed();
    }

    /** Turns are held: what is there is made final without waiting for its time. Any thread. */
    void cutAtOnce() {
        Serving now = serving;
        if (now != null) {
            now.cutAtOnce();
        }
    }

    /** Of turns that are not final. Any thread. */
    long bytesNotFinal() {
        Replicated now = life;
        return now == null ? 0 : now.bytesNotFinal();
    }

    @Override
    public long usableBytes() throws IOException {
        return parts.room().usableBytes();
    }

    @Override
    public long lastCommitMicros() {
        Serving now = serving;
        return now == null ? 0 : now.lastCommitMicros();
    }

    @Override
    public long leaseMillis() {
        return parts.primary().leaseMillis();
    }

    @Override
    public OptionalLong officeSince() {
        Serving now = serving;
        return now == null ? OptionalLong.empty() : now.officeSince();
    }

    // ---- orders and questions

    /**
     * Finds who takes over from this member; turns continue. Any thread.
     *
     * @param wanted the only one that will do; empty for any
     * @return fails with IllegalArgumentException where nobody is ready, or soon
     */
    CompletableFuture<String> successor(Optional<String> wanted) {
        CompletableFuture<String> found = new CompletableFuture<>();
        run(
                () -> {
                    Serving now = serving;
                    if (now == null) {
                        found.completeExceptionally(notInOffice());
                    } else {
                        now.seek(wanted, found);
                    }
                });
        return found;
    }

    /**
     * Hands the office over; turns are held already. Any thread.
     *
     * @return fails with IllegalArgumentException where that is not possible; done once the order
     *     is under way
     */
    CompletableFuture<Void> handOver(String to) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        run(
                () -> {
                    Serving now = serving;
                    if (now == null) {
                        done.completeExceptionally(notInOffice());
                        return;
                    }
                    try {
                        now.handOver(to);
                        done.complete(null);
                    } catch (IllegalArgumentException e) {
                        done.completeExceptionally(e);
                    }
                });
        return done;
    }

    private IllegalArgumentException notInOffice() {
        return new IllegalArgumentException("member " + parts.name() + " is not primary");
    }

    /** Clients are told this address from the next head on. Any thread. */
    void serves(Address address) {
        run(() -> node.address(address.toString()));
    }

    /** How it is now. Any thread but the member's. */
    MemberStatus status() {
        CompletableFuture<MemberStatus> status = new CompletableFuture<>();
        run(() -> status.complete(statusNow()));
        try {
            return status.orTimeout(10, TimeUnit.SECONDS).join();
        } catch (CompletionException e) {
            throw new ServiceException(
                    "member " + parts.name() + " does not answer: " + e.getCause(), e);
        }
    }

    private MemberStatus statusNow() {
        Serving now = serving;
        Optional<StandbyHead> head =
                now != null
                        ? Optional.of(now.core().head())
                        : following == null ? Optional.empty() : following.core().head();
        String role =
                !refusal.isEmpty()
                        ? "stopped"
                        : now != null ? "primary" : head.isPresent() ? "standby" : "starting";
        // Who follows does not read the head: its copies are the primary's affair.
        boolean old = following != null && following.core().isLinked();
        Optional<StandbyHead> fresh = head.filter(it -> !old);
        return new MemberStatus(
                parts.name(),
                role,
                head.map(it -> it.holder().number()).orElse(0L),
                head.map(StandbyHead::member).orElse(""),
                head.map(StandbyHead::at).orElse(""),
                now != null ? now.named().number() : parts.folder().known(),
                parts.folder().last().number(),
                life == null ? 0 : life.applied().number(),
                fresh.map(it -> it.copies().name().toLowerCase(Locale.ROOT)).orElse(""),
                fresh.map(it -> List.copyOf(it.holders())).orElse(List.of()),
                now == null ? Map.of() : now.core().copies(),
                following != null && following.core().isLinked(),
                following == null ? "" : following.lacks(),
                now == null ? 0 : now.waitingMillis(),
                now == null ? 0 : now.lastCommitMicros(),
                now == null ? "" : now.storeProblem(),
                node.isConnected(),
                refusal,
                parts.lanes().map(LaneCode::toString).orElse(""),
                quarantine.difference(),
                quarantine.count(),
                now != null ? now.millisBehind() : life == null ? 0 : life.millisBehind());
    }
}
