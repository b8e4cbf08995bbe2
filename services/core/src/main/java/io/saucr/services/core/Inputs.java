package io.saucr.services.core;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Decides which input runs next (K1): what waits, on which channel, and which channels may run.
 * Turn thread.
 */
final class Inputs {

    static final String TIMERS = "#timers";
    static final String RESULTS = "#results";
    static final String RETURNED = "#returned";
    static final String OUTSIDE = "#outside";

    private final String name;
    private final CoreState state;
    private final Past past;
    private final Attempts attempts;

    /** Channels with an input, in the order in which they run. */
    private final LinkedHashSet<String> ready = new LinkedHashSet<>();

    private final ArrayDeque<Input.Result> results = new ArrayDeque<>();
    private final Set<Long> resultsThere = new HashSet<>();
    private final ArrayDeque<Ask> asks = new ArrayDeque<>();
    private final Map<String, Body> repeats = new HashMap<>();
    private ServiceCore.Intake intake = ServiceCore.Intake.ALL;
    private Running running;

    private record Ask(Link link, Input.Outside input) {}

    /**
     * An input, while its turn runs.
     *
     * @param id of the input on its channel
     */
    record Running(String channel, Input input, long id, Optional<String> refusal) {}

    Inputs(CoreState state) {
        this.state = state;
        name = state.name;
        past = state.past;
        attempts = state.attempts;
    }

    /** What the service gives itself again and again; what is to be recorded of that. */
    List<Change> begin(List<Repeat> repeated) {
        if (past.turn > 0) {
            attempts.distrust(TIMERS);
            attempts.distrust(RESULTS);
            attempts.distrust(RETURNED);
        }
        look(name);
        look(RETURNED);
        List<Change> changes = new ArrayList<>();
        for (Repeat repeat : repeated) {
            String type = repeat.body().type();
            if (repeats.put(type, repeat.body()) != null) {
                throw new IllegalArgumentException(type + " is repeated twice");
            }
            Change.RepeatDue before = past.repeats.get(type);
            if (before == null || before.periodMillis() != repeat.periodMillis()) {
                long due = state.clock.nowMillis() + repeat.periodMillis();
                changes.add(new Change.RepeatDue(type, repeat.periodMillis(), due));
            }
        }
        for (String type : past.repeats.keySet()) {
            if (!repeats.containsKey(type)) {
                changes.add(new Change.RepeatGone(type));
            }
        }
        return changes;
    }

    boolean isFirstReturnedHere() {
        return !past.returned.isEmpty()
                && past.returned.firstKey() < past.outboxes.firstReturning();
    }

    /** Gives each input that has to be recorded as tried before it runs (K12). */
    void tryFirsts(Moment at, Consumer<Running> toTry) {
        for (String channel : List.copyOf(ready)) {
            if (!hasInput(channel)) {
                ready.remove(channel);
                attempts.vanished(channel);
            } else if (takes(channel) && attempts.toRecord(channel, at.steadyMillis())) {
                toTry.accept(first(channel));
            }
        }
    }

    /** It does not run: it is put aside. */
    void remove(String channel) {
        ready.remove(channel);
    }

    /** Its input, which ran, runs again later. */
    void again(String channel) {
        ready.add(channel);
    }

    List<String> stopped() {
        return ready.stream().filter(attempts::isStopped).toList();
    }

    boolean any() {
        return ready.stream().anyMatch(this::hasInput);
    }

    Running running() {
        return running;
    }

    Running expectRunning() {
        if (running == null) {
            throw new IllegalStateException("no input runs");
        }
        return running;
    }

    /** Its turn has ended; it may run again. */
    void ended() {
        running = null;
    }

    void take(ServiceCore.Intake which) {
        intake = which;
    }

    /** A call to the world gave an answer, which becomes an input. */
    void result(long output, Body answer) {
        if (resultsThere.add(output)) {
            results.add(new Input.Result(output, answer));
            look(RESULTS);
        }
    }

    boolean hasResult(long output) {
        return resultsThere.contains(output);
    }

    void ask(Link link, Frame.Ask ask) {
        Optional<String> given =
                link.peer().isBlank() ? Optional.empty() : Optional.of(link.peer());
        String caller = Askers.caller(link);
        asks.add(new Ask(link, new Input.Outside(caller, given, ask.request(), ask.body())));
        look(OUTSIDE);
    }

