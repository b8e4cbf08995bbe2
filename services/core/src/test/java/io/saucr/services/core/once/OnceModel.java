package io.saucr.services.core.once;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.once.Step.Outcome;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * One state of a client's starts and of the ensemble that they write to, small enough that every
 * way on can be taken. The chain is the real one. What was sent before a connection broke may
 * arrive at any time later, in any order, or never.
 *
 * <p>Properties, looked at with each effect, each report and wherever nothing moves any more:
 *
 * <ul>
 *   <li>once and in order: what takes effect is the operation behind the one before, as it was
 *       accepted;
 *   <li>no zombie: nothing that an earlier start sent takes effect once a later one has its marker;
 *   <li>true reports: done if and only if it took effect, with the name of its child, and the same
 *       whenever it is told;
 *   <li>true stops: nobody stops but a zombie, or behind the event that its reason names;
 *   <li>everything ends: without faults all that was accepted is decided.
 * </ul>
 */
final class OnceModel {

    /** What is left out of the rules, each of which must be noticed. */
    enum Broken {
        NOTHING,
        /** An operation is sent before it is forced. */
        E1_UNFORCED,
        /** The ensemble takes a marker of any version. */
        E2_UNCHAINED,
        /** A marker is written once more in place of being replaced. */
        E3_BUMPED,
        /** The next marker has the name of the one before. */
        E3_SAME_NAME,
        /** The next marker is made whatever version the parent has. */
        E3_ANY_PARENT,
        /** The marker is deleted whatever it says by now. */
        E3_ANY_VERSION,
        /** The next marker says nothing of what the one before said. */
        E3_NOT_HANDED_ON,
        /** What is refused leaves its number to the next operation. */
        E4_NOT_CONSUMED,
        /** A refusal is told before its number is taken. */
        E4_TOLD_EARLY,
        /** The marker does not keep refusals. */
        E4_FORGOTTEN,
        /** Every start is taken for one of the folder's. */
        E5_ANY_NONCE,
        /** A start goes on with the marker of the one before. */
        E5_NOT_REPLACED,
        /** An operation follows a sequential create whose report is not forced. */
        E6_FOLLOWED,
        /** The child is the newest one. */
        E6_NEWEST_CHILD,
        /** A replaced marker does not say when the child was made. */
        E6_NOT_HANDED_ON,
        /** A marker is used until its version wraps. */
        E8_NOT_REPLACED,
        /** A marker that is gone is made anew. */
        E9_GONE,
        /** Nobody remembers what was confirmed. */
        E9_BEHIND,
        /** The end of the journal is not looked at. */
        E9_AHEAD,
    }

    /**
     * How much there is of everything.
     *
     * @param operations that are accepted
     * @param sequential numbers of sequential creates
     * @param refused numbers of operations that the ensemble refuses until it is healed
     * @param limits of the chain
     * @param faults how often each kind of event may happen that is no progress; those that are not
     *     named don't
     */
    record Bounds(
            int operations,
            Set<Integer> sequential,
            Set<Integer> refused,
            MarkerChain.Limits limits,
            Map<Kind, Integer> faults) {}

    /** Whoever expects this version fits any, as with -1 in ZooKeeper (E8). */
    static final int WRAPS_AT = 4;

    /** The id of a stranger's child, behind all others. */
    private static final int STRANGERS = 1000;

    private static final Birth BIRTH = new Birth(7, 7);

    /** A multi that was sent, with the operations that it holds as they were accepted. */
    private record Request(int start, Step step, List<Integer> operations) {}

    /** A request on a connection; answered once it has been handled. */
    private record Sent(Request request, Answer answer) {}

    private record Znode(String shown, MarkerContent content, int version, long mzxid) {}

    /** What the servers have. Operations are known by {@link #id}. */
    private static final class Ensemble {
        int parentVersion = Reading.NO_PARENT;
        final TreeMap<String, Znode> markers = new TreeMap<>();
        final TreeMap<Integer, Long> children = new TreeMap<>();
        final List<Integer> effects = new ArrayList<>();

