package io.saucr.services.core.once;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.once.Step.Outcome;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;

/**
 * A seeded run of one client's chain, over an ensemble that keeps a session's order and nothing
 * else: connections are cut at any moment; what was under way then arrives later, in any order, or
 * never; answers are lost; the client is killed and started again on what its journal had forced,
 * and the one before it may live on for a while.
 *
 * <p>Fault budget: in the first part everything above may happen; in the second nothing does, and
 * everything must be decided.
 */
final class OnceWorld {

    /** What is left out of the rules, each of which must be noticed. */
    enum Broken {
        NOTHING,
        /** E2: the ensemble takes a marker of any version. */
        E2_UNCHAINED,
        /** E3: a marker is only bumped: what was sent for the old one fits the new one, too. */
        E3_BUMPED,
        /** E3: the replacement does not depend on the parent's version. */
        E3_PARENT_UNCHECKED,
        /** E4: a refusal is reported without taking its number. */
        E4_NOT_CONSUMED,
        /** E5: every start is taken for one of the folder's. */
        E5_ANY_NONCE,
        /** E6: the child is not found by the marker's mzxid, but by its place. */
        E6_NEWEST_CHILD,
        /** E1: an operation is sent before it is forced. */
        E1_UNFORCED,
    }

    private static final Birth BIRTH = new Birth(7, 7);
    private static final int LATE = 5;

    final Random random;
    private final Broken broken;
    private final MarkerChain.Limits limits;

    // The ensemble.
    private int parentVersion = Reading.NO_PARENT;
    private final Map<String, Znode> markers = new HashMap<>();
    private long zxid;

    /** The latest start that has made a marker. */
    private long holder;

    /** Numbers in the order of their effects, twice where one took effect twice. */
    final List<Long> effects = new ArrayList<>();

    private final Map<String, Long> children = new TreeMap<>();

    /** Which operations the ensemble would refuse now. */
    private final Set<Long> refusing = new HashSet<>();

    // The world.
    private final List<Request> late = new ArrayList<>();
    private final List<Driver> drivers = new ArrayList<>();
    private final Set<Long> sequential = new HashSet<>();

    /** What reports said, from forced to told again: they must never contradict each other. */
    final Map<Long, String> reported = new TreeMap<>();

    final List<String> violations = new ArrayList<>();
    final List<String> stops = new ArrayList<>();
    long accepted;
    int starts;

    private static final class Znode {
        MarkerContent content;
        int version;
        long mzxid;

        Znode(MarkerContent content, long mzxid) {
            this.content = content;
            this.mzxid = mzxid;
        }
    }

    /** A multi on its way; answered once, or never. Two of the same content are two. */
    private static final class Request {
        final Step step;

        Request(Step step) {
            this.step = step;
        }
    }

    /** What a folder has on disk. */
    private static final class Journal {
        final List<Incarnation> starts = new ArrayList<>();
        long operations;
        boolean markerMade;
        long decided;
        final Set<Long> confirmed = new HashSet<>();

        Journal copy() {
            Journal copy = new Journal();
            copy.starts.addAll(starts);
            copy.operations = operations;
            copy.markerMade = markerMade;
            copy.decided = decided;
            copy.confirmed.addAll(confirmed);
            return copy;
        }
    }

    private Journal disk = new Journal();

    OnceWorld(long seed, Broken broken) {
        this.random = new Random(seed);
        this.broken = broken;
        this.limits =
                new MarkerChain.Limits(
                        1 + random.nextInt(6),
                        1 + random.nextInt(3),
                        1 + random.nextInt(300),
                        1 + random.nextInt(3),
                        2 + random.nextInt(12),
                        1 + random.nextInt(3));
    }

    /** One start of the client; a zombie is one whose successor was started already. */
    private final class Driver {
        final Journal journal;
        final Incarnation self;
        final MarkerChain chain;
        final Deque<Request> queue = new ArrayDeque<>();
        final Map<Request, Object> results = new HashMap<>();
        final Deque<Step> reads = new ArrayDeque<>();
        final List<Step.Report> reports = new ArrayList<>();
        long written;
        boolean zombie;
        boolean dead;

