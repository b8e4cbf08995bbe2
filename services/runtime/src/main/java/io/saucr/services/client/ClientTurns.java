package io.saucr.services.client;

import io.saucr.services.Lost;
import io.saucr.services.ServiceException;
import io.saucr.services.core.Action;
import io.saucr.services.core.Body;
import io.saucr.services.core.Change;
import io.saucr.services.core.Effects;
import io.saucr.services.core.Epochs;
import io.saucr.services.core.Finals;
import io.saucr.services.core.Frame;
import io.saucr.services.core.Input;
import io.saucr.services.core.Link;
import io.saucr.services.core.Mark;
import io.saucr.services.core.Moment;
import io.saucr.services.core.ServiceCore;
import io.saucr.services.state.Changes;
import io.saucr.services.state.StateSnapshot;
import io.saucr.services.turns.Endpoint;
import io.saucr.services.turns.Guard;
import io.saucr.services.turns.Recording;
import io.saucr.services.turns.TurnOptions;
import io.saucr.services.turns.Turns;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
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

    private final Consumer<Runnable> between;
    private final Losses losses;

    /** Whether somebody decides what becomes of replies that are lost: until then all waits. */
    private boolean deciding;

    /** What came meanwhile, in its order. */
    private final ArrayDeque<Held> held = new ArrayDeque<>();

    /** Calls up to this one were sent to a birth of the service that is lost; 0 for none. */
    private long orphaned;

    private record Held(Link link, Frame frame) {}

    /**
     * What a call is about, for who hears that its reply is lost.
     *
     * @param request what was asked
     * @param read makes of an answer what the caller expects
     */
    public record About(Object request, Function<Body, Object> read) {}

    /** What waits for one call: a turn that consumed it, or an answer. */
    private static final class Waiting {
        final Body body;
        final About about;
        final CompletableFuture<Void> consumed;
        Optional<CompletableFuture<Body>> answer;

        /** What was told before it was final, and what that shows; null before (C7). */
        Body said;

        Mark mark;

        Waiting(
                Body body,
                About about,
                Optional<CompletableFuture<Body>> answer,
                CompletableFuture<Void> consumed) {
            this.body = body;
            this.about = about;
            this.answer = answer;
            this.consumed = consumed;
        }

        boolean saidOtherThan(Body last) {
            return said != null
                    && !(said.type().equals(last.type())
                            && Arrays.equals(said.bytes(), last.bytes()));
        }

        void fail(String reason) {
            ServiceException exception = new ServiceException(reason);
            answer.ifPresent(it -> it.completeExceptionally(exception));
            consumed.completeExceptionally(exception);
        }
    }

    private ClientTurns(
            String name,
            String service,
            Guard guard,
            TurnOptions options,
            Losses losses,
            Turns.Surroundings surroundings)
            throws IOException {
        this.service = service;
        this.losses = losses;
        this.between = surroundings.between();
        this.clock = surroundings.clock();
        this.core = new ServiceCore(name, options.limits());
        this.recording =
                new Recording(
                        name,
                        core,
                        guard,
                        () -> StateSnapshot.NONE,
                        options.foldBytes(),
                        surroundings);
        files = !guard.room().outbox().isNone();
        outboxBytes = options.limits().outboxBytes();
        Guard.Start start = guard.recover(Guard.Recovery.of(this::load, this::apply));
        core.under(start.formers(), start.incarnations());
        recording.recovered();
    }

    /**
     * Recovers what an earlier start sent and was not told of.
     *
     * @param losses decides what becomes of calls whose replies are lost
     * @throws IOException where what survived cannot be read; says what to do
     */
    public static ClientTurns open(
            String name,
            String service,
            Guard guard,
            TurnOptions options,
            Losses losses,
            Turns.Surroundings surroundings)
            throws IOException {
        return new ClientTurns(name, service, guard, options, losses, surroundings);
    }

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
     * @param about what it is, should its reply be lost
     * @param answer completed by the service's answer, where one is wanted
     * @param consumed completed once the turn that consumed it is final; both fail with {@link
     *     ServiceException} where the service put it aside or is lost
     */
    public void call(
            Body message,
            About about,
            Optional<CompletableFuture<Body>> answer,
            CompletableFuture<Void> consumed) {
        Waiting call = new Waiting(message, about, answer, consumed);
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
        if (deciding) {
            held.add(new Held(link, frame));
        } else if (frame instanceof Frame.Early it) {
            early(it);
        } else if (frame instanceof Frame.Past it) {
            hear(it.epochs());
        } else if (!(frame instanceof Frame.Covered)) {
            // That a reply stands its message says, too, which comes then.
            take(link, frame);
        }
    }

    /** An answer before it is final: it is told, and kept until its message comes (C7). */
    private void early(Frame.Early frame) {
        Waiting call = waiting.get(core.countOf(service, frame.request()));
        if (call != null && call.said == null && call.answer.isPresent()) {
            call.said = frame.body();
            call.mark = frame.mark();
            call.answer.get().complete(frame.body());
        }
    }

    /** What was told of an epoch that is over stands, or is lost (C11). */
    private void hear(Epochs epochs) {
        Map<Long, Waiting> gone = new TreeMap<>();
        List<Lost> lost = new ArrayList<>();
        waiting.forEach(
                (number, call) -> {
                    if (call.said != null) {
                        OptionalLong from = epochs.lostFrom(call.mark);
                        if (from.isPresent()) {
                            gone.put(number, call);
                            lost.add(lost(call, from.getAsLong()));
                        }
                    }
                });
        if (lost.isEmpty()) {
            return;
        }
        deciding = true;
        CompletableFuture<Void> unused =
                losses.decide(lost).thenAccept(again -> between.accept(() -> decided(gone, again)));
    }

    /** The call's answer is another one from now on. */
    private static Lost lost(Waiting call, long survived) {
        CompletableFuture<Body> anew = new CompletableFuture<>();
        Lost lost =
                new Lost(
                        call.about.request(),
                        call.mark.epoch(),
                        call.mark.turn(),
                        survived,
                        anew.thenApply(call.about.read()));
        call.answer = Optional.of(anew);
        call.said = null;
        call.mark = null;
        return lost;
    }

    private void decided(Map<Long, Waiting> gone, List<Boolean> again) {
        Iterator<Boolean> decisions = again.iterator();
        gone.forEach(
                (number, call) -> {
                    // What is asked again waits in the outbox still, in its place.
                    if (!decisions.next() && waiting.remove(number) != null) {
                        recording.perform(core.withdraw(service, number));
                    }
                });
        deciding = false;
        while (!held.isEmpty() && !deciding) {
            Held next = held.remove();
            frame(next.link(), next.frame());
        }
    }

    private void take(Link link, Frame frame) {
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
        held.removeIf(it -> it.link().equals(link));
        recording.perform(core.linkDown(link));
    }

    @Override
    public void moved(Finals now) {
        recording.moved(now);
    }

    private void tellConsumed() {
        List<Long> done = new ArrayList<>();
        for (Map.Entry<Long, Waiting> entry : waiting.tailMap(told, false).entrySet()) {
            if (!core.acked(service, entry.getKey())) {
                break;
            }
            told = entry.getKey();
            entry.getValue().consumed.complete(null);
            if (entry.getValue().answer.isEmpty()) {
                done.add(entry.getKey());
            }
        }
        done.forEach(waiting::remove);
    }

    /** What a birth consumed that is lost is answered no more; the rest comes back (K15). */
    private void failOrphans() {
        for (Map.Entry<Long, Waiting> each :
                List.copyOf(waiting.headMap(orphaned, true).entrySet())) {
            if (core.acked(service, each.getKey())) {
                waiting.remove(each.getKey());
                each.getValue()
                        .fail(
                                "the generation of "
                                        + service
                                        + " that consumed the message is lost: no answer comes any"
                                        + " more, and the service that has the name now may not"
                                        + " know of the message");
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
                call.consumed.complete(null);
                if (call.saidOtherThan(body)) {
                    tellLost(call);
                }
                call.answer.ifPresent(answer -> answer.complete(body));
            }
        } else if (input instanceof Input.Returned it && it.service().equals(service)) {
            call = waiting.remove(it.number());
            if (call != null && call.said != null) {
                tellLost(call);
            }
            if (call != null) {
                call.fail(
                        service
                                + (it.perhapsConsumed()
                                        ? " is lost, and perhaps consumed the message: "
                                        : " did not consume the message: ")
                                + it.reason());
            }
        }
        if (call == null) {
            LOG.debug("{} from {}: nobody waits for it", input.body(), service);
        }
        recording.append(core.commit(Effects.none(core.newestTimer())), Changes.NONE);
    }

    /** Its reply is lost, and its message is consumed or was returned: it is told at last. */
    private void tellLost(Waiting call) {
        Lost lost = lost(call, 0);
        CompletableFuture<Body> anew = call.answer.orElseThrow();
        CompletableFuture<Void> unused =
                losses.decide(List.of(lost))
                        .thenAccept(
                                again -> {
                                    if (again.get(0)) {
                                        between.accept(
                                                () ->
                                                        call(
                                                                call.body,
                                                                call.about,
                                                                Optional.of(anew),
                                                                new CompletableFuture<>()));
                                    }
                                });
        call.answer = Optional.empty();
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
