package io.saucr.services.core;

import io.saucr.services.core.speculation.Versions.Taking;
import io.saucr.services.core.speculation.Vertex;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;

/**
 * Services and clients over {@link ServiceCore}, with disks that lose what was not forced, links
 * that break with what is under way, clocks that jump, handlers that throw or kill, calls to the
 * world, births that are given up or declared gone, old copies of folders, and backups that go on
 * under a new birth. A seed chooses every step. Each message has a number of its own, so that it
 * can be counted who consumed it: at every step, and once more when everything was mended.
 *
 * <p>Faults: any number of crashes, between any two actions; links of which several join the same
 * two; folders that are put back or begun anew, but not both in one run, as who could have told an
 * old copy what it forgot may be gone.
 */
final class ServiceWorld {

    /** A rule that is left out, to see that it is missed. */
    enum Broken {
        NOTHING,
        /** A turn sees the state that is forced, not that of all turns before. */
        K1_STATE_OF_FORCED_TURNS,
        /** A message leaves during its turn, whose handler may throw. */
        K2_LEAVES_DURING_THE_TURN,
        /** Messages and acks leave before the force. */
        K4_LEAVES_BEFORE_THE_FORCE,
        /** The consumed number is not in the record. */
        K3_CONSUMED_NUMBER_APART,
        /** The outbox is not in the record. */
        K3_SENDS_APART,
        /** What was consumed is acked before the force. */
        K5_ACKED_BEFORE_THE_FORCE,
        /** What was not acked is not sent again. */
        K6_SENT_ONCE,
        /** A number that was consumed is taken again. */
        K7_DUPLICATES_TAKEN,
        /** What was found at a start counts as forced, and is not. */
        K9_TAIL_NOT_FORCED,
        /** Handlers run again for what a start finds. */
        K9_HANDLERS_REPLAYED,
        /** The base lacks the outbox. */
        K10_BASE_WITHOUT_OUTBOX,
        /** The base names a file of which not all is forced. */
        K10_FILE_NOT_FORCED,
        /** Messages go from a file when they are read, not when they are acked. */
        K10_FILE_GOES_EARLY,
        /** Number 1 leaves before both know the pair. */
        K11_PAIR_NOT_FORCED,
        /** Who is made anew keeps its birth. */
        K11_NUMBERS_INHERITED,
        /** Who put a message aside does not say so. */
        K12_SENDER_NOT_TOLD,
        /** Nor does it under a new birth. */
        K12_SENDER_NOT_TOLD_BY_A_NEW_BIRTH,
        /** Nor where the sender has a new birth, of what that sent. */
        K12_SENDER_NOT_TOLD_OF_A_NEW_BIRTH,
        /** That an input is tried is not recorded before. */
        K12_TRIED_FORGOTTEN,
        /** A message that is read from a file gets lost. */
        K13_LOST_IN_FILE,
        /** Messages come back from a file in another order. */
        K13_ORDER_BROKEN,
        /** A file stays when its messages are acked. */
        K13_SPACE_KEPT,
        /** A new birth keeps the outbox, and sends it again. */
        K11_OUTBOX_KEPT,
        /** That a new birth began is not recorded. */
        K11_BEGUN_AGAIN,
        /** Who is behind its own past is not told. */
        K14_HELLO_SAYS_NOTHING,
        /** What a gone birth has not acked is dropped. */
        K15_NOTHING_RETURNS,
        /** What is in the outbox of a birth that is replaced is dropped. */
        K15_OUTBOX_DROPPED,
        /** Who is told that its birth is gone has nothing back. */
        K15_REFUSED_WITHOUT_RETURN,
        /** A birth that is gone is dialled for ever. */
        K15_GONE_IS_DIALLED,
        /** What is given up is dropped. */
        K15_GIVEN_UP_AND_DROPPED,
        /** That a message came back is not recorded. */
        K15_RETURNS_AGAIN,
        /** Timers are not in the record. */
        K16_TIMERS_FORGOTTEN,
        /** That a timer went off is not in the record. */
        K16_TIMERS_GO_OFF_AGAIN,
        /** The wall's jumps are time that passes. */
        K16_WALL_IS_STEADY,
        /** A start does not know the time of the last record. */
        K16_TIME_FORGOTTEN,
        /** A call that did not return is not made by the next start. */
        K17_CALLS_FORGOTTEN,
        /** That an answer was consumed is not recorded. */
        K17_ANSWERED_AGAIN,
        /** A call's id is another at each start. */
        K17_ANOTHER_ID,
        /** A call's id is another under a new birth. */
        K17_ANOTHER_ID_OF_THE_BIRTH
    }

    private static final int ATTEMPTS = 3;

    /** A service that never is. */
    private static final String NOBODY = "nobody";

    /** Another one, to whom a message is sent when all is counted. */
    private static final String SOMEBODY = "somebody";

    private static final String GIVEN_UP = "nobody has that name";

    /** More than the attempts, as only the first input of a channel is on trial at a start. */
    private static final int MOST_DEATHS = 5 * ATTEMPTS;

    private static final int WINDOW = 4;
    private static final long SILENCE_MILLIS = 3_600_000;
    private static final long REPEAT_MILLIS = 70;
    private static final int STEPS_OF_A_START = 300;
    private static final int MOST_STEPS_TO_REST = 20_000;
    private static final int MOST_ROUNDS_TO_REST = 400;

    private final Random random;
    private final Broken broken;
    private final boolean tracing;
    private final Limits limits;
    private final List<Node> nodes = new ArrayList<>();
    private final List<Node> services = new ArrayList<>();
    private final List<Wire> wires = new ArrayList<>();

    /** The group of some services, or null. */
    final ServiceGroup group;

    /** Ends that have not heard yet that their link is gone. */
    private final List<Down> downs = new ArrayList<>();

    private long wallMillis = 1_000_000;
    private long steadyMillis;
    private long ids;
    private long uids;
    private boolean healing;

    /** Whether disks of members are idle. */
    private boolean calm;

    /** Whether folders are put back in this run; else they are begun anew. */
    private final boolean copies;

    private boolean copiesRan;

    /** Two folders of one service went on, and both were heard: there is no right end. */
    boolean diverged;

    private final Map<Long, Meta> metas = new HashMap<>();

    /** What was forced by births that are given up. */
    private final Map<Birth, Set<Line>> lostLogs = new HashMap<>();

    private final Set<Long> consumedByLost = new HashSet<>();

    /** What was forced by births that are given up, and is not in a backup that goes on. */
    private final Set<Line> lost = new HashSet<>();

    /**
     * Messages that were put aside, and the refusal went with the pair: their sender had an ack,
     * and hears no more (K11).
     */
    private final Set<Long> untold = new HashSet<>();

    /** Answers to clients that went with their pair: the call comes back (K11). */
    private final Set<Long> unanswered = new HashSet<>();

    /** Pairs that were over at least at one end. */
    private final Set<Set<Birth>> overPairs = new HashSet<>();

    private final Map<String, String> callIds = new HashMap<>();
    private final Map<String, String> callsById = new HashMap<>();
    private final Map<Long, Integer> deaths = new HashMap<>();
    private final Set<Long> sentOnce = new HashSet<>();
    private final Set<Node> early = new LinkedHashSet<>();

    /** What must not be. */
    final List<String> violations = new ArrayList<>();

    /** What happened, for people; only where it is asked for. */
    final ArrayDeque<String> trace = new ArrayDeque<>();

    int consumed;
    int crashes;
    int halts;

    /** What is known of a message from outside the services. */
    private static final class Meta {
        final Node from;
        final Birth birth;
        final String to;
        final boolean ofCopy;

        /** The message that it answers, or 0. */
        final long answers;

        /** Its place in all messages of that birth to that name. */
        long count;

        Body body;

        Meta(Node from, String to, boolean ofCopy, long answers) {
            this.from = from;
            this.birth = from.birth;
            this.to = to;
            this.ofCopy = ofCopy;
            this.answers = answers;
        }
    }

    /** What the state of a service or client says, beside the core. */
    enum Did {
        SENT,
        CONSUMED,
        /** The state was this before the turn. */
        SAW,
        CAME_BACK,
        TIMER_SET,
        TIMER_CANCELLED,
        TIMER_WENT_OFF,
        REPEATED,
        CALLED,
        HEARD_RESULT,
        /** A new birth began. */
        BORN,
        DETACHED,
        ANSWERED,
        PUT_ASIDE,
        RETRIED,
        /** The pair is on this disk. */
        OPENED,
        /** The number of that pair was consumed. */
        TOOK,
        /** The pair with that birth is over. */
        OVER
    }

    record Line(Did did, long id, String with) {}

    private static Line line(Did did, long id) {
        return new Line(did, id, "");
    }

    private record Down(Node node, ServiceCore core, Link link) {}

    private record Waiting(String peer, long number, long uid) {}

    private record TimerStart(long steadyMillis, long delayMillis) {}

    /**
     * One run of services and clients.
     *
     * @param tracing whether it remembers what happened
     */
    ServiceWorld(long seed, Broken broken, boolean tracing) {
        this(seed, broken, Optional.empty(), tracing);
    }

    /**
     * The same, with a group of which some services are members (D1 to D13).
     *
     * @param ofGroup the rule of groups that is left out; empty for a run without a group
     */
    ServiceWorld(long seed, Broken broken, Optional<ServiceGroup.Broken> ofGroup, boolean tracing) {
        this.random = new Random(seed * 0x9E3779B97F4A7C15L);
        this.broken = broken;
        this.tracing = tracing;
        boolean parks = random.nextInt(8) > 0;
        Limits common = new Limits(WINDOW, ATTEMPTS, parks, 10, 40, 4, SILENCE_MILLIS);
        limits = random.nextInt(3) == 0 ? common : common.outbox(1 + random.nextInt(3), 1 << 10);
        copies = random.nextInt(5) < 2 && ofGroup.isEmpty();
        int count = (ofGroup.isPresent() ? 3 : 2) + random.nextInt(random.nextInt(3) == 0 ? 3 : 2);
        for (int i = 0; i < count; i++) {
            services.add(new Node("s" + i, false));
        }
        nodes.addAll(services);
        for (int i = 0; i <= random.nextInt(2); i++) {
            nodes.add(new Node("c" + i, true));
        }
        group =
                ofGroup.map(
                                it ->
                                        new ServiceGroup(
                                                random,
                                                it,
                                                why -> check(false, "%s", why),
                                                tracing ? this::sayIfAsked : null))
                        .orElse(null);
        if (group != null) {
            int members = 2 + random.nextInt(count - 1);
            services.subList(0, members).forEach(it -> it.seat = group.join(it));
            group.begin();
        }
        nodes.forEach(Node::start);
    }