        /** The number of the last operation that took effect or was consumed. */
        long number;

        /** The latest start that has made a marker. */
        int holder;

        Ensemble copy() {
            Ensemble copy = new Ensemble();
            copy.parentVersion = parentVersion;
            copy.markers.putAll(markers);
            copy.children.putAll(children);
            copy.effects.addAll(effects);
            copy.number = number;
            copy.holder = holder;
            return copy;
        }

        void describe(StateText text) {
            text.add(parentVersion);
            markers.forEach(
                    (name, z) ->
                            text.add(name)
                                    .add(z.shown)
                                    .add(z.content)
                                    .add(z.version)
                                    .zxid(z.mzxid));
            children.forEach((id, zxid) -> text.add(id).zxid(zxid));
            text.add(effects).add(number).add(holder);
        }
    }

    /** What a folder has on its disk. */
    private static final class Folder {
        final List<Incarnation> starts = new ArrayList<>();
        final List<Integer> operations = new ArrayList<>();
        boolean markerMade;
        long confirmed;

        Folder copy() {
            Folder copy = new Folder();
            copy.starts.addAll(starts);
            copy.operations.addAll(operations);
            copy.markerMade = markerMade;
            copy.confirmed = confirmed;
            return copy;
        }

        void describe(StateText text) {
            text.add(starts).add(operations).add(markerMade).add(confirmed);
        }
    }

    private static final class Start {
        final int index;
        final MarkerChain chain;
        final Folder folder;
        final List<Integer> accepted = new ArrayList<>();
        final List<Sent> connection = new ArrayList<>();
        final Deque<Step> looks = new ArrayDeque<>();
        final Deque<Long> reports = new ArrayDeque<>();

        /** Under which name the one before is shown, where a rule is broken. */
        final Map<String, String> aliases = new TreeMap<>();

        boolean zombie;
        boolean ended;

        Start(int index, MarkerChain chain, Folder folder) {
            this.index = index;
            this.chain = chain;
            this.folder = folder;
        }

        String real(String name) {
            return aliases.getOrDefault(name, name);
        }

        void describe(StateText text) {
            text.add(index).add(zombie).add(ended);
            if (!ended) {
                text.add(chain).add(accepted).add(looks).add(reports).add(aliases);
                folder.describe(text);
                for (Sent sent : connection) {
                    text.add(sent.request.step).add(sent.request.operations).add(sent.answer);
                }
            }
        }
    }

    private final Bounds bounds;
    private final Broken broken;

    private Ensemble ensemble = new Ensemble();
    private Ensemble backup;
    private boolean refusing = true;
    private long zxid;

    private final List<Start> starts = new ArrayList<>();
    private Folder oldFolder;
    private final List<Request> late = new ArrayList<>();
    private final Map<Integer, String> told = new TreeMap<>();

    private final Map<Kind, Integer> faults = new EnumMap<>(Kind.class);

    private String violation;

    OnceModel(Bounds bounds, Broken broken) {
        this.bounds = bounds;
        this.broken = broken;
        begin(new Folder());
    }

    private OnceModel(OnceModel from) {
        bounds = from.bounds;
        broken = from.broken;
        ensemble = from.ensemble.copy();
        // Nobody changes a backup.
        backup = from.backup;
        refusing = from.refusing;
        zxid = from.zxid;
        for (Start start : from.starts) {
            starts.add(copy(start));
        }
        oldFolder = from.oldFolder;
        late.addAll(from.late);
        told.putAll(from.told);
        faults.putAll(from.faults);
        violation = from.violation;
    }

    OnceModel copy() {
        return new OnceModel(this);
    }

