package io.saucr.services.core.replay;

import io.saucr.services.core.replay.Handler.PoisonException;
import io.saucr.services.core.replay.Handler.Shared;
import io.saucr.services.core.replay.LaneRecord.Edge;
import io.saucr.services.core.replay.LockWaits.Waiting;
import io.saucr.services.core.replay.Replay.What;
import io.saucr.services.core.replay.ReplayWorld.Step.Kind;
import io.saucr.services.core.replay.Requests.Open;
import io.saucr.services.core.replay.Requests.Verdict;
import io.saucr.services.core.replay.TurnRecord.Begin;
import io.saucr.services.core.replay.TurnRecord.End;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;

/**
 * A service whose handlers run in lanes: one member is primary, records and cuts, a head names
 * segments, and the others replay them. {@link #steps} are all that may happen next, and a driver
 * chooses one: no lane moves otherwise. Clients send each message until it is answered. One thread.
 */
final class ReplayWorld {

    /** As many primaries may run a request. */
    static final int MOST_ATTEMPTS = 2;

    /** Segments under way to the head. */
    private static final int MOST_NOT_NAMED = 2;

    /**
     * What may happen next.
     *
     * @param at a lane or a channel
     * @param more a choice; below 0 for a lane that replays
     */
    record Step(Kind kind, int member, int at, int more) {

        /** What a member does. */
        enum Kind {
            BEGIN,
            LANE,
            END,
            CUT,
            NAME,
            KILL,
            QUIET,
            FOLLOW,
            TURN,
            BARRIER,
            TAKE_OVER,
            // Faults.
            CRASH,
            DEPOSE
        }

        /** Whether a lane replays. */
        boolean follows() {
            return kind == Kind.LANE && more < 0;
        }

        boolean isFault() {
            return kind.compareTo(Kind.CRASH) >= 0;
        }

        @Override
        public String toString() {
            return kind + " " + member + " " + at + " " + more;
        }
    }

    /**
     * What a world is about.
     *
     * @param channels handlers by channel, in the order in which they are sent
     * @param crashes of members, at most
     * @param deposes primaries that are replaced while they run, at most
     * @param quietCuts at most
     * @param cuts while anything else may happen, at most
     */
    record Size(
            int members,
            int lanes,
            List<List<List<Op>>> channels,
            int crashes,
            int deposes,
            int quietCuts,
            int cuts) {}

    private record Reply(long number, boolean threw, long sum) {}

    @SuppressWarnings("ArrayRecordComponent") // Not compared.
    private record Snapshot(
            int segments,
            long[] values,
            boolean[] flags,
            Map<Long, Long> consumed,
            long newest,
            Map<Long, Reply> replies) {

        String text() {
            return Arrays.toString(values)
                    + Arrays.toString(flags)
                    + new TreeMap<>(consumed)
                    + newest
                    + new TreeMap<>(replies);
        }
    }

    private final Size size;
    private final Broken broken;
    private final List<Member> members = new ArrayList<>();
    private final List<byte[]> log = new ArrayList<>();
    private final Map<Integer, String> snapshots = new HashMap<>();
    private final Map<String, Integer> named = new HashMap<>();
    private final Map<String, Reply> answered = new HashMap<>();
    private final Map<String, Integer> deaths = new TreeMap<>();
    private final int[] sent;
    private int epoch;
    private int crashes;
    private int deposes;
    private int quietCuts;
    private int cuts;

    /** What is wrong, if anything. */
    final List<String> violations = new ArrayList<>();

    int killedInside;
    int killedBefore;
    int poisoned;
    int raised;
    int kept;

    ReplayWorld(Size size, Broken broken) {
        this.size = size;
        this.broken = broken;
        sent = new int[size.channels.size()];
        for (int number = 0; number < size.members; number++) {
            members.add(new Member(number));
        }
        members.get(0).takeOver();
    }

    // ---- the driver's side

