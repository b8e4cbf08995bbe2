package io.saucr.services;

import static io.saucr.services.once.PatientWaits.await;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.ensemble.TestServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** K11, K14, K15 over real sockets, folders and a real ensemble: births that end and begin. */
class NewGenerationTest {

    @TempDir private Path temp;

    private final List<AutoCloseable> open = new ArrayList<>();
    private TestServer server;

    @BeforeEach
    void startServer() throws Exception {
        server = new TestServer(temp.resolve("zookeeper"));
    }

    @AfterEach
    void closeAll() throws Exception {
        Collections.reverse(open);
        for (AutoCloseable each : open) {
            each.close();
        }
        server.close();
    }

    private Services at(String name) {
        return Services.at(server.connect() + "/apps/" + name)
                .folder(temp.resolve(name))
                .segmentBytes(1 << 20)
                .sessionTimeout(Duration.ofSeconds(4));
    }

    private RunningService run(Services at) throws Exception {
        RunningService running = at.run(Notes::new, Protection.local());
        open.add(running);
        return running;
    }

    private Client client(String name, String of) throws IOException {
        Client client = at(of).client(name, temp.resolve("client-" + name));
        open.add(client);
        return client;
    }

    private ZooKeeper zooKeeper() throws IOException {
        ZooKeeper zooKeeper = new ZooKeeper(server.connect(), 30_000, event -> {});
        open.add(zooKeeper);
        return zooKeeper;
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(30, SECONDS);
    }

