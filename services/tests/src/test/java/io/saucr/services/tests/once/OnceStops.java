package io.saucr.services.tests.once;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.ensemble.ClientSession;
import io.saucr.services.once.OnceClient;
import io.saucr.services.once.Operation;
import io.saucr.services.once.Outcome;
import io.saucr.services.once.StoppedException;
import io.saucr.services.tests.once.BothServers.Kind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * When going on could lose or repeat an operation, the once client stops, says why, and changes
 * nothing any more (E5, E9); what it cannot send it refuses before it has a number (E1). A subclass
 * says on whose servers.
 */
abstract class OnceStops {
    private static final byte[] DATA = "data".getBytes(StandardCharsets.UTF_8);
    private static final String MARKERS = "/once/bank";

    @TempDir static Path folderOfServers;
    private static BothServers servers;

    @TempDir Path work;
    private final Kind whose;
    private String chroot;
    private ZooKeeper session;
    private final List<String> reasons = new CopyOnWriteArrayList<>();

    OnceStops(Kind whose) {
        this.whose = whose;
    }

    @BeforeAll
    static void describe() {
        servers = new BothServers(folderOfServers);
    }

    @AfterAll
    static void endServers() {
        servers.close();
    }

    /** Each test has a part of the tree, called as its folder is. */
    @BeforeEach
    void begin() throws Exception {
        try (ClientSession root =
                ClientSession.connected(servers.of(whose).connectString(), BothServers.PATIENCE)) {
            chroot = "/" + work.getFileName();
            root.multi(new Step.Create(chroot, "").ops());
        }
        session = connected();
    }

    private ZooKeeper connected() throws Exception {
        return ClientSession.connected(connectString(), BothServers.PATIENCE);
    }

    @AfterEach
    void end() throws Exception {
        session.close();
    }

    private OnceClient open(Path folder, String connectString) throws IOException {
        return OnceClient.at(connectString)
                .name("bank")
                .folder(folder)
                .sessionTimeout(Duration.ofSeconds(2))
                .onStop(reasons::add)
                .open();
    }

    private String connectString() throws IOException {
        return servers.of(whose).connectString() + chroot;
    }

    private OnceClient open() throws IOException {
        return open(work.resolve("bank"), connectString());
    }

