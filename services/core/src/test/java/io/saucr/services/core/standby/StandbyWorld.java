package io.saucr.services.core.standby;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Epochs;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.Lease;
import io.saucr.services.core.Mark;
import io.saucr.services.core.head.Head;
import io.saucr.services.core.standby.StandbyHead.Copies;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;

/**
 * One to four members of a service over {@link Primary} and {@link Standby}, their disks, links and
 * clocks, and the head in the ensemble. The service is a register: a turn writes a value that
 * nobody wrote before, a read answers with the newest turn of its member. A seed chooses every
 * step; what left is checked at every step, and all once more when everything was mended. Of some
 * services replies to clients leave before they are covered (C7); of some the members share a store
 * that is no member's disk (C3).
 *
 * <p>Faults: processes are killed, lose power, are paused, start again with what was forced, with
 * all that was written, or with an empty folder; links are cut in one direction or both, delayed,
 * closed; requests to the ensemble are lost, answered by nobody, or arrive long after; forces take
 * long; clocks run at different speeds; the head is deleted; the store is slow or takes nothing,
 * and what it was asked before may still land. Many at once, all members, too.
 */
final class StandbyWorld {

    /** A rule that is left out, to see that it is missed. */
    enum Broken {
        NOTHING,
        /** What is written counts as forced. */
        C3_NAMED_BEFORE_IT_IS_FORCED,
        /** What the store is asked to take counts as stored. */
        C3_NAMED_BEFORE_IT_IS_STORED,
        /** The store is said to have a segment, and lacks some before it. */
        C3_STORED_WITHOUT_ITS_CHAIN,
        /** What follows another predecessor is kept. */
        C4_PREDECESSOR_NOT_CHECKED,
        /** The next write goes out before the answer to the last one. */
        C5_TWO_WRITES_UNDER_WAY,
        /** Who takes over need not have the segment. */
        C6_TAKEN_WITHOUT_THE_SEGMENT,
        /** Any segment of its number will do. */
        C6_DIGEST_NOT_CHECKED,
        /** Outputs leave when their segment is cut. */
        C7_LEAVES_BEFORE_IT_IS_NAMED,
        /** What is no early reply leaves with one. */
        C7_ACKED_WITH_THE_EARLY_REPLY,
        /** A read's answer leaves without a proof. */
        C8_READ_WITHOUT_PROOF,
        /** A proof that began before the read came in counts. */
        C8_PROOF_BEGUN_BEFORE,
        /** Replies leave early, whenever office was proven last. */
        C9_LEASE_WITHOUT_END,
        /** Replies leave early, however old the oldest is that is not covered. */
        C9_OLDEST_REPLY_NOT_LOOKED_AT,
        /** Who saw more than survived hears nothing of it. */
        C11_LOSS_NOT_ANNOUNCED,
        /** Only the newest epoch's beginning is known. */
        C11_EARLIER_EPOCHS_FORGOTTEN,
        /** What a client saw counts as covered once its epoch is over. */
        C11_TURN_NOT_COMPARED,
        /** One's own segment under another nonce counts as success. */
        C13_OWN_SEGMENT_OF_ANOTHER,
        /** Turns of a write of which nobody knows are reported as failed. */
        C13_UNKNOWN_IS_FAILURE,
        /** A write of which nobody knows counts as done. */
        C13_UNKNOWN_IS_SUCCESS,
        /** A standby counts, however long it is silent or late. */
        C15_UNPROMPT_STANDBY_COUNTS,
        /** A primary that is alone does not force before the head moves. */
        C15_ALONE_UNFORCED,
        /** A segment is applied when it arrives. */
        C16_APPLIED_BEFORE_IT_IS_NAMED,
        /** Who comes into office keeps what the head never named. */
        C16_ORPHAN_BUILT_UPON,
        /** What the head does not name yet is dropped when the primary is suspected. */
        C16_DROPPED_BEFORE_IT_IS_FENCED,
        /** What was acked is dropped when the link closes. */
        C16_DROPPED_WITH_ITS_LINK,
        /** An ack on a new link counts what came on an old one. */
        C16_ORPHAN_ACKED,
        /** A head that is gone is created anew. */
        C17_HEAD_CREATED_ANEW
    }

    private static final int SILENT_MILLIS = 100;
    private static final int LATE_MILLIS = 150;
    private static final int LINK_TIMEOUT_MILLIS = 1_000;
    private static final int BEAT_MILLIS = 50;

    /** So long a member that starts reads its state. */
    private static final int READS_MILLIS = 200;

    private static final int MOST_CUTS = 4;
    private static final int LATEST_REQUEST_MILLIS = 2_000;

    /** So often it is looked whether all is at rest. */
    private static final int LOOK_MILLIS = 5;

    private static final int REST_MILLIS = 6_000;

    /** An answer that was under way before all was mended comes this late at most. */
    private static final int LATEST_ANSWER_MILLIS = 1_000;

    /** Twice what a standby takes to suspect one who is silent, to ask and to take over. */
    private static final int TAKEOVER_MILLIS = LATEST_ANSWER_MILLIS + 1_200;

    /** The same of one who speaks and cannot commit. */
    private static final int STUCK_MILLIS = LATEST_ANSWER_MILLIS + 3_000;

    private final Random random;

    /** Chooses all that only asynchronous services do. */
    private final Random choice;

    /** Whether replies to clients leave before they are covered, and how long they may (C9). */
    private final boolean async;

    private final int everyMillis;
    private final int leaseMillis;
    private final List<Client> clients = new ArrayList<>();
    private final List<Left> left = new ArrayList<>();
    private final Map<Incarnation, Long> endedTurns = new HashMap<>();
    private final Broken broken;
    private final boolean tracing;

    /** Chooses all that only services with a store do. */
    private final Random storing;

    /** What members share, where they do. */
    private final Optional<Store> store;

    private record Event(long at, long order, Runnable what) implements Comparable<Event> {
        @Override
        public int compareTo(Event other) {
            return at != other.at ? Long.compare(at, other.at) : Long.compare(order, other.order);
        }
    }

    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private long now;
    private long order;
    private long digests;
    private long values;
    private boolean healing;

    /** How often everything was mended. */
    private int mends;

    private final List<Member> members = new ArrayList<>();
    private final Map<String, Member> byName = new HashMap<>();
    private final boolean[][] cut;
    private final int[][] slow;
    private final List<Conn> conns = new ArrayList<>();
    private final Primary.Rules rules;
    private final boolean losesFolders;
    private final boolean losesAllPower;
    private final boolean keepsNonce;
    private final boolean deletesHead;
    private final int faultMillis;

    // The ensemble.
    private StandbyHead head;
    private int version;
    private boolean deleted;

    // What is known from outside.
    private final Map<String, Seg> segments = new HashMap<>();
    private final List<Seg> finals = new ArrayList<>();
    private final List<Long> finalValues = new ArrayList<>();
    private final Map<Long, Integer> places = new HashMap<>();
    private final Map<Incarnation, Long> ended = new HashMap<>();
    private final Map<Long, SegmentId> namedIds = new HashMap<>();
    private StandbyHead lastHead;
    private int visible = -1;
    private boolean folderLost;

    /** What must not be. */
    final List<String> violations = new ArrayList<>();

    /** What should be by now, and is not. */
    final List<String> stalls = new ArrayList<>();

    /** What happened, for people; only where it is asked for. */
    final ArrayDeque<String> trace = new ArrayDeque<>();

    int written;
    int read;
    int takeovers;
    int handovers;
    int lost;
    int early;
    int announced;
    int repeated;
    int namedInStore;
    int loaded;

    /** A reply that left before it was covered. */
    private record Left(Incarnation by, long turn, long at) {}

    /** A segment, and what it does to the state. */
    private record Seg(
            SegmentId id, String previous, long lastTurn, List<Long> turns, long named) {}

    private record Output(long value, long turn) {}

    private record Reading(long number, long cameIn, int visible, long saw, long turn) {}

    private enum Kind {
        FOLLOW,
        WELCOME,
        SORRY,
        SEGMENT,
        COMMITTED,
        BEAT,
        WRITTEN,
        STORED,
        FETCH,
        CLOSE
    }

    private record Message(Kind kind, long number, Seg segment, SegmentId id, Incarnation holder) {
        static Message of(Kind kind, long number) {
            return new Message(kind, number, null, null, null);
        }
    }

