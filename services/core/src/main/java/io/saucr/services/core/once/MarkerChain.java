package io.saucr.services.core.once;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.once.Step.Outcome;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Decides what a once client sends, so that each of its operations takes effect exactly once, in
 * order, or is refused as it reports (E1 to E9). Operations have numbers from 1 without a gap. Each
 * request is one multi that first sets a marker, on the version that the request before it leaves,
 * to the number of its last operation: so those that happened are a prefix, and the marker says how
 * long it is.
 *
 * <p>States and what ends them:
 *
 * <pre>
 * READING    after a start, or whatever leaves an outcome open; {@link #read} ends it
 * REPLACING  a new marker is on its way; the next look ends it
 * RUNNING    requests are sent
 * SETTLING   one was refused or its outcome is open: wait until all that are under way are answered
 * CONSUMING  a write of the marker alone takes the number of an operation that was refused or given up
 * NAMING     the child of a sequential create is looked for, or its report is not forced: nothing follows (E6)
 * STOPPED    for ever
 * </pre>
 *
 * <p>The code that drives it writes an operation to its journal before {@link #submitted}, says
 * what is forced, does the steps in their order, and answers each once. Used by one thread.
 */
public class MarkerChain {

    /**
     * The code of an operation that was given up, as it broke one connection after the other (E4).
     */
    public static final int GAVE_UP = Integer.MIN_VALUE;

    /**
     * With so many requests under way the next waits until it is full or one of them is answered:
     * what is given meanwhile shares its marker (E2). One would leave the ensemble idle while the
     * answer travels.
     */
    private static final int REQUESTS = 4;

    /**
     * Limits of one client.
     *
     * @param window operations under way at most, from 1
     * @param batchOperations in one request at most, from 1
     * @param batchBytes of the operations of one request at most; a single one may be larger
     * @param attempts connections that an operation, alone under way, may break before it is given
     *     up, from 1
     * @param replaceAtVersion a marker with this version is replaced (E8), from 1, far below {@code
     *     Integer.MAX_VALUE}
     * @param unreported refusals that may wait for their reports at most, from 1 to 1000, as the
     *     marker holds them: then nothing more is sent
     */
    public record Limits(
            int window,
            int batchOperations,
            int batchBytes,
            int attempts,
            int replaceAtVersion,
            int unreported) {

        /**
         * 256 under way, 64 in one request of at most 128 KB, 5 attempts, replaced after 2^30
         * writes, 1000 refusals.
         */
        public static Limits usual() {
            return new Limits(256, 64, 128 << 10, 5, 1 << 30, 1000);
        }

        public Limits {
            if (window < 1
                    || batchOperations < 1
                    || batchBytes < 1
                    || attempts < 1
                    || replaceAtVersion < 1
                    || replaceAtVersion > 1 << 30
                    || unreported < 1
                    || unreported > 1000) {
                throw new IllegalArgumentException(
                        "limits begin at 1; replaceAtVersion ends at 2^30, unreported at 1000");
            }
        }
    }

    /**
     * What a folder knows of the time before this start.
     *
     * @param known all starts of the folder in order, this one the last
     * @param markerMade whether a marker of this client was seen by an earlier start
     * @param confirmed the highest number of which an earlier start is known to have seen that it
     *     happened or was refused; 0 for none
     * @param journaled the highest number in the journal, 0 for none
     * @param instead births whose marker this one replaces, by an operator's order alone (E5, E9)
     */
    public record Past(
            List<Incarnation> known,
            boolean markerMade,
            long confirmed,
            long journaled,
            Set<Birth> instead) {

        /** Of a client that replaces no other. */
        public Past(List<Incarnation> known, boolean markerMade, long confirmed, long journaled) {
            this(known, markerMade, confirmed, journaled, Set.of());
        }

        public Past {
            known = List.copyOf(known);
            instead = Set.copyOf(instead);
            if (known.isEmpty() || confirmed < 0 || journaled < confirmed) {
                throw new IllegalArgumentException(
                        "a start is known, and confirmed "
                                + confirmed
                                + " is from 0 to "
                                + journaled);
            }
        }
    }

    private enum State {
        READING,
        REPLACING,
        RUNNING,
        SETTLING,
        CONSUMING,
        NAMING,
        STOPPED,
    }

    private static final class Operation {
        final long number;
        final boolean sequential;
        final int bytes;
        int brokenConnections;

        Operation(long number, boolean sequential, int bytes) {
            this.number = number;
            this.sequential = sequential;
            this.bytes = bytes;
        }
    }

    private final String client;
    private final Incarnation self;
    private final Limits limits;
    private final Set<Incarnation> known;
    private final long confirmedBefore;
    private final Set<Birth> replaced;

    private State state = State.READING;
    private boolean markerMade;

    /** Not decided yet, by number. */
    private final SortedMap<Long, Operation> open = new TreeMap<>();

    /** Decided, their reports not forced yet. */
    private final SortedSet<Long> unreported = new TreeSet<>();

    private long submitted;
    private long forced;

    /** Up to this number a start of the folder, this one included, may have sent operations. */
    private long sentUpTo;

    private long lastRequest;

    /** Names that this start has tried since it last held a marker. */
    private final Set<String> tried = new HashSet<>();

    private long names;

    /** The marker that this start writes to, with content and version as far as they are known. */
    private String marker;

    private MarkerContent content;
    private int version;
    private int parentVersion;

    private final Deque<Step.Send> underWay = new ArrayDeque<>();

    /**
     * Up to this number each operation has a request of its own, as one of them was refused in a
     * larger one.
     */
    private long aloneUpTo;

    /**
     * Whether nothing has happened since a connection was lost: one operation at a time, to learn
     * which one breaks it.
     */
    private boolean cautious;

    /** Whether an outcome is open, so that a look has to follow. */
    private boolean look;

    /** Whether the marker is replaced as soon as all that is under way is answered. */
    private boolean replacementWanted;

    /** The sequential create on whose report everything waits (E6). */
    private long awaited;

    private long refusedNumber;
    private int refusedCode;

    /**
     * A chain at its start; the first step is a look.
     *
     * @param client its name, for messages
     * @param past what the folder knows
     * @param limits of what is under way
     */
    public MarkerChain(String client, Past past, Limits limits) {
        this.client = client;
        this.self = past.known().get(past.known().size() - 1);
        this.known = Set.copyOf(past.known());
        this.markerMade = past.markerMade();
        this.confirmedBefore = past.confirmed();
        this.sentUpTo = past.journaled();
        this.replaced = past.instead();
        this.limits = limits;
    }

    /** The first step. */
    public List<Step> start() {
        return List.of(new Step.Read());
    }

    /**
     * An operation has a number now. Those of the journal come first, in the order of their
     * numbers, before {@link #start}; those whose reports are forced are left out.
     *
     * @param number greater than all before
     * @param sequential whether it is a sequential create (E6)
     * @param bytes about how much it takes in a request
     */
    public List<Step> submitted(long number, boolean sequential, int bytes) {
        if (number <= submitted) {
            throw new IllegalArgumentException("operation " + number + " after " + submitted);
        }
        submitted = number;
        open.put(number, new Operation(number, sequential, bytes));
        return go();
    }

    /** Operations up to this number are forced in the journal, so that they may be sent (E1). */
    public List<Step> forced(long number) {
        if (number > submitted || number < forced) {
            throw new IllegalArgumentException(
                    "synced up to " + number + " of " + submitted + ", before " + forced);
        }
        forced = number;
        return go();
    }

    /** The report of an operation is forced, or told for good. */
    public List<Step> confirmed(long number) {
        if (!unreported.remove(number)) {
            throw new IllegalArgumentException(
                    "operation " + number + " waits for no confirmation");
        }
        if (state == State.NAMING && number == awaited) {
            state = State.RUNNING;
        }
        return go();
    }

    /**
     * Something else that rests on {@link #parentVersion} has an open outcome: the marker is
     * replaced, so that it can't happen any more (E3, E7). The parent has another version then.
     */
    public List<Step> disturbed() {
        // What is on its way already comes behind whatever has an open outcome now.
        replacementWanted |= parentVersion().isPresent();
        return go();
    }

    /**
     * The version of the parent's data since this start's marker was made, or a smaller one; empty
     * while none is known to be there. Who makes it a condition does nothing once another start, or
     * a replacement, came after.
     */
    public OptionalInt parentVersion() {
        return switch (state) {
            case READING, REPLACING, STOPPED -> OptionalInt.empty();
            case RUNNING, SETTLING, CONSUMING, NAMING -> OptionalInt.of(parentVersion);
        };
    }

    /** What a look has shown. */
    public List<Step> read(Reading reading) {
        if (state == State.STOPPED) {
            return List.of();
        }
        if (state != State.READING && state != State.REPLACING) {
            throw new IllegalStateException("nothing is read while " + state);
        }
        if (reading.markers().size() > 1) {
            return stop(
                    "there are "
                            + reading.markers().size()
                            + " markers of client "
                            + client
                            + ", and there is never more than one. Somebody else wrote there");
        }
        if (reading.markers().isEmpty()) {
            if (markerMade) {
                return stop(
                        "the marker of client "
                                + client
                                + " is missing: it was deleted, or the ensemble was restored from"
                                + " before."
                                + " Whether operations after number "
                                + highestDecided()
                                + " happened can't be known any more; nothing is created anew. Give the client a new"
                                + " name, or a new folder");
            }
            if (reading.parentVersion() == Reading.NO_PARENT) {
                return List.of(new Step.MakeParent());
            }
            return replace(reading.parentVersion(), null, 0, new MarkerContent(self, 0));
        }
        Reading.Marker found = reading.markers().get(0);
        Incarnation holder = found.content().holder();
        if (!markerMade && replaced.contains(holder.birth())) {
            // Nothing of the old birth can happen behind this (E3).
            return replace(
                    reading.parentVersion(),
                    found.name(),
                    found.version(),
                    new MarkerContent(self, 0));
        }
        if (!holder.birth().equals(self.birth())) {
            return stop(
                    "the name "
                            + client
                            + " is taken by generation "
                            + holder.birth()
                            + "; this one is "
                            + self.birth()
                            + ". Give the client another name, or use the folder of that generation");
        }
        if (!isKnown(holder)) {
            return stop(
                    "client "
                            + client
                            + " is run by another start: incarnation "
                            + holder.number()
                            + " with nonce "
                            + String.format("%016x", holder.nonce())
                            + ", which the folder of this one (incarnation "
                            + self.number()
                            + ") does not know. This folder is an old copy, or a twin");
        }
        markerMade = true;
        long happened = found.content().number();
        if (happened < highestDecided()) {
            return stop(
                    "the marker of client "
                            + client
                            + " went back: it says "
                            + happened
                            + ", but operation "
                            + highestDecided()
                            + " had happened or was refused. The ensemble was restored from before");
        }
        if (happened > sentUpTo) {
            // What was accepted since has other operations behind those numbers.
            return stop(
                    "the marker of client "
                            + client
                            + " says "
                            + happened
                            + ", but nothing behind "
                            + sentUpTo
                            + " was sent from this folder. It is an old copy, or its disk lost what"
                            + " it had synced");
        }
        if (tried.contains(found.name())) {
            parentVersion = reading.parentVersion();
            return resume(found);
        }
        return replace(reading.parentVersion(), found.name(), found.version(), handedOn(found));
    }

    /**
     * What the next marker says: the same number, and for a sequential create whose name is open
     * what this one's mzxid says.
     */
    private MarkerContent handedOn(Reading.Marker found) {
        MarkerContent old = found.content();
        Operation last = open.get(old.number());
        SortedMap<Long, Long> created = old.created();
        if (last != null
                && last.sequential
                && !old.refusals().containsKey(last.number)
                && !created.containsKey(last.number)) {
            created = MarkerContent.plus(created, last.number, found.mzxid());
        }
        return new MarkerContent(self, old.number(), old.refusals(), created)
                .without(this::isReported);
    }

    private boolean isReported(long number) {
        return !open.containsKey(number) && !unreported.contains(number);
    }

    private List<Step> replace(int parentVersion, String old, int oldVersion, MarkerContent next) {
        state = State.REPLACING;
        String name =
                String.format(Locale.ROOT, "m-%d-%016x-%d", self.number(), self.nonce(), ++names);
        tried.add(name);
        return List.of(
                new Step.Replace(parentVersion, old, oldVersion, name, next), new Step.Read());
    }

    /** The new marker is there, so nothing that was sent before can happen any more. */
    private List<Step> resume(Reading.Marker found) {
        tried.clear();
        marker = found.name();
        content = found.content();
        version = found.version();
        look = false;
        replacementWanted = false;
        refusedNumber = 0;
        List<Step> steps = new ArrayList<>();
        Step.Find find = null;
        for (Operation operation : List.copyOf(open.headMap(content.number() + 1).values())) {
            long number = operation.number;
            Integer code = content.refusals().get(number);
            if (code != null) {
                steps.add(decided(number, new Outcome.Refused(code)));
            } else if (operation.sequential) {
                Long czxid = content.created().get(number);
                if (czxid == null) {
                    // Its outcome was forced before anything followed, else it would be the last
                    // one.
                    steps.add(decided(number, new Outcome.CreatedNameUnknown()));
                } else {
                    awaited = number;
                    find = new Step.Find(number, czxid);
                }
            } else {
                steps.add(decided(number, new Outcome.Happened()));
            }
        }
        if (find != null) {
            state = State.NAMING;
            steps.add(find);
            return steps;
        }
        state = State.RUNNING;
        steps.addAll(go());
        return steps;
    }

    private Step.Report decided(long number, Outcome outcome) {
        open.remove(number);
        unreported.add(number);
        return new Step.Report(number, outcome);
    }

    /**
     * The child of a sequential create was looked for.
     *
     * @param number of the operation
     * @param name of the child, or null where no child has that czxid
     */
    public List<Step> found(long number, String name) {
        if (state == State.STOPPED) {
            return List.of();
        }
        if (state != State.NAMING || number != awaited || !open.containsKey(number)) {
            throw new IllegalStateException(
                    "operation " + number + " is not looked for while " + state);
        }
        return List.of(
                decided(
                        number,
                        name == null
                                ? new Outcome.CreatedNameUnknown()
                                : new Outcome.Created(name)));
    }

    /**
     * The oldest request under way was answered.
     *
     * @param request its number
     * @param answer what came back
     */
    public List<Step> answered(long request, Answer answer) {
        if (state == State.STOPPED) {
            return List.of();
        }
        Step.Send sent = underWay.peek();
        if (sent == null || sent.request() != request) {
            throw new IllegalStateException(
                    "request " + request + " is answered, and the oldest under way is " + sent);
        }
        underWay.remove();
        List<Step> steps = new ArrayList<>();
        if (answer instanceof Answer.Done) {
            if (state == State.SETTLING && look) {
                // One before it has an open outcome: the look that follows says how far it went.
            } else if (state == State.SETTLING) {
                return stop(
                        "request "
                                + request
                                + " of client "
                                + client
                                + " happened after one before it did not: the ensemble does not keep the order of a session");
            } else {
                happened(sent, steps);
            }
        } else if (answer instanceof Answer.Refused refused) {
            refused(sent, refused);
        } else if (answer instanceof Answer.Unknown unknown) {
            unknown(sent, unknown);
        } else {
            // Expected behind a request that was refused; else another start may have replaced the
            // marker.
            look |= state != State.SETTLING;
            state = State.SETTLING;
        }
        if (state == State.SETTLING && underWay.isEmpty()) {
            steps.addAll(settled());
        }
        steps.addAll(go());
        return steps;
    }

    private void happened(Step.Send sent, List<Step> steps) {
        content = sent.content();
        version++;
        cautious = false;
        if (sent.first() > sent.last()) {
            steps.add(decided(refusedNumber, new Outcome.Refused(refusedCode)));
            refusedNumber = 0;
            state = State.RUNNING;
            return;
        }
        for (long number = sent.first(); number <= sent.last(); number++) {
            boolean sequential = open.get(number).sequential;
            steps.add(
                    decided(
                            number,
                            new Outcome.Done(sent.request(), (int) (number - sent.first()))));
            if (sequential) {
                state = State.NAMING;
                awaited = number;
            }
        }
    }

    private void refused(Step.Send sent, Answer.Refused refused) {
        if (state == State.SETTLING) {
            // A marker that has moved is what comes first; who is refused anyway was not chained.
            look = true;
            return;
        }
        state = State.SETTLING;
        if (sent.first() == sent.last()) {
            refusedNumber = sent.first();
            refusedCode = refused.code();
        } else if (sent.first() < sent.last()) {
            aloneUpTo = Math.max(aloneUpTo, sent.last());
        } else {
            look = true;
        }
    }

    private void unknown(Step.Send sent, Answer.Unknown unknown) {
        boolean alone =
                underWay.isEmpty() && state != State.SETTLING && sent.first() == sent.last();
        if (alone && unknown.connectionLost()) {
            open.get(sent.first()).brokenConnections++;
        }
        cautious = true;
        look = true;
        state = State.SETTLING;
    }

    /** Nothing is under way any more. */
    private List<Step> settled() {
        if (look) {
            state = State.READING;
            return List.of(new Step.Read());
        }
        // What followed the one that was refused has not happened, and is sent again.
        if (refusedNumber != 0) {
            return consume();
        }
        state = State.RUNNING;
        return List.of();
    }

    private List<Step> consume() {
        state = State.CONSUMING;
        MarkerContent next =
                new MarkerContent(
                                self,
                                refusedNumber,
                                MarkerContent.plus(content.refusals(), refusedNumber, refusedCode),
                                content.created())
                        .without(n -> n != refusedNumber && isReported(n));
        return List.of(send(next, refusedNumber, refusedNumber - 1));
    }

    private Step.Send send(MarkerContent next, long first, long last) {
        Step.Send send =
                new Step.Send(++lastRequest, marker, version + underWay.size(), next, first, last);
        underWay.add(send);
        sentUpTo = Math.max(sentUpTo, next.number());
        return send;
    }

    /** Sends what may be sent. */
    private List<Step> go() {
        if (state != State.RUNNING) {
            return List.of();
        }
        List<Step> steps = new ArrayList<>();
        while (state == State.RUNNING) {
            if (replacementWanted || version + underWay.size() >= limits.replaceAtVersion()) {
                if (underWay.isEmpty()) {
                    state = State.READING;
                    steps.add(new Step.Read());
                }
                break;
            }
            if (content.refusals().size() >= limits.unreported()
                    && content.without(this::isReported).refusals().size() >= limits.unreported()) {
                break;
            }
            Operation next = next();
            if (next == null) {
                break;
            }
            if (next.brokenConnections >= limits.attempts()) {
                if (underWay.isEmpty()) {
                    refusedNumber = next.number;
                    refusedCode = GAVE_UP;
                    steps.addAll(consume());
                }
                break;
            }
            long last = batchFrom(next);
            if (last < next.number || waits(next, last)) {
                break;
            }
            MarkerContent then = newest().with(self, last).without(this::isReported);
            steps.add(send(then, next.number, last));
            if (next.sequential) {
                break;
            }
        }
        return steps;
    }

    /** What the marker says after all requests that are under way. */
    private MarkerContent newest() {
        return underWay.isEmpty() ? content : underWay.peekLast().content();
    }

    /** The first operation that was not sent and may be. */
    private Operation next() {
        if (!underWay.isEmpty()) {
            Step.Send newest = underWay.peekLast();
            if (open.get(newest.last()).sequential) {
                return null;
            }
        }
        SortedMap<Long, Operation> unsent = open.tailMap(newest().number() + 1);
        if (unsent.isEmpty() || unsent.firstKey() > forced) {
            return null;
        }
        return unsent.get(unsent.firstKey());
    }

    /**
     * The last operation of the request that begins with this one; smaller than it where there is
     * no room.
     */
    private long batchFrom(Operation first) {
        int room = cautious ? 1 : limits.window();
        for (Step.Send each : underWay) {
            room -= (int) (each.last() - each.first() + 1);
        }
        if (room < 1 || (first.sequential && !underWay.isEmpty())) {
            return first.number - 1;
        }
        if (first.sequential) {
            return first.number;
        }
        int most =
                first.number <= aloneUpTo || cautious
                        ? 1
                        : Math.min(room, limits.batchOperations());
        long last = first.number;
        int bytes = first.bytes;
        while (last - first.number + 1 < most) {
            Operation more = open.get(last + 1);
            if (more == null
                    || more.number > forced
                    || more.sequential
                    || bytes + more.bytes > limits.batchBytes()) {
                break;
            }
            bytes += more.bytes;
            last++;
        }
        return last;
    }

    /** Whether a request from this operation to that one is held back, as others may join it. */
    private boolean waits(Operation first, long last) {
        return underWay.size() >= REQUESTS
                && last >= forced
                && first.number > aloneUpTo
                && last - first.number + 1 < limits.batchOperations();
    }

    private List<Step> stop(String reason) {
        state = State.STOPPED;
        return List.of(new Step.Stop(reason));
    }

    /** The highest number that this start, or one before it, knows to be decided. */
    private long highestDecided() {
        return Math.max(confirmedBefore, content == null ? 0 : content.number());
    }

    /** Whether a start is one of this folder (E5). */
    boolean isKnown(Incarnation holder) {
        return known.contains(holder);
    }

    /** Whether the client has stopped for ever. */
    public boolean isStopped() {
        return state == State.STOPPED;
    }

    /** How many operations are not decided yet. */
    public int open() {
        return open.size();
    }
}
