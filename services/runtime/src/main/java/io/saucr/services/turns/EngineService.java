package io.saucr.services.turns;

import io.saucr.services.Address;
import io.saucr.services.Halt;
import io.saucr.services.Measures;
import io.saucr.services.RunningService;
import io.saucr.services.Service;
import io.saucr.services.ServiceException;
import io.saucr.services.ServiceStatus;
import io.saucr.services.State;
import io.saucr.services.ensemble.Leadership;
import io.saucr.services.once.TurnGuard;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A service of this process with one {@link Engine}, which lasts as long as it runs: what it has
 * opened, and how it starts and ends. A protection says what it begins with.
 */
public abstract class EngineService implements RunningService {

    private static final Logger LOG = LoggerFactory.getLogger(EngineService.class);

    /** So long a turn may take before connections are closed all the same. */
    private static final Duration SOON = Duration.ofSeconds(1);

    /** So long who closes a service that halted waits for the turn that runs. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    /** Closed in reverse, whatever the start came to. */
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    protected final Place place;
    protected Engine engine;

    private final CountDownLatch ended = new CountDownLatch(1);
    private final CountDownLatch decided = new CountDownLatch(1);
    private final Halting halting;
    private Http.Served page;
    private Leadership leadership;

    /**
     * @param halt hears that the service must not continue
     */
    protected EngineService(Place place, Halt halt) {
        this.place = place;
        halting = new Halting(place.name(), halt, this::closeHalted);
    }

    /** What a start does. */
    protected interface Start {
        void begin() throws IOException, InterruptedException;
    }

    /** Starts it; what was opened is closed again where that fails. */
    protected final void start(Start start) throws IOException, InterruptedException {
        boolean started = false;
        try {
            start.begin();
            halting.throwIfHalted();
            started = true;
        } finally {
            if (!started) {
                withdrawUnknown();
                closeOpened();
            }
            decided.countDown();
        }
    }

    private void withdrawUnknown() {
        if (leadership != null && leadership.mayBeKnown()) {
            return;
        }
        try {
            withdraw();
        } catch (IOException e) {
            LOG.warn("{}: a start that was refused stays in its list of starts", place.name(), e);
        }
    }

    /** A start of which nobody outside knows leaves no line in the folder. */
    protected abstract void withdraw() throws IOException;

    /** Is closed with the service, before all that was opened before it. */
    protected final void opened(AutoCloseable that) {
        opened.push(that);
    }

    /** Takes the service's head (K14). */
    protected final void take(Leadership head) throws InterruptedException {
        leadership = head;
        opened.push(head);
        try {
            head.take();
        } catch (Leadership.RefusedException e) {
            throw new ServiceException(place.name() + " does not start: " + e.getMessage(), e);
        }
    }

    /** With a thread of its own for turns. */
    protected final Address listen(
            Function<State, ? extends Service> constructor, Guard guard, SecureRandom random)
            throws IOException, InterruptedException {
        return listen(constructor, guard, random, TurnThreads.own());
    }

    /** Makes the engine, which listens and does not answer yet, and the status page. */
    protected final Address listen(
            Function<State, ? extends Service> constructor,
            Guard guard,
            SecureRandom random,
            TurnThreads threads)
            throws IOException, InterruptedException {
        engine =
                Engine.open(
                        place,
                        constructor,
                        guard,
                        random,
                        threads,
                        why -> halting.halt(why.reason(), why.cause()));
        opened.push(this::endEngine);
        Address address = engine.listen();
        if (place.page().isPresent()) {
            page = Http.found().page(this, place.page().get());
            opened.push(page);
        }
        return address;
    }

    @Override
    public final String name() {
        return place.name();
    }

    @Override
    public final Address address() {
        return engine.address();
    }

    @Override
    public final Optional<Address> statusPage() {
        return Optional.ofNullable(page).map(Http.Served::address);
    }

    @Override
    public final Optional<Address> http() {
        return engine.http();
    }

    @Override
    public ServiceStatus status() {
        return engine.status();
    }

    @Override
    public final void measure(Measures those) {
        engine.measure(those);
    }

    @Override
    public final void retry(long parked) {
        engine.retry(parked);
    }

    @Override
    public final void discard(long parked) {
        engine.discard(parked);
    }

    @Override
    public final void declareLost(String service, String birth) {
        engine.declareLost(service, birth);
    }

    @Override
    public final void returnUndelivered(String service) {
        engine.returnUndelivered(service);
    }

    @Override
    public final void resume(String channel) {
        engine.resume(channel);
    }

    @Override
    public final void close() {
        TurnGuard.refuse("close", "a service cannot wait in a turn for its own end");
        if (halting.reason().isPresent()) {
            boolean unused = halting.awaitClosed(PATIENCE);
            return;
        }
        boolean unused = engine.stop(TurnLoop.AS_LONG_AS_IT_TAKES);
        leave();
        closeOpened();
        ended.countDown();
    }

    /** No turn runs any more, and all is about to be closed. */
    protected void leave() {}

    @Override
    public final void join() throws InterruptedException {
        ended.await();
        halting.throwIfHalted();
    }

    @Override
    public final Optional<String> halted() {
        return halting.reason();
    }

    /** Connections end soon, though a turn hangs; the folder is in use until that has ended. */
    private void endEngine() {
        if (!engine.end(SOON)) {
            boolean unused = engine.end(TurnLoop.AS_LONG_AS_IT_TAKES);
        }
    }

    /** On a thread of its own. */
    private void closeHalted() {
        ended.countDown();
        try {
            decided.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        closeOpened();
    }

    private synchronized void closeOpened() {
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (Exception e) {
                LOG.warn("{}: not everything of it could be closed", place.name(), e);
            }
        }
    }
}
