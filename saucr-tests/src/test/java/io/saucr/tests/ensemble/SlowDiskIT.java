package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.ensemble.Distribution;
import io.saucr.ensemble.LoopbackHosting.Disk;
import java.time.Duration;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import net.bytebuddy.implementation.FixedValue;
import net.bytebuddy.implementation.MethodCall;
import org.apache.zookeeper.KeeperException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** One disk is slow or hangs, the leader's or a follower's: everybody else goes on (R24). */
@NeedsCompiler
class SlowDiskIT {
    private static final Duration SLOW = Duration.ofSeconds(3);
    private static final Duration HUNG = Duration.ofHours(1);

    private static final int WINDOW = 16;

    /** A client that waits for a slow disk would need three minutes for them. */
    private static final int WRITES = 1_000;

    /** Far above what a busy machine needs, far below what it takes to wait for the disk. */
    private static final Duration ENOUGH = Duration.ofMinutes(1);

    /** So many are made while a snapshot is written, at full speed. */
    private static final int DURING_SNAPSHOT = 3_000;

    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(20);

    private static SaucrEnsemble start(String name, int voters, String diskTimeout)
            throws Exception {
        return SaucrEnsemble.start(
                SaucrEnsemble.describe(name, voters)
                        .set("saucr.diskTimeout", diskTimeout)
                        .disk(Disk.SHIM));
    }

    private static Integer[] allBut(SaucrEnsemble ensemble, int victim) {
        return ensemble.all().stream().filter(id -> id != victim).toArray(Integer[]::new);
    }

