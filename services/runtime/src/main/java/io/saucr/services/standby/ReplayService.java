package io.saucr.services.standby;

import io.saucr.services.Address;
import io.saucr.services.Asks;
import io.saucr.services.Halt;
import io.saucr.services.Measures;
import io.saucr.services.Protection;
import io.saucr.services.Query;
import io.saucr.services.RunningService;
import io.saucr.services.ServiceException;
import io.saucr.services.ServiceStatus;
import io.saucr.services.client.ClientMessages;
import io.saucr.services.core.Birth;
import io.saucr.services.core.Body;
import io.saucr.services.core.standby.LaneCode;
import io.saucr.services.ensemble.ServicePath;
import io.saucr.services.journal.Disk;
import io.saucr.services.replay.CodeScan;
import io.saucr.services.replay.LaneHandlers;
import io.saucr.services.replay.LaneService;
import io.saucr.services.replay.LaneState;
import io.saucr.services.replay.ReplayedLanes;
import io.saucr.services.turns.Halting;
import io.saucr.services.turns.Http;
import io.saucr.services.turns.Place;
import io.saucr.services.turns.Routing;
import io.saucr.services.turns.TurnOptions;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A service whose handlers run in lanes, of which this process is one member: it records as
 * primary, and replays as standby. What other protections have and this one has not is refused at
 * the start. Any thread.
 */
public final class ReplayService implements RunningService {

    private static final Logger LOG = LoggerFactory.getLogger(ReplayService.class);

    /** So long the snapshot of a member that closes may take. */
    private static final long SNAPSHOT_MILLIS = 3_000;

    /** So long a service that halted may take to close. */
    private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(20);

    private static final ClientMessages MESSAGES = new ClientMessages();

    private final Place place;
    private final Halting halting;
    private final CountDownLatch ended = new CountDownLatch(1);

    /** The start succeeded or failed. */
    private final CountDownLatch decided = new CountDownLatch(1);

    private volatile ReplayMember member;
    private volatile Http.Served page;

    private ReplayService(Place place, Halt halt) {
        this.place = place;
        halting = new Halting(place.name(), halt, this::closeHalted);
    }

    /**
     * Starts a member; returns once the head was read, and this member follows or is primary.
     *
     * @throws IllegalArgumentException if the service, a type or a setting is not allowed, or a
     *     handler does what can not be replayed; says which. Nothing was changed
     * @throws IOException if folder, port or keys can not be used; says what to do
     * @throws ServiceException if the head is not for this folder; says why, and what to do
     */
    public static RunningService start(
            Disk disk,
            Place place,
            Function<LaneState, ? extends LaneService> constructor,
            Protection.Replay protection,
            Halt halt)
            throws IOException, InterruptedException {
        refuseUnsupported(place);
        ServicePath path = StandbyService.servicePath(place);
        LaneHandlers handlers = LaneHandlers.check(protection.lanes(), constructor);
        if (protection.scans()) {
            CodeScan.check(handlers.service());
        }
        ReplayService service = new ReplayService(place, halt);
        boolean done = false;
        try {
            service.begin(disk, path, constructor, handlers, protection);
            service.halting.throwIfHalted();
            done = true;
            return service;
        } finally {
            if (!done) {
                service.shutDown();
            }
            service.decided.countDown();
        }
    }

    private void begin(
            Disk disk,
            ServicePath path,
            Function<LaneState, ? extends LaneService> constructor,
            LaneHandlers handlers,
            Protection.Replay protection)
            throws IOException, InterruptedException {
        Random random = new Random(new SecureRandom().nextLong());
        member =
                ReplayMember.start(
                        new ReplayMember.Parts(
                                disk,
                                place.folder(),
                                path,
                                place.name(),
                                protection.copies(),
                                protection.stalls(),
                                protection.inMemory(),
                                new LaneCode(protection.lanes(), codeHere(protection.code())),
                                state -> LaneHandlers.of(constructor.apply(state)).inLanes(),
                                place.net(),
                                protection.members().orElse(new Address(place.listen().host(), 0)),
                                (lanes, proofs) ->
                                        Optional.of(
                                                new LaneFront(
                                                        place, lanes, handlers, proofs, random)),
                                halting));
        if (place.page().isPresent()) {
            page = Http.found().page(this, place.page().get());
        }
    }