    private Start copy(Start from) {
        if (from.ended) {
            return from;
        }
        MarkerChain chain = chain(from.folder, from.folder.starts);
        ChainState.copy(from.chain, chain);
        Start copy = new Start(from.index, chain, from.folder.copy());
        copy.accepted.addAll(from.accepted);
        copy.connection.addAll(from.connection);
        copy.looks.addAll(from.looks);
        copy.reports.addAll(from.reports);
        copy.aliases.putAll(from.aliases);
        copy.zombie = from.zombie;
        return copy;
    }

    private MarkerChain chain(Folder folder, List<Incarnation> known) {
        MarkerChain.Past past =
                new MarkerChain.Past(
                        known,
                        folder.markerMade && broken != Broken.E9_GONE,
                        broken == Broken.E9_BEHIND ? 0 : folder.confirmed,
                        broken == Broken.E9_AHEAD ? 1000 : folder.operations.size());
        MarkerChain.Limits limits = bounds.limits();
        if (broken == Broken.E8_NOT_REPLACED || broken == Broken.E3_BUMPED) {
            limits =
                    new MarkerChain.Limits(
                            limits.window(),
                            limits.batchOperations(),
                            limits.batchBytes(),
                            limits.attempts(),
                            1 << 30,
                            limits.unreported());
        }
        return new MarkerChain("c", past, limits) {
            @Override
            boolean isKnown(Incarnation holder) {
                return broken == Broken.E5_ANY_NONCE || super.isKnown(holder);
            }
        };
    }

    StateText.Print print() {
        StateText text = new StateText();
        ensemble.describe(text);
        if (backup != null) {
            text.add("backup");
            backup.describe(text);
        }
        for (Start start : starts) {
            start.describe(text);
        }
        if (oldFolder != null) {
            text.add("old");
            oldFolder.describe(text);
        }
        // In which order they became late doesn't matter.
        List<Request> waiting = new ArrayList<>(late);
        waiting.sort(Comparator.comparing(OnceModel::place));
        for (Request request : waiting) {
            text.add(request.start).add(request.operations).add(request.step);
        }
        return text.add(told).add(refusing).add(faults).print();
    }

    private static String place(Request request) {
        return request.start
                + (request.step instanceof Step.Send send
                        ? " " + send.version() + " " + send.first()
                        : " replace");
    }

    /** What is wrong with this state, or null. */
    String violation() {
        return violation;
    }

    private void violated(String what) {
        if (violation == null) {
            violation = what;
        }
    }

    // Ways on.

    /** One way on. */
    record Event(Kind kind, int index) {
        @Override
        public String toString() {
            return kind + " " + index;
        }
    }

    enum Kind {
        /** The oldest request on the connection of a start is handled. */
        HANDLE,
        /** Its oldest answer arrives. */
        ANSWER,
        /** It looks. */
        LOOK,
        /** Its oldest report is forced. */
        CONFIRM,
        /** All that it accepted is forced. */
        FORCE,
        /** It accepts one more operation. */
        ACCEPT,
        /** A request of a broken connection arrives. */
        LATE,
        /** A connection breaks. */
        CUT,
        /** A request beside the chain has an open outcome. */
        DISTURB,
        /** The client dies; another start follows. */
        KILL,
        /** Another start follows while the client lives on. */
        ZOMBIE,
        /** Nothing is refused any more. */
        HEAL,
        /** Somebody else makes a sequential child beside the client's. */
        STRANGER,
        /** Somebody deletes the marker. */
        DELETE,
        BACKUP,
        /** The ensemble is what it was at the backup. */
        RESTORE,
        COPY_FOLDER,
        /** The client dies; a start on the copy of its folder follows. */
        OLD_FOLDER,
    }