    /**
     * One run.
     *
     * @param tracing whether it remembers what happened
     */
    StandbyWorld(long seed, Broken broken, boolean tracing) {
        this.random = new Random(seed * 0x9E3779B97F4A7C15L + 1);
        this.choice = new Random(seed * 0x9E3779B97F4A7C15L + 2);
        this.storing = new Random(seed * 0x9E3779B97F4A7C15L + 3);
        this.broken = broken;
        boolean shares = storing.nextInt(3) == 0 && broken == Broken.NOTHING;
        boolean needsStore =
                broken == Broken.C3_NAMED_BEFORE_IT_IS_STORED
                        || broken == Broken.C3_STORED_WITHOUT_ITS_CHAIN;
        this.store = shares || needsStore ? Optional.of(new Store()) : Optional.empty();
        boolean maybe = choice.nextInt(3) == 0;
        // The other rules are missed sooner where replies wait.
        this.async =
                (maybe && broken == Broken.NOTHING)
                        || broken.name().startsWith("C9_")
                        || broken.name().startsWith("C11_")
                        || broken == Broken.C7_ACKED_WITH_THE_EARLY_REPLY;
        this.everyMillis = async ? 1 + choice.nextInt(60) : 0;
        this.leaseMillis = async ? 2 * everyMillis + 60 + choice.nextInt(300) : 0;
        this.tracing = tracing;
        int count = random.nextInt(8) == 0 ? 1 : 2 + random.nextInt(random.nextInt(2) + 2);
        int copies = Math.min(1 + random.nextInt(3), random.nextInt(4) == 0 ? 3 : 2);
        boolean fast = random.nextInt(3) == 0 || broken == Broken.C15_UNPROMPT_STANDBY_COUNTS;
        boolean strict = copies <= count && random.nextInt(5) == 0;
        boolean patient = broken == Broken.C15_UNPROMPT_STANDBY_COUNTS;
        rules =
                new Primary.Rules(
                        copies,
                        strict,
                        // The one takes standbys for the disk, the other the store.
                        fast && store.isEmpty(),
                        patient ? 1_000_000 : SILENT_MILLIS,
                        patient ? 1_000_000 : LATE_MILLIS,
                        leaseMillis);
        losesFolders = random.nextInt(6) == 0;
        losesAllPower = random.nextInt(4) == 0;
        deletesHead = !losesFolders && random.nextInt(20) == 0;
        keepsNonce = random.nextBoolean();
        faultMillis = 50 + random.nextInt(random.nextInt(2) == 0 ? 150 : 700);
        cut = new boolean[count][count];
        slow = new int[count][count];
        for (int i = 0; i < count; i++) {
            Member member = new Member(i);
            members.add(member);
            byName.put(member.name, member);
        }
        say("%d members, %s", count, rules);
        members.forEach(member -> after(random.nextInt(300), member::start));
        for (int i = 0; async && i < 3; i++) {
            Client client = new Client(i);
            clients.add(client);
            after(choice.nextInt(300), client::step);
        }
    }

    // ---- time

    private void after(long delay, Runnable what) {
        events.add(new Event(now + delay, order++, what));
    }

    private void runTo(long end, BooleanSupplier enough) {
        long looked = 0;
        while (isWell() && !events.isEmpty() && events.element().at() <= end) {
            if (now - looked >= LOOK_MILLIS) {
                looked = now;
                if (enough.getAsBoolean()) {
                    return;
                }
            }
            Event event = events.remove();
            now = Math.max(now, event.at());
            event.what().run();
        }
        now = Math.max(now, end);
    }

    private void runFor(long millis) {
        runTo(now + millis, () -> false);
    }

    private boolean until(long millis, BooleanSupplier condition) {
        runTo(now + millis, condition);
        return condition.getAsBoolean();
    }

    @SuppressWarnings("AnnotateFormatMethod")
    private void say(String format, Object... arguments) {
        if (tracing) {
            trace.add(String.format("%6d ", now) + String.format(format, arguments));
        }
    }

    @SuppressWarnings("AnnotateFormatMethod")
    private void violated(String format, Object... arguments) {
        String what = String.format(format, arguments);
        say("VIOLATED: %s", what);
        violations.add(what);
    }

    @SuppressWarnings("AnnotateFormatMethod")
    private void stalled(String format, Object... arguments) {
        if (isWell()) {
            String what = String.format(format, arguments);
            say("STALLED: %s", what);
            stalls.add(what);
        }
    }

    private boolean isWell() {
        return violations.isEmpty() && stalls.isEmpty();
    }

    // ---- the ensemble

    /** What a request does where it lands, and what to do with the answer. */
    private interface Landing {
        Runnable land();
    }

    private void ask(Member member, Landing landing, Runnable unknown) {
        int life = member.life;
        int fate = healing ? 0 : random.nextInt(100);
        boolean gone = member.cutOff;
        if (!gone && fate < 84) {
            boolean isLate = fate > 78;
            after(
                    random.nextInt(4),
                    () -> {
                        if (member.cutOff) {
                            if (random.nextBoolean()) {
                                landing.land();
                            }
                            member.later(life, 50 + random.nextInt(200), unknown);
                        } else {
                            Runnable answer = landing.land();
                            int back =
                                    isLate
                                            ? random.nextInt(LATEST_ANSWER_MILLIS)
                                            : random.nextInt(4);
                            member.later(life, back, answer);
                        }
                    });
            return;
        }
        if (!healing && (!gone || random.nextInt(4) == 0)) {
            if (fate < 92) {
                after(
                        fate < 88 ? random.nextInt(30) : random.nextInt(LATEST_REQUEST_MILLIS),
                        landing::land);
            }
        }
        member.later(life, 20 + random.nextInt(250), unknown);
    }

    private Optional<StandbyHead> headNow() {
        return Optional.ofNullable(head);
    }

    private void keep(StandbyHead written, int as) {
        try {
            head = StandbyHead.decode(written.encode());
        } catch (Head.UnreadableHeadException e) {
            throw new IllegalStateException("nobody could read the head", e);
        }
        version = as;
    }

    private boolean set(StandbyHead next, int on, long decided) {
        if (head == null || version != on) {
            return false;
        }
        landed(next, decided);
        keep(next, version + 1);
        return true;
    }

    private boolean create(StandbyHead first) {
        if (head != null) {
            return false;
        }
        if (deleted) {
            violated("a head that is gone was created anew, by %s", first.member());
        }
        landed(first, now);
        keep(first, 0);
        return true;
    }

    /** All that the head ever says is checked where it lands. */
    private void landed(StandbyHead next, long decided) {
        if (tracing) {
            say("head: %s", new String(next.encode(), StandardCharsets.UTF_8).strip());
        }
        if (lastHead != null) {
            Incarnation before = lastHead.holder();
            boolean same = before.equals(next.holder());
            if (!same && next.holder().number() != before.number() + 1) {
                violated("%s follows %s", next.holder(), before);
            }
            if (!same) {
                ended.put(before, now);
                endedTurns.put(before, (long) finalValues.size());
                takeovers++;
            }
        }
        lastHead = next;
        long number = next.segment().number();
        if (number < finals.size()) {
            violated("the head names %s, and named number %d", next.segment(), finals.size());
            return;
        }
        List<Seg> more = new ArrayList<>();
        SegmentId id = next.segment();
        while (id.number() > finals.size()) {
            Seg segment = segments.get(id.digest());
            more.add(0, segment);
            Seg previous = segments.get(segment.previous());
            id = previous == null ? SegmentId.NONE : previous.id();
        }
        SegmentId newest = finals.isEmpty() ? SegmentId.NONE : finals.get(finals.size() - 1).id();
        if (!id.equals(newest)) {
            violated("the head names %s, which does not hold %s", next.segment(), newest);
            return;
        }
        for (Seg each : more) {
            finals.add(each);
            for (long value : each.turns()) {
                if (places.put(value, finalValues.size()) != null) {
                    violated("%d was done twice", value);
                }
                finalValues.add(value);
            }
        }
        if (next.turn() != finalValues.size()) {
            violated("the head says turn %d, not %d", next.turn(), finalValues.size());
        }
        if (!more.isEmpty()) {
            held(next, decided);
        }
        for (Member each : members) {
            for (long value : each.failed) {
                if (places.containsKey(value)) {
                    violated("turn %d was reported as failed, and is final", value);
                }
            }
        }
    }

    /** Who is said to have a segment has it, and all before it. */
    private void held(StandbyHead next, long decided) {
        int number = finals.size();
        if (next.copies() == Copies.FORCED && next.holders().size() < rules.copies()) {
            violated("%s are not %d copies", next.holders(), rules.copies());
        }
        if (next.copies() == Copies.STORE) {
            namedInStore++;
            if (!store.orElseThrow().has(next.segment())) {
                violated("the head says that the store has %s, and it has not", next.segment());
            }
        }
        if (next.copies() == Copies.MEMORY && next.holders().size() < 2) {
            violated("%s are not 2 copies", next.holders());
        }
        for (String name : next.holders()) {
            Member member = byName.get(name);
            boolean isStored = next.copies() == Copies.STORE && name.equals(next.member());
            if (member.folderLost || isStored) {
                // Who put it into the store need not have forced it.
                continue;
            }
            int has = next.copies() == Copies.MEMORY ? member.chain.size() : member.forced;
            long lostAt = member.lostAt.getOrDefault(next.segment().digest(), -1L);
            // A segment counts in memory for so long; clocks may be a little slow.
            boolean justLost =
                    next.copies() == Copies.MEMORY && lostAt >= decided - LATE_MILLIS * 11 / 10;
            if (!justLost && (has < number || !member.chain.subList(0, number).equals(finals))) {
                violated(
                        "the head says %s, and %s has %d of them forced, %d written",
                        next.copies(), name, member.forced, member.chain.size());
            }
        }
    }

    // ---- what members share

    /**
     * What it took it keeps. It may take long, or nothing for a while; and what it was asked to
     * take may land when whoever asked is dead, or out of office.
     */
    private final class Store {
        private final Map<String, Seg> held = new HashMap<>();
        boolean fails;
        int millis = 5;

