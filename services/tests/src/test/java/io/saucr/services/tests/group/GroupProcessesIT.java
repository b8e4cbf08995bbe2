package io.saucr.services.tests.group;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.saucr.ensemble.LineProcess;
import io.saucr.services.Client;
import io.saucr.services.Services;
import io.saucr.services.ensemble.GroupOrder;
import io.saucr.services.ensemble.ServicePath;
import io.saucr.services.tests.crash.Member;
import io.saucr.services.turns.Place;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three members of a group as processes, which run by {@code Protection.speculative}, over a server
 * of ZooKeeper. Bookings go through all of them while they are killed: each is booked and charged
 * once everywhere.
 */
class GroupProcessesIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int TICK_MILLIS = 500;

    @TempDir private Path work;

    private final Map<String, TravelProcess> members = new TreeMap<>();
    private final List<Client> clients = new ArrayList<>();

    /** "service id call" of each call that was made. */
    private final Set<String> charged = ConcurrentHashMap.newKeySet();

    private NIOServerCnxnFactory ensemble;
    private String apps;

    /** One service, through its processes. */
    private final class TravelProcess {

        final String name;
        final List<String> command;
        LineProcess lines;

        TravelProcess(String name, long everyMillis) throws IOException {
            this.name = name;
            List<String> flags = new ArrayList<>(Member.SMALL_JVM);
            flags.addAll(
                    List.of(
                            "-XX:-UsePerfData",
                            "-Dlogback.configurationFile=io/saucr/services/tests/crash/logback.xml"));
            command =
                    LineProcess.java(
                            flags,
                            TravelProgram.class.getName(),
                            apps + "/" + name,
                            work.resolve(name).toString(),
                            "/groups/travel",
                            Long.toString(everyMillis));
            members.put(name, this);
            start();
        }

        void start() throws IOException {
            lines =
                    new LineProcess(
                            name,
                            command,
                            Map.of(),
                            work.resolve(name + ".log"),
                            PATIENCE,
                            line -> {
                                if (line.startsWith("charged ")) {
                                    charged.add(name + line.substring("charged".length()));
                                }
                            });
            String unused = lines.await(0, "started");
        }

        /** SIGKILL. */
        void kill() {
            lines.close();
        }

        String status() {
            return lines.ask("status", "status ");
        }

        List<Integer> booked() throws Exception {
            try (Client asks = Services.at(apps + "/" + name).client()) {
                return asks.ask(new Travel.Asked(), Travel.Bookings.class)
                        .get(PATIENCE.toSeconds(), SECONDS)
                        .ids();
            }
        }
    }

    @BeforeEach
    void startEnsemble() throws Exception {
        Path data = Files.createDirectories(work.resolve("zookeeper"));
        ensemble = new NIOServerCnxnFactory();
        ensemble.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 200);
        ensemble.startup(new ZooKeeperServer(data.toFile(), data.toFile(), TICK_MILLIS));
        apps = "127.0.0.1:" + ensemble.getLocalPort() + "/apps";
    }

    @AfterEach
    void end() throws Exception {
        for (Client each : clients) {
            each.close();
        }
        members.values().forEach(TravelProcess::kill);
        ensemble.shutdown();
    }

    private void start(long everyMillis) throws IOException {
        for (String name : List.of("trips", "hotels", "cars")) {
            TravelProcess unused = new TravelProcess(name, everyMillis);
        }
    }

    /** One that asks again over another link. */
    private Client client(String name, String service) throws IOException {
        Client client = Services.at(apps + "/" + service).client(name);
        clients.add(client);
        return client;
    }

    private static CompletableFuture<Travel.Booked> book(Client at, int id, String... next) {
        return at.ask(new Travel.Book(id, List.of(next)), Travel.Booked.class);
    }

    private static void get(CompletableFuture<Travel.Booked> call, int id) throws Exception {
        assertThat(call.get(PATIENCE.toSeconds(), SECONDS)).isEqualTo(new Travel.Booked(id));
    }

    /**
     * What a member has not written is lost with its process, and what depended on it is undone. A
     * machine under load may be slower than the 200 ms in which that is so.
     */
    @Test
    void turnsOfOthersThatDependedOnALossAreUndoneAndRunAgain() throws Exception {
        start(200);
        Client ann = client("ann", "trips");
        get(book(ann, 0, "hotels", "cars"), 0);
        TravelProcess trips = members.get("trips");
        int chains = 0;
        while (rollbacks("hotels") == 0) {
            assertThat(chains).isLessThan(40);
            await().atMost(PATIENCE).until(() -> trips.status().contains("early=true"));
            // Its version is sealed at once; the next one is open for a while.
            get(book(ann, 1_000 + chains), 1_000 + chains);
            int id = ++chains;
            CompletableFuture<Travel.Booked> last = book(ann, id, "hotels", "cars");
            String unused = members.get("cars").lines.await(0, "handled " + id);
            trips.kill();
            trips.start();
            get(last, id);
        }
        assertThat(Files.readString(work.resolve("hotels").resolve("undone.log")))
                .contains("are undone, as version ")
                .contains(" of trips, which has kept its versions up to ")
                .containsPattern(": message [0-9]+ of trips; had sent 1 to cars, calls: 1");
        assertThat(work.resolve("trips/undone.log")).doesNotExist();
        for (String name : List.of("hotels", "cars")) {
            assertThat(members.get(name).booked())
                    .as(name)
                    .containsExactlyElementsOf(IntStream.rangeClosed(0, chains).boxed().toList());
        }
        int all = 3 + 4 * chains;
        await().atMost(PATIENCE).until(() -> charged.size() >= all);
        assertThat(charged).hasSize(all);
    }

    private int rollbacks(String name) {
        String after = members.get(name).status().replaceAll(".*rollbacks=", "");
        return Integer.parseInt(after.substring(0, after.indexOf(' ')));
    }

    /** Each member is killed while bookings go through all of them in both directions. */
    @Test
    void whicheverMemberIsKilledEachBookingHappensOnce() throws Exception {
        start(2);
        Client ann = client("ann", "trips");
        Client bob = client("bob", "cars");
        List<CompletableFuture<Travel.Booked>> anns = new ArrayList<>();
        List<CompletableFuture<Travel.Booked>> bobs = new ArrayList<>();
        for (String name : List.of("trips", "hotels", "cars")) {
            for (int count = 0; count < 50; count++) {
                anns.add(book(ann, anns.size(), "hotels", "cars"));
                bobs.add(book(bob, 1_000 + bobs.size(), "hotels", "trips"));
            }
            TravelProcess dies = members.get(name);
            int newest = anns.size() - 20;
            // Some of it is under way then.
            get(anns.get(newest), newest);
            dies.kill();
            dies.start();
        }
        for (int index = 0; index < anns.size(); index++) {
            get(anns.get(index), index);
            get(bobs.get(index), 1_000 + index);
        }
        int all = anns.size();
        for (TravelProcess each : members.values()) {
            List<Integer> booked = each.booked();
            assertThat(booked.stream().filter(it -> it < 1_000))
                    .as(each.name)
                    .containsExactlyElementsOf(IntStream.range(0, all).boxed().toList());
            assertThat(booked.stream().filter(it -> it >= 1_000))
                    .as(each.name)
                    .containsExactlyElementsOf(
                            IntStream.range(1_000, 1_000 + all).boxed().toList());
        }
        await().atMost(PATIENCE).until(() -> charged.size() >= 3 * 2 * all);
        assertThat(charged).hasSize(3 * 2 * all);
    }

    /** The disk of one is lost, and another one fails: the group waits until an operator orders. */
    @Test
    void aGroupContinuesWithoutAMemberThatIsGivenUp() throws Exception {
        start(2);
        Client ann = client("ann", "trips");
        get(book(ann, 1, "hotels", "cars"), 1);
        for (TravelProcess each : members.values()) {
            each.kill();
        }
        members.remove("cars");
        CompletableFuture<Void> trips = startLater("trips");
        CompletableFuture<Void> hotels = startLater("hotels");
        await().atMost(PATIENCE)
                .until(
                        () ->
                                log("trips").contains("Start [cars]")
                                        || log("hotels").contains("Start [cars]"));
        assertThat(trips.isDone() || hotels.isDone()).isFalse();
        ServicePath place =
                Place.at(apps.replace("/apps", "/groups/travel"), Optional.empty())
                        .servicePath(Optional.empty());
        try (GroupOrder order = new GroupOrder(place)) {
            await().atMost(PATIENCE).until(() -> giveUp(order, "cars"));
        }
        trips.get(PATIENCE.toSeconds(), SECONDS);
        hotels.get(PATIENCE.toSeconds(), SECONDS);
        get(book(ann, 2, "hotels"), 2);
        for (String name : List.of("trips", "hotels")) {
            assertThat(members.get(name).booked()).as(name).containsExactly(1, 2);
        }
        // The next failure does not wait for it either.
        members.get("hotels").kill();
        members.get("hotels").start();
        get(book(ann, 3, "hotels"), 3);
        await().atMost(PATIENCE).until(() -> charged.size() >= 7);
        assertThat(charged).hasSize(7);
    }

    private CompletableFuture<Void> startLater(String name) {
        return CompletableFuture.runAsync(
                () -> {
                    try {
                        members.get(name).start();
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                });
    }

    private String log(String name) throws IOException {
        return Files.readString(work.resolve(name + ".log"));
    }

    /** What the command does. */
    private static boolean giveUp(GroupOrder order, String name) throws Exception {
        GroupOrder.Found found = order.look().orElseThrow();
        return order.giveUp(found, found.head().indexOf(name).orElseThrow());
    }

    /** A member that is stopped leaves: the others run, and may be started without it. */
    @Test
    void aMemberThatLeavesIsWaitedForByNobody() throws Exception {
        start(2);
        Client ann = client("ann", "trips");
        get(book(ann, 1, "hotels", "cars"), 1);
        assertThat(members.get("cars").lines.ask("stop", "stopped")).isEqualTo("stopped");
        members.get("cars").kill();
        get(book(ann, 2, "hotels"), 2);
        members.get("trips").kill();
        members.get("trips").start();
        get(book(ann, 3, "hotels"), 3);
        members.get("cars").start();
        get(book(ann, 4, "hotels", "cars"), 4);
        assertThat(members.get("cars").booked()).containsExactly(1, 4);
        assertThat(members.get("trips").booked()).containsExactly(1, 2, 3, 4);
    }
}
