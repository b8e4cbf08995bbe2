package io.saucr.services.turns;

import io.saucr.services.Address;
import io.saucr.services.core.Body;
import io.saucr.services.core.Frame;
import io.saucr.services.core.Link;
import io.saucr.services.ensemble.Names;
import io.saucr.services.net.Peers;
import io.saucr.services.once.Operation;
import io.saucr.services.wire.Transport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ScheduledExecutorService;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where a service meets others: connections, its HTTP endpoint, its calls to the world and its
 * writes to the ensemble. What arrives goes to the thread of turns. {@link #listen} and {@link
 * #close} belong to one thread at a time; questions to any.
 */
final class Front implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Front.class);

    /** So long a client that speaks HTTP waits for its answer. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Place place;
    private final Turns turns;
    private final TurnLoop loop;
    private final ScheduledExecutorService calling;

    /** Closed in reverse. */
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    private volatile Peers peers;
    private volatile Http.Served door;

    /**
     * Nothing is open yet.
     *
     * @param calling makes calls to the world
     */
    Front(Place place, Turns turns, TurnLoop loop, ScheduledExecutorService calling) {
        this.place = place;
        this.turns = turns;
        this.loop = loop;
        this.calling = calling;
    }

    /**
     * Accepts connections; what arrives waits until turns run.
     *
     * @return where the service answers
     * @throws IOException where port or keys cannot be used; says what to do
     */
    Address listen(Random random) throws IOException {
        String name = place.name();
        OutputCalls calls =
                turns.outputCalls(
                        calling, (output, answer) -> loop.post(() -> turns.result(output, answer)));
        OwnWrites writes =
                new OwnWrites(
                        place,
                        turns,
                        (output, answer) -> loop.post(() -> turns.result(output, answer)));
        opened.push(writes);
        Optional<Names> names =
                place.ensemble()
                        .map(it -> new Names(it, place.sessionTimeout(), place.credentials()));
        names.ifPresent(opened::push);
        Links links = new Links(place, turns, names);
        // What arrives before the service has begun waits behind this.
        loop.post(() -> turns.begin(new ProcessBorder(links, calls, writes, loop)));
        peers = Peers.open(Transport.shared(), name, place.net(), links, loop::post, random);
        opened.push(peers);
        links.over(peers);
        Address at = peers.listen(place.listen());
        if (place.door().isPresent()) {
            door =
                    Http.found()
                            .endpoint(
                                    name,
                                    place.door().get(),
                                    place.options().largestMessageBytes(),
                                    PATIENCE,
                                    new ByHttp());
            opened.push(door);
        }
        return at;
    }

    /** Where it answers by HTTP, where it does. */
    Optional<Address> http() {
        return Optional.ofNullable(door).map(Http.Served::address);
    }

    /** Which services cannot be reached, and why. */
    Map<String, String> unreachable() {
        return peers.unreachable();
    }

    @Override
    public void close() {
        while (!opened.isEmpty()) {
            try {
                opened.pop().close();
            } catch (Exception e) {
                LOG.warn("{}: not everything of it could be closed", place.name(), e);
            }
        }
    }

    /** What comes by HTTP goes to the thread of turns. */
    private final class ByHttp implements Http.Requests {

        @Override
        public Optional<Class<?>> type(String type) {
            return turns.asked(type);
        }

        @Override
        public boolean allows(String type) {
            return place.options().allows(type, "", true);
        }

        @Override
        public Body encode(Object message) {
            return turns.encoded(message);
        }

        @Override
        public void request(DoorRequest request) {
            loop.post(() -> turns.request(request));
        }

        @Override
        public void giveUp(long id) {
            loop.post(() -> turns.giveUp(id));
        }
    }

    /** What leaves the service leaves this process. */
    private record ProcessBorder(Links links, OutputCalls calls, OwnWrites writes, TurnLoop loop)
            implements Endpoint.Border {

        @Override
        public void send(Link link, Frame frame) {
            links.send(link, frame);
        }

        @Override
        public void flush() {
            links.flush();
        }

        @Override
        public void close(Link link, String reason) {
            links.close(link, reason);
        }

        @Override
        public void reach(String service) {
            links.reach(service);
        }

        @Override
        public void leave(String service, String reason) {
            links.leave(service, reason);
        }

        @Override
        public void call(long output, String id, Body call) {
            Optional<Operation> write = Turns.ensembleWrite(call);
            if (write.isEmpty()) {
                calls.call(output, id, call);
                return;
            }
            try {
                writes.write(output, id, write.get());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public void halt(String reason) {
            loop.end(reason, null);
        }
    }
}
