package io.saucr.services.checkpoint;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.Birth;
import io.saucr.services.core.standby.SegmentId;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.RefusedFolderException;
import io.saucr.services.journal.SimulatedDisk;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** C2: segments in a folder that members share. */
class FolderStoreTest {

    private static final Path FOLDER = Path.of("/simulated/shared");
    private static final SecureRandom NAMES = new SecureRandom();

    private final Chain chain = new Chain();

    private static FolderStore store(Disk disk, Path folder) throws IOException {
        return new FolderStore(disk, folder, Chain.SERVICE, Chain.BIRTH, NAMES);
    }

    @Test
    void whatWasWrittenIsReadByAnother(@TempDir Path temp) throws Exception {
        Path folder = temp.resolve("shared");
        try (FolderStore store = store(Disk.local(), folder);
                FolderStore other = store(Disk.local(), folder)) {
            for (int count = 0; count < 3; count++) {
                store.append(chain.next());
                other.append(chain.last().number() == 2 ? chain.get(1) : chain.get(count + 1));
            }
            store.force();
            assertThat(other.list()).containsExactly(chain.id(1), chain.id(2), chain.id(3));
            assertThat(other.read(chain.id(2)).encoded()).isEqualTo(chain.get(2).encoded());
            assertThatThrownBy(() -> other.read(new SegmentId(2, 2, chain.id(2).digest())))
                    .isInstanceOf(MissingSegmentException.class)
                    .hasMessageContaining(folder.toString());
            other.drop(chain.id(2));
            other.drop(chain.id(2));
            assertThat(store.list()).containsExactly(chain.id(1), chain.id(3));
            assertThat(Disk.local().list(folder)).hasSize(2);
        }
    }

    /** The last ones of a deposed primary lie beside those of its successor. */
    @Test
    void twoOfOneNumberAreKept() throws Exception {
        try (FolderStore store = store(new SimulatedDisk(1), FOLDER)) {
            Segment orphan = chain.next();
            chain.cutAfter(0);
            chain.takeover();
            Segment successors = chain.next();
            store.append(successors);
            store.append(orphan);
            assertThat(store.list()).containsExactly(orphan.id(), successors.id());
            assertThat(store.read(orphan.id()).id()).isEqualTo(orphan.id());
        }
    }

    @Test
    void aNameThatHoldsSomethingElseIsRefused() throws Exception {
        SimulatedDisk disk = new SimulatedDisk(1);
        try (FolderStore store = store(disk, FOLDER)) {
            Segment segment = chain.next();
            Path file = FOLDER.resolve(SegmentName.of(segment.id()));
            byte[] other = "something else".getBytes(UTF_8);
            disk.put(file, other);
            assertThatThrownBy(() -> store.append(segment))
                    .isInstanceOf(RefusedFolderException.class)
                    .hasMessageContaining(file.toString())
                    .hasMessageContaining("left as it is");
            assertThatThrownBy(() -> store.read(segment.id()))
                    .isInstanceOf(RefusedSegmentException.class);
            assertThat(disk.content(file)).isEqualTo(other);
            // Whole, but under a wrong name.
            disk.delete(file);
            store.append(segment);
            Segment next = chain.next();
            disk.rename(file, FOLDER.resolve(SegmentName.of(next.id())));
            assertThatThrownBy(() -> store.read(next.id()))
                    .isInstanceOf(RefusedSegmentException.class)
                    .hasMessageContaining("under the name of");
            disk.put(FOLDER.resolve("0-1-" + "0".repeat(64) + ".seg"), other);
            disk.put(FOLDER.resolve("9".repeat(19) + "-1-" + "0".repeat(64) + ".seg"), other);
            disk.put(FOLDER.resolve("notes.txt"), other);
            assertThat(store.list()).containsExactly(next.id());
        }
    }

    /** A base may be put by one thread, which sweeps then, and segments by another. */
    @Test
    void whatThisProcessIsWritingIsNotSwept() throws Exception {
        SimulatedDisk disk = new SimulatedDisk(1);
        disk.makeFolder(FOLDER);
        SharedStore.Opener opener = FolderStore.in(disk, FOLDER, Chain.SERVICE, NAMES);
        AtomicBoolean done = new AtomicBoolean();
        CompletableFuture<Void> sweeping =
                CompletableFuture.runAsync(
                        () -> {
                            try (SharedStore other = opener.open(Chain.BIRTH)) {
                                while (!done.get()) {
                                    other.sweep();
                                }
                            } catch (IOException e) {
                                throw new UncheckedIOException(e);
                            }
                        });
        try (SharedStore store = opener.open(Chain.BIRTH)) {
            for (int count = 1; count <= 200; count++) {
                store.append(chain.next());
            }
            assertThat(store.list()).hasSize(200);
        } finally {
            done.set(true);
        }
        sweeping.get(30, TimeUnit.SECONDS);
    }

    @Test
    void aForeignSegmentIsRefused() throws Exception {
        SimulatedDisk disk = new SimulatedDisk(1);
        Segment segment = chain.next();
        try (FolderStore store = store(disk, FOLDER);
                FolderStore shop = new FolderStore(disk, FOLDER, "shop", Chain.BIRTH, NAMES);
                FolderStore reborn =
                        new FolderStore(disk, FOLDER, Chain.SERVICE, new Birth(5, 5), NAMES)) {
            store.append(segment);
            assertThatThrownBy(() -> shop.append(segment))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("\"bank\"");
            assertThatThrownBy(() -> shop.read(segment.id()))
                    .isInstanceOf(RefusedSegmentException.class);
            assertThatThrownBy(() -> reborn.read(segment.id()))
                    .isInstanceOf(RefusedSegmentException.class)
                    .hasMessageContaining(Chain.BIRTH.toString());
        }
    }

    /** Every call fails once: what was appended stays, whatever the power does; nothing torn is. */
    @Test
    void whateverFails() throws Exception {
        for (int seed = 1; seed <= 5; seed++) {
            for (int call = 1; call <= 30; call++) {
                SimulatedDisk disk = new SimulatedDisk(100L * seed + call);
                Chain own = new Chain();
                disk.failOnceAt(call);
                int safe = appendSome(disk, own);
                disk.powerFails();
                try (FolderStore store = store(disk, FOLDER)) {
                    for (SegmentId id : store.list()) {
                        assertThat(store.read(id).id()).isEqualTo(own.id(id.number()));
                    }
                    assertThat(store.list().size()).isGreaterThanOrEqualTo(safe);
                    for (int number = 1; number <= safe; number++) {
                        store.read(own.id(number));
                    }
                    store.sweep();
                    assertThat(disk.list(FOLDER)).allMatch(it -> it.endsWith(".seg"));
                }
            }
        }
    }

    /** Appends each until that succeeds; returns how many did. */
    private static int appendSome(SimulatedDisk disk, Chain own) throws IOException {
        boolean failed = false;
        FolderStore store;
        try {
            store = store(disk, FOLDER);
        } catch (IOException e) {
            failed = true;
            store = store(disk, FOLDER);
        }
        int safe = 0;
        while (safe < 5) {
            Segment segment = own.size() > safe ? own.get(safe + 1L) : own.next();
            try {
                store.append(segment);
                safe++;
            } catch (IOException e) {
                assertThat(failed).as("a second failure").isFalse();
                failed = true;
            }
        }
        store.close();
        return safe;
    }
}
