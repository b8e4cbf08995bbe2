package io.saucr.services;

import static io.saucr.services.once.PatientWaits.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.ensemble.TestServer;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.SimulatedDisk;
import io.saucr.services.local.LocalPartitions;
import io.saucr.services.turns.FolderContents;
import io.saucr.services.turns.Place;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** K18, K19, K20: a service in partitions, at a real server. */
class PartitionsTest {

    /** Adds up what each key got. */
    static final class Sums implements Service {

        record Add(String key, long cents) implements Keyed, Asks<Sum> {}

        record Get(String key) implements Keyed, Asks<Sum> {}

        record Sum(long cents) {}

        /** To another key, wherever that is. */
        record Move(String key, String to, long cents) implements Keyed {}

        record Unkeyed() {}

        private final MapState<String, Long> sums;

        Sums(State state) {
            sums = state.map("sums", String.class, Long.class);
        }

        private long add(String key, long cents) {
            long now = sums.getOrDefault(key, 0L) + cents;
            sums.put(key, now);
            return now;
        }

        @Override
        public void handlers(Handlers on) {
            on.message(Add.class, (add, turn) -> turn.reply(new Sum(add(add.key(), add.cents()))));
            on.message(
                    Move.class,
                    (move, turn) -> {
                        add(move.key(), -move.cents());
                        turn.send("sums", new Credit(move.to(), move.cents()));
                    });
            on.message(Credit.class, (credit, turn) -> add(credit.key(), credit.cents()));
            on.query(Get.class, (get, turn) -> new Sum(sums.getOrDefault(get.key(), 0L)));
        }

        record Credit(String key, long cents) implements Keyed {}
    }

    @TempDir private Path data;

    private final List<AutoCloseable> opened = new ArrayList<>();
    private TestServer server;

    @BeforeEach
    void startServer() throws IOException {
        server = new TestServer(Files.createDirectory(data.resolve("server")));
    }

    @AfterEach
    void stop() throws Exception {
        for (int last = opened.size() - 1; last >= 0; last--) {
            opened.get(last).close();
        }
        server.close();
    }

    private Services at(String folder) {
        return Services.at(server.connect() + "/apps/sums")
                .folder(data.resolve(folder))
                .segmentBytes(1 << 16);
    }

    private RunningPartitions run(Partitions of, int... which) throws Exception {
        RunningPartitions running = of.run(Sums::new, Protection.local(), which);
        opened.add(running);
        return running;
    }

    private Client client(Partitions of) throws Exception {
        Client client = of.client("teller");
        opened.add(client);
        return client;
    }

    private static void add(Client client, int keys) {
        List<CompletableFuture<Sums.Sum>> all = new ArrayList<>();
        for (int key = 0; key < keys; key++) {
            all.add(client.ask(new Sums.Add("key" + key, key)));
        }
        all.forEach(CompletableFuture::join);
    }

    private static long sum(Client client, String key) {
        return client.ask(new Sums.Get(key)).join().cents();
    }

    @Test
    void eachKeyHasItsPartitionAndAllOutliveARestart() throws Exception {
        Partitions sums = at("left").partitions(4);
        RunningPartitions running = run(sums);
        Client client = client(sums);
        add(client, 40);
        assertThat(running.here()).containsExactly(0, 1, 2, 3);
        long turns = 0;
        for (int number : running.here()) {
            ServiceStatus status = running.partition(number).status();
            assertThat(status.service()).isEqualTo("sums." + number);
            assertThat(status.turn()).isGreaterThan(5);
            turns += status.turn();
        }
        assertThat(turns).isGreaterThanOrEqualTo(40);
        // The client's, the services' and the names' are one.
        assertThat(server.sessions()).isEqualTo(1);

        running.close();
        run(sums);
        for (int key = 0; key < 40; key++) {
            assertThat(sum(client, "key" + key)).isEqualTo(key);
        }
    }

    /** A handler of it may hang. */
    private final class Hanging implements Service {

