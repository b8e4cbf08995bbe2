package io.saucr.services.speculative;

import io.saucr.services.Address;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.speculation.Decision;
import io.saucr.services.core.speculation.GroupHead;
import io.saucr.services.core.speculation.Listing;
import io.saucr.services.core.speculation.VersionRecord.Sealed;
import io.saucr.services.core.speculation.VersionVector;
import io.saucr.services.ensemble.ServicePath;
import io.saucr.services.group.GroupFrame;
import io.saucr.services.group.GroupLink;
import io.saucr.services.group.GroupLinks;
import io.saucr.services.group.GroupListener;
import io.saucr.services.wire.NetOptions;
import io.saucr.services.wire.Transport;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One service's part in its group: follows the head, lists and reports to the member that
 * coordinates, and coordinates itself where nobody else does (D8, D9, D13). A member that does not
 * reach its coordinator claims the head after a while, by its rank: a claim in haste does no harm.
 *
 * <p>It begins once the service holds its own head, so that no start reads the group's head before
 * (K14). All happens on one thread, the group's; methods are for any thread.
 */
final class GroupMember implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(GroupMember.class);

    /** So many looks in one patience. */
    private static final int LOOKS = 10;

    /** How often the log says what a start waits for. */
    private static final long WAITING_NANOS = TimeUnit.SECONDS.toNanos(10);

    /**
     * What the service does with what it hears of its group; the group's thread, must not block.
     */
    interface Turns {

        /** The service is this member from now on; once, before all else. */
        void isMember(int index);

        /** These are the members, by index, those that were given up as well; more may follow. */
        void members(List<GroupHead.Member> all);

        /** All that is on disk; empty while the passage to a world is not (D10). */
        Optional<Listing> listing();

        /** It passes to the world of a decision, a later one; a start runs from now on. */
        void decided(Decision decision);

        /** A start that had left runs from now on, in this world, with all that it listed. */
        void admitted(Decision decision);

        /** More is final. */
        void bounded(long world, VersionVector boundary);

        /** It has left. */
        void left();

        /** Whether a coordinator hears this member (D16). */
        void led(boolean now);

        /** It must not continue (D15). Once. */
        void refused(String reason);
    }

    /**
     * How long things may take.
     *
     * @param patience without a coordinator before the first one claims
     * @param grace that others wait for a member before a decision is made without it
     */
    record Timing(Duration patience, Duration grace) {}

    private final String group;
    private final String name;
    private final Incarnation start;
    private final boolean known;

    /** The version with which it joins a group that does not know it; all up to it is final. */
    private final long joinsWith;

    private final Timing timing;
    private final Turns turns;
    private final SecureRandom random = new SecureRandom();
    private final ScheduledExecutorService thread;
    private final HeadRequests requests;
    private final GroupLinks links;
    private String at;

    // Of the group's thread.
    private volatile GroupHead head;
    private int version;
    private int index = -1;

    /** The highest that was seen, in the head or in a frame (D9). */
    private long epoch;

    private volatile Coordination coordination;

    /** The link to the coordinator, where that is another process, and since when. */
    private GroupLink leader;

    private long linkedSince;

    private String follows;
    private boolean starts = true;
    private boolean listed;
    private long reportedWorld;
    private long reported;
    private long leaving = -1;
    private boolean led;

    /** Since when there is no link to a coordinator that lasts, by the steady clock. */
    private long unlinkedSince = System.nanoTime();

    /** Decisions up to this world were heard. */
    private long decided;

    /** When the log last said what this start waits for, or the start began. */
    private long waitingNanos = System.nanoTime();

    private volatile boolean over;

    private GroupMember(
            ServicePath place,
            String name,
            Incarnation start,
            boolean known,
            long joinsWith,
            NetOptions net,
            Timing timing,
            Turns turns)
            throws IOException {
        this.joinsWith = joinsWith;
        group = place.path();
        this.name = name;
        this.start = start;
        this.known = known;
        this.timing = timing;
        this.turns = turns;
        thread =
                Executors.newSingleThreadScheduledExecutor(
                        task -> {
                            Thread made = new Thread(task, "group of " + name);
                            made.setDaemon(true);
                            return made;
                        });
        requests = new HeadRequests(place, name, thread, new Heads());
        links =
                GroupLinks.open(
                        Transport.shared(),
                        net,
                        new GroupFrame.Hello(group, name, start),
                        new Links(),
                        thread);
    }

    /**
     * Takes part in a group.
     *
     * @param place of the group in the ensemble; its address does not count
     * @param name of the service
     * @param start of it, which holds its own head
     * @param known whether the service was a member before; then a head that lacks it is refused,
     *     and none is made
     * @param joinsWith its newest version, where it was no member; all up to it is final
     * @param listens where members may reach this process, with port 0 for any
     * @param net of these {@code silence} says how soon a lost link is noticed
     * @param turns hears what follows
     * @throws IOException where the port or keys cannot be used; says what to do
     */
    static GroupMember begin(
            ServicePath place,
            String name,
            Incarnation start,
            boolean known,
            long joinsWith,
            Address listens,
            NetOptions net,
            Timing timing,
            Turns turns)
            throws IOException {
        GroupMember member =
                new GroupMember(place, name, start, known, joinsWith, net, timing, turns);
        boolean begun = false;
        try {
            member.at = member.links.listen(listens).toString();
            begun = true;
        } finally {
            if (!begun) {
                member.close();
            }
        }
        member.run(member.requests::read);
        long every = timing.patience().toNanos() / LOOKS;
        ScheduledFuture<?> unused =
                member.thread.scheduleWithFixedDelay(
                        () -> member.guarded(member::look), every, every, TimeUnit.NANOSECONDS);
        return member;
    }

    // ---- what the service says

    /** More may be listed or reported: a record is on disk. Any thread. */
    void synced() {
        run(this::say);
    }

    /**
     * The service takes no turn any more, and has all on disk up to this version. Any thread;
     * {@link Turns#left} follows once all of it is final and the head notes it.
     */
    void leave(long newest) {
        run(
                () -> {
                    leaving = newest;
                    if (listed) {
                        send(new GroupFrame.Leaves(newest));
                    }
                });
    }

    /** Whether this process coordinates, and where the members reach it; for people and tests. */
    boolean coordinates() {
        return coordination != null;
    }

    /** As this process knows the head; null before it was read. Any thread. */
    GroupHead head() {
        return head;
    }

    private void run(Runnable what) {
        try {
            thread.execute(() -> guarded(what));
        } catch (RejectedExecutionException e) {
            LOG.debug("{}: closed", name);
        }
    }

    private void guarded(Runnable what) {
        if (over) {
            return;
        }
        try {
            what.run();
        } catch (RuntimeException | Error e) {
            LOG.error("{}: a defect in its part of the group {}", name, group, e);
            refused(e.toString());
        }
    }

    private void refused(String reason) {
        if (!over) {
            over = true;
            endCoordination(reason);
            turns.refused(name + " cannot be a member of the group " + group + ": " + reason);
        }
    }

    // ---- the head

    /** Hears what comes of requests. */
    private final class Heads implements HeadRequests.Owner {

        @Override
        public void guarded(Runnable what) {
            GroupMember.this.guarded(what);
        }

        @Override
        public boolean isOver() {
            return over;
        }

        @Override
        public boolean isCurrent(Coordination by) {
            return by == coordination;
        }

        @Override
        public void read(Optional<GroupHead> found, int atVersion) {
            see(found, atVersion);
        }

        @Override
        public void claimed(GroupHead mine, int atVersion) {
            coordinate(mine, atVersion);
        }

        @Override
        public void decided(GroupHead next, int atVersion) {
            head = next;
            version = atVersion;
            coordination.wrote(atVersion);
        }

        @Override
        public void refused(String reason) {
            GroupMember.this.refused(reason);
        }
    }

    private void see(Optional<GroupHead> found, int atVersion) {
        if (found.isEmpty()) {
            if (known || index >= 0) {
                refused(
                        "the group has no head, and it had one. Nobody makes it anew, as it says"
                                + " what was decided. Put it back");
            } else {
                requests.create(GroupHead.first(name, start.birth(), joinsWith, nonce(), at));
            }
            return;
        }
        GroupHead now = found.get();
        if (head != null && now.epoch() < head.epoch()) {
            refused(
                    "the head of the group is of epoch "
                            + now.epoch()
                            + ", and epoch "
                            + head.epoch()
                            + " was there: it is an old copy. Put the newest back");
            return;
        }
        head = now;
        version = atVersion;
        epoch = Math.max(epoch, now.epoch());
        OptionalInt member = now.indexOf(name);
        if (member.isEmpty()) {
            if (known || index >= 0) {
                refused("the head of the group does not name it, and did: it is an old copy");
            } else {
                join(now);
            }
            return;
        }
        GroupHead.Member mine = now.members().get(member.getAsInt());
        if (mine.isGone()) {
            if (known || index >= 0) {
                refused(
                        "an operator gave it up in world "
                                + mine.gone().getAsLong()
                                + " of the group, which has continued without it. Give "
                                + name
                                + " an empty folder, and it joins as a new member");
            } else {
                join(now);
            }
            return;
        }
        if (!mine.birth().equals(start.birth())) {
            refused(
                    "it is generation "
                            + start.birth()
                            + ", and the member of that name is generation "
                            + mine.birth()
                            + ". Put the folder of that one back");
            return;
        }
        isMember(member.getAsInt());
        turns.members(now.members());
        if (coordination != null
                && (coordination.head().epoch() != now.epoch()
                        || coordination.head().nonce() != now.nonce())) {
            endCoordination("epoch " + now.epoch() + " of the group has begun");
        }
        if (coordination == null) {
            follow(now);
        }
    }

    private void isMember(int member) {
        if (index < 0) {
            index = member;
            turns.isMember(member);
        }
    }

    private long nonce() {
        return random.nextLong();
    }

    /** The head does not name it yet: it joins with a claim, which ends who does not know it. */
    private void join(GroupHead now) {
        GroupHead more;
        try {
            more = now.joined(name, start.birth(), joinsWith);
        } catch (IllegalArgumentException e) {
            refused("the group takes no member more: " + e.getMessage());
            return;
        }
        int last = more.members().size() - 1;
        requests.claim(more.claimed(last, nonce(), at), version);
    }

    private void coordinate(GroupHead mine, int atVersion) {
        endCoordination("a new epoch begins");
        head = mine;
        version = atVersion;
        epoch = Math.max(epoch, mine.epoch());
        OptionalInt self = mine.indexOf(name);
        isMember(self.getAsInt());
        turns.members(mine.members());
        unfollow();
        LOG.info("{} coordinates the group {}, epoch {}", name, group, epoch);
        coordination =
                new Coordination(
                        mine, atVersion, self.getAsInt(), timing.grace(), new Coordinating());
        // Who changed the head meanwhile is seen by this; the node watches what was read last.
        requests.read();
        say();
    }

    private void endCoordination(String reason) {
        if (coordination != null) {
            Coordination before = coordination;
            coordination = null;
            LOG.info("{} coordinates the group {} no more: {}", name, group, reason);
            before.end(reason);
            unheard();
            unlinkedSince = System.nanoTime();
        }
    }

    /** What the coordinator of this process asks for. */
    private final class Coordinating implements Coordination.Owner {

        @Override
        public void write(GroupHead next, int on) {
            requests.decide(coordination, next, on);
        }

        @Override
        public void read() {
            requests.readBack(coordination);
        }

        @Override
        public void tell(GroupFrame.Down frame) {
            // Behind what the coordinator does now.
            run(() -> hear(frame));
        }

        @Override
        public void over(String reason) {
            endCoordination(reason);
            requests.read();
        }
    }

    // ---- the coordinator as it is seen from here

    private void follow(GroupHead now) {
        String other = now.members().get(now.leader()).name();
        if (other.equals(name)) {
            // An earlier claim of this member: nobody coordinates.
            unfollow();
            claim();
            return;
        }
        if (leader == null && hasStopped(now)) {
            unfollow();
            claim();
            return;
        }
        if (!other.equals(follows)) {
            unfollow();
            unlinkedSince = System.nanoTime();
        }
        follows = other;
        try {
            links.dial(other, Address.parse(now.address()));
        } catch (IllegalArgumentException e) {
            LOG.warn("{}: the head of the group {}: {}", name, group, e.getMessage());
        }
    }

    /**
     * Whether the coordinator has left, or was given up. A start is none that takes over at once:
     * what it sees as left may be another start that coordinates.
     */
    private boolean hasStopped(GroupHead of) {
        GroupHead.Member leads = of.members().get(of.leader());
        // One that joins is noted as having left with version 0.
        return !starts && (leads.isGone() || leads.left().orElse(0) > 0);
    }

    private void unfollow() {
        if (follows != null) {
            links.leave(follows);
            follows = null;
        }
        unheard();
    }

    /** Nobody hears this member. */
    private void unheard() {
        long now = System.nanoTime();
        if (leader != null && now - linkedSince >= timing.patience().toNanos()) {
            // A process that ends each link at once coordinates nothing.
            unlinkedSince = now;
        }
        leader = null;
        listed = false;
        if (led) {
            led = false;
            turns.led(false);
        }
    }

    private void claim() {
        if (!requests.isClaiming() && head != null && index >= 0) {
            requests.claim(head.claimed(index, nonce(), at), version);
        }
    }

    /** Now and then. */
    private void look() {
        long now = System.nanoTime();
        if (index >= 0) {
            requests.appear(at);
        }
        if (starts && now - waitingNanos >= WAITING_NANOS) {
            waitingNanos = now;
            LOG.info("{} waits for the group {}: {}", name, group, waitsFor());
        }
        if (coordination != null) {
            coordination.look(now);
        } else if (leader == null && head != null && index >= 0) {
            long patience = timing.patience().toNanos();
            int members = head.members().size();
            int rank = Math.floorMod(index - head.leader() - 1, members);
            if (now - unlinkedSince >= patience + rank * (patience / LOOKS)) {
                unlinkedSince = now;
                claim();
            }
        }
    }

    /** What a start waits for, for people. */
    private String waitsFor() {
        if (head == null) {
            return "the ensemble has not answered yet";
        }
        if (coordination != null) {
            List<String> missing = coordination.missing();
            return missing.isEmpty()
                    ? "its decision is being written"
                    : "it decides once each member runs that has not left. Start " + missing;
        }
        GroupHead.Member leads = head.members().get(head.leader());
        return leader == null
                ? leads.name() + ", which coordinates, is not reached at " + head.address()
                : leads.name()
                        + " decides once each member runs that has not left; its log says"
                        + " which are missing";
    }

    // ---- what is said and heard

    private void send(GroupFrame.Up frame) {
        if (coordination != null) {
            coordination.heard(frame);
        } else if (leader != null) {
            leader.send(frame);
        }
    }

    /** Lists, once it can, or reports what is more. */
    private void say() {
        Optional<Listing> all = index < 0 ? Optional.empty() : turns.listing();
        if (all.isEmpty() || (coordination == null && leader == null)) {
            return;
        }
        Listing listing = all.get();
        List<Sealed> versions = listing.versions();
        boolean same = listing.world() == reportedWorld;
        List<Sealed> more =
                versions.stream().filter(it -> !same || it.version() > reported).toList();
        reportedWorld = listing.world();
        decided = Math.max(decided, listing.world());
        reported =
                versions.isEmpty() ? listing.base() : versions.get(versions.size() - 1).version();
        if (listed) {
            if (!more.isEmpty()) {
                send(new GroupFrame.Reports(listing.world(), more));
            }
            return;
        }
        listed = true;
        if (!led) {
            led = true;
            turns.led(true);
        }
        send(new GroupFrame.Lists(listing, starts));
        if (leaving >= 0) {
            send(new GroupFrame.Leaves(leaving));
        }
    }

    private void hear(GroupFrame.Down frame) {
        if (frame instanceof GroupFrame.Decided it && obeys(it.epoch())) {
            if (it.decision().world() > decided) {
                decided = it.decision().world();
                starts = false;
                turns.decided(it.decision());
            }
        } else if (frame instanceof GroupFrame.Admitted it && obeys(it.epoch())) {
            starts = false;
            decided = it.decision().world();
            turns.admitted(it.decision());
        } else if (frame instanceof GroupFrame.Boundary it && obeys(it.epoch()) && !starts) {
            turns.bounded(it.world(), it.versions());
        } else if (frame instanceof GroupFrame.Left it && obeys(it.epoch())) {
            turns.left();
        } else if (frame instanceof GroupFrame.Refused it) {
            refused(it.reason());
        }
    }

    /** D9. */
    private boolean obeys(long of) {
        boolean obeys = of >= epoch;
        epoch = Math.max(epoch, of);
        return obeys;
    }

    /** Hears links; the group's thread. */
    private final class Links implements GroupListener {

        @Override
        public void up(GroupLink link) {
            guarded(
                    () -> {
                        if (link.dialled() && link.hello().member().equals(follows)) {
                            leader = link;
                            linkedSince = System.nanoTime();
                            listed = false;
                            say();
                        }
                    });
        }

        @Override
        public void heard(GroupLink link, GroupFrame.Up frame) {
            guarded(
                    () -> {
                        if (coordination == null) {
                            link.close(name + " does not coordinate the group " + group);
                        } else {
                            coordination.heard(link, frame);
                        }
                    });
        }

        @Override
        public void heard(GroupLink link, GroupFrame.Down frame) {
            guarded(
                    () -> {
                        if (leader != null && leader.id() == link.id()) {
                            hear(frame);
                        }
                    });
        }

        @Override
        public void down(GroupLink link, String reason) {
            guarded(
                    () -> {
                        if (leader != null && leader.id() == link.id()) {
                            LOG.info("{}: {}", name, reason);
                            unheard();
                            if (hasStopped(head)) {
                                claim();
                            }
                        } else if (!link.dialled() && coordination != null) {
                            coordination.left(link);
                        }
                    });
        }
    }

    /** Ends at once; the group continues without it, and waits for it unless it has left. */
    @Override
    public void close() {
        over = true;
        links.close();
        requests.close();
        thread.shutdownNow();
    }
}