    /** All that may happen next, in an order that is always the same. */
    List<Step> steps() {
        List<Step> steps = new ArrayList<>();
        boolean hasPrimary =
                members.stream().anyMatch(it -> it.isPrimary() && it.ownEpoch == epoch);
        for (Member member : members) {
            if (member.isPrimary()) {
                member.primarySteps(steps);
            } else {
                member.followerSteps(steps);
                if (member.isWarm() && (!hasPrimary || deposes < size.deposes)) {
                    Kind kind = hasPrimary ? Kind.DEPOSE : Kind.TAKE_OVER;
                    steps.add(new Step(kind, member.number, 0, 0));
                }
            }
            if (crashes < size.crashes) {
                steps.add(new Step(Kind.CRASH, member.number, 0, 0));
            }
        }
        return steps;
    }

    /** Takes one of {@link #steps}. */
    void take(Step step) {
        try {
            members.get(step.member).take(step);
        } catch (DivergedException | IllegalStateException e) {
            violations.add(step + ": " + e.getMessage());
        }
    }

    /** Nothing but faults may happen: all is done, and all members have the same. */
    void checkRest() {
        Member first = members.get(0);
        for (int channel = 0; channel < sent.length; channel++) {
            if (sent[channel] < size.channels.get(channel).size()) {
                violations.add("channel " + channel + " is not answered after " + sent[channel]);
            }
        }
        for (Member member : members) {
            if (!member.now(0).text().equals(first.now(0).text())) {
                violations.add("members 0 and " + member.number + " differ: " + this);
            }
            if (!member.requests.open().isEmpty()) {
                violations.add("member " + member.number + " has open requests: " + this);
            }
        }
    }

    /** A lane's event that a follower did. */
    record Done(int lane, int clock, LaneEvent event) {}

    /** All that followers did. */
    final List<Done> done = new ArrayList<>();

    /** The clock of the newest event of a follower's lane. */
    int executed(int member, int lane) {
        return members.get(member).replay.executed(lane);
    }

    /** Whether a follower's lane stands before an event, so that its next step does it. */
    boolean isBeforeEvent(int member, int lane) {
        Handler handler = members.get(member).handlers[lane];
        return handler != null && handler.event() != null;
    }

    /** How many segments the head has named. */
    int segments() {
        return log.size();
    }

    /** Bodies of the segments that the head named. */
    List<byte[]> log() {
        return log;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        members.forEach(it -> text.append(it).append('\n'));
        log.forEach(it -> text.append(Arrays.hashCode(it)).append(' '));
        return text.append(epoch)
                .append(Arrays.toString(sent))
                .append(crashes)
                .append(deposes)
                .append(quietCuts)
                .append(Math.min(cuts, size.cuts))
                .append(deaths)
                .toString();
    }

    private List<Op> lines(long channel, long number) {
        return size.channels.get((int) channel).get((int) number - 1);
    }

    private final class Member {
        private final int number;
        private Snapshot snapshot =
                new Snapshot(
                        0,
                        new long[Op.RESOURCES],
                        new boolean[Op.RESOURCES],
                        Map.of(),
                        0,
                        Map.of());
        private final Deque<byte[]> notNamed = new ArrayDeque<>();
        private final Deque<Snapshot> notKept = new ArrayDeque<>();
        private Shared shared;
        private Requests requests;
        private Replay replay;
        private Recording recording;
        private long ownEpoch;
        private Handler[] handlers;
        private Map<Long, Reply> replies;
        private Map<Long, Long> ends;
        private int startedAt;
        private int appended;

        Member(int number) {
            this.number = number;
            start();
        }

        /** A life begins, from the snapshot. */
        private void start() {
            shared = new Shared(size.lanes);
            System.arraycopy(snapshot.values, 0, shared.values, 0, Op.RESOURCES);
            System.arraycopy(snapshot.flags, 0, shared.flags, 0, Op.RESOURCES);
            requests = new Requests(size.lanes, snapshot.consumed, snapshot.newest);
            replay = new Replay(requests, shared.resources);
            recording = null;
            handlers = new Handler[size.lanes + 1];
            replies = new TreeMap<>(snapshot.replies);
            ends = new TreeMap<>();
            appended = snapshot.segments;
            startedAt = appended;
            notNamed.clear();
            notKept.clear();
        }

        private Snapshot now(int segments) {
            return new Snapshot(
                    segments,
                    shared.values.clone(),
                    shared.flags.clone(),
                    Map.copyOf(requests.consumed()),
                    requests.newest(),
                    Map.copyOf(replies));
        }

