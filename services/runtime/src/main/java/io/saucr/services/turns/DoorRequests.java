package io.saucr.services.turns;

import io.saucr.services.Caller;
import io.saucr.services.core.Action;
import io.saucr.services.core.Body;
import io.saucr.services.core.Effects;
import io.saucr.services.core.Frame;
import io.saucr.services.core.Input;
import io.saucr.services.core.Link;
import io.saucr.services.core.Moment;
import io.saucr.services.core.ServiceCore;
import io.saucr.services.turns.DoorRequest.Answer;
import io.saucr.services.turns.DoorRequest.Outcome;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Requests that came by HTTP. To the core each is a client without a birth on a link of its own, so
 * that order, limits and K4 are the core's: an outcome is told when its frame would leave. What a
 * key says of it is decided in the request's turn, by {@link RequestKeys}. Turn thread.
 */
public final class DoorRequests {

    /** Of a frame that only says that an outcome may leave. */
    static final Body NOTHING = new Body("", new byte[0]);

    private static final long ONLY_REQUEST = 1;

    private final ServiceCore core;
    private final RequestKeys keys;
    private final Supplier<Moment> clock;
    private final Consumer<List<Action>> perform;

    private final Map<String, Pending> pending = new HashMap<>();

    /** Requests of a key whose turn was not yet, or is not final. */
    private final Map<String, Pending> underWay = new HashMap<>();

    /** Requests of a key whose turn left the answer to a later one, by its number. */
    private final Map<Long, Pending> detached = new HashMap<>();

    private final List<Link> over = new ArrayList<>();

    /** Whether what is refused now was carried out, and is undone. */
    private boolean undoing;

    private static final class Pending {
        final DoorRequest request;
        final Optional<DoorRequest.Key> key;
        final Link link;
        boolean begun;
        long detachedBy;
        Outcome outcome = new Outcome.Answered(Optional.empty());

        Pending(DoorRequest request, Optional<DoorRequest.Key> key, Link link) {
            this.request = request;
            this.key = key;
            this.link = link;
        }
    }

    /**
     * No requests yet.
     *
     * @param perform does what the core wants done
     */
    DoorRequests(
            ServiceCore core,
            RequestKeys keys,
            Supplier<Moment> clock,
            Consumer<List<Action>> perform) {
        this.core = core;
        this.keys = keys;
        this.clock = clock;
        this.perform = perform;
    }

    /** Whether a link is a request's. Those of connections have positive ids. */
    static boolean isRequest(Link link) {
        return link.id() < 0;
    }

    private static Link link(long id) {
        return new Link(-id, "", true);
    }

    /**
     * A request came.
     *
     * @param keyed whether its key counts: a query changes nothing, and needs none
     */
    void request(DoorRequest request, boolean keyed) {
        Optional<DoorRequest.Key> key = keyed ? request.key() : Optional.empty();
        Pending first = key.map(it -> underWay.get(it.text())).orElse(null);
        if (first != null) {
            boolean same = first.key.orElseThrow().hash().equals(key.get().hash());
            request.told().accept(same ? new Outcome.UnderWay() : new Outcome.OtherBody());
            return;
        }
        Pending added = new Pending(request, key, link(request.id()));
        pending.put(ServiceCore.caller(added.link), added);
        key.ifPresent(it -> underWay.put(it.text(), added));
        perform.accept(core.linkUp(added.link));
        perform.accept(
                core.frame(added.link, new Frame.Ask(ONLY_REQUEST, request.body()), clock.get()));
    }

    /** Nobody waits for this request's outcome any longer. One whose turn was not yet has none. */
    void giveUp(long id) {
        Link link = link(id);
        Pending given = pending.get(ServiceCore.caller(link));
        if (given == null) {
            return;
        }
        perform.accept(core.linkDown(link));
        Outcome outcome;
        if (given.detachedBy != 0) {
            outcome = new Outcome.Waits();
        } else if (given.begun) {
            outcome = new Outcome.Late();
        } else {
            outcome =
                    new Outcome.Refused("no turn took it in time, and none will; try again later");
        }
        end(given, outcome);
    }

    /** A frame of a request leaves: what became of it may be told. */
    void leaves(Link link, Frame frame) {
        Pending ended = pending.get(ServiceCore.caller(link));
        if (ended == null) {
            return;
        }
        over.add(link);
        Outcome outcome = ended.outcome;
        if (frame instanceof Frame.Refused refused) {
            outcome =
                    ended.begun && !undoing
                            ? new Outcome.Failed(refused.reason())
                            : new Outcome.Refused(refused.reason());
        }
        end(ended, outcome);
    }

    private void end(Pending ended, Outcome outcome) {
        pending.remove(ServiceCore.caller(ended.link));
        ended.key.ifPresent(it -> underWay.remove(it.text(), ended));
        detached.remove(ended.detachedBy);
        ended.request.told().accept(outcome);
    }

    /** Takes down the links of requests that were told; between two events of the core. */
    void tidy() {
        while (!over.isEmpty()) {
            perform.accept(core.linkDown(over.remove(over.size() - 1)));
        }
    }

