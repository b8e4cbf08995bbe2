package io.saucr.services.net;

import io.saucr.services.Address;
import io.saucr.services.ServiceException;
import io.saucr.services.core.Body;
import io.saucr.services.core.Epochs;
import io.saucr.services.core.Frame;
import io.saucr.services.core.Mark;
import io.saucr.services.wire.FrameFields;
import io.saucr.services.wire.NetOptions;
import io.saucr.services.wire.Transport;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Predicate;

/**
 * Asks one service from outside, without a birth: each request is consumed at most once. Requests
 * are sent in the order of the calls, each on one connection only, and never again. One that was
 * sent when its connection ended fails, as nobody here can know whether it was consumed; one that
 * was not waits for the next connection. A query changes nothing: it waits again, before what was
 * not sent.
 *
 * <p>A reply that came early (C7) is kept until the service says that it is covered. Where it is
 * lost, that is told before anything is sent to the successor or heard of it (C11), and what is to
 * be asked again is sent first.
 *
 * <p>What waits is bounded (K13): at most {@link #MOST_WAITING} requests, which together have at
 * most {@link NetOptions#unsentBytes}, wait to be sent. While {@link #MOST_UNANSWERED} wait for
 * their answer, or those that were answered and not covered take four times as many bytes, more
 * wait to be sent.
 *
 * <p>Any thread; its lock is held for moments only, never while a request is completed.
 */
public final class AskingClient implements AutoCloseable {

    /** So many requests at most wait to be sent. */
    public static final int MOST_WAITING = 1024;

    /** So many requests at most were sent and not answered. */
    public static final int MOST_UNANSWERED = 16 << 10;

    /**
     * So many times {@link NetOptions#unsentBytes} may be kept of requests that were answered
     * early: they are covered within a checkpoint, in which many more are answered than wait at a
     * time.
     */
    private static final int KEPT_UNSENT = 4;

    /** What one of them takes in addition to its body, roughly. */
    private static final long KEPT_BYTES = 200;

    /**
     * A reply that is lost.
     *
     * @param about what the caller said of the request
     * @param survived the last turn of the mark's epoch that survived
     * @param again completed as a request's answer, where it is asked again
     */
    public record LostReply(
            Object about, Mark mark, long survived, CompletableFuture<Optional<Body>> again) {}

    /** Decides what becomes of requests whose replies are lost. */
    public interface LossListener {

        /**
         * Told on the executor, and must not block. Not told again before what it returned is done.
         *
         * @param replies in the order of the requests
         * @return which of them are asked again, in their order; must not fail
         */
        CompletableFuture<List<Boolean>> lost(List<LostReply> replies);
    }

    /** Without the answer: only whether it stands is still to be told. */
    private record Kept(long request, Body body, Object about, Mark mark) {

        long bytes() {
            return KEPT_BYTES + body.bytes().length;
        }
    }

    private final String service;
    private final LossListener losses;
    private final NetOptions options;
    private final Peers peers;

    /** Under the lock, as all below. Not sent, in the order of the calls. */
    private final ArrayDeque<Asked> waiting = new ArrayDeque<>();

    private long waitingBytes;

    /** Sent on the connection that there is, by their numbers. */
    private final Map<Long, Asked> unanswered = new LinkedHashMap<>();

    /** Answered early and not covered, by their numbers. */
    private final Map<Long, Kept> kept = new LinkedHashMap<>();

    private long keptBytes;

    /** A connection of which nothing counts before it is known what is lost; null for none. */
    private Connection introducing;

    /** What it said of that; null before. */
    private Epochs said;

    private boolean deciding;
    private long lastRequest;

    /** Null while there is none. */
    private Connection link;

    private boolean closed;

    private record Asked(
            long request,
            Body body,
            Object about,
            boolean query,
            CompletableFuture<Optional<Body>> answer) {}

    private AskingClient(
            Transport transport,
            String self,
            String service,
            NetOptions options,
            Executor executor,
            LossListener losses,
            Random random)
            throws IOException {
        this.service = service;
        this.losses = losses;
        this.options = options;
        this.peers = Peers.openClient(transport, self, options, new Answers(), executor, random);
    }

    /**
     * Makes one that does not dial yet. Reads the keys.
     *
     * @param transport whose threads are used; closed after this
     * @param self the name of this client, for people
     * @param service whom it asks; with TLS its certificate bears that name
     * @param executor completes the requests, one at a time in the order given, not on the thread
     *     that gives it; ended after this is closed. A completion that blocks holds up the others
     * @param losses decides what becomes of requests whose replies are lost
     * @param random for the pauses between attempts to connect; used from here alone
     * @throws IOException where the keys cannot be used; says which file and what to do
     * @throws IllegalArgumentException where a name is too long or not printable
     */
    public static AskingClient open(
            Transport transport,
            String self,
            String service,
            NetOptions options,
            Executor executor,
            LossListener losses,
            Random random)
            throws IOException {
        FrameFields.nameBytes("service", service);
        return new AskingClient(transport, self, service, options, executor, losses, random);
    }

