package io.saucr.services.core;

import io.saucr.services.core.Exploration.Step;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Every way through a small world: one service sends messages to another, which answers each; every
 * order of turns, forces, frames and links, with a number of crashes (all or nothing of what was
 * not forced survives) and of links that break at any moment.
 */
final class ServiceModel {

    /**
     * A small world.
     *
     * @param messages that the first service sends
     * @param crashes of either, in all
     * @param cuts of links, in all
     */
    record Size(int messages, int crashes, int cuts) {}

    private static final Limits LIMITS = new Limits(2, 9, true, 0, 0, 4, 3_600_000);
    private static final Moment NOW = new Moment(1_000, 1_000);

    private final Size size;
    private final ServiceWorld.Broken broken;

    ServiceModel(Size size, ServiceWorld.Broken broken) {
        this.size = size;
        this.broken = broken;
    }

    /** Ready to look at all of them. */
    Exploration exploration() {
        return new Exploration(World::new);
    }

    private record Written(Delta delta, List<String> log) {
        @Override
        public String toString() {
            return delta.turn() + " " + delta.incarnation() + " " + delta.changes() + log;
        }
    }

    private final class World extends Exploration.World {

        final List<Node> nodes = List.of(new Node(0), new Node(1));
        final List<Wire> wires = new ArrayList<>();
        int crashes;
        int cuts;
        long ids;

        World() {
            nodes.forEach(Node::start);
            for (int message = 1; message <= size.messages(); message++) {
                Action.Append sent =
                        (Action.Append)
                                nodes.get(0)
                                        .core
                                        .submit("s1", new Body("m" + message, new byte[0]))
                                        .get(0);
                nodes.get(0).append(sent.delta(), List.of("S m" + message));
            }
            nodes.get(0).force();
        }

        @Override
        protected List<Step> steps() {
            List<Step> steps = new ArrayList<>();
            for (Node node : nodes) {
                steps.add(new Step(node.name + " turns", false, node::turn));
                if (node.forced < node.written.size()) {
                    steps.add(new Step(node.name + " forces", false, node::force));
                }
                for (String to : node.reached) {
                    Node other = nodes.get(to.equals("s0") ? 0 : 1);
                    if (wires.stream().noneMatch(it -> it.dialler == node)) {
                        steps.add(
                                new Step(node.name + " dials", false, () -> connect(node, other)));
                    }
                }
                if (crashes < size.crashes()) {
                    steps.add(
                            new Step(
                                    node.name + " crashes and keeps what is forced",
                                    true,
                                    () -> node.crash(node.forced)));
                    if (node.forced < node.written.size()) {
                        steps.add(
                                new Step(
                                        node.name + " crashes and keeps all",
                                        true,
                                        () -> node.crash(node.written.size())));
                    }
                }
            }
            for (Wire wire : wires) {
                if (!wire.toAcceptor.isEmpty()) {
                    steps.add(
                            new Step(
                                    wire.acceptor.name + " hears " + wire.toAcceptor.element(),
                                    false,
                                    () -> wire.deliver(true)));
                }
                if (!wire.toDialler.isEmpty()) {
                    steps.add(
                            new Step(
                                    wire.dialler.name + " hears " + wire.toDialler.element(),
                                    false,
                                    () -> wire.deliver(false)));
                }
                if (cuts < size.cuts()) {
                    steps.add(
                            new Step(
                                    "a link breaks",
                                    true,
                                    () -> {
                                        cuts++;
                                        wire.cut();
                                    }));
                }
            }
            return steps;
        }

        void connect(Node from, Node to) {
            Wire wire = new Wire(from, to);
            wires.add(wire);
            to.perform(to.core.linkUp(wire.atAcceptor));
            if (wires.contains(wire)) {
                from.perform(from.core.linkUp(wire.atDialler));
            }
        }

        /** Nothing happens any more: all was consumed once, in order, and answered. */
        @Override
        protected boolean isAtRest(boolean moves) {
            if (!moves) {
                checkRest();
            }
            return !moves;
        }

        private void checkRest() {
            List<String> consumed = new ArrayList<>();
            List<String> answered = new ArrayList<>();
            for (int message = 1; message <= size.messages(); message++) {
                consumed.add("C m" + message);
                answered.add("C am" + message);
            }
            expect(nodes.get(1), consumed);
            expect(nodes.get(0), answered);
            for (Node node : nodes) {
                if (node.core.report().channels().stream().anyMatch(it -> it.unacked() > 0)) {
                    fail(node.name + " rests with messages that were not acked");
                }
            }
        }

        private void expect(Node node, List<String> lines) {
            List<String> there = node.log.stream().filter(it -> it.startsWith("C ")).toList();
            if (!there.equals(lines)) {
                fail(node.name + " rests with " + there + " and not with " + lines);
            }
        }

        @Override
        protected String text() {
            StringBuilder text = new StringBuilder();
            text.append(crashes).append(' ').append(cuts).append('\n');
            for (Node node : nodes) {
                text.append(node.forced).append(node.written).append(node.reached);
                Exploration.describe(node.core, text, Set.of());
                text.append('\n');
            }
            for (Wire wire : wires) {
                text.append(wire.dialler.name)
                        .append(wire.toAcceptor)
                        .append(wire.toDialler)
                        .append('\n');
            }
            // Numbers of links only tell them apart.
            String all = text.toString();
            Map<String, String> renamed = new TreeMap<>();
            for (Wire wire : wires) {
                renamed.put("id=" + wire.atDialler.id() + ",", "id=" + wires.indexOf(wire) + "!");
            }
            for (Map.Entry<String, String> each : renamed.entrySet()) {
                all = all.replace(each.getKey(), each.getValue());
            }
            return all;
        }