    private void sayIfAsked(String what) {
        if (tracing) {
            say("%s", what);
        }
    }

    private boolean areMembers(Node one, Node other) {
        return one.seat != null && other.seat != null;
    }

    private boolean isMember(String name) {
        return services.stream().anyMatch(it -> it.seat != null && it.name.equals(name));
    }

    // ---- nodes

    record Written(Delta delta, long nowMillis, List<Line> lines) {}

    /**
     * A base, and what it stands for.
     *
     * @param files which it names, and up to which count
     * @param all the turns that it holds; empty where it holds acks and results, too, that were
     *     heard and would have been recorded with the next turn
     */
    private record Folded(
            Delta delta,
            Map<Long, Long> files,
            long nowMillis,
            Map<Line, Long> log,
            Optional<List<Delta>> all) {}

    /** A service or client: its disk, and its process while that is up. */
    private final class Node implements ServiceGroup.Life {

        final String name;
        final boolean client;
        Birth birth = newGeneration();

        // The disk.
        List<Incarnation> starts = new ArrayList<>();
        long number;
        Folded base;
        List<Written> written = new ArrayList<>();
        int forced;
        SimulatedOutbox files = new SimulatedOutbox();

        /** From which turn on nothing is on disk, whatever is forced, where a rule is broken. */
        int lacksFrom = Integer.MAX_VALUE;

        /** An older state of the folder. */
        Copy copy;

        /** Births that were replaced, the first one first. */
        final List<Birth> formers = new ArrayList<>();

        /** In the group; null for a service that is no member. */
        ServiceGroup.Seat seat;

        /** The newest turn that was final, unless it is in the base. */
        Written told;

        long toldTurn;

        /** Whether members hear what is not final (D16). */
        boolean speculates = true;

        /** Of which version messages are that wait for their turn, by member and number (D2). */
        final Map<String, Map<Long, Vertex>> vertices = new HashMap<>();

        // The process.
        ServiceCore core;
        String halted;
        int fuse;

        /** What the state says, and since which turn. */
        Map<Line, Long> log = new LinkedHashMap<>();

        long nowMillis;
        long state;
        ServiceCore.Intake intake;
        Folded waitingBase;
        final Map<String, Long> lastFrom = new HashMap<>();
        final Map<String, Birth> pairs = new HashMap<>();
        final List<Waiting> waiting = new ArrayList<>();
        final List<Action.Fetch> fetches = new ArrayList<>();
        final Map<Long, Action.Call> calls = new LinkedHashMap<>();
        final Set<String> reached = new LinkedHashSet<>();

        /** Services that are dialled no more. */
        final Set<String> left = new LinkedHashSet<>();

        final Set<Long> failedOnce = new HashSet<>();
        final Map<Long, TimerStart> timerStarts = new HashMap<>();
        final Map<Long, Long> questions = new HashMap<>();

        Node(String name, boolean client) {
            this.name = name;
            this.client = client;
        }

        long newest() {
            return written.isEmpty() ? baseTurn() : written.get(written.size() - 1).delta().turn();
        }

        long baseTurn() {
            return base == null ? 0 : base.delta().turn();
        }

        long forcedTurn() {
            if (seat != null) {
                return group.broken == ServiceGroup.Broken.D7_LEAVES_ONCE_SYNCED
                        ? seat.journal.syncedTurn()
                        : seat.journal.finalTurn();
            }
            return forced == 0 ? baseTurn() : written.get(forced - 1).delta().turn();
        }

        /** A pair of its birth. */
        String pairWith(String key, Birth other) {
            return key + "/" + other + "@" + birth;
        }

        /** As the others call it. */
        String key() {
            return client ? name + ServiceCore.RESERVED + birth : name;
        }

        void start() {
            if (seat == null || seat.runs()) {
                begin();
            } else if (!seat.isUp()) {
                sayIfAsked(name + " waits for a decision");
                seat.start();
            }
        }

        /** A process of it takes turns. */
        private void begin() {
            // What survived is written again before anything leaves (K9).
            lacksFrom = broken == Broken.K9_TAIL_NOT_FORCED ? forced : Integer.MAX_VALUE;
            forced = written.size();
            starts.add(new Incarnation(birth, ++number, random.nextLong()));
            live();
        }

        @Override
        public void begins(long kept, String reason) {
            boolean starts = core == null;
            if (!starts) {
                if (tracing) {
                    say("%s keeps up to turn %d of %d", name, kept, newest());
                }
                perform(core.undone(forcedTurn(), kept, reason));
                if (core == null) {
                    return;
                }
            }
            stop(written.size());
            written = seat.journal.turns();
            forced = written.size();
            checkTold();
            if (starts) {
                begin();
            } else {
                live();
            }
        }

        private void checkTold() {
            check(
                    told == null || toldTurn <= baseTurn() || written.contains(told),
                    "%s: turn %d was final, and is undone",
                    name,
                    toldTurn);
        }

        @Override
        public void moved() {
            if (core != null) {
                long last = forcedTurn();
                check(
                        last >= toldTurn || !seat.runs(),
                        "%s: turn %d was final, and now %d is",
                        name,
                        toldTurn,
                        last);
                perform(core.moved(new Finals(last, speculates ? newest() : last, 0)));
            }
            if (core != null) {
                checkFinal();
                fold();
            }
        }

        /** What is final took nothing that its sender does not know. */
        private void checkFinal() {
            long before = toldTurn;
            toldTurn = Math.max(toldTurn, forcedTurn());
            written.stream()
                    .filter(it -> it.delta().turn() == toldTurn)
                    .findFirst()
                    .ifPresent(it -> told = it);
            for (Map.Entry<Line, Long> each : log.entrySet()) {
                Line line = each.getKey();
                Meta meta = line.did() == Did.CONSUMED ? metas.get(line.id()) : null;
                if (meta != null
                        && each.getValue() > before
                        && each.getValue() <= toldTurn
                        && meta.from != this
                        && areMembers(this, meta.from)) {
                    Line sent = line(Did.SENT, line.id());
                    Node from = meta.from;
                    check(
                            from.core == null
                                    ? from.kept().contains(sent)
                                    : from.log.containsKey(sent),
                            "%s consumed %d, which is final, and %s did not send it",
                            name,
                            line.id(),
                            from.name);
                }
            }
        }

        private void live() {
            core = new ServiceCore(name, formers, starts, limits);
            halted = null;
            fuse = 0;
            intake = ServiceCore.Intake.ALL;
            waitingBase = null;
            log = new LinkedHashMap<>();
            nowMillis = 0;
            state = 0;
            lastFrom.clear();
            pairs.clear();
            waiting.clear();
            failedOnce.clear();
            timerStarts.clear();
            questions.clear();
            vertices.clear();
            if (seat != null) {
                core.group(new OfSeat());
            }
            files.cutTo(base == null ? Map.of() : base.files());
            if (base != null) {
                core.recover(base.delta());
                base.log().forEach(this::note);
                nowMillis = base.nowMillis();
            }
            boolean all = seat == null || group.broken == ServiceGroup.Broken.D11_KEPT_IS_FINAL;
            long last = all ? newest() : forcedTurn();
            for (Written each : written) {
                if (each.delta().turn() <= last) {
                    core.recover(each.delta());
                } else {
                    core.keep(each.delta());
                }
                files.store(core.stored());
                for (Line line : each.lines()) {
                    note(line, each.delta().turn());
                }
                nowMillis = each.nowMillis();
            }
            if (tracing) {
                say("%s starts as %d at turn %d", name, number, newest());
            }
            if (client) {
                // It dials those that it calls, whether it has something to say or not.
                reached.addAll(List.of("s0", "s1"));
            }
            List<Repeat> repeats =
                    client || number % 5 == 4
                            ? List.of()
                            : List.of(
                                    new Repeat(
                                            REPEAT_MILLIS + number % 3,
                                            new Body("tick:0:0", new byte[0])));
            perform(core.begin(repeats, moment()));
            if (seat != null) {
                early.add(this);
            }
            if (broken == Broken.K9_HANDLERS_REPLAYED) {
                replay();
            }
        }

        private void replay() {
            for (Written each : List.copyOf(written)) {
                for (Line line : each.lines()) {
                    Meta meta = line.did() == Did.SENT ? metas.get(line.id()) : null;
                    if (meta != null && core != null && meta.to.indexOf(ServiceCore.RESERVED) < 0) {
                        perform(core.submit(meta.to, meta.body));
                    }
                }
            }
        }

        private void note(Line line, long turn) {
            if (log.putIfAbsent(line, turn) != null) {
                return;
            }
            switch (line.did()) {
                case CONSUMED -> {
                    state++;
                    Meta meta = metas.get(line.id());
                    if (meta != null && !log.containsKey(line(Did.RETRIED, line.id()))) {
                        lastFrom.merge(meta.birth.toString(), line.id(), Math::max);
                    }
                }
                case DETACHED -> {
                    int space = line.with().lastIndexOf(' ');
                    long of = Long.parseLong(line.with().substring(space + 1));
                    waiting.add(new Waiting(line.with().substring(0, space), of, line.id()));
                }
                case ANSWERED -> waiting.removeIf(it -> it.uid() == line.id());
                case OPENED -> {
                    int slash = line.with().indexOf('/');
                    pairs.put(
                            line.with().substring(0, slash),
                            Birth.parse(
                                    line.with().substring(slash + 1, line.with().indexOf('@'))));
                }
                case BORN -> {
                    pairs.clear();
                    waiting.removeIf(it -> !it.peer().equals(name));
                }
                default -> {}
            }
        }

        /** What the folder says. */
        Set<Line> kept() {
            Set<Line> kept = new HashSet<>();
            if (base != null) {
                kept.addAll(base.log().keySet());
            }
            written.forEach(it -> kept.addAll(it.lines()));
            return kept;
        }

        void crash() {
            crashes++;
            if (seat != null) {
                int some = seat.journal.most() - seat.journal.fewest() + 1;
                seat.crash(seat.journal.fewest() + random.nextInt(some));
                if (tracing) {
                    say("%s crashes, and has %s", name, seat.journal);
                }
                stop(written.size());
                written = seat.journal.turns();
                forced = written.size();
                checkTold();
                return;
            }
            int kept = forced + random.nextInt(written.size() - forced + 1);
            if (lacksFrom < written.size() && random.nextBoolean()) {
                // The page cache showed what the disk lacks.
                kept = lacksFrom;
            }
            if (tracing) {
                say("%s crashes, %d of %d kept", name, kept, written.size());
            }
            stop(kept);
        }

