package io.saucr.services.core.standby;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.standby.AcceptedLoss.Decision;
import io.saucr.services.core.standby.AcceptedLoss.Found;
import io.saucr.services.core.standby.StandbyHead.Copies;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Three members that start, die and lose what they have, an operator who accepts losses, and the
 * head (C17). No member hears of another but by the head, so whoever may take over tries to. A
 * write goes out and arrives long after, also after its process died. A seed chooses every step;
 * what the head says is checked at every write.
 */
final class AcceptedLossWorld {

    /** A rule that is left out, to see that it is missed. */
    enum Broken {
        NOTHING,
        /** The order does not write on the version that was looked at. */
        ORDER_ON_ANY_VERSION,
        /** What is behind the loss stays in the folder. */
        GIVEN_UP_IS_KEPT,
        /** A loss is accepted without a new birth. */
        OLD_BIRTH_GOES_ON
    }

    private static final List<String> NAMES =
            List.of("000000000000000a", "000000000000000b", "000000000000000c");

    private static final int MILLIS = 150;
    private static final int STEPS = 60;

    private final Random random;
    private final Broken broken;
    private final List<Member> members = new ArrayList<>();

    /** By the digest of each segment: its predecessor. */
    private final Map<String, SegmentId> before = new HashMap<>();

    private final List<Runnable> underWay = new ArrayList<>();
    private StandbyHead head;
    private int version;
    private long now;
    private long made;
    private Seen looked;

    /** Losses that were accepted. */
    long losses;

    /** Members that came back with what had been given up. */
    long givenUp;

    /** Takeovers. */
    long takeovers;

    private record Seen(Member by, Found found, Decision.Offer offer) {}

    /** A member's folder, and its process where one runs. */
    private final class Member implements Standby.Chain {
        private String name;
        private final List<SegmentId> chain = new ArrayList<>();
        private Optional<Birth> birth = Optional.empty();
        private long known;
        private Standby process;
        private StandbyHead office;
        private int officeVersion;
        private int starts;
        private boolean refused;

        Member(String name) {
            this.name = name;
        }

        @Override
        public SegmentId last() {
            return chain.isEmpty() ? SegmentId.NONE : chain.get(chain.size() - 1);
        }

        @Override
        public Optional<SegmentId> at(long number) {
            if (number == 0) {
                return Optional.of(SegmentId.NONE);
            }
            return number > chain.size()
                    ? Optional.empty()
                    : Optional.of(chain.get((int) number - 1));
        }

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
            return birth;
        }

        boolean runs() {
            return process != null || office != null;
        }

        void start() {
            starts++;
            office = null;
            process =
                    new Standby(
                            Standby.Rules.standard(),
                            name,
                            random.nextLong(),
                            "h:1",
                            this,
                            new Birth(++made, 0));
        }

        void kill() {
            starts++;
            process = null;
            office = null;
        }

        /** Its disk is gone: whoever starts here is another member. */
        void lose() {
            kill();
            name = String.format("%016x", ++made);
            chain.clear();
            birth = Optional.empty();
            known = 0;
            refused = false;
        }

        void cutAfter(long number) {
            while (chain.size() > number) {
                chain.remove(chain.size() - 1);
            }
        }

        void perform(List<Standby.Action> actions) {
            int mine = starts;
            for (Standby.Action action : actions) {
                if (action instanceof Standby.Action.Read) {
                    later(mine, () -> perform(process.seen(Optional.of(head), version, now)));
                } else if (action instanceof Standby.Action.Challenge) {
                    later(mine, () -> perform(process.challenged(now)));
                } else if (action instanceof Standby.Action.Take it) {
                    take(mine, it);
                } else if (action instanceof Standby.Action.Follow it) {
                    if (birth.isEmpty()) {
                        birth = Optional.of(it.head().holder().birth());
                    }
                } else if (action instanceof Standby.Action.Apply it) {
                    known = Math.max(known, it.upTo().number());
                } else if (action instanceof Standby.Action.BearAnew it) {
                    bearAnew(it.birth(), it.former());
                } else if (action instanceof Standby.Action.InOffice it) {
                    inOffice(it.head(), it.version());
                } else if (action instanceof Standby.Action.Refuse) {
                    refused = true;
                    kill();
                }
            }
        }

        private void later(int mine, Runnable answer) {
            underWay.add(
                    () -> {
                        if (mine == starts && process != null) {
                            answer.run();
                        }
                    });
        }