    /**
     * Keeps a connection with the service from now on. Told again, it follows the service to
     * another address; an empty one changes nothing.
     *
     * @throws IllegalArgumentException where the port is 0
     */
    public void dial(Optional<Address> address) {
        peers.dial(service, address);
    }

    /**
     * Sends a request, or lets it wait until it can be sent. Does not wait.
     *
     * @param about what {@link LossListener} is told of it
     * @return the answer, empty where the service gave none; fails with {@link ServiceException}
     *     where the service refuses, the connection ends before the answer, too much waits already,
     *     or this is closed. Cancelled before it is sent, the request is never sent
     * @throws IllegalArgumentException where it has more than {@link NetOptions#bodyBytes}, or its
     *     type is no name
     */
    public CompletableFuture<Optional<Body>> ask(Body body, Object about) {
        return ask(body, about, false);
    }

    /**
     * The same for a request that changes nothing: where its connection ends before the answer, it
     * is sent again.
     */
    public CompletableFuture<Optional<Body>> query(Body body, Object about) {
        return ask(body, about, true);
    }

    private CompletableFuture<Optional<Body>> ask(Body body, Object about, boolean query) {
        FrameFields.nameBytes("type", body.type());
        int length = body.bytes().length;
        if (length > options.bodyBytes()) {
            throw new IllegalArgumentException(
                    "a request of type "
                            + body.type()
                            + " has "
                            + length
                            + " bytes, and "
                            + options.bodyBytes()
                            + " are allowed: send less, or raise frameBytes on both sides");
        }
        CompletableFuture<Optional<Body>> answer = new CompletableFuture<>();
        String refusal;
        synchronized (this) {
            refusal = refusal(length);
            if (refusal == null) {
                lastRequest++;
                waiting.add(new Asked(lastRequest, body, about, query, answer));
                waitingBytes += length;
                send();
            }
        }
        if (refusal != null) {
            String why = peers.unreachable().get(service);
            answer.completeExceptionally(
                    new ServiceException(
                            refusal + (why == null ? "" : "; it cannot be reached: " + why)));
        }
        return answer;
    }

    /** Why no more may wait, or null. */
    private String refusal(int length) {
        if (closed) {
            return "the request to " + service + " was not sent: its client is closed";
        }
        if (isFull(length)) {
            // Who gave up keeps nobody out.
            unanswered.values().removeIf(asked -> asked.answer().isDone());
            waiting.removeIf(asked -> asked.answer().isDone());
            waitingBytes = waiting.stream().mapToLong(asked -> asked.body().bytes().length).sum();
            send();
        }
        return isFull(length)
                ? "the request to "
                        + service
                        + " was not sent: "
                        + waiting.size()
                        + " requests of "
                        + waitingBytes
                        + " bytes wait to be sent already, and "
                        + MOST_WAITING
                        + " requests of "
                        + options.unsentBytes()
                        + " bytes (unsentBytes) may"
                : null;
    }

    private boolean isFull(int length) {
        return waiting.size() >= MOST_WAITING || waitingBytes + length > options.unsentBytes();
    }

    /** Sends what waits, as far as network and service take it. Under the lock. */
    private void send() {
        while (link != null
                && !waiting.isEmpty()
                && unanswered.size() < MOST_UNANSWERED
                && keptBytes < KEPT_UNSENT * options.unsentBytes()
                && link.writable()) {
            Asked next = waiting.remove();
            waitingBytes -= next.body().bytes().length;
            if (!next.answer().isDone()) {
                unanswered.put(next.request(), next);
                link.send(new Frame.Ask(next.request(), next.body()));
            }
        }
    }

    /**
     * Ends the connection, and waits for at most 2 s for that; what waits fails. Not on a thread of
     * the transport.
     */
    @Override
    public void close() {
        List<Asked> sent;
        List<Asked> unsent;
        synchronized (this) {
            closed = true;
            link = null;
            introducing = null;
            forget(it -> true);
            sent = new ArrayList<>(unanswered.values());
            unanswered.clear();
            unsent = new ArrayList<>(waiting);
            waiting.clear();
            waitingBytes = 0;
        }
        fail(sent, unknown("this client was closed"));
        fail(unsent, "the request to " + service + " was not sent: its client was closed");
        peers.close();
    }

    /** Under the lock. */
    private void waitFirst(Asked asked) {
        waiting.addFirst(asked);
        waitingBytes += asked.body().bytes().length;
    }

    private void keep(Kept reply) {
        kept.put(reply.request(), reply);
        keptBytes += reply.bytes();
    }

    private void forget(Predicate<Kept> which) {
        for (Iterator<Kept> all = kept.values().iterator(); all.hasNext(); ) {
            Kept reply = all.next();
            if (which.test(reply)) {
                all.remove();
                keptBytes -= reply.bytes();
            }
        }
    }

    private Optional<Kept> newestKept() {
        return kept.values().stream().reduce((older, newer) -> newer);
    }

