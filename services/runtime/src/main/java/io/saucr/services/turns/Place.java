package io.saucr.services.turns;

import io.saucr.services.Address;
import io.saucr.services.Credentials;
import io.saucr.services.core.ServiceCore;
import io.saucr.services.ensemble.ServicePath;
import io.saucr.services.journal.JournalOptions;
import io.saucr.services.wire.NetOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.common.PathUtils;
import org.apache.zookeeper.data.ACL;

/**
 * Where one service is and with which settings it runs, checked. Immutable.
 *
 * @param ensemble servers of ZooKeeper, without a path; empty without an ensemble
 * @param parent the path above the service's, empty for the root; services next to it are found
 *     there
 * @param name of the service
 * @param credentials for the ensemble
 * @param addresses of services, where there is no ensemble
 * @param folder of the service
 * @param listen where it listens, and is reached
 * @param page where the status page is, if anywhere
 * @param door where it answers by HTTP, if anywhere
 * @param segmentBytes of the journal's files; twice as much is kept in reserve on the disk (K13)
 */
public record Place(
        Optional<String> ensemble,
        String parent,
        String name,
        Optional<Credentials> credentials,
        Map<String, Address> addresses,
        Path folder,
        Address listen,
        NetOptions net,
        TurnOptions options,
        int segmentBytes,
        Duration sessionTimeout,
        Optional<Address> page,
        Optional<Address> door) {

    private static final int LONGEST_NAME = 200;
    private static final String EXAMPLE = ", as in zk1:2181,zk2:2181/apps/bank-eu";

    public Place {
        addresses = Map.copyOf(addresses);
        checkName(name);
        if (sessionTimeout.toMillis() < 1 || sessionTimeout.compareTo(Duration.ofHours(1)) > 0) {
            throw new IllegalArgumentException(
                    "a session's timeout is from 1 ms to an hour, not " + sessionTimeout);
        }
    }

    /**
     * Checks the name of a service: it is a part of a path in the ensemble, and stands in HELLO.
     *
     * @throws IllegalArgumentException where it is not one; the message says what is allowed
     */
    public static void checkName(String name) {
        boolean allowed =
                !name.isBlank()
                        && name.indexOf(ServiceCore.RESERVED) < 0
                        && name.indexOf('/') < 0
                        && name.length() <= LONGEST_NAME
                        && name.codePoints().noneMatch(Place::isUnprintable);
        if (allowed) {
            try {
                PathUtils.validatePath("/" + name);
            } catch (IllegalArgumentException e) {
                allowed = false;
            }
        }
        if (!allowed) {
            throw new IllegalArgumentException(
                    "the name of a service has 1 to "
                            + LONGEST_NAME
                            + " characters, printable, without '/' and '"
                            + ServiceCore.RESERVED
                            + "', and is not '.' or '..': \""
                            + name
                            + "\"");
        }
    }

    private static boolean isUnprintable(int point) {
        return switch (Character.getType(point)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR ->
                    true;
            default -> false;
        };
    }

    /** See {@link io.saucr.services.Services#at}. */
    public static Place at(String ensemble, Optional<Credentials> credentials) {
        int slash = ensemble.indexOf('/');
        if (slash <= 0 || slash == ensemble.length() - 1) {
            throw new IllegalArgumentException(
                    "\"" + ensemble + "\" names no servers or no path of a service" + EXAMPLE);
        }
        String path = ensemble.substring(slash);
        try {
            PathUtils.validatePath(path);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "\"" + path + "\" is no path: " + e.getMessage() + EXAMPLE, e);
        }
        int last = path.lastIndexOf('/');
        return of(
                Optional.of(ensemble.substring(0, slash)),
                path.substring(0, last),
                path.substring(last + 1),
                credentials,
                Map.of());
    }

    /** See {@link io.saucr.services.Services#without}. */
    public static Place without(String name, Map<String, Address> addresses) {
        return of(Optional.empty(), "", name, Optional.empty(), addresses);
    }

    private static Place of(
            Optional<String> ensemble,
            String parent,
            String name,
            Optional<Credentials> credentials,
            Map<String, Address> addresses) {
        return new Place(
                ensemble,
                parent,
                name,
                credentials,
                addresses,
                Path.of("services", name),
                new Address("localhost", 0),
                NetOptions.plain(),
                TurnOptions.standard(),
                JournalOptions.SEGMENT_BYTES,
                Duration.ofSeconds(15),
                Optional.empty(),
                Optional.empty());
    }

    /** This place, where handlers run in so many lanes; 0 for none. */
    public Place inLanes(int lanes) {
        return withOptions(options.lanes(lanes));
    }

    /** The path of a service next to this one, or of this one. */
    public String path(String service) {
        return parent + "/" + service;
    }

    /** This place with another folder. */
    public Place withFolder(Path other) {
        return new Place(
                ensemble,
                parent,
                name,
                credentials,
                addresses,
                other,
                listen,
                net,
                options,
                segmentBytes,
                sessionTimeout,
                page,
                door);
    }

    /** This place with another address. */
    public Place withListen(Address other) {
        return new Place(
                ensemble,
                parent,
                name,
                credentials,
                addresses,
                folder,
                other,
                net,
                options,
                segmentBytes,
                sessionTimeout,
                page,
                door);
    }

    /** This place with other connections; a message is as large as their frames allow. */
    public Place withNet(NetOptions other) {
        return new Place(
                ensemble,
                parent,
                name,
                credentials,
                addresses,
                folder,
                listen,
                other,
                options.largestMessageBytes(
                        Math.min(other.bodyBytes(), TurnOptions.LARGEST_MESSAGE_BYTES)),
                segmentBytes,
                sessionTimeout,
                page,
                door);
    }

    /** This place with other sizes. */
    public Place withOptions(TurnOptions other) {
        return new Place(
                ensemble,
                parent,
                name,
                credentials,
                addresses,
                folder,
                listen,
                net,
                other,
                segmentBytes,
                sessionTimeout,
                page,
                door);
    }

    /** This place, where messages to a service go to one of so many partitions of it. */
    public Place withPartitions(String service, int count) {
        return withOptions(options.routing(options.routing().with(service, count)));
    }

    /** This place with another timeout. */
    public Place withSessionTimeout(Duration other) {
        return new Place(
                ensemble,
                parent,
                name,
                credentials,
                addresses,
                folder,
                listen,
                net,
                options,
                segmentBytes,
                other,
                page,
                door);
    }

    /** This place with segments of another size. */
    public Place withSegmentBytes(int other) {
        return new Place(
                ensemble,
                parent,
                name,
                credentials,
                addresses,
                folder,
                listen,
                net,
                options,
                other,
                sessionTimeout,
                page,
                door);
    }

    /** This place with a status page. */
    public Place withPage(Address at) {
        return new Place(
                ensemble,
                parent,
                name,
                credentials,
                addresses,
                folder,
                listen,
                net,
                options,
                segmentBytes,
                sessionTimeout,
                Optional.of(at),
                door);
    }

    /** This place with a door for HTTP. */
    public Place withDoor(Address at) {
        return new Place(
                ensemble,
                parent,
                name,
                credentials,
                addresses,
                folder,
                listen,
                net,
                options,
                segmentBytes,
                sessionTimeout,
                page,
                Optional.of(at));
    }

    /**
     * Where its head is; of a place with an ensemble.
     *
     * @param address where the service answers, for others to know; empty where that is told
     *     otherwise, or nobody answers
     */
    public ServicePath servicePath(Optional<String> address) {
        return new ServicePath(
                ensemble.orElseThrow(), path(name), address, sessionTimeout, credentials, acls());
    }

    /** With credentials all but reading is the creator's; others have to find the address. */
    public List<ACL> acls() {
        if (credentials.isEmpty()) {
            return ZooDefs.Ids.OPEN_ACL_UNSAFE;
        }
        List<ACL> acls = new ArrayList<>(ZooDefs.Ids.CREATOR_ALL_ACL);
        acls.addAll(ZooDefs.Ids.READ_ACL_UNSAFE);
        return Collections.unmodifiableList(acls);
    }

    /** The place of one of its partitions: a service of its own, with what it has in a folder. */
    public Place partition(int number) {
        return new Place(
                ensemble,
                parent,
                Routing.name(name, number),
                credentials,
                addresses,
                folder.resolve(String.valueOf(number)),
                next(listen, number),
                net,
                options.routing(options.routing().as(name, number)),
                segmentBytes,
                sessionTimeout,
                page.map(it -> next(it, number)),
                door.map(it -> next(it, number)));
    }

    /** Where a partition is, by where the first one is; any port stays any. */
    public static Address next(Address first, int number) {
        return first.port() == 0 ? first : new Address(first.host(), first.port() + number);
    }

    /** The once client by which turns write to the ensemble (E10); empty where they cannot. */
    public Optional<String> onceClient() {
        return OwnWrites.refusal(this) == null
                ? Optional.of(OwnWrites.name(this))
                : Optional.empty();
    }
}
