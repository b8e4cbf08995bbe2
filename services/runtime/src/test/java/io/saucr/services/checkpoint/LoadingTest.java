package io.saucr.services.checkpoint;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.RefusedFolderException;
import io.saucr.services.journal.SimulatedDisk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** C4, C6, C14: what a member gets from the store that members share. */
class LoadingTest {

    private static final Path SHARED = Path.of("/simulated/shared");
    private static final Path OWN = Path.of("/simulated/own");
    private static final SecureRandom NAMES = new SecureRandom();

    private final Chain chain = new Chain();
    private final SimulatedDisk disk = new SimulatedDisk(1);
    private FolderStore store;

    @BeforeEach
    void fill() throws IOException {
        store = new FolderStore(disk, SHARED, Chain.SERVICE, Chain.BIRTH, NAMES);
        try (MemberFolder first = member(Path.of("/simulated/first"))) {
            for (int number = 1; number <= 9; number++) {
                if (number == 5) {
                    chain.takeover();
                }
                Segment segment = chain.next();
                first.append(segment);
                store.append(segment);
                int state = number;
                if (number == 3 || number == 6) {
                    first.base(
                            chain.id(number),
                            chain.epochs(),
                            writer -> writer.section("state").write(state));
                    try (ShippedBase base = first.ship().orElseThrow()) {
                        store.putBase(base);
                    }
                }
            }
        }
    }

    private MemberFolder member(Path path) throws IOException {
        MemberFolder folder = MemberFolder.open(disk, path, Chain.SERVICE, NAMES);
        folder.birth(Chain.BIRTH);
        return folder;
    }

    private boolean load(MemberFolder into, SegmentId upTo) throws IOException {
        return new Loading(store, into)
                .load(
                        upTo,
                        segment -> {
                            into.append(segment);
                            return true;
                        });
    }

    private static List<Long> restored(MemberFolder folder, SegmentId upTo) throws IOException {
        Restored restored = folder.restore(upTo);
        List<Long> numbers = new ArrayList<>(List.of(restored.base().number()));
        restored.segments(segment -> numbers.add(segment.id().number()));
        return numbers;
    }

    private Path file(SegmentId id) {
        return SHARED.resolve(SegmentName.of(id));
    }

    private Path baseFile(SegmentId id) {
        return SHARED.resolve(SegmentName.ofBase(id));
    }

    @Test
    void anEmptyFolderGetsTheNewestBaseAndItsChain() throws Exception {
        try (MemberFolder own = member(OWN)) {
            assertThat(load(own, chain.id(9))).isTrue();
            assertThat(own.last()).isEqualTo(chain.id(9));
            assertThat(restored(own, chain.id(9))).containsExactly(6L, 7L, 8L, 9L);
        }
    }

    @Test
    void nothingBeyondWhatTheHeadNamesIsLoaded() throws Exception {
        try (MemberFolder own = member(OWN)) {
            assertThat(load(own, chain.id(5))).isTrue();
            assertThat(own.last()).isEqualTo(chain.id(5));
            assertThat(restored(own, chain.id(5))).containsExactly(3L, 4L, 5L);
        }
    }

