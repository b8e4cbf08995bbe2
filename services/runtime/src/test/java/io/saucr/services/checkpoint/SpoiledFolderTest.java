package io.saucr.services.checkpoint;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.journal.RefusedFolderException;
import io.saucr.services.journal.SimulatedDisk;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * C4, C14: whatever becomes of a file of a folder, it is refused by name, or what is restored is
 * the chain and nothing else.
 */
class SpoiledFolderTest {

    private static final Path PATH = Path.of("/simulated/member");
    private static final SecureRandom NAMES = new SecureRandom();
    private static final int SEGMENTS = 9;

    private final Chain chain = new Chain();

    private MemberFolder open(SimulatedDisk disk) throws IOException {
        return MemberFolder.open(disk, PATH, Chain.SERVICE, NAMES, 1600);
    }

    private List<Path> fill(SimulatedDisk disk) throws IOException {
        try (MemberFolder folder = open(disk)) {
            folder.birth(Chain.BIRTH);
            for (int number = 1; number <= SEGMENTS; number++) {
                folder.append(chain.size() < number ? chain.next(300, 0) : chain.get(number));
            }
            folder.force();
            for (long number : new long[] {3, 6}) {
                folder.base(
                        chain.id(number),
                        chain.epochs(),
                        writer ->
                                writer.section("state")
                                        .write(chain.id(number).digest().getBytes(UTF_8)));
            }
        }
        List<Path> files = new ArrayList<>();
        files.add(PATH.resolve("member"));
        for (String folder : List.of("segments", "bases")) {
            for (String name : disk.list(PATH.resolve(folder))) {
                files.add(PATH.resolve(folder).resolve(name));
            }
        }
        return files;
    }

    private static byte[] spoil(byte[] whole, Random random) {
        byte[] bytes = whole.clone();
        for (int left = 1 + random.nextInt(2); left > 0 && bytes.length > 0; left--) {
            int at = random.nextInt(bytes.length);
            switch (random.nextInt(5)) {
                case 0 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
                case 1 -> bytes = Arrays.copyOf(bytes, at);
                case 2 -> bytes = Arrays.copyOf(bytes, bytes.length + 1 + random.nextInt(100));
                case 3 -> Arrays.fill(bytes, at, Math.min(bytes.length, at + 4), (byte) 0x7f);
                default -> Arrays.fill(bytes, at, bytes.length, (byte) 0);
            }
        }
        return bytes;
    }

    @Test
    void aFileThatIsSpoiledIsRefusedOrMadeUpFor() throws Exception {
        int refused = 0;
        int restored = 0;
        int older = 0;
        for (int seed = 0; seed < 400; seed++) {
            Random random = new Random(seed);
            SimulatedDisk disk = new SimulatedDisk(seed);
            List<Path> files = fill(disk);
            Path file = files.get(random.nextInt(files.size()));
            disk.put(file, spoil(disk.content(file), random));
            try (MemberFolder folder = open(disk)) {
                SegmentId last = folder.last();
                assertThat(last).isEqualTo(chain.id(last.number()));
                MemberReport report = MemberFolder.verify(disk, PATH);
                boolean leads = report.restoredFrom().isPresent();
                try {
                    older += check(folder.restore(last)) < 6 ? 1 : 0;
                    restored++;
                    assertThat(leads).as("the offline check agrees").isTrue();
                } catch (RefusedFolderException e) {
                    refused++;
                    assertThat(leads).as("the offline check agrees").isFalse();
                }
            } catch (RefusedFolderException e) {
                assertThat(e.getMessage()).startsWith(PATH.toString());
                refused++;
            } catch (RuntimeException | Error e) {
                throw new AssertionError("seed " + seed + ", " + file, e);
            }
        }
        assertThat(refused).isGreaterThan(30);
        assertThat(restored).isGreaterThan(80);
        assertThat(older).isGreaterThan(10);
    }

    /** Returns the number of the base. */
    private long check(Restored restored) throws IOException {
        long base = restored.base().number();
        restored.sections(
                (name, content) ->
                        assertThat(new String(content.readAllBytes(), UTF_8))
                                .isEqualTo(chain.id(base).digest()));
        List<SegmentId> read = new ArrayList<>();
        restored.segments(segment -> read.add(segment.id()));
        for (int index = 0; index < read.size(); index++) {
            assertThat(read.get(index)).isEqualTo(chain.id(base + 1 + index));
        }
        assertThat(base + read.size()).isEqualTo(restored.upTo().number());
        return base;
    }
}
