package io.saucr.services.standby;

import static io.saucr.services.once.PatientWaits.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.Address;
import io.saucr.services.Client;
import io.saucr.services.Handlers;
import io.saucr.services.MapState;
import io.saucr.services.Protection;
import io.saucr.services.Protection.Store;
import io.saucr.services.RunningService;
import io.saucr.services.Service;
import io.saucr.services.Services;
import io.saucr.services.State;
import io.saucr.services.ensemble.TestServer;
import io.saucr.services.journal.RefusedFolderException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** C3, C6, C14: members that share a store. */
class SharedStoreTest {

    record Put(String key, String value) {}

    record Was(String value) {}

    record Get(String key) {}

    static final class Texts implements Service {

        private final MapState<String, String> texts;

        Texts(State state) {
            texts = state.map("texts", String.class, String.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Put.class,
                    (put, turn) -> {
                        String was = texts.getOrDefault(put.key(), "");
                        texts.put(put.key(), put.value());
                        turn.reply(new Was(was));
                    });
            on.query(Get.class, (get, turn) -> new Was(texts.getOrDefault(get.key(), "")));
        }
    }

    @TempDir Path work;

    private TestServer server;
    private Path shared;
    private Client client;

    @BeforeEach
    void start() throws Exception {
        server = new TestServer(Files.createDirectories(work.resolve("zookeeper")));
        shared = Files.createDirectories(work.resolve("shared"));
        client = place("client").client("asker");
    }

    @AfterEach
    void stop() {
        client.close();
        server.close();
    }

    private Services place(String folder) {
        return Services.at(server.connect() + "/apps/texts")
                .folder(work.resolve(folder))
                .listen(new Address("127.0.0.1", 0))
                .foldBytes(2048)
                .sessionTimeout(Duration.ofSeconds(4));
    }

    private Store store(String kind) {
        return kind.equals("folder") ? Store.folder(shared) : Store.ensemble();
    }

    private RunningService member(String folder, Store store) throws Exception {
        return place(folder).run(Texts::new, Protection.standby().store(store));
    }

    private void put(String key, String value, String was) throws Exception {
        assertThat(client.ask(new Put(key, value), Was.class).get()).isEqualTo(new Was(was));
    }

    private static String copies(RunningService member) {
        return member.status().member().copies();
    }

    private List<Path> files(String end) throws IOException {
        try (Stream<Path> all = Files.walk(shared)) {
            return all.filter(it -> it.toString().endsWith(end)).sorted().toList();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"folder", "ensemble"})
    void aMemberWithAnEmptyDiskGoesOnFromTheStore(String kind) throws Exception {
        String large = "x".repeat(40_000);
        try (RunningService one = member("one", store(kind))) {
            for (int i = 1; i <= 120; i++) {
                put("k" + i % 7, "v" + i, i <= 7 ? "" : "v" + (i - 7));
            }
            put("large", large, "");
            await().until(() -> copies(one).equals("store"));
            if (kind.equals("folder")) {
                await().until(() -> files(".base").size() == 2);
            }
        }
        // Nothing of its disk is left.
        try (RunningService two = member("two", store(kind))) {
            put("k1", "new", "v120");
            put("large", "small", large);
            assertThat(two.status().member().epoch()).isEqualTo(2);
            await().until(() -> copies(two).equals("store"));
        }
    }

    @Test
    void oldSegmentsAndBasesGo() throws Exception {
        try (RunningService one = member("one", store("folder"))) {
            for (int i = 1; i <= 300; i++) {
                put("k" + i % 7, "v" + i, i <= 7 ? "" : "v" + (i - 7));
            }
            await().until(() -> copies(one).equals("store"));
            await().until(() -> files(".base").size() == 2 && files(".seg").size() < 250);
            assertThat(files(".tmp")).isEmpty();
        }
    }

    @Test
    void whileTheFolderIsGoneItGoesOnAndSaysSo() throws Exception {
        Path away = work.resolve("away");
        try (RunningService one = member("one", store("folder"))) {
            put("a", "1", "");
            await().until(() -> copies(one).equals("store"));
            Files.move(shared, away);
            put("a", "2", "1");
            put("a", "3", "2");
            assertThat(copies(one)).isEqualTo("alone");
            // As where a network's folder is not mounted.
            Files.createDirectories(shared);
            await().until(() -> one.status().member().store().contains("not mounted"));
            put("a", "4", "3");
            assertThat(copies(one)).isEqualTo("alone");
            assertThat(files(".seg")).isEmpty();
            try (Stream<Path> left = Files.walk(shared)) {
                left.sorted((x, y) -> y.compareTo(x)).forEach(it -> it.toFile().delete());
            }
            Files.move(away, shared);
            await().until(() -> copies(one).equals("store"));
            assertThat(one.status().member().store()).isEmpty();
        }
        try (RunningService two = member("two", store("folder"))) {
            put("a", "5", "4");
            assertThat(two.status().member().epoch()).isEqualTo(2);
        }
    }

    /** Who served from its own disk fills the store that it is given. */
    @Test
    void aStoreThatIsGivenLaterIsFilled() throws Exception {
        try (RunningService one = member("one", Store.members())) {
            for (int i = 1; i <= 120; i++) {
                put("k" + i % 7, "v" + i, i <= 7 ? "" : "v" + (i - 7));
            }
            assertThat(copies(one)).isEqualTo("alone");
        }
        try (RunningService one = member("one", store("folder"))) {
            await().until(() -> copies(one).equals("store"));
        }
        try (RunningService two = member("two", store("folder"))) {
            put("k1", "new", "v120");
            assertThat(two.status().member().epoch()).isEqualTo(3);
        }
    }

    @Test
    void aFileThatIsGoneIsWaitedForAndNamed() throws Exception {
        try (RunningService one = member("one", store("folder"))) {
            put("a", "1", "");
            put("a", "2", "1");
            await().until(() -> copies(one).equals("store"));
        }
        Path lost = files(".seg").get(0);
        Path away = work.resolve("away");
        Files.move(lost, away);
        try (RunningService two = member("two", store("folder"))) {
            await().until(() -> two.status().member().lacks().contains("could not be loaded"));
            assertThat(two.status().member().lacks()).contains(shared.toString());
            assertThat(two.status().member().role()).isEqualTo("standby");
            Files.move(away, lost);
            put("a", "3", "2");
        }
    }

    @Test
    void whatDoesNotGoTogetherIsRefusedByName() throws Exception {
        assertThatThrownBy(() -> Protection.standby().store(Store.ensemble()).fast())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("fast()")
                .hasMessageContaining("store(...)");
        assertThatThrownBy(() -> Protection.standby().strict().store(Store.ensemble()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("strict()")
                .hasMessageContaining("Store.folder(path)");
        Path nowhere = work.resolve("nowhere");
        assertThatThrownBy(() -> member("one", Store.folder(nowhere)))
                .isInstanceOf(RefusedFolderException.class)
                .hasMessageContaining(nowhere.toString())
                .hasMessageContaining("Mount it, or make it");
        assertThat(nowhere).doesNotExist();
        Path file = Files.createFile(work.resolve("file"));
        assertThatThrownBy(() -> member("one", Store.folder(file)))
                .isInstanceOf(RefusedFolderException.class)
                .hasMessageContaining("cannot be read as a folder");
        Path inside = Files.createDirectories(work.resolve("one").resolve("inside"));
        assertThatThrownBy(() -> member("one", Store.folder(inside)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("not within this member's own");
    }
}
