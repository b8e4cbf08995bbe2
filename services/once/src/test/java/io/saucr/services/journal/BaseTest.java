package io.saucr.services.journal;

import static io.saucr.services.once.PatientWaits.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** K10: what a base holds is read as it was written, or refused. */
class BaseTest {

    private static final SecureRandom RANDOM = new SecureRandom();
    private static final Path FOLDER = Path.of("/simulated/bank");

    private SimulatedDisk disk = new SimulatedDisk(1);

    private interface Use {
        void use(Recovered recovered, Journal journal) throws IOException;
    }

    private void open(Use use) throws IOException {
        try (ServiceFolder folder = ServiceFolder.open(disk, FOLDER, "bank", RANDOM)) {
            Recovered recovered = folder.recover(new JournalOptions(ForceMode.always(), 4096));
            try (Journal journal =
                    recovered.journal(
                            new JournalListener() {
                                @Override
                                public void forced(long turn) {}

                                @Override
                                public void failed(IOException cause) {
                                    // Seen by the turns that are not read back.
                                }
                            })) {
                use.use(recovered, journal);
            }
        }
    }

    private static void append(Journal journal, int turns) {
        for (int count = 0; count < turns; count++) {
            long turn = journal.appended() + 1;
            journal.append(turn, ByteBuffer.wrap(("turn " + turn).repeat(50).getBytes(UTF_8)));
        }
        await().pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(1))
                .until(() -> journal.forced() == journal.appended());
    }

    private static Map<String, byte[]> sections(Recovered recovered) throws IOException {
        TreeMap<String, byte[]> sections = new TreeMap<>();
        recovered.sections((name, content) -> sections.put(name, content.readAllBytes()));
        return sections;
    }

    private static Path file(long turn) {
        return Base.file(FOLDER.resolve(ServiceFolder.BASE), turn);
    }

    @Test
    void sectionsOfAnySizeAreReadAsTheyWereWritten() throws Exception {
        Random random = new Random(5);
        TreeMap<String, byte[]> written = new TreeMap<>();
        for (int size : new int[] {0, 1, 65_535, 65_536, 65_537, 300_000}) {
            byte[] content = new byte[size];
            random.nextBytes(content);
            written.put("section " + size, content);
        }
        open(
                (recovered, journal) -> {
                    append(journal, 1);
                    recovered
                            .base()
                            .write(
                                    1,
                                    writer -> {
                                        for (var each : written.entrySet()) {
                                            OutputStream out = writer.section(each.getKey());
                                            int half = each.getValue().length / 2;
                                            out.write(each.getValue(), 0, half);
                                            for (int at = half; at < each.getValue().length; at++) {
                                                out.write(each.getValue()[at]);
                                            }
                                        }
                                    });
                });
        open(
                (recovered, journal) -> {
                    Map<String, byte[]> read = sections(recovered);
                    assertThat(read.keySet()).isEqualTo(written.keySet());
                    read.forEach(
                            (name, content) -> assertThat(content).isEqualTo(written.get(name)));
                    // What a reader leaves is skipped.
                    List<String> names = new ArrayList<>();
                    recovered.sections((name, content) -> names.add(name + content.read()));
                    assertThat(names).hasSize(written.size()).contains("section 0-1");
                });
    }

    private void twoTurnsInABase() throws IOException {
        open(
                (recovered, journal) -> {
                    append(journal, 2);
                    recovered.base().write(2, writer -> writer.section("a").write(new byte[100]));
                    journal.folded(2);
                });
        // The next start deletes the segments that the base covers.
        open((recovered, journal) -> assertThat(recovered.baseTurn()).isEqualTo(2));
    }

    @Test
    void noBitOfABaseCanFlipUnseen() throws Exception {
        twoTurnsInABase();
        byte[] whole = disk.content(file(2));
        for (int at = 0; at < whole.length; at++) {
            byte[] damaged = whole.clone();
            damaged[at] ^= (byte) (1 << at % 8);
            disk.put(file(2), damaged);
            assertThatThrownBy(() -> open((recovered, journal) -> {}))
                    .isInstanceOf(RefusedFolderException.class)
                    .hasMessageContaining(file(2).toString())
                    .hasMessageContaining("byte ");
        }
        disk.put(file(2), whole);
        open((recovered, journal) -> assertThat(sections(recovered)).containsOnlyKeys("a"));
    }

    @Test
    void aBaseThatEndsEarlyOrLateIsRefused() throws Exception {
        twoTurnsInABase();
        byte[] whole = disk.content(file(2));
        for (int size = 0; size < whole.length; size++) {
            disk.put(file(2), Arrays.copyOf(whole, size));
            assertThatThrownBy(() -> open((recovered, journal) -> {}))
                    .isInstanceOf(RefusedFolderException.class);
        }
        disk.put(file(2), Arrays.copyOf(whole, whole.length + 1));
        assertThatThrownBy(() -> open((recovered, journal) -> {}))
                .isInstanceOf(RefusedFolderException.class);
    }

    @Test
    void anotherTurnsOrFoldersBaseIsRefused() throws Exception {
        twoTurnsInABase();
        byte[] whole = disk.content(file(2));
        disk.put(file(3), whole);
        disk.delete(file(2));
        assertThatThrownBy(() -> open((recovered, journal) -> {}))
                .hasMessageContaining("the base is of turn 2, not of that of its name");
        SimulatedDisk other = new SimulatedDisk(2);
        try (ServiceFolder folder = ServiceFolder.open(other, FOLDER, "bank", RANDOM)) {
            other.put(file(2), whole);
            assertThatThrownBy(() -> folder.recover(new JournalOptions(ForceMode.always(), 4096)))
                    .isInstanceOf(RefusedFolderException.class)
                    .hasMessageContaining("another folder's start");
        }
    }

    @Test
    void anOlderBaseServesWhereTheJournalReachesFarEnough() throws Exception {
        byte[][] older = new byte[1][];
        open(
                (recovered, journal) -> {
                    append(journal, 2);
                    recovered.base().write(2, writer -> writer.section("old").write(1));
                    older[0] = disk.content(file(2));
                    append(journal, 2);
                    recovered.base().write(4, writer -> writer.section("new").write(1));
                });
        // As a crash before the older one was deleted leaves it, and then the newer is damaged.
        disk.put(file(2), older[0]);
        disk.flip(file(4), 70, 3);
        open(
                (recovered, journal) -> {
                    assertThat(sections(recovered)).containsOnlyKeys("old");
                    assertThat(recovered.lastTurn()).isEqualTo(4);
                    append(journal, 1);
                    recovered.base().write(5, writer -> writer.section("newest").write(1));
                    journal.folded(5);
                });
        assertThat(disk.exists(file(2))).isFalse();
        assertThat(disk.exists(file(4))).isFalse();
        // The segments that lead from the older base to the damaged one are gone.
        disk.put(file(2), older[0]);
        open((recovered, journal) -> assertThat(recovered.baseTurn()).isEqualTo(5));
        disk.put(file(2), older[0]);
        disk.flip(file(5), 70, 3);
        assertThatThrownBy(() -> open((recovered, journal) -> {}))
                .isInstanceOf(RefusedFolderException.class)
                .hasMessageContaining("missing");
    }

    @Test
    void aFailedBaseLeavesTheOlderOne() throws Exception {
        open(
                (recovered, journal) -> {
                    append(journal, 3);
                    Base base = recovered.base();
                    base.write(1, writer -> writer.section("one").write(1));
                    assertThatThrownBy(
                                    () ->
                                            base.write(
                                                    2,
                                                    writer -> {
                                                        writer.section("two").write(2);
                                                        throw new IOException("no");
                                                    }))
                            .hasMessage("no");
                    assertThat(base.turn()).isEqualTo(1);
                    base.write(2, writer -> writer.section("two").write(2));
                    assertThat(base.turn()).isEqualTo(2);
                    assertThatThrownBy(() -> base.write(2, writer -> {}))
                            .isInstanceOf(IllegalArgumentException.class)
                            .hasMessageContaining("there is a base of turn 2");
                    assertThatThrownBy(() -> recovered.sections((name, content) -> {}))
                            .hasMessageContaining("was replaced");
                });
        open((recovered, journal) -> assertThat(sections(recovered)).containsOnlyKeys("two"));
    }

    @Test
    void namesAndStreamsAreChecked() throws Exception {
        open(
                (recovered, journal) -> {
                    append(journal, 1);
                    Base base = recovered.base();
                    for (String name : List.of("", "x".repeat(256), "twice")) {
                        assertThatThrownBy(
                                        () ->
                                                base.write(
                                                        1,
                                                        writer -> {
                                                            writer.section("twice");
                                                            writer.section(name);
                                                        }))
                                .isInstanceOf(IllegalArgumentException.class)
                                .hasMessageContaining("1 to 255 characters");
                    }
                    assertThatThrownBy(
                                    () ->
                                            base.write(
                                                    1,
                                                    writer -> {
                                                        OutputStream first = writer.section("a");
                                                        writer.section("b");
                                                        first.write(1);
                                                    }))
                            .isInstanceOf(IllegalStateException.class);
                    assertThatThrownBy(() -> base.write(1, writer -> base.write(1, inner -> {})))
                            .isInstanceOf(IllegalStateException.class);
                });
    }

    /** Thirty turns in some segments, and a base of them whose name is perhaps not on disk. */
    private void aBaseWhoseFolderIsNotForced(long seed) throws IOException {
        disk = new SimulatedDisk(seed);
        open(
                (recovered, journal) -> {
                    append(journal, 30);
                    disk.failAt("forceFolder", FOLDER.resolve(ServiceFolder.BASE));
                    assertThatThrownBy(
                                    () ->
                                            recovered
                                                    .base()
                                                    .write(
                                                            30,
                                                            writer -> writer.section("a").write(1)))
                            .hasMessageContaining("simulated failure: forceFolder");
                    assertThat(recovered.base().turn()).isZero();
                });
        disk.restarted();
    }

    @Test
    void nothingGoesForABaseWhoseNameIsNotOnDisk() throws Exception {
        for (long seed = 1; seed <= 8; seed++) {
            for (int call = 1; call <= 30; call++) {
                aBaseWhoseFolderIsNotForced(seed);
                disk.failAt(call);
                try (ServiceFolder folder = ServiceFolder.open(disk, FOLDER, "bank", RANDOM)) {
                    folder.recover(new JournalOptions(ForceMode.always(), 4096));
                } catch (IOException e) {
                    assertThat(e).isNotInstanceOf(RefusedFolderException.class);
                }
                disk.powerFails();
                open((recovered, journal) -> assertThat(recovered.lastTurn()).isEqualTo(30));
            }
        }
    }
}
