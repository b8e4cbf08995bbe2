package io.saucr.services.tests.standby;

import io.saucr.crash.fault.RootBackend;
import io.saucr.ensemble.Distribution;
import io.saucr.ensemble.Ensemble;
import io.saucr.ensemble.ServerAddress;
import io.saucr.ensemble.ServerProcess;
import io.saucr.services.tests.crash.Member;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Three servers of an ensemble and three members of {@link Registers}, each on a machine that can
 * be broken. One thread.
 */
final class StandbyMachines implements AutoCloseable {

    static final int MEMBERS = 3;

    private static final int SERVERS = 3;
    private static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final int POLL_MILLIS = 20;

    private final RootBackend machines;
    private final Ensemble servers;
    private final List<Member> members = new ArrayList<>();
    private final boolean fast;
    private final long everyMillis;
    private final Optional<Path> folders;

    /**
     * Starts all.
     *
     * @param work for disks and logs
     * @param fast whether a standby takes the place of a disk (C15)
     * @param everyMillis between two checkpoints; 0 where replies wait (C7)
     * @param jvm options of the members' JVMs
     * @param folders of the members, where those are not on their machines' disks, which are small
     */
    StandbyMachines(
            Path work, boolean fast, long everyMillis, List<String> jvm, Optional<Path> folders)
            throws IOException {
        this.fast = fast;
        this.everyMillis = everyMillis;
        this.folders = folders;
        machines = new RootBackend(work, SERVERS + MEMBERS);
        servers =
                Ensemble.of(Distribution.stock(), work.resolve("servers"))
                        .hosting(machines)
                        .voters(SERVERS)
                        .build();
        boolean begun = false;
        try {
            servers.start();
            servers.awaitServing(PATIENCE);
            for (int member = 1; member <= MEMBERS; member++) {
                Member made =
                        new Member(
                                SERVERS + member,
                                "member-" + member,
                                machines,
                                StandbyProgram.class,
                                jvm,
                                work.resolve("member-" + member + ".log"),
                                line -> {});
                members.add(made);
                start(made);
            }
            begun = true;
        } finally {
            if (!begun) {
                close();
            }
        }
    }

    /** Servers and path of the service, for members and clients. */
    String place() {
        return servers.connectString() + "/registers";
    }

    /** In the order of their machines. */
    List<Member> members() {
        return members;
    }

    /** Starts a member on what its disk kept; waits until it says so. */
    void start(Member member) throws IOException {
        ServerAddress address = machines.address(member.id());
        member.start(
                List.of(
                        place(),
                        folder(member).toString(),
                        "2",
                        Boolean.toString(fast),
                        Long.toString(everyMillis),
                        address.clientHost(),
                        address.peerHost()));
        String unused = member.await("started");
    }

    private Path folder(Member member) {
        return folders.map(it -> it.resolve(member.name()))
                .orElseGet(() -> machines.dataDirectory(member.id()).resolve("member"));
    }

    private static Map<String, String> status(Member member) {
        return Statuses.parse(member.ask("status", "status "));
    }

    private Map<Member, Map<String, String>> statuses() {
        return members.stream()
                .filter(Member::isAlive)
                .collect(Collectors.toMap(each -> each, StandbyMachines::status));
    }

    /** The primary; waits for one. */
    Member primary() throws InterruptedException {
        long until = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            Optional<Member> primary = Statuses.inOffice(statuses());
            if (primary.isPresent()) {
                return primary.get();
            }
            throwIfLate(until, "no member is primary");
        }
    }

    /**
     * Waits until all members have all segments, on disk and in their state, and the head says so.
     */
    void awaitReady(Duration patience) throws InterruptedException {
        long until = System.nanoTime() + patience.toNanos();
        while (!Statuses.areReady(statuses(), MEMBERS - 1)) {
            throwIfLate(until, "no primary has two standbys");
        }
    }

    private void throwIfLate(long until, String what) throws InterruptedException {
        if (System.nanoTime() > until) {
            throw new IllegalStateException(
                    what
                            + "; all are "
                            + members.stream()
                                    .filter(Member::isAlive)
                                    .map(it -> it.name() + status(it))
                                    .toList());
        }
        TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
    }

    /** Takes the power from these at one instant. */
    void powerCut(List<Member> whom) throws IOException {
        var unused = machines.powerCut(whom);
    }

    /** Cuts a member off from everybody, or gives it its network back. */
    void cutOff(Member whom, boolean cut) throws IOException {
        machines.cutOff(whom.id(), cut);
    }

    /** Cuts the links between a member and the others; both sides reach the ensemble. */
    void cutLinks(Member whom) throws IOException {
        machines.partition(List.of(Set.of(whom.id()), others(whom.id())));
    }

    /** Cuts the leader of the ensemble off from the other servers, not from its clients. */
    void cutLeaderOff() throws IOException {
        OptionalInt leader = servers.leader();
        if (leader.isPresent()) {
            machines.partition(List.of(Set.of(leader.getAsInt()), others(leader.getAsInt())));
        }
    }

    private static Set<Integer> others(int id) {
        Set<Integer> others = new HashSet<>();
        for (int each = 1; each <= SERVERS + MEMBERS; each++) {
            if (each != id) {
                others.add(each);
            }
        }
        return others;
    }

    /** All links are there again. */
    void heal() throws IOException {
        machines.heal();
    }

    /** Kills the leader of the ensemble. */
    void killLeader() {
        servers.leader().ifPresent(it -> servers.server(it).kill());
    }

    /**
     * Has the leader of the ensemble stand still until a turn waits for the head, does something
     * then, and lets it continue: nobody knows what becomes of the write.
     */
    void whileTheHeadIsWritten(Member primary, Breaking what)
            throws IOException, InterruptedException {
        ServerProcess leader = servers.server(servers.awaitLeader(PATIENCE));
        leader.pause();
        try {
            long until = System.nanoTime() + PATIENCE.toNanos();
            String waits = "";
            while (true) {
                Map<String, String> now = status(primary);
                boolean same = now.getOrDefault("final", "").equals(waits);
                if (same && !waits.equals(now.get("turn"))) {
                    break;
                }
                waits = now.getOrDefault("final", "");
                throwIfLate(until, "no turn waits for the head: " + now);
                TimeUnit.MILLISECONDS.sleep(100);
            }
            what.happen();
        } finally {
            leader.resume();
        }
    }

    /** What breaks something. */
    interface Breaking {
        void happen() throws IOException;
    }

    /** Starts what does not run of the ensemble, and waits until it serves. */
    void mendEnsemble() throws IOException {
        for (int server = 1; server <= SERVERS; server++) {
            if (!servers.server(server).isAlive()) {
                servers.server(server).start();
            }
        }
        servers.awaitServing(PATIENCE);
    }

    /** Its forces take so long from now on. */
    void slowDisk(Member whom, Duration force) {
        machines.shim(whom.id()).delay(force);
    }

    /** Its forces do not come to an end, until that is over. */
    void hangDisk(Member whom, boolean hang) {
        machines.shim(whom.id()).hang(hang);
    }

    /** Its forces fail, or do so no more. */
    void failDisk(Member whom, boolean fail) {
        machines.shim(whom.id()).failForces(fail);
    }

    /** All that a member, which does not run, had on its disk is lost. */
    void loseDisk(Member whom) throws IOException {
        machines.lose(whom.id(), machines.dataDirectory(whom.id()));
    }

    @Override
    public void close() throws IOException {
        members.forEach(Member::close);
        servers.close();
    }
}
