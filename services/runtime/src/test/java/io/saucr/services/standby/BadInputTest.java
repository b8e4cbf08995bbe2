package io.saucr.services.standby;

import static io.saucr.services.once.PatientWaits.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.Address;
import io.saucr.services.Client;
import io.saucr.services.Handlers;
import io.saucr.services.MapState;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.Service;
import io.saucr.services.ServiceException;
import io.saucr.services.Services;
import io.saucr.services.State;
import io.saucr.services.ensemble.TestServer;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.RefusedFolderException;
import io.saucr.services.turns.Place;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What may stand in the folder of a member and in the head, given to a member that starts: refused
 * by name, data left alone, or made up for; and never is anything served beyond what the head
 * names.
 */
class BadInputTest {

    private static final String HEAD = "/apps/numbers/head";
    private static final String LOG = "segments/0000000000000000001.log";
    private static final int PUTS = 60;

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

    /** The same name for values of another type. */
    static final class Texts implements Service {

        private final MapState<String, String> texts;

        Texts(State state) {
            texts = state.map("numbers", String.class, String.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(Put.class, (put, turn) -> texts.put(put.key(), "x"));
        }
    }

    @TempDir static Path work;

    private static TestServer server;
    private static ZooKeeper hand;
    private static byte[] whole;
    private static int made;
    private Path folder;

    /** A member with two bases and a log, which the head names up to its end; it has stopped. */
    @BeforeAll
    static void fill() throws Exception {
        server = new TestServer(Files.createDirectories(work.resolve("zookeeper")));
        hand = new ZooKeeper(server.connect(), 4_000, event -> {});
        try (RunningService one = start("whole");
                Client client = place("client").client()) {
            assertThat(one.status().member().role()).isEqualTo("primary");
            for (long i = 1; i <= PUTS; i++) {
                put(client, i);
            }
            await().until(
                            () -> {
                                try (Stream<Path> bases =
                                        Files.list(work.resolve("whole").resolve("bases"))) {
                                    return bases.filter(it -> it.toString().endsWith(".snap"))
                                                    .count()
                                            == 2;
                                }
                            });
        }
        whole = head();
    }

    @AfterAll
    static void stop() throws Exception {
        hand.close();
        server.close();
    }

    /** A copy of it, with the head as it was then. */
    @BeforeEach
    void copy() throws Exception {
        folder = work.resolve("one-" + ++made);
        try (Stream<Path> files = Files.walk(work.resolve("whole"))) {
            for (Path each : files.toList()) {
                Files.copy(each, folder.resolve(work.resolve("whole").relativize(each)));
            }
        }
        if (hand.exists(HEAD, false) == null) {
            hand.create(HEAD, whole, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        } else {
            hand.setData(HEAD, whole, -1);
        }
    }

    private static Services place(String name) {
        return Services.at(server.connect() + "/apps/numbers")
                .folder(work.resolve(name))
                .listen(new Address("127.0.0.1", 0))
                .foldBytes(2048)
                .sessionTimeout(Duration.ofSeconds(4));
    }

    private static RunningService start(String name) throws Exception {
        return place(name).run(Numbers::new, Protection.standby().copies(1));
    }

    private static void put(Client client, long value) throws Exception {
        assertThat(client.ask(new Put("a", value), Was.class).get(20, TimeUnit.SECONDS))
                .isEqualTo(new Was(value - 1));
    }

    private Map<String, String> files() throws IOException {
        Map<String, String> all = new TreeMap<>();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path each : files.filter(Files::isRegularFile).toList()) {
                if (!each.endsWith("lock")) {
                    all.put(each.toString(), Arrays.toString(Files.readAllBytes(each)));
                }
            }
        }
        return all;
    }

    private static byte[] head() throws Exception {
        return hand.getData(HEAD, false, null);
    }

