package io.saucr.services.standby;

import static io.saucr.services.once.PatientWaits.await;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.Address;
import io.saucr.services.Client;
import io.saucr.services.Handlers;
import io.saucr.services.ListState;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.Service;
import io.saucr.services.ServiceException;
import io.saucr.services.Services;
import io.saucr.services.State;
import io.saucr.services.core.Limits;
import io.saucr.services.ensemble.TestServer;
import io.saucr.services.journal.RefusedFolderException;
import io.saucr.services.journal.SimulatedDisk;
import io.saucr.services.local.LocalService;
import io.saucr.services.move.ProtectionMove;
import io.saucr.services.standby.StandbyServiceTest.Get;
import io.saucr.services.standby.StandbyServiceTest.Now;
import io.saucr.services.standby.StandbyServiceTest.Numbers;
import io.saucr.services.standby.StandbyServiceTest.Put;
import io.saucr.services.standby.StandbyServiceTest.Was;
import io.saucr.services.standby.StandbyWritesTest.Ask;
import io.saucr.services.standby.StandbyWritesTest.Told;
import io.saucr.services.standby.StandbyWritesTest.Write;
import io.saucr.services.standby.StandbyWritesTest.Writer;
import io.saucr.services.standby.StandbyWritesTest.Written;
import io.saucr.services.turns.Place;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A service moves from one protection to the other, and nobody but its operator knows (K11, K14).
 */
class ProtectionMoveTest {

    private static final int WAITING = 3_000;

    /** Sends so many items to the sink. */
    record Fill(int from, int to) {}

    record Filled() {}

    record Item(long value) {}

    record Seen(List<Long> numbers) {}

    record Look() {}

    static final class Sender implements Service {