    private void introduced(Connection from, Epochs epochs) {
        synchronized (this) {
            if (from != introducing) {
                return;
            }
            said = epochs;
        }
        settle();
    }

    /** What an epoch that is over did is covered or lost; then the connection counts (C11). */
    private void settle() {
        List<Kept> gone = new ArrayList<>();
        List<LostReply> lost = new ArrayList<>();
        synchronized (this) {
            if (introducing == null || deciding || (said == null && !kept.isEmpty())) {
                return;
            }
            for (Kept each : List.copyOf(kept.values())) {
                OptionalLong survived = said.lostFrom(each.mark());
                if (survived.isPresent()) {
                    gone.add(each);
                    lost.add(
                            new LostReply(
                                    each.about(),
                                    each.mark(),
                                    survived.getAsLong(),
                                    new CompletableFuture<>()));
                }
            }
            forget(it -> said.isOver(it.mark().epoch()));
            deciding = !lost.isEmpty();
            if (!deciding) {
                link = introducing;
                introducing = null;
                send();
            }
        }
        if (!lost.isEmpty()) {
            CompletableFuture<Void> unused =
                    losses.lost(lost).thenAccept(again -> decided(gone, lost, again));
        }
    }

    private void decided(List<Kept> gone, List<LostReply> lost, List<Boolean> again) {
        boolean ended;
        synchronized (this) {
            deciding = false;
            ended = closed;
            for (int i = gone.size() - 1; !ended && i >= 0; i--) {
                if (again.get(i)) {
                    Kept it = gone.get(i);
                    lastRequest++;
                    waitFirst(
                            new Asked(
                                    lastRequest,
                                    it.body(),
                                    it.about(),
                                    false,
                                    lost.get(i).again()));
                }
            }
        }
        if (ended) {
            String reason = "a request to " + service + " was not repeated: its client was closed";
            lost.forEach(it -> it.again().completeExceptionally(new ServiceException(reason)));
        } else {
            settle();
        }
    }

    private String unknown(String reason) {
        return "the request to "
                + service
                + " was sent and not answered, and it is unknown whether it was consumed: "
                + reason;
    }

    private static void fail(List<Asked> requests, String reason) {
        for (Asked asked : requests) {
            asked.answer().completeExceptionally(new ServiceException(reason));
        }
    }

    /** Hears of the one connection. Executor. */
    private final class Answers implements LinkListener {

        @Override
        public void up(Connection up) {
            synchronized (AskingClient.this) {
                if (closed) {
                    return;
                }
                if (kept.isEmpty() && !deciding) {
                    link = up;
                    send();
                } else {
                    introducing = up;
                    said = null;
                    newestKept().ifPresent(it -> up.send(new Frame.Seen(it.mark())));
                    settle();
                }
            }
        }

        @Override
        public void frame(Connection from, Frame frame) {
            if (frame instanceof Frame.Answer it) {
                take(it.request()).ifPresent(asked -> asked.answer().complete(it.body()));
            } else if (frame instanceof Frame.Refused it) {
                String reason = FrameFields.printable(it.reason());
                take(it.request())
                        .ifPresent(asked -> fail(List.of(asked), service + " refused: " + reason));
            }
            if (frame instanceof Frame.Early it) {
                early(it);
            } else if (frame instanceof Frame.Covered it) {
                covered(it.upTo());
            } else if (frame instanceof Frame.Past it) {
                introduced(from, it.epochs());
            }
            // Whatever else a service says is for who has a birth.
        }

        private void early(Frame.Early early) {
            Asked asked;
            synchronized (AskingClient.this) {
                asked = unanswered.remove(early.request());
                if (asked != null) {
                    keep(new Kept(asked.request(), asked.body(), asked.about(), early.mark()));
                }
            }
            if (asked != null) {
                asked.answer().complete(Optional.of(early.body()));
            }
        }

        private void covered(Mark upTo) {
            synchronized (AskingClient.this) {
                forget(it -> it.mark().epoch() == upTo.epoch() && it.mark().turn() <= upTo.turn());
                send();
            }
        }

        /** Empty where nobody waits: it gave up, or the request was never made. */
        private Optional<Asked> take(long request) {
            synchronized (AskingClient.this) {
                Asked asked = unanswered.remove(request);
                send();
                return Optional.ofNullable(asked);
            }
        }

        @Override
        public void writable(Connection on) {
            synchronized (AskingClient.this) {
                send();
            }
        }

        @Override
        public void down(Connection gone, String reason) {
            List<Asked> lost;
            synchronized (AskingClient.this) {
                if (gone == introducing) {
                    introducing = null;
                }
                if (gone != link) {
                    return;
                }
                link = null;
                List<Asked> sent = new ArrayList<>(unanswered.values());
                unanswered.clear();
                lost = sent.stream().filter(it -> !it.query()).toList();
                for (int i = sent.size() - 1; i >= 0; i--) {
                    if (sent.get(i).query()) {
                        waitFirst(sent.get(i));
                    }
                }
            }
            fail(lost, unknown(reason));
        }
    }
}
