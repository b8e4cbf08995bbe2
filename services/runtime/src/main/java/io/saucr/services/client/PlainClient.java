package io.saucr.services.client;

import io.saucr.services.Address;
import io.saucr.services.Client;
import io.saucr.services.Lost;
import io.saucr.services.Query;
import io.saucr.services.ServiceException;
import io.saucr.services.core.Body;
import io.saucr.services.ensemble.Names;
import io.saucr.services.net.AskingClient;
import io.saucr.services.once.TurnGuard;
import io.saucr.services.turns.Place;
import io.saucr.services.wire.Transport;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A client without a birth: what it sends is consumed at most once. Any thread. */
public final class PlainClient implements Client {

    private static final Logger LOG = LoggerFactory.getLogger(PlainClient.class);

    /**
     * What hears of answers runs here: with two processors the common pool is not used, but a
     * thread is made for each answer. Who waits here for a future holds up nobody.
     */
    private static final ForkJoinPool CALLBACKS =
            new ForkJoinPool(
                    Math.max(8, Runtime.getRuntime().availableProcessors()),
                    ForkJoinPool.defaultForkJoinWorkerThreadFactory,
                    null,
                    true);

    private final Place place;
    private final ClientMessages messages = new ClientMessages();
    private final ExecutorService executor;
    private final Losses losses;
    private final AskingClient asking;
    private final Optional<Names> names;

    public PlainClient(Place place) throws IOException {
        this.place = place;
        losses = new Losses(place.name());
        executor =
                Executors.newSingleThreadExecutor(
                        task -> {
                            Thread thread = new Thread(task, "client of " + place.name());
                            thread.setDaemon(true);
                            return thread;
                        });
        boolean opened = false;
        try {
            asking =
                    AskingClient.open(
                            Transport.shared(),
                            "client of " + place.name(),
                            place.name(),
                            place.net(),
                            executor,
                            this::lost,
                            new Random(new SecureRandom().nextLong()));
            opened = true;
        } finally {
            if (!opened) {
                executor.shutdown();
            }
        }
        names = follow(place, (address, head) -> asking.dial(address));
    }

    /** Tells it where the one that hears an answer may wait for another one of the same client. */
    static <T, A> CompletableFuture<A> told(CompletableFuture<T> call, Function<T, A> answer) {
        return call.handleAsync(
                (given, failure) -> {
                    if (failure == null) {
                        return answer.apply(given);
                    }
                    throw failure instanceof RuntimeException known
                            ? known
                            : new CompletionException(failure);
                },
                CALLBACKS);
    }

    /** Hears where a service answers, and which head it holds, where that was seen. */
    interface Moved {
        void to(Optional<Address> address, Optional<String> head);
    }

    /** Tells the address of the place's service, now and when it changes. */
    static Optional<Names> follow(Place place, Moved moved) {
        if (place.ensemble().isEmpty()) {
            moved.to(Optional.ofNullable(place.addresses().get(place.name())), Optional.empty());
            return Optional.empty();
        }
        moved.to(Optional.empty(), Optional.empty());
        Names names =
                new Names(place.ensemble().get(), place.sessionTimeout(), place.credentials());
        names.follow(
                place.path(place.name()),
                address -> {
                    try {
                        moved.to(address.map(Address::parse), names.head(place.path(place.name())));
                    } catch (IllegalArgumentException e) {
                        LOG.warn("the address of {} is of no use", place.name(), e);
                    }
                });
        return Optional.of(names);
    }

    @Override
    public <A> CompletableFuture<A> ask(Object message, Class<A> answer) {
        TurnGuard.refuse("ask", "send to the service, which answers by a message");
        messages.check(answer);
        Body body = messages.encode(message, place.options().largestMessageBytes());
        Asked asked = new Asked(message, answer);
        return told(
                message instanceof Query<?> ? asking.query(body, asked) : asking.ask(body, asked),
                given -> read(given, answer));
    }

    /** What a request is about, should its reply be lost. */
    private record Asked(Object message, Class<?> answer) {}

    private <A> A read(Optional<Body> body, Class<A> answer) {
        return messages.decode(
                place.name(),
                body.orElseThrow(
                        () ->
                                new ServiceException(
                                        place.name() + " consumed the message and gave no answer")),
                answer);
    }

    private CompletableFuture<List<Boolean>> lost(List<AskingClient.LostReply> replies) {
        List<Lost> all = new ArrayList<>();
        for (AskingClient.LostReply each : replies) {
            Asked asked = (Asked) each.about();
            all.add(
                    new Lost(
                            asked.message(),
                            each.mark().epoch(),
                            each.mark().turn(),
                            each.survived(),
                            each.again().thenApply(body -> read(body, asked.answer()))));
        }
        return losses.decide(all);
    }

    @Override
    public CompletableFuture<Void> send(Object message) {
        TurnGuard.refuse("send", "send by the turn");
        return told(
                asking.ask(
                        messages.encode(message, place.options().largestMessageBytes()),
                        new Asked(message, Object.class)),
                body -> null);
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
    public void close() {
        TurnGuard.refuse("close", "a client's end waits");
        names.ifPresent(Names::close);
        asking.close();
        losses.end("the client of " + place.name() + " was closed");
        executor.shutdown();
    }
}