        Hanging(State unused) {}

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Sums.Add.class,
                    (add, turn) -> {
                        if (add.cents() < 0) {
                            hanging.release();
                            released.await();
                        }
                        turn.reply(new Sums.Sum(add.cents()));
                    });
        }
    }

    private final Semaphore hanging = new Semaphore(0);
    private final CountDownLatch released = new CountDownLatch(1);

    private static long turnThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(it -> it.getName().startsWith("turns sums "))
                .count();
    }

    /** As many hang as there are threads for turns, and more. */
    @Test
    void handlersThatHangHoldUpNoOtherPartition() throws Exception {
        int processors = Runtime.getRuntime().availableProcessors();
        Partitions sums = at("left").partitions(processors + 2);
        RunningPartitions running = sums.run(Hanging::new, Protection.local());
        opened.add(running);
        Client client = client(sums);
        assertThat(turnThreads()).isLessThanOrEqualTo(processors);
        List<CompletableFuture<Sums.Sum>> late = new ArrayList<>();
        for (int number = 0; number <= processors; number++) {
            late.add(client.ask(new Sums.Add("key" + key(sums, number), -1)));
            hanging.acquire();
        }
        String other = "key" + key(sums, processors + 1);
        assertThat(client.ask(new Sums.Add(other, 5)).join().cents()).isEqualTo(5);
        assertThat(running.partition(processors + 1).status().finalTurn()).isPositive();
        assertThat(late).noneMatch(CompletableFuture::isDone);

        released.countDown();
        late.forEach(it -> assertThat(it.join().cents()).isEqualTo(-1));
        await().until(() -> turnThreads() <= processors);
    }

    @Test
    void aPartitionMovesToAnotherProcessAndBack() throws Exception {
        Partitions left = at("left").partitions(2);
        RunningPartitions one = run(left);
        Client client = client(left);
        add(client, 20);
        // The other process has no partition yet but the one that it takes.
        String key = "key" + key(left, 1);
        long before = sum(client, key);

        one.release(1);
        assertThat(one.here()).containsExactly(0);
        CompletableFuture<Sums.Sum> waiting = client.ask(new Sums.Add(key, 100));
        copy(data.resolve("left/1"), data.resolve("right/1"));
        RunningPartitions other = run(at("right").partitions(2), 1);
        assertThat(waiting.get().cents()).isEqualTo(before + 100);
        add(client, 20);

        // An old copy of the folder is refused, by the head.
        assertThatThrownBy(() -> one.take(1)).hasMessageContaining("sums.1");

        other.release(1);
        delete(data.resolve("left/1"));
        copy(data.resolve("right/1"), data.resolve("left/1"));
        one.take(1);
        assertThat(sum(client, key)).isEqualTo(before + 100 + key(left, 1));
        assertThat(other.here()).isEmpty();
    }

    private static int key(Partitions of, int partition) {
        int key = 1;
        while (of.of("key" + key) != partition) {
            key++;
        }
        return key;
    }

    @Test
    void aFolderThatWasNotReleasedRunsNowhereElse() throws Exception {
        Partitions left = at("left").partitions(2);
        RunningPartitions one = run(left);
        add(client(left), 10);
        one.close();

        copy(data.resolve("left/1"), data.resolve("right/1"));
        assertThatThrownBy(() -> run(at("right").partitions(2), 1))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("its newest turns are in the journal of generation")
                .hasMessageContaining("release it there");
        assertThatThrownBy(
                        () ->
                                Services.at(server.connect() + "/apps/sums.1")
                                        .folder(data.resolve("right/1"))
                                        .run(Sums::new, Protection.local()))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("which it shares with other partitions");

        FolderContents partition = FolderContents.read(data.resolve("left/1"));
        assertThat(partition.files().sharedJournal()).isPresent();
        FolderContents journal = FolderContents.read(data.resolve("left/journal"));
        assertThat(journal.kind()).isEqualTo(FolderContents.Kind.PARTITIONS);
        assertThat(journal.unread()).isEmpty();
        assertThatThrownBy(() -> FolderContents.read(data.resolve("left")))
                .hasMessageContaining("of a service in partitions. These in it are: ");

        // Nor does the process start without it.
        assertThatThrownBy(() -> run(left, 0))
                .hasMessageContaining("has turns of sums.1: start it here");
        delete(data.resolve("left/1"));
        assertThatThrownBy(() -> run(left)).hasMessageContaining("has turns of sums.1");
    }

    @Test
    void anotherNumberOfPartitionsIsRefused() throws Exception {
        Partitions four = at("left").partitions(4);
        run(four).close();
        assertThatThrownBy(() -> run(at("left").partitions(8)))
                .isInstanceOf(ServiceException.class)
                .hasMessageContaining("/apps/sums has 4 partitions, not 8");
        assertThatThrownBy(() -> client(at("right").partitions(8)))
                .hasMessageContaining("/apps/sums has 4 partitions, not 8");
        // Without an ensemble the folder says it.
        assertThatThrownBy(
                        () ->
                                Services.without("sums", java.util.Map.of())
                                        .folder(data.resolve("left"))
                                        .partitions(8)
                                        .run(Sums::new, Protection.local()))
                .hasMessageContaining("\"sums in 4 partitions\", not of \"sums in 8 partitions\"");
        assertThatThrownBy(() -> run(four, 4)).hasMessageContaining("not one with number 4");
        assertThatThrownBy(() -> at("left").partitions(0)).hasMessageContaining("1 to 1024");
        assertThatThrownBy(
                        () ->
                                Services.at(server.connect() + "/apps/plain")
                                        .folder(data.resolve("plain"))
                                        .partitions(2)
                                        .client()
                                        .ask(new Sums.Unkeyed(), Object.class))
                .hasMessageContaining("have it implement Keyed");
    }

    @Test
    void anEnsembleThatRefusesIsNotAskedForEver() throws Exception {
        ZooKeeper owner = new ZooKeeper(server.connect(), 30_000, event -> {});
        owner.addAuthInfo("digest", "eu:secret".getBytes(UTF_8));
        String unused =
                owner.create(
                        "/apps", new byte[0], ZooDefs.Ids.CREATOR_ALL_ACL, CreateMode.PERSISTENT);
        assertThatThrownBy(() -> run(at("left").partitions(2)))
                .isInstanceOf(ServiceException.class)
                .hasMessageContaining("/apps/sums does not start: ")
                .hasMessageContaining("NoAuth");
        owner.close();
    }

    @Test
    void servicesSendToThePartitionOfTheKey() throws Exception {
        Partitions sums = at("left").partitions(3);
        run(sums);
        Client client = client(sums);
        for (int key = 0; key < 12; key++) {
            client.send(new Sums.Move("key" + key, "key" + (key + 1), 5)).join();
        }
        for (int key = 1; key < 12; key++) {
            String of = "key" + key;
            await().untilAsserted(() -> assertThat(sum(client, of)).isZero());
        }
        assertThat(sum(client, "key0")).isEqualTo(-5);
        await().untilAsserted(() -> assertThat(sum(client, "key12")).isEqualTo(5));
    }

    /** Asks for sums, and remembers the answers. */
    static final class Shop implements Service {

        record Sell(String owner, long cents) {}

        record Sold(String owner) implements Continuation<Sums.Sum> {}

        record Ask(String owner) implements Asks<Sums.Sum> {}

        private final MapState<String, Long> answers;

        Shop(State state) {
            answers = state.map("answers", String.class, Long.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Sell.class,
                    (sell, turn) ->
                            turn.ask(
                                    "sums",
                                    new Sums.Add(sell.owner(), sell.cents()),
                                    new Sold(sell.owner())));
            on.answer(Sold.class, (sold, sum, turn) -> answers.put(sold.owner(), sum.cents()));
            on.unanswered(Sold.class, (sold, why, turn) -> answers.put(sold.owner(), -1L));
            on.query(Ask.class, (ask, turn) -> new Sums.Sum(answers.getOrDefault(ask.owner(), 0L)));
        }
    }

    @Test
    void anotherServiceAsksThePartitionOfTheKey() throws Exception {
        run(at("left").partitions(3));
        Services shop = Services.at(server.connect() + "/apps/shop").folder(data.resolve("shop"));
        opened.add(shop.partitioned("sums", 3).run(Shop::new, Protection.local()));
        Client client = shop.client();
        opened.add(client);
        for (int key = 0; key < 9; key++) {
            client.send(new Shop.Sell("key" + key, key + 1)).join();
        }
        for (int key = 0; key < 9; key++) {
            Shop.Ask ask = new Shop.Ask("key" + key);
            long expected = key + 1L;
            await().untilAsserted(
                            () -> assertThat(client.ask(ask).join().cents()).isEqualTo(expected));
        }
    }

    @Test
    void aMessageOfAnotherPartitionsKeyIsRefused() throws Exception {
        Partitions sums = at("left").partitions(3);
        run(sums);
        int key = key(sums, 2);
        try (Client wrong = Services.at(server.connect() + "/apps/sums.0").client()) {
            assertThatThrownBy(() -> wrong.ask(new Sums.Add("key" + key, 1)).join())
                    .hasMessageContaining("belongs to partition 2 of the 3 of sums, and this is")
                    .hasMessageContaining("partition 0");
        }
        assertThat(sum(client(sums), "key" + key)).isZero();
    }

    @Test
    void afterAFailedFsyncNoPartitionGoesOn() throws Exception {
        SimulatedDisk disk = new SimulatedDisk(1);
        List<String> halts = new CopyOnWriteArrayList<>();
        Partitions sums = at("left").partitions(3);
        Place place =
                Place.at(server.connect() + "/apps/sums", Optional.empty())
                        .withFolder(Path.of("/simulated/sums"))
                        .withSegmentBytes(1 << 16)
                        .withPartitions("sums", 3);
        RunningPartitions running =
                LocalPartitions.start(
                        disk,
                        place,
                        3,
                        Sums::new,
                        Protection.local(),
                        (reason, cause) -> halts.add(reason));
        opened.add(running);
        Client client = client(sums);
        add(client, 12);
        disk.halt();
        CompletableFuture<Sums.Sum> lost = client.ask(new Sums.Add("key1", 1));
        await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> assertThat(halts).hasSize(3));
        assertThat(halts).allMatch(it -> it.contains("turns can no longer be made final"));
        assertThatThrownBy(running::join).isInstanceOf(ServiceException.class);
        assertThat(lost).isNotDone();
    }

    private static void copy(Path from, Path to) throws IOException {
        Disk.local().makeFolder(to);
        try (var files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Path at = to.resolve(from.relativize(file).toString());
                if (Files.isDirectory(file)) {
                    Files.createDirectories(at);
                } else {
                    Files.copy(file, at);
                }
            }
        }
    }

    private static void delete(Path folder) throws IOException {
        try (var files = Files.walk(folder)) {
            for (Path file : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
