package org.apache.zookeeper.server.persistence;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.core.Zxid;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.server.DataTree;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the limit of jute refuses to a client, a server reads if it has logged it. */
class LargeEntriesTest {
    private static final int BEYOND_JUTE = 5_000_000;
    private static final long LARGE = Zxid.of(1, 2);

    @TempDir Path folder;

    private final List<SaucrTxnSnapLog> opened = new ArrayList<>();

    /** Only one is open at a time. */
    private SaucrTxnSnapLog open() throws Exception {
        close();
        SaucrTxnSnapLog snapLog = Logs.open(folder);
        opened.add(snapLog);
        return snapLog;
    }

    @AfterEach
    void close() throws Exception {
        for (SaucrTxnSnapLog each : opened) {
            each.close();
        }
        opened.clear();
    }

    private DataTree load() throws Exception {
        DataTree tree = new DataTree();
        long last = open().restore(tree, new ConcurrentHashMap<>(), (header, txn, digest) -> {});
        assertThat(last).isEqualTo(LARGE + 1);
        assertThat(tree.getNode(Transactions.node(LARGE)).getData()).hasSize(BEYOND_JUTE);
        assertThat(tree.getNode(Transactions.node(LARGE + 1))).isNotNull();
        return tree;
    }

    @Test
    void aLogAndASnapshotAreReadThatHoldALargeOne() throws Exception {
        SaucrTxnSnapLog snapLog = open();
        for (long zxid : Transactions.zxids(1, 1, 3)) {
            snapLog.append(Transactions.create(zxid, zxid == LARGE ? BEYOND_JUTE : 1));
        }
        snapLog.commit();
        DataTree fromLog = load();
        open().save(fromLog, new ConcurrentHashMap<>(), true);
        close();
        RawLog.removeLogs(folder.resolve("version-2"));
        load();
    }
}
