package io.saucr.services.standby;

import io.saucr.services.Address;
import io.saucr.services.Halt;
import io.saucr.services.ServiceException;
import io.saucr.services.checkpoint.MemberFolder;
import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.standby.LaneCode;
import io.saucr.services.core.standby.Primary;
import io.saucr.services.core.standby.Standby;
import io.saucr.services.ensemble.ServicePath;
import io.saucr.services.ensemble.StandbyNode;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.OutboxFiles;
import io.saucr.services.members.MemberFrame;
import io.saucr.services.members.MemberLinks;
import io.saucr.services.wire.NetOptions;
import io.saucr.services.wire.Transport;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a process needs to be one member of a service: its folder and the thread that writes it,
 * links with other members, its node in the ensemble, and a thread on which one life follows the
 * other. What was opened is closed in reverse.
 *
 * <p>{@link #open}, {@link #begin} and {@link #awaitStart} are called once each, in this order, by
 * the thread that starts the service; the rest by any thread.
 */
final class Membership {

    private static final Logger LOG = LoggerFactory.getLogger(Membership.class);

    /** So long a life may take to end once it is over (C7, X18). */
    static final Duration PATIENCE = Duration.ofSeconds(10);

    private static final Duration FOR_EVER = Duration.ofDays(365);

    /** So long a standby may say nothing and still counts, and so long it may take to force. */
    private static final long SILENT_MILLIS = 300;

    private static final long LATE_MILLIS = 1_000;

    /** The same where it takes the place of a disk (C15): two heartbeats, and 100 ms. */
    private static final long FAST_SILENT_MILLIS = 100;

    private static final long FAST_LATE_MILLIS = 100;

    /** Two snapshots may be on their way, while a third member is given what it lacks. */
    private static final int READING_THREADS = 3;

    /** So long a successor may take. */
    private static final long HANDOVER_SECONDS = 10;

    /** What a member does in its lives. */
    interface Living {

        /** Lives a life to its end. The thread of lives; interrupted when the member is closed. */
        void live(Replicated life) throws InterruptedException;

        /** A life is over. The member's thread; must not wait. */
        void over(Replicated life, String reason);

        /** As {@link Member.Lives#handlerMillis}. */
        long handlerMillis();

        /** As {@link Member.Lives#blockedMillis}. */
        long blockedMillis();

        /** The service halts after its start: nothing leaves it after this. Any thread. */
        void halts(String reason);
    }

    /** What is done to requests while another member takes over. */
    interface Held {

        /** A successor is ready: no request begins. */
        void hold(String successor) throws InterruptedException;

        /** The successor did not come: requests begin again. */
        void resume();
    }

    /**
     * What is set.
     *
     * @param at where other members are to reach this one; port 0 for any
     * @param everyMillis as {@link Member.Parts}
     * @param foldBytes as {@link Member.Parts}
     * @param batchBytes as {@link Member.Parts}
     * @param outboxBytes of a file of the outbox
     * @param lanes what replays the segments; empty if they are turns
     * @param halt hears that the service must not continue, and is to close this then
     */
    record Parts(
            Disk disk,
            Path folder,
            ServicePath path,
            String name,
            NetOptions net,
            Address at,
            Primary.Rules rules,
            long everyMillis,
            long foldBytes,
            long batchBytes,
            int outboxBytes,
            Optional<LaneCode> lanes,
            Halt halt) {}

    private final Parts parts;
    private final Living living;
    private final SecureRandom random = new SecureRandom();
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private final BlockingQueue<Replicated> lives = new LinkedBlockingQueue<>();
    private final CompletableFuture<Void> started = new CompletableFuture<>();
    private volatile boolean closing;
    private volatile CompletableFuture<Void> handing;
    private MemberFolder folder;
    private Store store;
    private Member member;
    private Thread terms;

    Membership(Parts parts, Living living) {
        this.parts = parts;
        this.living = living;
    }

    /** How segments are agreed, with the times that all services have. */
    static Primary.Rules rules(int copies, boolean strict, boolean fast, long leaseMillis) {
        return new Primary.Rules(
                copies,
                strict,
                fast,
                fast ? FAST_SILENT_MILLIS : SILENT_MILLIS,
                fast ? FAST_LATE_MILLIS : LATE_MILLIS,
                leaseMillis);
    }

    /** Takes the folder. */
    void open() throws IOException {
        folder = opens(MemberFolder.open(parts.disk(), parts.folder(), parts.name(), random));
        store =
                opens(
                        new Store(
                                parts.name(),
                                folder,
                                parts.rules().fast(),
                                cause ->
                                        halt(
                                                "the folder "
                                                        + parts.folder()
                                                        + " failed; fix the disk, then start"
                                                        + " again",
                                                cause)));
    }

    /** Has something closed with this, before what was opened earlier. */
    <T extends AutoCloseable> T opens(T it) {
        opened.push(it);
        return it;
    }

    /** Threads that are interrupted when this is closed. */
    ScheduledExecutorService threads(int count, String name) {
        ScheduledExecutorService executor = executor(count, name);
        opened.push(executor::shutdownNow);
        return executor;
    }

    private ScheduledExecutorService executor(int count, String name) {
        ScheduledThreadPoolExecutor executor =
                new ScheduledThreadPoolExecutor(
                        count,
                        task -> {
                            Thread thread = new Thread(task, name + " " + parts.name());
                            thread.setDaemon(true);
                            return thread;
                        });
        executor.setRemoveOnCancelPolicy(true);
        executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        executor.setContinueExistingPeriodicTasksAfterShutdownPolicy(false);
        return executor;
    }

    /** Begins to follow. */
    void begin(Optional<Sharing.Shared> shared) throws IOException {
        ScheduledExecutorService thread = threads(1, "member");
        ScheduledExecutorService reading = threads(READING_THREADS, "reading");
        ScheduledExecutorService folding = executor(1, "bases");
        // A snapshot that is being written may end.
        opened.push(folding::shutdown);
        long nonce = random.nextLong();
        member =
                new Member(
                        new Member.Parts(
                                parts.name(),
                                folder.member(),
                                nonce,
                                folder,
                                parts.rules(),
                                Standby.Rules.standard(),
                                parts.everyMillis(),
                                parts.foldBytes(),
                                parts.batchBytes(),
                                () -> parts.disk().usableBytes(parts.folder()),
                                this::outbox,
                                () -> new Birth(random.nextLong(), random.nextLong()),
                                thread,
                                reading,
                                folding,
                                shared,
                                parts.lanes()),
                        store,
                        new OfMember());
        MemberLinks links =
                opens(
                        MemberLinks.open(
                                Transport.shared(),
                                parts.net(),
                                new MemberFrame.Hello(
                                        parts.name(),
                                        folder.birth(),
                                        folder.member(),
                                        nonce,
                                        MemberLinks.FORMAT),
                                member,
                                thread,
                                member::heartbeat));
        Address at = links.listen(parts.at());
        StandbyNode node =
                opens(
                        new StandbyNode(
                                parts.path(), folder.member(), at.toString(), thread, member));
        terms = new Thread(this::runTerms, "terms " + parts.name());
        terms.setDaemon(true);
        terms.start();
        member.begin(node, links, at.toString());
    }

    /** Fresh files for each life: what waited is in its base and segments. */
    private OutboxFiles outbox(Birth birth) {
        Incarnation start = new Incarnation(birth, 1, random.nextLong());
        return new OutboxFiles(
                parts.disk(), parts.folder(), start, start::equals, parts.outboxBytes());
    }

    /**
     * Waits until the head was read, and this member follows or is primary.
     *
     * @throws ServiceException if the head is not for this folder; says why, and what to do
     */
    void awaitStart() throws InterruptedException {
        long waited = 0;
        for (; ; ) {
            try {
                started.get(10, TimeUnit.SECONDS);
                return;
            } catch (TimeoutException e) {
                waited += 10;
                LOG.info(
                        "{}: no answer of {} for {} s; waiting for the head",
                        parts.name(),
                        parts.path().connect(),
                        waited);
            } catch (ExecutionException e) {
                throw new ServiceException(
                        parts.name() + " does not start: " + e.getCause().getMessage(),
                        e.getCause());
            }
        }
    }

    private void runTerms() {
        try {
            while (!closing) {
                living.live(lives.take());
            }
        } catch (InterruptedException e) {
            LOG.debug("{}: closed", parts.name());
        }
    }

    /** Ends the service. Any thread. */
    void halt(String reason, Throwable cause) {
        parts.halt().halt(reason, cause);
        if (!started.completeExceptionally(new ServiceException(reason, cause))) {
            living.halts(reason);
        }
    }

    /** Whether {@link #close} was called. */
    boolean isClosing() {
        return closing;
    }

    MemberFolder folder() {
        return folder;
    }

    Member member() {
        return member;
    }

    /** On the member's thread. */
    private final class OfMember implements Member.Lives {

        @Override
        public void begin(Replicated life) {
            lives.add(life);
            started.complete(null);
        }

        @Override
        public void over(Replicated life, String reason) {
            living.over(life, reason);
            CompletableFuture<Void> waits = handing;
            if (waits != null) {
                waits.complete(null);
            }
        }

        @Override
        public void notHanded(String to) {
            CompletableFuture<Void> waits = handing;
            if (waits != null) {
                waits.completeExceptionally(
                        new ServiceException("member " + to + " was not there to take over"));
            }
        }

        @Override
        public long handlerMillis() {
            return living.handlerMillis();
        }

        @Override
        public long blockedMillis() {
            return living.blockedMillis();
        }

        @Override
        public void refused(String reason) {
            if (!started.completeExceptionally(new ServiceException(reason))) {
                halt(parts.name() + " must not continue: " + reason, null);
            }
        }
    }

    /**
     * Has another member take over. Requests begin until it is ready. One thread at a time.
     *
     * @param to the member; empty for any
     * @throws IllegalArgumentException if that one is not ready; says which are
     * @throws ServiceException if the successor did not come
     */
    void handOver(Optional<String> to, Held held) throws InterruptedException {
        CompletableFuture<Void> done = new CompletableFuture<>();
        handing = done;
        boolean handed = false;
        try {
            String successor =
                    member.successor(to).orTimeout(HANDOVER_SECONDS, TimeUnit.SECONDS).join();
            held.hold(successor);
            member.handOver(successor).join();
            done.orTimeout(HANDOVER_SECONDS, TimeUnit.SECONDS).join();
            handed = true;
        } catch (CompletionException e) {
            if (e.getCause() instanceof IllegalArgumentException refused) {
                throw refused;
            }
            throw new ServiceException(
                    parts.name() + " was not handed over: " + e.getCause().getMessage(), e);
        } finally {
            handing = null;
            if (!handed) {
                held.resume();
            }
        }
    }

    /**
     * Ends it at once; the head stays, as after a crash. Returns once all is closed: the folder,
     * which was opened first, once no life can touch it.
     */
    void close() {
        closing = true;
        synchronized (opened) {
            if (opened.isEmpty()) {
                return;
            }
            if (member != null) {
                member.close();
            }
            if (terms != null) {
                terms.interrupt();
                await(terms, PATIENCE.plusSeconds(1));
            }
            while (opened.size() > 1) {
                closeNext();
            }
            if (terms != null) {
                await(terms, FOR_EVER);
            }
            closeNext();
        }
    }

    private static void await(Thread thread, Duration patience) {
        boolean interrupted = false;
        long until = System.nanoTime() + patience.toNanos();
        for (long left = patience.toMillis(); left > 0 && thread.isAlive(); ) {
            try {
                thread.join(left);
            } catch (InterruptedException e) {
                interrupted = true;
            }
            left = TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime());
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void closeNext() {
        try {
            opened.pop().close();
        } catch (Exception e) {
            LOG.warn("{}: not everything of it could be closed", parts.name(), e);
        }
    }
}