        /** Whether the whole chain up to a segment is there. */
        boolean has(SegmentId id) {
            SegmentId at = id;
            while (at.number() > 0 && held.containsKey(at.digest())) {
                at = before(at);
            }
            return at.number() == 0;
        }

        /** Takes a segment, at some time. */
        void put(Seg segment, Member by, Runnable taken, Runnable failed) {
            int life = by.life;
            after(
                    held.containsKey(segment.id().digest()) ? 0 : storing.nextInt(millis),
                    () -> {
                        boolean lands = !fails && (by.life == life || storing.nextBoolean());
                        if (lands) {
                            held.put(segment.id().digest(), segment);
                        }
                        by.later(life, storing.nextInt(3), lands ? taken : failed);
                    });
        }

        /**
         * What leads to a segment from one that a member has; nothing where that is not all here.
         */
        void load(SegmentId wanted, Member by, Runnable done) {
            int life = by.life;
            by.later(
                    life,
                    storing.nextInt(2 * millis),
                    () -> {
                        ArrayDeque<Seg> chain = new ArrayDeque<>();
                        SegmentId at = wanted;
                        while (!by.at(at.number()).equals(Optional.of(at))
                                && held.containsKey(at.digest())) {
                            chain.addFirst(held.get(at.digest()));
                            at = before(at);
                        }
                        if (!fails && by.at(at.number()).equals(Optional.of(at))) {
                            chain.forEach(by::loaded);
                        }
                        by.later(life, 100, done);
                    });
        }

        private SegmentId before(SegmentId id) {
            Seg previous = segments.get(segments.get(id.digest()).previous());
            return previous == null ? SegmentId.NONE : previous.id();
        }
    }

    // ---- members

    private final class Member implements Standby.Chain {
        final int index;
        final String name;
        final double speed = 0.96 + random.nextDouble() * 0.08;
        final long since = random.nextInt(1_000_000);

        // The disk.
        List<Seg> chain = new ArrayList<>();
        int forced;
        Birth birth;

        // The process.
        int life;
        boolean up;
        boolean paused;
        boolean cutOff;
        boolean forcing;
        boolean stuck;
        int forceMillis = 5;
        long nonce;
        Standby standby;
        Office office;
        String halted;
        long known;
        List<Long> state = new ArrayList<>();
        int applied;
        Conn following;
        long dialled;
        long fetching;
        long verified;
        boolean loading;

        /** Until then it reads its state. */
        long readMillis;

        SegmentId committed;
        boolean sawNoHead;
        final ArrayDeque<Runnable> deferred = new ArrayDeque<>();

        // For the checks.
        boolean folderLost;
        final Map<String, Long> lostAt = new HashMap<>();
        final List<Long> failed = new ArrayList<>();

        Member(int index) {
            this.index = index;
            this.name = HexFormat.of().toHexDigits(0xa0L + index);
        }

        long time() {
            return since + (long) (now * speed);
        }

        /** Does that later, where the same process is up; if it is paused, when it goes on. */
        void later(int inLife, long delay, Runnable what) {
            after(delay, () -> soon(inLife, what));
        }

        void soon(int inLife, Runnable what) {
            if (life != inLife) {
                return;
            }
            if (paused) {
                deferred.add(() -> ifAlive(inLife, what));
            } else {
                what.run();
            }
        }

        private void ifAlive(int inLife, Runnable what) {
            if (life == inLife) {
                what.run();
            }
        }

        void start() {
            if (up) {
                return;
            }
            up = true;
            life++;
            readMillis = now + READS_MILLIS;
            paused = false;
            deferred.clear();
            halted = null;
            forced = chain.size();
            forcing = false;
            loading = false;
            known = chain.stream().mapToLong(Seg::named).max().orElse(0);
            nonce = random.nextLong();
            say("%s starts, %d segments, nonce %016x", name, forced, nonce);
            stand();
            tick(life);
        }

        /** Becomes a standby. */
        void stand() {
            office = null;
            state = new ArrayList<>();
            applied = 0;
            following = null;
            committed = null;
            sawNoHead = false;
            if (!keepsNonce) {
                nonce = random.nextLong();
            }
            Birth newGeneration = new Birth(random.nextLong(), random.nextLong());
            standby =
                    new Standby(
                            new Standby.Rules(300, 200, 1_000, 700),
                            name,
                            nonce,
                            name + ":1",
                            this,
                            newGeneration);
        }

        void stop(boolean power) {
            if (!up) {
                return;
            }
            say("%s %s", name, power ? "loses power" : "is killed");
            up = false;
            life++;
            paused = false;
            deferred.clear();
            office = null;
            standby = null;
            following = null;
            if (power) {
                for (Seg each : chain.subList(forced, chain.size())) {
                    lostAt.put(each.id().digest(), now);
                }
                dropAfter(forced);
            }
            for (Conn conn : List.copyOf(conns)) {
                if (conn.standby == this || conn.primary == this) {
                    conn.ended(this, !power);
                }
            }
        }

        void pause(long millis) {
            if (up && !paused) {
                say("%s is paused", name);
                paused = true;
                int inLife = life;
                after(millis, () -> ifAlive(inLife, this::goOn));
            }
        }

        void goOn() {
            if (!paused) {
                return;
            }
            say("%s goes on", name);
            paused = false;
            if (office != null && random.nextBoolean()) {
                // A client may come before the answers that wait.
                office.read();
            }
            while (!deferred.isEmpty() && !paused) {
                deferred.remove().run();
            }
        }

        void tick(int inLife) {
            if (standby != null) {
                act(standby.tick(time()));
                redial();
            } else if (office != null) {
                act(office, office.primary.tick(time()));
            }
            later(inLife, 20 + random.nextInt(20), () -> tick(inLife));
        }

        // ---- what it has

        @Override
        public SegmentId last() {
            return chain.isEmpty() ? SegmentId.NONE : chain.get(chain.size() - 1).id();
        }

        @Override
        public Optional<SegmentId> at(long number) {
            if (number == 0) {
                return Optional.of(SegmentId.NONE);
            }
            boolean has = number <= chain.size();
            if (standby != null && lastSeen != null && lastSeen.segment().number() == number) {
                if (broken == Broken.C6_TAKEN_WITHOUT_THE_SEGMENT
                        || (broken == Broken.C6_DIGEST_NOT_CHECKED && has)) {
                    return Optional.of(lastSeen.segment());
                }
            }
            return has ? Optional.of(chain.get((int) number - 1).id()) : Optional.empty();
        }

        /** The head that is being looked at, where a rule is broken. */
        private StandbyHead lastSeen;

        @Override
        public long known() {
            return known;
        }

        @Override
        public SegmentId snapshot() {
            return SegmentId.NONE;
        }

        @Override
        public Optional<Birth> birth() {
            if (broken == Broken.C17_HEAD_CREATED_ANEW && sawNoHead) {
                return Optional.empty();
            }
            return Optional.ofNullable(birth);
        }

        void append(Seg segment) {
            if (segment.id().number() != chain.size() + 1) {
                violated("%s has %d segments, and %s comes", name, chain.size(), segment.id());
                return;
            }
            chain.add(segment);
            force();
        }

        void dropAfter(long number) {
            if (number < chain.size()) {
                say("%s drops all after %d", name, number);
                if (up && office == null && number < applied && broken == Broken.NOTHING) {
                    violated("%s drops what it applied, %d", name, applied);
                }
                chain.subList((int) number, chain.size()).clear();
                forced = Math.min(forced, chain.size());
            }
        }

        /** Forces all that is written, and once more what came meanwhile. */
        void force() {
            if (forcing || forced == chain.size()) {
                return;
            }
            forcing = true;
            Seg upTo = chain.get(chain.size() - 1);
            waitForForce(life, upTo, 1 + random.nextInt(forceMillis));
        }

        private void waitForForce(int inLife, Seg upTo, int millis) {
            after(
                    millis,
                    () -> {
                        if (life != inLife) {
                            return;
                        }
                        if (stuck) {
                            waitForForce(inLife, upTo, 50);
                            return;
                        }
                        int place = chain.lastIndexOf(upTo);
                        forced = Math.max(forced, place + 1);
                        soon(inLife, this::wasForced);
                    });
        }

        private void wasForced() {
            forcing = false;
            if (office != null) {
                act(office, office.primary.forced(forced, time()));
            } else {
                ack();
            }
            force();
        }

        // ---- as a standby

        /** Tells the primary what it has of that one's chain. */
        void ack() {
            if (following == null) {
                return;
            }
            long all = broken == Broken.C16_ORPHAN_ACKED ? chain.size() : verified;
            if (all > 0) {
                boolean early = broken == Broken.C3_NAMED_BEFORE_IT_IS_FORCED;
                following.send(this, Message.of(Kind.WRITTEN, Math.min(chain.size(), all)));
                long disk = Math.min(early ? chain.size() : forced, all);
                following.send(this, Message.of(Kind.STORED, disk));
            }
        }