    /** Handlers may do something else on another JDK, such as format a number. */
    private static String codeHere(String code) {
        return code + "-jdk" + Runtime.version().feature();
    }

    private static void refuseUnsupported(Place place) {
        TurnOptions options = place.options();
        TurnOptions standard = TurnOptions.standard();
        refuse(place.door().isPresent(), place, "http(...)");
        refuse(!options.allowed().isEmpty(), place, "allow(...)");
        refuse(options.checksValues(), place, "checkingValues()");
        refuse(!options.routing().equals(Routing.NONE), place, "partitioned(...)");
        refuse(options.foldBytes() != standard.foldBytes(), place, "foldBytes(...)");
        refuse(options.outboxBytes() != standard.outboxBytes(), place, "outboxBytes(...)");
        refuse(!options.limits().equals(standard.limits()), place, "limits(...)");
    }

    private static void refuse(boolean set, Place place, String setting) {
        if (set) {
            throw new IllegalArgumentException(
                    place.name()
                            + " is to run with Protection.replay, which does not support "
                            + setting
                            + " yet: leave it out, or take Protection.standby()");
        }
    }

    private ServiceException unsupported(String what) {
        return new ServiceException(
                place.name() + " runs with Protection.replay, which does not support " + what);
    }

    @Override
    public String name() {
        return place.name();
    }

    @Override
    public Address address() {
        return member.address().orElse(place.listen());
    }

    @Override
    public Optional<Address> statusPage() {
        return Optional.ofNullable(page).map(Http.Served::address);
    }

    @Override
    public Optional<Address> http() {
        return Optional.empty();
    }

    @Override
    public ServiceStatus status() {
        return ServiceStatus.none(place.name(), member.birth().map(Birth::toString).orElse(""))
                .with(member.status());
    }

    @Override
    public void measure(Measures measures) {
        member.measure(measures);
    }

    @Override
    public void retry(long deadLetter) {
        throw unsupported("dead letters: a request that failed was refused");
    }

    @Override
    public void discard(long deadLetter) {
        throw unsupported("dead letters: a request that failed was refused");
    }

    @Override
    public void declareLost(String service, String generation) {
        throw unsupported("messages to other services");
    }

    @Override
    public void returnUndelivered(String service) {
        throw unsupported("messages to other services");
    }

    @Override
    public void resume(String channel) {
        throw unsupported("channels that wait for a person");
    }

    @Override
    public <A> A query(Query<A> query, long atLeast) {
        Class<A> type = Asks.answerOf(query);
        Body asked = MESSAGES.encode(query, place.options().largestMessageBytes());
        try {
            byte[] answer = member.query(LaneHandlers.encode(asked), atLeast);
            return MESSAGES.decode(place.name(), LaneHandlers.decode(answer), type);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ServiceException("a query of " + place.name() + " was interrupted", e);
        }
    }

    @Override
    public void handOver(Optional<String> to) {
        try {
            member.handOver(to);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ServiceException(place.name() + " was interrupted as it was handed over", e);
        }
    }

    /**
     * A primary hands over. If no member is ready, it keeps a snapshot, from which other code may
     * begin (X17).
     */
    @Override
    public void close() {
        if (halting.reason().isPresent()) {
            boolean unused = halting.awaitClosed(CLOSE_PATIENCE);
            return;
        }
        if (ended.getCount() > 0 && member.serving().isPresent()) {
            try {
                handOver(Optional.empty());
            } catch (IllegalArgumentException | ServiceException e) {
                LOG.info("{}: closes without a successor: {}", place.name(), e.getMessage());
                member.serving().ifPresent(this::keepSnapshot);
            }
        }
        shutDown();
    }

    private void keepSnapshot(ReplayedLanes lanes) {
        try {
            lanes.quietSoon();
            long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(SNAPSHOT_MILLIS);
            while (member.snapshot() < member.status().segment() && System.nanoTime() < until) {
                TimeUnit.MILLISECONDS.sleep(5);
            }
        } catch (ServiceException e) {
            LOG.info("{}: closes without a snapshot: {}", place.name(), e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
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
        shutDown();
    }

    private void shutDown() {
        ReplayMember it = member;
        if (it != null) {
            it.close();
        }
        Http.Served served = page;
        if (served != null) {
            served.close();
        }
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
}
