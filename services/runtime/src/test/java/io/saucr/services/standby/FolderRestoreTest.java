package io.saucr.services.standby;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.checkpoint.FolderStore;
import io.saucr.services.checkpoint.MemberFolder;
import io.saucr.services.checkpoint.Segment;
import io.saucr.services.checkpoint.SegmentHeader;
import io.saucr.services.checkpoint.SharedStore;
import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.SimulatedDisk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** C4: which chain a folder is made of, where the store has several ends, or holes. */
class FolderRestoreTest {

    private static final Birth BIRTH = new Birth(1, 2);
    private static final Path SHARED = Path.of("/simulated/shared");
    private static final SegmentId NOT_THERE = new SegmentId(9, 99, "f".repeat(64));

    private final SecureRandom random = new SecureRandom();
    private final SimulatedDisk disk = new SimulatedDisk(1);
    private final List<String> problems = new ArrayList<>();
    private SharedStore store;
    private MemberFolder folder;

    @BeforeEach
    void open() throws IOException {
        disk.makeFolder(SHARED);
        store = FolderStore.in(disk, SHARED, "bank", random).open(BIRTH);
        folder = MemberFolder.open(new SimulatedDisk(2), Path.of("/simulated/own"), "bank", random);
        folder.birth(BIRTH);
    }

    @AfterEach
    void close() throws IOException {
        folder.close();
    }

    private Segment behind(SegmentId before, long epoch) throws IOException {
        long number = before.number() + 1;
        Segment segment =
                Segment.of(
                        new SegmentHeader(
                                "bank",
                                new Incarnation(BIRTH, epoch, epoch),
                                number,
                                number,
                                number,
                                before.digest(),
                                before.number()),
                        new byte[3]);
        store.append(segment);
        return segment;
    }

    private SegmentId fill(SegmentId named) throws IOException {
        return FolderRestore.fill(store, folder, FolderRestore.ends(store, named), problems::add);
    }

    @Test
    void whatTheHeadNamesIsTakenAndNothingBehindIt() throws IOException {
        SegmentId first = behind(SegmentId.NONE, 1).id();
        SegmentId second = behind(first, 1).id();
        SegmentId unused = behind(second, 1).id();
        assertThat(fill(second)).isEqualTo(second);
        assertThat(folder.last()).isEqualTo(second);
        assertThat(problems).isEmpty();
    }

    /** A deposed primary's last segments have higher numbers, and lead nowhere. */
    @Test
    void theNewestEpochCountsNotTheHighestNumber() throws IOException {
        SegmentId first = behind(SegmentId.NONE, 1).id();
        SegmentId orphan = behind(behind(first, 1).id(), 1).id();
        SegmentId second = behind(first, 2).id();
        assertThat(orphan.number()).isGreaterThan(second.number());
        assertThat(fill(NOT_THERE)).isEqualTo(second);
        assertThat(folder.known()).isEqualTo(1);
    }

    @Test
    void whereAChainIsBrokenTheNextOneServes() throws IOException {
        SegmentId first = behind(SegmentId.NONE, 1).id();
        SegmentId second = behind(first, 1).id();
        SegmentId third = behind(second, 2).id();
        SegmentId fourth = behind(third, 2).id();
        spoil(third);
        assertThat(fill(NOT_THERE)).isEqualTo(second);
        assertThat(problems)
                .hasSize(2)
                .allSatisfy(it -> assertThat(it).contains("Not up to segment"))
                .anySatisfy(it -> assertThat(it).contains(fourth.toString()));
    }

    @Test
    void whereNothingIsWholeNothingIsTaken() throws IOException {
        SegmentId first = behind(SegmentId.NONE, 1).id();
        SegmentId unused = behind(first, 1).id();
        spoil(first);
        assertThat(fill(NOT_THERE)).isEqualTo(SegmentId.NONE);
        assertThat(problems).hasSize(2);
    }

    /** What a call left that did not come to its end is gone on with. */
    @Test
    void aFolderThatHasThemInPartIsFilledAndOneThatHoldsOthersIsRefused() throws IOException {
        Segment first = behind(SegmentId.NONE, 1);
        SegmentId second = behind(first.id(), 1).id();
        folder.append(first);
        assertThat(fill(NOT_THERE)).isEqualTo(second);
        assertThat(fill(NOT_THERE)).isEqualTo(second);
        SegmentId other = behind(first.id(), 2).id();
        assertThatThrownBy(() -> fill(other)).isInstanceOf(IllegalArgumentException.class);
        assertThat(folder.last()).isEqualTo(second);
    }

    private void spoil(SegmentId id) throws IOException {
        Path birth = SHARED.resolve(BIRTH.toString());
        for (String name : disk.list(birth)) {
            if (name.contains(id.digest().substring(0, 8))) {
                try (Disk.File file = disk.open(birth.resolve(name))) {
                    file.write(ByteBuffer.wrap(new byte[] {1, 2, 3}), file.size() / 2);
                }
                return;
            }
        }
        throw new AssertionError("no file of " + id);
    }
}
