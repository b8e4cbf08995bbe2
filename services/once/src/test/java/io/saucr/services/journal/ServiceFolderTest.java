package io.saucr.services.journal;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** K9 and K14: who opens which folder, and what is refused. */
class ServiceFolderTest {

    private static final SecureRandom RANDOM = new SecureRandom();
    private static final JournalOptions OPTIONS = new JournalOptions(ForceMode.always(), 4096);

    @TempDir Path temporary;
    private Path path;

    @BeforeEach
    void choosePath() {
        path = temporary.resolve("apps").resolve("bank");
    }

    private ServiceFolder open() throws IOException {
        return ServiceFolder.open(path, "bank", RANDOM);
    }

    private void appendTurns(int turns) throws IOException {
        try (ServiceFolder folder = open()) {
            Journal journal =
                    folder.recover(OPTIONS)
                            .journal(
                                    new JournalListener() {
                                        @Override
                                        public void forced(long turn) {}

                                        @Override
                                        public void failed(IOException cause) {
                                            throw new AssertionError(cause);
                                        }
                                    });
            for (int count = 0; count < turns; count++) {
                long turn = journal.appended() + 1;
                journal.append(turn, ByteBuffer.wrap(("turn " + turn).getBytes(UTF_8)));
                while (journal.forced() < turn) {
                    Thread.onSpinWait();
                }
            }
            journal.close();
        }
    }

    private void recover() throws IOException {
        try (ServiceFolder folder = open()) {
            folder.recover(OPTIONS);
        }
    }

    private static void refused(ThrowingCode code, Path file, String... parts) {
        assertThatThrownBy(code::run)
                .isInstanceOf(RefusedFolderException.class)
                .hasMessageStartingWith(file.toString())
                .hasMessageContainingAll(parts);
    }

    private interface ThrowingCode {
        void run() throws Throwable;
    }

    @Test
    void foldersBesideEachOtherAreMadeAtOnce(@TempDir Path root) {
        for (int round = 0; round < 40; round++) {
            Path parent = root.resolve("round-" + round).resolve("clients");
            IntStream.range(0, 4)
                    .parallel()
                    .forEach(
                            each -> {
                                try {
                                    Disk.local().makeFolder(parent.resolve("client-" + each));
                                } catch (IOException e) {
                                    throw new UncheckedIOException(e);
                                }
                            });
            assertThat(parent).isDirectoryContaining("glob:**client-3");
        }
    }

    @Test
    void eachOpeningIsANewStartOfOneBirth() throws Exception {
        Set<Long> nonces = new HashSet<>();
        Set<Birth> births = new HashSet<>();
        List<Incarnation> before = List.of();
        for (int number = 1; number <= 5; number++) {
            try (ServiceFolder folder = open()) {
                assertThat(folder.incarnation().number()).isEqualTo(number);
                assertThat(folder.incarnations()).containsAll(before);
                assertThat(folder.incarnations()).hasSize(number).endsWith(folder.incarnation());
                before = folder.incarnations();
                nonces.add(folder.incarnation().nonce());
                births.add(folder.birth());
                assertThat(folder.confirmed()).isEqualTo(number > 3 ? 3 : 0);
                if (number == 3) {
                    folder.confirm();
                    assertThat(folder.confirmed()).isEqualTo(3);
                }
            }
        }
        assertThat(nonces).hasSize(5);
        assertThat(births).hasSize(1);
    }

    @Test
    void oneFolderIsOfOneOpener() throws Exception {
        try (ServiceFolder first = open()) {
            for (int tries = 0; tries < 3; tries++) {
                refused(
                        this::open,
                        path,
                        "in use by this process, " + ProcessHandle.current().pid());
            }
            assertThat(first.incarnation().number()).isEqualTo(1);
        }
        try (ServiceFolder second = open()) {
            assertThat(second.incarnation().number()).isEqualTo(2);
        }
    }

