package io.saucr.services.core;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;

/**
 * Services and clients over {@link ServiceCore}, with disks that lose what was not forced, links
 * that break with what is under way, clocks that jump, handlers that throw, calls to the world, and
 * births that are given up. A seed chooses every step. Each message has a number of its own, so
 * that at the end it can be counted who consumed it.
 */
final class ServiceWorld {

    /** A rule that is left out, to see that it is missed. */
    enum Broken {
        NOTHING,
        /** Messages and acks leave before the force. */
        K4_LEAVES_BEFORE_THE_FORCE,
        /** The consumed number is not in the record. */
        K3_CONSUMED_NUMBER_APART,
        /** The outbox is not in the record. */
        K3_SENDS_APART,
        /** What was not acked is not sent again. */
        K6_SENT_ONCE,
        /** A number that was consumed is taken again. */
        K7_DUPLICATES_TAKEN,
        /** Number 1 leaves before both know the pair. */
        K11_PAIR_NOT_FORCED,
        /** Who is made anew keeps its birth. */
        K11_NUMBERS_INHERITED,
        /** Who put a message aside does not say so. */
        K12_SENDER_NOT_TOLD,
        /** Who is behind its own past is not told. */
        K14_HELLO_SAYS_NOTHING,
        /** What a gone birth has not acked is dropped. */
        K15_NOTHING_RETURNS,
        /** Timers are not in the record. */
        K16_TIMERS_FORGOTTEN,
        /** A call that did not return is not made by the next start. */
        K17_CALLS_FORGOTTEN
    }

    private static final Limits LIMITS = new Limits(4, 3, true, 10, 40, 16, 3_600_000);

    private final Random random;
    private final Broken broken;
    private final List<Node> nodes = new ArrayList<>();
    private final List<Wire> wires = new ArrayList<>();
    private long wallMillis = 1_000_000;
    private long steadyMillis;
    private long ids;
    private long uids;
    private boolean healing;

    /** Two folders of one service went on, and both were heard: there is no right end. */
    private boolean diverged;

    /** Who sent a message, and to whom. */
    private record Meta(Node from, Birth birth, String to, boolean ofCopy) {}

    private final Map<Long, Meta> metas = new HashMap<>();

    /** What must not be. */
    final List<String> violations = new ArrayList<>();

    /** What happened, for people. */
    final ArrayDeque<String> trace = new ArrayDeque<>();

    int consumed;
    int crashes;
    int halts;

    ServiceWorld(long seed, Broken broken) {
        this.random = new Random(seed);
        this.broken = broken;
        int services = 2 + random.nextInt(2);
        for (int i = 0; i < services; i++) {
            nodes.add(new Node("s" + i, false));
        }
        nodes.add(new Node("c0", true));
        nodes.forEach(Node::start);
    }

    // ---- nodes

    private record Written(Delta delta, List<String> log) {}

    /** A service or client: its disk, and its process while that is up. */
    private final class Node {

        final String name;
        final boolean client;
        Birth birth = newBirth();
        List<Incarnation> starts = new ArrayList<>();
        long number;
        Delta base;
        List<String> baseLog = List.of();
        List<Written> written = new ArrayList<>();
        int forced;

        /** An older state of the folder. */
        Copy copy;

        ServiceCore core;
        List<String> log;
        final Map<Long, Action.Call> calls = new LinkedHashMap<>();
        final Set<String> reached = new LinkedHashSet<>();
        String halted;

        Node(String name, boolean client) {
            this.name = name;
            this.client = client;
        }

        long newest() {
            return written.isEmpty()
                    ? (base == null ? 0 : base.turn())
                    : written.get(written.size() - 1).delta().turn();
        }

