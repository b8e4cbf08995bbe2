package io.saucr.services.local;

import io.saucr.services.ServiceException;
import io.saucr.services.core.Action;
import io.saucr.services.core.Body;
import io.saucr.services.core.Change;
import io.saucr.services.core.Effects;
import io.saucr.services.core.Frame;
import io.saucr.services.core.Input;
import io.saucr.services.core.Link;
import io.saucr.services.core.Moment;
import io.saucr.services.core.ServiceCore;
import io.saucr.services.journal.Base;
import io.saucr.services.state.Changes;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An outside client of one service, with a birth of its own: what it sends is final before it
 * leaves, so that the service consumes it exactly once, for as long as what is final lasts: across
 * this client's crashes where it has a folder. A call that survived one is sent by the next start,
 * too; its answer then comes to nobody who waits, and is taken off.
 *
 * <p>Bounds what waits (K13): who calls too fast is refused.
 */
public final class ClientTurns implements Endpoint {

    private static final Logger LOG = LoggerFactory.getLogger(ClientTurns.class);

    /** So many calls at most wait for the service. */
    public static final int MOST_WAITING = 10_000;

    private final String service;
    private final ServiceCore core;
    private final Supplier<Moment> clock;
    private final Recording recording;

    /** Whether what waits beyond memory has files to go to. */
    private final boolean files;

    private final long outboxBytes;

    /** Calls of this start, by number. */
    private final TreeMap<Long, Waiting> waiting = new TreeMap<>();

    private String over;

    /** The last call that was told to be consumed. */
    private long told;

    /** Calls up to this one were sent to a birth of the service that is gone; 0 for none. */
    private long orphaned;

    /** What waits for one call: a turn that consumed it, or an answer. */
    private record Waiting(
            Optional<CompletableFuture<Body>> answer, CompletableFuture<Void> consumed) {

        void fail(String reason) {
            ServiceException exception = new ServiceException(reason);
            answer.ifPresent(it -> it.completeExceptionally(exception));
            consumed.completeExceptionally(exception);
        }
    }

    private ClientTurns(
            String name,
            String service,
            Finality finality,
            TurnOptions options,
            Turns.Surroundings surroundings)
            throws IOException {
        this.service = service;
        this.clock = surroundings.clock();
        this.core =
                new ServiceCore(
                        name, finality.formers(), finality.incarnations(), options.limits());
        this.recording =
                new Recording(
                        name,
                        core,
                        finality,
                        () -> ClientTurns::noState,
                        options.foldBytes(),
                        surroundings);
        files = !finality.outbox().isNone();
        outboxBytes = options.limits().outboxBytes();
        long unused = finality.recover(this::load, this::apply, recording::soFar);
        recording.recovered();
    }

    /**
     * Recovers what an earlier start sent and was not told of.
     *
     * @throws IOException where what survived cannot be read; says what to do
     */
    public static ClientTurns open(
            String name,
            String service,
            Finality finality,
            TurnOptions options,
            Turns.Surroundings surroundings)
            throws IOException {
        return new ClientTurns(name, service, finality, options, surroundings);
    }

    private static void noState(Base.Writer writer) {}

    private void load(String section, InputStream content) throws IOException {
        if (!Recording.isSection(section)) {
            throw new IOException(
                    "a client's base has a section "
                            + section
                            + ": this folder is a service's, or a later release's");
        }
        recording.load(content);
    }

    private void apply(long turn, ByteBuffer bytes) throws IOException {
        if (recording.apply(turn, bytes).state().length > 0) {
            throw new IOException(
                    "turn "
                            + turn
                            + " changed a state: this folder is a service's, not a client's");
        }
    }

    @Override
    public void begin(Border border) {
        recording.begin(border);
        recording.perform(core.begin(List.of(), clock.get()));
    }

