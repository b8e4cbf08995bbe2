package io.saucr.services.local;

import static io.saucr.services.once.PatientWaits.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.Body;
import io.saucr.services.core.Change;
import io.saucr.services.core.Delta;
import io.saucr.services.core.Finals;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.ForceMode;
import io.saucr.services.journal.OutboxFiles;
import io.saucr.services.journal.RefusedFolderException;
import io.saucr.services.state.Changes;
import io.saucr.services.state.StateSnapshot;
import io.saucr.services.turns.DeltaFormat;
import io.saucr.services.turns.Ending;
import io.saucr.services.turns.Guard;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Turns in a folder of this machine: final, folded, read again. */
class OwnDiskTest {

    @TempDir Path temp;

    private final AtomicLong newestFinal = new AtomicLong();
    private final Guard.Listener listener =
            new Guard.Listener() {
                @Override
                public void moved(Finals now) {
                    newestFinal.set(now.outside());
                }

                @Override
                public void over(Ending why) {
                    throw new AssertionError(why.reason(), why.cause());
                }
            };

    private OwnDisk open() throws IOException {
        return OwnDisk.open(
                Disk.local(), temp.resolve("bank"), "bank", ForceMode.always(), new SecureRandom());
    }

    private static List<String> recover(OwnDisk disk) throws IOException {
        List<String> found = new ArrayList<>();
        Guard.Recovery into =
                Guard.Recovery.of(
                        (name, content) ->
                                found.add(name + "=" + new String(content.readAllBytes(), UTF_8)),
                        (turn, delta) -> found.add(text(turn, delta)));
        found.add("newest " + disk.recover(into).newestTurn());
        return found;
    }

    private static Delta turn(long number, String text) {
        Change change = new Change.OutputMade(new Body(text, new byte[0]));
        return new Delta(number, 1, 1, List.of(change));
    }

    private static String text(long number, ByteBuffer bytes) throws IOException {
        byte[] copy = new byte[bytes.remaining()];
        bytes.get(copy);
        Delta delta = DeltaFormat.read(number, new ByteArrayInputStream(copy));
        return delta.turn() + ":" + ((Change.OutputMade) delta.changes().get(0)).body().type();
    }

    @Test
    void turnsAreReadAgainAboveTheBase() throws Exception {
        try (OwnDisk disk = open()) {
            assertThat(recover(disk)).containsExactly("newest 0");
            disk.begin(listener);
            disk.done(new Guard.Done(turn(1, "a"), Changes.NONE, () -> StateSnapshot.NONE));
            disk.done(new Guard.Done(turn(2, "b"), Changes.NONE, () -> StateSnapshot.NONE));
            await().untilAsserted(() -> assertThat(newestFinal).hasValue(2));
            assertThat(disk.bytesNotFinal()).isZero();
            assertThat(disk.bytesAboveBase()).isPositive();
            disk.fold(
                    1,
                    OutboxFiles.Names.NONE,
                    writer -> writer.section("state").write("A".getBytes(UTF_8)));
            disk.done(new Guard.Done(turn(3, "c"), Changes.NONE, () -> StateSnapshot.NONE));
        }
        assertThat(newestFinal).hasValue(3);
        try (OwnDisk again = open()) {
            assertThat(again.incarnation().number()).isEqualTo(2);
            assertThat(recover(again)).containsExactly("state=A", "2:b", "3:c", "newest 3");
        }
    }

    @Test
    void oneProcessHoldsTheFolder() throws Exception {
        try (OwnDisk disk = open()) {
            assertThat(disk.incarnation().number()).isEqualTo(1);
            assertThatThrownBy(this::open)
                    .isInstanceOf(RefusedFolderException.class)
                    .hasMessageContaining("in use");
        }
    }
}
