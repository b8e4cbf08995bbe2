package io.saucr.services.standby;

import static io.saucr.services.once.PatientWaits.await;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.Address;
import io.saucr.services.Client;
import io.saucr.services.DataLoss;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.ServiceException;
import io.saucr.services.Services;
import io.saucr.services.ensemble.TestServer;
import io.saucr.services.journal.RefusedFolderException;
import io.saucr.services.standby.StandbyServiceTest.Get;
import io.saucr.services.standby.StandbyServiceTest.Now;
import io.saucr.services.standby.StandbyServiceTest.Numbers;
import io.saucr.services.standby.StandbyServiceTest.Put;
import io.saucr.services.standby.StandbyServiceTest.Was;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** C17: a loss is accepted by an order that names it, and by nothing else. */
class MemberLossTest {

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

    private Services place(String folder) {
        return Services.at(server.connect() + "/apps/numbers")
                .folder(work.resolve(folder))
                .listen(new Address("127.0.0.1", 0))
                .sessionTimeout(Duration.ofSeconds(4));
    }

    private RunningService run(String folder) throws Exception {
        return place(folder).run(Numbers::new, Protection.standby());
    }

    private String head() throws Exception {
        return new String(
                zooKeeper.getData("/apps/numbers/head", false, null), StandardCharsets.UTF_8);
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(30, SECONDS);
    }

    private static long put(Client client, long value) throws Exception {
        return get(client.ask(new Put("a", value), Was.class)).value();
    }

    private static long got(Client client) throws Exception {
        return get(client.ask(new Get("a"), Now.class)).value();
    }

    /** Member one goes on with values 3 and 4, which two does not have; both have stopped then. */
    private void lose(Client client) throws Exception {
        RunningService one = run("one");
        assertThat(put(client, 1)).isZero();
        try (RunningService two = run("two")) {
            await().until(() -> one.status().member().followers().size() == 1);
            await().until(() -> put(client, 2) == 2 && two.status().member().applied() > 0);
            await().until(() -> two.status().member().stored() == one.status().member().segment());
        }
        await().until(() -> one.status().member().followers().isEmpty());
        assertThat(put(client, 3)).isEqualTo(2);
        assertThat(put(client, 4)).isEqualTo(3);
        one.close();
        Files.move(work.resolve("one"), work.resolve("lost"));
    }

    private List<String> givenUp(String folder) throws IOException {
        try (Stream<Path> files = Files.walk(work.resolve(folder))) {
            return files.map(it -> it.getFileName().toString())
                    .filter(it -> it.endsWith(".given-up"))
                    .toList();
        }
    }

    @Test
    void theServiceGoesOnWithoutWhatIsLostAndEverybodyIsTold() throws Exception {
        try (Client client = place("client").client("asker", work.resolve("client"))) {
            lose(client);
            String before = head();
            try (RunningService two = run("two")) {
                await().until(() -> two.status().member().lacks().contains("segment"));
                assertThatThrownBy(() -> place("two").dataLoss())
                        .isInstanceOf(RefusedFolderException.class)
                        .hasMessageContaining("in use");
            }
            DataLoss order = place("two").dataLoss();
            String token = order.token().orElseThrow();
            assertThat(order.refusal()).isEmpty();
            assertThat(String.join("\n", order.report()))
                    .contains(" has it, as the head says, and is not there")
                    .contains("It would continue after segment")
                    .contains("Lost: turns ");
            assertThat(token).matches("lose-[0-9]+-to-[0-9]+-[0-9a-f]{8}");
            assertThatThrownBy(() -> order.give(token.replaceFirst(".$", "x")))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("the loss is " + token + " now");
            assertThat(head()).isEqualTo(before);

            CompletableFuture<Was> waits = client.ask(new Put("a", 9), Was.class);
            String birth = order.give(token);
            assertThat(head()).contains("birth=" + birth).contains(" replaces=");
            // As after a crash behind the one write: it was given.
            assertThat(place("two").dataLoss().refusal().orElseThrow())
                    .contains("accepted already", "Start this member");

            RunningService two = run("two");
            assertThatThrownBy(() -> get(waits))
                    .isInstanceOf(ExecutionException.class)
                    .hasMessageContaining("perhaps consumed");
            assertThat(got(client)).isEqualTo(2);
            assertThat(put(client, 5)).isEqualTo(2);
            assertThat(two.status().generation()).isEqualTo(birth);
            assertThat(givenUp("two")).isEmpty();

            // Who has what was lost comes back: it follows, and keeps that aside.
            Files.move(work.resolve("lost"), work.resolve("one"));
            try (RunningService one = run("one");
                    RunningService three = run("three")) {
                await().until(() -> two.status().member().followers().size() == 2);
                assertThat(one.status().member().role()).isEqualTo("standby");
                assertThat(givenUp("one")).isNotEmpty();
                assertThat(givenUp("three")).isEmpty();
                assertThat(put(client, 6)).isEqualTo(5);
                two.close();
                assertThat(put(client, 7)).isEqualTo(6);
                await().until(
                                () ->
                                        one.status().member().followers().size() == 1
                                                || three.status().member().followers().size() == 1);
                (one.status().member().role().equals("primary") ? one : three).close();
                assertThat(got(client)).isEqualTo(7);
                assertThat(put(client, 8)).isEqualTo(7);
            }
        }
    }

    @Test
    void nothingIsGivenUpWhileSomebodyIsInOffice() throws Exception {
        try (Client client = place("client").client("asker");
                RunningService one = run("one")) {
            try (RunningService two = run("two")) {
                await().until(() -> one.status().member().followers().size() == 1);
                await().until(() -> put(client, 1) == 1);
                await().until(() -> two.status().member().stored() > 0);
            }
            await().until(() -> one.status().member().followers().isEmpty());
            assertThat(put(client, 2)).isEqualTo(1);
            DataLoss order = place("two").dataLoss();
            assertThat(order.refusal().orElseThrow())
                    .contains("somebody is primary", "serves at " + one.address());
            assertThat(order.token()).isEmpty();
            // It lives, whatever became of what it announced.
            zooKeeper.delete("/apps/numbers/at", -1);
            zooKeeper.delete("/apps/numbers/members/" + one.status().member().member(), -1);
            assertThat(order.refusal()).isPresent();
            assertThatThrownBy(() -> order.give("lose-1-to-2-00000000"))
                    .isInstanceOf(ServiceException.class)
                    .hasMessageContaining("somebody is primary", "Nothing was changed");
            assertThat(got(client)).isEqualTo(2);
        }
    }

    @Test
    void whatIsNoMembersFolderIsRefusedAndNoneIsMade() {
        assertThatThrownBy(() -> place("nowhere").dataLoss())
                .isInstanceOf(RefusedFolderException.class)
                .hasMessageContaining("not the folder of a member");
        assertThat(work.resolve("nowhere")).doesNotExist();
    }

    @Test
    void withoutAHeadThereIsNothingToAccept() throws Exception {
        run("one").close();
        zooKeeper.delete("/apps/numbers/head", -1);
        assertThatThrownBy(() -> place("one").dataLoss())
                .isInstanceOf(ServiceException.class)
                .hasMessageContaining("there is no head at /apps/numbers");
    }
}