        private void take(int mine, Standby.Action.Take take) {
            underWay.add(
                    () -> {
                        boolean done = version == take.version();
                        if (done) {
                            write(take.head());
                        }
                        int as = version;
                        if (mine == starts) {
                            perform(done ? process.took(as) : process.unknown(now));
                        }
                    });
        }

        private void bearAnew(Birth to, Replaced former) {
            Optional<SegmentId> mine = at(former.upTo().number());
            boolean has = mine.equals(Optional.of(former.upTo()));
            if (broken != Broken.GIVEN_UP_IS_KEPT) {
                long stays = has ? former.upTo().number() : Math.min(known, chain.size());
                givenUp += chain.size() > stays ? 1 : 0;
                cutAfter(stays);
                known = has ? stays : Math.min(known, stays);
            }
            birth = Optional.of(to);
            start();
        }

        private void inOffice(StandbyHead with, int as) {
            takeovers++;
            process = null;
            office = with;
            officeVersion = as;
            expect(
                    birth.equals(Optional.of(with.holder().birth())),
                    "a folder of another generation");
            expect(at(with.segment().number()).equals(Optional.of(with.segment())), "it lacks it");
            if (broken != Broken.GIVEN_UP_IS_KEPT) {
                cutAfter(with.segment().number());
            }
        }

