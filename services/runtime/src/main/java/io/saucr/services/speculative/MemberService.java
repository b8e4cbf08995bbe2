package io.saucr.services.speculative;

import io.saucr.services.Address;
import io.saucr.services.Halt;
import io.saucr.services.Measures;
import io.saucr.services.RunningService;
import io.saucr.services.Service;
import io.saucr.services.ServiceException;
import io.saucr.services.ServiceStatus;
import io.saucr.services.State;
import io.saucr.services.core.Incarnation;
import io.saucr.services.ensemble.Leadership;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.ForceMode;
import io.saucr.services.journal.JournalOptions;
import io.saucr.services.once.TurnGuard;
import io.saucr.services.turns.Ending;
import io.saucr.services.turns.Engine;
import io.saucr.services.turns.Halting;
import io.saucr.services.turns.Http;
import io.saucr.services.turns.Place;
import io.saucr.services.turns.TurnLoop;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A service of this process that is a member of a group: its folder, its place in the ensemble and
 * in the group, and its one {@link Engine}, which lasts as long as it runs.
 */
final class MemberService implements RunningService {

    private static final Logger LOG = LoggerFactory.getLogger(MemberService.class);

    /** So long a turn may take before connections are closed all the same. */
    private static final Duration SOON = Duration.ofSeconds(1);

    /** So long who closes a service that halted waits for the turn that runs. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    /** So long a close waits until the group notes that the member has left. */
    private static final Duration LEFT_WITHIN = Duration.ofSeconds(5);

    /** Closed in reverse, whatever the start came to. */
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    private final Place place;
    private final CountDownLatch ended = new CountDownLatch(1);
    private final CountDownLatch decided = new CountDownLatch(1);
    private final Halting halting;
    private MemberGuard guard;
    private Engine engine;
    private Http.Served page;
    private Leadership leadership;

    private MemberService(Place place, Halt halt) {
        this.place = place;
        halting = new Halting(place.name(), halt, this::closeHalted);
    }

    /**
     * Starts a service; waits for a decision of its group, which may wait for other members.
     *
     * @param disk of this machine, or one of a test that holds up or kills at a step
     * @param place with an ensemble
     * @param halt hears that the service must not go on
     */
    static MemberService start(
            Disk disk,
            Place place,
            Function<State, ? extends Service> constructor,
            MemberGuard.Options options,
            Halt halt)
            throws IOException, InterruptedException {
        MemberService service = new MemberService(place, halt);
        boolean started = false;
        try {
            service.begin(disk, constructor, options);
            service.halting.throwIfHalted();
            started = true;
            return service;
        } finally {
            if (!started) {
                service.withdraw();
                service.closeOpened();
            }
            service.decided.countDown();
        }
    }

    /** A start of which nobody outside knows leaves no line in the folder. */
    private void withdraw() {
        if (guard == null || (leadership != null && leadership.mayBeKnown())) {
            return;
        }
        try {
            guard.withdraw();
        } catch (IOException e) {
            LOG.warn("{}: a start that was refused stays in its list of starts", place.name(), e);
        }
    }

    private void begin(
            Disk disk, Function<State, ? extends Service> constructor, MemberGuard.Options options)
            throws IOException, InterruptedException {
        long begun = System.nanoTime();
        SecureRandom random = new SecureRandom();
        JournalOptions journal = new JournalOptions(ForceMode.always(), place.segmentBytes());
        guard = MemberGuard.open(disk, place.folder(), place.name(), journal, options, random);
        opened.push(guard);
        // No start reads the group's head before it holds its own (K14).
        takeHead();
        engine = Engine.open(place, constructor, guard, random, this::over);
        opened.push(this::endEngine);
        Address address = engine.listen();
        if (place.page().isPresent()) {
            page = Http.found().page(this, place.page().get());
            opened.push(page);
        }
        leadership.publish(address.toString());
        engine.begin();
        Incarnation start = newest(guard.incarnations());
        LOG.info(
                "{} answers at {}: start {} of generation {}, member of {}, recovered up to turn"
                        + " {} in {} ms",
                place.name(),
                address,
                start.number(),
                start.birth(),
                options.group().path(),
                engine.recovered(),
                (System.nanoTime() - begun) / 1_000_000);
    }

    private static Incarnation newest(List<Incarnation> starts) {
        return starts.get(starts.size() - 1);
    }

    private void takeHead() throws InterruptedException {
        leadership =
                new Leadership(
                        place.servicePath(Optional.empty()),
                        newest(guard.incarnations()),
                        guard.incarnations(),
                        guard.confirmed(),
                        guard.replaces(),
                        guard::deposed);
        opened.push(leadership);
        try {
            leadership.take();
        } catch (Leadership.RefusedException e) {
            throw new ServiceException(place.name() + " does not start: " + e.getMessage(), e);
        }
    }

    private void over(Ending why) {
        halting.halt(why.reason(), why.cause());
    }

    /** For tests. */
    MemberGuard guard() {
        return guard;
    }

    @Override
    public String name() {
        return place.name();
    }

    @Override
    public Address address() {
        return engine.address();
    }

    @Override
    public Optional<Address> statusPage() {
        return Optional.ofNullable(page).map(Http.Served::address);
    }

    @Override
    public Optional<Address> http() {
        return engine.http();
    }

    @Override
    public ServiceStatus status() {
        return engine.status();
    }

    @Override
    public void measure(Measures those) {
        engine.measure(those);
    }

    @Override
    public void retry(long parked) {
        engine.retry(parked);
    }

    @Override
    public void discard(long parked) {
        engine.discard(parked);
    }

    @Override
    public void declareLost(String service, String birth) {
        engine.declareLost(service, birth);
    }

    @Override
    public void returnUndelivered(String service) {
        engine.returnUndelivered(service);
    }

    @Override
    public void resume(String channel) {
        engine.resume(channel);
    }

    /** Leaves the group; where that takes too long, the group waits for the next start. */
    @Override
    public void close() {
        TurnGuard.refuse("close", "a service cannot wait in a turn for its own end");
        if (halting.reason().isPresent()) {
            boolean unused = halting.awaitClosed(PATIENCE);
            return;
        }
        boolean unused = engine.stop(TurnLoop.AS_LONG_AS_IT_TAKES);
        try {
            if (!guard.leave(LEFT_WITHIN)) {
                LOG.warn(
                        "{}: its group has not noted within {} s that it left, and waits for its"
                                + " next start",
                        place.name(),
                        LEFT_WITHIN.toSeconds());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        closeOpened();
        ended.countDown();
    }

    @Override
    public void join() throws InterruptedException {
        ended.await();
        halting.throwIfHalted();
    }

    @Override
    public Optional<String> halted() {
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
