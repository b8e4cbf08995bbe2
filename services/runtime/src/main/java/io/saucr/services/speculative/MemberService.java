package io.saucr.services.speculative;

import io.saucr.services.Address;
import io.saucr.services.Halt;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.Service;
import io.saucr.services.ServiceStatus;
import io.saucr.services.State;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.speculation.GroupHead;
import io.saucr.services.ensemble.Leadership;
import io.saucr.services.ensemble.ServicePath;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.ForceMode;
import io.saucr.services.journal.JournalOptions;
import io.saucr.services.turns.Engine;
import io.saucr.services.turns.EngineService;
import io.saucr.services.turns.Place;
import io.saucr.services.turns.Turns;
import io.saucr.services.wire.NetOptions;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A service of this process that is a member of a group: its folder, its place in the ensemble and
 * in the group, and its one {@link Engine}, which lasts as long as it runs.
 */
public final class MemberService extends EngineService {

    private static final Logger LOG = LoggerFactory.getLogger(MemberService.class);

    /** So long a close waits until the group notes that the member has left. */
    private static final Duration LEFT_WITHIN = Duration.ofSeconds(5);

    /** A link between members that is silent for so long is lost; then another one coordinates. */
    private static final Duration SILENCE = Duration.ofSeconds(1);

    /** Members hear nothing early while a version waits for so long (D16). */
    private static final Duration LAG = Duration.ofMillis(500);

    /** So long after a start that was a failure members hear nothing early (D16). */
    private static final Duration CALM = Duration.ofSeconds(10);

    private MemberGuard guard;

    private MemberService(Place place, Halt halt) {
        super(place, halt);
    }

    /**
     * Starts a service; see {@link io.saucr.services.Services#run}.
     *
     * @param disk of this machine, or one of a test that holds up or kills at a step
     * @param halt hears that the service must not continue
     * @throws IllegalArgumentException where place or service is not one of a member; nothing was
     *     changed
     */
    public static RunningService start(
            Disk disk,
            Place place,
            Function<State, ? extends Service> constructor,
            Protection.Speculative protection,
            Halt halt)
            throws IOException, InterruptedException {
        MemberGuard.Options options = options(place, protection);
        // Before anything is made: what is not allowed is thrown here, not in a life.
        Turns.check(place.name(), constructor);
        return start(disk, place, constructor, options, halt);
    }

    private static MemberGuard.Options options(Place place, Protection.Speculative protection) {
        String group = protection.group();
        if (place.ensemble().isEmpty()) {
            throw new IllegalArgumentException(
                    place.name()
                            + " is to be a member of the group "
                            + group
                            + ", and needs an ensemble: Services.at(...)");
        }
        if (!GroupHead.isName(place.name())) {
            throw new IllegalArgumentException(
                    "the name of a member of a group has 1 to 100 letters, digits, '.', '_' and"
                            + " '-': \""
                            + place.name()
                            + "\"");
        }
        ServicePath own = place.servicePath(Optional.empty());
        if (group.equals(own.path())) {
            throw new IllegalArgumentException(
                    group + " is the path of " + place.name() + ": the group needs one of its own");
        }
        ServicePath path =
                new ServicePath(
                        own.connect(),
                        group,
                        Optional.empty(),
                        own.sessionTimeout(),
                        own.credentials(),
                        own.acls());
        return new MemberGuard.Options(
                path,
                protection.at().orElse(new Address(place.listen().host(), 0)),
                soonSilent(place.net()),
                new GroupMember.Timing(SILENCE, protection.grace()),
                protection.every(),
                !protection.early(),
                LAG,
                CALM);
    }

    private static NetOptions soonSilent(NetOptions of) {
        return new NetOptions(
                of.frameBytes(),
                of.unsentBytes(),
                of.untakenBytes(),
                of.connections(),
                of.strangers(),
                of.connectTimeout(),
                of.helloTimeout(),
                of.silence().compareTo(SILENCE) < 0 ? of.silence() : SILENCE,
                of.backoffMin(),
                of.backoffMax(),
                of.tls());
    }

    /**
     * The same with all options.
     *
     * @param place with an ensemble
     */
    static MemberService start(
            Disk disk,
            Place place,
            Function<State, ? extends Service> constructor,
            MemberGuard.Options options,
            Halt halt)
            throws IOException, InterruptedException {
        MemberService service = new MemberService(place, halt);
        service.start(() -> service.begin(disk, constructor, options));
        return service;
    }

    @Override
    protected void withdraw() throws IOException {
        if (guard != null) {
            guard.withdraw();
        }
    }

    private void begin(
            Disk disk, Function<State, ? extends Service> constructor, MemberGuard.Options options)
            throws IOException, InterruptedException {
        long begun = System.nanoTime();
        SecureRandom random = new SecureRandom();
        JournalOptions journal = new JournalOptions(ForceMode.always(), place.segmentBytes());
        guard = MemberGuard.open(disk, place.folder(), place.name(), journal, options, random);
        opened(guard);
        Leadership head =
                new Leadership(
                        place.servicePath(Optional.empty()),
                        newest(guard.incarnations()),
                        guard.incarnations(),
                        guard.confirmed(),
                        guard.replaces(),
                        guard::deposed);
        // No start reads the group's head before it holds its own (K14).
        take(head);
        Address address = listen(constructor, guard, random);
        head.publish(address.toString());
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

    @Override
    public ServiceStatus status() {
        return super.status().with(guard.status());
    }

    /** For tests. */
    MemberGuard guard() {
        return guard;
    }

    /** Leaves the group; where that takes too long, the group waits for the next start. */
    @Override
    protected void leave() {
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
    }
}