        Sender(State state) {
            assertThat(state).isNotNull();
        }

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Fill.class,
                    (fill, turn) -> {
                        for (long number = fill.from(); number <= fill.to(); number++) {
                            turn.send("sink", new Item(number));
                        }
                        turn.reply(new Filled());
                    });
        }
    }

    static final class Sink implements Service {

        private final ListState<Long> all;

        Sink(State state) {
            all = state.list("all", Long.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(Item.class, (number, turn) -> all.add(number.value()));
            on.query(
                    Look.class,
                    (look, turn) -> {
                        List<Long> seen = new ArrayList<>();
                        all.iterator().forEachRemaining(seen::add);
                        return new Seen(seen);
                    });
        }
    }

    @TempDir Path work;

    private TestServer server;
    private ZooKeeper zooKeeper;

    @BeforeEach
    void start() throws Exception {
        server = new TestServer(Files.createDirectories(work.resolve("zookeeper")));
        CountDownLatch connected = new CountDownLatch(1);
        zooKeeper =
                new ZooKeeper(
                        server.connect(),
                        4_000,
                        event -> {
                            if (event.getState() == Watcher.Event.KeeperState.SyncConnected) {
                                connected.countDown();
                            }
                        });
        assertThat(connected.await(30, SECONDS)).isTrue();
    }

    @AfterEach
    void stop() throws Exception {
        zooKeeper.close();
        server.close();
    }

    private Services place(String name, String folder) {
        return Services.at(server.connect() + "/apps/" + name)
                .folder(work.resolve(folder))
                .listen(new Address("127.0.0.1", 0))
                .sessionTimeout(Duration.ofSeconds(4));
    }

    private Services place(String folder) {
        return place("numbers", folder);
    }

    private RunningService local(String folder) throws Exception {
        return place(folder).run(Numbers::new, Protection.local());
    }

    private RunningService member(String folder) throws Exception {
        return place(folder).run(Numbers::new, Protection.standby());
    }

    private static long put(Client client, long value) throws Exception {
        return client.ask(new Put("a", value), Was.class).get(30, SECONDS).value();
    }

    private static long got(Client client) throws Exception {
        return client.ask(new Get("a"), Now.class).get(30, SECONDS).value();
    }

    private String head(String name) throws Exception {
        return new String(
                zooKeeper.getData("/apps/" + name + "/head", false, null), StandardCharsets.UTF_8);
    }

    @Test
    void aServiceGoesToStandbysAndBackUnderTheEyesOfItsClient() throws Exception {
        try (Client client = place("client").client("asker", work.resolve("client"))) {
            try (RunningService one = local("own")) {
                assertThat(put(client, 1)).isZero();
                assertThat(one.status().turn()).isPositive();
            }
            assertThat(String.join("\n", place("own").moveToStandby(work.resolve("one"))))
                    .contains("is the folder of member", "Start it with Protection.standby()");
            RunningService one = member("one");
            assertThat(put(client, 2)).isEqualTo(1);
            try (RunningService two = member("two")) {
                await().until(() -> one.status().member().followers().size() == 1);
                assertThat(put(client, 3)).isEqualTo(2);
                one.close();
                assertThat(put(client, 4)).isEqualTo(3);
                assertThat(two.status().member().role()).isEqualTo("primary");
            }
            List<String> report = place("two").moveToLocal(work.resolve("own2"));
            assertThat(report.get(0)).contains("is the folder of numbers now");
            try (RunningService back = local("own2")) {
                assertThat(put(client, 5)).isEqualTo(4);
                assertThat(got(client)).isEqualTo(5);
                assertThat(back.status().turn()).isPositive();
            }
            // Once more: a member that was there before follows again with what it has.
            assertThat(place("own2").moveToStandby(work.resolve("three"))).isNotEmpty();
            try (RunningService three = member("three")) {
                assertThat(put(client, 6)).isEqualTo(5);
                try (RunningService again = member("one")) {
                    await().until(() -> three.status().member().followers().size() == 1);
                    await().until(
                                    () ->
                                            put(client, 7) >= 6
                                                    && again.status().member().lacks().isEmpty()
                                                    && again.status().member().applied() > 0);
                    assertThat(got(client)).isEqualTo(7);
                }
            }
            assertThat(client.lostReplies()).isZero();
        }
    }

    @Test
    void aClientThatHearsEarlyHearsOfNoLoss() throws Exception {
        Protection.Standby early = Protection.standby().every(Duration.ofMillis(20));
        try (Client client = place("client").client("asker")) {
            try (RunningService one = local("own")) {
                assertThat(put(client, 1)).isZero();
                assertThat(one.status().turn()).isPositive();
            }
            assertThat(place("own").moveToStandby(work.resolve("one"))).isNotEmpty();
            try (RunningService one = place("one").run(Numbers::new, early)) {
                assertThat(put(client, 2)).isEqualTo(1);
                assertThat(one.status().member().role()).isEqualTo("primary");
            }
            assertThat(place("one").moveToLocal(work.resolve("own2"))).isNotEmpty();
            try (RunningService back = local("own2")) {
                assertThat(put(client, 3)).isEqualTo(2);
                assertThat(back.status().turn()).isPositive();
            }
            assertThat(client.lostReplies()).isZero();
        }
    }

    @Test
    void messagesThatWaitForAPeerMoveAlong() throws Exception {
        Limits few = Limits.standard();
        try (Client client = place("sender", "client").client("asker", work.resolve("client"))) {
            try (RunningService sender =
                    place("sender", "own").run(Sender::new, Protection.local())) {
                for (int from = 1; from <= WAITING; from += 500) {
                    assertThat(
                                    client.ask(new Fill(from, from + 499), Filled.class)
                                            .get(30, SECONDS))
                            .isNotNull();
                }
                // More than memory holds of them: they are in files.
                assertThat(sender.status().turn()).isPositive();
                assertThat(WAITING).isGreaterThan(few.outboxMessages());
            }
            assertThat(place("sender", "own").moveToStandby(work.resolve("one"))).isNotEmpty();
            try (RunningService sender =
                    place("sender", "one").run(Sender::new, Protection.standby())) {
                assertThat(
                                client.ask(new Fill(WAITING + 1, WAITING + 10), Filled.class)
                                        .get(30, SECONDS))
                        .isNotNull();
                assertThat(sender.status().member().role()).isEqualTo("primary");
            }
            assertThat(place("sender", "one").moveToLocal(work.resolve("own2"))).isNotEmpty();
            try (RunningService sender =
                            place("sender", "own2").run(Sender::new, Protection.local());
                    RunningService sink = place("sink", "sink").run(Sink::new, Protection.local());
                    Client looks = place("sink", "looks").client()) {
                List<Long> expected = LongStream.rangeClosed(1, WAITING + 10).boxed().toList();
                await().atMost(Duration.ofSeconds(60))
                        .untilAsserted(
                                () ->
                                        assertThat(
                                                        looks.ask(new Look(), Seen.class)
                                                                .get(30, SECONDS)
                                                                .numbers())
                                                .isEqualTo(expected));
                assertThat(sender.status().turn()).isPositive();
                assertThat(sink.status().turn()).isPositive();
            }
        }
    }

    @Test
    void writesToTheEnsembleGoOnAndEachHappensOnce() throws Exception {
        assertThat(
                        zooKeeper.create(
                                "/counter",
                                new byte[0],
                                ZooDefs.Ids.OPEN_ACL_UNSAFE,
                                CreateMode.PERSISTENT))
                .isNotNull();
        try (Client client = place("writer", "client").client()) {
            try (RunningService own = place("writer", "own").run(Writer::new, Protection.local())) {
                write(client, 3);
                awaitTold(client, own, 4);
            }
            assertThat(place("writer", "own").moveToStandby(work.resolve("one"))).isNotEmpty();
            try (RunningService one =
                    place("writer", "one").run(Writer::new, Protection.standby())) {
                write(client, 2);
                awaitTold(client, one, 7);
            }
            assertThat(place("writer", "one").moveToLocal(work.resolve("own2"))).isNotEmpty();
            try (RunningService back =
                    place("writer", "own2").run(Writer::new, Protection.local())) {
                write(client, 1);
                awaitTold(client, back, 9);
            }
            assertThat(place("writer", "own2").moveToStandby(work.resolve("two"))).isNotEmpty();
            try (RunningService two =
                    place("writer", "two").run(Writer::new, Protection.standby())) {
                write(client, 1);
                awaitTold(client, two, 11);
            }
        }
        assertThat(zooKeeper.exists("/counter", false).getVersion()).isEqualTo(7);
        assertThat(zooKeeper.getChildren("/counter", false)).hasSize(4);
    }

    private static void write(Client client, int times) throws Exception {
        assertThat(client.ask(new Write(times), Written.class).get(30, SECONDS)).isNotNull();
    }

    private static void awaitTold(Client client, RunningService service, long happened) {
        await().untilAsserted(
                        () ->
                                assertThat(client.ask(new Ask(), Told.class).get(30, SECONDS))
                                        .isEqualTo(new Told(happened, 0, 0)));
        await().until(() -> service.status().outputs() == 0);
    }

    @Test
    void whileAWriteToTheEnsembleIsOpenItIsRefused() throws Exception {
        try (Client client = place("writer", "client").client()) {
            RunningService own = place("writer", "own").run(Writer::new, Protection.local());
            assertThat(client.ask(new Ask(), Told.class).get(30, SECONDS)).isNotNull();
            server.stop();
            write(client, 3);
            own.close();
            server.start();
        }
        assertThatThrownBy(() -> place("writer", "own").moveToStandby(work.resolve("one")))
                .isInstanceOf(ServiceException.class)
                .hasMessageContaining("4 writes to the ensemble whose outcome it was not told of");
        assertThat(head("writer")).startsWith("saucr-service-head");
    }

    @Test
    void onlyAServiceThatIsStoppedIsMoved() throws Exception {
        try (Client client = place("client").client()) {
            try (RunningService own = local("own")) {
                assertThat(put(client, 1)).isZero();
                assertThatThrownBy(() -> place("own").moveToStandby(work.resolve("one")))
                        .isInstanceOf(RefusedFolderException.class)
                        .hasMessageContaining("in use");
                assertThat(own.status().turn()).isPositive();
            }
            assertThat(place("own").moveToStandby(work.resolve("one"))).isNotEmpty();
            RunningService one = member("one");
            assertThat(put(client, 2)).isEqualTo(1);
            try (RunningService two = member("two")) {
                await().until(() -> one.status().member().followers().size() == 1);
                one.close();
                assertThatThrownBy(() -> place("one").moveToLocal(work.resolve("own2")))
                        .isInstanceOf(ServiceException.class)
                        .hasMessageContaining("members of numbers run")
                        .hasMessageContaining("Nothing was changed");
                assertThat(put(client, 3)).isEqualTo(2);
                assertThat(two.status().member().role()).isEqualTo("primary");
            }
            // Member one has not what two did alone.
            assertThatThrownBy(() -> place("one").moveToLocal(work.resolve("own2")))
                    .isInstanceOf(ServiceException.class)
                    .hasMessageContaining("lacks segment");
            assertThat(work.resolve("own2")).doesNotExist();
            assertThat(place("two").moveToLocal(work.resolve("own2"))).isNotEmpty();
        }
    }

    /**
     * The files of a folder with their times. Its lock is taken for a look, too, and a service that
     * was closed may still fill its reserve.
     */
    private Map<String, String> files(String folder) throws IOException {
        Map<String, String> all = new TreeMap<>();
        try (Stream<Path> files = Files.walk(work.resolve(folder))) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                all.put(
                        work.relativize(file).toString(),
                        Files.getLastModifiedTime(file)
                                + " "
                                + Arrays.hashCode(Files.readAllBytes(file)));
            }
        }
        all.keySet().removeAll(Set.of(folder + "/lock", folder + "/reserve"));
        return all;
    }

    /** Not even the number of its next start. */
    @Test
    void aMoveThatTheHeadForbidsChangesNothing() throws Exception {
        try (Client client = place("client").client();
                RunningService own = local("own")) {
            assertThat(put(client, 1)).isZero();
            assertThat(own.status().turn()).isPositive();
        }
        copy("own", "copy");
        Map<String, String> before = files("own");
        assertThatThrownBy(
                        () ->
                                Services.at(server.connect() + "/others/numbers")
                                        .folder(work.resolve("own"))
                                        .sessionTimeout(Duration.ofSeconds(4))
                                        .moveToStandby(work.resolve("one")))
                .isInstanceOf(ServiceException.class)
                .hasMessageContaining("there is no head at /others/numbers")
                .hasMessageContaining("Nothing was changed");
        assertThat(files("own")).isEqualTo(before);
        try (RunningService own = local("own")) {
            assertThat(own.status().turn()).isPositive();
        }
        before = files("copy");
        assertThatThrownBy(() -> place("copy").moveToStandby(work.resolve("one")))
                .isInstanceOf(ServiceException.class)
                .hasMessageContaining("old copy or a twin");
        assertThat(files("copy")).isEqualTo(before);
        assertThat(work.resolve("one")).doesNotExist();
        assertThat(place("own").moveToStandby(work.resolve("one"))).isNotEmpty();
    }

    @Test
    void whatIsNotTheServicesOrNotEmptyIsRefused() throws Exception {
        Files.createDirectories(work.resolve("full"));
        Files.writeString(work.resolve("full/file"), "mine");
        assertThatThrownBy(() -> place("none").moveToStandby(work.resolve("one")))
                .isInstanceOf(RefusedFolderException.class)
                .hasMessageContaining("no service");
        assertThat(work.resolve("none")).doesNotExist();
        try (Client client = place("client").client()) {
            try (RunningService own = local("own")) {
                assertThat(put(client, 1)).isZero();
                assertThat(own.status().turn()).isPositive();
            }
            assertThatThrownBy(() -> place("own").moveToStandby(work.resolve("full")))
                    .isInstanceOf(RefusedFolderException.class)
                    .hasMessageContaining("not empty");
            assertThatThrownBy(() -> place("own").moveToStandby(work.resolve("own/within")))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("not within the old one");
            assertThatThrownBy(() -> place("own").moveToLocal(work.resolve("one")))
                    .isInstanceOf(RefusedFolderException.class)
                    .hasMessageContaining("not the folder of a member");
            assertThatThrownBy(() -> place("other", "own").moveToStandby(work.resolve("one")))
                    .isInstanceOf(RefusedFolderException.class)
                    .hasMessageContaining("numbers");
            assertThat(Files.readString(work.resolve("full/file"))).isEqualTo("mine");
        }
        copy("own", "copy");
        try (RunningService own = local("own")) {
            assertThat(own.status().turn()).isPositive();
        }
        assertThatThrownBy(() -> place("copy").moveToStandby(work.resolve("one")))
                .isInstanceOf(ServiceException.class)
                .hasMessageContaining("old copy or a twin");
        assertThat(place("own").moveToStandby(work.resolve("two"))).isNotEmpty();
        assertThatThrownBy(() -> local("own"))
                .isInstanceOf(ServiceException.class)
                .hasMessageContaining("Protection.standby()");
        assertThatThrownBy(() -> place("own").moveToStandby(work.resolve("three")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("Protection.standby()");
    }

    /** Copies of its own files above all: neither read nor removed, and they do not move along. */
    @Test
    void whatAnOperatorLeftBesideTheFilesStaysWhereItIs() throws Exception {
        Map<String, String> own;
        Map<String, String> member;
        try (Client client = place("client").client("asker", work.resolve("client"))) {
            try (RunningService one = local("own")) {
                assertThat(put(client, 1)).isZero();
                assertThat(one.status().turn()).isPositive();
            }
            own = operatorsFiles("own");
            try (RunningService one = local("own")) {
                assertThat(put(client, 2)).isEqualTo(1);
                assertThat(one.status().turn()).isPositive();
            }
            assertThat(place("own").moveToStandby(work.resolve("one"))).isNotEmpty();
            assertThat(contents("own")).containsAllEntriesOf(own);
            assertThat(contents("one").keySet()).noneMatch(own::containsKey);
            try (RunningService one = member("one")) {
                assertThat(put(client, 3)).isEqualTo(2);
                assertThat(one.status().turn()).isPositive();
            }
            member = operatorsFiles("one");
            try (RunningService one = member("one")) {
                assertThat(put(client, 4)).isEqualTo(3);
                assertThat(one.status().turn()).isPositive();
            }
            assertThat(place("one").moveToLocal(work.resolve("own2"))).isNotEmpty();
            assertThat(contents("one")).containsAllEntriesOf(member);
            assertThat(contents("own2").keySet()).noneMatch(member::containsKey);
            try (RunningService back = local("own2")) {
                assertThat(got(client)).isEqualTo(4);
                assertThat(back.status().turn()).isPositive();
            }
        }
    }

    /** Copies of each file under other names, in each folder; returned with a checksum. */
    private Map<String, String> operatorsFiles(String folder) throws IOException {
        Map<String, String> before = contents(folder);
        for (String each : before.keySet()) {
            Path file = work.resolve(folder).resolve(each);
            for (String suffix : List.of(".bak", "~", ".old")) {
                Files.copy(file, file.resolveSibling(file.getFileName() + suffix));
            }
        }
        Files.writeString(work.resolve(folder).resolve("README"), "mine");
        Path copy = Files.createDirectories(work.resolve(folder).resolve("copy.20261129"));
        Files.writeString(copy.resolve("notes"), "mine");
        Files.createSymbolicLink(work.resolve(folder).resolve("link"), Path.of("/nowhere"));
        Map<String, String> made = contents(folder);
        made.keySet().removeAll(before.keySet());
        return made;
    }

    private Map<String, String> contents(String folder) throws IOException {
        Map<String, String> found = new TreeMap<>();
        try (var files = Files.walk(work.resolve(folder))) {
            for (Path each : files.filter(Files::isRegularFile).toList()) {
                CRC32 content = new CRC32();
                content.update(Files.readAllBytes(each));
                found.put(
                        work.resolve(folder).relativize(each).toString(),
                        Files.getLastModifiedTime(each) + " " + content.getValue());
            }
        }
        return found;
    }

    private void copy(String from, String to) throws IOException {
        try (var files = Files.walk(work.resolve(from))) {
            for (Path each : files.toList()) {
                Path copy =
                        work.resolve(to).resolve(work.resolve(from).relativize(each).toString());
                if (Files.isDirectory(each)) {
                    Files.createDirectories(copy);
                } else {
                    Files.copy(each, copy);
                }
            }
        }
    }

    /**
     * Whatever call to the disk fails, and whatever was not synced: one folder is the service's.
     */
    @Test
    void aMoveThatFailsAnywhereLeavesTheServiceInOneFolder() throws Exception {
        failingAtEach(12);
    }

    @Test
    @Tag("long")
    void aMoveThatFailsAtAnyCallLeavesTheServiceInOneFolder() throws Exception {
        failingAtEach(1);
    }

    private void failingAtEach(int step) throws Exception {
        long calls = moveFailingAt(Long.MAX_VALUE);
        assertThat(calls).isGreaterThan(30);
        for (long call = 1; call <= calls; call += step) {
            long unused = moveFailingAt(call);
        }
    }

    private long moveFailingAt(long call) throws Exception {
        SimulatedDisk disk = new SimulatedDisk(call);
        String name = "n" + call;
        try (RunningService own =
                        LocalService.start(
                                disk,
                                at(name, "own"),
                                Numbers::new,
                                Protection.local(),
                                (reason, cause) -> {});
                Client client = place(name, "client").client()) {
            assertThat(put(client, 1)).isZero();
            assertThat(put(client, 2)).isEqualTo(1);
            assertThat(own.status().turn()).isPositive();
        }
        disk.failAt(call);
        long before = disk.calls().size();
        boolean moved = true;
        try {
            assertThat(ProtectionMove.toStandby(disk, at(name, "own"), Path.of("/simulated/one")))
                    .isNotEmpty();
        } catch (IOException | RuntimeException e) {
            moved = false;
        }
        long calls = disk.calls().size() - before;
        disk.powerFails();
        boolean standby = head(name).startsWith("saucr-standby-head");
        assertThat(standby).isEqualTo(moved || standby);
        if (!standby) {
            assertThat(ProtectionMove.toStandby(disk, at(name, "own"), Path.of("/simulated/two")))
                    .isNotEmpty();
        }
        String folder = standby ? "one" : "two";
        try (RunningService one =
                        StandbyService.start(
                                disk,
                                at(name, folder),
                                Numbers::new,
                                Protection.standby(),
                                (reason, cause) -> {});
                Client client = place(name, "client").client()) {
            assertThat(put(client, 3)).isEqualTo(2);
            assertThat(one.status().member().role()).isEqualTo("primary");
        }
        disk.failAt(call);
        try {
            assertThat(ProtectionMove.toLocal(disk, at(name, folder), Path.of("/simulated/back")))
                    .isNotEmpty();
        } catch (IOException | RuntimeException e) {
            disk.powerFails();
            if (head(name).startsWith("saucr-standby-head")) {
                assertThat(
                                ProtectionMove.toLocal(
                                        disk, at(name, folder), Path.of("/simulated/back2")))
                        .isNotEmpty();
            }
        }
        disk.powerFails();
        Path back = Path.of("/simulated/back2");
        String last = disk.exists(back.resolve("identity")) ? "back2" : "back";
        try (RunningService own =
                        LocalService.start(
                                disk,
                                at(name, last),
                                Numbers::new,
                                Protection.local(),
                                (reason, cause) -> {});
                Client client = place(name, "client").client()) {
            assertThat(put(client, 4)).isEqualTo(3);
            assertThat(own.status().turn()).isPositive();
        }
        return calls;
    }

    private Place at(String name, String folder) {
        return Place.at(server.connect() + "/apps/" + name, Optional.empty())
                .withFolder(Path.of("/simulated").resolve(folder))
                .withListen(new Address("127.0.0.1", 0))
                .withSegmentBytes(64 << 10)
                .withSessionTimeout(Duration.ofSeconds(4));
    }
}