    private static List<String> seen(Client of) throws Exception {
        return get(of.ask(new Notes.Ask(), Notes.Seen.class)).notes();
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path each : (Iterable<Path>) all::iterator) {
                Files.copy(each, to.resolve(from.relativize(each).toString()));
            }
        }
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path each : (Iterable<Path>) all.sorted(Collections.reverseOrder())::iterator) {
                Files.delete(each);
            }
        }
    }

    @Test
    void aBackupGoesOnUnderANewGenerationByOrderAlone() throws Exception {
        RunningService bank = run(at("bank"));
        RunningService shop = run(at("shop"));
        Client atShop = client("a", "shop");
        Client atBank = client("b", "bank");
        get(atBank.send(new Notes.Pass("shop", "before")));
        get(atShop.send(new Notes.Write("/written-before")));
        await().until(() -> seen(atShop).size() == 2);
        // The backup, with a message that is consumed later.
        bank.close();
        get(atShop.send(new Notes.Pass("bank", "in the backup")));
        shop.close();
        copy(temp.resolve("shop"), temp.resolve("backup"));
        run(at("bank"));
        RunningService later = run(at("shop"));
        get(atShop.send(new Notes.Write("/written-behind")));
        get(atShop.send(new Notes.Pass("bank", "behind the backup")));
        await().until(() -> seen(atBank).equals(List.of("in the backup", "behind the backup")));
        await().until(() -> seen(atShop).contains("/written-behind true"));
        String old = later.status().generation();
        // The disk is lost, and the backup put back.
        later.close();
        delete(temp.resolve("shop"));
        copy(temp.resolve("backup"), temp.resolve("shop"));
        long bytes = Files.size(temp.resolve("shop").resolve("identity"));
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> run(at("shop")))
                    .isInstanceOf(ServiceException.class)
                    .hasMessageContainingAll("old copy or a twin", "Services.newGeneration");
        }
        // Refused starts leave no line; only a number that is given no more.
        assertThat(Files.size(temp.resolve("shop").resolve("identity"))).isLessThan(bytes + 20);

        await().until(() -> at("shop").newGeneration().serves().isEmpty());
        NewGeneration order = at("shop").newGeneration();
        assertThat(order.birth()).isEqualTo(old);
        assertThat(order.serves()).isEmpty();
        assertThat(String.join("\n", order.report()))
                .contains("of which this folder knows nothing", "Lost:", "up to number 2");
        assertThatThrownBy(() -> order.give("0".repeat(32)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(old);
        String now = order.give(old);
        assertThat(now).isNotEqualTo(old);
        assertThatThrownBy(() -> order.give(old)).isInstanceOf(IllegalArgumentException.class);
        ZooKeeper zooKeeper = zooKeeper();
        assertThat(
                        new String(
                                zooKeeper.getData("/apps/shop/head", false, null),
                                StandardCharsets.UTF_8))
                .contains("birth=" + now, "replaces=" + old);

        RunningService again = run(at("shop"));
        assertThat(again.status().generation()).isEqualTo(now);
        Client reader = at("shop").client();
        open.add(reader);
        await().until(() -> seen(reader).contains("perhaps in the backup"));
        assertThat(seen(reader)).contains("before", "/written-before true");
        get(reader.send(new Notes.Pass("bank", "of the new generation")));
        get(reader.send(new Notes.Write("/written-new")));
        await().until(() -> seen(atBank).contains("of the new generation"));
        await().until(() -> seen(reader).contains("/written-new true"));
        get(atBank.send(new Notes.Pass("shop", "to the new generation")));
        await().until(() -> seen(reader).contains("to the new generation"));
        assertThat(seen(atBank))
                .containsExactly("in the backup", "behind the backup", "of the new generation");
        // The old birth is refused from now on, wherever a copy of it turns up.
        assertThatThrownBy(() -> run(at("shop").folder(temp.resolve("backup"))))
                .isInstanceOf(ServiceException.class)
                .hasMessageContaining("is taken: its head is held by generation " + now);
    }

    /**
     * K11, E9: nobody may know whether an open write of the old birth happened, so it is told so.
     */
    @Test
    void anOpenWriteOfTheOldBirthIsToldAsUnknown() throws Exception {
        RunningService shop = run(at("shop"));
        Client atShop = client("a", "shop");
        get(atShop.send(new Notes.Write("/first")));
        await().until(() -> seen(atShop).contains("/first true"));
        server.stop();
        get(atShop.send(new Notes.Write("/open")));
        String old = shop.status().generation();
        shop.close();
        server.start();
        await().until(() -> at("shop").newGeneration().serves().isEmpty());
        String unused = at("shop").newGeneration().give(old);
        RunningService again = run(at("shop"));
        Client reader = at("shop").client();
        open.add(reader);
        await().until(() -> seen(reader).contains("/open unknown"));
        get(reader.send(new Notes.Write("/next")));
        await().until(() -> seen(reader).contains("/next true"));
        assertThat(zooKeeper().exists("/open", false)).isNull();
        // It was told once, and is not told again.
        again.close();
        run(at("shop"));
        assertThat(seen(reader)).containsExactly("/first true", "/open unknown", "/next true");
    }

    @Test
    void anOrderIsRefusedWhileSomebodyServes() throws Exception {
        RunningService shop = run(at("shop"));
        assertThatThrownBy(() -> at("shop").newGeneration())
                .isInstanceOf(IOException.class)
                .hasMessageContaining("in use");
        String birth = shop.status().generation();
        copy(temp.resolve("shop"), temp.resolve("copy"));
        Services other = at("shop").folder(temp.resolve("copy"));
        NewGeneration order = other.newGeneration();
        assertThat(order.serves()).contains(shop.address().toString());
        assertThatThrownBy(() -> order.give(birth))
                .isInstanceOf(ServiceException.class)
                .hasMessageContaining("is served at " + shop.address());
        assertThatThrownBy(() -> order.give(birth, "elsewhere:1"))
                .isInstanceOf(ServiceException.class);
        assertThat(other.newGeneration().birth()).isEqualTo(birth);
        shop.close();
        await().until(() -> other.newGeneration().serves().isEmpty());
        // A session that was not ended yet, of a process that is dead.
        ZooKeeper dead = zooKeeper();
        String unused =
                dead.create(
                        "/apps/shop/at",
                        "gone:1".getBytes(StandardCharsets.UTF_8),
                        ZooDefs.Ids.OPEN_ACL_UNSAFE,
                        CreateMode.EPHEMERAL);
        String now = order.give(birth, "gone:1");
        assertThat(other.newGeneration().birth()).isEqualTo(now);
        dead.close();
        assertThatThrownBy(() -> run(at("shop"))).isInstanceOf(ServiceException.class);
        assertThat(run(other).status().incarnation()).isGreaterThan(1);
    }

    /** K15: who was declared gone by mistake learns it, and what to do. */
    @Test
    void whoWasDeclaredGoneSaysSoAndGoesOnWithANewGeneration() throws Exception {
        RunningService bank = run(at("bank"));
        RunningService shop = run(at("shop"));
        Client atShop = client("a", "shop");
        Client atBank = client("b", "bank");
        get(atShop.send(new Notes.Pass("bank", "one")));
        get(atBank.send(new Notes.Pass("shop", "two")));
        await().until(() -> seen(atBank).equals(List.of("one")));
        bank.declareLost("shop", shop.status().generation());
        get(atShop.send(new Notes.Pass("bank", "three")));
        await().until(() -> shop.status().unreachable().containsKey("bank"));
        assertThat(shop.status().unreachable().get("bank"))
                .contains("is lost", "Services.newGeneration");
        String old = shop.status().generation();
        shop.close();
        await().until(() -> at("shop").newGeneration().serves().isEmpty());
        String unused = at("shop").newGeneration().give(old);
        RunningService again = run(at("shop"));
        assertThat(again.status().unreachable()).isEmpty();
        Client reader = at("shop").client();
        open.add(reader);
        get(reader.send(new Notes.Pass("bank", "four")));
        await().until(() -> seen(atBank).contains("four"));
    }

    /** What waits for a name that nobody has comes back by an admin command. */
    @Test
    void whatWaitsForNobodyIsGivenUpByOrder() throws Exception {
        RunningService shop = run(at("shop"));
        Client atShop = client("a", "shop");
        get(atShop.send(new Notes.Pass("bnak", "lost")));
        assertThatThrownBy(() -> shop.declareLost("bank", "0".repeat(32)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("[bnak]");
        assertThatThrownBy(() -> shop.returnUndelivered("bank"))
                .isInstanceOf(IllegalArgumentException.class);
        shop.returnUndelivered("bnak");
        await().until(() -> seen(atShop).equals(List.of("not lost")));
    }

    /** A client's folder belongs to one service: it is neither lost nor sent to another. */
    @Test
    void aClientsFolderIsForOneService() throws Exception {
        RunningService shop = run(at("shop"));
        Client first = client("a", "shop");
        get(first.send(new Notes.Note("one")));
        assertThatThrownBy(() -> at("bank").client("a", temp.resolve("client-a")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("in use");
        first.close();
        assertThatThrownBy(() -> at("bank").client("a", temp.resolve("client-a")))
                .isInstanceOf(IOException.class)
                .hasMessageContainingAll("is the folder of a client of shop, not of bank");
        // The same name at another place, as in another ensemble.
        Services twin =
                Services.at(server.connect() + "/test/shop")
                        .folder(temp.resolve("twin"))
                        .segmentBytes(1 << 20);
        run(twin);
        try (Client wrong = twin.client("a", temp.resolve("client-a"))) {
            assertThatThrownBy(() -> get(wrong.send(new Notes.Note("two"))))
                    .isInstanceOf(ExecutionException.class)
                    .hasMessageContainingAll("another shop", "Services.newGeneration");
        }
        shop.close();
        run(at("shop"));
        Client again = client("a", "shop");
        // What was recorded before it was refused goes to its own service, now.
        await().until(() -> seen(again).contains("one"));
        assertThat(seen(again)).isIn(List.of("one"), List.of("one", "two"));
        try (Client there = twin.client()) {
            assertThat(seen(there)).isEmpty();
        }
    }

    /**
     * By an order it may belong to another one; what it had open is said to be perhaps consumed.
     */
    @Test
    void aClientWithANewGenerationMayBelongToAnotherService() throws Exception {
        RunningService shop = run(at("shop"));
        Client first = client("a", "shop");
        get(first.send(new Notes.Note("one")));
        first.close();
        NewGeneration order = at("shop").newGeneration("a", temp.resolve("client-a"));
        String unused = order.give(order.birth());
        run(at("bank"));
        Client other = client("a", "bank");
        get(other.send(new Notes.Note("two")));
        assertThat(seen(other)).containsExactly("two");
        assertThat(shop.status().generation()).isNotEmpty();
    }

    /** A call that the old birth consumed is answered by nobody, and must not wait for ever. */
    @Test
    void aCallThatTheOldBirthConsumedFailsOnceThereIsANewOne() throws Exception {
        RunningService shop = run(at("shop"));
        Client client = client("a", "shop");
        CompletableFuture<Notes.Seen> call = client.ask(new Notes.Keep("kept"), Notes.Seen.class);
        get(client.send(new Notes.Note("one")));
        String old = shop.status().generation();
        shop.close();
        assertThat(call).isNotDone();
        await().until(() -> at("shop").newGeneration().serves().isEmpty());
        String unused = at("shop").newGeneration().give(old);
        run(at("shop"));
        assertThatThrownBy(() -> get(call))
                .isInstanceOf(ExecutionException.class)
                .hasMessageContaining("consumed the message is lost: no answer comes any more");
        get(client.send(new Notes.Note("two")));
        assertThat(seen(client)).containsExactly("kept", "one", "two");
    }

    /** A client that a service has forgotten, or declared gone, fails in words. */
    @Test
    void aClientWhoseServiceWasMadeAnewWithoutItHearsSo() throws Exception {
        RunningService first = run(Services.without("shop", Map.of()).folder(temp.resolve("one")));
        Address address = first.address();
        Services there = Services.without("shop", Map.of("shop", address));
        Client client = there.client("a", temp.resolve("client-a"));
        get(client.send(new Notes.Note("one")));
        client.close();
        first.close();
        RunningService second =
                run(Services.without("shop", Map.of()).listen(address).folder(temp.resolve("two")));
        Client again = there.client("a", temp.resolve("client-a"));
        // It was meant for the one that it knew.
        assertThatThrownBy(() -> get(again.send(new Notes.Note("two"))))
                .isInstanceOf(ExecutionException.class)
                .hasMessageContaining("perhaps consumed");
        get(again.send(new Notes.Note("three")));
        assertThat(seen(again)).containsExactly("three");
        again.close();
        second.close();
        run(Services.without("shop", Map.of()).listen(address).folder(temp.resolve("one")));
        try (Client back = there.client("a", temp.resolve("client-a"))) {
            assertThatThrownBy(() -> get(back.send(new Notes.Note("four"))))
                    .isInstanceOf(ExecutionException.class)
                    .hasMessageContaining("is lost here");
        }
    }
}