        private final class Node {

            final String name;
            final Birth birth;
            final List<Incarnation> starts = new ArrayList<>();
            final Set<String> reached = new LinkedHashSet<>();
            List<Written> written = new ArrayList<>();
            int forced;
            ServiceCore core;
            List<String> log;

            Node(int index) {
                name = "s" + index;
                birth = new Birth(index + 1, 0);
            }

            void start() {
                forced = written.size();
                starts.add(new Incarnation(birth, starts.size() + 1, starts.size() + 1));
                core = new ServiceCore(name, starts, LIMITS);
                log = new ArrayList<>();
                for (Written each : written) {
                    core.recover(each.delta());
                    log.addAll(each.log());
                }
                reached.clear();
                perform(core.begin(List.of(), NOW));
            }

            void crash(int kept) {
                crashes++;
                for (Wire wire : List.copyOf(wires)) {
                    wires.remove(wire);
                    Node other = wire.dialler == this ? wire.acceptor : wire.dialler;
                    other.perform(
                            other.core.linkDown(
                                    wire.dialler == this ? wire.atAcceptor : wire.atDialler));
                }
                written = new ArrayList<>(written.subList(0, kept));
                start();
            }

            void force() {
                forced = written.size();
                perform(core.moved(Finals.turns(core.newestTurn())));
            }

            void append(Delta delta, List<String> lines) {
                List<Change> changes = new ArrayList<>(delta.changes());
                if (broken == ServiceWorld.Broken.K3_CONSUMED_NUMBER_APART) {
                    changes.removeIf(it -> it instanceof Change.Consumed);
                }
                if (broken == ServiceWorld.Broken.K3_SENDS_APART) {
                    changes.removeIf(it -> it instanceof Change.Sent);
                }
                written.add(
                        new Written(
                                new Delta(
                                        delta.turn(),
                                        delta.incarnation(),
                                        delta.nowMillis(),
                                        changes),
                                lines));
                log.addAll(lines);
                if (broken == ServiceWorld.Broken.K4_LEAVES_BEFORE_THE_FORCE) {
                    early.add(this);
                }
            }

            void perform(List<Action> actions) {
                for (Action action : actions) {
                    if (action instanceof Action.Append it) {
                        append(it.delta(), List.of());
                    } else if (action instanceof Action.Send it) {
                        wires.stream()
                                .filter(wire -> wire.atDialler.id() == it.link().id())
                                .findFirst()
                                .ifPresent(wire -> wire.add(this, it.frame()));
                    } else if (action instanceof Action.Reach it) {
                        reached.add(it.service());
                    } else if (action instanceof Action.Close it) {
                        List.copyOf(wires).stream()
                                .filter(wire -> wire.atDialler.id() == it.link().id())
                                .forEach(Wire::cut);
                    } else if (action instanceof Action.Halt it) {
                        fail(name + " halts: " + it.reason());
                    }
                }
                if (early.remove(this)) {
                    perform(core.moved(Finals.turns(core.newestTurn())));
                }
            }

            void turn() {
                perform(core.tick(NOW));
                Optional<Input> next = core.next(NOW);
                if (next.isEmpty() || !(next.get() instanceof Input.Message input)) {
                    return;
                }
                String type = input.body().type();
                if (log.contains("C " + type)) {
                    fail(name + " consumes " + type + " twice");
                }
                List<Effects.Reply> replies =
                        type.startsWith("m")
                                ? List.of(
                                        new Effects.Reply(
                                                input.peer(),
                                                input.number(),
                                                new Body("a" + type, new byte[0])))
                                : List.of();
                append(
                        core.commit(
                                new Effects(
                                        List.of(), List.of(), List.of(), List.of(), replies, 0,
                                        false)),
                        List.of("C " + type));
                perform(List.of());
            }
        }

        private final Set<Node> early = new LinkedHashSet<>();

        private final class Wire {

            final Node dialler;
            final Node acceptor;
            final Link atDialler;
            final Link atAcceptor;
            final ArrayDeque<Frame> toAcceptor = new ArrayDeque<>();
            final ArrayDeque<Frame> toDialler = new ArrayDeque<>();

            Wire(Node dialler, Node acceptor) {
                this.dialler = dialler;
                this.acceptor = acceptor;
                long id = ++ids;
                atDialler = new Link(id, acceptor.name, false);
                atAcceptor = new Link(id, dialler.name, false);
            }

            void add(Node from, Frame frame) {
                (from == dialler ? toAcceptor : toDialler).add(frame);
            }

            void deliver(boolean up) {
                Node to = up ? acceptor : dialler;
                Frame frame = (up ? toAcceptor : toDialler).remove();
                if (broken == ServiceWorld.Broken.K6_SENT_ONCE
                        && frame instanceof Frame.Msg
                        && cuts + crashes > 0) {
                    return;
                }
                to.perform(to.core.frame(up ? atAcceptor : atDialler, frame, NOW));
            }

            void cut() {
                wires.remove(this);
                dialler.perform(dialler.core.linkDown(atDialler));
                acceptor.perform(acceptor.core.linkDown(atAcceptor));
            }
        }
    }
}