    @Test
    void whoHasSomeGetsTheRest() throws Exception {
        try (MemberFolder own = member(OWN)) {
            own.append(chain.get(1));
            own.append(chain.get(2));
            assertThat(load(own, chain.id(2))).isFalse();
            // Bases are of no use where less is missing than they hold.
            store.dropBase(chain.id(3));
            store.dropBase(chain.id(6));
            assertThat(load(own, chain.id(9))).isFalse();
            assertThat(restored(own, chain.id(9)))
                    .containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L);
        }
    }

    /** Segments of an epoch that is over, which no head named, make room for the base (C16). */
    @Test
    void orphansOfItsOwnMakeRoom() throws Exception {
        Chain orphans = new Chain();
        try (MemberFolder own = member(OWN)) {
            for (int count = 0; count < 7; count++) {
                own.append(orphans.next(77, 0));
            }
            assertThat(load(own, chain.id(9))).isTrue();
            assertThat(restored(own, chain.id(9))).containsExactly(6L, 7L, 8L, 9L);
        }
    }

    @Test
    void aDamagedBaseFallsBackToTheOlderOne() throws Exception {
        disk.flip(baseFile(chain.id(6)), 100, 1);
        try (MemberFolder own = member(OWN)) {
            assertThat(load(own, chain.id(9))).isTrue();
            assertThat(restored(own, chain.id(9))).containsExactly(3L, 4L, 5L, 6L, 7L, 8L, 9L);
        }
    }

    @Test
    void aBaseUnderAnothersNameIsNotTaken() throws Exception {
        disk.put(baseFile(chain.id(6)), disk.content(baseFile(chain.id(3))));
        try (MemberFolder own = member(OWN)) {
            assertThatThrownBy(() -> store.base(chain.id(6)))
                    .isInstanceOf(RefusedFolderException.class)
                    .hasMessageContaining(baseFile(chain.id(6)).toString());
            assertThat(load(own, chain.id(9))).isTrue();
            assertThat(restored(own, chain.id(9))).containsExactly(3L, 4L, 5L, 6L, 7L, 8L, 9L);
        }
    }

    @Test
    void whatIsMissingIsNamedAndTheFolderStays() throws Exception {
        disk.delete(file(chain.id(8)));
        try (MemberFolder own = member(OWN)) {
            assertThatThrownBy(() -> load(own, chain.id(9)))
                    .isInstanceOf(MissingSegmentException.class)
                    .hasMessageContaining("segment 8")
                    .hasMessageContaining(chain.id(9).toString());
            assertThat(own.last()).isEqualTo(SegmentId.NONE);
            // It is there again, as where the head was read anew (C14).
            store.append(chain.get(8));
            assertThat(load(own, chain.id(9))).isTrue();
        }
    }

    /** Deleted between the look and the read, as by the sweep of whoever is in office. */
    @Test
    void whatIsDeletedWhileItIsLoadedIsMissed() throws Exception {
        try (MemberFolder own = member(OWN)) {
            assertThatThrownBy(
                            () ->
                                    new Loading(store, own)
                                            .load(
                                                    chain.id(9),
                                                    segment -> {
                                                        own.append(segment);
                                                        disk.delete(file(chain.id(9)));
                                                        return true;
                                                    }))
                    .isInstanceOf(MissingSegmentException.class);
            assertThat(own.last().number()).isBetween(7L, 8L);
            store.append(chain.get(9));
            assertThat(load(own, chain.id(9))).isFalse();
            assertThat(restored(own, chain.id(9))).containsExactly(6L, 7L, 8L, 9L);
        }
    }

    @Test
    void aDamagedSegmentIsRefusedByName() throws Exception {
        byte[] before = disk.content(file(chain.id(8)));
        for (int at = 0; at < before.length; at += 41) {
            disk.flip(file(chain.id(8)), at, 3);
            byte[] damaged = disk.content(file(chain.id(8)));
            try (MemberFolder own = member(OWN)) {
                assertThatThrownBy(() -> load(own, chain.id(9)))
                        .isInstanceOf(RefusedSegmentException.class);
                assertThat(own.last()).isEqualTo(SegmentId.NONE);
            }
            assertThat(disk.content(file(chain.id(8)))).isEqualTo(damaged);
            disk.put(file(chain.id(8)), before);
        }
    }

    @Test
    void aFolderThatCannotBeSharedIsRefused() throws Exception {
        Path nowhere = Path.of("/simulated/nowhere");
        assertThatThrownBy(() -> FolderStore.check(disk, nowhere, NAMES))
                .isInstanceOf(RefusedFolderException.class)
                .hasMessageContaining(nowhere.toString())
                .hasMessageContaining("Mount it, or make it");
        assertThatThrownBy(() -> FolderStore.in(disk, nowhere, "bank", NAMES).open(Chain.BIRTH))
                .isInstanceOf(RefusedFolderException.class)
                .hasMessageContaining("Mount it, or make it");
        disk.failAt("write", SHARED);
        FolderStore.check(disk, SHARED, NAMES);
        assertThat(disk.list(SHARED)).noneMatch(it -> it.startsWith("probe"));
        disk.put(SHARED.resolve("beside"), "x".getBytes(UTF_8));
        FolderStore.check(disk, SHARED, NAMES);
    }

    /** Of a copy on this machine's disk, where folders are listed. */
    private SharedReport report(Path temp) throws IOException {
        Path named = Files.createDirectories(temp.resolve(Chain.BIRTH.toString()));
        for (String name : disk.list(SHARED)) {
            Files.write(named.resolve(name), disk.content(SHARED.resolve(name)));
        }
        List<SharedReport> all = SharedReport.of(Disk.readOnly(), temp);
        assertThat(SharedReport.of(Disk.readOnly(), named)).isEqualTo(all);
        assertThat(all).hasSize(1);
        return all.get(0);
    }

    @Test
    void anOfflineLookSaysWhatLeadsToTheLast(@TempDir Path temp) throws Exception {
        disk.put(SHARED.resolve("half.tmp"), new byte[3]);
        SharedReport report = report(temp);
        assertThat(report.isWhole()).isTrue();
        assertThat(report.service()).contains(Chain.SERVICE);
        assertThat(report.last()).isEqualTo(chain.id(9));
        assertThat(report.restoredFrom()).contains(chain.id(6));
        assertThat(report.segments()).isEqualTo(9);
        assertThat(report.bases()).containsExactly(chain.id(3), chain.id(6));
        assertThat(report.unfinished()).isOne();
        assertThat(SharedReport.of(Disk.readOnly(), Files.createDirectory(temp.resolve("x"))))
                .isEmpty();
    }

    @Test
    void anOfflineLookNamesWhatIsDamaged(@TempDir Path temp) throws Exception {
        disk.flip(baseFile(chain.id(6)), 100, 1);
        disk.flip(file(chain.id(2)), 130, 1);
        SharedReport report = report(temp);
        assertThat(report.isWhole()).isFalse();
        assertThat(report.leadsToLast()).isTrue();
        assertThat(report.restoredFrom()).contains(chain.id(3));
        assertThat(report.damages())
                .extracting(it -> it.file().getFileName().toString())
                .containsExactly(SegmentName.of(chain.id(2)), SegmentName.ofBase(chain.id(6)));
    }

    @Test
    void anOfflineLookNamesWhatIsMissing(@TempDir Path temp) throws Exception {
        disk.delete(file(chain.id(8)));
        SharedReport report = report(temp);
        assertThat(report.leadsToLast()).isFalse();
        assertThat(report.missing()).contains("segment 8").contains(chain.id(9).toString());
    }
}