        void act(List<Standby.Action> actions) {
            for (Standby.Action action : actions) {
                Standby by = standby;
                if (action instanceof Standby.Action.Read) {
                    ask(
                            this,
                            () -> {
                                Optional<StandbyHead> head = headNow();
                                int on = version;
                                return () -> saw(by, head, on);
                            },
                            () -> unknown(by));
                } else if (action instanceof Standby.Action.Challenge) {
                    say("%s challenges", name);
                    if (broken == Broken.C16_DROPPED_BEFORE_IT_IS_FENCED) {
                        dropAfter(by.head().orElseThrow().segment().number());
                    }
                    ask(
                            this,
                            () -> {
                                for (Member each : members) {
                                    if (!each.cutOff) {
                                        each.later(each.life, random.nextInt(5), each::challenged);
                                    }
                                }
                                return () -> {
                                    if (standby == by) {
                                        act(by.challenged(time()));
                                    }
                                };
                            },
                            () -> unknown(by));
                } else if (action instanceof Standby.Action.Create create) {
                    ask(
                            this,
                            () -> {
                                boolean done = create(create.head());
                                return () -> tried(by, done, 0);
                            },
                            () -> unknown(by));
                } else if (action instanceof Standby.Action.Take take) {
                    say("%s tries to take over", name);
                    long decided = now;
                    ask(
                            this,
                            () -> {
                                boolean done = set(take.head(), take.version(), decided);
                                return () -> tried(by, done, take.version() + 1);
                            },
                            () -> unknown(by));
                } else if (action instanceof Standby.Action.Follow follow) {
                    if (birth == null) {
                        birth = follow.head().holder().birth();
                    }
                    leave();
                    dialled = now - 1_000;
                    redial();
                } else if (action instanceof Standby.Action.Apply apply) {
                    apply(apply.upTo());
                } else if (action instanceof Standby.Action.Fetch fetch) {
                    fetch(fetch.head().segment());
                } else if (action instanceof Standby.Action.InOffice in) {
                    inOffice(in.head(), in.version());
                } else if (action instanceof Standby.Action.Refuse refuse) {
                    halt(refuse.reason());
                }
            }
        }

        private void saw(Standby by, Optional<StandbyHead> head, int on) {
            if (standby == by) {
                sawNoHead = head.isEmpty();
                lastSeen = head.orElse(null);
                act(by.seen(head, on, time()));
                lastSeen = null;
            }
        }

        private void unknown(Standby by) {
            if (standby == by) {
                act(by.unknown(time()));
            }
        }

        private void tried(Standby by, boolean done, int on) {
            if (standby == by) {
                act(done ? by.took(on) : by.unknown(time()));
            }
        }

        void halt(String reason) {
            say("%s halts: %s", name, reason);
            leave();
            halted = reason;
            standby = null;
            office = null;
        }

        private void apply(SegmentId upTo) {
            if (!at(upTo.number()).equals(Optional.of(upTo))) {
                violated("%s is to apply %s, which it has not", name, upTo);
                return;
            }
            applyAll((int) Math.min(upTo.number(), chain.size()));
            known = Math.max(known, upTo.number());
        }

        private void applyAll(int number) {
            while (applied < number) {
                state.addAll(chain.get(applied++).turns());
            }
        }

        /** Something came from the store. */
        void loaded(Seg segment) {
            if (standby != null) {
                loaded++;
                boolean unused = arrived(segment);
            }
        }

        /** Asks all members, and the store, for what the head names. */
        private void fetch(SegmentId wanted) {
            int inLife = life;
            if (store.isPresent() && !loading) {
                loading = true;
                store.get().load(wanted, this, () -> loading = false);
            }
            long from = Math.max(1, Math.min(chain.size() + 1L, wanted.number()));
            for (Member other : members) {
                if (other == this || !other.up || cut[index][other.index]) {
                    continue;
                }
                other.later(
                        other.life,
                        random.nextInt(5),
                        () -> {
                            if (!other.at(wanted.number()).equals(Optional.of(wanted))
                                    || cut[other.index][index]) {
                                return;
                            }
                            // From some before it, as this member's may be orphans.
                            for (long number = Math.max(1, from - 5);
                                    number <= wanted.number();
                                    number++) {
                                Seg segment = other.chain.get((int) number - 1);
                                later(inLife, 1 + number - from + 5, () -> arrived(segment));
                            }
                        });
            }
        }

        private void leave() {
            if (following != null) {
                Conn old = following;
                following = null;
                old.close(this);
            }
        }

        private void redial() {
            if (standby == null || following != null || now - dialled < 100) {
                return;
            }
            Optional<StandbyHead> head = standby.head();
            Member other = head.map(it -> byName.get(it.member())).orElse(this);
            if (other == this) {
                return;
            }
            dialled = now;
            if (other.up && !cut[index][other.index] && !cut[other.index][index]) {
                following = new Conn(this, other);
                conns.add(following);
                fetching = 0;
                verified = 0;
                following.send(
                        this,
                        new Message(Kind.FOLLOW, chain.size(), null, null, head.get().holder()));
                following.beat();
            }
        }

        /** Something came from the primary. */
        void heard(Conn conn, Message message) {
            if (conn != following || standby == null) {
                return;
            }
            standby.heard(time());
            switch (message.kind()) {
                case WELCOME -> standby.linked(time());
                case SORRY, CLOSE -> conn.over(this);
                case BEAT -> act(standby.waits(message.number(), time()));
                case COMMITTED -> {
                    committed = message.id();
                    if (at(message.id().number()).equals(Optional.of(message.id()))) {
                        verified = Math.max(verified, message.id().number());
                        ack();
                    }
                    act(standby.named(message.id()));
                }
                case SEGMENT -> {
                    if (!arrived(message.segment())) {
                        conn.close(this);
                    }
                }
                default -> throw new IllegalStateException(message.toString());
            }
        }

        /** Whether the link may go on. */
        private boolean arrived(Seg segment) {
            if (standby == null) {
                return true;
            }
            long number = segment.id().number();
            String previous = segment.previous();
            if (broken == Broken.C4_PREDECESSOR_NOT_CHECKED) {
                previous = at(number - 1).map(SegmentId::digest).orElse(previous);
            }
            switch (standby.arrived(segment.id(), previous)) {
                case APPEND, REPLACE -> {
                    dropAfter(number - 1);
                    append(segment);
                    verified = number;
                    fetching = 0;
                    if (broken == Broken.C16_APPLIED_BEFORE_IT_IS_NAMED) {
                        applyAll(chain.size());
                    }
                }
                case KNOWN -> {
                    verified = Math.max(verified, number);
                    fetching = 0;
                }
                case GAP -> {
                    long from = Math.max(1, Math.min(number - 1, chain.size() + 1L));
                    if (following != null && (fetching == 0 || number <= fetching)) {
                        fetching = from;
                        following.send(this, Message.of(Kind.FETCH, from));
                    }
                    return true;
                }
                case REFUSE -> {
                    say("%s refuses %s", name, segment.id());
                    return false;
                }
            }
            ack();
            if (committed != null) {
                // That it is named may have come first.
                act(standby.named(committed));
            }
            return true;
        }

        void unlinked() {
            following = null;
            if (standby != null) {
                if (broken == Broken.C16_DROPPED_WITH_ITS_LINK) {
                    dropAfter(known);
                }
                act(standby.unlinked(time()));
            }
        }

        // ---- in office

        private void inOffice(StandbyHead head, int on) {
            leave();
            standby = null;
            birth = head.holder().birth();
            int number = (int) head.segment().number();
            say("%s is primary: %s", name, head.holder());
            if (broken == Broken.C16_ORPHAN_BUILT_UPON) {
                applyAll(chain.size());
            }
            dropAfter(number);
            if (number > 0 && !last().equals(head.segment())) {
                violated("%s is primary with %s, not %s", name, last(), head.segment());
                return;
            }
            applyAll(number);
            if (!state.equals(finalValues.subList(0, (int) head.turn()))) {
                violated("%s begins with %s, and final is %s", name, state, finalValues);
                return;
            }
            known = Math.max(known, number);
            office = new Office(this, head, on);
            office.cut();
        }

        void challenged() {
            if (office != null) {
                act(office, office.primary.challenged(time()));
            }
        }

        void act(Office by, List<Primary.Action> actions) {
            for (Primary.Action action : actions) {
                if (office != by) {
                    return;
                }
                by.act(action);
            }
        }

        /** Out of office, and a standby. */
        void deposed() {
            Office old = office;
            office = null;
            List.copyOf(old.followers.values()).forEach(conn -> conn.close(this));
            stand();
        }
    }

    /** A member's time in office. */
    private final class Office {
        final Member member;
        final Primary primary;
        final Incarnation holder;
        final Map<String, Conn> followers = new TreeMap<>();
        final ArrayDeque<Output> outputs = new ArrayDeque<>();
        final List<Reading> readings = new ArrayList<>();
        List<Long> pending = new ArrayList<>();
        long turn;
        long reads;
        long provenRead;
        long namedTurn;
        boolean handing;
        boolean cutting;

        /** Up to which segment the store is known to have all; what it lacks is put in order. */
        private long stored;

        private boolean putting;

        /** Of an asynchronous service. */
        final Lease lease = async ? new Lease(leaseMillis) : null;

        Epochs epochs = Epochs.NONE;
        final List<Asked> waiting = new ArrayList<>();
        final List<Client> served = new ArrayList<>();

