package io.saucr.services.testkit;

import io.saucr.services.Service;
import io.saucr.services.State;
import io.saucr.services.core.Body;
import io.saucr.services.core.Change;
import io.saucr.services.local.Endpoint;
import io.saucr.services.local.Finality;
import io.saucr.services.local.Turns;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/** A service of a {@link TestWorld}. Thread of the test. */
public final class TestService extends Node {

    private final Map<Long, Call> calls = new LinkedHashMap<>();
    private Function<State, ? extends Service> constructor;
    private Turns turns;

    private record Call(String id, Body body, long notBeforeSteady) {}

    TestService(
            TestWorld world,
            String name,
            MemoryDisk disk,
            Function<State, ? extends Service> constructor) {
        super(world, name, disk);
        this.constructor = constructor;
    }

    /** From the next start on it is this service, as after an upgrade. */
    public void upgrade(Function<State, ? extends Service> next) {
        constructor = next;
    }

    @Override
    Endpoint open(Finality finality) throws IOException {
        turns =
                Turns.open(
                        name(), constructor, finality, world().options(), world().surroundings());
        return turns;
    }

    @Override
    public void crash() {
        super.crash();
        calls.clear();
    }

    @Override
    void call(long output, String id, Body call) {
        calls.put(output, new Call(id, call, 0));
    }

    @Override
    void moreSteps(List<BooleanSupplier> possible) {
        calls.forEach(
                (output, call) -> {
                    if (turns.makes(call.body().type())
                            && call.notBeforeSteady() <= world().steadyMillis()) {
                        possible.add(() -> make(output, call));
                    }
                });
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

    boolean isQuery(String type) {
        return turns.isQuery(type);
    }

    /** What was put aside after its attempts (K12), each as its type and the reason. */
    public List<String> parked() {
        return turns.core().parked().stream().map(TestService::shown).toList();
    }

    private static String shown(Change.ParkedIs parked) {
        return parked.body().type() + ": " + parked.reason();
    }

    /**
     * Steps until nothing happens, and lets it write its base (K10), as it does by itself once many
     * turns are behind it.
     */
    public void fold() {
        world().run();
        turns.fold();
    }
}
