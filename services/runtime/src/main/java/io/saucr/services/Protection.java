package io.saucr.services;

import io.saucr.services.journal.ForceMode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Pattern;
import org.apache.zookeeper.common.PathUtils;

/** What a service survives, and so when a turn of it is final. Immutable. */
public sealed interface Protection {

    /**
     * A turn is final once its record is synced to this machine's disk. The service survives
     * crashes of its process and of its machine, not the loss of the disk.
     */
    static Local local() {
        return new Local(ForceMode.always(), 0);
    }

    /**
     * A turn is final once the head in the ensemble names a segment that holds it, which this
     * member and one more have synced. The service survives the loss of any member: another one,
     * which was started in the same way, takes over within a second.
     */
    static Standby standby() {
        return new Standby(
                2,
                false,
                false,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Store.members(),
                0);
    }

    /**
     * As {@link #local}, for services that send each other chains of messages: a message to another
     * member of the group leaves before its turn is synced. All else waits until no failure can
     * undo the turn: replies, calls to other systems, writes to the ensemble, answers by HTTP, and
     * messages to services outside of the group. So a chain of services waits for its disks once,
     * not once for each service. After a failure, turns that depended on a loss are undone and run
     * again (D1 to D16).
     *
     * <p>A group is made by its first member. Its services have the same parent in one ensemble, at
     * most 32, and the same credentials. Each one has its own folder, which {@code local()} refuses
     * from then on.
     *
     * @param group path in the ensemble, the same for all members: {@code /groups/travel}
     * @throws IllegalArgumentException where it is not a path, or is too long; says what is allowed
     */
    static Speculative speculative(String group) {
        return new Speculative(
                group, Duration.ofMillis(2), Duration.ofSeconds(1), true, Optional.empty());
    }

    /**
     * As {@link #standby}, for handlers that run in parallel and see each other's work: the primary
     * runs them in lanes and records in which order they acquired locks and called maps; other
     * members replay that, also in parallel (X1 to X19). A reply leaves once the head names the end
     * of its request. When the primary is lost, another member continues in the middle of the
     * requests that were running.
     *
     * <p>What this version does not support is refused: it takes requests of {@link
     * Services#client()} alone, without timers, outputs, messages to services or HTTP. All that
     * handlers share and that differs between runs has to go through {@link
     * io.saucr.services.replay.LaneState} and {@link io.saucr.services.replay.LaneTurn}; their byte
     * code is scanned for what does not, unless {@link Replay#withoutScan} is called. A member
     * whose handler did something else than the primary's replays nothing until it has loaded a
     * snapshot of the primary's.
     *
     * @param lanes in which handlers run, from 1 to {@value #MOST_LANES}
     * @param code names the release of the handlers: 1 to 40 letters, digits, dots, dashes and
     *     underscores. It has to change with whatever a handler may do. Members with another one,
     *     or on another JDK, do not replay each other's work (X17)
     * @throws IllegalArgumentException if there can not be so many lanes, or no such code
     */
    static Replay replay(int lanes, String code) {
        return new Replay(lanes, code, 2, false, false, true, Optional.empty());
    }

    /** Where the segments of a service with standbys are kept. Immutable. */
    sealed interface Store {

        /** On the disks of members, each of its own; the default. */
        static Store members() {
            return new Members();
        }

        /**
         * In a folder that all members share, of this machine or a network's (NFS). It is there
         * before a member starts; services may share one.
         */
        static Store folder(Path path) {
            return new Folder(path);
        }

        /**
         * In the ensemble, below the service's path: for a state of up to about a megabyte, and
         * members without a disk to speak of.
         */
        static Store ensemble() {
            return new Ensemble();
        }

        /** Members' disks. */
        record Members() implements Store {}

        /**
         * A folder.
         *
         * @param path where each member finds it
         */
        record Folder(Path path) implements Store {