        private void keep(Snapshot newer) {
            kept++;
            snapshot = newer;
            String before = snapshots.putIfAbsent(newer.segments, newer.text());
            if (before != null && !before.equals(newer.text())) {
                violations.add("snapshots at segment " + newer.segments + " differ");
            }
        }

        private boolean isPrimary() {
            return recording != null;
        }

        private void take(Step step) {
            switch (step.kind) {
                case BEGIN -> begin(step.at);
                case LANE -> {
                    if (isPrimary()) {
                        record(step.at, step.more);
                    } else {
                        replay(step.at);
                    }
                }
                case END -> end(step.at);
                case CUT -> cut(step.more);
                case NAME -> name();
                case KILL -> kill(step.at);
                case QUIET -> quiet();
                case FOLLOW -> follow();
                case TURN -> turn();
                case BARRIER -> passBarrier();
                case TAKE_OVER -> takeOver();
                case CRASH -> {
                    crashes++;
                    start();
                }
                case DEPOSE -> {
                    deposes++;
                    takeOver();
                }
            }
        }

        // ---- as primary

        private void takeOver() {
            epoch++;
            ownEpoch = epoch;
            for (int lane = 1; lane <= size.lanes; lane++) {
                if (handlers[lane] != null) {
                    handlers[lane].records();
                    if (broken == Broken.X9_WAITER_NOT_WOKEN && replay.awaits(lane)) {
                        int lock = handlers[lane].event().resource().number();
                        shared.waiters.get(lock).add(lane);
                    }
                }
            }
            recording = replay.takeOver(broken == Broken.X11_NEVER_KILLED ? 1000 : MOST_ATTEMPTS);
            replay = null;
            cut(0);
        }

        private void primarySteps(List<Step> steps) {
            int others = steps.size();
            for (int channel = 0; channel < sent.length; channel++) {
                if (sent[channel] < size.channels.get(channel).size()
                        && requests.offer(channel, sent[channel] + 1L) == Verdict.BEGIN) {
                    steps.add(new Step(Kind.BEGIN, number, channel, 0));
                }
            }
            for (int lane = 1; lane <= size.lanes; lane++) {
                Handler handler = handlers[lane];
                if (handler != null && handler.over) {
                    steps.add(new Step(Kind.END, number, lane, 0));
                } else if (canRecord(lane)) {
                    for (int choice = choices(lane) - 1; choice >= 0; choice--) {
                        steps.add(new Step(Kind.LANE, number, lane, choice));
                    }
                }
            }
            OptionalInt victim = victim();
            if (victim.isPresent() && broken != Broken.X11_CIRCLE_STAYS) {
                steps.add(new Step(Kind.KILL, number, victim.getAsInt(), 0));
            }
            boolean mayCut = steps.size() == others || cuts < size.cuts;
            if (mayCut && !recording.isCut() && notNamed.size() < MOST_NOT_NAMED) {
                steps.add(new Step(Kind.CUT, number, 0, 0));
                if (size.lanes > 1) {
                    steps.add(new Step(Kind.CUT, number, 0, 1));
                }
            }
            boolean hears = ownEpoch != epoch && broken != Broken.X18_CONTINUES;
            if (!notNamed.isEmpty() || hears) {
                steps.add(new Step(Kind.NAME, number, 0, 0));
            }
            if (recording.isQuiet() && notNamed.isEmpty() && quietCuts < size.quietCuts) {
                steps.add(new Step(Kind.QUIET, number, 0, 0));
            }
        }

        private void begin(int channel) {
            Begin begin =
                    recording.begin(
                            channel, sent[channel] + 1L, 1000 + epoch, epoch, new byte[] {7});
            handlers[begin.lane()] = handler(begin, true);
        }

        private Handler handler(Begin begin, boolean records) {
            List<Op> lines = lines(begin.sender(), begin.number());
            Handler handler = new Handler(begin, lines, shared, records);
            handler.undoes = broken == Broken.X12_CHANGES_UNDONE;
            return handler;
        }

        private boolean mayRun(int lane) {
            return recording.mayRun(lane)
                    || broken == Broken.X9_ATTEMPT_NOT_NAMED
                    || (broken == Broken.X11_NOT_ON_TRIAL && recording.isNamed(0));
        }

