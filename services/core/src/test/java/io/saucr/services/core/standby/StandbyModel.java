package io.saucr.services.core.standby;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Exploration;
import io.saucr.services.core.Exploration.Step;
import io.saucr.services.core.standby.StandbyHead.Copies;
import io.saucr.services.core.standby.StandbyWorld.Broken;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Every way through a small world of a service with standbys, over {@link Primary} and {@link
 * Standby}: every order of cuts, forces, messages and requests to the ensemble, with a number of
 * deaths (all or nothing of what was not forced survives), of broken connections with the ensemble
 * (what is under way may land later, or never), of broken links, and of times that are long enough
 * for silence to count. The simulator, {@link StandbyWorld}, takes long ways through large worlds.
 */
final class StandbyModel {

    /**
     * A small world.
     *
     * @param members 1 to 3; as many as two have a segment before it counts, while they are there
     * @param turns that are cut, in all, each alone in its segment
     * @param reads that are asked for, in all
     * @param links that standbys make to who is in office, in all
     * @param deaths of members, which start again at once
     * @param breaks of connections with the ensemble, in all
     * @param cuts of links, in all
     * @param waits how often nothing happens for longer than a primary may be silent
     */
    record Size(
            int members,
            int turns,
            int reads,
            int links,
            int deaths,
            int breaks,
            int cuts,
            int waits) {

        /** From numbers in the order of its parts. */
        static Size of(int... numbers) {
            return new Size(
                    numbers[0],
                    numbers[1],
                    numbers[2],
                    numbers[3],
                    numbers[4],
                    numbers[5],
                    numbers[6],
                    numbers[7]);
        }

        /** The same from text, with blanks between them. */
        static Size parse(String numbers) {
            return of(Arrays.stream(numbers.split(" ")).mapToInt(Integer::parseInt).toArray());
        }
    }

    private static final Primary.Rules RULES = new Primary.Rules(2, false, false, 300, 1_000);
    private static final long WAIT_MILLIS = 400;
    private static final Birth BIRTH = new Birth(1, 2);

    /** A member's text has its chain already. */
    private static final Set<Class<?>> TOLD_APART = Set.of(Standby.Chain.class);

    private final Size size;
    private final Broken broken;

    StandbyModel(Size size, Broken broken) {
        this.size = size;
        this.broken = broken;
    }

    /** Ready to look at all of them. */
    Exploration exploration() {
        return new Exploration(World::new);
    }

    /** A segment with one turn. */
    private record Seg(SegmentId id, String previous) {}

    /** What a request does to the ensemble, and how its answer is taken. */
    private static final class Request {
        final String what;
        final Supplier<Runnable> landing;
        final Runnable unknown;
        Runnable answer;

        Request(String what, Supplier<Runnable> landing, Runnable unknown) {
            this.what = what;
            this.landing = landing;
            this.unknown = unknown;
        }

        @Override
        public String toString() {
            return what + (answer == null ? "" : ", landed");
        }
    }

    private final class World extends Exploration.World {

        final List<Member> members = new ArrayList<>();

        /** Of connections that broke: they may land at any time. */
        final List<Request> late = new ArrayList<>();

        long now;
        Optional<StandbyHead> head = Optional.empty();
        int version;
        final Map<String, Seg> segments = new HashMap<>();

        /** What the head has named, in order. */
        final List<SegmentId> finals = new ArrayList<>();

        /** The newest turn that anybody heard of. */
        int told;

        int turns;
        int reads;
        int links;
        int deaths;
        int breaks;
        int cuts;
        int waits;

        World() {
            for (int i = 0; i < size.members(); i++) {
                members.add(new Member(i));
            }
            members.forEach(Member::stand);
        }

        @Override
        protected List<Step> steps() {
            List<Step> steps = new ArrayList<>();
            members.forEach(it -> it.steps(steps));
            for (Request each : late) {
                steps.add(
                        new Step(
                                each + " lands late",
                                () -> {
                                    late.remove(each);
                                    Runnable unused = each.landing.get();
                                }));
            }
            if (waits < size.waits()) {
                steps.add(
                        new Step(
                                "nothing happens for a while",
                                () -> {
                                    waits++;
                                    now += WAIT_MILLIS;
                                }));
            }
            return steps;
        }