            public Folder {
                if (path == null || path.toString().isEmpty()) {
                    throw new IllegalArgumentException(
                            "Store.folder(path) takes the path of a folder that all members share,"
                                    + (path == null ? " not null" : " not an empty one"));
                }
            }
        }

        /** The ensemble. */
        record Ensemble() implements Store {}
    }

    /**
     * Members.
     *
     * @param copies members that sync a segment before its turns are final, from 1
     * @param stalls whether turns wait for that many members, however long
     * @param inMemory whether two members that have written a segment are enough while both answer
     * @param members where other members reach this one; empty for the host that the service
     *     listens at, at a port that the system chooses
     * @param every asynchronously: the time between two checkpoints; empty where replies wait
     * @param lasts the lease; empty for the default
     * @param store where segments are kept
     * @param lanes in which handlers run in parallel; 0 where they run one by one
     */
    record Standby(
            int copies,
            boolean stalls,
            boolean inMemory,
            Optional<Address> members,
            Optional<Duration> every,
            Optional<Duration> lasts,
            Store store,
            int lanes)
            implements Protection {

        private static final int MOST_COPIES = 9;
        private static final Duration SHORTEST = Duration.ofMillis(1);
        private static final Duration LONGEST = Duration.ofSeconds(10);
        private static final Duration LONGEST_LEASE = Duration.ofMinutes(1);
        private static final Duration SHORTEST_PRESET_LEASE = Duration.ofSeconds(1);

        public Standby {
            if (members == null || every == null || lasts == null) {
                throw new IllegalArgumentException(
                        "members, every and lease are an Optional each, not null");
            }
            if (store == null) {
                throw new IllegalArgumentException(
                        "store(...) takes Store.members(), Store.folder(path) or Store.ensemble(),"
                                + " not null");
            }
            checkCopies(copies, inMemory);
            if (inMemory && !(store instanceof Store.Members)) {
                throw new IllegalArgumentException(
                        "fast() takes a standby for the disk, and store(...) takes a store for it:"
                                + " take one of the two");
            }
            if (stalls && store instanceof Store.Ensemble) {
                throw new IllegalArgumentException(
                        "strict() waits for the store, and the ensemble takes no segment of more"
                                + " than 1 MB: one such turn would wait for ever. Take"
                                + " Store.folder(path), or no strict()");
            }
            checkLanes(lanes, 0);
            every.ifPresent(it -> check("every", it, SHORTEST, LONGEST));
            if (lasts.isPresent()) {
                Duration least =
                        every.orElseThrow(
                                () ->
                                        new IllegalArgumentException(
                                                "a lease is of a service whose replies do not"
                                                        + " wait: call every(...) first"));
                check("a lease", lasts.get(), least.multipliedBy(2), LONGEST_LEASE);
            }
        }

        private static void check(String what, Duration value, Duration least, Duration most) {
            if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
                throw new IllegalArgumentException(
                        what
                                + " is from "
                                + least.toMillis()
                                + " ms to "
                                + most.toMillis()
                                + " ms, not "
                                + value);
            }
        }

        /** The same with another number of members that have each segment; default 2. */
        public Standby copies(int other) {
            return new Standby(other, stalls, inMemory, members, every, lasts, store, lanes);
        }

        /**
         * The same, situation-aware (C15): while a standby is responsive, a segment counts once two
         * members have written it, and is synced within 100 ms. Once the primary is alone, it syncs
         * a segment to its own disk first. Final turns are lost only if all copies lose their power
         * within that time, and never silently: the service does not start, and reports which
         * members had them.
         */
        public Standby fast() {
            return new Standby(copies, stalls, true, members, every, lasts, store, lanes);
        }