        void start() {
            // What survived is written again before anything leaves (K9).
            forced = written.size();
            starts.add(new Incarnation(birth, ++number, random.nextLong()));
            core = new ServiceCore(name, starts, LIMITS);
            log = new ArrayList<>(baseLog);
            if (base != null) {
                core.recover(base);
            }
            for (Written each : written) {
                core.recover(each.delta());
                log.addAll(each.log());
            }
            halted = null;
            say("%s starts as %d at turn %d", name, starts.size(), newest());
            if (client) {
                // It dials those that it calls, whether it has something to say or not.
                reached.addAll(List.of("s0", "s1"));
            }
            perform(core.begin(List.of(), moment()));
        }

        void crash() {
            crashes++;
            int kept = forced + random.nextInt(written.size() - forced + 1);
            say("%s crashes, %d of %d kept", name, kept, written.size());
            stop(kept);
        }

        private void stop(int kept) {
            core = null;
            calls.clear();
            reached.clear();
            written = new ArrayList<>(written.subList(0, kept));
            forced = Math.min(forced, kept);
            for (Wire wire : List.copyOf(wires)) {
                if (wire.has(this)) {
                    wire.cut();
                }
            }
        }

        void force() {
            forced = written.size();
            say("%s forces up to %d", name, newest());
            perform(core.finalUpTo(newest()));
        }

        void fold() {
            if (newest() > (base == null ? 0 : base.turn()) && forced == written.size()) {
                base = core.snapshot();
                baseLog = List.copyOf(log);
                written.clear();
                forced = 0;
                say("%s folds at %d", name, base.turn());
            }
        }

        void perform(List<Action> actions) {
            for (Action action : actions) {
                if (core == null || halted != null) {
                    return;
                }
                if (action instanceof Action.Append it) {
                    append(it.delta(), List.of());
                } else if (action instanceof Action.Send it) {
                    send(it);
                } else if (action instanceof Action.Close it) {
                    say("%s closes %s: %s", name, it.link(), it.reason());
                    if (it.link().outside() && it.reason().contains("(K14)")) {
                        // Only the head would have kept this old copy from starting.
                        diverged = true;
                    }
                    wire(it.link()).ifPresent(wire -> wire.close(this));
                } else if (action instanceof Action.Reach it) {
                    reached.add(it.service());
                } else if (action instanceof Action.Call it) {
                    check(
                            isForced("O " + it.id()) || broken != Broken.NOTHING,
                            "%s calls %s before it is forced",
                            name,
                            it.id());
                    calls.put(it.output(), it);
                } else if (action instanceof Action.Halt it) {
                    halted = it.reason();
                }
            }
            if (halted != null) {
                halt();
            }
        }

        private void halt() {
            halts++;
            say("%s halts: %s", name, halted);
            boolean old = isCopy(this);
            if (!old && copy != null && copy.newer != null) {
                // Others met the old copy, which the head would have kept from starting.
                diverged = true;
            }
            check(old || diverged, "%s halts: %s", name, halted);
            stop(old ? 0 : forced);
            if (old) {
                copy.putBack();
            }
        }

        private void send(Action.Send it) {
            if (broken == Broken.NOTHING && it.frame() instanceof Frame.Msg msg) {
                check(
                        isForced("S " + uid(msg.body())) || msg.refusal().isPresent(),
                        "%s sends %s, which is not forced",
                        name,
                        msg);
            }
            wire(it.link()).ifPresent(wire -> wire.add(this, it.frame()));
        }

        /** Whether a line of the log is of a turn that is forced. */
        private boolean isForced(String line) {
            return baseLog.contains(line)
                    || written.subList(0, forced).stream().anyMatch(it -> it.log().contains(line));
        }

