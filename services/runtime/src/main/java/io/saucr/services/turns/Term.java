package io.saucr.services.turns;

import io.saucr.services.Address;
import io.saucr.services.Halt;
import io.saucr.services.Measures;
import io.saucr.services.MemberStatus;
import io.saucr.services.Service;
import io.saucr.services.ServiceException;
import io.saucr.services.ServiceStatus;
import io.saucr.services.State;
import io.saucr.services.core.Birth;
import io.saucr.services.core.CoreReport;
import io.saucr.services.core.Finals;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.ServiceCore;
import io.saucr.services.once.TurnGuard;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One time in office of a service: its threads, its connections, its outputs and what people ask
 * and order. A process has one of a local service, and one after the other of a service whose
 * members take turns. One thread runs its turns, two write its bases and read its files, two make
 * calls to the world and tend its room; those that move frames are the process's.
 *
 * <p>It is made in steps, as who is to serve is decided between them: {@link #open} recovers,
 * {@link #listen} makes its address known to the caller, who then takes the office, and {@link
 * #begin} runs turns. What arrives before waits. Nothing leaves before {@link #begin} (K14).
 *
 * <p>The steps and {@link #end} belong to any thread but its own, one at a time; questions and
 * orders to any thread that runs no turn.
 */
public final class Term {

    private static final Logger LOG = LoggerFactory.getLogger(Term.class);

    private static final int CALLING_THREADS = 2;

    /** One writes a base, which may take long, and one reads what waits in files meanwhile. */
    private static final int FOLDING_THREADS = 2;

    private static final long TENDED_EVERY_MILLIS = 1_000;

    /** Between two looks whether a base is written. */
    private static final long FOLDING_NANOS = 5_000_000;

    /** A turn may take long, but who looks on wants to know. */
    private static final long WAITED_SECONDS = 10;

    private final Place place;
    private final Guard guard;
    private final SecureRandom random;
    private final ScheduledExecutorService folding;
    private final Turns turns;
    private final TurnLoop loop;
    private final CompletableFuture<Object> over = new CompletableFuture<>();

    /** Closed in reverse. Under the lock, as the three below. */
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    private ScheduledExecutorService calling;
    private Thread closing;
    private boolean ended;

    /** Set by {@link #listen}. */
    private volatile Address address;

    private volatile Front front;
    private volatile Measures measures = Measures.NONE;

    /** Of the thread that tends. */
    private boolean hadRoom = true;

    private boolean wasScarce;

    private Term(
            Place place,
            Function<State, ? extends Service> constructor,
            Guard guard,
            SecureRandom random,
            Halt halt)
            throws IOException {
        this.place = place;
        this.guard = guard;
        this.random = random;
        folding = threads(FOLDING_THREADS, "folding " + place.name());
        boolean recovered = false;
        try {
            turns =
                    Turns.open(
                            place.name(),
                            constructor,
                            guard,
                            place.options().noEnsemble(OwnWrites.refusal(place)),
                            new Turns.Surroundings(
                                    Turns.Surroundings::moment, random, folding, this::post));
            recovered = true;
        } finally {
            if (!recovered) {
                folding.shutdown();
            }
        }
        opened.push(folding::shutdown);
        AtomicBoolean told = new AtomicBoolean();
        loop =
                new TurnLoop(
                        place.name(),
                        turns,
                        (reason, cause) -> {
                            over.completeExceptionally(new ServiceException(reason));
                            if (told.compareAndSet(false, true)) {
                                halt.halt(reason, cause);
                            }
                        });
    }

    /**
     * Constructs the service and recovers what survived; lasts as long as {@link Guard#recover}
     * does.
     *
     * @param guard ended by the caller, after the term
     * @param halt told once when the term must not go on, by any thread of it, and must not wait
     *     for its end; no step begins after that
     * @throws IllegalArgumentException where the service or one of its types is not allowed
     * @throws IOException where what survived cannot be read; says what to do. Nothing is left
     */
    public static Term open(
            Place place,
            Function<State, ? extends Service> constructor,
            Guard guard,
            SecureRandom random,
            Halt halt)
            throws IOException {
        return new Term(place, constructor, guard, random, halt);
    }

    /**
     * Accepts connections, which wait for {@link #begin}.
     *
     * @return where it answers, for others to know
     * @throws IOException where port or keys cannot be used; says what to do. The term can only be
     *     ended then
     */
    public synchronized Address listen() throws IOException {
        expect(!ended && address == null, "listens once, before its end");
        calling = threads(CALLING_THREADS, "calls of " + place.name());
        opened.push(calling::shutdownNow);
        Front made = new Front(place, turns, loop, calling);
        opened.push(made);
        address = made.listen(new Random(random.nextLong()));
        front = made;
        return address;
    }

    /**
     * Notes that the office is held, and runs turns from now on.
     *
     * @throws IOException where that cannot be noted: the process has to halt
     */
    public synchronized void begin() throws IOException {
        expect(!ended && address != null, "begins once it listens, before its end");
        guard.confirm();
        guard.begin(measured(loop));
        loop.begin();
        Future<?> unused =
                calling.scheduleWithFixedDelay(
                        this::tend, 0, TENDED_EVERY_MILLIS, TimeUnit.MILLISECONDS);
    }

    /** Has a base written of the newest turn, once that is final. After {@link #begin}. */
    public void fold() {
        post(turns::fold);
    }

    /**
     * Runs turns until a base holds all of them, and none after that; takes no inputs meanwhile.
     *
     * @return whether that was reached in time; else turns go on as before
     */
    public boolean finish(Duration patience) {
        hold(true);
        long until = System.nanoTime() + patience.toNanos();
        while (System.nanoTime() - until < 0) {
            CompletableFuture<Boolean> done = new CompletableFuture<>();
            post(
                    () -> {
                        boolean folded = turns.isFolded();
                        if (folded) {
                            loop.finish();
                        } else {
                            turns.fold();
                        }
                        done.complete(folded);
                    });
            waitFor(done);
            if (done.join()) {
                return true;
            }
            LockSupport.parkNanos(FOLDING_NANOS);
        }
        hold(false);
        return false;
    }

    private void expect(boolean allowed, String what) {
        if (!allowed) {
            throw new IllegalStateException("a term of " + place.name() + " " + what);
        }
    }

    /** Between two turns. Any thread; dropped once the term is over. */
    public void post(Runnable event) {
        loop.post(event);
    }

    /** Ends turns at once, as what holds the office says that it is lost. Any thread. */
    public void lost(String reason) {
        loop.end(reason, null);
    }

    private Guard.Listener measured(Guard.Listener listener) {
        return new Guard.Listener() {
            @Override
            public void moved(Finals now) {
                if (now.outside() > 0) {
                    measures.forced(guard.lastFsyncMicros() * 1_000);
                }
                listener.moved(now);
            }

            @Override
            public void failed(Throwable cause) {
                listener.failed(cause);
            }
        };
    }

    private static ScheduledExecutorService threads(int count, String name) {
        ScheduledThreadPoolExecutor executor =
                new ScheduledThreadPoolExecutor(
                        count,
                        task -> {
                            Thread thread = new Thread(task, name);
                            thread.setDaemon(true);
                            return thread;
                        });
        executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        return executor;
    }

    private void tend() {
        post(turns::foldIfDue);
        try {
            boolean room = guard.room().isThere();
            turns.room(room);
            boolean scarce = guard.room().isScarce();
            turns.scarce(scarce);
            if (scarce != wasScarce) {
                wasScarce = scarce;
                LOG.warn(
                        "{}: the disk of {} has {}: inputs of clients {}",
                        place.name(),
                        place.folder(),
                        scarce ? "little room" : "room again",
                        scarce ? "wait" : "are taken");
            }
            if (room != hadRoom) {
                hadRoom = room;
                if (room) {
                    LOG.info("{}: the disk has room again; inputs are taken", place.name());
                } else {
                    LOG.warn(
                            "{}: the disk of {} has no room but a reserve: no inputs are taken,"
                                    + " acks and folding go on. Make room",
                            place.name(),
                            place.folder());
                }
            }
        } catch (IOException | RuntimeException e) {
            LOG.warn("{}: the room on the disk of {} is unknown", place.name(), place.folder(), e);
        }
    }

    /** Where it answers. After {@link #listen}. */
    public Address address() {
        return address;
    }

    /** Where it answers by HTTP, where it does. */
    public Optional<Address> http() {
        return Optional.ofNullable(front).flatMap(Front::http);
    }

    /** The newest turn that survived; 0 where none did. */
    public long recovered() {
        return turns.recovered();
    }

    /** How long the handler that runs has taken so far, in ms; 0 where none runs. Any thread. */
    public long handlerMillis() {
        return turns.handlerMillis();
    }

    /** How long the turns' thread has waited outside of a handler, in ms. Any thread. */
    public long blockedMillis() {
        return turns.blockedMillis(loop.stepSinceNanos());
    }

    /** See {@link io.saucr.services.RunningService#status}. */
    public ServiceStatus status() {
        TurnGuard.refuse("status", "ask from outside of turns");
        CompletableFuture<ServiceStatus> status = new CompletableFuture<>();
        post(() -> status.complete(statusNow()));
        waitFor(status);
        return status.join();
    }

    /** See {@link io.saucr.services.RunningService#measure}. */
    public void measure(Measures those) {
        measures = those;
        turns.measure(those);
    }

    /**
     * Whether no inputs are taken, as the office is to be handed over. Any thread but that of
     * turns.
     *
     * @throws ServiceException where the turn that runs does not come to its end within 10 s
     */
    public void hold(boolean held) {
        turns.hold(held);
        if (held) {
            CompletableFuture<Void> between = new CompletableFuture<>();
            post(() -> between.complete(null));
            waitFor(between);
        }
    }

    /** See {@link io.saucr.services.RunningService#retry}. */
    public void retry(long parked) {
        order("retry", () -> turns.retryParked(parked));
    }

    /** See {@link io.saucr.services.RunningService#discard}. */
    public void discard(long parked) {
        order("discard", () -> turns.discardParked(parked));
    }

    /** See {@link io.saucr.services.RunningService#declareLost}. */
    public void declareLost(String service, String birth) {
        Birth parsed = Birth.parse(birth);
        order("declareLost", () -> turns.declareLost(service, parsed));
    }

    /** See {@link io.saucr.services.RunningService#returnUndelivered}. */
    public void returnUndelivered(String service) {
        order("giveUp", () -> turns.giveUp(service));
    }

    /** See {@link io.saucr.services.RunningService#resume}. */
    public void resume(String channel) {
        order("resume", () -> turns.resume(channel));
    }

    /** Between two turns; waits until it is final. */
    private void order(String what, Runnable order) {
        TurnGuard.refuse(what, "it is for people, from outside of turns");
        CompletableFuture<Long> done = new CompletableFuture<>();
        post(
                () -> {
                    try {
                        order.run();
                        done.complete(turns.core().newestTurn());
                    } catch (IllegalArgumentException e) {
                        done.completeExceptionally(e);
                    }
                });
        waitFor(done);
        long turn = done.join();
        CompletableFuture<Void> isFinal = new CompletableFuture<>();
        post(() -> turns.whenFinal(turn, () -> isFinal.complete(null)));
        waitFor(isFinal);
    }

    /** For what the turn thread does, or until the term is over. */
    private void waitFor(CompletableFuture<?> what) {
        try {
            Object unused =
                    CompletableFuture.anyOf(what, over)
                            .orTimeout(WAITED_SECONDS, TimeUnit.SECONDS)
                            .join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof IllegalArgumentException refused) {
                throw refused;
            }
            throw new ServiceException(place.name() + " does not answer: " + e.getCause(), e);
        }
    }

    private ServiceStatus statusNow() {
        ServiceCore core = turns.core();
        Incarnation self = turns.start().incarnation();
        long now = core.nowMillis();
        return new ServiceStatus(
                place.name(),
                address.toString(),
                self.birth().toString(),
                self.number(),
                core.newestTurn(),
                core.finals().outside(),
                guard.room().bytesNotFinal(),
                guard.folding().bytesAboveBase(),
                guard.room().outbox().bytes(),
                guard.lastFsyncMicros(),
                core.duplicates(),
                core.report().timers(),
                core.report().openOutputs(),
                core.report().channels().stream().map(it -> channel(it, now)).toList(),
                core.report().parked().stream()
                        .map(
                                it ->
                                        new ServiceStatus.DeadLetter(
                                                it.id(),
                                                it.channel(),
                                                it.body().type(),
                                                it.body().bytes().length,
                                                it.reason()))
                        .toList(),
                core.report().stopped(),
                core.report().waitsFor(),
                unreachable(core),
                MemberStatus.NONE);
    }

    private Map<String, String> unreachable(ServiceCore core) {
        Map<String, String> reasons = new TreeMap<>(front.unreachable());
        reasons.putAll(core.report().refusedBy());
        return reasons;
    }

    private static ServiceStatus.Channel channel(CoreReport.Channel channel, long now) {
        return new ServiceStatus.Channel(
                channel.peer(),
                channel.outside(),
                channel.birth().map(Object::toString).orElse(""),
                channel.linked(),
                channel.sent(),
                channel.unacked(),
                channel.inFiles(),
                channel.oldestMillis() == 0 ? 0 : Math.max(0, now - channel.oldestMillis()),
                channel.consumed(),
                channel.held());
    }

    /**
     * Lets the turn that runs come to its end, and runs no other; nothing leaves any more.
     *
     * @return whether it has come to its end; else what it still does stays here
     * @throws IllegalStateException on its turn thread
     */
    public boolean stop(Duration patience) {
        boolean stopped = loop.stop(patience);
        over.completeExceptionally(new ServiceException("its term has ended"));
        return stopped;
    }

    /**
     * Lets the turn that runs come to its end, runs no other, and ends connections, calls and
     * files. Nothing leaves any more; what was not final stays unsaid. Where something takes longer
     * than the patience, as a turn that hangs, it is left alone: it lets nothing out, but the
     * folder is still in use. May be called again, to wait on.
     *
     * @return whether nothing of it runs any more; the log says what does
     * @throws IllegalStateException on its turn thread
     */
    public synchronized boolean end(Duration patience) {
        ended = true;
        long until = System.nanoTime() + patience.toNanos();
        boolean stopped = stop(patience);
        if (closing == null) {
            // A session with servers that hang is closed after seconds only.
            closing = new Thread(this::closeOpened, "end of " + place.name());
            closing.setDaemon(true);
            closing.start();
        }
        boolean closed = isClosed(until);
        if (!stopped || !closed) {
            LOG.warn(
                    "{}: {} has not ended within {} ms",
                    place.name(),
                    stopped ? "what belongs to its term" : "the turn that runs",
                    patience.toMillis());
        }
        return stopped && closed;
    }

    /** Waits until all is closed and no base is being written. */
    private boolean isClosed(long until) {
        boolean interrupted = false;
        while (true) {
            try {
                long left = Math.max(1, TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime()));
                closing.join(left);
                boolean closed =
                        folding.awaitTermination(until - System.nanoTime(), TimeUnit.NANOSECONDS)
                                && !closing.isAlive();
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
                return closed;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
    }

    private void closeOpened() {
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (Exception e) {
                LOG.warn("{}: not everything of it could be closed", place.name(), e);
            }
        }
    }
}