    /** How many requests of clients without a birth wait. */
    int asks() {
        return asks.size();
    }

    /** Requests of clients without a birth that wait; none runs any more. */
    Stream<Input.Outside> outside() {
        return asks.stream().map(Ask::input);
    }

    void left(Link link) {
        asks.removeIf(it -> it.link().equals(link));
    }

    /** Whether that timer is set; not the one whose turn this is, as it went off. */
    boolean isSet(long timer) {
        boolean goesOff =
                running != null && running.input() instanceof Input.Timer due && due.id() == timer;
        return !goesOff && past.dueOf.containsKey(timer);
    }

    /** It was consumed by this turn. */
    void consumed(Running ended, long turn) {
        running = null;
        switch (ended.channel()) {
            case RESULTS -> {
                results.remove();
                resultsThere.remove(ended.id());
            }
            case OUTSIDE -> asks.remove();
            case TIMERS, RETURNED -> {}
            default -> {
                if (!ended.channel().equals(name)) {
                    state.conversation(ended.channel()).held.headMap(ended.id(), true).clear();
                }
            }
        }
        attempts.consumed(ended.channel(), turn);
        look(ended.channel());
        look(name);
        look(RETURNED);
    }

    void lookAtTimers(long now) {
        if (nextDue() <= now) {
            ready.add(TIMERS);
        }
    }

    private long nextDue() {
        long timer = past.timers.isEmpty() ? Long.MAX_VALUE : past.timers.firstKey().millis();
        return Math.min(
                timer, past.firstRepeat().map(Change.RepeatDue::dueMillis).orElse(Long.MAX_VALUE));
    }

    /** The input of the next turn, which runs from now on. */
    Optional<Input> next(Moment at) {
        lookAtTimers(state.clock.advance(at));
        for (Iterator<String> channels = ready.iterator(); channels.hasNext(); ) {
            String channel = channels.next();
            if (!hasInput(channel)) {
                channels.remove();
                attempts.vanished(channel);
            } else if (takes(channel)
                    && attempts.mayRun(channel, state.finals.outside(), at.steadyMillis())) {
                channels.remove();
                running = first(channel);
                attempts.begins(channel);
                return Optional.of(running.input());
            }
        }
        return Optional.empty();
    }

    /**
     * The next inputs in the order in which their turns are expected, as far as they may run ahead
     * of these; the first one is that of {@link #next}. None but that one while an input is on
     * trial, or is to be: should it end the process, no other may have done so (K12).
     */
    List<Ahead> expected(int most, Moment at) {
        lookAtTimers(state.clock.advance(at));
        List<String> channels = new ArrayList<>();
        boolean trial = attempts.isOnTrial();
        for (String channel : ready) {
            if (hasInput(channel) && takes(channel)) {
                trial |= attempts.toRecord(channel, at.steadyMillis());
                if (attempts.mayRun(channel, state.finals.outside(), at.steadyMillis())) {
                    channels.add(channel);
                }
            }
        }
        List<Ahead> expected = new ArrayList<>();
        for (int round = 0; !channels.isEmpty() && expected.size() < most; round++) {
            for (Iterator<String> each = channels.iterator(); each.hasNext(); ) {
                Optional<Running> input = later(each.next(), round);
                if (expected.size() == most || input.isEmpty()) {
                    each.remove();
                } else {
                    expected.add(new Ahead(input.get().channel(), input.get().input()));
                }
            }
            if (trial) {
                return expected.isEmpty() ? expected : expected.subList(0, 1);
            }
        }
        return expected;
    }

    /** The input of a channel behind so many others. */
    private Optional<Running> later(String channel, int behind) {
        if (behind == 0) {
            return Optional.of(first(channel));
        }
        if (channel.equals(OUTSIDE)) {
            return asks.stream()
                    .skip(behind)
                    .findFirst()
                    .map(
                            it ->
                                    new Running(
                                            channel,
                                            it.input(),
                                            it.input().request(),
                                            Optional.empty()));
        }
        Peer peer = past.peers.get(channel);
        if (peer == null || channel.equals(name)) {
            return Optional.empty();
        }
        long number = peer.consumed.number() + 1 + behind;
        return Optional.ofNullable(state.conversation(channel).held.get(number))
                .map(it -> message(peer, number, peer.birth, it));
    }