        /** Writes a segment, which the head names then, if this member is still in office. */
        void turn() {
            SegmentId last = last();
            SegmentId next =
                    new SegmentId(
                            office.holder().number(),
                            last.number() + 1,
                            String.format("%064x", ++made));
            before.put(next.digest(), last);
            chain.add(next);
            List<Member> also = new ArrayList<>();
            for (Member other : members) {
                // Copies reach those that run and share all before.
                if (other != this
                        && other.process != null
                        && other.birth.equals(birth)
                        && random.nextInt(3) == 0
                        && other.at(last.number()).equals(Optional.of(last))
                        && other.known <= last.number()) {
                    other.cutAfter(last.number());
                    other.chain.add(next);
                    also.add(other);
                }
            }
            TreeSet<String> holders = new TreeSet<>(List.of(name));
            also.forEach(it -> holders.add(it.name));
            StandbyHead named =
                    office.naming(
                            next,
                            next.number() * 10,
                            holders,
                            also.isEmpty() ? Copies.ALONE : Copies.FORCED);
            if (version == officeVersion) {
                write(named);
                officeVersion = version;
                office = named;
                known = next.number();
            } else {
                // Deposed: it follows again.
                start();
            }
        }
    }

    AcceptedLossWorld(long seed, Broken broken) {
        this.random = new Random(seed);
        this.broken = broken;
        for (String name : NAMES) {
            members.add(new Member(name));
        }
        Member first = members.get(0);
        first.birth = Optional.of(new Birth(++made, 0));
        head =
                new StandbyHead(
                        new Incarnation(first.birth.get(), 1, 1),
                        first.name,
                        "h:1",
                        SegmentId.NONE,
                        0,
                        new TreeSet<>(List.of(first.name)),
                        Copies.ALONE,
                        Optional.empty(),
                        Optional.empty());
        members.forEach(Member::start);
    }

    private static void expect(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    private boolean isBehind(SegmentId later, SegmentId earlier) {
        SegmentId at = later;
        while (at != null && at.number() > earlier.number()) {
            at = before.get(at.digest());
        }
        return earlier.equals(at);
    }

    /** Every write of the head passes here. */
    private void write(StandbyHead next) {
        if (next.holder().birth().equals(head.holder().birth())) {
            expect(
                    next.segment().equals(head.segment())
                            || head.segment().equals(before.get(next.segment().digest())),
                    "segment " + next.segment() + " does not follow " + head.segment());
        } else {
            expect(
                    next.replaces()
                            .equals(
                                    Optional.of(
                                            new Replaced(head.holder().birth(), next.segment()))),
                    "generation " + next.holder().birth() + " came without an order");
            expect(
                    isBehind(head.segment(), next.segment()),
                    "segment " + next.segment() + " was never named");
        }
        expect(next.holder().number() >= head.holder().number(), "the epoch went back");
        head = next;
        version++;
    }

    // ---- the operator

    /** With the folder of a member that does not run, and that may go on. */
    private void look() {
        TreeMap<String, String> announced = new TreeMap<>();
        members.stream().filter(Member::runs).forEach(it -> announced.put(it.name, "h:1"));
        boolean serves = members.stream().anyMatch(it -> it.office != null);
        Found found =
                new Found(head, version, serves ? Optional.of("h:2") : Optional.empty(), announced);
        for (Member each : members) {
            if (!each.runs()
                    && AcceptedLoss.decide(found, each.name, each)
                            instanceof Decision.Offer offer) {
                looked = new Seen(each, found, offer);
            }
        }
    }

    private void give() {
        Seen seen = looked;
        looked = null;
        if (seen == null || seen.by().runs()) {
            return;
        }
        boolean any = broken == Broken.ORDER_ON_ANY_VERSION;
        if (!any && version != seen.found().version()) {
            return;
        }
        expect(head.equals(seen.found().head()), "what is lost is not what was named");
        SegmentId keeps = seen.offer().keeps();
        StandbyHead next =
                AcceptedLoss.head(
                        seen.found(),
                        seen.by().name,
                        keeps,
                        keeps.number() * 10,
                        broken == Broken.OLD_BIRTH_GOES_ON
                                ? new Birth(head.holder().birth().high(), 1)
                                : new Birth(++made, 0),
                        random.nextLong());
        if (broken == Broken.OLD_BIRTH_GOES_ON) {
            next =
                    new StandbyHead(
                            new Incarnation(head.holder().birth(), next.holder().number(), ++made),
                            next.member(),
                            next.at(),
                            next.segment(),
                            next.turn(),
                            next.holders(),
                            next.copies(),
                            next.successor(),
                            head.replaces());
        }
        losses++;
        write(next);
    }

    // ---- steps

    /** Phases in which the service works alternate with such in which all may be dead. */
    void run(int phases) {
        for (int phase = 0; phase < phases; phase++) {
            for (int step = 0; step < STEPS; step++) {
                now += random.nextInt(MILLIS);
                works(members.get(random.nextInt(members.size())));
            }
            // Their machines have one plug.
            members.forEach(Member::kill);
            for (int step = 0; step < STEPS; step++) {
                now += random.nextInt(MILLIS);
                fails(members.get(random.nextInt(members.size())));
            }
        }
        settle();
    }

    private void works(Member any) {
        switch (random.nextInt(12)) {
            case 0 -> {
                if (any.office == null) {
                    any.kill();
                }
            }
            case 1 -> start(any);
            case 2, 3, 4, 5 -> turn(any);
            case 6, 7, 8 -> arrives();
            default -> tick(any);
        }
    }

    private void fails(Member any) {
        switch (random.nextInt(14)) {
            case 0 -> any.kill();
            case 1 -> {
                if (random.nextInt(8) == 0) {
                    any.lose();
                }
            }
            case 2 -> start(any);
            case 3, 4, 5 -> look();
            case 6 -> {
                // He reads for a while what it says.
                if (random.nextInt(3) == 0) {
                    give();
                }
            }
            case 7 -> turn(any);
            case 8, 9, 10 -> arrives();
            default -> tick(any);
        }
    }

    private void start(Member any) {
        if (!any.runs() && !any.refused) {
            any.start();
        }
    }

    private void turn(Member any) {
        if (any.office != null) {
            any.turn();
        }
    }

    private void arrives() {
        if (!underWay.isEmpty()) {
            underWay.remove(random.nextInt(underWay.size())).run();
        }
    }

    private void tick(Member any) {
        if (any.process != null) {
            any.perform(any.process.tick(now));
        }
    }

    /** All run, and whatever is under way arrives: somebody who has what the head names serves. */
    private void settle() {
        boolean possible = false;
        for (Member each : members) {
            if (!each.runs() && !each.refused) {
                each.start();
            }
        }
        for (int round = 0; round < 400; round++) {
            now += 20;
            for (Member each : members) {
                if (each.office != null && each.officeVersion != version) {
                    each.start();
                }
                tick(each);
            }
            while (!underWay.isEmpty()) {
                underWay.remove(0).run();
            }
        }
        for (Member each : members) {
            boolean has = each.at(head.segment().number()).equals(Optional.of(head.segment()));
            possible |= has && each.runs();
            expect(
                    !each.runs() || each.birth.equals(Optional.of(head.holder().birth())),
                    "a member runs with another generation than the head's");
        }
        StandbyHead last = head;
        expect(
                !possible
                        || members.stream()
                                .anyMatch(
                                        it ->
                                                it.office != null
                                                        && it.office
                                                                .holder()
                                                                .equals(last.holder())),
                "nobody serves though one could");
    }
}