        @Override
        protected boolean isAtRest(boolean moves) {
            return turns == size.turns()
                    && finals.size() == turns
                    && members.stream().filter(it -> it.primary != null).count() == 1
                    && members.stream().allMatch(it -> it.forced == turns && it.isSettled());
        }

        // ---- the ensemble

        boolean set(StandbyHead next, int on) {
            if (head.isEmpty() || version != on) {
                return false;
            }
            landed(next);
            version++;
            return true;
        }

        boolean create(StandbyHead first) {
            if (head.isPresent()) {
                return false;
            }
            landed(first);
            version = 0;
            return true;
        }

        private void landed(StandbyHead next) {
            head.ifPresent(
                    before -> {
                        long epoch = before.holder().number();
                        boolean same = before.holder().equals(next.holder());
                        if (!same && next.holder().number() != epoch + 1) {
                            fail(next.holder() + " follows " + before.holder());
                        }
                    });
            head = Optional.of(next);
            List<SegmentId> more = new ArrayList<>();
            SegmentId at = next.segment();
            while (at.number() > finals.size()) {
                more.add(0, at);
                Seg previous = segments.get(segments.get(at.digest()).previous());
                at = previous == null ? SegmentId.NONE : previous.id();
            }
            SegmentId newest = finals.isEmpty() ? SegmentId.NONE : finals.get(finals.size() - 1);
            if (!at.equals(newest)) {
                fail("the head names " + next.segment() + ", which does not hold " + newest);
                return;
            }
            finals.addAll(more);
            for (String name : more.isEmpty() ? List.<String>of() : next.holders()) {
                Member holder = members.get(name.charAt(name.length() - 1) - '0');
                if (holder.forced < finals.size() || !holder.ids().equals(finals)) {
                    fail(next.copies() + " copies, and " + name + " has not forced its own");
                }
            }
            if (next.copies() == Copies.FORCED && next.holders().size() < 2) {
                fail(next.holders() + " are not two copies");
            }
        }

        @Override
        protected String text() {
            StringBuilder text = new StringBuilder();
            text.append(now).append(head).append(version).append(finals).append(told);
            text.append(Arrays.asList(turns, reads, links, deaths, breaks, cuts, waits))
                    .append(late);
            for (Member each : members) {
                text.append('\n').append(each.chain).append(each.forced).append(each.requests);
                text.append(each.known)
                        .append(each.met)
                        .append(each.link)
                        .append(Arrays.toString(each.reading));
                text.append(each.named).append(each.proven);
                Exploration.describe(each.standby, text, TOLD_APART);
                Exploration.describe(each.primary, text, TOLD_APART);
            }
            return text.toString();
        }

        // ---- members

        private final class Link {
            final Member standby;
            final Member primary;
            final ArrayDeque<Object> toStandby = new ArrayDeque<>();
            final ArrayDeque<Long> stored = new ArrayDeque<>();

            Link(Member standby, Member primary) {
                this.standby = standby;
                this.primary = primary;
            }

            void cut() {
                standby.link = null;
                primary.followers.remove(this);
                if (standby.standby != null) {
                    standby.act(standby.standby.unlinked(now));
                }
                if (primary.primary != null) {
                    primary.perform(primary.primary.unlinked(standby.name, now));
                }
            }

            @Override
            public String toString() {
                return primary.name + toStandby + stored;
            }
        }

        private final class Member implements Standby.Chain {
            final int index;
            final String name;
            List<Seg> chain = new ArrayList<>();
            int forced;
            long known;
            boolean met;
            int life;
            Standby standby;
            Primary primary;
            ArrayDeque<Request> requests = new ArrayDeque<>();
            Link link;
            final List<Link> followers = new ArrayList<>();

            /** A read that is not answered: what was told when it came, and what it saw. */
            int[] reading = {};

            int named;
            boolean proven;

            Member(int index) {
                this.index = index;
                this.name = "000000000000000" + index;
            }