        private boolean canRecord(int lane) {
            Handler handler = handlers[lane];
            if (handler == null || handler.over || !mayRun(lane)) {
                return false;
            }
            LaneEvent event = handler.event();
            if (event == null || event.kind() == LaneEvent.Kind.TRY || !event.acquires(1)) {
                return true;
            }
            if (broken == Broken.X2_TAKEN_BEFORE_HELD && !handler.recordedEarly) {
                return true;
            }
            boolean awaits =
                    event.kind() == LaneEvent.Kind.ACQUIRE
                            && shared.waiters.get(event.resource().number()).contains(lane);
            return !awaits && shared.isFree(event, lane);
        }

        /** How many results the lane's event can have. */
        private int choices(int lane) {
            LaneEvent event = handlers[lane].event();
            return event == null
                    ? 1
                    : switch (event.kind()) {
                        case CHOOSE -> 2;
                        // Its time is over, or it was woken.
                        case WAKE ->
                                shared.waiters.get(event.resource().number()).contains(lane)
                                        ? 1
                                        : 2;
                        default -> 1;
                    };
        }

        private void record(int lane, int choice) {
            Handler handler = handlers[lane];
            LaneEvent event = handler.event();
            RecordedLane recorded = recording.lane(lane);
            if (event != null) {
                int result =
                        event.kind() != LaneEvent.Kind.TRY
                                ? choice
                                : shared.isFree(event, lane) ? 1 : 0;
                boolean early =
                        broken == Broken.X2_TAKEN_BEFORE_HELD
                                && event.kind() == LaneEvent.Kind.ACQUIRE;
                boolean late =
                        broken == Broken.X2_RELEASED_BEFORE_RECORDED
                                && event.kind() == LaneEvent.Kind.RELEASE;
                if (!handler.recordedEarly && !late) {
                    recorded.happened(event, result);
                }
                if (early && !handler.recordedEarly) {
                    handler.recordedEarly = true;
                    return;
                }
                if (late && !handler.recordedEarly) {
                    // The next step records what is let go now.
                    shared.owners[event.resource().number()] = 0;
                    handler.recordedEarly = true;
                    return;
                }
                if (late) {
                    int owner = shared.owners[event.resource().number()];
                    recorded.happened(event, result);
                    handler.happened(result);
                    shared.owners[event.resource().number()] = owner;
                } else {
                    handler.happened(result);
                }
                handler.recordedEarly = false;
            }
            if (recorded.isDoomed() && handler.event() == null && !handler.over) {
                killedInside++;
                recorded.killed(true);
                handler.die();
            }
            run(handler);
        }

        private void run(Handler handler) {
            if (handler.over || handler.event() != null) {
                return;
            }
            try {
                byte[] stored = handler.run();
                if (broken == Broken.X14_BYTES_NOT_COMPARED) {
                    return;
                }
                if (isPrimary()) {
                    recording.lane(handler.lane).saw(stored);
                } else {
                    replay.saw(handler.lane, stored);
                }
            } catch (PoisonException e) {
                poisoned++;
                String key = handler.sender + "#" + handler.number;
                if (!isPrimary()) {
                    violations.add("a follower runs code of " + key + " that killed the primary");
                }
                // Once before a begin is named, then once for each attempt.
                if (deaths.merge(key, 1, Integer::sum) > MOST_ATTEMPTS + 1) {
                    violations.add(key + " has killed one process more than it may");
                }
                start();
            }
        }

        private OptionalInt victim() {
            Map<Integer, Waiting> waiting = new TreeMap<>();
            for (int lane = 1; lane <= size.lanes; lane++) {
                Handler handler = handlers[lane];
                LaneEvent event = handler == null ? null : handler.event();
                if (event != null
                        && mayRun(lane)
                        && event.acquires(0)
                        && !shared.isFree(event, lane)) {
                    waiting.put(
                            lane,
                            new Waiting(
                                    shared.holders(event.resource().number()),
                                    requests.in(lane).request(),
                                    handler.reacquires()));
                }
            }
            return LockWaits.victim(waiting);
        }

