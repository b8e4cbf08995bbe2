package io.saucr.services.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.journal.OutboxFiles;
import io.saucr.services.local.Finality;
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
    private final Finality.Listener listener =
            new Finality.Listener() {
                @Override
                public void finalUpTo(long turn) {
                    reported.add(turn);
                }

                @Override
                public void failed(Throwable cause) {
                    throw new AssertionError(cause);
                }
            };

    private static MemoryDisk disk(long seed) {
        RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
        return new MemoryDisk(random);
    }

    private Finality start(MemoryDisk disk, List<String> found) throws IOException {
        Finality start = disk.start();
        start.recover(
                (name, content) ->
                        found.add(name + "=" + new String(content.readAllBytes(), UTF_8)),
                (turn, delta) -> found.add(turn + ":" + UTF_8.decode(delta)));
        start.begin(listener);
        return start;
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(UTF_8));
    }

    @Test
    void aCrashKeepsWhatWasForcedAndABeginningOfTheRest() throws Exception {
        Set<String> outcomes = new TreeSet<>();
        for (long seed = 0; seed < 50; seed++) {
            MemoryDisk disk = disk(seed);
            Finality first = start(disk, new ArrayList<>());
            first.done(1, bytes("a"));
            disk.force();
            first.done(2, bytes("b"));
            first.done(3, bytes("c"));
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
        start(disk, new ArrayList<>()).done(1, bytes("a"));
        Finality second = start(disk, new ArrayList<>());
        assertThat(disk.hasUnforced()).isFalse();
        assertThat(second.incarnation().number()).isEqualTo(2);
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
        Finality first = start(disk, new ArrayList<>());
        first.done(1, bytes("a"));
        first.done(2, bytes("b"));
        disk.force();
        first.fold(
                1,
                OutboxFiles.Names.NONE,
                writer -> writer.section("state").write("A".getBytes(UTF_8)));
        assertThat(first.bytesAboveBase()).isEqualTo(1);
        assertThat(first.bytesNotFinal()).isZero();
        first.done(3, bytes("cc"));
        assertThat(first.bytesNotFinal()).isEqualTo(2);
        assertThatThrownBy(() -> first.fold(3, OutboxFiles.Names.NONE, writer -> {}))
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
        Finality first = start(disk, new ArrayList<>());
        disk.crash();
        assertThatThrownBy(() -> first.done(1, bytes("a")))
                .isInstanceOf(IllegalStateException.class);
        start(disk, new ArrayList<>());
        assertThatThrownBy(() -> first.done(1, bytes("a")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("incarnation 1 crashed");
    }
}