        void append(Delta delta, List<String> lines) {
            List<Change> changes = new ArrayList<>(delta.changes());
            switch (broken) {
                case K3_CONSUMED_NUMBER_APART ->
                        changes.removeIf(it -> it instanceof Change.Consumed);
                case K3_SENDS_APART -> changes.removeIf(it -> it instanceof Change.Sent);
                case K16_TIMERS_FORGOTTEN -> changes.removeIf(it -> it instanceof Change.TimerSet);
                case K17_CALLS_FORGOTTEN -> changes.removeIf(it -> it instanceof Change.OutputMade);
                default -> {}
            }
            log.addAll(lines);
            written.add(
                    new Written(
                            new Delta(
                                    delta.turn(),
                                    delta.incarnation(),
                                    delta.nowMillis(),
                                    delta.state(),
                                    changes),
                            lines));
            if (broken == Broken.K4_LEAVES_BEFORE_THE_FORCE) {
                early.add(this);
            }
            if (broken == Broken.K11_PAIR_NOT_FORCED
                    && changes.stream()
                            .anyMatch(
                                    it ->
                                            it instanceof Change.PairOpened
                                                    || it instanceof Change.PairKnown)) {
                early.add(this);
            }
        }

        // ---- turns

        boolean turn() {
            Moment at = moment();
            long before = newest();
            perform(core.tick(at));
            if (core == null) {
                return true;
            }
            Optional<Input> input = core.next(at);
            if (input.isEmpty()) {
                return newest() > before;
            }
            run(input.get());
            return true;
        }

        private void run(Input input) {
            String type = input.body().type();
            if (type.startsWith("poison") && !(input instanceof Input.Returned)) {
                say("%s: %s fails", name, type);
                perform(core.failed("poison", moment()));
                return;
            }
            if (random.nextInt(20) == 0 && !healing && !client) {
                perform(core.failed("once", moment()));
                return;
            }
            List<String> lines = new ArrayList<>();
            lines.add("N " + core.nowMillis());
            Effecting effects = new Effecting(this, lines);
            long uid = uid(input.body());
            if (input instanceof Input.Message it) {
                lines.add("C " + uid);
                consumed++;
                check(!log.contains("C " + uid), "%s consumes %s twice", name, type);
                effects.react(it.peer(), it.number(), ttl(type));
            } else if (input instanceof Input.Returned it) {
                if (broken != Broken.K15_NOTHING_RETURNS || !it.perhapsConsumed()) {
                    lines.add("B " + uid + " " + it.perhapsConsumed());
                }
                check(
                        log.stream().noneMatch(line -> line.startsWith("B " + uid + " ")),
                        "%s has %s back twice",
                        name,
                        type);
            } else if (input instanceof Input.Timer it) {
                lines.add("F " + it.id());
                check(!log.contains("F " + it.id()), "%s: timer %d twice", name, it.id());
                check(
                        core.nowMillis() >= it.dueMillis(),
                        "%s: timer %d goes off early",
                        name,
                        it.id());
                effects.react(null, 0, ttl(type));
            } else if (input instanceof Input.Result it) {
                lines.add("R " + it.output());
                check(!log.contains("R " + it.output()), "%s: result %d twice", name, it.output());
            }
            say("%s runs %s: %s", name, input, lines);
            Delta delta = core.commit(effects.effects());
            append(delta, lines);
        }

        void call() {
            String to = "s" + random.nextInt(2);
            String kind = random.nextInt(12) == 0 ? "poison:" : "m:";
            Body body = new Body(kind + ++uids + ":2", new byte[0]);
            metas.put(uids, new Meta(this, birth, to, isCopy(this)));
            List<Action> actions = core.submit(to, body);
            List<String> lines = List.of("S " + uids);
            Action.Append append = (Action.Append) actions.get(0);
            append(append.delta(), lines);
            say("%s calls %s with %s", name, to, body.type());
        }
    }

    /** What a handler wants. */
    private final class Effecting {

        private final Node node;
        private final List<String> lines;
        private final List<Effects.Send> sends = new ArrayList<>();
        private final List<Effects.TimerSet> timers = new ArrayList<>();
        private final List<Long> cancelled = new ArrayList<>();
        private final List<Body> outputs = new ArrayList<>();
        private final List<Effects.Reply> replies = new ArrayList<>();
        private long timer;
        private boolean detached;

        Effecting(Node node, List<String> lines) {
            this.node = node;
            this.lines = lines;
            this.timer = node.core.newestTimer();
        }

