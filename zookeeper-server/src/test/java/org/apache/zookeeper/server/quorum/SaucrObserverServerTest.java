package org.apache.zookeeper.server.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.core.Zxid;
import io.saucr.server.requests.RequestWatch;
import io.saucr.server.requests.SlowRequests;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.ZKDatabase;
import org.apache.zookeeper.server.persistence.Logs;
import org.apache.zookeeper.server.persistence.SaucrTxnSnapLog;
import org.apache.zookeeper.txn.CreateTxn;
import org.apache.zookeeper.txn.TxnHeader;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An observer applies and logs what it has read, as one batch. */
@Timeout(60)
class SaucrObserverServerTest {
    private static final int BATCH = 5;

    @TempDir Path folder;

    private SaucrTxnSnapLog snapLog;
    private SaucrObserverServer server;
    private long counter;

    @BeforeEach
    void open() throws Exception {
        snapLog = Logs.open(folder);
    }

    @AfterEach
    void close() throws IOException {
        server.commitProcessor.shutdown();
        if (server.syncProcessor != null) {
            server.syncProcessor.shutdown();
        }
        snapLog.close();
    }

    private void start(boolean logs) throws IOException {
        QuorumPeer peer = new QuorumPeer();
        peer.setSyncEnabled(logs);
        // A clock that stands still: work that takes long goes to another thread.
        server =
                new SaucrObserverServer(
                        snapLog,
                        peer,
                        new ZKDatabase(snapLog),
                        new RequestWatch(new SlowRequests(Duration.ZERO)),
                        () -> 0);
        SaucrObserver observer = new SaucrObserver(peer, server, snapLog.log());
        peer.setObserver(observer);
        server.setupRequestProcessors();
    }

    private long inform() {
        counter++;
        TxnHeader header = new TxnHeader(1, 1, Zxid.of(1, counter), 1, OpCode.create);
        CreateTxn txn =
                new CreateTxn(
                        "/n" + counter, new byte[0], Ids.OPEN_ACL_UNSAFE, false, (int) counter);
        server.commitRequest(new Request(header, txn, null));
        return header.getZxid();
    }

    private boolean shows(long node) {
        return server.getZKDatabase().getNode("/n" + node) != null;
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void whatOneReadHasBroughtIsAppliedByTheThreadThatHasReadIt(boolean logs) throws Exception {
        start(logs);
        server.endOfBatch();
        for (int round = 0; round < 3; round++) {
            long first = counter + 1;
            for (int i = 0; i < BATCH; i++) {
                inform();
            }
            assertThat(shows(first)).isFalse();
            server.endOfBatch();
            for (long node = first; node <= counter; node++) {
                assertThat(shows(node)).isTrue();
            }
        }
    }

    @Test
    void withALogEverythingIsInItWhenTheServerEnds() throws Exception {
        start(true);
        for (int i = 0; i < BATCH; i++) {
            inform();
        }
        server.endOfBatch();
        inform();
        long last = inform();
        server.endOfBatch();
        server.syncProcessor.shutdown();
        assertThat(snapLog.log().lastAppended()).isEqualTo(last);
        assertThat(snapLog.log().claimsOnDisk()).isTrue();
    }

    @Test
    void withoutALogNothingIsLogged() throws Exception {
        long before = snapLog.log().lastAppended();
        start(false);
        inform();
        server.endOfBatch();
        assertThat(server.logs()).isFalse();
        assertThat(server.syncProcessor).isNull();
        assertThat(snapLog.log().lastAppended()).isEqualTo(before);
    }
}
