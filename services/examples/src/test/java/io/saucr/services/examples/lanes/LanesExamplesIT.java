package io.saucr.services.examples.lanes;

import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.saucr.services.Address;
import io.saucr.services.Bytes;
import io.saucr.services.Client;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.Services;
import io.saucr.services.examples.lanes.LockServer.Acquire;
import io.saucr.services.examples.lanes.LockServer.Lease;
import io.saucr.services.examples.lanes.LockServer.Look;
import io.saucr.services.examples.lanes.LockServer.Release;
import io.saucr.services.replay.LaneService;
import io.saucr.services.replay.LaneState;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The services with lanes, each with a standby that continues. */
@Timeout(180)
class LanesExamplesIT {

    private static final int TICK_MILLIS = 500;
    private static final long LONG_MILLIS = 600_000;

    @TempDir private Path work;

    private final List<RunningService> running = new ArrayList<>();
    private NIOServerCnxnFactory ensemble;

    @BeforeEach
    void startEnsemble() throws Exception {
        Path data = Files.createDirectories(work.resolve("zookeeper"));
        ensemble = new NIOServerCnxnFactory();
        ensemble.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 200);
        ensemble.startup(new ZooKeeperServer(data.toFile(), data.toFile(), TICK_MILLIS));
    }

    @AfterEach
    void endAll() {
        running.forEach(RunningService::close);
        ensemble.shutdown();
    }

    private Services at(String folder) {
        return Services.at("127.0.0.1:" + ensemble.getLocalPort() + "/example")
                .folder(work.resolve(folder))
                .listen(new Address("127.0.0.1", 0))
                .sessionTimeout(Duration.ofSeconds(4));
    }

    private RunningService member(String folder, Function<LaneState, LaneService> service)
            throws Exception {
        RunningService member = at(folder).run(service, Protection.replay(3, "1"));
        running.add(member);
        return member;
    }

    /** A primary, and a standby that could take over. */
    private RunningService primaryOfTwo(Function<LaneState, LaneService> service) throws Exception {
        RunningService primary = member("one", service);
        awaitRole(primary, "primary");
        RunningService standby = member("two", service);
        await().atMost(Duration.ofMinutes(1)).until(() -> standby.status().member().ready());
        return primary;
    }

    private static void awaitRole(RunningService member, String role) {
        await().atMost(Duration.ofMinutes(1))
                .until(() -> member.status().member().role().equals(role));
    }

    @Test
    void aNameHasOneHolderThoughThePrimaryChanges() throws Exception {
        RunningService primary = primaryOfTwo(LockServer::new);
        try (Client client = at("client").client()) {
            List<CompletableFuture<Lease>> asked = new ArrayList<>();
            for (int owner = 0; owner < 100; owner++) {
                asked.add(client.ask(new Acquire("name " + owner % 5, "o" + owner, LONG_MILLIS)));
            }
            int granted = 0;
            for (int owner = 0; owner < 100; owner++) {
                granted += asked.get(owner).get(1, MINUTES).owner().equals("o" + owner) ? 1 : 0;
            }
            assertThat(granted).isEqualTo(5);
            Lease held = client.ask(new Look("name 3")).get(1, MINUTES);
            assertThat(held.token()).isEqualTo(1);

            primary.close();
            awaitRole(running.get(1), "primary");
            assertThat(client.ask(new Look("name 3")).get(1, MINUTES)).isEqualTo(held);
            Lease other = client.ask(new Acquire("name 3", "late", LONG_MILLIS)).get(1, MINUTES);
            assertThat(other).as("its lease is not over").isEqualTo(held);
            Lease longer =
                    client.ask(new Acquire("name 3", held.owner(), LONG_MILLIS)).get(1, MINUTES);
            assertThat(longer.token()).isEqualTo(1);
            assertThat(longer.untilMillis()).isGreaterThanOrEqualTo(held.untilMillis());
            assertThat(client.ask(new Release("name 3", 7)).get(1, MINUTES))
                    .as("the token of another lease")
                    .isEqualTo(longer);
            assertThat(client.ask(new Release("name 3", 1)).get(1, MINUTES).owner()).isEmpty();
            Lease next = client.ask(new Acquire("name 3", "late", LONG_MILLIS)).get(1, MINUTES);
            assertThat(next.owner()).isEqualTo("late");
            assertThat(next.token()).isEqualTo(2);
        }
    }

    @Test
    void aLeaseEnds() throws Exception {
        awaitRole(member("one", LockServer::new), "primary");
        try (Client client = at("client").client()) {
            Lease first = client.ask(new Acquire("name", "one", 1)).get(1, MINUTES);
            assertThat(first.owner()).isEqualTo("one");
            await().atMost(Duration.ofMinutes(1))
                    .until(() -> client.ask(new Look("name")).get(1, MINUTES).owner().isEmpty());
            Lease second = client.ask(new Acquire("name", "two", LONG_MILLIS)).get(1, MINUTES);
            assertThat(second.owner()).isEqualTo("two");
            assertThat(second.token()).isEqualTo(2);
        }
        assertThatThrownBy(() -> new Acquire("name", "one", 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("1 to 3600000 ms, not 0 ms");
        assertThatThrownBy(() -> new Acquire("", "one", 1))
                .hasMessageContaining("the name has 1 to 200 characters, not 0");
    }

    @Test
    void thumbnailsAndTheirTotalsFitThoughThePrimaryChanges() throws Exception {
        RunningService primary = primaryOfTwo(Thumbnails::new);
        Random random = new Random(7);
        try (Client client = at("client").client()) {
            List<Thumbnails.Render> renders = new ArrayList<>();
            List<CompletableFuture<Thumbnails.Image>> images = new ArrayList<>();
            for (int each = 0; each < 40; each++) {
                int width = 1 + random.nextInt(300);
                int height = 1 + random.nextInt(300);
                byte[] pixels = new byte[width * height];
                random.nextBytes(pixels);
                Thumbnails.Render render =
                        new Thumbnails.Render("image " + each, width, height, Bytes.of(pixels));
                renders.add(render);
                images.add(client.ask(render));
            }
            long bytes = 0;
            for (CompletableFuture<Thumbnails.Image> image : images) {
                bytes += image.get(1, MINUTES).pixels().size();
            }
            primary.close();
            awaitRole(running.get(1), "primary");
            assertThat(client.ask(new Thumbnails.Count()).get(1, MINUTES))
                    .isEqualTo(new Thumbnails.Totals(40, bytes));
            for (Thumbnails.Render each : renders) {
                assertThat(client.ask(new Thumbnails.Find(each.name())).get(1, MINUTES))
                        .isEqualTo(Thumbnails.scale(each.width(), each.height(), each.pixels()));
            }
            assertThat(client.ask(new Thumbnails.Find("none")).get(1, MINUTES).pixels().size())
                    .isZero();
            // In place of another one.
            Thumbnails.Image small =
                    client.ask(new Thumbnails.Render("image 0", 1, 1, Bytes.of((byte) 5)))
                            .get(1, MINUTES);
            assertThat(small.pixels().size()).isEqualTo(1);
            long before = images.get(0).get().pixels().size();
            assertThat(client.ask(new Thumbnails.Count()).get(1, MINUTES))
                    .isEqualTo(new Thumbnails.Totals(40, bytes - before + 1));
        }
    }
}