        private Body message(String to, int ttl) {
            long uid = ++uids;
            lines.add("S " + uid);
            metas.put(uid, new Meta(node, node.birth, to, isCopy(node)));
            String kind = random.nextInt(15) == 0 ? "poison:" : "m:";
            return new Body(kind + uid + ":" + ttl, new byte[0]);
        }

        void react(String peer, long number, int ttl) {
            if (node.client || ttl <= 0) {
                return;
            }
            for (int count = random.nextInt(3); count > 0; count--) {
                String to = "s" + random.nextInt(nodes.size() - 1);
                sends.add(new Effects.Send(to, message(to, ttl - 1)));
            }
            if (peer != null && random.nextInt(3) == 0) {
                replies.add(new Effects.Reply(peer, number, message(peer, ttl - 1)));
            }
            if (random.nextInt(6) == 0) {
                long id = ++timer;
                long due = node.core.nowMillis() + random.nextLong(200);
                timers.add(new Effects.TimerSet(id, due, message(node.name, ttl - 1)));
                lines.remove(lines.size() - 1);
                lines.add("T " + id);
            } else if (random.nextInt(20) == 0 && timer > 0) {
                long id = 1 + random.nextLong(timer);
                if (node.core.isSet(id)) {
                    cancelled.add(id);
                    lines.add("X " + id);
                }
            }
            if (random.nextInt(8) == 0) {
                outputs.add(new Body("call:" + ++uids + ":0", new byte[0]));
                lines.add("O " + node.birth + "-" + (nextOutput() + outputs.size()));
            }
        }

        private long nextOutput() {
            return node.log.stream().filter(it -> it.startsWith("O ")).count();
        }

        Effects effects() {
            return new Effects(
                    String.join("\n", lines).getBytes(StandardCharsets.UTF_8),
                    sends,
                    timers,
                    cancelled,
                    outputs,
                    replies,
                    timer,
                    detached);
        }
    }

    /** A copy of a folder, which is started in place of the folder. */
    private static final class Copy {
        private final Node node;
        private final List<Incarnation> starts;
        private final Delta base;
        private final List<String> baseLog;
        private final List<Written> written;
        private Copy newer;
        private boolean running;

        Copy(Node node) {
            this.node = node;
            starts = new ArrayList<>(node.starts);
            base = node.base;
            baseLog = node.baseLog;
            written = new ArrayList<>(node.written.subList(0, node.forced));
        }

        /** In place of what the node has now. */
        void run() {
            newer = new Copy(node);
            running = true;
            put(this);
        }

        /** The newer folder again. */
        void putBack() {
            running = false;
            put(newer);
        }

        private void put(Copy of) {
            node.starts = new ArrayList<>(of.starts);
            node.base = of.base;
            node.baseLog = of.baseLog;
            node.written = new ArrayList<>(of.written);
            node.forced = of.written.size();
        }
    }

    // ---- links

    /** Two ends, each direction in order. */
    private final class Wire {

        final Node dialler;
        final Node acceptor;
        final Link atDialler;
        final Link atAcceptor;
        final ArrayDeque<Frame> toAcceptor = new ArrayDeque<>();
        final ArrayDeque<Frame> toDialler = new ArrayDeque<>();
        boolean closing;

        Wire(Node dialler, Node acceptor) {
            this.dialler = dialler;
            this.acceptor = acceptor;
            long id = ++ids;
            atDialler = new Link(id, acceptor.name, false);
            atAcceptor = new Link(id, dialler.name, dialler.client);
        }

        boolean has(Node node) {
            return node == dialler || node == acceptor;
        }