        Driver() {
            // The start is forced before anything else (K14).
            self = new Incarnation(BIRTH, disk.starts.size() + 1, random.nextLong());
            disk.starts.add(self);
            journal = disk;
            written = journal.operations;
            MarkerChain.Past past =
                    new MarkerChain.Past(
                            journal.starts,
                            journal.markerMade,
                            journal.decided,
                            journal.operations);
            chain =
                    broken == Broken.E5_ANY_NONCE
                            ? new MarkerChain("c", past, limits) {
                                @Override
                                boolean isKnown(Incarnation holder) {
                                    return true;
                                }
                            }
                            : new MarkerChain("c", past, limits);
            long last = 0;
            for (long number = 1; number <= journal.operations; number++) {
                if (!journal.confirmed.contains(number)) {
                    act(chain.submitted(number, sequential.contains(number), 100));
                    last = number;
                }
            }
            if (last > 0) {
                act(chain.forced(last));
            }
            act(chain.start());
        }

        void accept() {
            long number = ++accepted;
            written = number;
            if (random.nextInt(8) == 0) {
                sequential.add(number);
            }
            if (random.nextInt(6) == 0) {
                refusing.add(number);
            }
            act(chain.submitted(number, sequential.contains(number), 1 + random.nextInt(200)));
            if (broken == Broken.E1_UNFORCED) {
                act(chain.forced(number));
            }
        }

        void force() {
            if (written > journal.operations) {
                journal.operations = written;
                if (broken != Broken.E1_UNFORCED) {
                    act(chain.forced(written));
                }
            }
        }

        /** A report is told again after a crash, until it is forced. */
        void confirm() {
            if (reports.isEmpty()) {
                return;
            }
            Step.Report report = reports.remove(random.nextInt(reports.size()));
            journal.confirmed.add(report.number());
            journal.decided = Math.max(journal.decided, report.number());
            act(chain.confirmed(report.number()));
        }

        void act(List<Step> steps) {
            for (Step step : steps) {
                if (step instanceof Step.Report report) {
                    reports.add(report);
                    note(report);
                } else if (step instanceof Step.Stop stop) {
                    dead = true;
                    if (!zombie) {
                        stops.add(stop.reason());
                    }
                } else if (step instanceof Step.Read
                        || step instanceof Step.Find
                        || step instanceof Step.MakeParent) {
                    reads.add(step);
                } else if (step instanceof Step.Send send
                        && broken == Broken.E4_NOT_CONSUMED
                        && send.first() > send.last()) {
                    // The number is not taken; the next request finds the version that this one
                    // would have left.
                    Znode marker = markers.get(send.marker());
                    if (marker != null && marker.version == send.version()) {
                        marker.version++;
                    }
                    Request request = new Request(send);
                    results.put(request, new Answer.Done());
                    queue.add(request);
                } else {
                    queue.add(new Request(step));
                }
            }
        }

        /**
         * The connection breaks: what was under way may arrive later, and nobody learns what became
         * of it.
         */
        void cut() {
            for (Request request : queue) {
                if (!results.containsKey(request) && random.nextInt(3) > 0) {
                    late.add(request);
                }
                if (request.step instanceof Step.Send) {
                    results.put(request, new Answer.Unknown(true));
                } else {
                    results.put(request, new Object());
                }
            }
        }

        /** The oldest request that was not handled arrives. */
        boolean arrive() {
            for (Request request : queue) {
                if (!results.containsKey(request)) {
                    results.put(request, apply(request.step));
                    return true;
                }
            }
            return false;
        }

        /** The oldest answer arrives, or a look is taken. */
        boolean answer() {
            Request oldest = queue.peek();
            if (oldest != null && results.containsKey(oldest)) {
                queue.remove();
                Object result = results.remove(oldest);
                if (oldest.step instanceof Step.Send send) {
                    act(chain.answered(send.request(), (Answer) result));
                }
                return true;
            }
            if (queue.isEmpty() && !reads.isEmpty()) {
                look(reads.remove());
                return true;
            }
            return false;
        }

