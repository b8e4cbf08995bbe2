package io.saucr.services.standby;

import static io.saucr.services.once.PatientWaits.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.Address;
import io.saucr.services.Client;
import io.saucr.services.Handlers;
import io.saucr.services.MapState;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.Service;
import io.saucr.services.Services;
import io.saucr.services.State;
import io.saucr.services.ensemble.TestServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A type of the state gains a field: segments and bases of the release before are read. */
class UpgradeTest {

    private static final int PUTS = 40;

    record Put(String key, String name) {}

    record Done() {}

    record Get(String key) {}

    record Text(String text) {}

    /** The release before. */
    static final class Before implements Service {

        record Item(String name) {}

        private final MapState<String, Before.Item> items;

        Before(State state) {
            items = state.map("items", String.class, Before.Item.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Put.class,
                    (put, turn) -> {
                        items.put(put.key(), new Before.Item(put.name()));
                        turn.reply(new Done());
                    });
            on.query(Get.class, (get, turn) -> new Text(items.get(get.key()).toString()));
        }
    }

    /** This one. */
    static final class Now implements Service {

        record Item(String name, int price) {}

        private final MapState<String, Now.Item> items;

        Now(State state) {
            items = state.map("items", String.class, Now.Item.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Put.class,
                    (put, turn) -> {
                        items.put(put.key(), new Now.Item(put.name(), 7));
                        turn.reply(new Done());
                    });
            on.query(Get.class, (get, turn) -> new Text(items.get(get.key()).toString()));
        }
    }

    @TempDir Path work;

    private TestServer server;
    private Client client;

    @BeforeEach
    void start() throws Exception {
        server = new TestServer(Files.createDirectories(work.resolve("zookeeper")));
        client = place("client").client();
    }

    @AfterEach
    void stop() {
        client.close();
        server.close();
    }

    private Services place(String folder) {
        return Services.at(server.connect() + "/apps/items")
                .folder(work.resolve(folder))
                .listen(new Address("127.0.0.1", 0))
                .foldBytes(1024)
                .sessionTimeout(Duration.ofSeconds(4));
    }

    private RunningService member(String folder, Function<State, ? extends Service> release)
            throws Exception {
        return place(folder).run(release, Protection.standby());
    }

    private String got(String key) throws Exception {
        return client.ask(new Get(key), Text.class).get().text();
    }

    private void put(String key, String name) throws Exception {
        assertThat(client.ask(new Put(key, name), Done.class).get()).isEqualTo(new Done());
    }

    /** A base holds the first ones, and segments above it the last. */
    private void fill(String folder) throws Exception {
        for (int i = 1; i <= PUTS; i++) {
            put("k" + i, "n" + i);
        }
        await().until(
                        () -> {
                            try (Stream<Path> bases =
                                    Files.list(work.resolve(folder).resolve("bases"))) {
                                return bases.anyMatch(it -> it.toString().endsWith(".snap"));
                            }
                        });
        put("last", "of the release before");
    }

    @Test
    void aRollingRestartGoesFromOneReleaseToTheNextAndBack() throws Exception {
        RunningService one = member("one", Before::new);
        fill("one");
        RunningService two = member("two", Now::new);
        await().until(() -> one.status().member().followers().size() == 1);
        put("more", "while both run");
        await().until(() -> two.status().member().stored() == one.status().member().segment());
        one.close();
        assertThat(got("k1")).isEqualTo("Item[name=n1, price=0]");
        assertThat(got("last")).isEqualTo("Item[name=of the release before, price=0]");
        assertThat(got("more")).isEqualTo("Item[name=while both run, price=0]");
        put("k1", "anew");
        // One that was not replaced yet reads what the newer one wrote.
        try (RunningService again = member("one", Before::new)) {
            await().until(() -> two.status().member().followers().size() == 1);
            put("k2", "anew");
            await().until(
                            () ->
                                    again.status().member().stored()
                                            == two.status().member().segment());
            two.close();
            assertThat(got("k1")).isEqualTo("Item[name=anew]");
            assertThat(got("k2")).isEqualTo("Item[name=anew]");
            assertThat(got("k3")).isEqualTo("Item[name=n3]");
        }
    }

    @Test
    void theNextReleaseGoesOnInTheFolderOfTheOneBefore() throws Exception {
        try (RunningService one = member("one", Before::new)) {
            fill("one");
            assertThat(one.status().member().copies()).isEqualTo("alone");
        }
        try (RunningService one = member("one", Now::new)) {
            assertThat(got("k1")).isEqualTo("Item[name=n1, price=0]");
            assertThat(got("last")).isEqualTo("Item[name=of the release before, price=0]");
            put("k2", "anew");
            assertThat(got("k2")).isEqualTo("Item[name=anew, price=7]");
            assertThat(one.status().member().epoch()).isEqualTo(2);
        }
    }
}