        void add(Node from, Frame frame) {
            Frame sent = frame;
            if (broken == Broken.K14_HELLO_SAYS_NOTHING && frame instanceof Frame.Hello it) {
                sent =
                        new Frame.Hello(
                                it.name(),
                                it.from(),
                                it.to(),
                                it.pair(),
                                it.sent(),
                                Count.NONE,
                                Count.NONE);
            }
            if (broken == Broken.K6_SENT_ONCE
                    && frame instanceof Frame.Msg msg
                    && !sentOnce.add(uid(msg.body()))) {
                return;
            }
            if (broken == Broken.K12_SENDER_NOT_TOLD
                    && frame instanceof Frame.Msg msg
                    && msg.refusal().isPresent()) {
                sent =
                        new Frame.Msg(
                                msg.number(), 0, Optional.empty(), new Body("m:0:0", new byte[0]));
            }
            if (!closing) {
                (from == dialler ? toAcceptor : toDialler).add(sent);
            }
        }

        void deliver(boolean up) {
            Node to = up ? acceptor : dialler;
            Frame frame = (up ? toAcceptor : toDialler).remove();
            if (broken == Broken.K7_DUPLICATES_TAKEN && frame instanceof Frame.Msg msg) {
                frame = renumbered(to, up ? dialler : acceptor, msg);
            }
            say("%s hears %s", to.name, frame);
            to.perform(to.core.frame(up ? atAcceptor : atDialler, frame, moment()));
            if (wires.contains(this)) {
                cutIfOver();
            }
        }

        /** As a receiver would take it that does not look at numbers. */
        private Frame renumbered(Node to, Node from, Frame.Msg msg) {
            String key = from.client ? from.name + "#" + from.birth : from.name;
            long last =
                    to.core.channels().stream()
                            .filter(it -> it.peer().equals(key))
                            .mapToLong(it -> it.consumed() + it.held())
                            .findFirst()
                            .orElse(0);
            return msg.number() <= last
                    ? new Frame.Msg(last + 1, msg.answers(), msg.refusal(), msg.body())
                    : msg;
        }

        /** What was sent before arrives; nothing else does. */
        void close(Node by) {
            closing = true;
            (by == dialler ? toDialler : toAcceptor).clear();
            cutIfOver();
        }

        private void cutIfOver() {
            if (closing && toDialler.isEmpty() && toAcceptor.isEmpty()) {
                cut();
            }
        }

        void cut() {
            wires.remove(this);
            if (dialler.core != null) {
                dialler.perform(dialler.core.linkDown(atDialler));
            }
            if (acceptor.core != null) {
                acceptor.perform(acceptor.core.linkDown(atAcceptor));
            }
        }
    }

    private final Set<Long> sentOnce = new HashSet<>();
    private final Set<Node> early = new LinkedHashSet<>();

    private Optional<Wire> wire(Link link) {
        return wires.stream().filter(it -> it.atDialler.id() == link.id()).findFirst();
    }

    private void connect(Node from, Node to) {
        Wire wire = new Wire(from, to);
        wires.add(wire);
        say("%s and %s are linked", from.name, to.name);
        to.perform(to.core.linkUp(wire.atAcceptor));
        if (from.core != null && wires.contains(wire)) {
            from.perform(from.core.linkUp(wire.atDialler));
        }
    }

    // ---- steps

    /** Random steps, then everything is mended and runs until nothing happens, then it counts. */
    void run(int steps) {
        for (int step = 0; step < steps && violations.isEmpty() && !diverged; step++) {
            wreck();
            leaveEarly();
            boolean unused = step();
            leaveEarly();
        }
        heal();
        if (violations.isEmpty() && !diverged) {
            count();
        }
    }

    /** What is final without a force, where a rule is broken. */
    private void leaveEarly() {
        for (Node node : List.copyOf(early)) {
            if (node.core != null) {
                node.perform(node.core.finalUpTo(node.newest()));
            }
        }
        early.clear();
    }

    private void wreck() {
        Node node = nodes.get(random.nextInt(nodes.size()));
        switch (random.nextInt(60)) {
            case 0, 1 -> {
                if (node.core != null) {
                    node.crash();
                }
            }
            case 2, 3 -> {
                if (!wires.isEmpty()) {
                    wires.get(random.nextInt(wires.size())).cut();
                }
            }
            case 4 -> wallMillis += random.nextInt(2_000) - 1_000;
            case 5 -> {
                if (node.core != null) {
                    node.fold();
                }
            }
            case 6 -> takeOrRunCopy(node);
            case 7 -> recreate(node);
            case 8, 9, 10, 11, 12 -> pass(random.nextInt(50));
            default -> {}
        }
    }