        private void stop(int kept) {
            core = null;
            fetches.clear();
            calls.clear();
            reached.clear();
            left.clear();
            written = new ArrayList<>(written.subList(0, kept));
            forced = Math.min(forced, kept);
            downs.removeIf(it -> it.node() == this);
            for (Wire wire : List.copyOf(wires)) {
                if (wire.has(this)) {
                    wire.cut();
                }
            }
        }

        /** One force covers what was appended before it began (K8). */
        void force() {
            int upTo = written.size();
            if (random.nextInt(3) == 0) {
                upTo = forced + 1 + random.nextInt(written.size() - forced);
            }
            forced = upTo;
            if (tracing) {
                say("%s forces up to %d", name, forcedTurn());
            }
            perform(core.moved(Finals.turns(forcedTurn())));
            if (core != null) {
                fold();
            }
        }

        /** Makes a base of the newest turn; it counts once that is final (K10). */
        void beginFold() {
            if (newest() > baseTurn() && waitingBase == null) {
                if (seat != null && seat.journal.versions.hasTurns()) {
                    seat.journal.seal();
                }
                Delta delta = core.snapshot();
                if (broken == Broken.K10_BASE_WITHOUT_OUTBOX) {
                    delta = withoutOutbox(delta);
                }
                Optional<List<Delta>> all = allDeltas();
                if (all.isPresent()
                        && !recover(this, all.get(), Optional.empty()).equals(text(core, files))) {
                    all = Optional.empty();
                }
                Map<Long, Long> named = files.names(delta);
                if (broken == Broken.K10_FILE_NOT_FORCED) {
                    named.replaceAll((stream, last) -> last - random.nextInt(2));
                }
                waitingBase = new Folded(delta, named, nowMillis, new LinkedHashMap<>(log), all);
                fold();
            }
        }

        /** What the folder says, base and turns. */
        List<Delta> deltas() {
            List<Delta> all = new ArrayList<>();
            if (base != null) {
                all.add(base.delta());
            }
            written.forEach(it -> all.add(it.delta()));
            return all;
        }

        /** All turns of this birth, where they are known. */
        Optional<List<Delta>> allDeltas() {
            List<Delta> all = new ArrayList<>();
            if (base != null) {
                if (base.all().isEmpty()) {
                    return Optional.empty();
                }
                all.addAll(base.all().get());
            }
            written.forEach(it -> all.add(it.delta()));
            return Optional.of(all);
        }

        private void fold() {
            if (waitingBase != null && waitingBase.delta().turn() <= forcedTurn()) {
                base = waitingBase;
                if (seat != null) {
                    seat.journal.folded(baseTurn());
                }
                lacksFrom = Integer.MAX_VALUE;
                waitingBase = null;
                written = new ArrayList<>(written);
                while (!written.isEmpty() && written.get(0).delta().turn() <= baseTurn()) {
                    written.remove(0);
                    forced = Math.max(0, forced - 1);
                }
                if (tracing) {
                    say("%s folds at %d", name, baseTurn());
                }
            }
        }

        void perform(List<Action> actions) {
            ServiceCore by = core;
            for (Action action : actions) {
                if (core == null || core != by) {
                    return;
                }
                if (action instanceof Action.Append it) {
                    append(it.delta(), new ArrayList<>());
                } else if (action instanceof Action.Send it) {
                    send(it);
                } else if (action instanceof Action.Close it) {
                    close(it);
                } else if (action instanceof Action.Reach it) {
                    reached.add(it.service());
                    left.remove(it.service());
                } else if (action instanceof Action.Leave it) {
                    if (broken != Broken.K15_GONE_IS_DIALLED) {
                        reached.remove(it.service());
                        left.add(it.service());
                    }
                } else if (action instanceof Action.Call it) {
                    call(it);
                } else if (action instanceof Action.Fetch it) {
                    fetches.add(it);
                } else if (action instanceof Action.Release it) {
                    if (broken != Broken.K13_SPACE_KEPT) {
                        files.release(it.stream(), it.upTo());
                    }
                } else if (action instanceof Action.Halt it) {
                    halted = it.reason();
                    halt();
                    return;
                }
                if (fuse > 0 && --fuse == 0) {
                    crash();
                }
            }
        }

        void fetched(Action.Fetch fetch) {
            fetches.remove(fetch);
            Optional<List<Change.Unacked>> read = files.read(fetch);
            // A shell halts then.
            check(read.isPresent(), "%s misses %s in its files", name, fetch);
            List<Change.Unacked> all = new ArrayList<>(read.orElse(List.of()));
            if (broken == Broken.K10_FILE_GOES_EARLY) {
                files.release(fetch.stream(), fetch.after() + all.size());
            } else if (broken == Broken.K13_ORDER_BROKEN) {
                Collections.reverse(all);
            } else if (broken == Broken.K13_LOST_IN_FILE && all.size() > 1) {
                all.remove(0);
            }
            if (tracing) {
                say("%s fetched %s: %s", name, fetch, all);
            }
            perform(core.fetched(fetch.stream(), fetch.after(), all));
        }

        private void close(Action.Close it) {
            if (tracing) {
                say("%s closes %s: %s", name, it.link(), it.reason());
            }
            if (it.link().outside() && it.reason().contains("(K14)") && copiesRan) {
                // Only the head would have kept this old copy from starting.
                diverged = true;
            }
            wire(it.link()).ifPresent(wire -> wire.close(this));
        }

        private void call(Action.Call it) {
            String id = it.id();
            if (broken == Broken.K17_ANOTHER_ID) {
                id += "-" + number;
            } else if (broken == Broken.K17_ANOTHER_ID_OF_THE_BIRTH) {
                id = birth + "-" + it.output();
            }
            check(
                    broken != Broken.NOTHING || isForced(line(Did.CALLED, uid(it.body()))),
                    "%s calls %s before it is forced",
                    name,
                    it);
            String call = it.body().type();
            String idBefore = callIds.putIfAbsent(call, id);
            String callBefore = callsById.putIfAbsent(id, call);
            check(
                    copiesRan
                            || ((idBefore == null || idBefore.equals(id))
                                    && (callBefore == null || callBefore.equals(call))),
                    "%s makes %s as %s; before it had %s, and that was %s",
                    name,
                    call,
                    id,
                    idBefore,
                    callBefore);
            calls.put(it.output(), it);
        }

        private void halt() {
            halts++;
            if (tracing) {
                say("%s halts: %s", name, halted);
            }
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
            wire(it.link())
                    .ifPresent(
                            wire -> {
                                if (broken == Broken.NOTHING) {
                                    checkLeaving(wire.other(this), it.frame());
                                }
                                wire.add(this, it.frame());
                            });
        }

        /** Only what is forced leaves (K4, K5), in pairs that both have forced (K11). */
        private void checkLeaving(Node to, Frame frame) {
            if (areMembers(this, to) && frame instanceof Frame.Tagged) {
                return;
            }
            if (frame instanceof Frame.Msg msg) {
                long uid = uid(msg.body());
                boolean sent =
                        msg.refusal().isPresent()
                                ? isForced(line(Did.PUT_ASIDE, uid))
                                : isForced(line(Did.SENT, uid));
                check(sent, "%s sends %s, which is not forced", name, msg);
                if (msg.answers() > 0) {
                    checkTook(to, msg.answers());
                }
                String of = pairWith(to.key(), to.birth);
                String back = to.pairWith(key(), birth);
                if (to.birth.equals(pairs.get(to.key())) && !copiesRan) {
                    check(
                            isForced(new Line(Did.OPENED, 0, of))
                                    && to.isForced(new Line(Did.OPENED, 0, back)),
                            "%s sends %s in a pair that not both have forced",
                            name,
                            msg);
                }
            } else if (frame instanceof Frame.Ack ack) {
                checkTook(to, ack.number());
            } else if (frame instanceof Frame.Hello hello) {
                checkTook(to, hello.consumed().number());
                if (hello.pair() != Frame.PairState.NEW && to.birth.equals(pairs.get(to.key()))) {
                    check(
                            isForced(new Line(Did.OPENED, 0, pairWith(to.key(), to.birth))),
                            "%s says %s, and the pair is not forced",
                            name,
                            hello);
                }
            } else if (frame instanceof Frame.Gone gone) {
                Line over = new Line(Did.OVER, 0, gone.birth().toString());
                check(
                        !log.containsKey(over) || isForced(over),
                        "%s says %s, which is not forced",
                        name,
                        gone);
            } else if (frame instanceof Frame.Answer answer) {
                Long turn = questions.remove(answer.request());
                check(
                        turn != null && turn <= forcedTurn(),
                        "%s answers request %d of turn %d, final up to %d",
                        name,
                        answer.request(),
                        turn,
                        forcedTurn());
            }
        }

        private void checkTook(Node from, long number) {
            Birth of = pairs.get(from.key());
            check(
                    number == 0
                            || of == null
                            || isForced(new Line(Did.TOOK, number, pairWith(from.key(), of))),
                    "%s acks number %d of %s, which is not forced",
                    name,
                    number,
                    from.name);
        }

        /** Whether a line of the log is of a turn that is forced. */
        boolean isForced(Line line) {
            Long turn = log.get(line);
            if (core != null) {
                return turn != null && turn <= forcedTurn();
            }
            return (base != null && base.log().containsKey(line))
                    || written.subList(0, forced).stream()
                            .anyMatch(it -> it.lines().contains(line));
        }

