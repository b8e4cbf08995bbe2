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
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ScheduledExecutorService;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where a service meets others: connections, its HTTP endpoint, its calls to the world and its
 * writes to the ensemble. What arrives goes to the life that it hosts, or waits for the next one:
 * sockets that listen, calls and writes under way survive a life, links end with it (K21). The
 * steps belong to one thread at a time; questions to any.
 */
final class Front implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Front.class);

    /** So long a client that speaks HTTP waits for its answer. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Place place;
    private final OutputCalls calls;
    private final OwnWrites writes;

    /** Closed in reverse. */
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    /** Requests by HTTP without an outcome. Guarded by this, as the two below. */
    private final Map<Long, DoorRequest> requests = new HashMap<>();

    /** Those of them that nobody waits for. */
    private final Set<Long> givenUp = new HashSet<>();

    /** What arrived while no life was there. */
    private final Queue<Runnable> waiting = new ArrayDeque<>();

    /** Where events go; empty between two lives. */
    private volatile Optional<Life> hosted = Optional.empty();

    /** Of the newest life. */
    private volatile Turns turns;

    private Links links;
    private volatile Peers peers;
    private volatile Address address;
    private volatile Http.Served door;

    /**
     * Nothing is open yet.
     *
     * @param calling makes calls to the world
     */
    Front(Place place, ScheduledExecutorService calling) {
        this.place = place;
        calls = new OutputCalls(place.name(), calling, this::answered);
        writes = new OwnWrites(place, this::answered);
        opened.push(writes);
    }

    /**
     * Accepts connections; what arrives waits until turns of this life run.
     *
     * @return where the service answers
     * @throws IOException where port or keys cannot be used; says what to do
     */
    Address listen(Life first, Random random) throws IOException {
        String name = place.name();
        Optional<Names> names =
                place.ensemble()
                        .map(it -> new Names(it, place.sessionTimeout(), place.credentials()));
        names.ifPresent(opened::push);
        links = new Links(place, names);
        peers = Peers.open(Transport.shared(), name, place.net(), links, this::post, random);
        opened.push(peers);
        links.over(peers);
        host(first);
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
        address = at;
        return at;
    }

    /** What arrives goes to this life from now on, which is to begin. */
    synchronized void host(Life life) {
        turns = life.turns();
        calls.serve(turns);
        writes.serve(turns);
        links.serve(turns);
        // What arrived before the life has begun comes behind this.
        life.post(() -> life.turns().begin(new ProcessBorder(life)));
        waiting.forEach(life::post);
        waiting.clear();
        // No turn of the life before took them, else they had an outcome.
        requests.values().forEach(it -> life.post(() -> life.turns().request(it)));
        givenUp.forEach(it -> life.post(() -> life.turns().giveUp(it)));
        hosted = Optional.of(life);
    }

    /** Ends the links of a life that has ended; what arrives from now on is for the next one. */
    synchronized void release(String reason) {
        hosted = Optional.empty();
        // What these still bring means nothing to the next life, as it does not know them.
        peers.release(place.name() + " begins anew: " + reason);
        writes.release();
    }

    private void post(Runnable event) {
        Optional<Life> now = hosted;
        if (now.isPresent()) {
            now.get().post(event);
            return;
        }
        synchronized (this) {
            if (hosted.isPresent()) {
                hosted.get().post(event);
            } else {
                waiting.add(event);
            }
        }
    }

    private void answered(long output, Optional<Body> answer) {
        post(() -> turns.result(output, answer));
    }

    /** Where it answers; null before it listens. */
    Address address() {
        return address;
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
            DoorRequest noted =
                    new DoorRequest(
                            request.id(),
                            request.body(),
                            request.key(),
                            outcome -> {
                                over(request.id());
                                request.told().accept(outcome);
                            });
            synchronized (Front.this) {
                requests.put(request.id(), noted);
                hosted.ifPresent(it -> it.post(() -> it.turns().request(noted)));
            }
        }

        private void over(long id) {
            synchronized (Front.this) {
                requests.remove(id);
                givenUp.remove(id);
            }
        }

        @Override
        public void giveUp(long id) {
            synchronized (Front.this) {
                if (requests.containsKey(id)) {
                    givenUp.add(id);
                    hosted.ifPresent(it -> it.post(() -> it.turns().giveUp(id)));
                }
            }
        }
    }

    /** What leaves a life leaves this process. */
    private final class ProcessBorder implements Endpoint.Border {

        private final Life life;

        ProcessBorder(Life life) {
            this.life = life;
        }

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
            life.over(new Ending.Failed(reason, null));
        }
    }
}