        /**
         * The same, asynchronous (C7): a reply to a client leaves at once, before the head covers
         * its turn. Turns are made final at this interval, and then all else leaves as without this
         * setting: acks, messages to services, outputs, replies by HTTP. Queries do not wait
         * either.
         *
         * <p>When the primary is lost, so may be the turns of the last moments: those within one
         * {@link #lease} at most. A client that has the reply of a lost turn learns of the loss
         * before any other reply ({@link Client#onLost}), and repeats or drops the request; a
         * service never learns of a turn that may be lost. A primary that cannot make its turns
         * final in time, or does not know whether it is still primary, stops answering early:
         * replies wait then (C9).
         *
         * <p>Goes with {@link #fast}: that says what final means, this says what waits for it.
         *
         * @param time between two checkpoints, from 1 ms to 10 s
         */
        public Standby every(Duration time) {
            return new Standby(
                    copies, stalls, inMemory, members, Optional.of(time), lasts, store, lanes);
        }

        /**
         * The same with another lease: replies that are lost left within so long, none of them
         * later than so long after a successor took over. Default: twice the time of {@link
         * #every(Duration)}, and a second at least.
         *
         * @param time from twice that of {@link #every(Duration)}, which is called before this, to
         *     1 minute
         */
        public Standby lease(Duration time) {
            return new Standby(
                    copies, stalls, inMemory, members, every, Optional.of(time), store, lanes);
        }

        /** How long replies may leave before they are covered, in ms; 0 where all wait. */
        public long leaseMillis() {
            if (every.isEmpty()) {
                return 0;
            }
            long preset = Math.max(SHORTEST_PRESET_LEASE.toMillis(), 2 * every.get().toMillis());
            return lasts.map(Duration::toMillis).orElse(preset);
        }

        /**
         * The same with segments in a store that all members share: a turn is final once that holds
         * its segment and the head names it. Any member takes over from it, also one with an empty
         * disk, and if all members lose their disks, nothing is lost. Members still keep what they
         * get over their links, so they are as warm as without a store.
         *
         * <p>While the store fails, or takes longer than a second, the service continues as without
         * one, with {@link #copies} on members' disks, and reports it. What the store lacks is
         * written once it works again. With {@link #strict} turns wait for it instead. It does not
         * go with {@link #fast}.
         */
        public Standby store(Store other) {
            return new Standby(copies, stalls, inMemory, members, every, lasts, other, lanes);
        }

        /** The same with handlers that run in parallel, as {@link Local#parallel} says. */
        public Standby parallel(int inLanes) {
            checkLanes(inLanes, 1);
            return new Standby(copies, stalls, inMemory, members, every, lasts, store, inLanes);
        }

        /** The same, reached by other members at this address. */
        public Standby members(Address at) {
            return new Standby(copies, stalls, inMemory, checked(at), every, lasts, store, lanes);
        }

