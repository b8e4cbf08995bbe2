package io.saucr.services.testkit;

import io.saucr.services.Client;
import io.saucr.services.Protection;
import io.saucr.services.Service;
import io.saucr.services.State;
import io.saucr.services.core.Moment;
import io.saucr.services.core.ServiceCore;
import io.saucr.services.turns.Guard;
import io.saucr.services.turns.Routing;
import io.saucr.services.turns.TurnOptions;
import io.saucr.services.turns.Turns;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * Services and their clients in memory, on one thread, with a clock of their own: the real turns,
 * channels and recovery over a simulated disk and network. What happens next is chosen by a seed: a
 * turn, a force, a frame that arrives, a link that is made, a call to the world. A service may
 * {@linkplain TestService#crash crash} between any two of these steps; {@link CrashPoints} does so
 * at each of them.
 *
 * <p>In a world each value that a turn saw is looked at afterwards: one that was changed in place
 * fails its turn (C12).
 *
 * <p>Thread of the test.
 */
public final class TestWorld {

    /** More steps than this without an end are a loop. */
    private static final int MOST_STEPS = 1_000_000;

    private final Random random;
    private final Map<String, Node> nodes = new LinkedHashMap<>();
    private final Map<String, TestPartitions> partitions = new LinkedHashMap<>();
    private TurnOptions options;
    private final List<Wire> wires = new ArrayList<>();
    private long wallMillis = Instant.parse("2026-01-01T00:00:00Z").toEpochMilli();
    private long steadyMillis;
    private long steps;
    private long links;
    private final List<Later> later = new ArrayList<>();
    private BiFunction<String, Guard, Guard> guards = (name, disk) -> disk;
    private CrashPoints.Plan plan = CrashPoints.Plan.NONE;

    private record Later(BooleanSupplier when, Runnable what) {
        boolean run() {
            what.run();
            return true;
        }
    }

    /**
     * An empty world.
     *
     * @param seed the same seed and calls give the same steps
     */
    public TestWorld(long seed) {
        this(seed, TurnOptions.standard());
    }

    /**
     * An empty world.
     *
     * @param seed the same seed and calls give the same steps
     * @param options of all its services and clients
     */
    public TestWorld(long seed, TurnOptions options) {
        this.random = new Random(seed);
        this.options = options.checkingValues();
    }

    /** What stands between services and clients, by name, and their disks, for tests of the kit. */
    void guards(BiFunction<String, Guard, Guard> by) {
        guards = by;
    }

    Guard guarded(String name, Guard disk) {
        return guards.apply(name, disk);
    }

    void plan(CrashPoints.Plan crash) {
        plan = crash;
    }

    /**
     * Makes a service, and starts it.
     *
     * @param name that no other has
     * @param constructor makes it from its state, at each start
     * @throws IllegalArgumentException where the service or one of its types is not allowed
     */
    public TestService service(String name, Function<State, ? extends Service> constructor) {
        return service(name, constructor, it -> it);
    }

    private TestService service(
            String name,
            Function<State, ? extends Service> constructor,
            UnaryOperator<TurnOptions> own) {
        return started(new TestService(this, name, new MemoryDisk(split()), constructor, own));
    }

    private TestService started(TestService service) {
        add(service.name(), service);
        service.start();
        return service;
    }

    /**
     * Makes a service with standbys, and starts its first member.
     *
     * @param name that no other has
     * @param constructor makes it from its state, in each member that takes over
     * @param protection with its {@link Protection.Standby#copies copies}, one member more than
     *     these; with {@link Protection.Standby#every every} time has to pass until turns are final
     * @throws IllegalArgumentException where the service or one of its types is not allowed
     */
    public TestService service(
            String name,
            Function<State, ? extends Service> constructor,
            Protection.Standby protection) {
        return service(name, constructor, protection, it -> it);
    }

    private TestService service(
            String name,
            Function<State, ? extends Service> constructor,
            Protection.Standby protection,
            UnaryOperator<TurnOptions> own) {
        return started(
                new TestService(
                        this,
                        name,
                        new MemoryMembers(protection, split(), () -> steadyMillis),
                        constructor,
                        it -> own.apply(it).lanes(protection.lanes())));
    }

    /**
     * Says that a service has partitions, before anything is made in this world: what turns and
     * clients send to it goes to the partition of the message's key.
     *
     * @param service its name
     * @param count from 1 to 1024
     * @throws IllegalStateException where services or clients are there already
     */
    public void partitioned(String service, int count) {
        if (!nodes.isEmpty()) {
            throw new IllegalStateException(
                    nodes.keySet()
                            + " do not know that "
                            + service
                            + " has partitions: call partitioned(...) first");
        }
        options = options.routing(options.routing().with(service, count));
    }

    /**
     * Makes all partitions of a service, and starts them.
     *
     * @param name that {@link #partitioned} named
     * @param constructor makes each from its state, at each start
     * @throws IllegalArgumentException where it was not named, or is there already
     */
    public TestPartitions partitions(String name, Function<State, ? extends Service> constructor) {
        return partitions(name, (each, own) -> service(each, constructor, own));
    }

    /**
     * The same with standbys for each partition.
     *
     * @param protection of each
     */
    public TestPartitions partitions(
            String name,
            Function<State, ? extends Service> constructor,
            Protection.Standby protection) {
        return partitions(name, (each, own) -> service(each, constructor, protection, own));
    }

    private TestPartitions partitions(
            String name, BiFunction<String, UnaryOperator<TurnOptions>, TestService> maker) {
        Integer count = options.routing().counts().get(name);
        if (count == null) {
            throw new IllegalArgumentException(
                    name + " has no number of partitions: call partitioned(...) first");
        }
        throwIfThere(name);
        List<TestService> all = new ArrayList<>();
        for (int number = 0; number < count; number++) {
            int own = number;
            all.add(
                    maker.apply(
                            Routing.name(name, number),
                            it -> it.routing(it.routing().as(name, own))));
        }
        TestPartitions made = new TestPartitions(name, all);
        partitions.put(name, made);
        return made;
    }

    /**
     * Makes a client with a birth of its own: its calls are consumed exactly once and in order.
     *
     * @param name that no service and no other client has
     * @param service that it calls, there or not
     */
    public Client client(String name, String service) {
        Integer count = options.routing().counts().get(service);
        if (count == null) {
            return client(name, name, service);
        }
        throwIfThere(name);
        return new PartitionsTestClient(
                service,
                count,
                number ->
                        client(
                                name + ServiceCore.RESERVED + number,
                                name,
                                Routing.name(service, number)));
    }

    private TestClient client(String as, String name, String service) {
        TestClient client = new TestClient(this, name, service, new MemoryDisk(split()));
        add(as, client);
        client.start();
        return client;
    }

    private void add(String as, Node node) {
        throwIfThere(as);
        nodes.put(as, node);
    }

    private void throwIfThere(String name) {
        if (nodes.containsKey(name) || partitions.containsKey(name)) {
            throw new IllegalArgumentException(name + " is there already");
        }
    }

    private Random split() {
        return new Random(random.nextLong());
    }

    /** The time. */
    public Instant now() {
        return Instant.ofEpochMilli(wallMillis);
    }

    /** Lets time pass, and nothing else; {@link #run} then lets timers go off. */
    public void advance(Duration time) {
        wallMillis += time.toMillis();
        steadyMillis += time.toMillis();
        nodes.values().forEach(Node::wake);
    }

    /** Sets the wall clock, which may jump as an operator's or a leap does (K16). */
    public void setWallClock(Instant to) {
        wallMillis = to.toEpochMilli();
        nodes.values().forEach(Node::wake);
    }

    /**
     * One step.
     *
     * @return whether there was one
     */
    public boolean step() {
        if (steps == plan.step()) {
            CrashPoints.Plan now = plan;
            // Once: a step that was possible no more leaves the count as it is.
            plan = CrashPoints.Plan.NONE;
            now.crash(processes());
        }
        List<BooleanSupplier> possible = new ArrayList<>();
        nodes.values().forEach(node -> node.steps(possible));
        for (Later one : later) {
            if (one.when().getAsBoolean()) {
                possible.add(() -> later.remove(one) && one.run());
            }
        }
        wires.forEach(wire -> wire.steps(possible));
        while (!possible.isEmpty()) {
            int chosen = random.nextInt(possible.size());
            if (possible.remove(chosen).getAsBoolean()) {
                steps++;
                return true;
            }
        }
        return false;
    }

    /** Steps until nothing happens any more, unless time passes or somebody calls. */
    public void run() {
        long end = steps + MOST_STEPS;
        while (step()) {
            if (steps > end) {
                throw new IllegalStateException(
                        "no end after "
                                + MOST_STEPS
                                + " steps: messages or timers of no delay lead to each other");
            }
        }
    }

    /**
     * Steps until this is done.
     *
     * @return what it gives
     * @throws IllegalStateException where nothing happens any more, and it is not done
     */
    public <T> T await(CompletableFuture<T> result) {
        while (!result.isDone()) {
            if (!step()) {
                throw new IllegalStateException(
                        "nothing happens any more, and this is not done; does a timer have to go"
                                + " off, or a service to start?");
            }
        }
        try {
            return result.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw e;
        }
    }

    /** How many steps there were. */
    public long steps() {
        return steps;
    }

    // ---- what nodes need

    Moment moment() {
        return new Moment(wallMillis, steadyMillis);
    }

    TurnOptions options() {
        return options;
    }

    Turns.Surroundings surroundings() {
        return surroundings(Runnable::run);
    }

    Turns.Surroundings surroundings(Executor lanes) {
        return new Turns.Surroundings(this::moment, split(), Runnable::run, Runnable::run, lanes);
    }

    /** A step that may happen once this holds. */
    void later(BooleanSupplier when, Runnable what) {
        later.add(new Later(when, what));
    }

    /** What crashes at once: each service alone, and all partitions of a service. */
    Map<String, List<TestService>> processes() {
        Map<String, List<TestService>> processes = new LinkedHashMap<>();
        for (Node each : nodes.values()) {
            if (each instanceof TestService service) {
                processes.put(service.name(), List.of(service));
            }
        }
        partitions.forEach((name, each) -> processes.put(name, each.all()));
        return processes;
    }

    long steadyMillis() {
        return steadyMillis;
    }

    boolean connect(Node from, String to) {
        Node other = nodes.get(to);
        if (other == null || !other.isUp() || other instanceof TestClient) {
            return false;
        }
        Wire unused = wire(from, other, from instanceof TestClient);
        return true;
    }

    Wire wire(WireEnd from, WireEnd to, boolean outside) {
        Wire wire = new Wire(++links, from, to, outside);
        wires.add(wire);
        wire.begin();
        return wire;
    }

    boolean isLinked(Node from, String to) {
        return wires.stream().anyMatch(it -> it.dials(from, to));
    }

    Wire wire(long id) {
        return wires.stream().filter(it -> it.id() == id).findFirst().orElse(null);
    }

    void cut(Wire wire) {
        if (wires.remove(wire)) {
            wire.end();
        }
    }

    /** All links of a node that is down. */
    void cutAll(Node node) {
        List.copyOf(wires).stream().filter(it -> it.has(node)).forEach(this::cut);
    }

    /** Breaks all links between two, with what is under way; they are made again by themselves. */
    public void cut(String one, String other) {
        Set<Node> left = named(one);
        Set<Node> right = named(other);
        List.copyOf(wires).stream()
                .filter(it -> left.stream().anyMatch(it::has) && right.stream().anyMatch(it::has))
                .forEach(this::cut);
    }

    /** All of that name: with partitions there are several. */
    private Set<Node> named(String name) {
        Set<Node> all = new LinkedHashSet<>();
        nodes.forEach(
                (as, node) -> {
                    if (as.equals(name) || as.startsWith(name + ServiceCore.RESERVED)) {
                        all.add(node);
                    }
                });
        if (partitions.containsKey(name)) {
            all.addAll(partitions.get(name).all());
        }
        return all;
    }
}