    private void takeOrRunCopy(Node node) {
        if (node.copy == null) {
            if (node.core != null && node.forced > 0) {
                node.copy = new Copy(node);
            }
        } else if (node.core != null
                && !node.copy.running
                && lostLogs.isEmpty()
                && random.nextInt(3) == 0) {
            copiesRan = true;
            // The newer folder keeps all that was forced, as somebody still has it.
            node.crash();
            say("%s starts from an old copy", node.name);
            node.copy.run();
            node.start();
        }
    }

    private void recreate(Node node) {
        if (node.core == null || random.nextInt(4) > 0 || copiesRan) {
            // Who could have told an old copy what it forgot may be gone.
            return;
        }
        say("%s is made anew", node.name);
        lostLogs.put(node.birth, allLog(node));
        // Why it put something aside, or that it did so, may be gone with it.
        node.core.parked().forEach(it -> parkedByLost.add(uid(it.body())));
        node.stop(0);
        node.birth = broken == Broken.K11_NUMBERS_INHERITED ? node.birth : newBirth();
        node.starts = new ArrayList<>();
        node.base = null;
        node.baseLog = List.of();
        node.written = new ArrayList<>();
        node.forced = 0;
        node.copy = null;
        node.start();
    }

    private boolean copiesRan;
    private final Set<Long> parkedByLost = new HashSet<>();
    private final Map<Birth, List<String>> lostLogs = new HashMap<>();

    private static boolean isCopy(Node node) {
        return node.copy != null && node.copy.running;
    }

    private List<String> allLog(Node node) {
        List<String> all = new ArrayList<>(node.baseLog);
        node.written.forEach(it -> all.addAll(it.log()));
        return all;
    }

    private Birth newBirth() {
        return new Birth(random.nextLong(), random.nextLong());
    }

    private void pass(int millis) {
        wallMillis += millis;
        steadyMillis += millis;
    }

    private boolean step() {
        List<BooleanSupplier> possible = new ArrayList<>();
        for (Node node : nodes) {
            if (node.core == null) {
                possible.add(
                        () -> {
                            node.start();
                            return true;
                        });
                continue;
            }
            possible.add(node::turn);
            if (node.forced < node.written.size()) {
                possible.add(
                        () -> {
                            node.force();
                            return true;
                        });
            }
            if (node.client && !healing && random.nextInt(3) == 0) {
                possible.add(
                        () -> {
                            node.call();
                            return true;
                        });
            }
            for (String to : node.reached) {
                possible.add(() -> reach(node, to));
            }
            for (Action.Call call : node.calls.values()) {
                possible.add(() -> returned(node, call));
            }
        }
        for (Wire wire : wires) {
            if (!wire.toAcceptor.isEmpty()) {
                possible.add(
                        () -> {
                            wire.deliver(true);
                            return true;
                        });
            }
            if (!wire.toDialler.isEmpty()) {
                possible.add(
                        () -> {
                            wire.deliver(false);
                            return true;
                        });
            }
        }
        while (!possible.isEmpty()) {
            if (possible.remove(random.nextInt(possible.size())).getAsBoolean()) {
                return true;
            }
        }
        return false;
    }

    private boolean reach(Node from, String name) {
        Node to = nodes.stream().filter(it -> it.name.equals(name)).findFirst().orElseThrow();
        boolean linked = wires.stream().anyMatch(it -> it.dialler == from && it.acceptor == to);
        if (to.core == null || linked) {
            return false;
        }
        connect(from, to);
        return true;
    }