    /** Every way on. Where only faults are left, the state is at rest. */
    List<Event> events() {
        List<Event> events = progress();
        for (int i = 0; i < late.size(); i++) {
            events.add(new Event(Kind.LATE, i));
        }
        for (Start start : starts) {
            if (!start.ended) {
                boolean open =
                        start.connection.stream()
                                .anyMatch(sent -> !(sent.answer instanceof Answer.Unknown));
                may(Kind.CUT, open, start.index, events);
                may(Kind.DISTURB, true, start.index, events);
            }
        }
        Start current = current();
        may(Kind.KILL, true, current.index, events);
        may(Kind.ZOMBIE, !current.ended, current.index, events);
        may(Kind.HEAL, refusing, 0, events);
        may(Kind.STRANGER, !ensemble.children.isEmpty(), 0, events);
        may(Kind.DELETE, !ensemble.markers.isEmpty(), 0, events);
        may(Kind.BACKUP, true, 0, events);
        may(Kind.RESTORE, backup != null, 0, events);
        may(Kind.COPY_FOLDER, true, current.index, events);
        may(Kind.OLD_FOLDER, oldFolder != null, current.index, events);
        return events;
    }

    private void may(Kind kind, boolean now, int index, List<Event> events) {
        if (now && happened(kind) < bounds.faults().getOrDefault(kind, 0)) {
            events.add(new Event(kind, index));
        }
    }

    private int happened(Kind fault) {
        return faults.getOrDefault(fault, 0);
    }

    private List<Event> progress() {
        List<Event> events = new ArrayList<>();
        for (Start start : starts) {
            if (start.ended) {
                continue;
            }
            int index = start.index;
            List<Sent> connection = start.connection;
            if (connection.stream().anyMatch(sent -> sent.answer == null)) {
                events.add(new Event(Kind.HANDLE, index));
            }
            if (!connection.isEmpty() && connection.get(0).answer != null) {
                events.add(new Event(Kind.ANSWER, index));
            }
            if (connection.isEmpty() && !start.looks.isEmpty()) {
                events.add(new Event(Kind.LOOK, index));
            }
            if (!start.zombie) {
                // A journal is forced in its order: no report before its operation.
                if (!start.reports.isEmpty()
                        && start.reports.peek() <= start.folder.operations.size()) {
                    events.add(new Event(Kind.CONFIRM, index));
                }
                if (start.accepted.size() > start.folder.operations.size()) {
                    events.add(new Event(Kind.FORCE, index));
                }
                if (start.accepted.size() < bounds.operations()) {
                    events.add(new Event(Kind.ACCEPT, index));
                }
            }
        }
        return events;
    }

    /** Goes one way on. */
    void take(Event event) {
        Start start = event.index() < starts.size() ? starts.get(event.index()) : null;
        if (bounds.faults().containsKey(event.kind())) {
            faults.merge(event.kind(), 1, Integer::sum);
        }
        try {
            switch (event.kind()) {
                case HANDLE -> handle(start);
                case ANSWER -> {
                    Sent sent = start.connection.remove(0);
                    if (sent.request.step instanceof Step.Send send) {
                        act(start, start.chain.answered(send.request(), sent.answer));
                    }
                }
                case LOOK -> look(start, start.looks.remove());
                case CONFIRM -> confirm(start);
                case FORCE -> force(start);
                case ACCEPT -> accept(start);
                case LATE -> {
                    Answer unused = apply(late.remove(event.index()));
                }
                case CUT -> cut(start);
                case DISTURB -> act(start, start.chain.disturbed());
                case KILL -> {
                    end(start);
                    begin(start.folder.copy());
                }
                case ZOMBIE -> {
                    start.zombie = true;
                    start.reports.clear();
                    begin(start.folder.copy());
                }
                case HEAL -> refusing = false;
                case STRANGER -> ensemble.children.put(STRANGERS, ++zxid);
                case DELETE -> ensemble.markers.clear();
                case BACKUP -> backup = ensemble.copy();
                case RESTORE -> ensemble = backup.copy();
                case COPY_FOLDER -> oldFolder = start.folder.copy();
                case OLD_FOLDER -> {
                    end(start);
                    begin(oldFolder.copy());
                }
            }
        } catch (IllegalStateException | IllegalArgumentException e) {
            violated("the chain threw " + e);
        }
    }

    private Start current() {
        return starts.get(starts.size() - 1);
    }

