package io.saucr.services.standby;

import io.saucr.services.Address;
import io.saucr.services.core.Body;
import io.saucr.services.core.Frame;
import io.saucr.services.net.Connection;
import io.saucr.services.net.LinkListener;
import io.saucr.services.net.Peers;
import io.saucr.services.replay.LaneHandlers;
import io.saucr.services.replay.ReplayedLanes;
import io.saucr.services.replay.ReplayedLanes.Reply;
import io.saucr.services.turns.Place;
import io.saucr.services.wire.Transport;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where clients without a generation meet the primary of a service with lanes. Requests share a
 * fixed number of channels (X1): one at a time in each, until its reply is final. So no more than
 * that are open or not final, and replies that are kept for a successor are bounded, too. All but
 * opening and closing on a thread of its own.
 */
final class LaneFront implements LinkListener, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(LaneFront.class);

    /** Requests at most that are open, or not final. */
    static final int CHANNELS = 256;

    /** Queries that run at the same time. */
    private static final int QUERY_THREADS = 4;

    /** Requests at most that wait for a channel, and their bytes; as many queries. */
    private static final int MOST_WAITING = 10_000;

    private static final long MOST_WAITING_BYTES = 64L << 20;

    @SuppressWarnings("ArrayRecordComponent") // Not compared.
    private record Asked(Connection from, long request, byte[] body) {}

    private final ReplayedLanes lanes;
    private final LaneHandlers handlers;
    private final Supplier<CompletableFuture<Void>> proofs;
    private final ExecutorService thread;
    private final ExecutorService queries;
    private final AtomicInteger querying = new AtomicInteger();
    private final Peers peers;
    private final Address address;
    private final Deque<Long> free = new ArrayDeque<>();
    private final Deque<Asked> waiting = new ArrayDeque<>();
    private long waitingBytes;

    /**
     * Listens; what arrives is handled from now on.
     *
     * @param lanes of a primary
     * @param handlers to look for types
     * @param proofs gives proofs that this member is primary after the call (C8)
     * @throws IOException if port or keys can not be used; says what to do
     */
    LaneFront(
            Place place,
            ReplayedLanes lanes,
            LaneHandlers handlers,
            Supplier<CompletableFuture<Void>> proofs,
            Random random)
            throws IOException {
        this.lanes = lanes;
        this.proofs = proofs;
        this.handlers = handlers;
        for (long channel = 1; channel <= CHANNELS; channel++) {
            free.add(channel);
        }
        thread = threads(1, "clients of " + place.name());
        queries = threads(QUERY_THREADS, "queries of " + place.name());
        boolean done = false;
        try {
            peers = Peers.open(Transport.shared(), place.name(), place.net(), this, thread, random);
            address = peers.listen(place.listen());
            done = true;
        } finally {
            if (!done) {
                thread.shutdown();
                queries.shutdown();
            }
        }
    }

    private static ExecutorService threads(int count, String name) {
        return Executors.newFixedThreadPool(
                count,
                task -> {
                    Thread made = new Thread(task, name);
                    made.setDaemon(true);
                    return made;
                });
    }

    /** Where it listens. */
    Address address() {
        return address;
    }

    /** Queries that are not answered. Any thread. */
    int querying() {
        return querying.get();
    }

    @Override
    public void up(Connection link) {
        if (!link.nameless()) {
            link.close(
                    "a service with Protection.replay takes requests of clients without a"
                            + " generation alone, as Services.client() opens them, and not of "
                            + (link.outside() ? "client " : "service ")
                            + link.peer());
        }
    }

    @Override
    public void frame(Connection link, Frame frame) {
        if (frame instanceof Frame.Ask it) {
            Optional<String> refusal = refusal(it.body());
            if (refusal.isPresent()) {
                link.send(new Frame.Refused(it.request(), refusal.get()));
                return;
            }
            byte[] body = LaneHandlers.encode(it.body());
            if (handlers.isQuery(it.body())) {
                query(new Asked(link, it.request(), body));
                return;
            }
            waiting.add(new Asked(link, it.request(), body));
            waitingBytes += body.length;
            askNext();
        }
        // A client without a generation that was told nothing early says nothing else of use.
    }

    private Optional<String> refusal(Body body) {
        if (handlers.isQuery(body)) {
            int wait = querying.get();
            return wait < MOST_WAITING
                    ? handlers.refusal(body)
                    : Optional.of(wait + " queries wait already: ask again later");
        }
        if (waiting.size() >= MOST_WAITING
                || waitingBytes + body.bytes().length > MOST_WAITING_BYTES) {
            return Optional.of(
                    waiting.size()
                            + " requests of "
                            + waitingBytes
                            + " bytes wait already: ask again later");
        }
        return handlers.refusal(body);
    }

    /** It leaves once all that it saw is named, and this member is primary after that (X15, C8). */
    private void query(Asked asked) {
        querying.incrementAndGet();
        try {
            queries.execute(() -> answerQuery(asked));
        } catch (RejectedExecutionException e) {
            querying.decrementAndGet();
            LOG.debug("query {} came behind the end", asked.request());
        }
    }

    private void answerQuery(Asked asked) {
        CompletableFuture<Frame> answer;
        try {
            byte[] body = lanes.query(asked.body());
            answer =
                    lanes.awaitNamed()
                            .thenCompose(named -> proofs.get())
                            .thenApply(proven -> reply(asked, body));
        } catch (RuntimeException | Error e) {
            LOG.info("query {} failed", asked.request(), e);
            answer =
                    CompletableFuture.completedFuture(
                            new Frame.Refused(
                                    asked.request(), "its handler failed: " + e.getMessage()));
        }
        var unused =
                answer.whenComplete(
                        (frame, failure) -> {
                            if (failure == null) {
                                sendAnswer(asked, frame);
                            } else {
                                // The end of the connection says so, and the client asks again.
                                querying.decrementAndGet();
                            }
                        });
    }

    private static Frame reply(Asked asked, byte[] answer) {
        return new Frame.Answer(asked.request(), Optional.of(LaneHandlers.decode(answer)));
    }

    /** Any thread. */
    private void sendAnswer(Asked asked, Frame answer) {
        try {
            thread.execute(
                    () -> {
                        try {
                            asked.from().send(answer);
                        } catch (IllegalArgumentException e) {
                            asked.from()
                                    .send(
                                            new Frame.Refused(
                                                    asked.request(),
                                                    "its answer can not be sent: "
                                                            + e.getMessage()));
                        } finally {
                            querying.decrementAndGet();
                        }
                    });
        } catch (RejectedExecutionException e) {
            querying.decrementAndGet();
            LOG.debug("query {} was answered behind the end", asked.request());
        }
    }

    private void askNext() {
        while (!waiting.isEmpty() && !free.isEmpty()) {
            Asked next = waiting.remove();
            waitingBytes -= next.body().length;
            long channel = free.remove();
            var unused =
                    lanes.ask(channel, lanes.nextNumber(channel), next.body())
                            .whenComplete(
                                    (reply, failure) -> answered(next, channel, reply, failure));
        }
    }

    /** Any thread. */
    private void answered(Asked asked, long channel, Reply reply, Throwable failure) {
        if (failure != null) {
            // This member is not primary any more. Nobody here knows what became of it: the end of
            // the connection says so.
            LOG.debug("request {}: {}", asked.request(), failure.getMessage());
            return;
        }
        try {
            thread.execute(() -> answer(asked, channel, reply));
        } catch (RejectedExecutionException e) {
            LOG.debug("request {} was answered behind the end", asked.request());
        }
    }

    private void answer(Asked asked, long channel, Reply reply) {
        free.add(channel);
        if (reply.threw()) {
            asked.from()
                    .send(
                            new Frame.Refused(
                                    asked.request(),
                                    "its handler failed, and what it changed before that stays"));
        } else {
            send(asked, LaneHandlers.decode(reply.bytes()));
        }
        askNext();
    }

    private static void send(Asked asked, Body reply) {
        try {
            asked.from().send(new Frame.Answer(asked.request(), Optional.of(reply)));
        } catch (IllegalArgumentException e) {
            asked.from()
                    .send(
                            new Frame.Refused(
                                    asked.request(),
                                    "it was handled, and its reply can not be sent: "
                                            + e.getMessage()));
        }
    }

    @Override
    public void down(Connection link, String reason) {
        waiting.removeIf(
                it -> {
                    boolean gone = it.from() == link;
                    waitingBytes -= gone ? it.body().length : 0;
                    return gone;
                });
    }

    /** Returns once all answers that are there were given to their connections. */
    void awaitAnswers() throws InterruptedException {
        try {
            thread.submit(() -> {}).get();
        } catch (RejectedExecutionException | ExecutionException e) {
            LOG.debug("closed meanwhile", e);
        }
    }

    @Override
    public void close() {
        peers.close();
        thread.shutdown();
        queries.shutdownNow();
    }
}
