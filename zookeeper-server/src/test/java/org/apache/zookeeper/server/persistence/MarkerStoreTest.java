package org.apache.zookeeper.server.persistence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.core.log.LleMap;
import io.saucr.core.log.LogIdentity;
import io.saucr.core.log.Markers;
import io.saucr.core.quorum.View;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The marker files beside the log (R12 to R14). */
class MarkerStoreTest {
    private static final long Z = 0x1_0000_0005L;

    @TempDir Path folder;

    @Test
    void whatWasNeverWrittenClaimsNothing() throws Exception {
        assertThat(new MarkerStore(folder).read()).isEqualTo(Markers.none());
    }

    @Test
    void bothMarkersAreReadAsTheyWereWrittenAndReplacedAsAWhole() throws Exception {
        LleMap map = LleMap.of(Map.of(1L, Z, 2L, Z + 3));
        MarkerStore store = new MarkerStore(folder);
        store.writeFastSwitch(Z);
        assertThat(new MarkerStore(folder).read()).isEqualTo(new Markers(Z, 0, LleMap.empty()));
        assertThat(new MarkerStore(folder).read().crashedInFastMode()).isTrue();
        store.writeLatestOnDisk(Z + 3, map, View.FIRST);
        assertThat(new MarkerStore(folder).read()).isEqualTo(new Markers(Z, Z + 3, map));
        store.writeFastSwitch(Z + 4);
        store.writeLatestOnDisk(Z + 9, LleMap.empty(), View.FIRST);
        assertThat(new MarkerStore(folder).read())
                .isEqualTo(new Markers(Z + 4, Z + 9, LleMap.empty()));
        try (var files = Files.list(folder)) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrder("saucr.fastSwitch", "saucr.latestOnDisk");
        }
    }

    /** A version without views says of a marker with one that it does not know its version. */
    @Test
    void r23AViewIsReadAsItWasWritten() throws Exception {
        MarkerStore store = new MarkerStore(folder);
        View view = new View(Z + 1, 5, List.of(1L, 2L, 4L));
        store.writeLatestOnDisk(Z + 3, LleMap.of(Map.of(1L, Z)), view);
        assertThat(store.read()).isEqualTo(new Markers(0, Z + 3, LleMap.of(Map.of(1L, Z)), view));
        assertThat(Files.readAllLines(folder.resolve("saucr.latestOnDisk")))
                .startsWith("saucr-latest-on-disk 2", "zxid=100000008", "lle=1=100000005")
                .contains("view=100000006;5;1,2,4");
    }

    @Test
    void aWriteThatWasInterruptedLeavesTheOldMarker() throws Exception {
        MarkerStore store = new MarkerStore(folder);
        store.writeFastSwitch(Z);
        Files.write(folder.resolve("saucr.fastSwitch.tmp"), new byte[] {1, 2, 3});
        assertThat(new MarkerStore(folder).read().fastSwitch()).isEqualTo(Z);
        store.writeFastSwitch(Z + 1);
        assertThat(new MarkerStore(folder).read().fastSwitch()).isEqualTo(Z + 1);
    }

    @Test
    void r14AWriteThatFailsSaysSoAndLeavesTheOldMarker() throws Exception {
        MarkerStore store = new MarkerStore(folder);
        store.writeLatestOnDisk(Z, LleMap.empty(), View.FIRST);
        Files.createDirectory(folder.resolve("saucr.latestOnDisk.tmp"));
        assertThatThrownBy(() -> store.writeLatestOnDisk(Z + 1, LleMap.empty(), View.FIRST))
                .isInstanceOf(IOException.class);
        assertThat(new MarkerStore(folder).read().latestOnDisk()).isEqualTo(Z);
    }

    @Test
    void r26ATruncationLowersWhatTheLogMustReach() throws Exception {
        MarkerStore store = new MarkerStore(folder);
        store.writeIdentity(new LogIdentity("", 1, 77, 1, Z, Z - 3));
        store.writeLatestOnDisk(Z - 3, LleMap.empty(), View.FIRST);
        store.writeFastSwitch(Z + 5);
        store.lowerExtent(Z - 1);
        assertThat(store.identity()).contains(new LogIdentity("", 1, 77, 1, Z - 1, Z - 3));
        assertThat(store.read().fastSwitch()).isEqualTo(Z);
        store.lowerExtent(Z - 9);
        assertThat(store.identity()).contains(new LogIdentity("", 1, 77, 1, Z - 9, Z - 3));
        assertThat(store.read().fastSwitch()).isEqualTo(Z - 2);
        assertThat(store.read().crashedInFastMode()).isTrue();
    }

    @Test
    void r26WhatIsForcedRaisesWhatTheLogMustReach() throws Exception {
        MarkerStore store = new MarkerStore(folder);
        store.raiseExtent(() -> Z);
        assertThat(store.identity()).as("whose log it is, nobody knows").isEmpty();
        store.writeIdentity(new LogIdentity("", 1, 77, 1, Z - 9, 0));
        store.writeLatestOnDisk(Z - 3, LleMap.empty(), View.FIRST);
        store.raiseExtent(() -> Z - 4);
        assertThat(store.identity()).contains(new LogIdentity("", 1, 77, 1, Z - 9, 0));
        store.raiseExtent(() -> Z);
        assertThat(store.identity()).contains(new LogIdentity("", 1, 77, 1, Z, Z - 3));
        assertThat(store.identity().orElseThrow().leastEnd(Z - 3)).isEqualTo(Z);
        store.markLost(LogIdentity.ofLoss("", new LogIdentity.Stamp(1, 77)));
        store.raiseExtent(() -> Z + 1);
        assertThat(store.identity()).contains(new LogIdentity("", 1, 77, 0, 0, 0));
    }

    @Test
    void aDamagedMarkerIsNamedWithWhatToDo() throws Exception {
        MarkerStore store = new MarkerStore(folder);
        store.writeFastSwitch(Z);
        store.writeLatestOnDisk(Z, LleMap.empty(), View.FIRST);
        for (String name : new String[] {"saucr.fastSwitch", "saucr.latestOnDisk"}) {
            Path file = folder.resolve(name);
            byte[] whole = Files.readAllBytes(file);
            for (int length = 0; length < whole.length; length++) {
                Files.write(file, Arrays.copyOf(whole, length));
                assertThatThrownBy(() -> new MarkerStore(folder).read())
                        .isInstanceOf(IOException.class)
                        .hasMessageContaining(file.toString())
                        .hasMessageContaining("must not vote")
                        .hasMessageContaining("never put an older one in its place");
            }
            Files.write(file, whole);
            new MarkerStore(folder).read();
        }
    }
}