    private void begin(Folder folder) {
        int index = starts.size();
        // Nonces are as different as the starts are; the numbers of twins are the same.
        folder.starts.add(new Incarnation(BIRTH, folder.starts.size() + 1, index));
        Start start = new Start(index, chain(folder, folder.starts), folder);
        starts.add(start);
        start.accepted.addAll(folder.operations);
        for (long number = folder.confirmed + 1; number <= folder.operations.size(); number++) {
            act(start, start.chain.submitted(number, isSequential(number), 100));
        }
        if (folder.confirmed < folder.operations.size()) {
            act(start, start.chain.forced(folder.operations.size()));
        }
        act(start, start.chain.start());
    }

    /** Who has ended is not changed any more. */
    private void end(Start start) {
        if (!start.ended) {
            cut(start);
            start.ended = true;
        }
    }

    /** What was not handled may be later, and nobody learns what became of it. */
    private void cut(Start start) {
        List<Sent> connection = start.connection;
        for (int i = 0; i < connection.size(); i++) {
            Sent sent = connection.get(i);
            if (sent.answer == null) {
                late.add(sent.request);
            }
            connection.set(i, new Sent(sent.request, new Answer.Unknown(true)));
        }
    }

    private void accept(Start start) {
        long number = start.accepted.size() + 1L;
        start.accepted.add(id(number, start.index));
        act(start, start.chain.submitted(number, isSequential(number), 100));
        if (broken == Broken.E1_UNFORCED) {
            act(start, start.chain.forced(number));
        }
    }

    private void force(Start start) {
        List<Integer> operations = start.folder.operations;
        operations.addAll(start.accepted.subList(operations.size(), start.accepted.size()));
        if (broken != Broken.E1_UNFORCED) {
            act(start, start.chain.forced(operations.size()));
        }
    }

    private void confirm(Start start) {
        long number = start.reports.remove();
        start.folder.confirmed = number;
        if (broken != Broken.E6_FOLLOWED || !isSequential(number)) {
            act(start, start.chain.confirmed(number));
        }
    }

    /** An operation as it was accepted: its number, and by which start. */
    private static int id(long number, int start) {
        return (int) number * 10 + start;
    }

    private boolean isSequential(long number) {
        return bounds.sequential().contains((int) number);
    }

    // What the chain asks for.

    private void act(Start start, List<Step> steps) {
        for (Step step : steps) {
            if (step instanceof Step.Report report) {
                start.reports.add(report.number());
                tell(start, report);
                if (broken == Broken.E6_FOLLOWED && isSequential(report.number())) {
                    act(start, start.chain.confirmed(report.number()));
                }
            } else if (step instanceof Step.Stop stop) {
                stop(start, stop.reason());
            } else if (step instanceof Step.Send send) {
                send(start, send);
            } else if (step instanceof Step.Replace replace) {
                replace(start, replace);
            } else {
                start.looks.add(step);
            }
        }
    }

    private void send(Start start, Step.Send send) {
        if (send.first() > send.last() && broken == Broken.E4_TOLD_EARLY) {
            told.put(
                    start.accepted.get((int) send.last()),
                    "refused " + send.content().refusals().get(send.first()));
        }
        start.connection.add(
                new Sent(
                        new Request(
                                start.index,
                                send,
                                List.copyOf(
                                        start.accepted.subList(
                                                (int) send.first() - 1, (int) send.last()))),
                        null));
    }

    private void replace(Start start, Step.Replace replace) {
        if (broken == Broken.E5_NOT_REPLACED
                && replace.old() != null
                && !replace.content().holder().equals(holderNow())) {
            ensemble.holder = Math.max(ensemble.holder, start.index);
            start.aliases.put(replace.name(), start.real(replace.old()));
            return;
        }
        start.connection.add(new Sent(new Request(start.index, replace, List.of()), null));
    }

    private Incarnation holderNow() {
        return ensemble.markers.isEmpty()
                ? null
                : ensemble.markers.firstEntry().getValue().content.holder();
    }