    private boolean returned(Node node, Action.Call call) {
        if (random.nextInt(4) == 0 && !healing) {
            return false;
        }
        node.calls.remove(call.output());
        Optional<Body> answer =
                random.nextBoolean()
                        ? Optional.of(new Body("m:" + ++uids + ":0", new byte[0]))
                        : Optional.empty();
        say("%s: call %s returned %s", node.name, call.id(), answer);
        node.perform(node.core.result(call.output(), answer));
        return true;
    }

    private void heal() {
        healing = true;
        for (int round = 0; round < 400 && violations.isEmpty() && !diverged; round++) {
            if (round == 0) {
                meetCopies();
            }
            int steps = 0;
            leaveEarly();
            while (violations.isEmpty() && !diverged && step()) {
                leaveEarly();
                if (++steps > 20_000) {
                    check(false, "no end");
                    return;
                }
            }
            if (nodes.stream().noneMatch(this::isPatient)) {
                return;
            }
            pass(50);
        }
    }

    /** An old copy that goes on meets everybody, so that whoever knows more can say so. */
    private void meetCopies() {
        for (Node node : nodes) {
            if (node.core == null) {
                node.start();
            }
        }
        for (Node node : List.copyOf(nodes)) {
            for (Node other : nodes) {
                if (isCopy(node) && other != node && node.core != null && other.core != null) {
                    if (other.client || !node.client) {
                        connect(other, node);
                    } else {
                        connect(node, other);
                    }
                }
            }
        }
    }

    /** Whether time alone brings something about. */
    private boolean isPatient(Node node) {
        return node.core != null
                && (node.core.hasInputs() || node.core.timers() > 0 || !node.calls.isEmpty());
    }

    // ---- counting

    private void count() {
        Map<Long, List<String>> consumers = new TreeMap<>();
        Map<Long, String> back = new TreeMap<>();
        Set<Long> parked = new HashSet<>();
        Set<Long> sent = new LinkedHashSet<>();
        Set<Long> sentByLost = new HashSet<>();
        Set<Long> consumedByLost = new HashSet<>();
        lostLogs.values().forEach(log -> uidsOf(log, "S ").forEach(sentByLost::add));
        lostLogs.values().forEach(log -> uidsOf(log, "C ").forEach(consumedByLost::add));
        for (Node node : nodes) {
            long time = 0;
            Set<String> seen = new HashSet<>();
            for (String line : node.log) {
                if (line.startsWith("N ")) {
                    long now = Long.parseLong(line.substring(2));
                    check(now >= time, "%s: time went back", node.name);
                    time = now;
                    continue;
                }
                check(seen.add(line), "%s: twice: %s", node.name, line);
            }
            uidsOf(node.log, "S ").forEach(sent::add);
            uidsOf(node.log, "C ")
                    .forEach(
                            uid ->
                                    consumers
                                            .computeIfAbsent(uid, it -> new ArrayList<>())
                                            .add(node.name));
            for (String line : node.log) {
                if (line.startsWith("B ")) {
                    String[] words = line.split(" ", -1);
                    back.put(Long.parseLong(words[1]), words[2]);
                }
                if (line.startsWith("T ")) {
                    String id = line.substring(2);
                    check(
                            node.log.contains("F " + id)
                                    || node.log.contains("X " + id)
                                    || node.core.isSet(Long.parseLong(id))
                                    || node.core.parked().stream()
                                            .anyMatch(it -> it.channel().equals("#timers")),
                            "%s: timer %s never went off",
                            node.name,
                            id);
                }
            }
            node.core
                    .parked()
                    .forEach(
                            it -> {
                                long uid = uid(it.body());
                                Meta meta = metas.get(uid);
                                parked.add(uid);
                                if (meta != null && meta.from() == node) {
                                    // What came back was put aside in its turn.
                                    back.putIfAbsent(uid, "parked");
                                }
                            });
            if (!node.client) {
                check(
                        node.core.openOutputs() == 0
                                || node.core.hasInputs()
                                || !node.calls.isEmpty(),
                        "%s: %d calls are made no more",
                        node.name,
                        node.core.openOutputs());
            }
            // Acks are recorded with the next turn, whichever that is.
            node.perform(
                    node.core.declareGone("nobody", new Birth(0, 1), "so that a turn is there"));
            check(
                    recover(node).equals(text(node.core.snapshot())),
                    "%s: recovered, it is another:%n%s%n%s",
                    node.name,
                    recover(node),
                    text(node.core.snapshot()));
        }
        for (Map.Entry<Long, List<String>> entry : consumers.entrySet()) {
            long uid = entry.getKey();
            Meta meta = metas.get(uid);
            if (meta != null && meta.ofCopy() && !isCopy(meta.from())) {
                diverged = true;
                return;
            }
            check(entry.getValue().size() == 1, "message %d consumed by %s", uid, entry.getValue());
            check(!consumedByLost.contains(uid), "message %d consumed by two births", uid);
            check(
                    sent.contains(uid) || sentByLost.contains(uid),
                    "message %d was consumed, and nobody sent it",
                    uid);
            check(
                    !back.containsKey(uid) || !back.get(uid).equals("false"),
                    "message %d was consumed, and came back as not consumed",
                    uid);
        }
        for (Node node : nodes) {
            for (ServiceCore.Channel channel : node.core.channels()) {
                check(
                        channel.unacked() == 0 || isLostClient(channel.peer()),
                        "%s still has %d messages for %s",
                        node.name,
                        channel.unacked(),
                        channel.peer());
            }
        }
        for (long uid : sent) {
            Meta meta = metas.get(uid);
            boolean isTold = back.containsKey(uid);
            check(
                    consumers.containsKey(uid)
                            || isTold
                            || parked.contains(uid)
                            || consumedByLost.contains(uid)
                            || parkedByLost.contains(uid)
                            || isLostClient(meta.to()),
                    "message %d was sent, and is nowhere",
                    uid);
            if (parked.contains(uid)) {
                check(isTold, "message %d was put aside, and its sender was not told", uid);
            }
        }
    }