            boolean isSettled() {
                return requests.isEmpty() && reading.length == 0;
            }

            List<SegmentId> ids() {
                return chain.stream().map(Seg::id).limit(finals.size()).toList();
            }

            void stand() {
                life++;
                primary = null;
                reading = new int[0];
                standby =
                        new Standby(
                                Standby.Rules.standard(),
                                name,
                                100L * index + life,
                                name + ":1",
                                this,
                                BIRTH);
                act(standby.tick(now));
            }

            void steps(List<Step> steps) {
                String me = "member " + index;
                steps.add(new Step(me + " looks", this::tick));
                if (primary != null && turns < size.turns() && chain.size() - named < 2) {
                    steps.add(new Step(me + " cuts", this::cut));
                }
                if (primary != null && reads < size.reads() && reading.length == 0) {
                    steps.add(new Step(me + " is read", this::read));
                }
                if (forced < chain.size()) {
                    steps.add(new Step(me + " forces", this::force));
                }
                Optional<Request> next =
                        requests.stream().filter(it -> it.answer == null).findFirst();
                next.ifPresent(
                        it ->
                                steps.add(
                                        new Step(
                                                me + "'s " + it + " lands",
                                                () -> it.answer = it.landing.get())));
                if (!requests.isEmpty() && requests.element().answer != null) {
                    steps.add(
                            new Step(
                                    me + " hears of " + requests.element(),
                                    () -> requests.remove().answer.run()));
                }
                if (links < size.links() && link == null && followed().isPresent()) {
                    steps.add(new Step(me + " follows", () -> follow(followed().get())));
                }
                if (link != null && !link.toStandby.isEmpty()) {
                    steps.add(new Step(me + " hears its primary", this::hear));
                }
                for (Link each : followers) {
                    if (!each.stored.isEmpty()) {
                        steps.add(
                                new Step(
                                        me + " hears member " + each.standby.index,
                                        () -> stored(each)));
                    }
                }
                if (deaths < size.deaths()) {
                    steps.add(new Step(me + " dies, with what is forced", () -> die(forced)));
                    if (forced < chain.size()) {
                        steps.add(new Step(me + " dies, with all", () -> die(chain.size())));
                    }
                }
                if (breaks < size.breaks() && !requests.isEmpty()) {
                    steps.add(new Step(me + " loses the ensemble", this::breaks));
                }
                if (cuts < size.cuts() && link != null) {
                    steps.add(
                            new Step(
                                    me + "'s link is cut",
                                    () -> {
                                        cuts++;
                                        link.cut();
                                    }));
                }
            }

            private void tick() {
                if (primary != null) {
                    perform(primary.tick(now));
                } else {
                    act(standby.tick(now));
                }
            }

            private void die(int kept) {
                deaths++;
                drop(requests);
                requests = new ArrayDeque<>();
                if (link != null) {
                    link.cut();
                }
                List.copyOf(followers).forEach(Link::cut);
                chain = new ArrayList<>(chain.subList(0, kept));
                forced = kept;
                stand();
            }

            /** What did not land may land later. */
            private void drop(Collection<Request> all) {
                all.stream().filter(it -> it.answer == null).forEach(late::add);
            }

            private void breaks() {
                breaks++;
                List<Request> all = List.copyOf(requests);
                requests.clear();
                drop(all);
                all.forEach(it -> it.unknown.run());
            }

            private void ask(String what, Supplier<Runnable> landing, Runnable unknown) {
                int asking = life;
                requests.add(
                        new Request(
                                what,
                                () -> {
                                    Runnable answer = landing.get();
                                    return () -> ifAlive(asking, answer);
                                },
                                () -> ifAlive(asking, unknown)));
            }

            private void ifAlive(int asking, Runnable answer) {
                if (life == asking) {
                    answer.run();
                }
            }

            // ---- as a standby