    private static void assertGoesOn(String what, AckedWrites writes) {
        long start = System.nanoTime();
        int first = writes.count();
        int before = first;
        long lastChange = start;
        long longest = 0;
        long now = start;
        while (before < first + WRITES && now - start < ENOUGH.toNanos()) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
            now = System.nanoTime();
            int count = writes.count();
            longest = Math.max(longest, now - lastChange);
            if (count > before) {
                before = count;
                lastChange = now;
            }
        }
        System.out.println(
                what
                        + ": "
                        + (before - first)
                        + " writes in "
                        + TimeUnit.NANOSECONDS.toMillis(now - start)
                        + " ms, longest pause "
                        + TimeUnit.NANOSECONDS.toMillis(longest)
                        + " ms");
        assertThat(before - first).as("writes while %s", what).isGreaterThanOrEqualTo(WRITES);
        assertThat(Duration.ofNanos(longest)).as("pause: %s", what).isLessThan(LONGEST_PAUSE);
    }

    @Test
    void r24WritesGoOnWhileTheForcesOfOneServerTakeSeconds() throws Exception {
        goesOnWhileForcesTakeSeconds(3);
    }

    @Tag("long")
    @Test
    void r24WritesOfFiveGoOnWhileTheForcesOfOneServerTakeSeconds() throws Exception {
        goesOnWhileForcesTakeSeconds(5);
    }

    private static void goesOnWhileForcesTakeSeconds(int voters) throws Exception {
        try (SaucrEnsemble ensemble = start("slow-disk-" + voters, voters, "1h")) {
            for (String mode : List.of("fast", "slow")) {
                if (mode.equals("slow")) {
                    ensemble.pinSlow();
                }
                for (String role : List.of("follower", "leader")) {
                    int leader = mode.equals("fast") ? ensemble.awaitFast() : ensemble.leader();
                    int victim = role.equals("leader") ? leader : ensemble.followers().get(0);
                    try (AckedWrites writes =
                                    new AckedWrites(
                                            ensemble.connect(allBut(ensemble, victim)),
                                            "/" + mode + "-" + role,
                                            WINDOW);
                            Reads reads = new Reads(ensemble.connect(victim))) {
                        writes.awaitMore(200);
                        ensemble.shim(victim).delay(SLOW);
                        reads.forget();
                        assertGoesOn(
                                "a " + role + " of " + voters + " is slow, mode " + mode, writes);
                        reads.assertDoNotWaitFor(SLOW);
                        ensemble.shim(victim).delay(Duration.ZERO);
                        writes.stop();
                        writes.assertAllOnEachOf(ensemble);
                    }
                }
            }
        }
    }

    /**
     * While it writes the snapshot that it was sent it logs nothing, although others commit. It
     * does not leave its leader for that.
     */
    @Tag("long")
    @Test
    void r24AFollowerWhoseSnapshotTakesLongJoins() throws Exception {
        Distribution slow =
                BuiltDistribution.changed(
                        "slow-snapshot",
                        "org.apache.zookeeper.server.persistence.SaucrTxnSnapLog",
                        "replacesHistory",
                        MethodCall.invoke(Thread.class.getMethod("sleep", long.class))
                                .with(SLOW.toMillis())
                                .andThen(FixedValue.value(true)));
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.prepare(
                        SaucrEnsemble.describe("slow-snapshot", 3)
                                .set("saucr.diskTimeout", "2s")
                                .set("forceSnapshotSync", "true")
                                .distribution(1, slow))) {
            ensemble.restart(2, 3);
            ensemble.awaitServing();
            try (AckedWrites writes =
                    new AckedWrites(ensemble.connect(), "/joining", 64, 2 * DURING_SNAPSHOT)) {
                // So many that others commit while the leader writes its snapshot.
                writes.awaitMore(DURING_SNAPSHOT);
                ensemble.restart(1);
                ensemble.awaitServing();
                writes.stop();
                assertThat(ensemble.log(1, LocalTime.MIN, "Getting a snapshot from leader"))
                        .isNotEmpty();
                assertThat(ensemble.log(1, LocalTime.MIN, "has logged nothing")).isEmpty();
                writes.assertAllOnEachOf(ensemble);
            }
        }
    }

    /** The server whose disk hangs, what it was doing before, and what hangs. */
    private record Hang(String role, String before, String what) {
        @Override
        public String toString() {
            return what + " of a " + role + " hang, " + before + " before";
        }

        /**
         * A follower whose disk hangs in fast mode is one whose memory counts, and goes on; any
         * other serves nobody, and says so.
         */
        boolean endsService() {
            return role.equals("leader") || before.equals("idle") || what.equals("writes");
        }
    }

    private static final List<Hang> HANGS =
            List.of(
                    new Hang("follower", "idle", "forces"),
                    new Hang("follower", "busy", "forces"),
                    new Hang("follower", "busy", "writes"),
                    new Hang("leader", "idle", "forces"),
                    new Hang("leader", "busy", "forces"),
                    new Hang("leader", "busy", "writes"));

    @Test
    void r24WritesGoOnWhileTheDiskOfTheLeaderOrOfAFollowerHangs() throws Exception {
        goesOnWhileADiskHangs("hung-disk", List.of(HANGS.get(1), HANGS.get(5)));
    }

    @Tag("long")
    @Test
    void r24WritesGoOnHoweverTheDiskOfOneServerHangs() throws Exception {
        goesOnWhileADiskHangs("hung-disks", HANGS);
    }

    private static void goesOnWhileADiskHangs(String name, List<Hang> hangs) throws Exception {
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.start(AdminServer.describe(name, 3).set("saucr.diskTimeout", "1s"))) {
            for (Hang hang : hangs) {
                goesOn(ensemble, hang);
            }
        }
    }

    private static void goesOn(SaucrEnsemble ensemble, Hang hang) throws Exception {
        int leader = ensemble.awaitFast();
        int victim = hang.role.equals("leader") ? leader : ensemble.followers().get(0);
        try (AckedWrites writes =
                new AckedWrites(
                        ensemble.connect(allBut(ensemble, victim)),
                        "/hung-" + HANGS.indexOf(hang),
                        WINDOW)) {
            writes.awaitMore(200);
            if (hang.before.equals("idle")) {
                writes.pause();
                ensemble.awaitOnDisk(ensemble.all());
                ensemble.shim(victim).delay(HUNG);
                writes.goOn();
            } else if (hang.what.equals("writes")) {
                ensemble.shim(victim).hang(true);
            } else {
                ensemble.shim(victim).delay(HUNG);
            }
            assertGoesOn(hang.toString(), writes);
            assertThat(new AdminServer(ensemble.server(victim)).saucr().path("server").asInt())
                    .as(hang.toString())
                    .isEqualTo(victim);
            if (hang.endsService()) {
                SaucrEnsemble.await("the end, " + hang, () -> ensemble.role(victim).isEmpty());
            }
            assertThat(ensemble.server(victim).isAlive()).as(hang.toString()).isTrue();
            SaucrEnsemble.await(
                    "another leader, " + hang,
                    () ->
                            Stream.of(allBut(ensemble, victim))
                                    .anyMatch(id -> ensemble.role(id).equals("leader")));
            writes.awaitMore(200);
            ensemble.kill(victim);
            ensemble.shim(victim).delay(Duration.ZERO);
            ensemble.shim(victim).hang(false);
            ensemble.restart(victim);
            ensemble.awaitServing();
            ensemble.awaitFast();
            writes.stop();
            writes.assertAllOnEachOf(ensemble);
        }
    }

    /** Reads of one server, one after the other, until it is closed. */
    private static final class Reads implements AutoCloseable {
        private final Client client;
        private final List<Long> nanos = Collections.synchronizedList(new ArrayList<>());
        private final Thread reader = new Thread(this::read, "reader");
        private volatile boolean stopped;

        Reads(Client client) {
            this.client = client;
            reader.setDaemon(true);
            reader.start();
        }

        private void read() {
            while (!stopped) {
                long start = System.nanoTime();
                try {
                    client.exists("/", false);
                } catch (KeeperException | InterruptedException e) {
                    // A read that has not ended counts as a long one.
                }
                nanos.add(System.nanoTime() - start);
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
            }
        }

        void forget() {
            nanos.clear();
        }

        /** Those behind a force take about as long as it does. */
        void assertDoNotWaitFor(Duration force) {
            List<Long> sorted;
            synchronized (nanos) {
                sorted = nanos.stream().sorted().toList();
            }
            assertThat(sorted).as("reads of the server whose disk is slow").isNotEmpty();
            assertThat(Duration.ofNanos(sorted.get(sorted.size() / 2)))
                    .as("median of %s reads of the server whose disk is slow", sorted.size())
                    .isLessThan(force.dividedBy(3));
        }

        /** The thread ends with its read. */
        @Override
        public void close() {
            stopped = true;
            client.close();
        }
    }

    /** A leader that is late for longer than the bound makes room for one that is not. */
    @Tag("long")
    @Test
    void r24ALeaderWithASlowDiskStepsDownAndComesBackByItself() throws Exception {
        try (SaucrEnsemble ensemble = start("slow-leader", 5, "1s")) {
            int leader = ensemble.awaitFast();
            ensemble.pinSlow();
            try (AckedWrites writes =
                    new AckedWrites(ensemble.connect(allBut(ensemble, leader)), "/slow", WINDOW)) {
                writes.awaitMore(200);
                ensemble.shim(leader).delay(SLOW);
                SaucrEnsemble.await(
                        "another leader",
                        () -> ensemble.followers().size() >= 3 && ensemble.leader() != leader);
                assertGoesOn("a slow leader has stepped down", writes);
                ensemble.shim(leader).delay(Duration.ZERO);
                SaucrEnsemble.await("its return", () -> ensemble.role(leader).equals("follower"));
                writes.stop();
                writes.assertAllOnEachOf(ensemble);
            }
        }
    }
}