        Office(Member member, StandbyHead head, int version) {
            this.member = member;
            this.primary = new Primary(rules, head, version);
            this.holder = head.holder();
            this.turn = head.turn();
            this.namedTurn = head.turn();
            if (broken != Broken.C11_EARLIER_EPOCHS_FORGOTTEN) {
                member.chain.forEach(it -> began(it.id().epoch(), it));
            }
            epochs = epochs.with(new Epochs.Begun(holder.number(), turn));
            if (store.isPresent()) {
                primary.sharesStore();
                shareAll(head.segment().number());
            }
        }

        /** Looks at all that the store should have, up to there, and says nothing before. */
        private void shareAll(long upTo) {
            share(broken == Broken.C3_STORED_WITHOUT_ITS_CHAIN ? upTo : 0, upTo);
        }

        /**
         * Puts what the store lacks of this member's chain.
         *
         * @param from behind this one
         * @param silently nothing is said before this one is there, as the chain has to be whole
         */
        private void share(long from, long silently) {
            if (from >= primary.newest().number()) {
                putting = false;
                return;
            }
            putting = true;
            Seg next = member.chain.get((int) from);
            store.orElseThrow()
                    .put(
                            next,
                            member,
                            () -> {
                                if (isCurrent()) {
                                    wasPut(next, silently);
                                }
                            },
                            () -> {
                                if (isCurrent()) {
                                    wasNotPut();
                                }
                            });
        }

        private void wasPut(Seg segment, long silently) {
            long number = segment.id().number();
            if (number >= silently) {
                stored = Math.max(stored, number);
                member.act(this, primary.stored(number, member.time()));
            }
            if (isCurrent()) {
                share(number, silently);
            }
        }

        /** All is looked at anew. */
        private void wasNotPut() {
            member.act(this, primary.storeFailed(member.time()));
            long silently = Math.max(stored, primary.head().segment().number());
            member.later(
                    member.life,
                    storing.nextInt(400),
                    () -> {
                        if (isCurrent()) {
                            shareAll(silently);
                        }
                    });
        }

        private void began(long epoch, Seg first) {
            if (epoch > epochs.newest()) {
                epochs =
                        epochs.with(
                                new Epochs.Begun(epoch, first.lastTurn() - first.turns().size()));
            }
        }

        boolean isCurrent() {
            return member.office == this;
        }

        void write() {
            if (handing) {
                return;
            }
            long value = ++values;
            written++;
            member.state.add(value);
            pending.add(value);
            outputs.add(new Output(value, ++turn));
            cutLater();
        }

        private void cutLater() {
            if (!cutting) {
                cutting = true;
                member.later(member.life, async ? everyMillis : random.nextInt(10), this::cutSoon);
            }
        }

        // ---- asynchronous clients

        private void proven() {
            if (async && isCurrent()) {
                primary.officeSince().ifPresent(lease::provenSince);
            }
        }

        private boolean mayLeave() {
            if (broken == Broken.C9_LEASE_WITHOUT_END) {
                return true;
            }
            return lease.holds(member.time());
        }

        /** A client's connection is there. */
        void joined(Client client, int link) {
            served.add(client);
            client.arrives(link, () -> client.told(epochs));
            if (turn <= namedTurn) {
                covered(client, link);
            }
        }

        /** A client asks for a turn, or for what the newest one wrote. */
        void asked(Client client, int link, long value) {
            if (handing) {
                return;
            }
            boolean reads = value == 0;
            if (!reads) {
                written++;
                member.state.add(value);
                pending.add(value);
                turn++;
                cutLater();
            }
            Mark mark = new Mark(holder.number(), turn);
            long saw = reads && !member.state.isEmpty() ? newest() : value;
            if (saw == 0) {
                return;
            }
            if (mayLeave()) {
                early++;
                if (broken != Broken.C9_OLDEST_REPLY_NOT_LOOKED_AT) {
                    lease.left(turn, member.time());
                }
                if (turn > namedTurn) {
                    left.add(new Left(holder, turn, now));
                }
                client.arrives(link, () -> client.replied(mark, saw, reads));
                if (broken == Broken.C7_ACKED_WITH_THE_EARLY_REPLY) {
                    outputs.forEach(this::leaves);
                    outputs.clear();
                }
            } else if (!reads) {
                waiting.add(new Asked(client, link, value, turn));
            }
        }

        private long newest() {
            return member.state.get(member.state.size() - 1);
        }

        private void covered(Client client, int link) {
            Mark upTo = new Mark(holder.number(), namedTurn);
            client.arrives(link, () -> client.covered(upTo));
        }

        private void tellCovered() {
            lease.covered(namedTurn);
            for (Asked each : List.copyOf(waiting)) {
                if (each.turn() <= namedTurn) {
                    waiting.remove(each);
                    each.client()
                            .arrives(
                                    each.link(),
                                    () -> each.client().answered(holder.number(), each.value()));
                }
            }
            served.forEach(it -> covered(it, it.link));
        }

        private void cutSoon() {
            if (!isCurrent()) {
                return;
            }
            if (primary.newest().number() - primary.head().segment().number()
                    >= (async ? 1 : MOST_CUTS)) {
                member.later(member.life, 5, this::cutSoon);
                return;
            }
            cutting = false;
            if (!pending.isEmpty()) {
                cut();
            }
        }

        void cut() {
            SegmentId before = primary.newest();
            String digest = "0".repeat(48) + HexFormat.of().toHexDigits(++digests);
            SegmentId id = new SegmentId(holder.number(), before.number() + 1, digest);
            Seg segment =
                    new Seg(
                            id,
                            before.digest(),
                            turn,
                            List.copyOf(pending),
                            primary.head().segment().number());
            say("%s cuts %s: %s", member.name, id, pending);
            pending = new ArrayList<>();
            segments.put(digest, segment);
            member.append(segment);
            if (broken == Broken.C3_NAMED_BEFORE_IT_IS_STORED) {
                member.later(
                        member.life,
                        0,
                        () -> member.act(this, primary.stored(id.number(), member.time())));
            }
            int life = member.life;
            member.later(life, random.nextInt(3), () -> wasWritten(id.number()));
            if (broken == Broken.C7_LEAVES_BEFORE_IT_IS_NAMED) {
                outputs.forEach(this::leaves);
                outputs.clear();
            }
            member.act(this, primary.cut(id, turn, member.time()));
            if (store.isPresent() && !putting && isCurrent()) {
                share(stored, 0);
            }
            for (Conn conn : List.copyOf(followers.values())) {
                conn.send(member, new Message(Kind.SEGMENT, 0, segment, null, null));
            }
        }

        private void wasWritten(long number) {
            if (!isCurrent()) {
                return;
            }
            boolean counts =
                    broken == Broken.C3_NAMED_BEFORE_IT_IS_FORCED
                            || (broken == Broken.C15_ALONE_UNFORCED && followers.isEmpty());
            member.act(
                    this,
                    counts
                            ? primary.forced(number, member.time())
                            : primary.written(number, member.time()));
        }

        void read() {
            long saw = member.state.isEmpty() ? 0 : member.state.get(member.state.size() - 1);
            readings.add(new Reading(++reads, now, visible, saw, turn));
            read++;
            if (broken == Broken.C8_READ_WITHOUT_PROOF) {
                provenRead = reads;
            }
            member.act(this, primary.prove(reads, member.time()));
            answer();
        }

        private void answer() {
            for (Reading each : List.copyOf(readings)) {
                if (each.number() > provenRead || each.turn() > namedTurn) {
                    continue;
                }
                readings.remove(each);
                int place = each.saw() == 0 ? -1 : places.getOrDefault(each.saw(), -2);
                if (place == -2) {
                    violated("a read saw %d, which is not final", each.saw());
                } else if (place < each.visible()) {
                    violated(
                            "%s answers with %d, and %d was known before",
                            member.name, each.saw(), finalValues.get(each.visible()));
                } else if (ended.getOrDefault(holder, Long.MAX_VALUE) < each.cameIn()) {
                    violated("%s proves a read that came in when it was deposed", member.name);
                }
                visible = Math.max(visible, place);
            }
        }

        private void leaves(Output output) {
            Integer place = places.get(output.value());
            if (place == null) {
                violated("the output of turn %d left, which is not final", output.value());
                return;
            }
            visible = Math.max(visible, place);
        }

        void handOver() {
            SortedSet<String> ready = primary.ready();
            if (handing || ready.isEmpty()) {
                return;
            }
            String to = List.copyOf(ready).get(random.nextInt(ready.size()));
            say("%s hands over to %s", member.name, to);
            if (!pending.isEmpty()) {
                cut();
            }
            if (isCurrent()) {
                handing = true;
                member.act(this, primary.handOver(to, member.time()));
            }
        }

