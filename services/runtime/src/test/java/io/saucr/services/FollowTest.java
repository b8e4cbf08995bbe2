package io.saucr.services;

import static io.saucr.services.once.PatientWaits.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.ensemble.TestServer;
import io.saucr.services.wire.NetOptions;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Clients follow a service to another address at once, whatever became of the old one. All pauses
 * and patience of theirs are a minute, which is longer than these tests wait.
 */
class FollowTest {

    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final int SEGMENT_BYTES = 1 << 20;

    @TempDir private Path temp;

    private final List<AutoCloseable> open = new ArrayList<>();
    private TestServer server;
    private ZooKeeper writer;

    /** A number for the list of it, or to be sent on. */
    public record Add(int number, String filler, String to) {}

    /** How many there are with this one. */
    public record Added(int count) {}

    /** Which numbers there are. */
    public record Ask() {}

    /** All numbers in the order in which they came. */
    public record Numbers(List<Integer> all) {}

    private static final class Row implements Service {

        private final ListState<Integer> numbers;

        Row(State state) {
            numbers = state.list("numbers", Integer.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Add.class,
                    (add, turn) -> {
                        if (!add.to().isEmpty()) {
                            turn.send(add.to(), new Add(add.number(), add.filler(), ""));
                        } else {
                            numbers.add(add.number());
                        }
                        turn.reply(new Added(numbers.size()));
                    });
            on.message(Added.class, (added, turn) -> {});
            on.query(
                    Ask.class,
                    (ask, turn) -> {
                        List<Integer> all = new ArrayList<>();
                        numbers.forEach(all::add);
                        return new Numbers(all);
                    });
        }
    }

    @BeforeEach
    void startServer() throws Exception {
        server = new TestServer(temp.resolve("zookeeper"));
        writer = new ZooKeeper(server.connect(), 30_000, event -> {});
        open.add(server);
        open.add(() -> writer.close(1_000));
        for (String path : List.of("/apps", "/apps/row", "/apps/row/at")) {
            writer.create(path, null, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        }
    }

    @AfterEach
    void closeAll() throws Exception {
        Collections.reverse(open);
        for (AutoCloseable each : open) {
            each.close();
        }
    }

    private void moveTo(Address address) throws Exception {
        Stat unused = writer.setData("/apps/row/at", address.toString().getBytes(UTF_8), -1);
    }

    private RunningService service(String name, Map<String, Address> others) throws Exception {
        RunningService running =
                Services.without(name, others)
                        .folder(temp.resolve(name))
                        .segmentBytes(SEGMENT_BYTES)
                        .listen(new Address("127.0.0.1", 0))
                        .run(Row::new, Protection.local());
        open.add(running);
        return running;
    }

    private <T extends AutoCloseable> T opened(T thing) {
        open.add(thing);
        return thing;
    }

    /** One of each kind: in memory, with a folder, without a birth. */
    private List<Client> clients() throws Exception {
        NetOptions plain = NetOptions.plain();
        NetOptions patient =
                new NetOptions(
                        plain.frameBytes(),
                        plain.unsentBytes(),
                        plain.untakenBytes(),
                        plain.connections(),
                        plain.strangers(),
                        MINUTE,
                        MINUTE,
                        MINUTE,
                        MINUTE,
                        MINUTE,
                        Optional.empty());
        Services row = Services.at(server.connect() + "/apps/row").net(patient);
        return List.of(
                opened(row.client("memory")),
                opened(row.client("folder", temp.resolve("client"))),
                opened(row.client()));
    }

    private static CompletableFuture<Added> add(Client client, int number) {
        return client.ask(new Add(number, "", ""), Added.class);
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(30, SECONDS);
    }

    private static List<Integer> numbers(Client client) throws Exception {
        return get(client.ask(new Ask(), Numbers.class)).all();
    }

    @Test
    void callsLeaveAnAddressThatHangs() throws Exception {
        RunningService row = service("row", Map.of());
        Freezer old = opened(new Freezer(row.address()));
        moveTo(old.address());
        List<Client> clients = clients();
        for (Client client : clients) {
            get(add(client, 0));
        }
        old.freeze();
        List<CompletableFuture<Added>> underWay = new ArrayList<>();
        for (Client client : clients) {
            underWay.add(add(client, 1));
        }
        moveTo(row.address());
        get(underWay.get(0));
        get(underWay.get(1));
        // Nobody knows of the third, which has no birth.
        assertThatThrownBy(() -> get(underWay.get(2)))
                .hasMessageContainingAll(
                        "sent and not answered", "unknown", "row has moved to " + row.address());
        assertThat(get(add(clients.get(2), 2)).count()).isEqualTo(6);
        assertThat(numbers(clients.get(0))).containsExactly(0, 0, 0, 1, 1, 2);
    }

    @Test
    void nobodyWaitsForAConnectionWithAnOldAddress() throws Exception {
        RunningService row = service("row", Map.of());
        // Who comes after these gets no answer, not even a refusal.
        ServerSocket full = opened(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()));
        for (boolean answers = true; answers; ) {
            Socket socket = opened(new Socket());
            try {
                socket.connect(
                        new InetSocketAddress(full.getInetAddress(), full.getLocalPort()), 200);
            } catch (SocketTimeoutException e) {
                answers = false;
            }
        }
        moveTo(new Address("127.0.0.1", full.getLocalPort()));
        List<CompletableFuture<Added>> waiting = new ArrayList<>();
        for (Client client : clients()) {
            waiting.add(add(client, 1));
        }
        moveTo(row.address());
        for (CompletableFuture<Added> each : waiting) {
            get(each);
        }
    }

    @Test
    void nobodyPausesAfterFailuresOfAnOldAddress() throws Exception {
        RunningService row = service("row", Map.of());
        List<Client> clients;
        List<CompletableFuture<Added>> waiting = new ArrayList<>();
        try (ServerSocket ends = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            moveTo(new Address("127.0.0.1", ends.getLocalPort()));
            clients = clients();
            for (Client client : clients) {
                waiting.add(add(client, 1));
                ends.accept().close();
            }
        }
        moveTo(row.address());
        for (CompletableFuture<Added> each : waiting) {
            get(each);
        }
    }

    @Test
    void aLinkThatHangsHoldsUpNoOther() throws Exception {
        RunningService quick = service("quick", Map.of());
        RunningService slow = service("slow", Map.of());
        Freezer link = opened(new Freezer(slow.address()));
        RunningService row =
                service("row", Map.of("slow", link.address(), "quick", quick.address()));
        moveTo(row.address());
        Client caller = clients().get(0);
        Client ofSlow = opened(Services.without("slow", Map.of("slow", slow.address())).client());
        Client ofQuick =
                opened(Services.without("quick", Map.of("quick", quick.address())).client());
        get(caller.ask(new Add(0, "", "slow"), Added.class));
        await().until(() -> numbers(ofSlow).equals(List.of(0)));
        link.freeze();
        String filler = "x".repeat(100_000);
        List<Integer> expected = new ArrayList<>();
        for (int number = 1; number <= 80; number++) {
            CompletableFuture<Added> one = caller.ask(new Add(number, filler, "slow"), Added.class);
            get(caller.ask(new Add(number, "", "quick"), Added.class));
            get(one);
            expected.add(number);
        }
        await().until(() -> numbers(ofQuick).equals(expected));
        assertThat(numbers(ofSlow)).isEqualTo(List.of(0));
        link.thaw();
        expected.add(0, 0);
        await().atMost(Duration.ofSeconds(30)).until(() -> numbers(ofSlow).equals(expected));
    }
}