        private void look(Step step) {
            if (step instanceof Step.MakeParent) {
                if (parentVersion == Reading.NO_PARENT) {
                    parentVersion = 0;
                }
                reads.add(new Step.Read());
            } else if (step instanceof Step.Find find) {
                String name = null;
                for (Map.Entry<String, Long> child : children.entrySet()) {
                    if (child.getValue() == find.czxid() || broken == Broken.E6_NEWEST_CHILD) {
                        name = child.getKey();
                    }
                }
                act(chain.found(find.number(), name));
            } else {
                List<Reading.Marker> seen = new ArrayList<>();
                markers.forEach(
                        (name, z) ->
                                seen.add(new Reading.Marker(name, z.version, z.mzxid, z.content)));
                journal.markerMade |= !seen.isEmpty() && !zombie;
                act(chain.read(new Reading(parentVersion, seen)));
            }
        }

        private void note(Step.Report report) {
            String said = said(report.number(), report.outcome());
            String before = reported.get(report.number());
            // A crash may take a name that nobody was told for good; else what is told again is the
            // same.
            if (before != null
                    && !before.equals(said)
                    && !(before.startsWith("created") && said.equals("created, name unknown"))) {
                violations.add(
                        "operation " + report.number() + ": first " + before + ", then " + said);
            }
            reported.put(report.number(), said);
        }
    }

    private String said(long number, Outcome outcome) {
        if (outcome instanceof Outcome.Refused refused) {
            return refused.code() == MarkerChain.GAVE_UP ? "gave up" : "refused " + refused.code();
        } else if (outcome instanceof Outcome.CreatedNameUnknown) {
            return "created, name unknown";
        } else if (outcome instanceof Outcome.Created created) {
            return "created " + created.name();
        } else if (sequential.contains(number)) {
            return "created " + nameOf(number);
        }
        return "done";
    }

    /** The child that the operation made, as the answer of its request says. */
    private String nameOf(long number) {
        return children.keySet().stream()
                .filter(name -> name.endsWith("-op" + number))
                .findFirst()
                .orElse("nothing");
    }

    /** What the ensemble does with a request, whole or not at all. */
    private Object apply(Step step) {
        if (step instanceof Step.Replace replace) {
            return replace(replace);
        }
        Step.Send send = (Step.Send) step;
        Znode marker = markers.get(send.marker());
        if (marker == null || (marker.version != send.version() && broken != Broken.E2_UNCHAINED)) {
            return new Answer.MarkerMoved();
        }
        for (long number = send.first(); number <= send.last(); number++) {
            if (refusing.contains(number)) {
                return new Answer.Refused((int) (number - send.first()), -101);
            }
        }
        if (send.content().holder().number() < holder) {
            violations.add("start " + send.content().holder().number() + " wrote after " + holder);
        }
        zxid++;
        marker.version++;
        marker.content = send.content();
        marker.mzxid = zxid;
        for (long number = send.first(); number <= send.last(); number++) {
            effects.add(number);
            if (sequential.contains(number)) {
                children.put(String.format("%06d-op%d", zxid, number), zxid);
            }
        }
        return new Answer.Done();
    }

    private Object replace(Step.Replace replace) {
        Znode old = replace.old() == null ? null : markers.get(replace.old());
        boolean fits =
                (replace.parentVersion() == parentVersion || broken == Broken.E3_PARENT_UNCHECKED)
                        && (replace.old() == null
                                || (old != null && old.version == replace.oldVersion()));
        if (fits) {
            holder = Math.max(holder, replace.content().holder().number());
            zxid++;
            parentVersion++;
            if (broken == Broken.E3_BUMPED && old != null) {
                // The same znode under the new name: its version goes on, and who knows the old
                // name still reaches it.
                old.version = 0;
                old.content = replace.content();
                old.mzxid = zxid;
                aliases(replace.old(), replace.name(), old);
            } else {
                markers.remove(replace.old());
                markers.put(replace.name(), new Znode(replace.content(), zxid));
            }
        }
        return new Object();
    }

    private final Map<String, Znode> hidden = new HashMap<>();

    private void aliases(String old, String name, Znode znode) {
        markers.remove(old);
        markers.put(name, znode);
        hidden.put(old, znode);
    }

    private Object applyLate(Request request) {
        if (broken == Broken.E3_BUMPED
                && request.step instanceof Step.Send send
                && !markers.containsKey(send.marker())) {
            Znode znode = hidden.get(send.marker());
            String now =
                    markers.entrySet().stream()
                            .filter(e -> e.getValue() == znode)
                            .map(Map.Entry::getKey)
                            .findFirst()
                            .orElse(send.marker());
            return apply(
                    new Step.Send(
                            send.request(),
                            now,
                            send.version(),
                            send.content(),
                            send.first(),
                            send.last()));
        }
        return apply(request.step);
    }

