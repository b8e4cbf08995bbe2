package io.saucr.services.turns;

import io.saucr.services.Address;
import io.saucr.services.core.Frame;
import io.saucr.services.core.Link;
import io.saucr.services.ensemble.Names;
import io.saucr.services.net.Connection;
import io.saucr.services.net.LinkListener;
import io.saucr.services.net.Peers;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The links of one endpoint over real connections. Turn thread, apart from the looks for addresses.
 */
public final class Links implements LinkListener {

    private static final Logger LOG = LoggerFactory.getLogger(Links.class);

    private final Place place;
    private final Optional<Names> names;
    private final Map<Long, Connection> connections = new HashMap<>();
    private final Map<Long, Link> links = new HashMap<>();
    private final List<Connection> queued = new ArrayList<>();
    private final Set<String> reached = new HashSet<>();

    /** Services whose addresses are told when they change, with the last one that was told. */
    private final Map<String, Optional<Address>> followed = new ConcurrentHashMap<>();

    private volatile Peers peers;
    private Endpoint endpoint;

    /**
     * No links yet.
     *
     * @param names of the place's ensemble, where it has one
     */
    public Links(Place place, Optional<Names> names) {
        this.place = place;
        this.names = names;
    }

    /** Begins without links, for this endpoint. Before its turn thread begins. */
    public void serve(Endpoint these) {
        connections.clear();
        links.clear();
        queued.clear();
        reached.clear();
        endpoint = these;
    }

    /** Before the turn thread begins. */
    public void over(Peers these) {
        peers = these;
    }

    @Override
    public void up(Connection connection) {
        Link link = new Link(connection.id(), connection.peer(), connection.outside());
        connections.put(link.id(), connection);
        links.put(link.id(), link);
        endpoint.linkUp(link);
    }

    @Override
    public void frame(Connection connection, Frame frame) {
        Link link = links.get(connection.id());
        if (link != null) {
            endpoint.frame(link, frame);
        }
    }

    @Override
    public void down(Connection connection, String reason) {
        Link link = links.remove(connection.id());
        connections.remove(connection.id());
        if (link != null) {
            LOG.debug("{}: link with {} ended: {}", place.name(), link.peer(), reason);
            endpoint.linkDown(link);
        }
    }

    public void send(Link link, Frame frame) {
        Connection connection = connections.get(link.id());
        if (connection == null) {
            return;
        }
        try {
            if (connection.queue(frame)) {
                queued.add(connection);
            }
        } catch (IllegalArgumentException e) {
            // What an earlier start allowed, with larger frames, must not end each start after it.
            LOG.error("{} cannot send to {}: {}", place.name(), link.peer(), e.getMessage());
            flush();
            connection.close(e.getMessage());
        }
    }

    /** Lets out what was sent since the last time. */
    public void flush() {
        queued.forEach(Connection::flush);
        queued.clear();
    }

    public void close(Link link, String reason) {
        flush();
        Connection connection = connections.remove(link.id());
        links.remove(link.id());
        if (connection != null) {
            LOG.info("{} ends its link with {}: {}", place.name(), link.peer(), reason);
            connection.close(reason);
        }
    }

    void reach(String service) {
        if (!reached.add(service)) {
            return;
        }
        try {
            Place.checkName(service);
        } catch (IllegalArgumentException e) {
            LOG.error(
                    "{} has messages for a name that nobody can have: {}. Declare it gone",
                    place.name(),
                    e.getMessage());
            return;
        }
        if (names.isPresent()) {
            Optional<Address> known = followed.putIfAbsent(service, Optional.empty());
            peers.dial(service, known == null ? Optional.empty() : known);
            if (known == null) {
                names.get().follow(place.path(service), address -> follow(service, address));
            }
        } else {
            Address address = place.addresses().get(service);
            if (address == null) {
                LOG.warn(
                        "{} has messages for {}, whose address is not known; known are {}",
                        place.name(),
                        service,
                        place.addresses().keySet());
            }
            peers.dial(service, Optional.ofNullable(address));
        }
    }

    /** Until it is to be reached again, or is seen at another address. */
    public void leave(String service, String reason) {
        LOG.warn("{} dials {} no more: {}", place.name(), service, reason);
        reached.remove(service);
        peers.leave(service);
    }

    /** Any thread. */
    private void follow(String service, Optional<String> address) {
        if (address.isEmpty()) {
            return;
        }
        try {
            Optional<Address> now = Optional.of(Address.parse(address.get()));
            followed.put(service, now);
            peers.dial(service, now);
        } catch (IllegalArgumentException e) {
            LOG.warn("{}: the address of {} is of no use", place.name(), service, e);
        }
    }
}
