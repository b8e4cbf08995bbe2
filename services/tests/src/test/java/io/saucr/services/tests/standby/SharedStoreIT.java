package io.saucr.services.tests.standby;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.saucr.services.Client;
import io.saucr.services.Services;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Real members that share a store (C3, C6): the primary is killed, then all of them at once, and at
 * last one with an empty disk goes on alone.
 */
class SharedStoreIT {

    private static final Duration PATIENCE = Duration.ofSeconds(40);
    private static final int TICK_MILLIS = 500;

    @TempDir private Path work;

    private final List<MemberProcess> members = new ArrayList<>();
    private NIOServerCnxnFactory ensemble;
    private String place;
    private Client client;
    private long counted;

    @BeforeEach
    void start() throws Exception {
        Path data = Files.createDirectories(work.resolve("zookeeper"));
        ensemble = new NIOServerCnxnFactory();
        ensemble.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 200);
        ensemble.startup(new ZooKeeperServer(data.toFile(), data.toFile(), TICK_MILLIS));
        place = "127.0.0.1:" + ensemble.getLocalPort() + "/registers";
        client = Services.at(place).client("caller");
    }

    @AfterEach
    void end() throws Exception {
        client.close();
        for (MemberProcess each : members) {
            each.close();
        }
        ensemble.shutdown();
    }

    private MemberProcess member(String name, String store) throws Exception {
        MemberProcess made = new MemberProcess(place, work.resolve(name), 2, false, 0, store);
        members.add(made);
        return made;
    }

    private List<CompletableFuture<Registers.Counted>> count(int more) {
        List<CompletableFuture<Registers.Counted>> calls = new ArrayList<>();
        for (int i = 0; i < more; i++) {
            calls.add(
                    client.ask(
                            new Registers.Count("caller", counted + i + 1),
                            Registers.Counted.class));
        }
        return calls;
    }

    private void areCounted(List<CompletableFuture<Registers.Counted>> calls) throws Exception {
        for (CompletableFuture<Registers.Counted> each : calls) {
            counted++;
            assertThat(each.get(PATIENCE.toSeconds(), SECONDS).number()).isEqualTo(counted);
        }
    }

    private MemberProcess primary(List<MemberProcess> among) {
        return await().atMost(PATIENCE)
                .until(
                        () -> {
                            for (MemberProcess each : among) {
                                if (each.isPrimary()) {
                                    return each;
                                }
                            }
                            return null;
                        },
                        it -> it != null);
    }

    /** Everything that is named is in the store. */
    private void awaitStored(List<MemberProcess> among) {
        await().atMost(PATIENCE).until(() -> "store".equals(primary(among).status().get("copies")));
    }

    private void goesOnFrom(String store) throws Exception {
        MemberProcess a = member("a", store);
        MemberProcess b = member("b", store);
        areCounted(count(50));
        awaitStored(List.of(a, b));
        await().atMost(PATIENCE)
                .until(() -> primary(List.of(a, b)).status().get("followers").equals("1"));

        MemberProcess killed = primary(List.of(a, b));
        List<CompletableFuture<Registers.Counted>> calls = count(50);
        killed.kill();
        areCounted(calls);

        calls = count(50);
        a.kill();
        b.kill();
        a.start();
        b.start();
        areCounted(calls);
        awaitStored(List.of(a, b));

        a.kill();
        b.kill();
        MemberProcess c = member("c", store);
        areCounted(count(50));
        assertThat(c.isPrimary()).isTrue();
        Registers.Books books =
                client.ask(new Registers.Ask(), Registers.Books.class)
                        .get(PATIENCE.toSeconds(), SECONDS);
        assertThat(books.counts()).containsEntry("caller", counted);
        assertThat(books.disorder()).isZero();
    }

    @Test
    void aSharedFolderGoesOn() throws Exception {
        goesOnFrom(Files.createDirectories(work.resolve("shared")).toString());
    }

    @Test
    @Tag("long")
    void theEnsembleGoesOn() throws Exception {
        goesOnFrom("ensemble");
    }
}
