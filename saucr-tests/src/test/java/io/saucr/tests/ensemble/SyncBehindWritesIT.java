package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Test;

/**
 * A sync behind a write that waits for slow disks, after the other server has said that it still
 * follows (R22). The sync must be answered with the write, and not with the next heartbeat, which
 * is a minute away.
 */
@NeedsCompiler
class SyncBehindWritesIT {
    private static final int AWAY = 1;
    private static final int OTHER = 2;
    private static final int LEADER = CabledEnsemble.LEADER;
    private static final Duration FORCE = Duration.ofMillis(500);

    /** Well below the interval between heartbeats, well above a force. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @Test
    void r22ASyncIsAnsweredAsSoonAsTheWritesBeforeItAreCommitted() throws Exception {
        try (SaucrEnsemble ensemble =
                CabledEnsemble.prepare("sync-behind-writes", BuiltDistribution.servers())) {
            CabledEnsemble.start(ensemble, OTHER, AWAY);
            ensemble.kill(AWAY);
            ensemble.awaitSlow(LEADER);
            try (Client client = CabledEnsemble.connect(ensemble)) {
                for (int id : ensemble.running()) {
                    ensemble.shim(id).delay(FORCE);
                }
                CompletableFuture<Integer> written = CabledEnsemble.create(client, "/slow");
                CompletableFuture<Integer> synced = new CompletableFuture<>();
                client.sync("/slow", (code, path, context) -> synced.complete(code), null);
                assertThat(synced.get(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                        .isEqualTo(Code.OK.intValue());
                assertThat(written).isCompletedWithValue(Code.OK.intValue());
            }
        }
    }
}
