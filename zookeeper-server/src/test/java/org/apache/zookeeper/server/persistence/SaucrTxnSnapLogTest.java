package org.apache.zookeeper.server.persistence;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.core.log.Markers;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.apache.zookeeper.server.DataTree;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Snapshots become visible whole, whoever else writes one or was killed while writing one (H3). */
class SaucrTxnSnapLogTest {
    private static final int ROUNDS = 30;

    @TempDir Path folder;
    private final List<SaucrTxnSnapLog> opened = new ArrayList<>();

    private SaucrTxnSnapLog open() throws Exception {
        SaucrTxnSnapLog snapLog = Logs.open(folder, Markers.none());
        opened.add(snapLog);
        return snapLog;
    }

    private List<String> names() throws Exception {
        try (Stream<Path> files = Files.list(folder.resolve("version-2"))) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    @AfterEach
    void close() throws Exception {
        for (SaucrTxnSnapLog each : opened) {
            each.close();
        }
    }

    @Test
    void anUnfinishedSnapshotOfAKilledProcessIsRemovedAtTheNextStart() throws Exception {
        open().save(new DataTree(), new ConcurrentHashMap<>(), true);
        Path left = Files.createDirectory(folder.resolve("version-2/saucr.snapshot.123"));
        Files.write(left.resolve("snapshot.100000003"), new byte[100]);
        SaucrTxnSnapLog second = open();
        assertThat(names()).containsExactly("snapshot.0");
        second.save(new DataTree(), new ConcurrentHashMap<>(), true);
        assertThat(names()).containsExactly("snapshot.0");
    }

    @Test
    void twoThreadsMaySaveAtTheSameTime() throws Exception {
        SaucrTxnSnapLog snapLog = open();
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try {
            List<Future<File>> saved = new ArrayList<>();
            for (int i = 0; i < ROUNDS; i++) {
                saved.add(
                        threads.submit(
                                () ->
                                        snapLog.save(
                                                new DataTree(), new ConcurrentHashMap<>(), true)));
            }
            for (Future<File> each : saved) {
                assertThat(SnapStream.isValidSnapshot(each.get())).isTrue();
            }
            assertThat(names()).containsExactly("snapshot.0");
        } finally {
            threads.shutdownNow();
        }
    }
}