        void append(Delta delta, List<Line> lines) {
            check(
                    delta.nowMillis() >= nowMillis,
                    "%s: time went back from %d to %d",
                    name,
                    nowMillis,
                    delta.nowMillis());
            nowMillis = delta.nowMillis();
            Map<String, Long> sent = new HashMap<>();
            for (Change change : delta.changes()) {
                if (change instanceof Change.PairOpened it) {
                    lines.add(new Line(Did.OPENED, 0, pairWith(it.peer(), it.birth())));
                } else if (change instanceof Change.Consumed it && !it.peer().equals(name)) {
                    String of = pairWith(it.peer(), pairs.get(it.peer()));
                    Line took = new Line(Did.TOOK, it.last().number(), of);
                    check(!log.containsKey(took), "%s takes %s twice", name, took);
                    lines.add(took);
                } else if (change instanceof Change.Parked it) {
                    lines.add(line(Did.PUT_ASIDE, uid(it.body())));
                } else if (change instanceof Change.ReturnParked it) {
                    lines.add(line(Did.PUT_ASIDE, uid(it.returned().body())));
                } else if (change instanceof Change.PairOver it) {
                    overPairs.add(pair(birth, it.birth()));
                    lines.add(new Line(Did.OVER, 0, it.birth().toString()));
                    goesWithThePair(it.peer(), it.birth());
                } else if (change instanceof Change.PairRefused it) {
                    overPairs.add(pair(birth, it.birth()));
                    goesWithThePair(it.peer(), it.birth());
                } else if (change instanceof Change.BornAnew it) {
                    lines.add(new Line(Did.BORN, 0, it.now().toString()));
                    outboxes(this).forEach(ServiceWorld.this::goes);
                } else if (change instanceof Change.Sent it) {
                    sent.merge(it.peer(), 1L, Long::sum);
                }
            }
            for (Map.Entry<String, Long> entry : sent.entrySet()) {
                long count = core.sentTo(entry.getKey()) - entry.getValue();
                for (Change change : delta.changes()) {
                    if (change instanceof Change.Sent it && it.peer().equals(entry.getKey())) {
                        count++;
                        Meta meta = metas.get(uid(it.body()));
                        if (it.refusal().isEmpty() && meta != null && meta.count == 0) {
                            meta.count = count;
                        }
                    }
                }
            }
            for (Line line : lines) {
                note(line, delta.turn());
            }
            Written turn = new Written(recorded(delta), delta.nowMillis(), lines);
            written.add(turn);
            if (seat != null) {
                seat.journal.append(turn, took(delta));
                early.add(this);
            }
            files.store(core.stored());
            if (broken == Broken.K4_LEAVES_BEFORE_THE_FORCE
                    || (broken == Broken.K11_PAIR_NOT_FORCED
                            && delta.changes().stream()
                                    .anyMatch(
                                            it ->
                                                    it instanceof Change.PairOpened
                                                            || it instanceof Change.PairKnown))) {
                early.add(this);
            }
            if (broken == Broken.K5_ACKED_BEFORE_THE_FORCE) {
                ackEarly(delta);
            }
        }

        /** Of which versions the messages are that a turn took (D2). */
        private List<Vertex> took(Delta delta) {
            List<Vertex> took = new ArrayList<>();
            for (Change change : delta.changes()) {
                if (change instanceof Change.Consumed it
                        && isMember(it.peer())
                        && !it.peer().equals(name)
                        && group.broken != ServiceGroup.Broken.D2_NO_DEPENDENCY) {
                    took.add(vertices.get(it.peer()).remove(it.last().number()));
                }
            }
            return took;
        }

        /** Says of which version a message is (D2). */
        private final class OfSeat implements Group {

            @Override
            public boolean isMember(String service) {
                return ServiceWorld.this.isMember(service);
            }

            @Override
            public Frame tagged(long turn, Frame.Msg message) {
                return new Frame.Tagged(seat.journal.vertexOf(turn), message);
            }
        }

        /** Whether a message of another member is taken (D4). */
        boolean takes(Node from, Frame.Msg msg, Vertex of) {
            if (seat.journal.versions.taking(of) == Taking.SENT_AGAIN) {
                return false;
            }
            vertices.computeIfAbsent(from.name, it -> new HashMap<>()).put(msg.number(), of);
            return true;
        }

        private void goesWithThePair(String peer, Birth of) {
            if (of.equals(pairs.get(peer))) {
                goes(peer, outboxes(this).getOrDefault(peer, List.of()));
            }
        }

        private void ackEarly(Delta delta) {
            for (Change change : delta.changes()) {
                if (change instanceof Change.Consumed it) {
                    wires.stream()
                            .filter(wire -> wire.has(this))
                            .filter(wire -> wire.other(this).key().equals(it.peer()))
                            .forEach(
                                    wire ->
                                            wire.add(
                                                    this,
                                                    new Frame.Ack(it.last().number(), WINDOW)));
                }
            }
        }

        // ---- turns

        boolean turn() {
            Moment at = moment();
            long before = newest();
            int fetching = fetches.size();
            int reaching = reached.size();
            perform(core.tick(at));
            if (core == null) {
                return true;
            }
            Optional<Input> expected = core.expected(3, at).stream().map(Ahead::input).findFirst();
            Optional<Input> input = core.next(at);
            check(expected.equals(input), "%s expects %s and runs %s", name, expected, input);
            if (input.isEmpty()) {
                return newest() > before || fetches.size() > fetching || reached.size() > reaching;
            }
            check(
                    intake == ServiceCore.Intake.ALL
                            || (intake == ServiceCore.Intake.SERVICES
                                    && !(input.get() instanceof Input.Outside)
                                    && !(input.get() instanceof Input.Message it
                                            && it.peer().indexOf(ServiceCore.RESERVED) >= 0)),
                    "%s takes %s, though it takes %s",
                    name,
                    input.get(),
                    intake);
            run(input.get());
            return true;
        }

        /** Whether it came to its end without a turn of the service. */
        private boolean fails(Input input) {
            if (input instanceof Input.Returned) {
                return false;
            }
            String type = input.body().type();
            boolean harmless = healing && !limits.deadLetters();
            if (type.startsWith("poison") && !harmless) {
                perform(core.failed("poison", moment()));
                return true;
            }
            if (type.startsWith("kill") && !harmless) {
                long uid = uid(input.body());
                if (deaths.merge(uid, 1, Integer::sum) > MOST_DEATHS
                        && lostLogs.isEmpty()
                        && !copiesRan
                        && !retried(uid)) {
                    check(false, "%s dies of %s again and again", name, type);
                }
                crash();
                return true;
            }
            if (type.startsWith("odd") && number % 2 == 1 && !healing) {
                perform(core.unknownType());
                return true;
            }
            if (type.startsWith("forbidden")) {
                perform(core.forbidden("not allowed"));
                return true;
            }
            return false;
        }

        private boolean retried(long uid) {
            return log.containsKey(line(Did.RETRIED, uid));
        }

        private void run(Input input) {
            if (tracing) {
                say("%s runs %s", name, input);
            }
            if (fails(input)) {
                return;
            }
            boolean throwsLate =
                    !healing
                            && !client
                            && random.nextInt(20) == 0
                            && failedOnce.add(uid(input.body()));
            List<Line> lines = new ArrayList<>();
            Effecting effects = new Effecting(this, lines);
            long uid = uid(input.body());
            if (input instanceof Input.Message it) {
                takes(it, uid, lines, throwsLate);
                effects.react(it.peer(), it.number(), uid, ttl(it.body().type()));
            } else if (input instanceof Input.Outside it) {
                if (it.body().type().startsWith("query")) {
                    questions.put(it.request(), core.newestTurn());
                    perform(core.answered(new Body("m:0:0", new byte[0])));
                    return;
                }
                if (!throwsLate) {
                    check(!log.containsKey(line(Did.CONSUMED, uid)), "%s takes %s twice", name, it);
                    questions.put(it.request(), core.newestTurn() + 1);
                }
                lines.add(line(Did.CONSUMED, uid));
                effects.react(it.caller(), it.request(), uid, ttl(it.body().type()));
            } else if (input instanceof Input.Returned it) {
                comesBack(it, uid, lines);
            } else if (input instanceof Input.Timer it) {
                goesOff(it, lines);
                effects.react(null, 0, uid, ttl(it.body().type()));
            } else if (input instanceof Input.Repeat it) {
                Line line = line(Did.REPEATED, it.dueMillis());
                check(!log.containsKey(line), "%s repeats %s twice", name, it);
                check(core.nowMillis() >= it.dueMillis(), "%s repeats %s early", name, it);
                lines.add(line);
            } else if (input instanceof Input.Result it) {
                Line line = line(Did.HEARD_RESULT, it.output());
                check(!log.containsKey(line), "%s: result %d twice", name, it.output());
                lines.add(line);
            }
            if (throwsLate) {
                if (broken == Broken.K2_LEAVES_DURING_THE_TURN) {
                    effects.leaveNow();
                }
                perform(core.failed("once", moment()));
                return;
            }
            Effects all = effects.effects();
            if (tracing) {
                say("%s did %s", name, lines);
            }
            append(core.commit(all), lines);
            for (Effects.TimerSet timer : all.timers()) {
                timerStarts.put(
                        timer.id(),
                        new TimerStart(steadyMillis, timer.dueMillis() - core.nowMillis()));
            }
            if (fuse > 0 && --fuse == 0) {
                crash();
            }
        }

        private void takes(Input.Message it, long uid, List<Line> lines, boolean throwsLate) {
            consumed++;
            check(
                    !log.containsKey(line(Did.CONSUMED, uid)),
                    "%s consumes %s twice",
                    name,
                    it.body());
            lines.add(line(Did.CONSUMED, uid));
            long before = state;
            if (broken == Broken.K1_STATE_OF_FORCED_TURNS) {
                before =
                        log.entrySet().stream()
                                .filter(each -> each.getKey().did() == Did.CONSUMED)
                                .filter(each -> each.getValue() <= forcedTurn())
                                .count();
            }
            Line saw = line(Did.SAW, before);
            check(throwsLate || !log.containsKey(saw), "%s: two turns on state %d", name, before);
            lines.add(saw);
            Meta meta = metas.get(uid);
            if (meta == null || retried(uid)) {
                return;
            }
            check(
                    meta.to.equals(key()) && (it.birth().equals(meta.birth) || meta.from == this),
                    "%s consumes %s, which was sent to %s by %s",
                    name,
                    it,
                    meta.to,
                    meta.birth);
            if (copiesRan) {
                return;
            }
            check(
                    uid > lastFrom.getOrDefault(meta.birth.toString(), 0L),
                    "%s consumes %s of %s behind %d, out of order",
                    name,
                    it,
                    meta.from.name,
                    lastFrom.get(meta.birth.toString()));
            boolean sent =
                    // Of members it is judged once the turn is final.
                    (meta.from != this && areMembers(this, meta.from))
                            || (meta.from == this
                                    ? log.containsKey(line(Did.SENT, uid))
                                    : meta.birth.equals(meta.from.birth)
                                            ? meta.from.isForced(line(Did.SENT, uid))
                                            : lostLogs.getOrDefault(meta.birth, Set.of())
                                                    .contains(line(Did.SENT, uid)));
            check(sent, "%s consumes %s, which %s did not send", name, it, meta.from.name);
            Meta question = meta.answers == 0 ? null : metas.get(meta.answers);
            check(
                    // What a person had tried again has a place of its own.
                    retried(meta.answers)
                            || it.answers() == (question == null ? 0 : question.count),
                    "%s: %s answers number %d, and should %d",
                    name,
                    it,
                    it.answers(),
                    question == null ? 0 : question.count);
        }

