package io.saucr.services.core.replay;

import io.saucr.services.core.replay.LaneRecord.Choice;
import io.saucr.services.core.replay.LaneRecord.Edge;
import io.saucr.services.core.replay.Resource.Release;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Records the events of one lane. The lane's thread calls it while it holds the resource of the
 * event: after it acquired it, and before it lets it go (X2). So an event's clock is published
 * before any other lane can come after it. Another thread may read what is published.
 *
 * <p>An edge is recorded only if the lane does not know the release yet, from its own past or from
 * earlier edges.
 */
public final class RecordedLane {

    /**
     * A list that one thread appends to while another one reads: fields of a link do not change.
     */
    private static final class Link {
        private final LaneRecord line;
        private Link next;

        Link(LaneRecord line) {
            this.line = line;
        }
    }

    private final int number;
    private final int[] known;
    private final AtomicBoolean deposed;
    private Link newest = new Link(null);
    private Link taken = newest;
    private HandlerHash hash;
    private boolean doomed;
    private volatile int published;

    RecordedLane(int number, int lanes, AtomicBoolean deposed) {
        this.number = number;
        this.deposed = deposed;
        known = new int[lanes + 1];
    }

    /**
     * An event happens.
     *
     * @param choice its result if it has one, else 0
     * @throws DeposedException if this member is not the primary any more
     */
    public void happened(LaneEvent event, int choice) {
        if (!event.allows(choice)) {
            throw new IllegalArgumentException(event + " can not have the result " + choice);
        }
        int clock = next();
        Resource resource = event.resource();
        boolean acquires = event.acquires(choice);
        hash.event(event, choice);
        if (acquires) {
            for (Release release : unknown(resource.before(event.shares()))) {
                add(
                        new Edge(
                                clock,
                                resource.number(),
                                resource.version(),
                                release.lane(),
                                release.clock()));
                join(release.known());
            }
            resource.acquired(event.shares());
        }
        if (event.chooses()) {
            add(new Choice(clock, choice));
        }
        known[number] = clock;
        if (event.releases()) {
            resource.released(event.shares(), new Release(number, clock, known.clone()));
        }
        published = clock;
    }

    /**
     * The request is killed: the lane throws an error into the handler.
     *
     * @param inside whether the lane stands inside the call of its last event; else it is about to
     *     do its next one
     */
    public void killed(boolean inside) {
        int clock = next();
        doomed = false;
        int choice = inside ? Choice.KILLED_INSIDE : Choice.KILLED_BEFORE;
        hash.killed(choice);
        add(new Choice(clock, choice));
        known[number] = clock;
        published = clock;
    }

    /**
     * Whether the request has no attempts left (X11). After a takeover the lane asks before it
     * returns to its handler: if so, it calls {@link #killed} and throws. A lane that waits for a
     * condition acquires its lock first.
     */
    public boolean isDoomed() {
        return doomed;
    }

    /** Adds bytes that the handler stored or sent, to be compared (X14). */
    public void saw(byte[] bytes) {
        hash.saw(bytes);
    }

    /** The clock of its newest event, which all threads may rely on. */
    int published() {
        return published;
    }

    /** A request of another primary continues here. */
    void continues(HandlerHash soFar, boolean withoutAttempts) {
        hash = soFar;
        doomed = withoutAttempts;
    }

    int hash() {
        return hash.value();
    }

    /** The turn thread begins a request, while nothing runs here. */
    int begun(int[] knownByTurns) {
        int clock = next();
        hash = new HandlerHash();
        doomed = false;
        join(knownByTurns);
        known[number] = clock;
        published = clock;
        return clock;
    }

    /** What the lane knows; while nothing runs here. */
    int[] known() {
        return known;
    }

    /** Reads, again and again, what is recorded up to a clock and was not taken. */
    void look(int until, Consumer<LaneRecord> at) {
        for (Link each = taken.next; each != null && each.line.clock() <= until; ) {
            at.accept(each.line);
            each = each.next;
        }
    }

    List<LaneRecord> take(int until) {
        List<LaneRecord> lines = new ArrayList<>();
        look(until, lines::add);
        for (int i = lines.size(); i > 0; i--) {
            taken = taken.next;
        }
        return lines;
    }

    /** The state, for messages and models. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        text.append(Arrays.toString(known)).append(published).append(doomed);
        look(Integer.MAX_VALUE, text::append);
        return text.append(hash == null ? 0 : hash.value()).toString();
    }

    private int next() {
        if (deposed.get()) {
            throw new DeposedException();
        }
        if (known[number] + 1 >= TraceFormat.MOST_CLOCK) {
            throw new IllegalStateException(
                    "lane " + number + " has no clocks left: no quiet cut since " + known[number]);
        }
        return known[number] + 1;
    }

    private void add(LaneRecord line) {
        Link link = new Link(line);
        newest.next = link;
        newest = link;
    }

    private void join(int[] other) {
        for (int lane = 0; lane < known.length; lane++) {
            known[lane] = Math.max(known[lane], other[lane]);
        }
    }

    /** Those that the lane does not know, without what another one of them implies. */
    private List<Release> unknown(List<Release> releases) {
        List<Release> unknown = new ArrayList<>(releases);
        unknown.removeIf(it -> known[it.lane()] >= it.clock());
        List<Release> all = List.copyOf(unknown);
        unknown.removeIf(
                it ->
                        all.stream()
                                .anyMatch(
                                        other ->
                                                !other.equals(it)
                                                        && other.known()[it.lane()] >= it.clock()));
        return unknown;
    }
}