    /** Refused with these words; folder and head are as they were. */
    private void refused(Class<? extends Exception> type, String... words) throws Exception {
        Map<String, String> before = files();
        byte[] head = hand.exists(HEAD, false) == null ? null : head();
        assertThatThrownBy(() -> start(folder.getFileName().toString()).close())
                .isInstanceOf(type)
                .satisfies(thrown -> assertThat(thrown.getMessage()).contains(words));
        assertThat(files()).isEqualTo(before);
        assertThat(hand.exists(HEAD, false) == null ? null : head()).isEqualTo(head);
    }

    /** The next value follows the last one that was final. */
    private void serves() throws Exception {
        try (RunningService one = start(folder.getFileName().toString());
                Client client = place("client").client()) {
            put(client, PUTS + 1);
            assertThat(one.status().member().role()).isEqualTo("primary");
        }
    }

    private void edit(String file, Function<byte[], byte[]> change) throws IOException {
        Path path = folder.resolve(file);
        Files.write(path, change.apply(Files.readAllBytes(path)));
    }

    private static byte[] flipped(byte[] bytes, int at) {
        bytes[at] ^= 4;
        return bytes;
    }

    // ---- the head

    @Test
    void aGarbledHead() throws Exception {
        hand.setData(HEAD, "rubbish".getBytes(UTF_8), -1);
        refused(
                ServiceException.class,
                "the head of /apps/numbers can't be read",
                "\"rubbish\"",
                "Nothing was changed");
    }

    @Test
    void aHeadWithoutItsEnd() throws Exception {
        hand.setData(HEAD, Arrays.copyOf(head(), head().length - 9), -1);
        refused(ServiceException.class, "can't be read", "it says \"saucr-standby-head 1 birth=");
    }

    @Test
    void aHeadThatIsTooLarge() throws Exception {
        hand.setData(HEAD, Arrays.copyOf(head(), 4_097), -1);
        refused(ServiceException.class, "it has 4097 bytes, a head at most 4096");
    }

    @Test
    void aNewerHead() throws Exception {
        hand.setData(
                HEAD, new String(head(), UTF_8).replace("head 1", "head 2").getBytes(UTF_8), -1);
        refused(ServiceException.class, "can't be read", "saucr-standby-head 2");
    }

    @Test
    void aHeadThatIsGone() throws Exception {
        hand.delete(HEAD, -1);
        refused(ServiceException.class, "the head is missing", "Nothing is created anew");
    }

    @Test
    void aHeadThatWentBack() throws Exception {
        String now = new String(head(), UTF_8);
        hand.setData(
                HEAD,
                now.replaceFirst("segment=[0-9]+\\.[0-9]+\\.", "segment=1.1.").getBytes(UTF_8),
                -1);
        refused(
                ServiceException.class,
                "the head went back: it names segment 1 of epoch 1",
                "restored from before");
    }

    @Test
    void aHeadOfAnotherBirth() throws Exception {
        String now = new String(head(), UTF_8);
        hand.setData(
                HEAD,
                now.replaceFirst("birth=[0-9a-f]{32}", "birth=" + "5".repeat(32)).getBytes(UTF_8),
                -1);
        refused(
                ServiceException.class,
                "the head is of generation " + "5".repeat(32),
                "empty folder");
    }

    // ---- the folder

    @Test
    void aGarbledIdentity() throws Exception {
        edit("member", it -> flipped(it, 20));
        refused(
                RefusedFolderException.class,
                folder.resolve("member").toString(),
                "Put the file back");
    }

    @Test
    void anIdentityThatIsGone() throws Exception {
        Files.delete(folder.resolve("member"));
        refused(RefusedFolderException.class, folder.resolve("member").toString(), "it is missing");
    }

    @Test
    void segmentsThatAreGone() throws Exception {
        Files.move(folder.resolve("segments"), work.resolve("away"));
        refused(RefusedFolderException.class, folder.resolve("segments").toString(), "Put it back");
    }