        private void kill(int lane) {
            killedBefore++;
            recording.lane(lane).killed(false);
            handlers[lane].die();
            run(handlers[lane]);
        }

        private void end(int lane) {
            Open open = requests.in(lane);
            Handler handler = handlers[lane];
            ends.put(handler.sender, recording.end(open.request(), handler.threw, new byte[0]));
            ended(handler);
            if (broken == Broken.X5_REPLY_BEFORE_NAMED) {
                answer();
            }
        }

        private void ended(Handler handler) {
            replies.put(handler.sender, new Reply(handler.number, handler.threw, handler.sum));
            handlers[handler.lane] = null;
        }

        /** A cut while the lanes run: in between the first ones do what they can. */
        private void cut(int running) {
            cuts++;
            int[] read = new int[size.lanes + 1];
            TraceSegment segment =
                    recording
                            .cut(
                                    lane -> {
                                        if (running > 0 && lane > 1) {
                                            runs(lane - 1);
                                            runs(lane);
                                        }
                                        read[lane] = recording.lane(lane).published();
                                    })
                            .orElseThrow();
            List<Integer> until = new ArrayList<>(segment.until());
            for (int lane = 1; lane <= size.lanes; lane++) {
                if (read[lane] < until.get(lane)) {
                    raised++;
                    until.set(lane, read[lane]);
                }
            }
            TraceSegment cut =
                    broken == Broken.X3_NOT_CLOSED
                            ? new TraceSegment(
                                    segment.barrier(), until, segment.turns(), segment.lanes())
                            : segment;
            notNamed.add(TraceFormat.encode(cut));
        }

        private void runs(int lane) {
            for (int i = 0; i < 2; i++) {
                LaneEvent event = handlers[lane] == null ? null : handlers[lane].event();
                // Code in between may kill the process.
                if (event != null
                        && event.kind() != LaneEvent.Kind.END
                        && canRecord(lane)
                        && !handlers[lane].isPoisoned()) {
                    record(lane, 0);
                }
            }
        }

        private void name() {
            if (ownEpoch != epoch) {
                if (broken != Broken.X18_CONTINUES) {
                    recording.depose();
                    start();
                    return;
                }
                notNamed.remove();
            } else {
                byte[] body = notNamed.remove();
                log.add(body);
                for (TurnRecord turn : decode(body).turns()) {
                    note(turn);
                }
                appended++;
            }
            recording.named();
            if (!notKept.isEmpty() && notKept.peek().segments == appended - 1) {
                keep(notKept.remove());
            }
            answer();
        }

        private void note(TurnRecord turn) {
            if (turn instanceof Begin begin) {
                if (named.merge(begin.sender() + "#" + begin.number(), 1, Integer::sum) > 1) {
                    violations.add(begin.sender() + "#" + begin.number() + " begins twice");
                }
            }
            if (turn instanceof End end) {
                named.put("end " + end.request(), 1);
            }
        }

        /** Answers what clients wait for. */
        private void answer() {
            for (Map.Entry<Long, Reply> each : replies.entrySet()) {
                Reply reply = each.getValue();
                boolean may =
                        recording.isNamed(ends.getOrDefault(each.getKey(), -1L))
                                || broken == Broken.X5_REPLY_BEFORE_NAMED;
                if (may) {
                    String key = each.getKey() + "#" + reply.number;
                    Reply before = answered.putIfAbsent(key, reply);
                    if (before != null && !before.equals(reply)) {
                        violations.add(key + " is answered with " + before + " and " + reply);
                    }
                    int channel = each.getKey().intValue();
                    sent[channel] = (int) Math.max(sent[channel], reply.number);
                    if (!named.containsKey(key)) {
                        violations.add(key + " is answered, and the head does not name it");
                    }
                }
            }
        }

        private void quiet() {
            quietCuts++;
            recording.restartQuietly();
            notKept.add(now(appended));
            cut(0);
        }

        // ---- as follower

        /** Whether it may take over: all is replayed. */
        private boolean isWarm() {
            return appended == log.size() && replay.isAtCut() && replay.barrier() == Barrier.NONE;
        }

