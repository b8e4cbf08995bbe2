package io.saucr.services.testkit;

import io.saucr.services.Asks;
import io.saucr.services.EnsembleOutcome;
import io.saucr.services.Measures;
import io.saucr.services.Query;
import io.saucr.services.Service;
import io.saucr.services.State;
import io.saucr.services.core.Body;
import io.saucr.services.core.Change;
import io.saucr.services.once.Operation;
import io.saucr.services.turns.DoorRequest;
import io.saucr.services.turns.Endpoint;
import io.saucr.services.turns.Guard;
import io.saucr.services.turns.TurnOptions;
import io.saucr.services.turns.Turns;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.apache.zookeeper.Op;

/** A service of a {@link TestWorld}. Thread of the test. */
public final class TestService extends Node {

    private final Map<Long, Call> calls = new LinkedHashMap<>();
    private final Map<String, Operation> writes = new HashMap<>();
    private final List<Operation> writesInOrder = new ArrayList<>();
    private Function<State, ? extends Service> constructor;
    private final UnaryOperator<TurnOptions> own;
    private final List<Runnable> inLanes = new ArrayList<>();
    private Turns turns;
    private Measures measures = Measures.NONE;

    private record Call(String id, Body body, long notBeforeSteady) {}

    TestService(
            TestWorld world,
            String name,
            Storage storage,
            Function<State, ? extends Service> constructor,
            UnaryOperator<TurnOptions> own) {
        super(world, name, storage);
        this.constructor = constructor;
        this.own = own;
    }

    /** From the next start on it is this service, as after an upgrade. */
    public void upgrade(Function<State, ? extends Service> next) {
        constructor = next;
    }

    @Override
    Endpoint open(Guard guard) throws IOException {
        turns =
                Turns.open(
                        name(),
                        constructor,
                        guard,
                        own.apply(world().options()),
                        world().surroundings(inLanes::add));
        turns.measure(measures);
        return turns;
    }

    @Override
    void over() {
        super.over();
        calls.clear();
        inLanes.clear();
    }

    /**
     * Another member takes over at once, as where the primary's process is killed; of a service on
     * one disk, the same start continues on what survived.
     *
     * @throws IllegalStateException where it is not up
     */
    public void takeOver() {
        crash();
        start();
    }

    /**
     * The primary hands over to another member: all that it did is final first.
     *
     * @throws IllegalStateException where it is not up
     */
    public void handOver() {
        storage().finishAll();
        takeOver();
    }

    @Override
    void call(long output, String id, Body call) {
        calls.put(output, new Call(id, call, 0));
    }

    @Override
    void moreSteps(List<BooleanSupplier> possible) {
        for (Runnable run : inLanes) {
            possible.add(() -> inLane(run));
        }
        boolean writing = false;
        for (Map.Entry<Long, Call> entry : calls.entrySet()) {
            long output = entry.getKey();
            Call call = entry.getValue();
            Optional<Operation> write = Turns.ensembleWrite(call.body());
            if (write.isPresent() && !writing) {
                // They keep their order.
                writing = true;
                possible.add(() -> write(output, call.id(), write.get()));
            } else if (write.isEmpty()
                    && turns.makes(call.body().type())
                    && call.notBeforeSteady() <= world().steadyMillis()) {
                possible.add(() -> make(output, call));
            }
        }
    }

    /** A handler runs ahead of its turn. */
    private boolean inLane(Runnable run) {
        inLanes.remove(run);
        run.run();
        wake();
        return true;
    }

    /** From the next start on it says what it does, for tests of the kit. */
    void measure(Measures by) {
        measures = by;
    }

    /** As an ensemble that refuses nothing, by the id once. */
    private boolean write(long output, String id, Operation operation) {
        if (writes.putIfAbsent(id, operation) == null) {
            writesInOrder.add(operation);
        }
        calls.remove(output);
        String paths = operation.parts().stream().map(Op::getPath).collect(Collectors.joining(","));
        turns.result(output, turns.told(new EnsembleOutcome(paths, true, "", "")));
        wake();
        return true;
    }

    /** What its turns wrote to the ensemble, each once, in order; nothing is refused here. */
    public List<Operation> ensembleWrites() {
        return List.copyOf(writesInOrder);
    }

    /** A call that throws is made again once time has passed. */
    private boolean make(long output, Call call) {
        Optional<Body> answer;
        try {
            answer = turns.callOnce(call.id(), call.body());
        } catch (Exception e) {
            calls.put(output, new Call(call.id(), call.body(), world().steadyMillis() + 1));
            return true;
        }
        calls.remove(output);
        turns.result(output, answer);
        wake();
        return true;
    }

    /**
     * Asks it a query and steps until it answers; asks again where it crashed.
     *
     * @throws IllegalArgumentException where no query handler takes the question: what changes
     *     something is a client's call
     * @throws io.saucr.services.ServiceException where it refuses, or answers by another type
     */
    public <A> A query(Object question, Class<A> answer) {
        CompletableFuture<A> result = new CompletableFuture<>();
        new TestAsker<>(world(), this, question, answer, result).begin();
        return world().await(result);
    }

    /** The same with the type of the answer that the query names. */
    public <A> A query(Query<A> question) {
        return query(question, Asks.answerOf(question));
    }

    /** A request comes by HTTP. */
    void request(DoorRequest request) {
        turns.request(request);
        wake();
    }

    /** Nobody waits any longer for a request that came by HTTP. */
    void giveUp(long request) {
        turns.giveUp(request);
        wake();
    }

    /** How many keys of such requests are remembered. */
    int requestKeys() {
        return turns.requestKeys();
    }

    /** A message as it travels. */
    Body encoded(Object message) {
        return turns.encoded(message);
    }

    boolean isQuery(String type) {
        return turns.isQuery(type);
    }

    /** What was put aside after its attempts (K12), each as its type and the reason. */
    public List<String> parked() {
        return turns.core().report().parked().stream().map(TestService::shown).toList();
    }

    /**
     * A person has all that was put aside tried again (K12).
     *
     * @throws IllegalArgumentException where no handler takes one of them
     */
    public void retryParked() {
        turns.core().report().parked().forEach(it -> turns.retryParked(it.id()));
        wake();
    }

    private static String shown(Change.ParkedIs parked) {
        return parked.body().type() + ": " + parked.reason();
    }

    /**
     * Steps until nothing happens, and lets it write its base (K10), as it does on its own once
     * many turns are behind it.
     */
    public void fold() {
        world().run();
        turns.fold();
    }
}