        void act(Primary.Action action) {
            if (action instanceof Primary.Action.Write write) {
                if (broken == Broken.C5_TWO_WRITES_UNDER_WAY) {
                    pipelined(write);
                    return;
                }
                long decided = now;
                ask(
                        member,
                        () -> {
                            boolean done = set(write.head(), write.version(), decided);
                            return () -> wrote(done, write.version() + 1);
                        },
                        () -> {
                            if (broken == Broken.C13_UNKNOWN_IS_FAILURE && isCurrent()) {
                                outputs.stream()
                                        .filter(it -> it.turn() <= write.head().turn())
                                        .forEach(it -> failed(it.value()));
                            }
                            wrote(broken == Broken.C13_UNKNOWN_IS_SUCCESS, write.version() + 1);
                        });
            } else if (action instanceof Primary.Action.Check check) {
                ask(
                        member,
                        () -> {
                            boolean same = head != null && version == check.version();
                            return () -> checked(same);
                        },
                        () -> checked(false));
            } else if (action instanceof Primary.Action.Read) {
                ask(
                        member,
                        () -> {
                            Optional<StandbyHead> head = headNow();
                            int on = version;
                            return () -> saw(head, on);
                        },
                        () -> wrote(false, 0));
            } else if (action instanceof Primary.Action.Named named) {
                named(named.segment(), named.turn());
            } else if (action instanceof Primary.Action.Proven proven) {
                provenRead = proven.read();
                if (broken == Broken.C8_PROOF_BEGUN_BEFORE) {
                    provenRead = reads;
                }
                answer();
            } else if (action instanceof Primary.Action.NotHanded) {
                handing = false;
            } else if (action instanceof Primary.Action.HandedOver handed) {
                say("%s handed over to %s", member.name, handed.member());
                handovers++;
                member.deposed();
            } else if (action instanceof Primary.Action.Over over) {
                say("%s is over: %s", member.name, over.reason());
                member.deposed();
                if (over.stops()) {
                    member.halt(over.reason());
                }
            }
        }

        private void failed(long value) {
            member.failed.add(value);
            if (places.containsKey(value)) {
                violated("turn %d was reported as failed, and is final", value);
            }
        }

        private void wrote(boolean done, int on) {
            if (isCurrent()) {
                member.act(this, done ? primary.wrote(on, member.time()) : primary.unknown());
                proven();
            }
        }

        private void checked(boolean same) {
            if (isCurrent()) {
                member.act(this, same ? primary.checked(member.time()) : primary.unchecked());
                proven();
            }
        }

        private void saw(Optional<StandbyHead> head, int on) {
            if (!isCurrent()) {
                return;
            }
            Optional<StandbyHead> shown = head;
            if (broken == Broken.C13_OWN_SEGMENT_OF_ANOTHER) {
                shown = head.map(it -> it.segment().epoch() == holder.number() ? mine(it) : it);
            }
            member.act(this, primary.seen(shown, on, member.time()));
        }

        private StandbyHead mine(StandbyHead head) {
            return new StandbyHead(
                    holder,
                    member.name,
                    member.name + ":1",
                    head.segment(),
                    head.turn(),
                    head.holders(),
                    head.copies(),
                    Optional.empty(),
                    head.replaces());
        }

        /** The primary goes on as if that were done; what it says leaves with the real answer. */
        private void pipelined(Primary.Action.Write write) {
            long decided = now;
            List<Primary.Action> kept = new ArrayList<>();
            ask(
                    member,
                    () -> {
                        boolean done = set(write.head(), write.version(), decided);
                        return () -> {
                            if (isCurrent() && done) {
                                member.act(this, kept);
                            } else if (isCurrent()) {
                                member.deposed();
                            }
                        };
                    },
                    () -> {
                        if (isCurrent()) {
                            member.deposed();
                        }
                    });
            List<Primary.Action> next = new ArrayList<>();
            for (Primary.Action each : primary.wrote(write.version() + 1, member.time())) {
                boolean asks =
                        each instanceof Primary.Action.Write
                                || each instanceof Primary.Action.Check;
                (asks ? next : kept).add(each);
            }
            member.act(this, next);
        }

        private void named(SegmentId id, long upTo) {
            say("%s: %s is named", member.name, id);
            SegmentId before = namedIds.putIfAbsent(id.number(), id);
            if (before != null && !before.equals(id)) {
                violated("%s and %s were both named", before, id);
            }
            if (id.number() > finals.size() || !finals.get((int) id.number() - 1).id().equals(id)) {
                violated("%s believes that %s is named", member.name, id);
                return;
            }
            namedTurn = Math.max(namedTurn, upTo);
            member.known = Math.max(member.known, id.number());
            while (!outputs.isEmpty() && outputs.element().turn() <= upTo) {
                leaves(outputs.remove());
            }
            answer();
            if (async) {
                tellCovered();
            }
            for (Conn conn : List.copyOf(followers.values())) {
                conn.send(member, new Message(Kind.COMMITTED, 0, null, id, null));
            }
        }

        /** Something came from a standby. */
        void heard(Conn conn, Message message) {
            String other = conn.standby.name;
            long time = member.time();
            if (message.kind() == Kind.FOLLOW) {
                if (!message.holder().equals(holder)) {
                    conn.send(member, Message.of(Kind.SORRY, 0));
                    return;
                }
                Conn old = followers.put(other, conn);
                if (old != null) {
                    old.close(member);
                }
                primary.linked(other, time);
                conn.send(member, Message.of(Kind.WELCOME, 0));
                conn.send(
                        member,
                        new Message(Kind.COMMITTED, 0, null, primary.head().segment(), null));
                stream(conn, message.number());
                return;
            }
            if (followers.get(other) != conn) {
                return;
            }
            switch (message.kind()) {
                case BEAT -> {
                    primary.heard(other, time);
                    primary.hasState(other, message.number());
                }
                case WRITTEN -> member.act(this, primary.written(other, message.number(), time));
                case STORED -> member.act(this, primary.forced(other, message.number(), time));
                case FETCH -> stream(conn, message.number());
                case CLOSE -> conn.over(member);
                default -> throw new IllegalStateException(message.toString());
            }
        }

        private void stream(Conn conn, long from) {
            long newest = member.chain.size();
            for (long number = Math.max(1, Math.min(from, newest)); number <= newest; number++) {
                Seg segment = member.chain.get((int) number - 1);
                conn.send(member, new Message(Kind.SEGMENT, 0, segment, null, null));
            }
        }

        void unlinked(Conn conn) {
            String other = conn.standby.name;
            if (followers.get(other) == conn) {
                followers.remove(other);
                member.act(this, primary.unlinked(other, member.time()));
            }
        }
    }

    // ---- asynchronous clients

    /** A request that waits for its turn to be covered. */
    private record Asked(Client client, int link, long value, long turn) {}

    /** A reply that a client had before it was covered. */
    private record Kept(Mark mark, long saw, boolean read) {}

    /**
     * A client of an asynchronous service, which keeps what it was told early until it hears that
     * this is covered or lost; some of what is lost it asks for again.
     */
    private final class Client {
        final int index;
        private Office with;
        private int life;
        int link;
        private boolean introduced;
        private long since;
        private final List<Kept> kept = new ArrayList<>();
        private final ArrayDeque<Long> again = new ArrayDeque<>();

        Client(int index) {
            this.index = index;
        }

        private boolean isConnected() {
            return with != null && with.isCurrent() && with.member.life == life;
        }

        /** Something comes over a link; dropped where that is not its link any more. */
        void arrives(int over, Runnable what) {
            long at = Math.max(since, now + choice.nextInt(5));
            since = at;
            after(
                    at - now,
                    () -> {
                        if (link == over) {
                            what.run();
                        }
                    });
        }

        void step() {
            if (!isConnected() || (!healing && choice.nextInt(40) == 0)) {
                connect();
            } else if (introduced && (!healing || !again.isEmpty() || choice.nextInt(4) == 0)) {
                ask();
            }
            after(1 + choice.nextInt(healing ? 60 : 25), this::step);
        }

        private void connect() {
            link++;
            introduced = false;
            with = null;
            List<Member> all = inOffice().stream().filter(it -> !it.paused).toList();
            if (all.isEmpty()) {
                return;
            }
            Member to = all.get(choice.nextInt(all.size()));
            with = to.office;
            life = to.life;
            with.joined(this, link);
        }

        private void ask() {
            long value = again.isEmpty() ? choice.nextInt(4) == 0 ? 0 : ++values : again.remove();
            int over = link;
            Office to = with;
            int delay = choice.nextInt(4);
            to.member.later(
                    to.member.life,
                    delay,
                    () -> {
                        if (to.isCurrent() && link == over) {
                            to.asked(this, over, value);
                        }
                    });
        }

        /** The first that it hears on a link (C11). */
        void told(Epochs epochs) {
            introduced = true;
            if (broken == Broken.C11_LOSS_NOT_ANNOUNCED) {
                return;
            }
            for (Kept each : List.copyOf(kept)) {
                boolean over = epochs.isOver(each.mark().epoch());
                boolean lost =
                        epochs.lostFrom(each.mark()).isPresent()
                                && broken != Broken.C11_TURN_NOT_COMPARED;
                if (lost) {
                    kept.remove(each);
                    lost(each);
                } else if (over) {
                    kept.remove(each);
                    stands(each);
                }
            }
        }

        private void lost(Kept what) {
            announced++;
            say("client %d hears that %s is lost", index, what);
            Integer place = places.get(what.saw());
            if (place != null && place < what.mark().turn() && !what.read()) {
                violated("client %d hears that %s is lost, which is final", index, what);
            }
            if (!what.read() && choice.nextBoolean()) {
                repeated++;
                again.add(what.saw());
            }
        }

        private void stands(Kept what) {
            if (!places.containsKey(what.saw())) {
                violated("client %d takes %s for covered, which is not final", index, what);
            }
        }