        private void comesBack(Input.Returned it, long uid, List<Line> lines) {
            if (!isDropped(it)) {
                lines.add(new Line(Did.CAME_BACK, uid, String.valueOf(it.perhapsConsumed())));
            }
            boolean before =
                    log.containsKey(new Line(Did.CAME_BACK, uid, "true"))
                            || log.containsKey(new Line(Did.CAME_BACK, uid, "false"));
            check(!before || retried(uid), "%s has %s back twice", name, it);
            Meta meta = metas.get(uid);
            check(
                    meta == null
                            || copiesRan
                            || retried(uid)
                            || (meta.count == it.number() && meta.to.startsWith(it.service())),
                    "%s has %s back, which was number %d to %s",
                    name,
                    it,
                    meta == null ? 0 : meta.count,
                    meta == null ? "" : meta.to);
            check(
                    !it.perhapsConsumed() || !overPairs.isEmpty() || !lostLogs.isEmpty(),
                    "%s has %s back, and no pair is over",
                    name,
                    it);
        }

        private boolean isDropped(Input.Returned it) {
            return switch (broken) {
                case K15_NOTHING_RETURNS -> it.perhapsConsumed();
                case K15_OUTBOX_DROPPED -> it.reason().contains("(K11)");
                case K15_REFUSED_WITHOUT_RETURN -> it.reason().contains("says that generation");
                case K15_GIVEN_UP_AND_DROPPED -> it.reason().equals(GIVEN_UP);
                default -> false;
            };
        }

        private void goesOff(Input.Timer it, List<Line> lines) {
            Line line = line(Did.TIMER_WENT_OFF, it.id());
            check(!log.containsKey(line), "%s: timer %d twice", name, it.id());
            check(
                    !log.containsKey(line(Did.TIMER_CANCELLED, it.id())),
                    "%s: timer %d went off, and was cancelled",
                    name,
                    it.id());
            lines.add(line);
            check(core.nowMillis() >= it.dueMillis(), "%s: timer %d early", name, it.id());
            TimerStart start = timerStarts.get(it.id());
            if (start != null) {
                long passed = steadyMillis - start.steadyMillis();
                check(
                        passed * 102 / 100 + 2 >= start.delayMillis(),
                        "%s: timer %d of %d ms goes off after %d",
                        name,
                        it.id(),
                        start.delayMillis(),
                        passed);
            }
        }

        void submit() {
            String to = random.nextInt(12) == 0 ? NOBODY : "s" + random.nextInt(2);
            long uid = ++uids;
            Body body = new Body(kind() + ":" + uid + ":2", new byte[0]);
            Meta meta = new Meta(this, to, isCopy(this), 0);
            meta.body = body;
            metas.put(uid, meta);
            List<Line> lines = new ArrayList<>();
            lines.add(line(Did.SENT, uid));
            if (tracing) {
                say("%s calls %s with %s", name, to, body.type());
            }
            for (Action action : core.submit(to, body)) {
                append(((Action.Append) action).delta(), lines);
            }
        }
    }

    private String kind() {
        return switch (random.nextInt(60)) {
            case 0, 1, 2 -> "poison";
            case 3 -> "kill";
            case 4 -> "odd";
            case 5 -> "forbidden";
            default -> "m";
        };
    }

    private static Delta withoutOutbox(Delta delta) {
        List<Change> changes = new ArrayList<>();
        for (Change change : delta.changes()) {
            changes.add(
                    change instanceof Change.PeerIs it
                            ? SimulatedOutbox.with(it, it.heardMillis(), List.of())
                            : change);
        }
        return new Delta(delta.turn(), delta.incarnation(), delta.nowMillis(), changes);
    }

    /** What of a turn gets on disk. */
    private Delta recorded(Delta delta) {
        List<Change> changes = new ArrayList<>(delta.changes());
        long now = delta.nowMillis();
        switch (broken) {
            case K3_CONSUMED_NUMBER_APART -> changes.removeIf(it -> it instanceof Change.Consumed);
            case K3_SENDS_APART -> changes.removeIf(it -> it instanceof Change.Sent);
            case K12_TRIED_FORGOTTEN -> changes.removeIf(it -> it instanceof Change.Tried);
            case K11_BEGUN_AGAIN -> changes.removeIf(it -> it instanceof Change.BornAnew);
            case K15_RETURNS_AGAIN -> changes.removeIf(it -> it instanceof Change.ReturnTaken);
            case K16_TIMERS_FORGOTTEN ->
                    changes.removeIf(
                            it -> it instanceof Change.TimerSet || it instanceof Change.TimerGone);
            case K16_TIMERS_GO_OFF_AGAIN -> changes.removeIf(it -> it instanceof Change.TimerGone);
            case K16_TIME_FORGOTTEN -> now = 0;
            case K17_CALLS_FORGOTTEN -> changes.removeIf(it -> it instanceof Change.OutputMade);
            case K17_ANSWERED_AGAIN -> changes.removeIf(it -> it instanceof Change.OutputDone);
            default -> {}
        }
        return new Delta(delta.turn(), delta.incarnation(), now, changes);
    }

    /** What a handler wants. */
    private final class Effecting {

        private final Node node;
        private final List<Line> lines;
        private final List<Effects.Send> sends = new ArrayList<>();
        private final List<Effects.TimerSet> timers = new ArrayList<>();
        private final List<Long> cancelled = new ArrayList<>();
        private final List<Body> outputs = new ArrayList<>();
        private final List<Effects.Reply> replies = new ArrayList<>();
        private long timer;
        private boolean detached;

        Effecting(Node node, List<Line> lines) {
            this.node = node;
            this.lines = lines;
            this.timer = node.core.newestTimer();
        }

        private Body message(String to, int ttl, long answers) {
            long uid = ++uids;
            lines.add(line(Did.SENT, uid));
            Meta meta = new Meta(node, to, isCopy(node), answers);
            meta.body = new Body(kind() + ":" + uid + ":" + ttl, new byte[0]);
            metas.put(uid, meta);
            return meta.body;
        }

        void react(String peer, long number, long uid, int ttl) {
            if (node.client) {
                return;
            }
            if (ttl > 0) {
                for (int count = random.nextInt(3); count > 0; count--) {
                    String to = "s" + random.nextInt(services.size());
                    sends.add(new Effects.Send(to, message(to, ttl - 1, 0)));
                }
                timersAndCalls(ttl);
            }
            if (peer != null && ttl > 0) {
                int answer = random.nextInt(6);
                if (answer < 2) {
                    replies.add(reply(peer, number, uid, ttl));
                } else if (answer == 2) {
                    detached = true;
                    lines.add(new Line(Did.DETACHED, uid, peer + " " + number));
                }
            }
            if (!node.waiting.isEmpty() && random.nextInt(2) == 0) {
                Waiting one = node.waiting.get(random.nextInt(node.waiting.size()));
                if (node.core.waits(one.peer(), one.number()) && isOfThisPair(one)) {
                    replies.add(reply(one.peer(), one.number(), one.uid(), 1));
                    lines.add(line(Did.ANSWERED, one.uid()));
                }
            }
        }

        /** Numbers begin again with each pair. */
        private boolean isOfThisPair(Waiting one) {
            Meta meta = metas.get(one.uid());
            return meta == null
                    || meta.from == node
                    || meta.birth.equals(node.pairs.get(one.peer()));
        }

        private Effects.Reply reply(String peer, long number, long uid, int ttl) {
            if (!metas.containsKey(uid)) {
                return new Effects.Reply(peer, number, new Body("m:0:0", new byte[0]));
            }
            return new Effects.Reply(peer, number, message(peer, ttl - 1, uid));
        }

        private void timersAndCalls(int ttl) {
            if (random.nextInt(6) == 0) {
                long id = ++timer;
                long due = node.core.nowMillis() + random.nextLong(200);
                Body body = message(node.name, ttl - 1, 0);
                lines.remove(lines.size() - 1);
                timers.add(new Effects.TimerSet(id, due, body));
                lines.add(new Line(Did.TIMER_SET, id, body.type()));
            } else if (random.nextInt(20) == 0 && timer > 0) {
                long id = 1 + random.nextLong(timer);
                if (node.core.isSet(id)) {
                    cancelled.add(id);
                    lines.add(line(Did.TIMER_CANCELLED, id));
                }
            }
            if (random.nextInt(8) == 0) {
                long uid = ++uids;
                outputs.add(new Body("call:" + uid + ":0", new byte[0]));
                lines.add(line(Did.CALLED, uid));
            }
        }

        /** What a shell would send that does not wait for the end of the turn. */
        void leaveNow() {
            for (Effects.Send send : sends) {
                for (Wire wire : wires) {
                    if (wire.has(node) && wire.other(node).name.equals(send.service())) {
                        long number = node.core.sentTo(send.service()) + 1;
                        wire.add(node, new Frame.Msg(number, 0, Optional.empty(), send.body()));
                        return;
                    }
                }
            }
        }

        Effects effects() {
            return new Effects(sends, timers, cancelled, outputs, replies, timer, detached);
        }
    }

    /** A copy of a folder, which is started in place of the folder. */
    private static final class Copy {
        private final Node node;
        private final List<Incarnation> starts;
        private final Folded base;
        private final List<Written> written;
        private final SimulatedOutbox files;
        private final Birth birth;
        private final List<Birth> formers;
        private Copy newer;
        private boolean running;

        Copy(Node node) {
            this.node = node;
            starts = new ArrayList<>(node.starts);
            base = node.base;
            birth = node.birth;
            formers = List.copyOf(node.formers);
            written = new ArrayList<>(node.written.subList(0, node.forced));
            files = node.files.copy();
        }

        /** In place of what the node had, for good. */
        void restore() {
            put(this);
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
            node.birth = of.birth;
            node.formers.clear();
            node.formers.addAll(of.formers);
            node.written = new ArrayList<>(of.written);
            node.forced = of.written.size();
            node.files = of.files.copy();
        }
    }

    // ---- links

    /** Two ends, each direction in order. An end hears that the link is there, then frames. */
    private final class Wire {

