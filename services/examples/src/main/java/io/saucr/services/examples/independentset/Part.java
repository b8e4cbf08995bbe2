package io.saucr.services.examples.independentset;

import io.saucr.services.Caller;
import io.saucr.services.Handlers;
import io.saucr.services.ListState;
import io.saucr.services.MapState;
import io.saucr.services.Service;
import io.saucr.services.State;
import io.saucr.services.Turn;
import io.saucr.services.ValueState;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * One part of a graph, and its share of the graph's maximal independent set (section 5.2 of the
 * paper). Part i of k has the vertices whose numbers leave i when divided by k. A vertex is in once
 * all neighbours that come before it are out, and out once one of them is in; a part that decided
 * vertices tells the parts that have later neighbours of them.
 *
 * <p>Whatever crashes, however often and how many at once: each part continues where it was, no
 * decision is lost or counted twice, and the set is the one of {@link Graph#independentSet}.
 *
 * <p>A part works on one graph in its life.
 */
public final class Part implements Service {

    /** So many vertices' edges are looked at in one turn. */
    private static final int SLICE = 250;

    /** So many decisions at most are in one message. */
    private static final int MOST_DECISIONS = 10_000;

    private static final String NAME = "part";

    private final int number;
    private final int parts;
    private final ValueState<Graph> graph;
    private final ValueState<Integer> read;
    private final MapState<Integer, Integer> earlier;
    private final MapState<Integer, Vertices> later;
    private final MapState<Integer, Vertices> concerned;
    private final MapState<Integer, Boolean> decided;
    private final ListState<Decisions> early;
    private final ValueState<Caller> asked;
    private final MapState<Integer, Share> shares;

    /** Finds the set of this graph; for part 0, which tells the others. */
    public record Solve(Graph graph) {}

    /** To the one that asked: so large is the set, and this is its digest. */
    public record Solved(int size, long digest) {}

    /** To the one that asked for what cannot be. */
    public record Refused(String why) {}

    /** From part 0 to all: this is the graph. */
    public record Begin(Graph graph) {}

    /** Of a part to itself: more of the graph is to be read. */
    public record Read() {}

    /** From part to part: these vertices are decided. */
    public record Decisions(List<Integer> in, List<Integer> out) {}

    /** From each part to part 0: all its vertices are decided. */
    public record Share(int part, int size, long digest) {}

    /** Some vertices, or some parts. */
    public record Vertices(List<Integer> numbers) {

        static final Vertices NONE = new Vertices(List.of());

        Vertices with(int number) {
            List<Integer> more = new ArrayList<>(numbers);
            more.add(number);
            return new Vertices(more);
        }
    }

    /**
     * Which vertices of this part are in the set, from one on, so many at most; as {@link
     * Vertices}.
     */
    public record Members(int from, int most) {}

    /** How far it is. */
    public record Ask() {}

    /**
     * How far it is.
     *
     * @param read vertices of the graph whose edges it looked at, those of other parts included
     * @param decided vertices of its own
     * @param in those of them that are in the set
     */
    public record Progress(int read, int decided, int in) {}

    /**
     * A part.
     *
     * @param number from 0 on
     * @param parts how many there are
     */
    public Part(State state, int number, int parts) {
        this.number = number;
        this.parts = parts;
        graph = state.value("graph", Graph.class);
        read = state.value("read", Integer.class);
        earlier = state.map("earlier", Integer.class, Integer.class);
        later = state.map("later", Integer.class, Vertices.class);
        concerned = state.map("concerned", Integer.class, Vertices.class);
        decided = state.map("decided", Integer.class, Boolean.class);
        early = state.list("early", Decisions.class);
        asked = state.value("asked", Caller.class);
        shares = state.map("shares", Integer.class, Share.class);
    }

    static String name(int number) {
        return NAME + number;
    }

    @Override
    public void handlers(Handlers on) {
        on.message(Solve.class, this::solve);
        on.message(
                Begin.class,
                (begin, turn) -> {
                    graph.update(begin.graph());
                    read.update(0);
                    turn.send(name(number), new Read());
                });
        on.message(Read.class, (next, turn) -> read(turn));
        on.message(
                Decisions.class,
                (decisions, turn) -> {
                    if (isRead()) {
                        follow(List.of(decisions), turn);
                    } else {
                        early.add(decisions);
                    }
                });
        on.message(Share.class, this::share);
        on.query(Members.class, (members, turn) -> members(members.from(), members.most()));
        on.query(Ask.class, (ask, turn) -> progress());
    }

    private void solve(Solve solve, Turn turn) {
        if (number != 0) {
            turn.reply(new Refused("ask " + name(0) + ", which tells the others"));
        } else if (graph.value() != null && !graph.value().equals(solve.graph())) {
            turn.reply(new Refused("this is for " + graph.value()));
        } else if (asked.value() != null) {
            turn.reply(new Refused("somebody waits for the same already"));
        } else if (shares.size() == parts) {
            turn.reply(solved());
        } else {
            asked.update(turn.detach());
            graph.update(solve.graph());
            for (int part = 0; part < parts; part++) {
                turn.send(name(part), new Begin(solve.graph()));
            }
        }
    }

    private boolean isRead() {
        return graph.value() != null && read.orElse(0) == graph.value().vertices();
    }

    /** Looks at a slice of all edges and keeps those of its own vertices. */
    private void read(Turn turn) {
        Graph of = graph.value();
        int from = read.value();
        int to = Math.min(of.vertices(), from + SLICE);
        for (int vertex = from; vertex < to; vertex++) {
            if (isMine(vertex)) {
                earlier.putIfAbsent(vertex, 0);
            }
            for (int edge = 0; edge < of.edgesEach(); edge++) {
                int other = of.drawn(vertex, edge);
                if (of.before(vertex, other)) {
                    keep(vertex, other);
                } else if (other != vertex) {
                    keep(other, vertex);
                }
            }
        }
        read.update(to);
        if (to < of.vertices()) {
            turn.send(name(number), new Read());
            return;
        }
        List<Decisions> known = new ArrayList<>();
        early.forEach(known::add);
        early.clear();
        follow(known, turn);
    }

    /** Keeps an edge: who waits for whom, and which parts wait for vertices of this one. */
    private void keep(int first, int second) {
        if (isMine(second)) {
            Vertices known = later.getOrDefault(first, Vertices.NONE);
            if (!known.numbers().contains(second)) {
                later.put(first, known.with(second));
                earlier.merge(second, 1, Integer::sum);
            }
        } else if (isMine(first)) {
            Vertices known = concerned.getOrDefault(first, Vertices.NONE);
            int part = Math.floorMod(second, parts);
            if (!known.numbers().contains(part)) {
                concerned.put(first, known.with(part));
            }
        }
    }

    private boolean isMine(int vertex) {
        return Math.floorMod(vertex, parts) == number;
    }

    /**
     * Decides what follows from decisions of others, and from that, and so on. The first time it
     * decides what depends on nobody.
     */
    private void follow(List<Decisions> known, Turn turn) {
        Deque<Integer> toFollow = new ArrayDeque<>();
        Map<Integer, Boolean> others = new HashMap<>();
        for (Decisions decisions : known) {
            decisions.in().forEach(vertex -> others.put(vertex, true));
            decisions.out().forEach(vertex -> others.put(vertex, false));
        }
        toFollow.addAll(new TreeSet<>(others.keySet()));
        Map<Integer, Boolean> now = new TreeMap<>();
        if (decided.isEmpty()) {
            for (var vertex : earlier.entries()) {
                if (vertex.getValue() == 0) {
                    decide(vertex.getKey(), true, now, toFollow);
                }
            }
        }
        while (!toFollow.isEmpty()) {
            int first = toFollow.remove();
            boolean in = isMine(first) ? decided.get(first) : others.get(first);
            for (int second : later.getOrDefault(first, Vertices.NONE).numbers()) {
                int left = earlier.merge(second, -1, Integer::sum);
                if (!decided.contains(second) && (in || left == 0)) {
                    decide(second, !in, now, toFollow);
                }
            }
        }
        tell(now, turn);
        if (decided.size() == earlier.size() && (!now.isEmpty() || earlier.isEmpty())) {
            turn.send(name(0), mine());
        }
    }

    private void decide(
            int vertex, boolean in, Map<Integer, Boolean> now, Deque<Integer> toFollow) {
        decided.put(vertex, in);
        now.put(vertex, in);
        toFollow.add(vertex);
    }

    private void tell(Map<Integer, Boolean> now, Turn turn) {
        Map<Integer, Decisions> byPart = new TreeMap<>();
        now.forEach(
                (vertex, in) -> {
                    Vertices tells = concerned.getOrDefault(vertex, Vertices.NONE);
                    for (int part : tells.numbers()) {
                        Decisions decisions =
                                byPart.computeIfAbsent(
                                        part,
                                        it -> new Decisions(new ArrayList<>(), new ArrayList<>()));
                        (in ? decisions.in() : decisions.out()).add(vertex);
                        if (decisions.in().size() + decisions.out().size() == MOST_DECISIONS) {
                            turn.send(name(part), byPart.remove(part));
                        }
                    }
                });
        byPart.forEach((part, decisions) -> turn.send(name(part), decisions));
    }

    private Share mine() {
        List<Integer> in = new ArrayList<>();
        for (var vertex : decided.entries()) {
            if (vertex.getValue()) {
                in.add(vertex.getKey());
            }
        }
        return new Share(number, in.size(), Graph.digest(in));
    }

    private void share(Share share, Turn turn) {
        if (shares.putIfAbsent(share.part(), share) != null) {
            throw new IllegalStateException(name(share.part()) + " was done before");
        }
        if (shares.size() == parts) {
            turn.reply(asked.value(), solved());
            asked.clear();
        }
    }

    private Solved solved() {
        int size = 0;
        long digest = 0;
        for (Share share : shares.values()) {
            size += share.size();
            digest += share.digest();
        }
        return new Solved(size, digest);
    }

    private Vertices members(int from, int most) {
        TreeSet<Integer> in = new TreeSet<>();
        for (var vertex : decided.entries()) {
            if (vertex.getValue() && vertex.getKey() >= from) {
                in.add(vertex.getKey());
            }
        }
        return new Vertices(in.stream().limit(most).toList());
    }

    private Progress progress() {
        return new Progress(read.orElse(0), decided.size(), mine().size());
    }
}