    /** Answers to a client's birth that is gone go with it. */
    private boolean isLostClient(String key) {
        int birth = key.indexOf('#');
        return birth >= 0 && lostLogs.containsKey(Birth.parse(key.substring(birth + 1)));
    }

    private static List<Long> uidsOf(List<String> log, String kind) {
        return log.stream()
                .filter(it -> it.startsWith(kind))
                .map(it -> Long.parseLong(it.substring(2)))
                .toList();
    }

    private String recover(Node node) {
        ServiceCore other = new ServiceCore(node.name, node.starts, LIMITS);
        if (node.base != null) {
            other.recover(node.base);
        }
        node.written.forEach(it -> other.recover(it.delta()));
        return text(other.snapshot());
    }

    private static String text(Delta delta) {
        // When a peer was heard last is recorded with the next turn, so it may be a bit later.
        String all = delta.turn() + " " + delta.nowMillis() + " " + delta.changes();
        return all.replaceAll("heardMillis=[0-9]+", "");
    }

    // ---- small things

    private Moment moment() {
        return new Moment(wallMillis, steadyMillis);
    }

    private static long uid(Body body) {
        return Long.parseLong(body.type().split(":", -1)[1]);
    }

    private static int ttl(String type) {
        return Integer.parseInt(type.split(":", -1)[2]);
    }

    @SuppressWarnings("AnnotateFormatMethod")
    private void check(boolean holds, String what, Object... arguments) {
        if (!holds) {
            violations.add(String.format(what, arguments));
        }
    }

    @SuppressWarnings("AnnotateFormatMethod")
    private void say(String what, Object... arguments) {
        trace.add(String.format(what, arguments));
        if (trace.size() > 4_000) {
            trace.remove();
        }
    }

    @Override
    public String toString() {
        return violations + "\n" + String.join("\n", trace);
    }

    static List<Broken> rules() {
        return Arrays.stream(Broken.values()).filter(it -> it != Broken.NOTHING).toList();
    }
}