        final Node dialler;
        final Node acceptor;
        final Link atDialler;
        final Link atAcceptor;
        final ArrayDeque<Frame> toAcceptor = new ArrayDeque<>();
        final ArrayDeque<Frame> toDialler = new ArrayDeque<>();

        /** Of which version messages between members are. */
        final IdentityHashMap<Frame, Vertex> vertices = new IdentityHashMap<>();

        final boolean slow = random.nextInt(6) == 0;
        boolean upAtDialler;
        boolean upAtAcceptor;
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

        Node other(Node node) {
            return node == dialler ? acceptor : dialler;
        }

        boolean waits(boolean up) {
            return up
                    ? !upAtAcceptor || !toAcceptor.isEmpty()
                    : !upAtDialler || !toDialler.isEmpty();
        }

        void add(Node from, Frame sending) {
            Frame frame = sending instanceof Frame.Tagged it ? it.message() : sending;
            Frame sent = frame;
            if (broken == Broken.K14_HELLO_SAYS_NOTHING
                    && isCopy(other(from))
                    && frame instanceof Frame.Hello it) {
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
            if (frame instanceof Frame.Msg msg
                    && msg.refusal().isPresent()
                    && isConcealed(from, other(from))) {
                sent =
                        new Frame.Msg(
                                msg.number(),
                                0,
                                Optional.empty(),
                                new Body("m:" + ++uids + ":0", new byte[0]));
            }
            if (!closing) {
                if (sending instanceof Frame.Tagged it) {
                    vertices.put(sent, it.of());
                }
                (from == dialler ? toAcceptor : toDialler).add(sent);
            }
        }

        private boolean isConcealed(Node from, Node to) {
            return switch (broken) {
                case K12_SENDER_NOT_TOLD -> true;
                case K12_SENDER_NOT_TOLD_BY_A_NEW_BIRTH -> !from.formers.isEmpty();
                case K12_SENDER_NOT_TOLD_OF_A_NEW_BIRTH -> !to.formers.isEmpty();
                default -> false;
            };
        }

        void deliver(boolean up) {
            Node to = up ? acceptor : dialler;
            if (up ? !upAtAcceptor : !upAtDialler) {
                if (up) {
                    upAtAcceptor = true;
                } else {
                    upAtDialler = true;
                }
                to.perform(to.core.linkUp(up ? atAcceptor : atDialler));
            } else {
                Frame frame = (up ? toAcceptor : toDialler).remove();
                if (broken == Broken.K7_DUPLICATES_TAKEN && frame instanceof Frame.Msg msg) {
                    frame = renumbered(to, up ? dialler : acceptor, msg);
                }
                if (tracing) {
                    say("%s hears over %d: %s", to.name, atDialler.id(), frame);
                }
                Vertex of = vertices.remove(frame);
                if (of == null || to.takes(other(to), (Frame.Msg) frame, of)) {
                    to.perform(to.core.frame(up ? atAcceptor : atDialler, frame, moment()));
                }
            }
            cutIfOver();
        }

        /** As a receiver would take it that does not look at numbers. */
        private Frame renumbered(Node to, Node from, Frame.Msg msg) {
            long last =
                    to.core.report().channels().stream()
                            .filter(it -> it.peer().equals(from.key()))
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
            if (by == dialler) {
                toDialler.clear();
                upAtDialler = true;
            } else {
                toAcceptor.clear();
                upAtAcceptor = true;
            }
            cutIfOver();
        }

        private void cutIfOver() {
            if (closing && toDialler.isEmpty() && toAcceptor.isEmpty()) {
                cut();
            }
        }

        /** What is under way is lost; the ends hear of it, each when it hears. */
        void cut() {
            if (wires.remove(this)) {
                if (dialler.core != null && upAtDialler) {
                    downs.add(new Down(dialler, dialler.core, atDialler));
                }
                if (acceptor.core != null && upAtAcceptor) {
                    downs.add(new Down(acceptor, acceptor.core, atAcceptor));
                }
            }
        }
    }

    private Optional<Wire> wire(Link link) {
        for (Wire wire : wires) {
            if (wire.atDialler.id() == link.id()) {
                return Optional.of(wire);
            }
        }
        return Optional.empty();
    }

    private void connect(Node from, Node to) {
        Wire wire = new Wire(from, to);
        wires.add(wire);
        if (tracing) {
            say("%s and %s are linked by %d", from.name, to.name, wire.atDialler.id());
        }
    }

    // ---- steps

    /** Random steps, then everything is mended and runs until nothing happens, then it counts. */
    void run(int steps) {
        // Members of a group hear nothing of each other before they know their pairs (K11).
        calm = group != null;
        for (int step = 0; calm && step < STEPS_OF_A_START; step++) {
            leaveEarly();
            boolean unused = step();
        }
        calm = false;
        for (int step = 0; step < steps && goesOn(); step++) {
            wreck();
            leaveEarly();
            boolean unused = step();
            leaveEarly();
        }
        heal();
        if (goesOn()) {
            count();
        }
    }

    private boolean goesOn() {
        return violations.isEmpty() && !diverged;
    }

    /** What is final without a force, where a rule is broken. */
    private void leaveEarly() {
        while (!early.isEmpty()) {
            Node node = early.iterator().next();
            early.remove(node);
            if (node.seat != null) {
                node.moved();
            } else if (node.core != null) {
                node.perform(node.core.moved(Finals.turns(node.newest())));
            }
        }
    }

    private void wreck() {
        if (group != null && random.nextInt(40) == 0) {
            group.wreck();
            Node member = services.get(random.nextInt(group.seats.size()));
            member.speculates = random.nextInt(4) > 0;
        }
        if (group != null && random.nextInt(8) == 0) {
            group.lender().ifPresent(it -> services.get(it.index).crash());
        }
        Node node = nodes.get(random.nextInt(nodes.size()));
        // Each crash of a member is a decision: between them there is time to depend on others.
        int what = random.nextInt(group == null ? 70 : 400);
        if (what > 20) {
            return;
        }
        switch (what) {
            case 0 -> ifUp(node, node::crash);
            case 1, 2 -> node.fuse = 1 + random.nextInt(4);
            case 3, 4 -> {
                if (!wires.isEmpty()) {
                    wires.get(random.nextInt(wires.size())).cut();
                }
            }
            case 5 -> wallMillis += random.nextInt(2_000) - 1_000;
            case 6 -> ifUp(node, node::beginFold);
            case 7 -> takeOrRunCopy(node);
            case 8 -> recreateOne(node);
            case 9, 10, 11, 12 -> pass(random.nextInt(50));
            case 13 -> secondLink(node);
            case 14 -> ifUp(node, () -> operate(node));
            case 15 -> ifUp(node, () -> declareLost(node));
            case 16 -> ifUp(node, () -> takeLess(node));
            case 17, 18 -> askOne();
            case 20 -> {
                ifUp(node, () -> backUpOrBearAnew(node));
                ifUp(node, () -> did(() -> giveUp(node)));
            }
            case 19 -> {
                if (!copies && random.nextInt(40) == 0) {
                    pass((int) SILENCE_MILLIS + 1);
                }
            }
            default -> {}
        }
    }

    private static void ifUp(Node node, Runnable what) {
        if (node.core != null) {
            what.run();
        }
    }

    private void takeLess(Node node) {
        node.intake = ServiceCore.Intake.values()[random.nextInt(3)];
        node.core.take(node.intake);
    }

    private void secondLink(Node node) {
        Node to = services.get(random.nextInt(services.size()));
        if (node != to && node.core != null && to.core != null) {
            connect(node, to);
        }
    }

    /** A client without a birth asks over any outside link. */
    private void askOne() {
        for (Wire wire : wires) {
            if (wire.dialler.client && !wire.closing) {
                long uid = ++uids;
                String kind = random.nextInt(3) == 0 ? "query" : kind();
                wire.toAcceptor.add(
                        new Frame.Ask(uid, new Body(kind + ":" + uid + ":1", new byte[0])));
                return;
            }
        }
    }

    /** A person looks at what was put aside, and at channels that wait (K12). */
    private void operate(Node node) {
        List<Change.ParkedIs> parked = node.core.report().parked();
        if (!parked.isEmpty()) {
            Change.ParkedIs one = parked.get(random.nextInt(parked.size()));
            if (random.nextInt(3) == 0) {
                node.perform(node.core.admin().discardParked(one.id()));
            } else if (!node.client) {
                List<Line> lines = new ArrayList<>();
                lines.add(line(Did.RETRIED, uid(one.body())));
                for (Action action : node.core.admin().retryParked(one.id())) {
                    node.append(((Action.Append) action).delta(), lines);
                }
            }
        }
        ifUp(node, () -> node.core.report().stopped().forEach(node.core.admin()::resume));
    }

    private void declareLost(Node node) {
        Node other = services.get(random.nextInt(services.size()));
        boolean members = node.seat != null || other.seat != null;
        if (node.client || other == node || copies || members || random.nextInt(8) > 0) {
            return;
        }
        boolean met =
                node.core.report().channels().stream()
                        .anyMatch(
                                it ->
                                        it.peer().equals(other.name)
                                                && it.birth().equals(Optional.of(other.birth)));
        if (!met) {
            return;
        }
        if (tracing) {
            say("%s hears that %s is gone", node.name, other.name);
        }
        node.perform(node.core.admin().declareLost(other.name, other.birth, "declared gone"));
    }

    /** A person gives up what waits for a name that is nobody's. */
    private boolean giveUp(Node node) {
        boolean waits =
                node.core.report().channels().stream()
                        .anyMatch(it -> it.peer().equals(NOBODY) && it.unacked() > 0);
        if (waits) {
            node.perform(node.core.admin().giveUp(NOBODY, GIVEN_UP));
        }
        return waits;
    }

    private void backUpOrBearAnew(Node node) {
        if (copies || node.core == null || node.seat != null) {
            return;
        }
        if (node.copy == null && random.nextBoolean()) {
            node.copy = new Copy(node);
        } else if (random.nextInt(3) == 0) {
            bearAnew(node);
        }
    }

