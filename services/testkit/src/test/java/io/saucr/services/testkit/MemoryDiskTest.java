package io.saucr.services.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.Body;
import io.saucr.services.core.Change;
import io.saucr.services.core.Delta;
import io.saucr.services.core.Finals;
import io.saucr.services.journal.OutboxFiles;
import io.saucr.services.state.Changes;
import io.saucr.services.state.StateSnapshot;
import io.saucr.services.turns.DeltaFormat;
import io.saucr.services.turns.Ending;
import io.saucr.services.turns.Guard;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Test;

/** What the disk of the test kit keeps across crashes. */
class MemoryDiskTest {

    private final List<Long> reported = new ArrayList<>();
    private int incarnations;

    private final Guard.Listener listener =
            new Guard.Listener() {
                @Override
                public void moved(Finals now) {
                    reported.add(now.outside());
                }

                @Override
                public void over(Ending why) {
                    throw new AssertionError(why.reason(), why.cause());
                }
            };

    private static MemoryDisk disk(long seed) {
        RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
        return new MemoryDisk(random);
    }

    private Guard start(MemoryDisk disk, List<String> found) throws IOException {
        Guard start = disk.start();
        Guard.Recovery into =
                Guard.Recovery.of(
                        (name, content) ->
                                found.add(name + "=" + new String(content.readAllBytes(), UTF_8)),
                        (turn, delta) -> found.add(text(turn, delta)));
        incarnations = start.recover(into).incarnations().size();
        start.begin(listener);
        return start;
    }

    private static Delta turn(long number, String text) {
        Change change = new Change.OutputMade(new Body(text, new byte[0]));
        return new Delta(number, 1, 1, List.of(change));
    }

    private static long length(Delta turn) {
        return DeltaFormat.bytes(turn, Changes.NONE).length;
    }

    private static String text(long number, ByteBuffer bytes) throws IOException {
        byte[] copy = new byte[bytes.remaining()];
        bytes.get(copy);
        Delta delta = DeltaFormat.read(number, new ByteArrayInputStream(copy));
        return delta.turn() + ":" + ((Change.OutputMade) delta.changes().get(0)).body().type();
    }

    @Test
    void aCrashKeepsWhatWasForcedAndABeginningOfTheRest() throws Exception {
        Set<String> outcomes = new TreeSet<>();
        for (long seed = 0; seed < 50; seed++) {
            MemoryDisk disk = disk(seed);
            Guard first = start(disk, new ArrayList<>());
            first.done(new Guard.Done(turn(1, "a"), Changes.NONE, () -> StateSnapshot.NONE));
            disk.force();
            first.done(new Guard.Done(turn(2, "b"), Changes.NONE, () -> StateSnapshot.NONE));
            first.done(new Guard.Done(turn(3, "c"), Changes.NONE, () -> StateSnapshot.NONE));
            disk.crash();
            List<String> found = new ArrayList<>();
            start(disk, found);
            outcomes.add(found.toString());
        }
        assertThat(outcomes).containsExactly("[1:a, 2:b, 3:c]", "[1:a, 2:b]", "[1:a]");
        assertThat(reported).hasSize(50).containsOnly(1L);
    }

    @Test
    void whatAStartFoundStays() throws Exception {
        MemoryDisk disk = disk(1);
        start(disk, new ArrayList<>())
                .done(new Guard.Done(turn(1, "a"), Changes.NONE, () -> StateSnapshot.NONE));
        Guard unused = start(disk, new ArrayList<>());
        assertThat(disk.hasUnforced()).isFalse();
        assertThat(incarnations).isEqualTo(2);
        for (int crash = 0; crash < 20; crash++) {
            disk.crash();
            List<String> found = new ArrayList<>();
            start(disk, found);
            assertThat(found).containsExactly("1:a");
        }
    }

    @Test
    void aBaseTakesThePlaceOfItsTurns() throws Exception {
        MemoryDisk disk = disk(1);
        Guard first = start(disk, new ArrayList<>());
        first.done(new Guard.Done(turn(1, "a"), Changes.NONE, () -> StateSnapshot.NONE));
        first.done(new Guard.Done(turn(2, "b"), Changes.NONE, () -> StateSnapshot.NONE));
        disk.force();
        first.folding()
                .fold(
                        1,
                        OutboxFiles.Names.NONE,
                        writer -> writer.section("state").write("A".getBytes(UTF_8)));
        assertThat(first.folding().bytesAboveBase()).isEqualTo(length(turn(2, "b")));
        assertThat(first.room().bytesNotFinal()).isZero();
        first.done(new Guard.Done(turn(3, "cc"), Changes.NONE, () -> StateSnapshot.NONE));
        assertThat(first.room().bytesNotFinal()).isEqualTo(length(turn(3, "cc")));
        assertThatThrownBy(() -> first.folding().fold(3, OutboxFiles.Names.NONE, writer -> {}))
                .hasMessageContaining("to 2, not 3");
        disk.force();
        disk.crash();
        List<String> found = new ArrayList<>();
        start(disk, found);
        assertThat(found).containsExactly("state=A", "2:b", "3:cc");
    }

    @Test
    void whoCrashedWritesNoMore() throws Exception {
        MemoryDisk disk = disk(1);
        Guard first = start(disk, new ArrayList<>());
        disk.crash();
        assertThatThrownBy(
                        () ->
                                first.done(
                                        new Guard.Done(
                                                turn(1, "a"),
                                                Changes.NONE,
                                                () -> StateSnapshot.NONE)))
                .isInstanceOf(IllegalStateException.class);
        start(disk, new ArrayList<>());
        assertThatThrownBy(
                        () ->
                                first.done(
                                        new Guard.Done(
                                                turn(1, "a"),
                                                Changes.NONE,
                                                () -> StateSnapshot.NONE)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("incarnation 1 crashed");
    }
}