    private boolean takes(String channel) {
        return switch (intake) {
            case ALL -> true;
            case SERVICES -> !isOutside(channel);
            case NOTHING -> false;
        };
    }

    private boolean isOutside(String channel) {
        Peer peer = past.peers.get(channel);
        return channel.equals(OUTSIDE) || (peer != null && peer.outside);
    }

    /** It runs, where it has an input. */
    void look(String channel) {
        if (hasInput(channel)) {
            ready.add(channel);
        }
    }

    private boolean hasInput(String channel) {
        return switch (channel) {
            case TIMERS -> nextDue() <= state.clock.nowMillis();
            case RESULTS -> !results.isEmpty();
            case RETURNED -> isFirstReturnedHere();
            case OUTSIDE -> !asks.isEmpty();
            default -> {
                Peer peer = past.peers.get(channel);
                if (peer == null) {
                    yield false;
                }
                yield channel.equals(name)
                        ? peer.first().isPresent()
                        : state.conversation(channel).held.containsKey(peer.consumed.number() + 1);
            }
        };
    }

    private Running first(String channel) {
        switch (channel) {
            case TIMERS -> {
                return firstTimer();
            }
            case RESULTS -> {
                Input.Result result = results.element();
                return new Running(channel, result, result.output(), Optional.empty());
            }
            case RETURNED -> {
                Map.Entry<Long, Input.Returned> entry = past.returned.firstEntry();
                return new Running(channel, entry.getValue(), entry.getKey(), Optional.empty());
            }
            case OUTSIDE -> {
                Input.Outside input = asks.element().input();
                return new Running(channel, input, input.request(), Optional.empty());
            }
            default -> {
                return firstMessage(past.peers.get(channel));
            }
        }
    }

    private Running firstTimer() {
        Optional<Change.RepeatDue> repeat = past.firstRepeat();
        boolean timerFirst =
                !past.timers.isEmpty()
                        && repeat.map(it -> past.timers.firstKey().millis() <= it.dueMillis())
                                .orElse(true);
        if (timerFirst) {
            Past.Due due = past.timers.firstKey();
            Input.Timer input =
                    new Input.Timer(due.id(), due.millis(), past.timers.firstEntry().getValue());
            return new Running(TIMERS, input, due.id(), Optional.empty());
        }
        Change.RepeatDue due = repeat.orElseThrow();
        Input.Repeat input = new Input.Repeat(due.dueMillis(), repeats.get(due.type()));
        return new Running(TIMERS, input, due.dueMillis(), Optional.empty());
    }

    private Running firstMessage(Peer peer) {
        long number;
        Birth birth;
        Frame.Msg msg;
        if (peer.key.equals(name)) {
            number = peer.floor() + 1;
            birth = state.self.birth();
            Change.Unacked own = peer.first().orElseThrow().message();
            msg = new Frame.Msg(number, own.answers(), own.refusal(), own.body());
        } else {
            number = peer.consumed.number() + 1;
            birth = peer.birth;
            msg = state.conversation(peer.key).held.get(number);
        }
        return message(peer, number, birth, msg);
    }

    private Running message(Peer peer, long number, Birth birth, Frame.Msg msg) {
        long answers = msg.answers() == 0 ? 0 : peer.countOf(msg.answers());
        Input input;
        if (msg.refusal().isPresent()) {
            input =
                    new Input.Returned(
                            ServiceCore.nameOf(peer.key),
                            answers,
                            false,
                            msg.refusal().get(),
                            msg.body());
        } else {
            input =
                    new Input.Message(
                            peer.key,
                            ServiceCore.nameOf(peer.key),
                            birth,
                            number,
                            answers,
                            msg.body());
        }
        return new Running(peer.key, input, number, msg.refusal());
    }

    /** In how many milliseconds a timer is due; {@link Long#MAX_VALUE} for never. */
    long waitMillis(long now) {
        long due = nextDue();
        return due == Long.MAX_VALUE || due <= now ? Long.MAX_VALUE : due - now;
    }
}
