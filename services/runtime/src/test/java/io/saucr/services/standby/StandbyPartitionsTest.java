package io.saucr.services.standby;

import static io.saucr.services.once.PatientWaits.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.Address;
import io.saucr.services.Asks;
import io.saucr.services.Client;
import io.saucr.services.Handlers;
import io.saucr.services.Keyed;
import io.saucr.services.MapState;
import io.saucr.services.Partitions;
import io.saucr.services.Protection;
import io.saucr.services.RunningPartitions;
import io.saucr.services.Service;
import io.saucr.services.ServiceException;
import io.saucr.services.Services;
import io.saucr.services.State;
import io.saucr.services.ensemble.TestServer;
import io.saucr.services.once.FreePorts;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** K18: partitions with standbys, at a real server. */
class StandbyPartitionsTest {

    private static final int COUNT = 3;
    private static final int KEYS = 12;

    record Add(String key, long cents) implements Keyed, Asks<Sum> {}

    record Sum(long cents) {}

    static final class Sums implements Service {

        private final MapState<String, Long> sums;

        Sums(State state) {
            sums = state.map("sums", String.class, Long.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Add.class,
                    (add, turn) ->
                            turn.reply(new Sum(sums.merge(add.key(), add.cents(), Long::sum))));
        }
    }

    @TempDir private Path data;

    private final List<String> halts = new CopyOnWriteArrayList<>();
    private final List<AutoCloseable> opened = new ArrayList<>();
    private TestServer server;

    @BeforeEach
    void startServer() throws Exception {
        server = new TestServer(Files.createDirectory(data.resolve("server")));
    }

    @AfterEach
    void stop() throws Exception {
        for (int last = opened.size() - 1; last >= 0; last--) {
            opened.get(last).close();
        }
        server.close();
    }

    private Partitions at(String folder) {
        return Services.at(server.connect() + "/apps/sums")
                .folder(data.resolve(folder))
                .sessionTimeout(Duration.ofSeconds(4))
                .onHalt((reason, cause) -> halts.add(reason))
                .partitions(COUNT);
    }

    private RunningPartitions run(String folder, int... which) throws Exception {
        RunningPartitions running = at(folder).run(Sums::new, Protection.standby(), which);
        opened.add(running);
        return running;
    }

    private Client client() throws Exception {
        Client client = at("client").client("teller");
        opened.add(client);
        return client;
    }

    /** Adds to each key; each has got as much so far. */
    private static void add(Client client, long soFar) {
        List<CompletableFuture<Sum>> all = new ArrayList<>();
        for (int key = 0; key < KEYS; key++) {
            all.add(client.ask(new Add("key" + key, 1)));
        }
        all.forEach(it -> assertThat(it.join()).isEqualTo(new Sum(soFar + 1)));
    }

    private static boolean isPrimary(RunningPartitions of, int number) {
        return of.partition(number).status().member().role().equals("primary");
    }

    private static void awaitCopies(RunningPartitions primaries, int number) {
        await().until(() -> primaries.partition(number).status().member().followers().size() == 1);
    }

    private static int key(Partitions of, int partition) {
        int key = 0;
        while (of.of("key" + key) != partition) {
            key++;
        }
        return key;
    }

    @Test
    void eachPartitionHasAPrimaryOfItsOwnAndAnotherMemberContinues() throws Exception {
        RunningPartitions one = run("one");
        Client client = client();
        add(client, 0);
        RunningPartitions two = run("two");
        assertThat(two.here()).containsExactly(0, 1, 2);
        for (int number : one.here()) {
            assertThat(isPrimary(one, number)).isTrue();
            assertThat(isPrimary(two, number)).isFalse();
            awaitCopies(one, number);
        }
        one.partition(1).handOver(Optional.empty());
        await().until(() -> isPrimary(two, 1));
        assertThat(isPrimary(one, 0)).isTrue();
        add(client, 1);

        awaitCopies(two, 1);
        one.close();
        add(client, 2);
        for (int number : two.here()) {
            assertThat(isPrimary(two, number)).isTrue();
        }
        assertThat(halts).isEmpty();
    }

    @Test
    void aMemberOfOnePartitionEndsAndReturns() throws Exception {
        RunningPartitions one = run("one");
        Client client = client();
        add(client, 0);
        RunningPartitions two = run("two", 1);
        assertThat(two.here()).containsExactly(1);
        awaitCopies(one, 1);
        one.release(1);
        assertThat(one.here()).containsExactly(0, 2);
        add(client, 1);
        assertThat(isPrimary(two, 1)).isTrue();

        one.take(1);
        awaitCopies(two, 1);
        two.release(1);
        add(client, 2);
        assertThat(isPrimary(one, 1)).isTrue();
        assertThatThrownBy(() -> one.take(1)).hasMessage("partition 1 runs here already");
        assertThatThrownBy(() -> two.release(1)).hasMessageContaining("1 does not run here");
    }

    /** C17: it must not make another head; the others have theirs. */
    @Test
    void aPartitionWhoseHeadIsLostHaltsAlone() throws Exception {
        RunningPartitions one = run("one");
        Client client = client();
        add(client, 0);
        ZooKeeper admin = new ZooKeeper(server.connect(), 10_000, event -> {});
        admin.delete("/apps/sums.1/head", -1);
        admin.close();
        CompletableFuture<Sum> lost = client.ask(new Add("key" + key(at("client"), 1), 1));
        await().until(() -> one.partition(1).halted().isPresent());
        assertThat(halts).hasSize(1);
        assertThatThrownBy(one::join).isInstanceOf(ServiceException.class);
        for (int number : List.of(0, 2)) {
            Add more = new Add("key" + key(at("client"), number), 1);
            assertThat(client.ask(more).join()).isEqualTo(new Sum(2));
        }
        assertThat(lost).isNotDone();
    }

    @Test
    void othersReachThePartitionsMembersAtPortsInARow() throws Exception {
        int first = FreePorts.inARow(COUNT);
        Protection.Standby standby = Protection.standby().members(new Address("localhost", first));
        RunningPartitions one = at("one").run(Sums::new, standby);
        opened.add(one);
        RunningPartitions two = run("two");
        for (int number = 0; number < COUNT; number++) {
            awaitCopies(one, number);
            ZooKeeper reader = new ZooKeeper(server.connect(), 10_000, event -> {});
            String head =
                    new String(
                            reader.getData("/apps/sums." + number + "/head", false, null), UTF_8);
            reader.close();
            assertThat(head).contains("localhost:" + (first + number));
        }
        assertThat(two.here()).hasSize(COUNT);
    }

    @Test
    void whatCannotRunIsRefused() throws Exception {
        assertThatThrownBy(() -> run("one", 3)).hasMessageContaining("not one with number 3");
        assertThatThrownBy(
                        () ->
                                Services.without("sums", Map.of())
                                        .partitions(2)
                                        .run(Sums::new, Protection.standby()))
                .hasMessageContaining("sums has standbys, and needs an ensemble");
        run("one").close();
        assertThatThrownBy(
                        () ->
                                Services.at(server.connect() + "/apps/sums")
                                        .folder(data.resolve("two"))
                                        .partitions(4)
                                        .run(Sums::new, Protection.standby()))
                .hasMessageContaining("/apps/sums has 3 partitions, not 4");
        // Partitions keep their protection, too.
        assertThatThrownBy(() -> at("one").run(Sums::new, Protection.local()))
                .isInstanceOf(Exception.class)
                .hasMessageContaining("sums.");
    }
}