    /** No turn follows: says what became of each request, which this has refused where it can. */
    void undone(Runnable refuse) {
        undoing = true;
        refuse.run();
        for (Pending each : List.copyOf(pending.values())) {
            giveUp(each.request.id());
        }
    }

    private Optional<Pending> of(Input input) {
        return input instanceof Input.Outside ask
                ? Optional.ofNullable(pending.get(ask.caller()))
                : Optional.empty();
    }

    /** The turn of an input begins; its key, where it is a request with one. */
    Optional<DoorRequest.Key> begins(Input input) {
        Optional<Pending> request = of(input);
        request.ifPresent(it -> it.begun = true);
        return request.flatMap(it -> it.key);
    }

    /** What a key says of a request; told when the core lets its frame out. */
    void decide(Input input, Outcome outcome) {
        of(input).orElseThrow().outcome = outcome;
    }

    /** Who may have an answer to a request with a key, whatever becomes of this process. */
    Optional<Caller> caller(Input input) {
        return of(input).filter(it -> it.key.isPresent()).map(it -> caller());
    }

    private Caller caller() {
        return RequestKeys.caller(core.newestTurn() + 1);
    }

    /** The answer of a query that was asked by HTTP. */
    void queried(Input input, Object answer) {
        of(input).ifPresent(it -> it.outcome = answered(answer));
    }

    private static Outcome answered(Object answer) {
        return new Outcome.Answered(Optional.of(RecordJson.write(answer)));
    }

    /** The handler of a message is through: its answers become a part of its turn. */
    void remember(Input input, OpenTurn turn) {
        long now = core.nowMillis();
        Caller mine = caller();
        Optional<DoorRequest.Key> key = of(input).flatMap(it -> it.key);
        for (Map.Entry<Caller, Object> entry : turn.answers().entrySet()) {
            Caller to = entry.getKey();
            if (RequestKeys.isCaller(to) && !(key.isPresent() && to.equals(mine))) {
                keys.answer(to.number(), RecordJson.write(entry.getValue()), now);
            }
        }
        if (key.isPresent()) {
            Optional<Answer> answer =
                    Optional.ofNullable(turn.answers().get(mine)).map(RecordJson::write);
            if (answer.isEmpty() && turn.isDetached()) {
                keys.waits(key.get(), mine.number(), now);
            } else {
                keys.answered(key.get(), answer, now);
            }
        }
    }

    /**
     * What a turn wants, with callers as the core knows them. Answers to requests that are of an
     * earlier process or were given up are in the state alone.
     */
    Effects known(Effects wanted, Input input, OpenTurn turn) {
        List<Effects.Reply> replies = new ArrayList<>();
        for (Effects.Reply reply : wanted.replies()) {
            Caller to = new Caller(reply.peer(), reply.number());
            Pending waits = waiting(to, input);
            if (waits != null) {
                waits.outcome = answered(turn.answers().get(to));
                replies.add(
                        new Effects.Reply(ServiceCore.caller(waits.link), ONLY_REQUEST, NOTHING));
            } else if (!RequestKeys.isCaller(to)) {
                replies.add(reply);
            }
        }
        return new Effects(
                wanted.sends(),
                wanted.timers(),
                wanted.cancelled(),
                wanted.outputs(),
                replies,
                wanted.newestTimer(),
                wanted.detached());
    }

    private Pending waiting(Caller to, Input input) {
        if (!RequestKeys.isCaller(to)) {
            return pending.get(to.peer());
        }
        return to.equals(caller()) ? of(input).orElse(null) : detached.get(to.number());
    }

    /** The turn of an input is part of the past. */
    void committed(Input input, OpenTurn turn, long number) {
        Pending request = of(input).orElse(null);
        if (request != null
                && request.key.isPresent()
                && turn.isDetached()
                && !turn.answers().containsKey(RequestKeys.caller(number))) {
            request.detachedBy = number;
            detached.put(number, request);
            underWay.remove(request.key.get().text(), request);
        }
    }

    /** The border, apart from the links of requests. */
    Endpoint.Border before(Endpoint.Border border) {
        return new Endpoint.Border() {
            @Override
            public void send(Link link, Frame frame) {
                if (isRequest(link)) {
                    if (frame instanceof Frame.Answer || frame instanceof Frame.Refused) {
                        leaves(link, frame);
                    }
                } else {
                    border.send(link, frame);
                }
            }

            @Override
            public void flush() {
                border.flush();
            }

            @Override
            public void close(Link link, String reason) {
                if (!isRequest(link)) {
                    border.close(link, reason);
                }
            }

            @Override
            public void reach(String service) {
                border.reach(service);
            }

            @Override
            public void leave(String service, String reason) {
                border.leave(service, reason);
            }

            @Override
            public void call(long output, String id, Body call) {
                border.call(output, id, call);
            }

            @Override
            public void halt(String reason) {
                border.halt(reason);
            }
        };
    }
}
