package io.saucr.services;

import static io.saucr.services.once.PatientWaits.await;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.ensemble.TestServer;
import io.saucr.services.wire.NetOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Services and clients of this process, over real sockets, folders and a real ensemble. */
class ServicesTest {

    private static final int SEGMENT_BYTES = 1 << 20;

    @TempDir private Path temp;

    private final List<String> calls = Collections.synchronizedList(new ArrayList<>());
    private final Set<String> post = ConcurrentHashMap.newKeySet();
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
                .segmentBytes(SEGMENT_BYTES);
    }

    private RunningService bank(String name) throws Exception {
        return bank(at(name));
    }

    private RunningService bank(Services at) throws Exception {
        RunningService running = at.run(state -> new Bank(state, calls, post), Protection.local());
        open.add(running);
        return running;
    }

    private Client client(String name, String of) throws IOException {
        Client client = at(of).client(name, temp.resolve("client-" + name));
        open.add(client);
        return client;
    }

    private Client client(String of) throws IOException {
        Client client = at(of).client();
        open.add(client);
        return client;
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(30, SECONDS);
    }

    private long balance(Client client, String owner) throws Exception {
        return get(client.ask(new Bank.Balance(owner), Bank.Cents.class)).cents();
    }

    @Test
    void moneyMovesBetweenTwoServices() throws Exception {
        bank("north");
        RunningService south = bank("south");
        Client teller = client("teller", "north");
        assertThat(get(teller.ask(new Bank.Open("ann", 100), Bank.Done.class)))
                .isEqualTo(new Bank.Done("ann"));
        List<CompletableFuture<Bank.Done>> done = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            done.add(
                    teller.ask(
                            new Bank.Transfer("t" + i, "ann", "south", "bob", 7), Bank.Done.class));
        }
        for (int i = 0; i < 10; i++) {
            assertThat(get(done.get(i))).isEqualTo(new Bank.Done("t" + i));
        }
        Client reader = client("south");
        await().until(() -> balance(reader, "bob") == 70);
        assertThat(balance(client("north"), "ann")).isEqualTo(30);

        ServiceStatus status = south.status();
        assertThat(status.service()).isEqualTo("south");
        assertThat(status.address()).isEqualTo(south.address().toString());
        assertThat(status.channels()).extracting(ServiceStatus.Channel::peer).contains("north");
        await().until(() -> south.status().finalTurn() == south.status().turn());
    }

    @Test
    void whatWasSentWhileTheOtherWasAwayArrivesOnce() throws Exception {
        RunningService north = bank("north");
        Client teller = client("teller", "north");
        get(teller.send(new Bank.Open("ann", 100)));
        get(teller.send(new Bank.Transfer("t1", "ann", "south", "bob", 30)));
        north.close();
        CompletableFuture<Void> waits =
                teller.send(new Bank.Transfer("t2", "ann", "south", "bob", 20));
        assertThat(waits).isNotDone();
        bank("north");
        bank("south");
        get(waits);
        Client reader = client("south");
        await().until(() -> balance(reader, "bob") == 50);
        assertThat(balance(client("north"), "ann")).isEqualTo(50);
    }

    @Test
    void aServiceMovesToAnotherAddressAndItsClientsFollow() throws Exception {
        RunningService first = bank("north");
        Client teller = client("teller", "north");
        Client reader = client("north");
        get(teller.send(new Bank.Open("ann", 100)));
        assertThat(balance(reader, "ann")).isEqualTo(100);
        first.close();
        Path moved = temp.resolve("elsewhere");
        Files.move(temp.resolve("north"), moved);
        RunningService second = bank(at("north").folder(moved));
        assertThat(second.address()).isNotEqualTo(first.address());
        get(teller.send(new Bank.Open("bob", 1)));
        await().until(() -> balance(reader, "ann") == 100);
    }

    @Test
    void anOldCopyOfTheFolderDoesNotStart() throws Exception {
        RunningService north = bank("north");
        north.close();
        copy(temp.resolve("north"), temp.resolve("copy"));
        RunningService again = bank("north");
        assertThatThrownBy(() -> bank(at("north").folder(temp.resolve("copy"))))
                .isInstanceOf(ServiceException.class)
                .hasMessageContaining("old copy or a twin");
        assertThat(again.status().incarnation()).isEqualTo(2);
    }

    @Test
    void aCopyOfTheFolderOfAServiceThatRunsDoesNotTakeItsPlace() throws Exception {
        RunningService north = bank("north");
        get(client("teller", "north").send(new Bank.Open("ann", 100)));
        copy(temp.resolve("north"), temp.resolve("copy"));
        get(client("other", "north").send(new Bank.Open("ann", 300)));
        assertThatThrownBy(() -> bank(at("north").folder(temp.resolve("copy"))))
                .isInstanceOf(ServiceException.class)
                .hasMessageContaining("/apps/north runs at " + north.address());
        assertThat(balance(client("north"), "ann")).isEqualTo(300);
    }

    @Test
    void aMessageIsAsLargeAsFramesAllow() throws Exception {
        NetOptions plain = NetOptions.plain();
        NetOptions small =
                new NetOptions(
                        8 << 10,
                        plain.unsentBytes(),
                        plain.untakenBytes(),
                        plain.connections(),
                        plain.strangers(),
                        plain.connectTimeout(),
                        plain.helloTimeout(),
                        plain.silence(),
                        plain.backoffMin(),
                        plain.backoffMax(),
                        plain.tls());
        RunningService bank = bank(at("north").net(small));
        Client teller = at("north").net(small).client("teller", temp.resolve("small"));
        open.add(teller);
        assertThatThrownBy(() -> teller.send(new Bank.Open("a".repeat(9_000), 1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at most 6144 are allowed");
        get(teller.send(new Bank.Open("a".repeat(5_000), 1)));
        assertThat(bank.status().turn()).isPositive();
    }

    @Test
    void aLaterAnswerToAClientThatHasGoneGoesNowhere() throws Exception {
        RunningService bank = bank("north");
        Client gone = at("north").client();
        CompletableFuture<Bank.Released> released =
                gone.ask(new Bank.Wait("noon"), Bank.Released.class);
        await().until(() -> bank.status().turn() > 0);
        gone.close();
        await().until(released::isDone);
        // Not before: its pair is recorded by a turn, too.
        Client teller = client("teller", "north");
        get(teller.send(new Bank.Release("noon")));
        assertThat(bank.status().deadLetters()).isEmpty();
    }

    @Test
    void whoHearsAnAnswerMayWaitForAnother() throws Exception {
        bank("north");
        for (Client client : List.of(client("teller", "north"), client("north"))) {
            Bank.Cents cents =
                    get(
                            client.ask(new Bank.Open("ann", 7), Bank.Done.class)
                                    .thenApply(
                                            done ->
                                                    client.ask(
                                                                    new Bank.Balance("ann"),
                                                                    Bank.Cents.class)
                                                            .join()));
            assertThat(cents.cents()).isEqualTo(7);
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(from.relativize(file).toString()));
            }
        }
    }

    @Test
    void twoServicesOfOneNameDoNotRun() throws Exception {
        bank("north");
        assertThatThrownBy(() -> bank("north"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("in use by this process");
        assertThatThrownBy(() -> bank(at("north").folder(temp.resolve("other"))))
                .isInstanceOf(ServiceException.class)
                .hasMessageContaining("the name /apps/north is taken");
    }

    @Test
    void withoutTheEnsembleARunningServiceGoesOn() throws Exception {
        bank("north");
        bank("south");
        Client teller = client("teller", "north");
        Client reader = client("south");
        get(teller.send(new Bank.Open("ann", 100)));
        get(teller.send(new Bank.Transfer("t1", "ann", "south", "bob", 30)));
        await().until(() -> balance(reader, "bob") == 30);
        server.stop();
        get(teller.send(new Bank.Transfer("t2", "ann", "south", "bob", 30)));
        await().until(() -> balance(reader, "bob") == 60);
    }

    @Test
    void whoMayNotSendIsTold() throws Exception {
        bank(at("north").allow(Bank.Credit.class, "south"));
        Client teller = client("teller", "north");
        CompletableFuture<Void> credit = teller.send(new Bank.Credit("c1", "ann", 1_000_000));
        assertThatThrownBy(() -> get(credit))
                .isInstanceOf(ExecutionException.class)
                .hasMessageContaining("you may not send Credit to north");
        CompletableFuture<Void> plain =
                client("north").send(new Bank.Credit("c1", "ann", 1_000_000));
        assertThatThrownBy(() -> get(plain))
                .isInstanceOf(ExecutionException.class)
                .hasMessageContaining("you may not send Credit to north");
        assertThat(balance(client("north"), "ann")).isZero();
    }

    @Test
    void callsToTheWorldAreMadeAndAnswered() throws Exception {
        post.add("hello");
        bank("north");
        Client teller = client("teller", "north");
        get(teller.send(new Bank.Letter("hello")));
        Client reader = client("north");
        await().until(
                        () ->
                                get(reader.ask(new Bank.Stamps(), Bank.Stamped.class))
                                        .stamps()
                                        .equals(List.of("hello")));
        assertThat(calls).hasSize(1);
    }

    @Test
    void writesToTheEnsembleHappenOnceAndAreTold() throws Exception {
        RunningService bank = bank("north");
        Client teller = client("teller", "north");
        Client reader = client("north");
        get(teller.send(new Bank.Audit("/audit-1", "first")));
        get(teller.send(new Bank.Audit("/audit-1", "again")));
        await().until(
                        () ->
                                get(reader.ask(new Bank.Stamps(), Bank.Stamped.class))
                                        .stamps()
                                        .equals(
                                                List.of(
                                                        "/audit-1 true",
                                                        "/audit-1 falseNODEEXISTS")));
        server.stop();
        get(teller.send(new Bank.Audit("/audit-2", "while nobody answers")));
        bank.close();
        server.start();
        bank("north");
        Client again = client("north");
        await().until(
                        () ->
                                get(again.ask(new Bank.Stamps(), Bank.Stamped.class))
                                        .stamps()
                                        .contains("/audit-2 true"));
        ZooKeeper zooKeeper = new ZooKeeper(server.connect(), 30_000, event -> {});
        assertThat(zooKeeper.getData("/audit-1", false, null)).asString().isEqualTo("first");
        assertThat(zooKeeper.exists("/once/apps.north", false)).isNotNull();
        zooKeeper.close();
    }

    @Test
    void servicesWithoutAnEnsembleFindEachOtherByAddress() throws Exception {
        RunningService south =
                bank(
                        Services.without("south", Map.of())
                                .folder(temp.resolve("s"))
                                .segmentBytes(SEGMENT_BYTES));
        RunningService north =
                bank(
                        Services.without("north", Map.of("south", south.address()))
                                .folder(temp.resolve("n"))
                                .segmentBytes(SEGMENT_BYTES));
        Client teller =
                Services.without("north", Map.of("north", north.address()))
                        .client("teller", temp.resolve("t"));
        open.add(teller);
        get(teller.send(new Bank.Open("ann", 100)));
        get(teller.send(new Bank.Transfer("t1", "ann", "south", "bob", 30)));
        Client reader = Services.without("south", Map.of("south", south.address())).client();
        open.add(reader);
        await().until(() -> balance(reader, "bob") == 30);
    }

    /** It is in an artifact that is not on this class path. */
    @Test
    void httpNeedsItsArtifact() {
        assertThatThrownBy(() -> at("north").statusPage(0))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("saucr-services-http");
        assertThatThrownBy(() -> at("north").http(new Address("localhost", 0)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("saucr-services-http");
    }

    @Test
    void placesThatAreNoneAreRefused() {
        assertThatThrownBy(() -> Services.at("zk1:2181"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("as in zk1:2181,zk2:2181/apps/bank-eu");
        assertThatThrownBy(() -> Services.at("zk1:2181/apps/"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("is no path: Path must not end with");
        assertThatThrownBy(() -> Services.at("zk1:2181/apps//bank"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("is no path");
        assertThatThrownBy(() -> Services.at("zk1:2181/apps/ba#nk"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("without '/' and '#'");
    }
}