        /**
         * The same, but turns wait while there are fewer members than {@link #copies}. Without this
         * setting the primary continues alone, with its own disk synced, and reports it. With a
         * {@link #store} turns wait for the store.
         */
        public Standby strict() {
            return new Standby(copies, true, inMemory, members, every, lasts, store, lanes);
        }
    }

    /** At most so many handlers run in parallel. */
    int MOST_LANES = 64;

    private static void checkCopies(int copies, boolean inMemory) {
        if (copies < 1 || copies > Standby.MOST_COPIES) {
            throw new IllegalArgumentException(
                    "copies are from 1 to " + Standby.MOST_COPIES + ", not " + copies);
        }
        if (inMemory && copies < 2) {
            throw new IllegalArgumentException(
                    "fast() takes a standby for the disk, so there are 2 copies or more, not "
                            + copies);
        }
    }

    private static Optional<Address> checked(Address members) {
        if (members == null) {
            throw new IllegalArgumentException(
                    "members(...) takes the address where other members reach this one, not null");
        }
        return Optional.of(members);
    }

    private static void checkLanes(int lanes, int least) {
        if (lanes < least || lanes > MOST_LANES) {
            throw new IllegalArgumentException(
                    "parallel(lanes) takes 1 to "
                            + MOST_LANES
                            + " lanes, not "
                            + lanes
                            + ": as many as there are processors for handlers; without it handlers"
                            + " run one by one");
        }
    }

    /**
     * Own disk.
     *
     * @param force when the disk is synced
     * @param lanes in which handlers run in parallel; 0 where they run one by one
     */
    record Local(ForceMode force, int lanes) implements Protection {

        public Local {
            checkLanes(lanes, 0);
        }

        /** The same with another mode of fsync. */
        public Local force(ForceMode other) {
            return new Local(other, lanes);
        }

        /**
         * The same with message handlers that run in parallel, each on a version of the state (P1).
         * Turns are committed one by one, in the order in which they run without this; a handler
         * that read something that has changed since runs again. So each turn does what it does
         * without this, and handlers need no locks. It pays where handlers compute for long, and do
         * not all change what others read.
         *
         * <p>The service is constructed once more for each lane, and objects that its constructor
         * shares among these are used by several threads. A {@link Sent} has no number. A handler
         * has the time of its first run, so {@link Turn#now} does not go back for one sender, and
         * may for different ones (P4).
         *
         * @param inLanes how many run at the same time, from 1 to {@value #MOST_LANES}
         * @throws IllegalArgumentException where there cannot be so many
         */
        public Local parallel(int inLanes) {
            checkLanes(inLanes, 1);
            return new Local(force, inLanes);
        }
    }

    /**
     * A member of a group.
     *
     * @param group path in the ensemble, as {@link #speculative} says
     * @param every the time between two fsyncs at least, from 1 ms to 200 ms
     * @param grace how long other members wait for a member's fsync before the group decides
     *     without it, from 1 s to 10 minutes
     * @param early whether messages to members leave before their turns are final
     * @param at where other members reach this one; empty for the host that the service listens at,
     *     at a port that the system chooses
     */
    record Speculative(
            String group, Duration every, Duration grace, boolean early, Optional<Address> at)
            implements Protection {

        private static final int LONGEST_PATH = 200;
        private static final Duration SHORTEST_EVERY = Duration.ofMillis(1);

        /** Well below any member's grace, or members without a failure would be decided about. */
        private static final Duration LONGEST_EVERY = Duration.ofMillis(200);

        private static final Duration SHORTEST_GRACE = Duration.ofSeconds(1);
        private static final Duration LONGEST_GRACE = Duration.ofMinutes(10);

        public Speculative {
            checkGroup(group);
            check("every", every, SHORTEST_EVERY, LONGEST_EVERY);
            check("grace", grace, SHORTEST_GRACE, LONGEST_GRACE);
            if (at == null) {
                throw new IllegalArgumentException("at is an Optional, not null");
            }
        }

        private static void checkGroup(String group) {
            String wrong = group == null ? "it is null" : wrong(group);
            if (wrong != null) {
                throw new IllegalArgumentException(
                        "speculative(group) takes the absolute path of a group in the ensemble, of"
                                + " at most "
                                + LONGEST_PATH
                                + " printable ASCII characters without spaces, as in"
                                + " /groups/travel, not \""
                                + group
                                + "\": "
                                + wrong);
            }
        }

        /** Why it is no path of a group, or null. */
        private static String wrong(String group) {
            if (group.length() > LONGEST_PATH) {
                return "it has " + group.length() + " characters";
            }
            if (group.equals("/")) {
                return "it is the root";
            }
            if (!group.chars().allMatch(it -> it > ' ' && it <= '~')) {
                return "a character is not allowed";
            }
            try {
                PathUtils.validatePath(group);
                return null;
            } catch (IllegalArgumentException e) {
                return e.getMessage();
            }
        }

        private static void check(String what, Duration value, Duration least, Duration most) {
            if (value == null || value.compareTo(least) < 0 || value.compareTo(most) > 0) {
                throw new IllegalArgumentException(
                        what
                                + " is from "
                                + least.toMillis()
                                + " ms to "
                                + most.toMillis()
                                + " ms, not "
                                + value);
            }
        }

        /**
         * The same with another time between two fsyncs; default 2 ms. A turn that runs while the
         * disk is idle for longer is synced at once. A longer time makes fewer and larger writes,
         * and what leaves the group waits as much longer.
         *
         * @param time from 1 ms to 200 ms
         */
        public Speculative every(Duration time) {
            return new Speculative(group, time, grace, early, at);
        }

        /**
         * The same with another patience for members that are lost or slow; default 1 s. While this
         * process coordinates the group and turns of other members wait for a version of a member
         * that it does not report for so long, the group decides without it: what depends on that
         * version is undone.
         *
         * @param time from 1 s to 10 minutes
         */
        public Speculative grace(Duration time) {
            return new Speculative(group, every, time, early, at);
        }

        /**
         * The same without speculation: messages to members wait until their turns are final, too,
         * and nothing is undone. To compare, and to switch it off without leaving the group.
         */
        public Speculative off() {
            return new Speculative(group, every, grace, false, at);
        }

        /**
         * The same, reached by other members of the group at this address while it coordinates.
         *
         * @param address host and port; port 0 lets the system choose
         */
        public Speculative at(Address address) {
            if (address == null) {
                throw new IllegalArgumentException(
                        "at(...) takes the address where other members of the group reach this one,"
                                + " not null");
            }
            return new Speculative(group, every, grace, early, Optional.of(address));
        }
    }

    /**
     * Members that replay.
     *
     * @param lanes in which handlers run
     * @param code names the release of the handlers, as {@link Protection#replay} says
     * @param copies members that sync a segment before what it holds is final, from 1
     * @param stalls whether replies wait for that many members, however long
     * @param inMemory whether two members that have written a segment are enough while both respond
     * @param scans whether the handlers' byte code is looked at before the start
     * @param members where other members reach this one; empty for the host that the service
     *     listens at, at a port that the system chooses
     */
    record Replay(
            int lanes,
            String code,
            int copies,
            boolean stalls,
            boolean inMemory,
            boolean scans,
            Optional<Address> members)
            implements Protection {

        private static final Pattern CODE = Pattern.compile("[0-9A-Za-z._-]{1,40}");

        public Replay {
            if (lanes < 1 || lanes > MOST_LANES) {
                throw new IllegalArgumentException(
                        "replay(lanes, code) takes 1 to " + MOST_LANES + " lanes, not " + lanes);
            }
            if (code == null || !CODE.matcher(code).matches()) {
                throw new IllegalArgumentException(
                        "replay(lanes, code) takes a code of 1 to 40 letters, digits, dots, dashes"
                                + " and underscores, as in \"7\", not "
                                + (code == null ? "null" : "\"" + code + "\""));
            }
            checkCopies(copies, inMemory);
            if (members == null) {
                throw new IllegalArgumentException("members is an Optional, not null");
            }
        }

        /** The same with another number of members that have each segment; default 2. */
        public Replay copies(int other) {
            return new Replay(lanes, code, other, stalls, inMemory, scans, members);
        }

        /**
         * The same, and replies wait while fewer members than {@link #copies} have what they tell
         * of; default is to continue with those that are there.
         */
        public Replay strict() {
            return new Replay(lanes, code, copies, true, inMemory, scans, members);
        }

        /**
         * The same with the memory of a responsive standby in place of this member's disk, as
         * {@link Standby#fast}.
         *
         * @throws IllegalArgumentException with fewer than 2 copies
         */
        public Replay fast() {
            return new Replay(lanes, code, copies, stalls, true, scans, members);
        }

        /** The same, reached by other members at this address. */
        public Replay members(Address at) {
            return new Replay(lanes, code, copies, stalls, inMemory, scans, checked(at));
        }

        /**
         * The same without a look at the handlers' byte code, which refuses a service that reads
         * clocks, draws random numbers, starts threads, or shares state that is not recorded. What
         * differs then is found as it is replayed (X14).
         */
        public Replay withoutScan() {
            return new Replay(lanes, code, copies, stalls, inMemory, false, members);
        }
    }
}