    private void look(Start start, Step step) {
        if (step instanceof Step.MakeParent) {
            ensemble.parentVersion = Math.max(0, ensemble.parentVersion);
            start.looks.addFirst(new Step.Read());
        } else if (step instanceof Step.Find find) {
            String name = null;
            for (Map.Entry<Integer, Long> child : ensemble.children.entrySet()) {
                if (child.getValue() == find.czxid() || broken == Broken.E6_NEWEST_CHILD) {
                    name = "child-" + child.getKey();
                }
            }
            act(start, start.chain.found(find.number(), name));
        } else {
            List<Reading.Marker> seen = new ArrayList<>();
            ensemble.markers.forEach(
                    (name, z) -> {
                        String shown = z.shown;
                        for (Map.Entry<String, String> alias : start.aliases.entrySet()) {
                            if (alias.getValue().equals(shown)) {
                                shown = alias.getKey();
                            }
                        }
                        seen.add(new Reading.Marker(shown, z.version, z.mzxid, z.content));
                    });
            start.folder.markerMade |= !seen.isEmpty();
            act(start, start.chain.read(new Reading(ensemble.parentVersion, seen)));
        }
    }

    private void stop(Start start, String reason) {
        end(start);
        boolean restored = happened(Kind.RESTORE) > 0;
        boolean oldFolderUsed = happened(Kind.OLD_FOLDER) > 0;
        boolean isTrue;
        if (reason.contains("is missing")) {
            isTrue = restored || happened(Kind.DELETE) > 0;
        } else if (reason.contains("went back")) {
            isTrue = restored;
        } else if (reason.contains("was sent from this folder")) {
            isTrue = oldFolderUsed;
        } else {
            isTrue = reason.contains("is run by another start") && (start.zombie || oldFolderUsed);
        }
        if (!isTrue) {
            violated("start " + start.index + " stopped: " + reason);
        }
    }

    private void tell(Start start, Step.Report report) {
        int id = start.accepted.get((int) report.number() - 1);
        boolean happened = ensemble.effects.contains(id);
        String child = "created child-" + id;
        String said;
        if (report.outcome() instanceof Outcome.Refused refused) {
            said = "refused " + refused.code();
        } else if (report.outcome() instanceof Outcome.Created created) {
            said = "created " + created.name();
        } else if (report.outcome() instanceof Outcome.CreatedNameUnknown) {
            said = "created, name unknown";
        } else if (report.outcome() instanceof Outcome.Done && isSequential(report.number())) {
            said = child;
        } else {
            said = "done";
        }
        String truth = !happened ? "" : isSequential(report.number()) ? child : "done";
        // A restored ensemble may not have any more what was told of it.
        if (happened(Kind.RESTORE) == 0
                && (happened || !said.startsWith("refused"))
                && !said.equals(truth)) {
            violated("operation " + id + " is told as " + said + ", and is: " + truth);
        }
        String before = told.put(id, said);
        if (happened(Kind.RESTORE) == 0 && before != null && !before.equals(said)) {
            violated("operation " + id + " was told as " + before + ", then as " + said);
        }
    }

    // What the ensemble does.

    private void handle(Start start) {
        for (int i = 0; i < start.connection.size(); i++) {
            Sent sent = start.connection.get(i);
            if (sent.answer == null) {
                start.connection.set(i, new Sent(sent.request, apply(sent.request)));
                return;
            }
        }
        throw new AssertionError("nothing to handle");
    }