        private void followerSteps(List<Step> steps) {
            if (next() != null) {
                steps.add(new Step(Kind.FOLLOW, number, 0, 0));
            }
            if (replay.barrier() != Barrier.NONE) {
                steps.add(new Step(Kind.BARRIER, number, 0, 0));
            }
            if (replay.turn() != null) {
                steps.add(new Step(Kind.TURN, number, 0, 0));
            }
            for (int lane = 1; lane <= size.lanes; lane++) {
                if (canReplay(lane)) {
                    steps.add(new Step(Kind.LANE, number, lane, -1));
                }
            }
        }

        private byte[] next() {
            if (appended < log.size()) {
                return log.get(appended);
            }
            for (Member other : members) {
                if (broken == Broken.X4_REPLAYED_BEFORE_NAMED
                        && other.isPrimary()
                        && appended == log.size()) {
                    return other.notNamed.peek();
                }
            }
            return null;
        }

        private void follow() {
            TraceSegment segment = decode(next());
            appended++;
            if (broken == Broken.X6_EDGE_NOT_AWAITED) {
                List<List<LaneRecord>> lanes =
                        segment.lanes().stream()
                                .map(it -> it.stream().filter(x -> !(x instanceof Edge)).toList())
                                .toList();
                segment =
                        new TraceSegment(
                                segment.barrier(), segment.until(), segment.turns(), lanes);
            }
            try {
                replay.append(segment);
            } catch (BadTraceException e) {
                violations.add("member " + number + " is given no trace: " + e.getMessage());
            }
        }

        private void turn() {
            TurnRecord turn = replay.turn();
            if (turn instanceof Begin begin) {
                replay.turnDone(false);
                handlers[begin.lane()] = handler(begin, false);
            } else if (turn instanceof End end) {
                Handler handler = handlers[requests.open(end.request()).lane()];
                replay.turnDone(handler.threw);
                ended(handler);
            } else {
                replay.turnDone(false);
            }
        }

        private boolean canReplay(int lane) {
            Handler handler = handlers[lane];
            if (handler == null || handler.over) {
                return false;
            }
            if (handler.event() == null) {
                return broken == Broken.X6_RUNS_AHEAD || replay.onReturn(lane).what() != What.WAIT;
            }
            Replay.Step step;
            try {
                step = replay.at(lane, handler.event());
            } catch (DivergedException e) {
                return true; // The step finds it again.
            }
            return switch (step.what()) {
                case WAIT -> false;
                case DIE -> true;
                case CONTINUE ->
                        !handler.event().acquires(step.choice())
                                || shared.isFree(handler.event(), lane);
            };
        }

        private void replay(int lane) {
            Handler handler = handlers[lane];
            LaneEvent event = handler.event();
            if (event == null) {
                if (replay.onReturn(lane).what() == What.DIE) {
                    replay.killed(lane);
                    handler.die();
                }
                run(handler);
                return;
            }
            Replay.Step step = replay.at(lane, event);
            if (step.what() == What.DIE) {
                replay.killed(lane);
                handler.die();
                run(handler);
                return;
            }
            int choice = step.choice();
            if (broken == Broken.X7_CHOICE_NOT_TAKEN && event.kind() == LaneEvent.Kind.TRY) {
                choice = shared.isFree(event, lane) ? 1 : 0;
            }
            replay.done(lane, event, choice);
            done.add(new Done(lane, replay.executed(lane), event));
            handler.happened(choice);
        }

        private void passBarrier() {
            boolean quiet = replay.barrier() == Barrier.QUIET;
            if (quiet || broken == Broken.X13_HALF_REQUEST) {
                keep(now(startedAt + (int) replay.replayed()));
            }
            replay.passBarrier();
        }

        private TraceSegment decode(byte[] body) {
            try {
                return TraceFormat.decode(body);
            } catch (BadTraceException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public String toString() {
            StringBuilder text = new StringBuilder();
            text.append(number).append(now(appended).text()).append(shared.locks());
            text.append(requests).append(shared.resources).append(Arrays.toString(handlers));
            text.append(replay).append(recording).append(ownEpoch).append(ends);
            notNamed.forEach(it -> text.append(Arrays.hashCode(it)).append(' '));
            return text.append(appended)
                    .append(snapshot.segments)
                    .append(notKept.size())
                    .toString();
        }
    }
}