        void covered(Mark upTo) {
            for (Kept each : List.copyOf(kept)) {
                if (each.mark().epoch() == upTo.epoch() && each.mark().turn() <= upTo.turn()) {
                    kept.remove(each);
                    stands(each);
                }
            }
        }

        void replied(Mark mark, long saw, boolean read) {
            isToldFirst(mark.epoch());
            kept.add(new Kept(mark, saw, read));
        }

        void answered(long epoch, long value) {
            isToldFirst(epoch);
            if (!places.containsKey(value)) {
                violated("client %d has an answer to %d, which is not final", index, value);
            }
        }

        private void isToldFirst(long epoch) {
            for (Kept each : kept) {
                if (each.mark().epoch() < epoch) {
                    violated(
                            "client %d has a reply of epoch %d before it hears of %s",
                            index, epoch, each);
                }
            }
        }

        boolean isDone() {
            return isConnected() && introduced && kept.isEmpty() && again.isEmpty();
        }
    }

    /** What was lost left within one lease, and none of it long after the epoch was over (C9). */
    private void checkLosses() {
        Map<Incarnation, Long> first = new HashMap<>();
        // The slowest clock makes it a little longer.
        long longest = leaseMillis * 11L / 10 + 1;
        for (Left each : left) {
            Long end = endedTurns.get(each.by());
            if (end == null || each.turn() <= end) {
                continue;
            }
            long from = first.computeIfAbsent(each.by(), it -> each.at());
            if (each.at() - from > longest) {
                violated(
                        "replies of %s were lost that left within %d ms, and the lease is %d",
                        each.by(), each.at() - from, leaseMillis);
            }
            if (each.at() - ended.get(each.by()) > longest) {
                violated(
                        "a reply of %s left %d ms after its end, and the lease is %d",
                        each.by(), each.at() - ended.get(each.by()), leaseMillis);
            }
        }
    }

    // ---- links

    /** A connection that a standby dialled. What is sent arrives in order, or not at all. */
    private final class Conn {
        final Member standby;
        final Member primary;
        private final int[] lives;
        private final boolean[] open = {true, true};
        private final long[] heard;
        private final long[] lastAt = new long[2];
        private final List<ArrayDeque<Message>> stalled =
                List.of(new ArrayDeque<>(), new ArrayDeque<>());

        Conn(Member standby, Member primary) {
            this.standby = standby;
            this.primary = primary;
            this.lives = new int[] {standby.life, primary.life};
            this.heard = new long[] {now, now};
        }

        private Member end(int side) {
            return side == 0 ? standby : primary;
        }

        private boolean isCut(int from) {
            return cut[end(from).index][end(1 - from).index];
        }

        void send(Member by, Message message) {
            int side = by == standby ? 0 : 1;
            if (open[side]) {
                post(side, message);
            }
        }

        private void post(int side, Message message) {
            int spread = 1 + slow[end(side).index][end(1 - side).index];
            lastAt[side] = Math.max(lastAt[side], now + random.nextInt(2 * spread));
            after(lastAt[side] - now, () -> arrives(side, message));
        }

        private void arrives(int from, Message message) {
            if (isCut(from) || !stalled.get(from).isEmpty()) {
                stalled.get(from).add(message);
                return;
            }
            Member to = end(1 - from);
            to.soon(lives[1 - from], () -> deliver(1 - from, message));
            if (to.up && to.life != lives[1 - from] && message.kind() != Kind.CLOSE) {
                // Another process is there, and says so; a machine without power says nothing.
                post(1 - from, Message.of(Kind.CLOSE, 0));
            }
        }

        void flush() {
            for (int from = 0; from < 2; from++) {
                if (!isCut(from)) {
                    int side = from;
                    List<Message> all = List.copyOf(stalled.get(from));
                    stalled.get(from).clear();
                    all.forEach(message -> post(side, message));
                }
            }
        }

        private void deliver(int side, Message message) {
            if (!open[side]) {
                return;
            }
            heard[side] = now;
            if (side == 0) {
                standby.heard(this, message);
            } else if (primary.office != null) {
                primary.office.heard(this, message);
            } else if (message.kind() == Kind.CLOSE) {
                open[1] = false;
            } else {
                send(primary, Message.of(Kind.SORRY, 0));
            }
        }

        /** Both say that they are there, and listen. */
        void beat() {
            if (!open[0] && !open[1]) {
                conns.remove(this);
                return;
            }
            for (int side = 0; side < 2; side++) {
                Member member = end(side);
                if (!open[side] || member.life != lives[side] || member.paused) {
                    continue;
                }
                if (now - heard[side] > LINK_TIMEOUT_MILLIS) {
                    close(member);
                    continue;
                }
                // A primary says how long the head lets it wait, a standby how far its state is.
                long says = 0;
                if (side == 0) {
                    says = now < member.readMillis ? 0 : member.verified;
                } else if (primary.office != null) {
                    says = primary.office.primary.waitingMillis(primary.time());
                }
                send(member, Message.of(Kind.BEAT, says));
            }
            after(BEAT_MILLIS, this::beat);
        }

        /** One end closes it; the other one hears of it, if it can. */
        void close(Member by) {
            int side = by == standby ? 0 : 1;
            if (open[side]) {
                post(side, Message.of(Kind.CLOSE, 0));
                over(by);
            }
        }

        /** It is over for this end. */
        void over(Member by) {
            int side = by == standby ? 0 : 1;
            if (!open[side]) {
                return;
            }
            open[side] = false;
            if (side == 0) {
                if (standby.following == this) {
                    standby.unlinked();
                }
            } else if (primary.office != null) {
                primary.office.unlinked(this);
            }
        }

        /** The process at one end is no more. */
        void ended(Member by, boolean isTold) {
            int side = by == standby ? 0 : 1;
            if (open[side]) {
                open[side] = false;
                if (isTold) {
                    post(side, Message.of(Kind.CLOSE, 0));
                }
            }
        }
    }

    // ---- faults

    private Member any() {
        return members.get(random.nextInt(members.size()));
    }

    /** Another one, where there is one. */
    private Member other(Member than) {
        int step = 1 + random.nextInt(Math.max(1, members.size() - 1));
        return members.get((than.index + step) % members.size());
    }

    private void restartLater(Member member) {
        boolean empty = losesFolders && random.nextInt(3) == 0;
        beforeMended(
                random.nextInt(1_200),
                () -> {
                    if (empty && !member.up) {
                        emptied(member);
                    }
                    member.start();
                });
    }

    private void emptied(Member member) {
        say("%s lost its folder", member.name);
        member.chain = new ArrayList<>();
        member.forced = 0;
        member.birth = null;
        member.folderLost = true;
        folderLost = true;
    }

    /** Goes on with a fault, or ends it, where not everything was mended before. */
    private void beforeMended(long delay, Runnable what) {
        int then = mends;
        after(
                delay,
                () -> {
                    if (mends == then) {
                        what.run();
                    }
                });
    }

    private void fault() {
        Member member = any();
        int millis = 20 + random.nextInt(random.nextInt(3) == 0 ? 2_500 : 400);
        switch (random.nextInt(13)) {
            case 0, 1 -> {
                member.stop(false);
                restartLater(member);
            }
            case 2 -> {
                member.stop(true);
                restartLater(member);
            }
            case 3 -> member.pause(millis);
            case 4, 5 -> cutLink(member, other(member), random.nextInt(3), millis);
            case 6 -> {
                for (Conn conn : List.copyOf(conns)) {
                    if (random.nextBoolean()) {
                        conn.close(random.nextBoolean() ? conn.standby : conn.primary);
                    }
                }
            }
            case 7 -> {
                member.cutOff = true;
                say("%s is cut off from the ensemble", member.name);
                beforeMended(millis, () -> member.cutOff = false);
            }
            case 8 -> {
                if (random.nextInt(3) == 0) {
                    say("the ensemble is gone");
                    members.forEach(it -> it.cutOff = true);
                    beforeMended(millis, () -> members.forEach(it -> it.cutOff = false));
                }
            }
            case 9 -> {
                member.forceMillis = 5 + random.nextInt(1_000);
                beforeMended(millis, () -> member.forceMillis = 5);
                if (random.nextBoolean()) {
                    // And what it has not forced is lost.
                    beforeMended(
                            random.nextInt(300),
                            () -> {
                                member.stop(true);
                                restartLater(member);
                            });
                }
            }
            case 10 -> {
                if (member.office != null && !member.paused) {
                    member.office.handOver();
                }
            }
            case 11 -> {
                Member other = other(member);
                slow[member.index][other.index] = random.nextInt(300);
                beforeMended(millis, () -> slow[member.index][other.index] = 0);
            }
            default -> {
                if (losesAllPower && random.nextInt(3) == 0) {
                    say("all lose power");
                    members.forEach(
                            it -> {
                                it.stop(true);
                                restartLater(it);
                            });
                }
            }
        }
    }

    private void storeFault() {
        Store it = store.orElseThrow();
        int millis = 20 + storing.nextInt(storing.nextInt(3) == 0 ? 2_500 : 400);
        if (storing.nextBoolean()) {
            say("the store takes nothing");
            it.fails = true;
            beforeMended(millis, () -> it.fails = false);
        } else {
            it.millis = 5 + storing.nextInt(800);
            say("the store takes %d ms", it.millis);
            beforeMended(millis, () -> it.millis = 5);
        }
    }

