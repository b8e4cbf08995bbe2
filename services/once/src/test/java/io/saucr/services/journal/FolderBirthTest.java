package io.saucr.services.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** K11: a folder has the old birth or the new one, whatever fails; its turns stay. */
class FolderBirthTest {

    private static final Path PATH = Path.of("/apps/bank").toAbsolutePath();
    private static final JournalOptions OPTIONS = new JournalOptions(ForceMode.always(), 4096);
    private static final Incarnation HEAD = new Incarnation(new Birth(7, 7), 9, 99);

    private final SecureRandom random = new SecureRandom();

    private static final class Heard implements JournalListener {
        @Override
        public void forced(long turn) {}

        @Override
        public void failed(IOException cause) {
            throw new AssertionError(cause);
        }
    }

    private Birth withTurns(SimulatedDisk disk, int turns) throws IOException {
        try (ServiceFolder folder = ServiceFolder.open(disk, PATH, "bank", random)) {
            Journal journal = folder.recover(OPTIONS).journal(new Heard());
            folder.confirm();
            for (long turn = journal.appended() + 1, end = turn + turns; turn < end; turn++) {
                journal.append(turn, ByteBuffer.wrap(new byte[] {(byte) turn}));
                while (journal.forced() < turn) {
                    Thread.onSpinWait();
                }
            }
            journal.close();
            return folder.birth();
        }
    }

    @Test
    void theNewGenerationHasAllTurnsAndHigherStarts() throws Exception {
        SimulatedDisk disk = new SimulatedDisk(1);
        Birth old = withTurns(disk, 3);
        Incarnation first;
        try (FolderBirth order = FolderBirth.open(disk, PATH, "bank")) {
            assertThat(order.birth()).isEqualTo(old);
            first = order.bearAnew(Optional.of(HEAD), Optional.of(new Birth(5, 5)), random);
        }
        assertThat(first.number()).isEqualTo(2);
        try (ServiceFolder folder = ServiceFolder.open(disk, PATH, "bank", random)) {
            assertThat(folder.birth()).isEqualTo(first.birth()).isNotEqualTo(old);
            assertThat(folder.formers()).containsExactly(old);
            assertThat(folder.replaces()).contains(HEAD);
            assertThat(folder.marker()).contains(new Birth(5, 5));
            assertThat(folder.confirmed()).isZero();
            assertThat(folder.incarnations())
                    .extracting(Incarnation::number)
                    .containsExactly(2L, 3L);
            assertThat(folder.recover(OPTIONS).lastTurn()).isEqualTo(3);
        }
        // Its own turns follow those of the old birth, and a third birth those of both.
        assertThat(withTurns(disk, 2)).isEqualTo(first.birth());
        try (FolderBirth order = FolderBirth.open(disk, PATH, "bank")) {
            Incarnation unused = order.bearAnew(Optional.empty(), Optional.empty(), random);
            order.confirm();
        }
        try (ServiceFolder folder = ServiceFolder.open(disk, PATH, "bank", random)) {
            assertThat(folder.formers()).containsExactly(old, first.birth());
            assertThat(folder.recover(OPTIONS).lastTurn()).isEqualTo(5);
        }
    }

    @Test
    void whateverFailsItHasTheOldBirthOrTheNewOne() throws Exception {
        int olds = 0;
        int news = 0;
        for (long call = 1; ; call++) {
            SimulatedDisk disk = new SimulatedDisk(call);
            Birth old = withTurns(disk, 2);
            disk.failAt(call);
            boolean done = false;
            try (FolderBirth order = FolderBirth.open(disk, PATH, "bank")) {
                Incarnation start = order.bearAnew(Optional.of(HEAD), Optional.empty(), random);
                order.confirm();
                assertThat(start.birth()).isNotEqualTo(old);
                done = true;
            } catch (IOException e) {
                assertThat(disk.failed()).isNotEmpty();
            }
            disk.powerFails();
            try (ServiceFolder folder = ServiceFolder.open(disk, PATH, "bank", random)) {
                boolean anew = !folder.birth().equals(old);
                olds += anew ? 0 : 1;
                news += anew ? 1 : 0;
                assertThat(folder.formers()).isEqualTo(anew ? List.of(old) : List.of());
                assertThat(folder.replaces().isPresent()).isEqualTo(anew);
                assertThat(anew || !done).isTrue();
                assertThat(folder.recover(OPTIONS).lastTurn()).isEqualTo(2);
            }
            if (done) {
                break;
            }
        }
        assertThat(olds).isGreaterThan(2);
        assertThat(news).isGreaterThan(2);
    }

    @Test
    void whatIsNoFolderOrInUseIsRefused() throws Exception {
        SimulatedDisk disk = new SimulatedDisk(1);
        assertThatThrownBy(() -> FolderBirth.open(disk, PATH, "bank"))
                .isInstanceOf(RefusedFolderException.class)
                .hasMessageContaining("no file identity");
        Birth unused = withTurns(disk, 1);
        assertThatThrownBy(() -> FolderBirth.open(disk, PATH, "shop"))
                .isInstanceOf(RefusedFolderException.class)
                .hasMessageContaining("that of \"bank\"");
        try (ServiceFolder folder = ServiceFolder.open(disk, PATH, "bank", random)) {
            assertThat(folder.name()).isEqualTo("bank");
            assertThatThrownBy(() -> FolderBirth.open(disk, PATH, "bank"))
                    .isInstanceOf(RefusedFolderException.class)
                    .hasMessageContaining("in use");
        }
    }

    /** K14: starts that are refused are not remembered, and their numbers not given again. */
    @Test
    void aFolderDoesNotGrowByStartsThatAreRefused() throws Exception {
        SimulatedDisk disk = new SimulatedDisk(1);
        Birth unused = withTurns(disk, 1);
        for (int refused = 0; refused < 20; refused++) {
            try (ServiceFolder folder = ServiceFolder.open(disk, PATH, "bank", random)) {
                assertThat(folder.incarnation().number()).isEqualTo(refused + 2);
                if (refused % 2 == 0) {
                    assertThat(folder.recover(OPTIONS).lastTurn()).isEqualTo(1);
                }
                folder.withdraw();
            }
        }
        try (ServiceFolder folder = ServiceFolder.open(disk, PATH, "bank", random)) {
            assertThat(folder.incarnations())
                    .extracting(Incarnation::number)
                    .containsExactly(1L, 22L);
            assertThat(folder.recover(OPTIONS).lastTurn()).isEqualTo(1);
        }
    }
}