    private Driver current() {
        return drivers.get(drivers.size() - 1);
    }

    void run(int steps) {
        start();
        for (int i = 0; i < steps; i++) {
            List<Driver> alive = drivers.stream().filter(each -> !each.dead).toList();
            if (alive.isEmpty()) {
                break;
            }
            Driver driver =
                    alive.get(
                            random.nextInt(3) == 0
                                    ? random.nextInt(alive.size())
                                    : alive.size() - 1);
            switch (random.nextInt(16)) {
                case 0, 1, 2 -> {
                    if (!driver.zombie) {
                        driver.accept();
                    }
                }
                case 3, 4 -> {
                    if (!driver.zombie) {
                        driver.force();
                    }
                }
                case 5, 6, 7 -> driver.arrive();
                case 8, 9, 10 -> driver.answer();
                case 11 -> {
                    if (!driver.zombie) {
                        driver.confirm();
                    }
                }
                case 12 -> {
                    if (random.nextInt(2) == 0) {
                        driver.cut();
                    } else if (random.nextInt(8) == 0) {
                        driver.act(driver.chain.disturbed());
                    }
                }
                case 13 -> arriveLate();
                case 14 -> {
                    refusing.removeIf(n -> random.nextInt(3) == 0);
                    if (random.nextInt(4) == 0) {
                        // Somebody else's, under the same prefix.
                        children.put(String.format("%06d-other", ++zxid), zxid);
                    }
                }
                default -> {
                    if (random.nextInt(4) == 0 && starts < 6) {
                        crash();
                    }
                }
            }
        }
        quiet();
        judge();
    }

    private void start() {
        starts++;
        drivers.add(new Driver());
        accepted = disk.operations;
    }

    /**
     * The client is killed; what was not forced is gone. One in three is only cut off, and lives on
     * for a while.
     */
    private void crash() {
        Driver old = current();
        // Operations that were not forced were never accepted for good: their numbers are given
        // again.
        for (long number = disk.operations + 1; number <= accepted; number++) {
            sequential.remove(number);
            refusing.remove(number);
            reported.remove(number);
        }
        if (random.nextInt(3) == 0) {
            disk = old.journal.copy();
            old.zombie = true;
            old.reports.clear();
        } else {
            old.cut();
            old.dead = true;
        }
        start();
    }

    private void arriveLate() {
        if (!late.isEmpty()) {
            applyLate(late.remove(random.nextInt(late.size())));
        }
    }

    private void quiet() {
        Driver last = current();
        last.force();
        for (int i = 0; i < 2000; i++) {
            if (i % LATE == 0) {
                arriveLate();
            }
            boolean moved = last.arrive();
            moved |= last.answer();
            last.confirm();
            if (!moved
                    && last.reports.isEmpty()
                    && late.isEmpty()
                    && last.reads.isEmpty()
                    && last.queue.isEmpty()) {
                return;
            }
        }
        violations.add("not at rest after 2000 steps");
    }

    private void judge() {
        Driver last = current();
        if (!stops.isEmpty()) {
            violations.add("stopped: " + stops);
            return;
        }
        long before = 0;
        for (long number : effects) {
            if (number <= before) {
                violations.add("operation " + number + " took effect after " + before);
            }
            before = number;
        }
        for (long number = 1; number <= last.journal.operations; number++) {
            String said = reported.get(number);
            boolean happened = effects.contains(number);
            if (said == null) {
                violations.add("operation " + number + " was never decided");
            } else if (happened != (said.equals("done") || said.startsWith("created"))) {
                violations.add(
                        "operation "
                                + number
                                + " was reported as "
                                + said
                                + ", and happened: "
                                + happened);
            } else if (said.startsWith("created ") && !said.equals("created " + nameOf(number))) {
                violations.add(
                        "operation " + number + ": " + said + ", and it is " + nameOf(number));
            }
        }
        if (effects.stream().anyMatch(number -> number > last.journal.operations)) {
            violations.add("an operation that was not accepted took effect: " + effects);
        }
    }
}