    private Answer apply(Request request) {
        if (request.step instanceof Step.Replace replace) {
            return applyReplace(request.start, replace);
        }
        Step.Send send = (Step.Send) request.step;
        String name =
                isNameKept() && !ensemble.markers.isEmpty()
                        ? ensemble.markers.firstKey()
                        : starts.get(request.start).real(send.marker());
        Znode marker = ensemble.markers.get(name);
        if (marker == null
                || (marker.version != send.version()
                        && (send.version() != WRAPS_AT || broken == Broken.E3_BUMPED)
                        && broken != Broken.E2_UNCHAINED)) {
            return new Answer.MarkerMoved();
        }
        for (long number = send.first(); number <= send.last(); number++) {
            if (refusing && bounds.refused().contains((int) number)) {
                return new Answer.Refused((int) (number - send.first()), -101);
            }
        }
        zxid++;
        MarkerContent content = send.content();
        boolean alone = send.first() > send.last();
        if (alone && broken == Broken.E4_NOT_CONSUMED) {
            content = marker.content;
        } else {
            takeEffect(request, send);
        }
        if (broken == Broken.E4_FORGOTTEN) {
            content = new MarkerContent(content.holder(), content.number());
        }
        ensemble.markers.put(name, new Znode(marker.shown, content, marker.version + 1, zxid));
        return new Answer.Done();
    }

    private void takeEffect(Request request, Step.Send send) {
        if (request.start < ensemble.holder && happened(Kind.RESTORE) == 0) {
            violated("start " + request.start + " wrote after " + ensemble.holder + " took over");
        }
        long from = send.first();
        long to = Math.max(send.first(), send.last());
        if (from != ensemble.number + 1) {
            violated("operation " + from + " is decided after " + ensemble.number);
        }
        for (int id : request.operations) {
            if (happened(Kind.RESTORE) == 0 && told.getOrDefault(id, "").startsWith("refused")) {
                violated("operation " + id + " happens after it was told as " + told.get(id));
            }
            ensemble.effects.add(id);
            if (isSequential(id / 10)) {
                ensemble.children.put(id, zxid);
            }
        }
        ensemble.number = to;
    }

    private boolean isNameKept() {
        return broken == Broken.E3_BUMPED || broken == Broken.E3_SAME_NAME;
    }

    private Answer applyReplace(int start, Step.Replace replace) {
        String old = replace.old() == null ? null : starts.get(start).real(replace.old());
        String name = replace.name();
        if (isNameKept() && old != null && !ensemble.markers.isEmpty()) {
            old = ensemble.markers.firstKey();
            name = old;
        }
        Znode before = old == null ? null : ensemble.markers.get(old);
        boolean fits =
                (replace.parentVersion() == ensemble.parentVersion
                                || broken == Broken.E3_ANY_PARENT)
                        && (old == null
                                || (before != null
                                        && (before.version == replace.oldVersion()
                                                || broken == Broken.E3_ANY_VERSION)))
                        && (name.equals(old) || !ensemble.markers.containsKey(name));
        if (!fits) {
            return new Answer.MarkerMoved();
        }
        zxid++;
        ensemble.parentVersion++;
        MarkerContent content = replace.content();
        if (broken == Broken.E6_NOT_HANDED_ON) {
            content =
                    new MarkerContent(
                            content.holder(),
                            content.number(),
                            content.refusals(),
                            new TreeMap<>());
        } else if (broken == Broken.E3_NOT_HANDED_ON) {
            content = new MarkerContent(content.holder(), content.number());
        }
        if (old != null) {
            ensemble.markers.remove(old);
        }
        int version = broken == Broken.E3_BUMPED && before != null ? before.version + 1 : 0;
        ensemble.markers.put(name, new Znode(replace.name(), content, version, zxid));
        ensemble.holder = Math.max(ensemble.holder, start);
        return new Answer.Done();
    }

    /** Whether nothing moves without a fault, so that everything has to be decided; then it is. */
    boolean isAtRest() {
        if (!progress().isEmpty()) {
            return false;
        }
        Start last = current();
        if (!last.ended) {
            for (int id : last.folder.operations) {
                if (!told.containsKey(id)) {
                    violated("operation " + id + " is never decided");
                }
            }
            if (last.folder.confirmed < bounds.operations()) {
                violated("no more than " + last.folder.confirmed + " are confirmed at rest");
            }
        }
        return true;
    }
}