            void act(List<Standby.Action> actions) {
                Standby by = standby;
                for (Standby.Action action : actions) {
                    if (action instanceof Standby.Action.Read) {
                        ask(
                                "read",
                                () -> {
                                    Optional<StandbyHead> was = head;
                                    int on = version;
                                    return () -> act(by.seen(was, on, now));
                                },
                                () -> act(by.unknown(now)));
                    } else if (action instanceof Standby.Action.Challenge) {
                        ask(
                                "challenge",
                                () -> {
                                    members.stream()
                                            .filter(it -> it.primary != null)
                                            .forEach(it -> it.perform(it.primary.challenged(now)));
                                    return () -> act(by.challenged(now));
                                },
                                () -> act(by.unknown(now)));
                    } else if (action instanceof Standby.Action.Create it) {
                        ask(
                                "creation",
                                () -> tried(by, create(it.head()), 0),
                                () -> act(by.unknown(now)));
                    } else if (action instanceof Standby.Action.Take it) {
                        ask(
                                "takeover",
                                () -> tried(by, set(it.head(), it.version()), it.version() + 1),
                                () -> act(by.unknown(now)));
                    } else if (action instanceof Standby.Action.Apply it) {
                        known = Math.max(known, it.upTo().number());
                    } else if (action instanceof Standby.Action.InOffice it) {
                        inOffice(it.head(), it.version());
                    } else if (action instanceof Standby.Action.Refuse it) {
                        fail(name + " halts: " + it.reason());
                    } else if (action instanceof Standby.Action.Follow) {
                        met = true;
                        if (link != null) {
                            link.cut();
                        }
                    }
                }
            }

            private Runnable tried(Standby by, boolean done, int on) {
                return () -> act(done ? by.took(on) : by.unknown(now));
            }

            /** Whom it is to follow, where that one is in the office that it read of. */
            private Optional<Member> followed() {
                return Optional.ofNullable(standby)
                        .flatMap(Standby::head)
                        .flatMap(
                                it ->
                                        members.stream()
                                                .filter(each -> each != this)
                                                .filter(each -> each.primary != null)
                                                .filter(
                                                        each ->
                                                                each.primary
                                                                        .head()
                                                                        .holder()
                                                                        .equals(it.holder()))
                                                .findFirst());
            }

            private void follow(Member to) {
                links++;
                link = new Link(this, to);
                to.followers.add(link);
                standby.linked(now);
                to.primary.linked(name, now);
                // All of it: what is there already is known.
                link.toStandby.addAll(to.chain);
                link.toStandby.add(to.primary.head().segment());
            }

            private void hear() {
                Object message = link.toStandby.remove();
                standby.heard(now);
                if (message instanceof SegmentId it) {
                    act(standby.named(it));
                    return;
                }
                Seg segment = (Seg) message;
                long number = segment.id().number();
                switch (standby.arrived(segment.id(), segment.previous())) {
                    case APPEND, REPLACE -> {
                        dropAfter(number - 1);
                        chain.add(segment);
                        if (broken == Broken.C3_NAMED_BEFORE_IT_IS_FORCED) {
                            link.stored.add(number);
                        }
                    }
                    case KNOWN -> {
                        if (forced >= number) {
                            link.stored.add(number);
                        }
                    }
                    default -> link.cut();
                }
            }

            private void dropAfter(long number) {
                if (number < chain.size()) {
                    if (number < known) {
                        fail(name + " drops what the head named");
                    }
                    chain.subList((int) number, chain.size()).clear();
                    forced = Math.min(forced, chain.size());
                }
            }

            @Override
            public SegmentId last() {
                return chain.isEmpty() ? SegmentId.NONE : chain.get(chain.size() - 1).id();
            }

            @Override
            public Optional<SegmentId> at(long number) {
                if (number == 0) {
                    return Optional.of(SegmentId.NONE);
                }
                if (broken == Broken.C6_TAKEN_WITHOUT_THE_SEGMENT
                        && head.filter(it -> it.segment().number() == number).isPresent()) {
                    return head.map(StandbyHead::segment);
                }
                return number <= chain.size()
                        ? Optional.of(chain.get((int) number - 1).id())
                        : Optional.empty();
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
                return met ? Optional.of(BIRTH) : Optional.empty();
            }

