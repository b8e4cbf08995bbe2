package io.saucr.services.standby;

import static io.saucr.services.once.PatientWaits.await;
import static org.assertj.core.api.Assertions.assertThat;

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
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What version 0.1.0 stored, this one reads: {@code standby-0.1.0} among the resources of the
 * tests, with the head, a member's folder and a shared one. It holds two bases, and segments above
 * them, of this service after {@value #PUTS} puts with bases from 1 KB on. A release that writes
 * another format adds a folder of its own here, and leaves this one as it is.
 */
class StoredReleaseTest {

    private static final int PUTS = 30;
    private static final Path STORED = Path.of("src/test/resources/standby-0.1.0");

    record Put(String key, long value) {}

    record Was(long value) {}

    static final class Numbers implements Service {

        private final MapState<String, Long> numbers;

        Numbers(State state) {
            numbers = state.map("numbers", String.class, Long.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Put.class,
                    (put, turn) -> {
                        long was = numbers.getOrDefault(put.key(), 0L);
                        numbers.put(put.key(), put.value());
                        turn.reply(new Was(was));
                    });
        }
    }

    @TempDir Path work;

    private TestServer server;

    @BeforeEach
    void start() throws Exception {
        server = new TestServer(Files.createDirectories(work.resolve("zookeeper")));
        ZooKeeper hand = new ZooKeeper(server.connect(), 4_000, event -> {});
        try {
            for (String path : new String[] {"/apps", "/apps/numbers", "/apps/numbers/head"}) {
                hand.create(
                        path,
                        path.endsWith("head")
                                ? Files.readAllBytes(STORED.resolve("head"))
                                : new byte[0],
                        ZooDefs.Ids.OPEN_ACL_UNSAFE,
                        CreateMode.PERSISTENT);
            }
        } finally {
            hand.close();
        }
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private Path copy(String name) throws IOException {
        Path from = STORED.resolve(name);
        Path to = work.resolve(name);
        try (Stream<Path> files = Files.walk(from)) {
            for (Path each : files.toList()) {
                Files.copy(each, to.resolve(from.relativize(each)));
            }
        }
        return to;
    }

    /** Each key has what was put last, and so has it after the next base and start. */
    private void reads(Path folder, Store store) throws Exception {
        Services place =
                Services.at(server.connect() + "/apps/numbers")
                        .folder(folder)
                        .listen(new Address("127.0.0.1", 0))
                        .foldBytes(1024)
                        .sessionTimeout(Duration.ofSeconds(4));
        for (int start = 0; start < 2; start++) {
            try (RunningService one = place.run(Numbers::new, Protection.standby().store(store));
                    Client client = place.client()) {
                for (int key = 0; key < 3; key++) {
                    long was = start == 0 ? PUTS - 2 + key : 1_000 + key;
                    assertThat(client.ask(new Put("k" + key, 1_000 + key), Was.class).get())
                            .isEqualTo(new Was(was));
                }
                await().until(() -> one.status().member().role().equals("primary"));
            }
        }
    }

    @Test
    void aMembersFolderIsRead() throws Exception {
        reads(copy("member"), Store.members());
    }

    @Test
    void aSharedFolderIsReadByAMemberWithAnEmptyDisk() throws Exception {
        reads(work.resolve("empty"), Store.folder(copy("shared")));
    }
}