    /** An operator gives a folder a new birth: that of the last start, or a backup (K11). */
    private void bearAnew(Node node) {
        Map<Line, Long> before = new HashMap<>(node.log);
        long forcedTurn = node.forcedTurn();
        node.crash();
        boolean backup = node.copy != null && random.nextBoolean();
        Birth last = node.birth;
        if (backup) {
            node.copy.restore();
        }
        if (tracing) {
            say("%s has a new generation, from %s", node.name, backup ? "a backup" : "its folder");
        }
        Set<Line> kept = node.kept();
        Set<Line> forced = new HashSet<>();
        before.forEach(
                (line, turn) -> {
                    if (turn <= forcedTurn || kept.contains(line)) {
                        forced.add(line);
                    }
                    if (!kept.contains(line)) {
                        lose(node, line, turn <= forcedTurn, before);
                    }
                });
        lostLogs.put(last, forced);
        for (Node other : nodes) {
            // What they still have to tell the old birth.
            outboxes(other).entrySet().stream()
                    .filter(it -> ServiceCore.nameOf(it.getKey()).equals(node.name))
                    .forEach(it -> goes(it.getKey(), it.getValue()));
        }
        if (broken != Broken.K11_NUMBERS_INHERITED) {
            node.formers.add(node.birth);
            node.birth = newGeneration();
        }
        node.starts = new ArrayList<>();
        node.start();
        if (broken == Broken.K11_OUTBOX_KEPT) {
            sendAgain(node);
        }
        lookAtAll(node);
    }

    /** What came back goes out once more, as if it had never left. */
    private void sendAgain(Node node) {
        for (Change change : node.core.snapshot().changes()) {
            if (change instanceof Change.ReturnIs it && it.returned().perhapsConsumed()) {
                node.perform(node.core.submit(it.returned().service(), it.returned().body()));
            }
        }
    }

    private void lose(Node node, Line line, boolean forced, Map<Line, Long> log) {
        if (forced) {
            lost.add(line);
        }
        // What a service told itself is state, and happens again where the state is older.
        Meta meta = metas.get(line.id());
        boolean own = meta != null && meta.from == node;
        if (line.did() == Did.CONSUMED && !own && !log.containsKey(line(Did.RETRIED, line.id()))) {
            consumedByLost.add(line.id());
        }
    }

    /** Whoever left that service sees it at another address, or looks again after a time. */
    private void lookAtAll(Node moved) {
        boolean seen = random.nextBoolean();
        for (Node node : nodes) {
            if (seen && node.left.remove(moved.name)) {
                node.reached.add(moved.name);
            }
        }
    }

    private void takeOrRunCopy(Node node) {
        if (!copies) {
            return;
        }
        if (node.copy == null) {
            if (node.core != null && node.forced > 0) {
                node.copy = new Copy(node);
            }
        } else if (node.core != null && !node.copy.running && random.nextInt(3) == 0) {
            copiesRan = true;
            // The newer folder keeps all that was forced, as somebody still has it.
            node.crash();
            if (tracing) {
                say("%s starts from an old copy", node.name);
            }
            node.copy.run();
            node.start();
        }
    }

    private void recreateOne(Node node) {
        if (node.core != null && node.seat == null && random.nextInt(4) == 0 && !copies) {
            recreate(node);
        }
    }

    private void recreate(Node node) {
        if (tracing) {
            say("%s is made anew", node.name);
        }
        Set<Line> forced = new HashSet<>();
        node.log.forEach(
                (line, turn) -> {
                    if (turn <= node.forcedTurn()) {
                        forced.add(line);
                    }
                    if (line.did() == Did.CONSUMED) {
                        consumedByLost.add(line.id());
                    }
                });
        lostLogs.put(node.birth, forced);
        lost.addAll(forced);
        node.stop(0);
        node.birth = broken == Broken.K11_NUMBERS_INHERITED ? node.birth : newGeneration();
        node.starts = new ArrayList<>();
        node.base = null;
        node.written = new ArrayList<>();
        node.forced = 0;
        node.files = new SimulatedOutbox();
        node.copy = null;
        node.formers.clear();
        node.number = 0;
        node.start();
        lookAtAll(node);
    }

    private static boolean isCopy(Node node) {
        return node.copy != null && node.copy.running;
    }

    private Birth newGeneration() {
        return new Birth(random.nextLong(), random.nextLong());
    }

    private void pass(long millis) {
        wallMillis += millis;
        steadyMillis += millis;
    }

    private boolean step() {
        List<BooleanSupplier> possible = new ArrayList<>();
        for (Node node : nodes) {
            if (node.core == null) {
                if (node.seat == null || !node.seat.isUp()) {
                    possible.add(() -> did(node::start));
                }
                continue;
            }
            possible.add(node::turn);
            if (node.seat == null && node.forced < node.written.size()) {
                possible.add(() -> did(node::force));
            }
            if (node.client && !healing && random.nextInt(3) == 0) {
                possible.add(() -> did(node::submit));
            }
            for (Action.Fetch fetch : node.fetches) {
                possible.add(() -> did(() -> node.fetched(fetch)));
            }
            for (String to : node.reached) {
                possible.add(() -> reach(node, to));
            }
            for (Action.Call call : node.calls.values()) {
                possible.add(() -> returned(node, call));
            }
        }
        for (Wire wire : wires) {
            if (wire.slow && !healing && random.nextInt(8) > 0) {
                continue;
            }
            if (wire.waits(true)) {
                possible.add(() -> did(() -> wire.deliver(true)));
            }
            if (wire.waits(false)) {
                possible.add(() -> did(() -> wire.deliver(false)));
            }
        }
        if (group != null) {
            group.steps(healing || calm).forEach(it -> possible.add(() -> did(it)));
        }
        for (Down down : downs) {
            possible.add(() -> did(() -> hearDown(down)));
        }
        while (!possible.isEmpty()) {
            if (possible.remove(random.nextInt(possible.size())).getAsBoolean()) {
                return true;
            }
        }
        return false;
    }

    private static boolean did(Runnable what) {
        what.run();
        return true;
    }

    private void hearDown(Down down) {
        downs.remove(down);
        if (tracing) {
            say("%s hears that %d is gone", down.node().name, down.link().id());
        }
        down.node().perform(down.core().linkDown(down.link()));
    }

    private boolean reach(Node from, String name) {
        Node to = nodes.stream().filter(it -> it.name.equals(name)).findFirst().orElse(null);
        if (to == null) {
            return false;
        }
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
                        ? Optional.of(new Body(kind() + ":" + ++uids + ":0", new byte[0]))
                        : Optional.empty();
        if (tracing) {
            say("%s: call %s returned %s", node.name, call.id(), answer);
        }
        node.perform(node.core.result(call.output(), answer));
        return true;
    }

    // ---- mending

    private void heal() {
        healing = true;
        nodes.forEach(it -> it.fuse = 0);
        for (Node node : nodes) {
            if (node.core == null) {
                node.start();
            }
        }
        meetCopies();
        comeToRest();
        if (goesOn()) {
            // Messages that kill may have parted them before they heard each other.
            meetCopies();
            comeToRest();
        }
    }

    private void comeToRest() {
        for (int round = 0; round < MOST_ROUNDS_TO_REST && goesOn(); round++) {
            nodes.stream().filter(it -> it.core != null).forEach(this::takeAll);
            int steps = 0;
            leaveEarly();
            while (goesOn() && (step() || beginAnew())) {
                leaveEarly();
                if (++steps > MOST_STEPS_TO_REST) {
                    check(false, "no end");
                    return;
                }
            }
            for (Node node : nodes) {
                check(node.core != null, "%s does not run: %s", node.name, group);
            }
            if (!goesOn() || !(letGoOn() || sleep())) {
                return;
            }
        }
        check(!goesOn(), "no rest");
    }

    private void takeAll(Node node) {
        node.intake = ServiceCore.Intake.ALL;
        node.core.take(node.intake);
    }

    /** Channels that wait for a person or another start. */
    private boolean letGoOn() {
        boolean any = false;
        for (Node node : nodes) {
            any |= giveUp(node);
            List<String> stopped = node.core.report().stopped();
            any |= !stopped.isEmpty();
            if (!stopped.isEmpty() && random.nextBoolean()) {
                node.crash();
                node.start();
            } else {
                stopped.forEach(node.core.admin()::resume);
            }
        }
        return any;
    }

    /**
     * Of two births whose pair is over one begins anew, or has a new birth, as they have nothing to
     * tell each other. They came to rest before: none dials the other for ever (K15).
     */
    private boolean beginAnew() {
        if (overPairs.isEmpty()) {
            return false;
        }
        for (Node node : nodes) {
            for (Node other : services) {
                if (node != other && overPairs.contains(pair(node.birth, other.birth))) {
                    boolean first =
                            other.seat != null || (node.seat == null && random.nextBoolean());
                    Node one = node.client || first ? node : other;
                    if (random.nextBoolean()) {
                        bearAnew(one);
                    } else {
                        recreate(one);
                    }
                    return true;
                }
            }
        }
        return false;
    }

    private static Set<Birth> pair(Birth one, Birth other) {
        return new HashSet<>(List.of(one, other));
    }

    /** Until one has something to do; false where none has. */
    private boolean sleep() {
        long wait = Long.MAX_VALUE;
        boolean patient = false;
        for (Node node : nodes) {
            if (!isPatient(node)) {
                continue;
            }
            patient = true;
            long own = node.core.waitMillis(moment());
            check(
                    own <= 5_000 || !node.calls.isEmpty(),
                    "%s sleeps %d ms and has work",
                    node.name,
                    own);
            wait = Math.min(wait, node.calls.isEmpty() ? own : 50);
        }
        if (!patient && nodes.stream().anyMatch(ServiceWorld::waitsForOneItLeft)) {
            wait = Pairs.LEFT_MILLIS;
            patient = true;
        }
        if (patient) {
            pass(wait);
        }
        return patient;
    }

