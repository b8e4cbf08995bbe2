package io.saucr.services.testkit;

import io.saucr.services.core.Body;
import io.saucr.services.core.Finals;
import io.saucr.services.core.Frame;
import io.saucr.services.core.Link;
import io.saucr.services.turns.Ending;
import io.saucr.services.turns.Endpoint;
import io.saucr.services.turns.Guard;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * A service or client of a {@link TestWorld}: what its turns survive in, and its process while that
 * is up.
 */
abstract class Node implements WireEnd {

    private final TestWorld world;
    private final String name;
    private final Storage storage;
    private final Set<String> reached = new LinkedHashSet<>();
    private Endpoint endpoint;
    private boolean mayTurn;
    private String halted;

    Node(TestWorld world, String name, Storage storage) {
        this.world = world;
        this.name = name;
        this.storage = storage;
    }

    /** Recovers from what survived. */
    abstract Endpoint open(Guard guard) throws IOException;

    /** A call to the world is to be made. */
    abstract void call(long output, String id, Body call);

    /** What else may happen. */
    void moreSteps(List<BooleanSupplier> possible) {}

    final TestWorld world() {
        return world;
    }

    /** Its name. */
    @Override
    public final String name() {
        return name;
    }

    /** Whether its process is up. */
    public final boolean isUp() {
        return endpoint != null;
    }

    /**
     * Starts its process on what survived.
     *
     * @throws IllegalStateException where it is up
     */
    public void start() {
        if (isUp()) {
            throw new IllegalStateException(name + " is up");
        }
        live(world.guarded(name, storage.start()));
    }

    private void live(Guard guard) {
        halted = null;
        try {
            Endpoint opened = open(guard);
            guard.begin(
                    new Guard.Listener() {
                        @Override
                        public void moved(Finals now) {
                            opened.moved(now);
                            wake();
                        }

                        @Override
                        public void over(Ending why) {
                            throw new AssertionError(why.reason(), why.cause());
                        }
                    });
            guard.confirm();
            endpoint = opened;
            opened.begin(new WorldBorder());
            wake();
        } catch (IOException e) {
            endpoint = null;
            throw new UncheckedIOException(e);
        }
        throwIfHalted();
    }

    /**
     * Ends its process as a power cut does: of what was not forced a beginning of random length
     * survives. Of a service with standbys it ends the primary's: what the head names survives, and
     * {@link #start} is another member's, which takes over.
     *
     * @throws IllegalStateException where it is not up
     */
    public void crash() {
        if (!isUp()) {
            throw new IllegalStateException(name + " is not up");
        }
        over();
        storage.crash();
        world.cutAll(this);
    }

    /** What its process had in memory is lost. */
    void over() {
        endpoint = null;
        reached.clear();
    }

    /**
     * Another life begins in the same process; those who are linked see a crash that took no time.
     */
    final void liveAgain(Guard guard) {
        over();
        world.cutAll(this);
        live(guard);
    }

    /**
     * An operator gives its folder a new birth (K11), as {@link io.saucr.services.NewGeneration}
     * says, and starts it.
     *
     * @throws IllegalStateException where it is up
     */
    public void bearAnew() {
        if (isUp()) {
            throw new IllegalStateException(
                    name + " is up, and a new generation is for who is not");
        }
        storage.disk().bearAnew();
        start();
    }

    final Storage storage() {
        return storage;
    }

    /** A backup of its folder: what is forced. */
    public Runnable backup() {
        MemoryDisk disk = storage.disk();
        MemoryDisk.Backup backup = disk.backup();
        return () -> {
            if (isUp()) {
                throw new IllegalStateException(name + " is up, and its folder in use");
            }
            disk.restore(backup);
        };
    }

    final void wake() {
        mayTurn = true;
    }

    final void steps(List<BooleanSupplier> possible) {
        if (!isUp()) {
            return;
        }
        if (mayTurn) {
            possible.add(this::turn);
        }
        List<BooleanSupplier> stored = new ArrayList<>();
        storage.steps(stored);
        for (BooleanSupplier each : stored) {
            possible.add(
                    () -> {
                        boolean done = each.getAsBoolean();
                        throwIfHalted();
                        return done;
                    });
        }
        for (String service : reached) {
            if (!world.isLinked(this, service)) {
                possible.add(() -> world.connect(this, service));
            }
        }
        moreSteps(possible);
    }

    private boolean turn() {
        long before = storage.newest();
        mayTurn = endpoint.turn();
        throwIfHalted();
        // Without an input it may have recorded something of its own.
        return mayTurn || storage.newest() > before;
    }

    @Override
    public final void linkUp(Link link) {
        endpoint.linkUp(link);
        wake();
    }

    @Override
    public final void linkDown(Link link) {
        if (isUp()) {
            endpoint.linkDown(link);
            wake();
        }
    }

    @Override
    public final void frame(Link link, Frame frame) {
        endpoint.frame(link, frame);
        wake();
        throwIfHalted();
    }

    private void throwIfHalted() {
        if (halted != null) {
            throw new IllegalStateException(name + " halted: " + halted);
        }
    }

    private final class WorldBorder implements Endpoint.Border {

        @Override
        public void send(Link link, Frame frame) {
            Wire wire = world.wire(link.id());
            if (wire != null) {
                wire.send(Node.this, frame);
            }
        }

        @Override
        public void close(Link link, String reason) {
            Wire wire = world.wire(link.id());
            if (wire != null) {
                world.cut(wire);
            }
        }

        @Override
        public void reach(String service) {
            reached.add(service);
        }

        @Override
        public void leave(String service, String reason) {
            reached.remove(service);
        }

        @Override
        public void call(long output, String id, Body call) {
            Node.this.call(output, id, call);
        }

        @Override
        public void halt(String reason) {
            halted = reason;
        }
    }
}
