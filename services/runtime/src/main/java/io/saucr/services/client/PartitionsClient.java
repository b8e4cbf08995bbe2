package io.saucr.services.client;

import io.saucr.services.Client;
import io.saucr.services.ServiceException;
import io.saucr.services.ensemble.PartitionCount;
import io.saucr.services.once.TurnGuard;
import io.saucr.services.turns.Place;
import io.saucr.services.turns.Routing;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

/**
 * A client of a service with partitions: one client for each partition that it has called, opened
 * by the first call (K18). Any thread.
 */
public final class PartitionsClient implements Client {

    private final Place place;
    private final int count;
    private final Optional<String> name;
    private final Optional<Path> folder;
    private final Map<Integer, Client> clients = new TreeMap<>();
    private Optional<LossHandler> losses = Optional.empty();
    private boolean closed;

    private PartitionsClient(Place place, int count, Optional<String> name, Optional<Path> folder) {
        this.place = place;
        this.count = count;
        this.name = name;
        this.folder = folder;
    }

    /**
     * Opens one.
     *
     * @param name of a client with a birth; empty for one without
     * @param folder in which it has one for each partition; empty where births are in memory
     * @throws IOException where the ensemble does not answer, or folders or keys cannot be used
     */
    public static Client open(Place place, int count, Optional<String> name, Optional<Path> folder)
            throws IOException, InterruptedException {
        if (place.ensemble().isPresent()) {
            PartitionCount.check(place.servicePath(Optional.empty()), count);
        }
        PartitionsClient client = new PartitionsClient(place, count, name, folder);
        if (folder.isPresent()) {
            // What an earlier process left there is to be sent, whatever this one calls.
            for (int number = 0; number < count; number++) {
                if (folder.get().resolve(String.valueOf(number)).toFile().isDirectory()) {
                    Client unused = client.client(number);
                }
            }
        }
        return client;
    }

    private synchronized Client client(int number) throws IOException {
        if (closed) {
            throw new ServiceException("the client of " + place.name() + " was closed");
        }
        Client known = clients.get(number);
        if (known == null) {
            Place to = place.partition(number);
            known =
                    name.isEmpty()
                            ? new PlainClient(to)
                            : BirthClient.open(
                                    to,
                                    name.get(),
                                    folder.map(it -> it.resolve(String.valueOf(number))));
            losses.ifPresent(known::onLost);
            clients.put(number, known);
        }
        return known;
    }

    private Client of(Object message) {
        try {
            return client(Routing.partition(message, place.name(), count));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public <A> CompletableFuture<A> ask(Object message, Class<A> answer) {
        TurnGuard.refuse("ask", "send to the service, which answers by a message");
        return of(message).ask(message, answer);
    }

    @Override
    public CompletableFuture<Void> send(Object message) {
        TurnGuard.refuse("send", "send by the turn");
        return of(message).send(message);
    }

    @Override
    public synchronized void onLost(LossHandler handler) {
        losses = Optional.of(handler);
        clients.values().forEach(it -> it.onLost(handler));
    }

    @Override
    public synchronized long lostReplies() {
        return clients.values().stream().mapToLong(Client::lostReplies).sum();
    }

    @Override
    public synchronized void close() {
        TurnGuard.refuse("close", "a client's end waits");
        closed = true;
        clients.values().forEach(Client::close);
    }
}