    private static Outcome done(CompletableFuture<Outcome> future) throws Exception {
        return future.get(BothServers.PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    private static void create(OnceClient client, String... paths) throws Exception {
        List<CompletableFuture<Outcome>> futures = new ArrayList<>();
        for (String path : paths) {
            futures.add(client.submit(Operation.create(path, DATA)));
        }
        for (CompletableFuture<Outcome> each : futures) {
            assertThat(done(each).happened()).isTrue();
        }
    }

    /** It stops at this operation, which does not happen, and says why. */
    private String reasonOfStop(OnceClient client, String path) throws Exception {
        assertThatThrownBy(() -> done(client.submit(Operation.create(path, DATA))))
                .hasRootCauseInstanceOf(StoppedException.class);
        Awaitility.await().atMost(BothServers.PATIENCE).until(() -> !reasons.isEmpty());
        assertThat(reasons).hasSize(1);
        assertThat(session.exists(path, false)).isNull();
        return reasons.get(0);
    }

    private String marker() throws KeeperException, InterruptedException {
        List<String> names = session.getChildren(MARKERS, false);
        assertThat(names).hasSize(1);
        return MARKERS + "/" + names.get(0);
    }

    private void restore(Backup backup) throws Exception {
        servers.stop(whose);
        backup.restore();
        servers.restart(whose);
        // It may have expired meanwhile, or know later transactions than the servers do.
        session.close();
        session = connected();
    }

    @Test
    void aMarkerThatIsDeletedUnderARunningClient() throws Exception {
        try (OnceClient client = open()) {
            create(client, "/a", "/b", "/c");
            session.delete(marker(), -1);
            assertThat(reasonOfStop(client, "/d")).contains("bank", "missing", "3");
            assertThat(session.getChildren(MARKERS, false)).isEmpty();
        }
    }

    @Test
    void aMarkerThatIsDeletedBetweenTwoStarts() throws Exception {
        try (OnceClient client = open()) {
            create(client, "/a", "/b", "/c");
        }
        session.delete(marker(), -1);
        try (OnceClient client = open()) {
            assertThat(reasonOfStop(client, "/d")).contains("bank", "missing", "3");
            assertThat(session.getChildren(MARKERS, false)).isEmpty();
        }
    }

    @Test
    void allThatIsBelowOnceIsDeleted() throws Exception {
        try (OnceClient client = open()) {
            create(client, "/a");
        }
        session.delete(marker(), -1);
        session.delete(MARKERS, -1);
        session.delete("/once", -1);
        try (OnceClient client = open()) {
            assertThat(reasonOfStop(client, "/d")).contains("bank", "missing", "1");
            assertThat(session.exists("/once", false)).isNull();
        }
    }

    @Test
    void anEnsembleThatIsRestoredFromABackup() throws Exception {
        Backup backup;
        try (OnceClient client = open()) {
            create(client, "/a", "/b");
            backup = Backup.of(whose, servers, work.resolve("backup"));
            create(client, "/c", "/d", "/e");
        }
        restore(backup);
        try (OnceClient client = open()) {
            String reason = reasonOfStop(client, "/f");
            assertThat(reason).contains("bank", "2", "5", "restored");
        }
        assertThat(session.exists("/b", false)).isNotNull();
        assertThat(session.exists("/c", false)).isNull();
    }

    /** Its session has seen later transactions than the servers have, and they refuse it. */
    @Test
    void anEnsembleThatIsRestoredUnderARunningClient() throws Exception {
        try (OnceClient client = open()) {
            create(client, "/a", "/b");
            Backup backup = Backup.of(whose, servers, work.resolve("backup"));
            for (int i = 0; i < 100; i++) { // Further than the restored one comes by itself.
                create(client, "/later-" + i);
            }
            restore(backup);
            assertThat(reasonOfStop(client, "/f")).contains("bank", "2", "102", "restored");
        }
        assertThat(session.exists("/later-0", false)).isNull();
    }

    @Test
    void aFolderThatIsRestoredFromABackup() throws Exception {
        try (OnceClient client = open()) {
            create(client, "/a", "/b");
        }
        Backup backup = Backup.of(List.of(work.resolve("bank")), work.resolve("backup"));
        try (OnceClient client = open()) {
            create(client, "/c");
        }
        backup.restore();
        String before = marker();
        try (OnceClient client = open()) {
            assertThat(reasonOfStop(client, "/d")).contains("bank", "old copy");
        }
        assertThat(marker()).isEqualTo(before);
    }

    /** A twin on a copy of the folder takes over; the first one, held meanwhile, is no more. */
    @Test
    void theFirstOfTwoTwins() throws Exception {
        Script script = new Script();
        try (ClientLine line = new ClientLine(servers.of(whose).connectString(), script);
                OnceClient first = open(work.resolve("bank"), line.connectString() + chroot)) {
            create(first, "/a");
            Path copy = work.resolve("copy");
            copy(work.resolve("bank"), copy);
            try (OnceClient second = open(copy, connectString())) {
                create(second, "/b");
                assertThat(reasonOfStop(first, "/c")).contains("bank", "another start");
                create(second, "/d");
            }
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        Backup.of(List.of(from), to.resolveSibling("copies"));
        Files.move(to.resolveSibling("copies").resolve("0"), to);
    }

    @Test
    void aMarkerThatSomebodyElseWroteTo() throws Exception {
        try (OnceClient client = open()) {
            create(client, "/a");
            session.setData(marker(), "mine".getBytes(StandardCharsets.UTF_8), -1);
            assertThat(reasonOfStop(client, "/b")).contains("bank");
        }
    }

    @Test
    void theNameIsTakenByAnotherFolder() throws Exception {
        try (OnceClient client = open()) {
            create(client, "/a");
        }
        try (OnceClient client = open(work.resolve("other"), connectString())) {
            assertThat(reasonOfStop(client, "/b")).contains("bank", "taken");
        }
    }

    @Test
    void whatIsTooLargeHasNoNumber() throws Exception {
        byte[] large = new byte[600_000];
        try (OnceClient client = open()) {
            create(client, "/a");
            assertThatThrownBy(() -> client.submit(Operation.create("/large", new byte[1 << 20])))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("jute.maxbuffer");
            assertThatThrownBy(
                            () ->
                                    client.submit(
                                            Operation.multi(
                                                    List.of(
                                                            Op.setData("/a", large, -1),
                                                            Op.setData("/a", large, -1)))))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("jute.maxbuffer");
            CompletableFuture<Outcome> next = client.submit(Operation.setData("/a", large, 0));
            assertThat(done(next).happened()).isTrue();
            assertThat(done(next).number()).isEqualTo(2);
            // Two that are too large together go one by one.
            CompletableFuture<Outcome> third = client.submit(Operation.setData("/a", large, 1));
            CompletableFuture<Outcome> fourth = client.submit(Operation.setData("/a", large, 2));
            assertThat(done(third).happened()).isTrue();
            assertThat(done(fourth).happened()).isTrue();
        }
        assertThat(reasons).isEmpty();
    }
}
