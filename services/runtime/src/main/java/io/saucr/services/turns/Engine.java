package io.saucr.services.turns;

import io.saucr.services.Address;
import io.saucr.services.Measures;
import io.saucr.services.Service;
import io.saucr.services.ServiceException;
import io.saucr.services.ServiceStatus;
import io.saucr.services.State;
import io.saucr.services.core.Birth;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What runs a service while it is primary: a {@link Front}, and a {@link Life} behind it. Where a
 * life ends as its turns are undone, the next one begins from memory behind the same front (K21);
 * every other end is the owner's. A process has one engine of a local service, and one after the
 * other of a service whose members take turns. One thread at a time runs turns, two write snapshots
 * and read files, two make calls to the world and look after room; those that move frames are the
 * process's.
 *
 * <p>It is made in steps, as which process is to serve is decided between them: {@link #open}
 * recovers, {@link #listen} makes its address known to the caller, which then becomes primary, and
 * {@link #begin} runs turns. What arrives before waits. Nothing leaves before {@link #begin} (K14).
 *
 * <p>The steps and {@link #end} belong to any thread but its own, one at a time; questions and
 * admin commands to any thread that runs no turn.
 */
public final class Engine {

    private static final Logger LOG = LoggerFactory.getLogger(Engine.class);

    private static final int CALLING_THREADS = 2;

    private static final long LOOKS_EVERY_MILLIS = 1_000;

    /** Between two looks whether a snapshot is written. */
    private static final long FOLDING_NANOS = 5_000_000;

    /** So long the end of turns that were undone may take before the log says so. */
    private static final Duration SOON = Duration.ofSeconds(1);

    private final Place place;
    private final Function<State, ? extends Service> constructor;
    private final Guard guard;
    private final SecureRandom random;
    private final TurnThreads threads;
    private final Consumer<Ending> owner;
    private final RoomWatch room;
    private final ScheduledExecutorService calling;
    private final Front front;
    private final AtomicBoolean over = new AtomicBoolean();
    private volatile Life life;
    private volatile Measures measures = Measures.NONE;
    private volatile boolean held;

    // Guarded by this.
    private Thread closing;
    private boolean listens;
    private boolean ended;

    private Engine(
            Place place,
            Function<State, ? extends Service> constructor,
            Guard guard,
            SecureRandom random,
            TurnThreads threads,
            Consumer<Ending> owner)
            throws IOException {
        this.place = place;
        this.constructor = constructor;
        this.guard = guard;
        this.random = random;
        this.threads = threads;
        this.owner = owner;
        life = born();
        room = new RoomWatch(place, guard.room());
        calling = Life.threads(CALLING_THREADS, "calls of " + place.name());
        front = new Front(place, calling);
    }

    /**
     * Constructs the service and recovers what survived; lasts as long as {@link Guard#recover}
     * does.
     *
     * @param guard ended by the caller, after the engine
     * @param threads give its turns their thread, which may be one of several services'
     * @param owner hears once why the engine must not continue, on any thread of it, and must not
     *     wait for its end; no step begins after that
     * @throws IllegalArgumentException where the service or one of its types is not allowed
     * @throws IOException where what survived cannot be read; says what to do. Nothing is left
     */
    public static Engine open(
            Place place,
            Function<State, ? extends Service> constructor,
            Guard guard,
            SecureRandom random,
            TurnThreads threads,
            Consumer<Ending> owner)
            throws IOException {
        return new Engine(place, constructor, guard, random, threads, owner);
    }

    /** The same with a thread of its own for turns. */
    public static Engine open(
            Place place,
            Function<State, ? extends Service> constructor,
            Guard guard,
            SecureRandom random,
            Consumer<Ending> owner)
            throws IOException {
        return open(place, constructor, guard, random, TurnThreads.own(), owner);
    }

    private Life born() throws IOException {
        return Life.open(place, constructor, guard, random, threads, this::over);
    }

    /**
     * Accepts connections, which wait for {@link #begin}.
     *
     * @return where it answers, for others to know
     * @throws IOException where port or keys cannot be used; says what to do. The engine can only
     *     be ended then
     */
    public synchronized Address listen() throws IOException {
        expect(!ended && !listens, "listens once, before its end");
        listens = true;
        return front.listen(life, new Random(random.nextLong()));
    }

    /**
     * Notes that this process is primary, and runs turns from now on.
     *
     * @throws IOException where that cannot be noted: the process has to halt
     */
    public synchronized void begin() throws IOException {
        expect(!ended && front.address() != null, "begins once it listens, before its end");
        guard.confirm();
        life.begin();
        Future<?> unused =
                calling.scheduleWithFixedDelay(
                        this::look, 0, LOOKS_EVERY_MILLIS, TimeUnit.MILLISECONDS);
    }

    private void look() {
        Life now = life;
        now.post(now.turns()::foldIfDue);
        room.look(now.turns());
    }

    private void expect(boolean allowed, String what) {
        if (!allowed) {
            throw new IllegalStateException("an engine of " + place.name() + " " + what);
        }
    }

    /** A life is over. Any thread. */
    private void over(Ending why) {
        if (why instanceof Ending.Undone undone) {
            Thread next = new Thread(() -> next(undone), "next life of " + place.name());
            next.setDaemon(true);
            next.start();
        } else if (over.compareAndSet(false, true)) {
            owner.accept(why);
        }
    }

    /** Another life takes over from one whose turns were undone. A thread of its own. */
    private void next(Ending.Undone why) {
        long begun = System.nanoTime();
        try {
            Life before = life;
            if (!before.end(SOON)) {
                boolean unused = before.end(TurnLoop.AS_LONG_AS_IT_TAKES);
            }
            synchronized (this) {
                if (ended || over.get()) {
                    return;
                }
                front.release(why.reason());
                Life next = born();
                room.say(next.turns());
                next.turns().hold(held);
                next.measure(measures);
                life = next;
                front.host(next);
                next.begin();
                log(before, next, why, (System.nanoTime() - begun) / 1_000_000);
            }
        } catch (IOException | RuntimeException | Error e) {
            over(new Ending.Failed("turns were undone, and no life follows", e));
        }
        if (over.get()) {
            life.over(new Ending.Deposed("the one before it was to be the last"));
        }
    }

    private void log(Life before, Life next, Ending.Undone why, long millis) {
        long undone = before.turns().core().newestTurn() - why.upTo();
        long behind = next.turns().recovered();
        if (undone == 0) {
            LOG.info(
                    "{}: {}, and no turn of it is undone. Its connections begin anew behind turn {}"
                            + " after {} ms",
                    place.name(),
                    why.reason(),
                    behind,
                    millis);
        } else {
            LOG.warn(
                    "{}: {} turns above turn {} are undone: {}. It continues behind turn {} after {}"
                            + " ms",
                    place.name(),
                    undone,
                    why.upTo(),
                    why.reason(),
                    behind,
                    millis);
        }
    }

    /** Has a snapshot written of the newest turn, once that is final. After {@link #begin}. */
    public void fold() {
        post(() -> life.turns().fold());
    }

    /**
     * Runs turns until a snapshot holds all of them, and none after that; takes no inputs
     * meanwhile.
     *
     * @return whether that was reached in time; else turns continue as before
     */
    public boolean finish(Duration patience) {
        hold(true);
        long until = System.nanoTime() + patience.toNanos();
        while (System.nanoTime() - until < 0) {
            if (admin().finish()) {
                return true;
            }
            LockSupport.parkNanos(FOLDING_NANOS);
        }
        hold(false);
        return false;
    }

    /** Between two turns. Any thread; dropped once the life is over. */
    public void post(Runnable event) {
        life.post(event);
    }

    /** Ends turns at once, as another process is primary, or may be. Any thread. */
    public void lost(String reason) {
        Ending why = new Ending.Deposed(reason);
        over(why);
        life.over(why);
    }

    /** Where it answers. After {@link #listen}. */
    public Address address() {
        return front.address();
    }

    /** Where it answers by HTTP, where it does. */
    public Optional<Address> http() {
        return front.http();
    }

    /** The newest turn that survived; 0 where none did. */
    public long recovered() {
        return life.turns().recovered();
    }

    /** How long the handler that runs has taken so far, in ms; 0 where none runs. Any thread. */
    public long handlerMillis() {
        return life.turns().handlerMillis();
    }

    /** How long the turns' thread has waited outside of a handler, in ms. Any thread. */
    public long blockedMillis() {
        return life.blockedMillis();
    }

    /** See {@link io.saucr.services.RunningService#measure}. */
    public void measure(Measures those) {
        measures = those;
        life.measure(those);
    }

    /**
     * Whether no inputs are taken, as another process is to be primary. Any thread but that of
     * turns.
     *
     * @throws ServiceException where the turn that runs does not come to its end within 10 s
     */
    public void hold(boolean hold) {
        held = hold;
        life.turns().hold(hold);
        if (hold) {
            admin().awaitTurn();
        }
    }

    private Admin admin() {
        return new Admin(guard, front, life);
    }

    /** See {@link io.saucr.services.RunningService#status}. */
    public ServiceStatus status() {
        return admin().status();
    }

    /** See {@link io.saucr.services.RunningService#retry}. */
    public void retry(long parked) {
        admin().command("retry", it -> it.retryParked(parked));
    }

    /** See {@link io.saucr.services.RunningService#discard}. */
    public void discard(long parked) {
        admin().command("discard", it -> it.discardParked(parked));
    }

    /** See {@link io.saucr.services.RunningService#declareLost}. */
    public void declareLost(String service, String birth) {
        Birth parsed = Birth.parse(birth);
        admin().command("declareLost", it -> it.declareLost(service, parsed));
    }

    /** See {@link io.saucr.services.RunningService#returnUndelivered}. */
    public void returnUndelivered(String service) {
        admin().command("giveUp", it -> it.giveUp(service));
    }

    /** See {@link io.saucr.services.RunningService#resume}. */
    public void resume(String channel) {
        admin().command("resume", it -> it.resume(channel));
    }

    /**
     * Lets the turn that runs come to its end, and runs no other; nothing leaves any more.
     *
     * @return whether it has come to its end; else what it still does stays here
     * @throws IllegalStateException on its turn thread
     */
    public boolean stop(Duration patience) {
        return life.stop(patience);
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
        boolean unused = life.stop(patience);
        if (closing == null) {
            // A session with servers that hang is closed after seconds only.
            closing = new Thread(this::closeFront, "end of " + place.name());
            closing.setDaemon(true);
            closing.start();
        }
        boolean closed = isClosed(until);
        if (!closed) {
            LOG.warn("{}: its connections and calls have not ended yet", place.name());
        }
        return life.end(Duration.ofNanos(Math.max(1, until - System.nanoTime()))) && closed;
    }

    private void closeFront() {
        front.close();
        calling.shutdownNow();
    }

    private boolean isClosed(long until) {
        boolean interrupted = false;
        while (true) {
            try {
                closing.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime())));
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
                return !closing.isAlive();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
    }
}
