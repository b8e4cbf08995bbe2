package io.saucr.services.testkit;

import io.saucr.services.Client;
import io.saucr.services.turns.Routing;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;

/** A client of a service with partitions: one of each that it has called. Thread of the test. */
final class PartitionsTestClient implements Client {

    private final String service;
    private final int count;
    private final IntFunction<TestClient> maker;
    private final Map<Integer, TestClient> clients = new TreeMap<>();
    private Optional<LossHandler> losses = Optional.empty();

    PartitionsTestClient(String service, int count, IntFunction<TestClient> maker) {
        this.service = service;
        this.count = count;
        this.maker = maker;
    }

    private Client of(Object message) {
        int number = Routing.partition(message, service, count);
        TestClient known = clients.get(number);
        if (known == null) {
            known = maker.apply(number);
            losses.ifPresent(known::onLost);
            clients.put(number, known);
        }
        return known;
    }

    @Override
    public <A> CompletableFuture<A> ask(Object message, Class<A> answer) {
        return of(message).ask(message, answer);
    }

    @Override
    public CompletableFuture<Void> send(Object message) {
        return of(message).send(message);
    }

    @Override
    public void onLost(LossHandler handler) {
        losses = Optional.of(handler);
        clients.values().forEach(it -> it.onLost(handler));
    }

    @Override
    public long lostReplies() {
        return clients.values().stream().mapToLong(TestClient::lostReplies).sum();
    }

    @Override
    public void close() {
        clients.values().forEach(TestClient::close);
    }
}