    private void cutLink(Member one, Member other, int how, long millis) {
        boolean there = how != 1;
        boolean back = how != 2;
        say("link of %s and %s is cut", one.name, other.name);
        cut[one.index][other.index] |= there;
        cut[other.index][one.index] |= back;
        beforeMended(millis, () -> mendLink(one, other));
    }

    private void mendLink(Member one, Member other) {
        cut[one.index][other.index] = false;
        cut[other.index][one.index] = false;
        List.copyOf(conns).forEach(Conn::flush);
    }

    private void client() {
        for (Member each : members) {
            if (each.office != null && !each.paused && random.nextBoolean()) {
                if (random.nextInt(3) == 0) {
                    each.office.read();
                } else {
                    each.office.write();
                }
            }
        }
    }

    private void clients(long end) {
        if (now < end) {
            client();
            after(random.nextInt(50), () -> clients(end));
        }
    }

    private void faults(long end) {
        if (now < end) {
            fault();
            after(random.nextInt(2 * faultMillis), () -> faults(end));
        }
    }

    private void storeFaults(long end) {
        if (now < end) {
            storeFault();
            after(storing.nextInt(1_000), () -> storeFaults(end));
        }
    }

    // ---- a run

    /** Runs with faults, then mends everything, and looks whether all is well. */
    void run() {
        long end = 800L + random.nextInt(2_500);
        clients(end);
        after(random.nextInt(400), () -> faults(end));
        if (store.isPresent()) {
            after(storing.nextInt(600), () -> storeFaults(end));
        }
        runTo(end, () -> false);
        if (isWell() && deletesHead && head != null) {
            withoutHead();
            return;
        }
        if (isWell() && rest()) {
            if (random.nextInt(2) == 0 && !(rules.strict() && rules.copies() >= members.size())) {
                lastFault();
            }
        }
    }

    private void mend() {
        say("everything is mended");
        mends++;
        healing = true;
        store.ifPresent(
                it -> {
                    it.fails = false;
                    it.millis = 5;
                });
        for (Member each : members) {
            each.cutOff = false;
            each.forceMillis = 5;
            each.stuck = false;
            each.start();
            each.goOn();
            for (Member other : members) {
                slow[each.index][other.index] = 0;
                mendLink(each, other);
            }
        }
    }

    private List<Member> inOffice() {
        return members.stream().filter(it -> it.office != null).toList();
    }

    private boolean anyHas(SegmentId id) {
        return id.number() == 0
                || store.filter(it -> it.has(id)).isPresent()
                || members.stream()
                        .anyMatch(
                                it ->
                                        it.chain.size() >= id.number()
                                                && it.chain
                                                        .get((int) id.number() - 1)
                                                        .id()
                                                        .equals(id));
    }

    /** All is mended; whether the service goes on. */
    private boolean rest() {
        mend();
        long served = now + 300;
        clients(served);
        boolean all = until(REST_MILLIS, () -> now >= served && isSettled());
        if (!isWell()) {
            return false;
        }
        if (!all && head != null && !anyHas(head.segment())) {
            // A loss is said, never silent: nobody is in office.
            lost++;
            if (!isLossExcused(head)) {
                violated("nobody has %s", head.segment());
            } else if (!inOffice().isEmpty()) {
                violated("somebody is primary without %s", head.segment());
            }
            return false;
        }
        if (!all) {
            stalled("nobody is primary, or not all others follow: %s", describe());
            return false;
        }
        Office office = inOffice().get(0).office;
        office.write();
        office.read();
        if (!until(REST_MILLIS, this::isSettled)) {
            stalled("the service does not come to rest: %s", describe());
            return false;
        }
        checkLosses();
        Copies copies = head.copies();
        boolean enough = members.size() >= rules.copies();
        boolean pair = members.size() > 1;
        if (!(copies == Copies.STORE && store.isPresent())
                && !(copies == Copies.FORCED && enough)
                && !(copies == Copies.MEMORY && rules.fast() && pair)
                && !(copies == Copies.ALONE && !enough && !(rules.fast() && pair))) {
            violated("at rest, with %d members, the head says %s", members.size(), copies);
        }
        return isWell();
    }

    private boolean isOnePrimaryFollowed() {
        List<Member> all = inOffice();
        if (all.size() != 1
                || head == null
                || !lastHead.holder().equals(all.get(0).office.holder)) {
            return false;
        }
        Office office = all.get(0).office;
        return !office.handing && office.primary.ready().size() == members.size() - 1;
    }

    private boolean isSettled() {
        if (!isOnePrimaryFollowed()) {
            return false;
        }
        Office office = inOffice().get(0).office;
        SegmentId newest = office.primary.newest();
        return office.outputs.isEmpty()
                && (store.isEmpty() || head.copies() == Copies.STORE)
                && clients.stream().allMatch(Client::isDone)
                && office.readings.isEmpty()
                && newest.number() == finals.size()
                && members.stream()
                        .allMatch(
                                it ->
                                        it.last().equals(newest)
                                                && it.forced == newest.number()
                                                && it.state.equals(finalValues));
    }

    private String describe() {
        Map<String, String> all = new LinkedHashMap<>();
        for (Member each : members) {
            all.put(
                    each.name,
                    (each.office != null
                                    ? "primary"
                                    : each.halted != null ? each.halted : "standby")
                            + ", "
                            + each.last()
                            + ", "
                            + each.forced
                            + " forced, "
                            + each.applied
                            + " applied");
        }
        return all + ", head " + headNow();
    }

    /** The head is deleted: everybody stops, nothing is created anew. */
    private void withoutHead() {
        if (members.stream().anyMatch(it -> it.birth == null)) {
            return;
        }
        mend();
        // A request to create it may be under way since before there was one.
        runFor(LATEST_REQUEST_MILLIS);
        say("the head is deleted");
        head = null;
        deleted = true;
        clients(now + 3_000);
        boolean all = until(REST_MILLIS, () -> members.stream().allMatch(it -> it.halted != null));
        if (!all) {
            stalled("the head is gone, and not all stop: %s", describe());
        }
    }

    /** One fault more in a service at rest, which it has to get over. */
    private void lastFault() {
        Member holder = inOffice().get(0);
        if (store.isPresent() && storing.nextInt(3) == 0) {
            allFoldersLost();
            return;
        }
        int kind = random.nextInt(6);
        say("at rest; last fault %d", kind);
        switch (kind) {
            case 0 -> {
                if (!alone()) {
                    return;
                }
            }
            case 1 -> holder.cutOff = true;
            case 2 -> holder.stuck = true;
            case 3 -> holder.pause(100_000);
            case 4 -> {
                holder.cutOff = true;
                members.stream()
                        .filter(it -> it != holder)
                        .forEach(it -> cutLink(holder, it, 0, 100_000));
            }
            default -> holder.stop(random.nextBoolean());
        }
        if (kind == 0 && rules.strict() && rules.copies() > 1) {
            if (!until(TAKEOVER_MILLIS, () -> !inOffice().isEmpty())) {
                stalled("who is alone does not come into office: %s", describe());
            }
        } else if (isWell() && (kind == 0 || members.size() > 1)) {
            goesOn(kind == 1 || kind == 2 ? STUCK_MILLIS : TAKEOVER_MILLIS);
        }
        if (isWell()) {
            rest();
        }
    }

    /** The store has all that the head names, so nothing is lost. */
    private void allFoldersLost() {
        say("at rest; all lose their folders");
        members.forEach(it -> it.stop(true));
        runFor(LATEST_REQUEST_MILLIS);
        for (Member each : members) {
            emptied(each);
            each.start();
        }
        goesOn(TAKEOVER_MILLIS + READS_MILLIS);
        if (isWell()) {
            rest();
        }
    }

    /** A turn's output leaves within a bounded time. */
    private void goesOn(int millis) {
        long newest = values;
        clients(now + millis);
        boolean all = until(millis, () -> visible >= 0 && finalValues.get(visible) > newest);
        if (!all) {
            stalled("the service does not go on: %s", describe());
        }
    }

    /** All die; who has what the head names comes up alone, where there is one. */
    private boolean alone() {
        members.forEach(it -> it.stop(random.nextBoolean()));
        runFor(LATEST_REQUEST_MILLIS);
        SegmentId named = head.segment();
        List<Member> have =
                members.stream()
                        .filter(
                                it ->
                                        it.chain.size() >= named.number()
                                                && it.at(named.number()).equals(Optional.of(named)))
                        .toList();
        if (!have.isEmpty()) {
            have.get(random.nextInt(have.size())).start();
            return true;
        }
        if (!isLossExcused(head)) {
            violated("nobody has %s", named);
        }
        return false;
    }

    /** Folders were lost, or all who had it in memory lost power (C15). */
    private boolean isLossExcused(StandbyHead of) {
        if (of.copies() == Copies.STORE) {
            return false;
        }
        return folderLost
                || (of.copies() == Copies.MEMORY
                        && of.holders().stream()
                                .allMatch(
                                        it ->
                                                byName.get(it)
                                                        .lostAt
                                                        .containsKey(of.segment().digest())));
    }

    static List<Broken> rules() {
        return Arrays.stream(Broken.values()).filter(it -> it != Broken.NOTHING).toList();
    }
}
