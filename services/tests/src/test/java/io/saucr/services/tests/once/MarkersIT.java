package io.saucr.services.tests.once;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.ensemble.ClientSession;
import io.saucr.services.tests.once.BothServers.Kind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What rules E2, E3 and E6 rest on, by hand and on real servers, Apache's and ours: what a multi
 * that carries a marker promises, and why nothing less would do.
 */
class MarkersIT {
    private static final byte[] NOTHING = new byte[0];
    private static final int ATTEMPTS = 30;

    @TempDir static Path work;
    private static BothServers servers;

    @BeforeAll
    static void describe() {
        servers = new BothServers(work);
    }

    @AfterAll
    static void end() {
        servers.close();
    }

    /** A client that can end as a killed process does: its session goes on. */
    private static final class Mortal extends ZooKeeper {
        private static final int SESSION_MILLIS = 20_000;

        Mortal(String connectString) throws IOException {
            super(connectString, SESSION_MILLIS, event -> {});
        }

        void die() {
            cnxn.disconnect();
        }

        @Override
        public synchronized void close() {
            die(); // The dead do not end their sessions.
        }
    }

    private static Op create(String path) {
        return Op.create(path, NOTHING, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    }

    private static Op createSequential(String prefix) {
        return Op.create(
                prefix, NOTHING, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT_SEQUENTIAL);
    }

    private static Op bump(String marker, int version) {
        return Op.setData(
                marker, Integer.toString(version).getBytes(StandardCharsets.US_ASCII), version);
    }

    private static ZooKeeper connected(Kind kind) throws Exception {
        return ClientSession.connected(servers.of(kind).connectString(), BothServers.PATIENCE);
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void behindARefusedMultiAllThatChainOnItsMarkerAreRefused(Kind kind) throws Exception {
        ZooKeeper session = connected(kind);
        session.multi(List.of(create("/chain"), create("/chain/marker"), create("/chain/there")));
        List<List<Op>> chain =
                List.of(
                        List.of(bump("/chain/marker", 0), create("/chain/a")),
                        List.of(bump("/chain/marker", 1), create("/chain/there")), // refused
                        List.of(bump("/chain/marker", 2), create("/chain/b")),
                        List.of(bump("/chain/marker", 3), create("/chain/c")));
        List<Integer> codes = new ArrayList<>();
        CountDownLatch answers = new CountDownLatch(chain.size());
        for (List<Op> parts : chain) {
            session.multi(
                    parts,
                    (code, path, context, results) -> {
                        codes.add(code);
                        answers.countDown();
                    },
                    null);
        }
        assertThat(answers.await(BothServers.PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(codes.get(0)).isZero();
        assertThat(codes.subList(1, 4)).doesNotContain(0);
        assertThat(session.getChildren("/chain", false)).containsOnly("marker", "there", "a");
        assertThat(session.exists("/chain/marker", false).getVersion()).isEqualTo(1);
        session.close();
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void theSequentialChildHasTheTimeOfItsMarker(Kind kind) throws Exception {
        ZooKeeper session = connected(kind);
        session.multi(List.of(create("/time"), create("/time/marker"), create("/time/queue")));
        List<OpResult> results =
                session.multi(List.of(bump("/time/marker", 0), createSequential("/time/queue/q-")));
        String name = ((OpResult.CreateResult) results.get(1)).getPath();
        Stat marker = session.exists("/time/marker", false);
        assertThat(session.exists(name, false).getCzxid()).isEqualTo(marker.getMzxid());
        session.close();
    }

    /** So whoever reads behind it reads what the majority had; E9 believes no sync. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void aMultiThatOnlyChecksIsATransactionAndSoIsItsRefusal(Kind kind) throws Exception {
        ZooKeeper session = connected(kind);
        // Our leader may propose something of its own in between, on a busy machine more than once.
        long least = Long.MAX_VALUE;
        for (int i = 0; i < ATTEMPTS && (i < 3 || least > 3); i++) {
            least = Math.min(least, transactionsFromCreateToSetData(session, "/check-" + i));
        }
        assertThat(least).isEqualTo(3);
        session.close();
    }

    /** With a multi that only checks in between, and one that is refused. */
    private static long transactionsFromCreateToSetData(ZooKeeper session, String path)
            throws Exception {
        session.multi(List.of(create(path)));
        long before = session.exists(path, false).getCzxid();
        session.multi(List.of(Op.check(path, -1)));
        assertThatThrownBy(() -> session.multi(List.of(Op.check(path, 7))))
                .isInstanceOf(KeeperException.BadVersionException.class);
        session.setData(path, NOTHING, 0);
        return session.exists(path, false).getMzxid() - before;
    }

    /**
     * The client's request is under way while it dies. Its successor has read, even after sync,
     * that it did not happen; it happens.
     */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void aReadNeverProvesThatSomethingDidNotHappen(Kind kind) throws Exception {
        ZooKeeper successor = connected(kind);
        successor.multi(List.of(create("/read"), create("/read/marker")));
        try (ClientLine line = leave(kind, List.of(bump("/read/marker", 0), create("/read/a")))) {
            CountDownLatch synced = new CountDownLatch(1);
            successor.sync("/read", (code, path, context) -> synced.countDown(), null);
            assertThat(synced.await(BothServers.PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
            assertThat(successor.exists("/read/a", false)).isNull();
            assertThat(line.release()).containsExactly(0);
            assertThat(successor.exists("/read/a", false)).isNotNull();
        }
        successor.close();
    }

    /** E3: the parent's data by version, the marker away, another of a name never used. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void whatIsHeldFailsOnceTheMarkerIsReplaced(Kind kind) throws Exception {
        ZooKeeper successor = connected(kind);
        successor.multi(List.of(create("/e3"), create("/e3/m1")));
        try (ClientLine line =
                leave(
                        kind,
                        List.of(bump("/e3/m1", 0), create("/e3/a")),
                        List.of(bump("/e3/m1", 1), create("/e3/b")))) {
            successor.multi(
                    List.of(
                            Op.setData("/e3", NOTHING, 0),
                            Op.delete("/e3/m1", 0),
                            create("/e3/m2")));
            successor.multi(List.of(bump("/e3/m2", 0), create("/e3/a")));
            assertThat(line.release()).hasSize(2).doesNotContain(0);
            assertThat(successor.getChildren("/e3", false)).containsOnly("m2", "a");
            assertThat(successor.exists("/e3/m2", false).getVersion()).isEqualTo(1);
        }
        // Another that would replace the same marker comes too late, too.
        assertThatThrownBy(
                        () ->
                                successor.multi(
                                        List.of(
                                                Op.setData("/e3", NOTHING, 0),
                                                Op.delete("/e3/m1", 0),
                                                create("/e3/m3"))))
                .isInstanceOf(KeeperException.class);
        assertThat(successor.exists("/e3/m3", false)).isNull();
        successor.close();
    }

    /** Why E3 replaces: the held chain is shifted by one, and its second part fits. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void aMarkerThatIsOnlyBumpedLetsTheWrongOneThrough(Kind kind) throws Exception {
        ZooKeeper successor = connected(kind);
        successor.multi(List.of(create("/bumped"), create("/bumped/m")));
        try (ClientLine line =
                leave(
                        kind,
                        List.of(bump("/bumped/m", 0), create("/bumped/a")),
                        List.of(bump("/bumped/m", 1), create("/bumped/b")))) {
            successor.multi(List.of(bump("/bumped/m", 0)));
            List<Integer> codes = line.release();
            assertThat(codes).hasSize(2);
            assertThat(codes.get(0)).isNotZero();
            assertThat(codes.get(1)).isZero();
        }
        assertThat(successor.getChildren("/bumped", false)).containsOnly("m", "b");
        successor.close();
    }

    /** Why its name was never used before: a name's versions begin again. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void aMarkerOfTheSameNameLetsWhatIsHeldThrough(Kind kind) throws Exception {
        ZooKeeper successor = connected(kind);
        successor.multi(List.of(create("/again"), create("/again/m")));
        try (ClientLine line = leave(kind, List.of(bump("/again/m", 0), create("/again/a")))) {
            successor.multi(
                    List.of(
                            Op.setData("/again", NOTHING, 0),
                            Op.delete("/again/m", 0),
                            create("/again/m")));
            assertThat(line.release()).containsExactly(0);
        }
        assertThat(successor.exists("/again/a", false)).isNotNull();
        successor.close();
    }

    /** A client sends these multis, which its line holds, and is no more. */
    @SafeVarargs
    private static ClientLine leave(Kind kind, List<Op>... multis) throws Exception {
        CountDownLatch all = new CountDownLatch(1);
        Fate hold = // The end must not come before.
                Fate.of(Fate.Kind.HOLD).and(() -> awaitAll(all));
        ClientLine line =
                new ClientLine(
                        servers.of(kind).connectString(), new Script().on(any -> true, hold));
        Mortal dying = new Mortal(line.connectString());
        for (List<Op> parts : multis) {
            dying.multi(parts, (code, path, context, results) -> {}, null);
        }
        Awaitility.await().atMost(BothServers.PATIENCE).until(() -> line.held() == multis.length);
        dying.die();
        all.countDown();
        return line;
    }

    private static void awaitAll(CountDownLatch all) {
        Awaitility.await().atMost(BothServers.PATIENCE).until(() -> all.getCount() == 0);
    }
}