            // ---- in office

            private void inOffice(StandbyHead as, int on) {
                if (link != null) {
                    link.cut();
                }
                standby = null;
                met = true;
                int number = (int) as.segment().number();
                dropAfter(number);
                if (!last().equals(as.segment())) {
                    fail(name + " is primary with " + last() + ", not " + as.segment());
                }
                named = number;
                known = Math.max(known, number);
                primary = new Primary(RULES, as, on);
                perform(primary.tick(now));
            }

            private void cut() {
                turns++;
                SegmentId before = last();
                long number = before.number() + 1;
                long epoch = primary.head().holder().number();
                String digest = String.format("%064x", epoch * 1_000 + number * 10 + index + 1);
                Seg segment = new Seg(new SegmentId(epoch, number, digest), before.digest());
                segments.put(digest, segment);
                chain.add(segment);
                followers.forEach(it -> it.toStandby.add(segment));
                if (broken == Broken.C7_LEAVES_BEFORE_IT_IS_NAMED) {
                    leaves((int) number);
                }
                perform(primary.cut(segment.id(), number, now));
            }

            private void leaves(int number) {
                if (number > finals.size() || !finals.get(number - 1).equals(at(number).get())) {
                    fail("turn " + number + " leaves, which is not final");
                }
                told = Math.max(told, number);
            }

            private void force() {
                forced = chain.size();
                if (primary != null) {
                    perform(primary.forced(forced, now));
                } else if (link != null) {
                    link.stored.add((long) forced);
                }
            }

            private void stored(Link from) {
                perform(primary.forced(from.standby.name, from.stored.remove(), now));
            }

            private void read() {
                reads++;
                reading = new int[] {told, chain.size()};
                proven = broken == Broken.C8_READ_WITHOUT_PROOF;
                perform(primary.prove(reads, now));
                answer();
            }

            /** Who asks later than others were answered sees no less. */
            private void answer() {
                if (reading.length > 0 && proven && reading[1] <= named) {
                    if (reading[1] < reading[0]) {
                        fail("a read saw " + reading[1] + " turns, and " + reading[0] + " left");
                    }
                    told = Math.max(told, reading[1]);
                    reading = new int[0];
                }
            }

            void perform(List<Primary.Action> actions) {
                Primary by = primary;
                for (Primary.Action action : actions) {
                    if (action instanceof Primary.Action.Write it) {
                        ask(
                                "write",
                                () -> {
                                    boolean done = set(it.head(), it.version());
                                    return () ->
                                            perform(
                                                    done
                                                            ? by.wrote(it.version() + 1, now)
                                                            : by.unknown());
                                },
                                () ->
                                        perform(
                                                broken == Broken.C13_UNKNOWN_IS_SUCCESS
                                                        ? by.wrote(it.version() + 1, now)
                                                        : by.unknown()));
                    } else if (action instanceof Primary.Action.Check it) {
                        ask(
                                "check",
                                () -> {
                                    boolean same = head.isPresent() && version == it.version();
                                    return () -> perform(same ? by.checked(now) : by.unchecked());
                                },
                                () -> perform(by.unchecked()));
                    } else if (action instanceof Primary.Action.Read) {
                        ask(
                                "read",
                                () -> {
                                    Optional<StandbyHead> was = head;
                                    int on = version;
                                    return () -> perform(by.seen(was, on, now));
                                },
                                () -> perform(by.unknown()));
                    } else if (action instanceof Primary.Action.Named it) {
                        for (int number = named + 1; number <= it.turn(); number++) {
                            leaves(number);
                        }
                        named = (int) it.turn();
                        known = Math.max(known, named);
                        followers.forEach(each -> each.toStandby.add(it.segment()));
                        answer();
                    } else if (action instanceof Primary.Action.Proven) {
                        proven = true;
                        answer();
                    } else if (action instanceof Primary.Action.Over it) {
                        if (it.stops()) {
                            fail(name + " stops: " + it.reason());
                        }
                        List.copyOf(followers).forEach(Link::cut);
                        stand();
                        return;
                    }
                }
            }
        }
    }
}
