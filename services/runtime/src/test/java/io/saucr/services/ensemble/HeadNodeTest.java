package io.saucr.services.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.core.standby.StandbyHead;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HeadNodeTest {

    private static final int MOST_VERSION = 5;
    private static final String A = "00000000000000aa";
    private static final String B = "00000000000000bb";

    @TempDir Path work;

    private TestServer server;
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor();

    /** What one member was told, in words. */
    private static final class Told implements StandbyNode.Listener {

        final BlockingQueue<String> all = new LinkedBlockingQueue<>();

        @Override
        public void read(Optional<StandbyHead> head, int version) {
            all.add("read " + head.map(it -> it.holder().number()).orElse(0L) + " at " + version);
        }

        @Override
        public void wrote(int version) {
            all.add("wrote " + version);
        }

        void checked(boolean holds) {
            all.add(holds ? "checked" : "not checked");
        }

        @Override
        public void unknown(String why) {
            all.add("unknown " + why);
        }

        @Override
        public void challengeWritten() {
            all.add("challenge written");
        }

        @Override
        public void challenged() {
            all.add("challenged");
        }

        @Override
        public void refused(String reason) {
            all.add("refused " + reason);
        }

        String next() throws InterruptedException {
            return all.poll(30, TimeUnit.SECONDS);
        }
    }

    @BeforeEach
    void start() throws Exception {
        server = new TestServer(Files.createDirectories(work.resolve("zookeeper")));
    }

    @AfterEach
    void stop() {
        thread.shutdownNow();
        server.close();
    }

    private StandbyNode node(String member, Told told) {
        return new StandbyNode(
                new ServicePath(
                        server.connect(),
                        "/apps/numbers",
                        Optional.empty(),
                        Duration.ofSeconds(4),
                        Optional.empty(),
                        ZooDefs.Ids.OPEN_ACL_UNSAFE),
                member,
                "127.0.0.1:1",
                thread,
                told,
                MOST_VERSION);
    }

    private static StandbyHead head(String member, long epoch) {
        return new StandbyHead(
                new Incarnation(new Birth(1, 2), epoch, 7),
                member,
                "127.0.0.1:1",
                SegmentId.NONE,
                0,
                new TreeSet<>(List.of(member)),
                StandbyHead.Copies.ALONE,
                Optional.empty(),
                Optional.empty());
    }

    /** As where an administrator made the znodes of services, each for its owner. */
    @Test
    void aHeadIsMadeWhereOnlyItsParentMayBeWritten() throws Exception {
        List<ACL> readOnly = ZooDefs.Ids.READ_ACL_UNSAFE;
        ZooKeeper admin = new ZooKeeper(server.connect(), 30_000, event -> {});
        admin.create("/apps", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        admin.create(
                "/apps/numbers", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        admin.setACL("/apps", readOnly, -1);
        admin.close();
        Told told = new Told();
        try (StandbyNode a = node(A, told)) {
            thread.execute(() -> a.create(head(A, 1)));
            assertThat(told.next()).isEqualTo("wrote 0");
        }
    }

    @Test
    void aHeadGoesOnUnderANewNameLongBeforeItsVersionWraps() throws Exception {
        Told toldA = new Told();
        Told toldB = new Told();
        try (StandbyNode a = node(A, toldA);
                StandbyNode b = node(B, toldB)) {
            thread.execute(() -> a.create(head(A, 1)));
            assertThat(toldA.next()).isEqualTo("wrote 0");
            thread.execute(b::read);
            assertThat(toldB.next()).isEqualTo("read 1 at 0");
            int version = 0;
            for (int moves = 0; moves < 3; moves++) {
                for (; version < MOST_VERSION; version++) {
                    int on = version;
                    thread.execute(() -> a.write(head(A, 1), on, false));
                    assertThat(toldA.next()).isEqualTo("wrote " + (version + 1));
                }
                thread.execute(() -> a.write(head(A, 2), MOST_VERSION, false));
                assertThat(toldA.next()).isEqualTo("wrote 0");
                version = 0;
            }
            // Who read the head under its first name has a version that is there again.
            thread.execute(() -> b.write(head(B, 3), 0, false));
            assertThat(toldB.next()).startsWith("unknown");
            thread.execute(() -> b.check(0, toldB::checked));
            assertThat(toldB.next()).isEqualTo("not checked");
            thread.execute(b::read);
            assertThat(toldB.next()).isEqualTo("read 2 at 0");
            thread.execute(() -> b.write(head(B, 3), 0, false));
            assertThat(toldB.next()).isEqualTo("wrote 1");
            thread.execute(() -> a.check(0, toldA::checked));
            assertThat(toldA.next()).isEqualTo("not checked");
        }
    }

    @Test
    void aHeadThatNobodyCanReadIsLeftAlone() throws Exception {
        Told told = new Told();
        ZooKeeper hand = new ZooKeeper(server.connect(), 4_000, event -> {});
        try (StandbyNode a = node(A, told)) {
            for (String path : List.of("/apps", "/apps/numbers")) {
                hand.create(path, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            }
            hand.create(
                    "/apps/numbers/head",
                    "saucr-standby-head 2 more\n".getBytes(java.nio.charset.StandardCharsets.UTF_8),
                    ZooDefs.Ids.OPEN_ACL_UNSAFE,
                    CreateMode.PERSISTENT);
            thread.execute(a::read);
            assertThat(told.next())
                    .startsWith("refused the head of /apps/numbers can't be read: it says")
                    .contains("saucr-standby-head 2 more")
                    .contains("Nothing was changed");
        } finally {
            hand.close();
        }
    }

    @Test
    void challengesAreToldToWhoWatches() throws Exception {
        Told toldA = new Told();
        Told toldB = new Told();
        try (StandbyNode a = node(A, toldA);
                StandbyNode b = node(B, toldB)) {
            thread.execute(() -> a.create(head(A, 1)));
            assertThat(toldA.next()).isEqualTo("wrote 0");
            thread.execute(a::watch);
            for (int i = 0; i < 3; i++) {
                thread.execute(() -> b.challenge("member b asks"));
                assertThat(toldB.next()).isEqualTo("challenge written");
                assertThat(toldA.next()).isEqualTo("challenged");
            }
        }
    }

    @Test
    void aChallengeThatIsOlderThanTheWatchIsToldOnce() throws Exception {
        Told toldA = new Told();
        Told toldB = new Told();
        try (StandbyNode a = node(A, toldA);
                StandbyNode b = node(B, toldB)) {
            thread.execute(() -> a.create(head(A, 1)));
            assertThat(toldA.next()).isEqualTo("wrote 0");
            thread.execute(() -> b.challenge("member b asks"));
            assertThat(toldB.next()).isEqualTo("challenge written");
            thread.execute(a::watch);
            assertThat(toldA.next()).isEqualTo("challenged");
            thread.execute(() -> b.challenge("member b asks again"));
            assertThat(toldB.next()).isEqualTo("challenge written");
            assertThat(toldA.next()).isEqualTo("challenged");
            // Every answer of the ensemble to A comes after what came of the challenges.
            thread.execute(() -> a.check(0, toldA::checked));
            assertThat(toldA.next()).isEqualTo("checked");
        }
    }
}
