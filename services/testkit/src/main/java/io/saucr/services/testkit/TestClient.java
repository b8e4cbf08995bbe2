package io.saucr.services.testkit;

import io.saucr.services.Client;
import io.saucr.services.client.ClientMessages;
import io.saucr.services.client.ClientTurns;
import io.saucr.services.client.Losses;
import io.saucr.services.core.Body;
import io.saucr.services.turns.Endpoint;
import io.saucr.services.turns.Guard;
import io.saucr.services.turns.Turns;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** A client with a birth of its own. */
final class TestClient extends Node implements Client {

    private final String service;
    private final ClientMessages messages = new ClientMessages();
    private final Losses losses;
    private ClientTurns turns;

    TestClient(TestWorld world, String name, String service, MemoryDisk disk) {
        super(world, name, disk);
        this.service = service;
        this.losses = new Losses(service, Runnable::run);
    }

    @Override
    Endpoint open(Guard guard) throws IOException {
        turns = ClientTurns.open(name(), service, guard, world().options(), losses, surroundings());
        return turns;
    }

    /** What a lost reply leads to comes after the input that told of it. */
    private Turns.Surroundings surroundings() {
        Turns.Surroundings all = world().surroundings();
        return new Turns.Surroundings(
                all.clock(),
                all.random(),
                all.folding(),
                task -> {
                    ClientTurns mine = turns;
                    world().later(
                                    () -> true,
                                    () -> {
                                        if (isUp() && (mine == null || mine == turns)) {
                                            task.run();
                                            wake();
                                        }
                                    });
                });
    }

    @Override
    void call(long output, String id, Body call) {
        throw new AssertionError("a client makes no calls to the world");
    }

    @Override
    public <A> CompletableFuture<A> ask(Object message, Class<A> answer) {
        messages.check(answer);
        CompletableFuture<Body> body = new CompletableFuture<>();
        submit(message, Optional.of(body), new CompletableFuture<>());
        return body.thenApply(it -> messages.decode(service, it, answer));
    }

    @Override
    public CompletableFuture<Void> send(Object message) {
        CompletableFuture<Void> consumed = new CompletableFuture<>();
        submit(message, Optional.empty(), consumed);
        return consumed;
    }

    private void submit(
            Object message,
            Optional<CompletableFuture<Body>> answer,
            CompletableFuture<Void> consumed) {
        if (!isUp()) {
            throw new IllegalStateException(name() + " is not up");
        }
        turns.call(
                messages.encode(message, world().options().largestMessageBytes()),
                new ClientTurns.About(message, it -> it),
                answer,
                consumed);
        wake();
    }

    @Override
    public void onLost(LossHandler handler) {
        losses.decidedBy(handler);
    }

    @Override
    public long lostReplies() {
        return losses.count();
    }

    @Override
    public void crash() {
        turns.close("client " + name() + " crashed");
        super.crash();
    }

    @Override
    public void close() {
        if (isUp()) {
            world().run();
            crash();
        }
    }
}
