package io.saucr.services.net;

import io.saucr.services.Address;
import io.saucr.services.ServiceException;
import io.saucr.services.core.Body;
import io.saucr.services.core.Frame;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * Asks one service from outside, without a birth: each request is consumed at most once. Requests
 * are sent in the order of the calls, each on one connection only, and never again. One that was
 * sent when its connection ended fails, as nobody here can know whether it was consumed; one that
 * was not waits for the next connection.
 *
 * <p>What waits is bounded (K13): at most {@link #MOST_WAITING} requests, which together have at
 * most {@link NetOptions#unsentBytes}, wait to be sent; at most {@link #MOST_UNANSWERED} wait for
 * their answer, and more wait to be sent.
 *
 * <p>Any thread; its lock is held for moments only, never while a request is completed.
 */
public final class AskingClient implements AutoCloseable {

    /** So many requests at most wait to be sent. */
    public static final int MOST_WAITING = 1024;

    /** So many requests at most were sent and not answered. */
    public static final int MOST_UNANSWERED = 16 << 10;

    private final String service;
    private final NetOptions options;
    private final Peers peers;

    /** Under the lock, as all below. Not sent, in the order of the calls. */
    private final ArrayDeque<Asked> waiting = new ArrayDeque<>();

    private long waitingBytes;

    /** Sent on the connection that there is, by their numbers. */
    private final Map<Long, Asked> unanswered = new LinkedHashMap<>();

    private long lastRequest;

    /** Null while there is none. */
    private Connection link;

    private boolean closed;

    private record Asked(long request, Body body, CompletableFuture<Optional<Body>> answer) {}

    private AskingClient(
            Transport transport,
            String self,
            String service,
            NetOptions options,
            Executor executor,
            Random random)
            throws IOException {
        this.service = service;
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
            Random random)
            throws IOException {
        FrameFields.nameBytes("service", service);
        return new AskingClient(transport, self, service, options, executor, random);
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
     * @return the answer, empty where the service gave none; fails with {@link ServiceException}
     *     where the service refuses, the connection ends before the answer, too much waits already,
     *     or this is closed. Cancelled before it is sent, the request is never sent
     * @throws IllegalArgumentException where it has more than {@link NetOptions#bodyBytes}, or its
     *     type is no name
     */
    public CompletableFuture<Optional<Body>> ask(Body body) {
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
                waiting.add(new Asked(lastRequest, body, answer));
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
                if (!closed) {
                    link = up;
                    send();
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
            // Whatever else a service says is for who has a birth.
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
                if (gone != link) {
                    return;
                }
                link = null;
                lost = new ArrayList<>(unanswered.values());
                unanswered.clear();
            }
            fail(lost, unknown(reason));
        }
    }
}