    @Test
    void oneFolderIsOfOneProcess() throws Exception {
        Process other =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-cp",
                                System.getProperty("java.class.path"),
                                OtherProcess.class.getName(),
                                path.toString())
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start();
        try (BufferedReader output =
                new BufferedReader(new InputStreamReader(other.getInputStream(), UTF_8))) {
            assertThat(output.readLine()).isEqualTo("open");
            refused(this::open, path, "in use by process " + other.pid(), "Stop that process");
            // A process that was refused frees nothing.
            refused(this::open, path, "in use by process " + other.pid());
        } finally {
            other.destroyForcibly().waitFor();
        }
        try (ServiceFolder folder = open()) {
            assertThat(folder.incarnation().number()).isEqualTo(2);
        }
    }

    /** Opens a folder and holds it until it is killed or its input ends. */
    static final class OtherProcess {
        public static void main(String[] args) throws Exception {
            try (ServiceFolder folder = ServiceFolder.open(Path.of(args[0]), "bank", RANDOM)) {
                System.out.println(folder.incarnation().number() == 1 ? "open" : "again");
                while (System.in.read() >= 0) {
                    // Until the end.
                }
            }
        }
    }

    @Test
    void aFolderKeepsItsName() throws Exception {
        open().close();
        refused(
                () -> ServiceFolder.open(path, "shop", RANDOM),
                path.resolve("identity"),
                "that of \"bank\", not of \"shop\"");
        for (String name : List.of("", "two\nlines", "x".repeat(256))) {
            assertThatThrownBy(() -> ServiceFolder.open(path, name, RANDOM))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("1 to 255 characters on one line");
        }
    }

    @Test
    void noBitOfAnIdentityCanFlipUnseen() throws Exception {
        open().close();
        Path file = path.resolve("identity");
        byte[] whole = Files.readAllBytes(file);
        for (int at = 0; at < whole.length; at++) {
            byte[] damaged = whole.clone();
            damaged[at] ^= (byte) (1 << at % 8);
            Files.write(file, damaged);
            refused(this::open, file, "Put back this file");
            assertThat(Files.readAllBytes(file)).isEqualTo(damaged);
        }
        Files.write(file, "saucr-service-folder 2 00000000\n".getBytes(UTF_8));
        refused(this::open, file, "saucr-service-folder 2", "a newer release's");
        Files.write(file, new byte[(1 << 20) + 1]);
        refused(this::open, file, "1048577 bytes");
        Files.write(file, whole);
        open().close();
    }

    @Test
    void whatIsMissingIsNotMadeAnew() throws Exception {
        appendTurns(3);
        Path identity = path.resolve("identity");
        Path aside = path.resolve("aside");
        Files.move(identity, aside);
        refused(this::open, identity, "missing", "is not empty");
        Files.move(aside, identity);

        Path journal = path.resolve("journal");
        Files.move(journal, aside);
        refused(this::open, journal, "missing");
        Files.createDirectory(journal);
        refused(this::recover, journal, "the segments are missing");
        Files.delete(journal);
        Files.move(aside, journal);
        recover();

        Path first = Segment.file(journal, 1);
        Files.move(first, aside);
        refused(this::recover, Segment.file(journal, 4), "turns 1 to 3 are missing");
        Files.move(aside, first);
        recover();
    }

    @Test
    void damageOfWhatWasForcedIsRefusedAndChangesNothing() throws Exception {
        appendTurns(10);
        Path file = Segment.file(path.resolve("journal"), 1);
        byte[] whole = Files.readAllBytes(file);
        // Turn 10 alone is not called forced by a later record.
        int end = 64 + 9 * 40;
        for (int at = 0; at < end; at += 3) {
            if (at >= 64 && (at - 64) % 40 >= 38) {
                continue; // What fills a record up to a multiple of 8 says nothing.
            }
            byte[] damaged = whole.clone();
            damaged[at] ^= (byte) (1 << at % 8);
            Files.write(file, damaged);
            refused(this::recover, file, ", byte ");
            assertThat(Files.readAllBytes(file)).isEqualTo(damaged);
        }
        byte[] torn = whole.clone();
        torn[end + 35] ^= 1;
        Files.write(file, torn);
        try (ServiceFolder folder = open()) {
            assertThat(folder.recover(OPTIONS).lastTurn()).isEqualTo(9);
        }
        assertThat(Files.size(file)).isEqualTo(end);
    }

    @Test
    void aTwinsSegmentIsRefused() throws Exception {
        appendTurns(2);
        Path file = Segment.file(path.resolve("journal"), 1);
        byte[] own = Files.readAllBytes(file);
        Path twin = temporary.resolve("twin");
        path = twin;
        appendTurns(2);
        Files.write(Segment.file(twin.resolve("journal"), 1), own);
        refused(this::recover, Segment.file(twin.resolve("journal"), 1), "another folder's start");
    }

    @Test
    void aFolderIsRecoveredOnce() throws Exception {
        try (ServiceFolder folder = open()) {
            folder.recover(OPTIONS);
            assertThatThrownBy(() -> folder.recover(OPTIONS))
                    .isInstanceOf(IllegalStateException.class);
            assertThat(folder.usableBytes()).isPositive();
        }
    }

    @Test
    void theOldestStartsAreForgottenButNotTheConfirmedOne() {
        Identity identity = Identity.first(new Birth(1, 2), "bank");
        for (int start = 0; start < 3; start++) {
            identity = identity.started(start);
        }
        identity = identity.confirmed(2);
        List<Incarnation> all = new ArrayList<>(identity.starts());
        for (int start = 3; start < 5_000; start++) {
            identity = identity.started(start);
            all.add(identity.newest());
        }

        assertThat(identity.starts())
                .hasSize(4096)
                .startsWith(all.get(1), all.get(905))
                .endsWith(all.get(4_999));
        assertThat(Identity.decode(identity.encode())).isEqualTo(identity);
        assertThat(all).allMatch(identity::knows);
        assertThat(identity.knows(new Incarnation(new Birth(1, 2), 4_000, 7))).isFalse();
        assertThat(identity.knows(new Incarnation(new Birth(1, 3), 1, 0))).isFalse();
    }
}