    /** An old copy that goes on meets everybody, so that whoever knows more can say so. */
    private void meetCopies() {
        for (Node node : List.copyOf(nodes)) {
            for (Node other : nodes) {
                if (isCopy(node) && other != node && !(node.client && other.client)) {
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
    private static boolean isPatient(Node node) {
        return node.core != null
                && (node.core.hasInputs()
                        || node.core.report().timers() > 0
                        || !node.calls.isEmpty());
    }

    private static boolean waitsForOneItLeft(Node node) {
        return node.core.report().channels().stream()
                .anyMatch(it -> it.unacked() > 0 && node.left.contains(it.peer()));
    }

    // ---- counting

    private void count() {
        Map<Long, List<Node>> consumers = new TreeMap<>();
        Map<Long, Node> sent = new LinkedHashMap<>();
        Set<Long> back = new HashSet<>();
        Set<Long> backNotConsumed = new HashSet<>();
        Set<Long> retried = new HashSet<>();
        Map<Long, List<Node>> putAside = new HashMap<>();
        for (Node node : nodes) {
            for (Line line : node.log.keySet()) {
                long id = line.id();
                switch (line.did()) {
                    case SENT -> sent.put(id, node);
                    case CONSUMED ->
                            consumers.computeIfAbsent(id, it -> new ArrayList<>()).add(node);
                    case CAME_BACK -> {
                        back.add(id);
                        if (line.with().equals("false")) {
                            backNotConsumed.add(id);
                        }
                    }
                    case RETRIED -> retried.add(id);
                    case PUT_ASIDE ->
                            putAside.computeIfAbsent(id, it -> new ArrayList<>()).add(node);
                    default -> {}
                }
            }
            countOne(node);
        }
        for (Map.Entry<Long, List<Node>> entry : consumers.entrySet()) {
            long uid = entry.getKey();
            Meta meta = metas.get(uid);
            if (meta != null && meta.ofCopy && !isCopy(meta.from)) {
                diverged = true;
                return;
            }
            check(entry.getValue().size() == 1, "message %d is consumed twice", uid);
            check(!consumedByLost.contains(uid), "message %d is consumed by two generations", uid);
            check(
                    meta == null
                            || sent.containsKey(uid)
                            || retried.contains(uid)
                            || isLost(line(Did.SENT, uid)),
                    "message %d was consumed, and nobody sent it",
                    uid);
            check(
                    !backNotConsumed.contains(uid) || retried.contains(uid),
                    "message %d was consumed, and came back as not consumed",
                    uid);
        }
        for (Map.Entry<Long, Node> entry : sent.entrySet()) {
            long uid = entry.getKey();
            Node from = entry.getValue();
            Meta meta = metas.get(uid);
            // What came back may have been put aside in its turn.
            boolean setAside = putAside.getOrDefault(uid, List.of()).contains(from);
            boolean told = back.contains(uid) || setAside;
            check(
                    consumers.containsKey(uid)
                            || told
                            || putAside.containsKey(uid)
                            || isLost(line(Did.CONSUMED, uid))
                            || isLost(line(Did.PUT_ASIDE, uid))
                            || isLostClient(meta.to)
                            || unanswered.contains(uid),
                    "message %d was sent, and is nowhere",
                    uid);
            check(
                    told || !putAside.containsKey(uid) || isUntold(from, meta, uid),
                    "message %d is a dead letter, and its sender was not told",
                    uid);
            boolean perhaps =
                    (back.contains(uid) && !backNotConsumed.contains(uid))
                            || meta.to.equals(NOBODY);
            check(
                    copiesRan
                            || setAside
                            || retried.contains(uid)
                            || meta.to.indexOf(ServiceCore.RESERVED) >= 0
                            || from.core.acked(meta.to, meta.count) != perhaps,
                    "%s: message %d, which is number %d to %s, acked: %s",
                    from.name,
                    uid,
                    meta.count,
                    meta.to,
                    perhaps);
        }
    }

    /** Whether the refusal went with its pair, or that it came with a folder. */
    private boolean isUntold(Node from, Meta meta, long uid) {
        boolean heardByNewer =
                isLost(new Line(Did.CAME_BACK, uid, "false")) || isLost(line(Did.PUT_ASIDE, uid));
        // What was not acked came back, whatever became of the refusal.
        boolean acked =
                meta.to.indexOf(ServiceCore.RESERVED) >= 0 || from.core.acked(meta.to, meta.count);
        return acked && (heardByNewer || untold.contains(uid));
    }

    private void goes(String peer, List<Change.Unacked> outbox) {
        for (Change.Unacked each : outbox) {
            if (each.refusal().isPresent()) {
                untold.add(uid(each.body()));
            } else if (peer.indexOf(ServiceCore.RESERVED) >= 0) {
                unanswered.add(uid(each.body()));
            }
        }
    }

    private boolean isLost(Line line) {
        return lost.contains(line);
    }

    private void countOne(Node node) {
        for (Line line : node.log.keySet()) {
            if (line.did() == Did.TIMER_SET) {
                check(
                        node.log.containsKey(line(Did.TIMER_WENT_OFF, line.id()))
                                || node.log.containsKey(line(Did.TIMER_CANCELLED, line.id()))
                                || node.log.containsKey(line(Did.PUT_ASIDE, uid(line.with()))),
                        "%s: timer %s never went off",
                        node.name,
                        line);
            }
        }
        check(
                node.core.report().openOutputs() == 0,
                "%s: %d calls are made no more",
                node.name,
                node.core.report().openOutputs());
        for (CoreReport.Channel channel : node.core.report().channels()) {
            check(
                    channel.unacked() == 0 || isLostClient(channel.peer()),
                    "%s still has %d messages for %s",
                    node.name,
                    channel.unacked(),
                    channel.peer());
            check(channel.held() == 0, "%s still holds messages of %s", node.name, channel.peer());
        }
        // Acks are recorded with the next turn, whichever that is.
        Body none = new Body("m:0:0", new byte[0]);
        check(
                node.seat == null || node.forcedTurn() == node.newest(),
                "%s: turn %d is the newest, and only %d is final: %s",
                node.name,
                node.newest(),
                node.seat == null ? 0 : node.forcedTurn(),
                group);
        node.perform(node.core.submit(SOMEBODY, none));
        node.forced = node.written.size();
        if (node.seat == null) {
            node.perform(node.core.moved(Finals.turns(node.newest())));
        } else {
            node.seat.journal.seal();
            node.seat.journal.sync();
            node.moved();
        }
        check(
                node.files.isEmpty()
                        ? node.core.report().channels().stream().allMatch(it -> it.inFiles() == 0)
                        : node.core.report().channels().stream()
                                .anyMatch(it -> it.unacked() > 0 && !it.peer().equals(SOMEBODY)),
                "%s has files that nobody needs, or lacks some",
                node.name);
        String now = text(node.core, node.files);
        List<Delta> recovered = node.deltas();
        Optional<List<Delta>> all = node.allDeltas();
        for (boolean ofBase : new boolean[] {true, all.isEmpty()}) {
            String then =
                    recover(
                            node,
                            ofBase ? recovered : all.get(),
                            Optional.ofNullable(ofBase ? node.base : null));
            // Where a rule is broken its consequence is to be noticed, not what the record lacks.
            check(
                    broken != Broken.NOTHING || then.equals(now),
                    "%s: recovered, it is%n%s, was%n%s",
                    node.name,
                    then,
                    now);
        }
    }

    /** Answers to a client's birth that is gone go with it. */
    private boolean isLostClient(String key) {
        int birth = key.indexOf(ServiceCore.RESERVED);
        return birth >= 0 && lostLogs.containsKey(Birth.parse(key.substring(birth + 1)));
    }

    private String recover(Node node, List<Delta> deltas, Optional<Folded> base) {
        ServiceCore other = new ServiceCore(node.name, node.starts, limits);
        SimulatedOutbox files = node.files.copy();
        recover(other, files, deltas, base);
        return text(other, files);
    }

    private static void recover(
            ServiceCore core, SimulatedOutbox files, List<Delta> deltas, Optional<Folded> base) {
        files.cutTo(base.map(Folded::files).orElse(Map.of()));
        for (Delta delta : deltas) {
            core.recover(delta);
            files.store(core.stored());
        }
    }

    /**
     * What each folder leads to, as a text: turn by turn, and with the same turns joined.
     *
     * @param joined joins some turns in a row, of any starts
     * @param both takes the two texts
     */
    void recoverJoined(UnaryOperator<List<Delta>> joined, BiConsumer<String, String> both) {
        for (Node node : nodes) {
            Optional<Folded> base = Optional.ofNullable(node.base);
            List<Delta> turns = node.written.stream().map(Written::delta).toList();
            both.accept(exactly(node, base, turns), exactly(node, base, joined.apply(turns)));
            node.allDeltas()
                    .ifPresent(
                            all ->
                                    both.accept(
                                            exactly(node, Optional.empty(), all),
                                            exactly(node, Optional.empty(), joined.apply(all))));
        }
    }

    private String exactly(Node node, Optional<Folded> base, List<Delta> turns) {
        List<Delta> all = new ArrayList<>();
        base.ifPresent(it -> all.add(it.delta()));
        all.addAll(turns);
        ServiceCore core = new ServiceCore(node.name, limits);
        SimulatedOutbox files = node.files.copy();
        recover(core, files, all, base);
        Delta delta = core.snapshot();
        List<String> texts = new ArrayList<>();
        Map<Long, String> returns = new TreeMap<>();
        for (Change change : files.expand(delta.changes())) {
            if (change instanceof Change.ReturnIs it) {
                // Whether it came back from the heap or from a file is of no matter.
                returns.put(it.id(), it.toString());
            } else {
                texts.add(change.toString());
            }
        }
        return delta.turn() + " " + delta.nowMillis() + "\n" + texts + "\n" + returns;
    }

    /** What a folder's outboxes hold, without acks that are not recorded. */
    private Map<String, List<Change.Unacked>> outboxes(Node node) {
        ServiceCore core = new ServiceCore(node.name, node.starts, limits);
        SimulatedOutbox files = node.files.copy();
        recover(core, files, node.deltas(), Optional.ofNullable(node.base));
        Map<String, List<Change.Unacked>> outboxes = new LinkedHashMap<>();
        for (Change change : files.expand(core.snapshot().changes())) {
            if (change instanceof Change.PeerIs it) {
                outboxes.put(it.peer(), it.unacked());
            }
        }
        return outboxes;
    }

    private static String text(ServiceCore core, SimulatedOutbox files) {
        Delta delta = core.snapshot();
        // When a peer was heard last is recorded with the next turn, so it may be a bit later.
        List<Change> changes = new ArrayList<>();
        for (Change change : files.expand(delta.changes())) {
            changes.add(
                    change instanceof Change.PeerIs it
                            ? SimulatedOutbox.with(it, 0, it.unacked())
                            : change);
        }
        return delta.turn() + " " + delta.nowMillis() + " " + changes;
    }

    // ---- small things

    private Moment moment() {
        return new Moment(
                wallMillis, broken == Broken.K16_WALL_IS_STEADY ? wallMillis : steadyMillis);
    }

    private static long uid(Body body) {
        return uid(body.type());
    }

    private static long uid(String type) {
        int from = type.indexOf(':') + 1;
        return Long.parseLong(type, from, type.indexOf(':', from), 10);
    }

    private static int ttl(String type) {
        return Integer.parseInt(type.substring(type.lastIndexOf(':') + 1));
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