    /**
     * Sends a message, or a query.
     *
     * @param answer completed by the service's answer, where one is wanted
     * @param consumed completed once the turn that consumed it is final; both fail with {@link
     *     ServiceException} where the service put it aside or is gone
     */
    public void call(
            Body message,
            Optional<CompletableFuture<Body>> answer,
            CompletableFuture<Void> consumed) {
        Waiting call = new Waiting(answer, consumed);
        if (over != null) {
            call.fail(over);
            return;
        }
        if (waiting.size() >= MOST_WAITING) {
            call.fail(
                    MOST_WAITING
                            + " calls wait for "
                            + service
                            + " already: wait for some of them before the next");
            return;
        }
        if (!files && !core.staysInMemory(service, message)) {
            call.fail(
                    "what waits for "
                            + service
                            + " takes the "
                            + outboxBytes
                            + " bytes that it may (limits, outboxBytes): wait for some calls before"
                            + " the next, or raise that");
            return;
        }
        List<Action> actions = core.submit(service, message);
        waiting.put(core.sentTo(service), call);
        recording.perform(actions);
    }

    @Override
    public void linkUp(Link link) {
        recording.perform(core.linkUp(link));
    }

    @Override
    public void frame(Link link, Frame frame) {
        List<Action> actions = core.frame(link, frame, clock.get());
        boolean over =
                actions.stream()
                        .filter(it -> it instanceof Action.Append)
                        .flatMap(it -> ((Action.Append) it).delta().changes().stream())
                        .anyMatch(it -> it instanceof Change.PairOver);
        if (over) {
            orphaned = core.sentTo(service);
        }
        recording.perform(actions);
    }

    @Override
    public void linkDown(Link link) {
        recording.perform(core.linkDown(link));
    }

    @Override
    public void finalUpTo(long turn) {
        recording.finalUpTo(turn);
    }

    private void tellConsumed() {
        List<Long> done = new ArrayList<>();
        for (Map.Entry<Long, Waiting> entry : waiting.tailMap(told, false).entrySet()) {
            if (!core.acked(service, entry.getKey())) {
                break;
            }
            told = entry.getKey();
            entry.getValue().consumed().complete(null);
            if (entry.getValue().answer().isEmpty()) {
                done.add(entry.getKey());
            }
        }
        done.forEach(waiting::remove);
    }

    /** What a birth consumed that is gone is answered no more; the rest comes back (K15). */
    private void failOrphans() {
        for (Map.Entry<Long, Waiting> each :
                List.copyOf(waiting.headMap(orphaned, true).entrySet())) {
            if (core.acked(service, each.getKey())) {
                waiting.remove(each.getKey());
                each.getValue()
                        .fail(
                                service
                                        + " is gone, and took the message: there is no answer"
                                        + " any more, and who has its name now may not know of it");
            }
        }
        orphaned = 0;
    }

    @Override
    public boolean turn() {
        Moment at = clock.get();
        recording.perform(core.tick(at));
        Optional<Input> next = core.next(at);
        next.ifPresent(this::take);
        if (!core.hasInputs()) {
            // What came before an ack may say that the message was put aside.
            tellConsumed();
            if (orphaned > 0) {
                failOrphans();
            }
        }
        return next.isPresent();
    }

    private void take(Input input) {
        Waiting call = null;
        if (input instanceof Input.Message it) {
            call = waiting.remove(it.answers());
            if (call != null) {
                Body body = it.body();
                call.consumed().complete(null);
                call.answer().ifPresent(answer -> answer.complete(body));
            }
        } else if (input instanceof Input.Returned it && it.service().equals(service)) {
            call = waiting.remove(it.number());
            if (call != null) {
                call.fail(
                        service
                                + (it.perhapsConsumed()
                                        ? " is gone, and perhaps consumed the message: "
                                        : " did not consume the message: ")
                                + it.reason());
            }
        }
        if (call == null) {
            LOG.debug("{} from {}: nobody waits for it", input.body(), service);
        }
        recording.append(core.commit(nothing()), Changes.NONE);
    }

    private Effects nothing() {
        return new Effects(
                List.of(), List.of(), List.of(), List.of(), List.of(), core.newestTimer(), false);
    }

    @Override
    public long waitMillis() {
        return core.waitMillis(clock.get());
    }

    /**
     * Fails all calls that wait, and all that come; what was recorded is sent by the next start.
     */
    public void close(String reason) {
        over = reason;
        waiting.values().forEach(it -> it.fail(reason));
        waiting.clear();
    }
}