    @Test
    void anotherServicesFolder() throws Exception {
        Map<String, String> before = files();
        assertThatThrownBy(
                        () ->
                                Services.at(server.connect() + "/apps/other")
                                        .folder(folder)
                                        .listen(new Address("127.0.0.1", 0))
                                        .run(Numbers::new, Protection.standby()))
                .isInstanceOf(RefusedFolderException.class)
                .hasMessageContaining("a member of \"numbers\", not of \"other\"");
        assertThat(files()).isEqualTo(before);
        assertThat(hand.exists("/apps/other", false)).isNull();
    }

    @Test
    void aSegmentOfANewerRelease() throws Exception {
        edit(
                LOG,
                it -> {
                    ByteBuffer.wrap(it).putInt(8, 2);
                    return it;
                });
        refused(
                RefusedFolderException.class,
                folder.resolve(LOG).toString(),
                "it has format 2",
                "Use the release that wrote it");
    }

    /** A crash leaves that: it was never named, and is cut. */
    @Test
    void aTornEnd() throws Exception {
        edit(
                LOG,
                it -> {
                    byte[] more = Arrays.copyOf(it, it.length + 100);
                    System.arraycopy(it, 0, more, it.length, 100);
                    return more;
                });
        serves();
    }

    @Test
    void basesThatAreDamagedAreMadeUpForByTheChain() throws Exception {
        try (Stream<Path> bases = Files.list(folder.resolve("bases"))) {
            for (Path each : bases.toList()) {
                edit("bases/" + each.getFileName(), it -> flipped(it, it.length / 2));
            }
        }
        serves();
    }

    /** What the head names is lost: the member waits for one who has it, and serves nothing. */
    private void waitsForTheNamedOne() throws Exception {
        byte[] head = head();
        try (RunningService one = start(folder.getFileName().toString());
                Client client = place("client").client()) {
            await().until(() -> one.status().member().lacks().contains("segment"));
            CompletableFuture<Was> asked = client.ask(new Put("a", PUTS + 1), Was.class);
            await().during(Duration.ofSeconds(1))
                    .until(() -> one.status().member().role().equals("standby"));
            assertThat(asked).isNotDone();
        }
        assertThat(head()).isEqualTo(head);
    }

    @Test
    void damageInTheNewestSegment() throws Exception {
        edit(LOG, it -> flipped(it, it.length - 50));
        waitsForTheNamedOne();
    }

    @Test
    void anEndThatIsGone() throws Exception {
        edit(LOG, it -> Arrays.copyOf(it, it.length - 30));
        waitsForTheNamedOne();
    }

    /** Of the first segment, so that nothing behind it can be read either. */
    @Test
    void aWildLength() throws Exception {
        edit(
                LOG,
                it -> {
                    ByteBuffer.wrap(it).putInt(112, Integer.MAX_VALUE);
                    return it;
                });
        waitsForTheNamedOne();
    }

    // ---- the state

    @Test
    void aTypeThatCannotBeRead() throws Exception {
        Map<String, String> before = files();
        CompletableFuture<String> halted = new CompletableFuture<>();
        Place place =
                Place.at(server.connect() + "/apps/numbers", Optional.empty())
                        .withFolder(folder)
                        .withListen(new Address("127.0.0.1", 0))
                        .withSessionTimeout(Duration.ofSeconds(4));
        try (RunningService one =
                StandbyService.start(
                        Disk.local(),
                        place,
                        Texts::new,
                        Protection.standby().copies(1),
                        (reason, cause) -> halted.complete(reason))) {
            halted.get(20, TimeUnit.SECONDS);
            assertThat(one.name()).isEqualTo("numbers");
        } catch (ServiceException e) {
            // It was primary, and halted, before the start was over.
            assertThat(e).hasMessageContaining("numbers halts: numbers can't serve");
        }
        assertThat(halted)
                .isCompletedWithValueMatching(
                        it -> it.contains("numbers can't serve") && it.contains("map numbers"));
        assertThat(files().keySet()).containsAll(before.keySet());
        serves();
    }
}
