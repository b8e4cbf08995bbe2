package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.ensemble.Distribution;
import io.saucr.ensemble.Ensemble;
import io.saucr.ensemble.LoopbackHosting.Disk;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.data.Stat;

/**
 * Three servers for scenarios of single packets. Server 3 leads; no flush and no heartbeat comes by
 * itself; the learner connections of the followers go through cables that can hold packets back.
 * {@link HeldAckIT} and {@link FastQuorumIT} start from it.
 */
final class CabledEnsemble {
    static final int LEADER = 3;

    /** Longer than any scenario takes, because pings wait behind a write that is held. */
    private static final int SESSION_MILLIS = 600_000;

    private CabledEnsemble() {}

    static SaucrEnsemble prepare(String name, Distribution servers) throws IOException {
        Ensemble.Builder builder =
                SaucrEnsemble.describe(name, LEADER)
                        .set("saucr.heartbeatInterval", "1m")
                        .set("saucr.backgroundFlushInterval", "1h")
                        .set("saucr.idleFlush", "1h")
                        .set("syncLimit", "240")
                        .set("maxSessionTimeout", Integer.toString(SESSION_MILLIS))
                        .disk(Disk.SHIM_WITH_JOURNAL);
        for (int id = 1; id <= LEADER; id++) {
            builder.distribution(id, servers);
        }
        return SaucrEnsemble.prepare(builder);
    }

    /** The follower's learner connection goes through this from its next start on. */
    static HoldingProxy cable(SaucrEnsemble ensemble, int follower) throws IOException {
        int quorumPort = ensemble.server(LEADER).address().quorumPort();
        HoldingProxy cable = new HoldingProxy(quorumPort);
        ensemble.shim(follower).detours(Map.of(quorumPort, cable.port()));
        return cable;
    }

    /** Starts two servers, of which the one with the higher id leads; the third joins them. */
    static void start(SaucrEnsemble ensemble, int second, int third) throws Exception {
        ensemble.restart(second, LEADER);
        ensemble.awaitServing();
        ensemble.restart(third);
        ensemble.awaitServing();
        assertThat(ensemble.leader()).isEqualTo(LEADER);
    }

    /** A client of the leader, with a session timeout that outlasts the scenario. */
    static Client connect(SaucrEnsemble ensemble) throws Exception {
        return ensemble.connectFor(SESSION_MILLIS, LEADER);
    }

    /**
     * Writes until the leader is in fast mode. There are no heartbeats, so only acks show who is
     * prompt.
     */
    static void writeUntilFast(SaucrEnsemble ensemble, Client client) throws Exception {
        while (!ensemble.fast(LEADER)) {
            client.create(
                    "/before-", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT_SEQUENTIAL);
        }
    }

    /** Creates the node without waiting: {@link Code#intValue} of the answer, when there is one. */
    static CompletableFuture<Integer> create(Client client, String path) {
        return create(client, path, CreateMode.PERSISTENT);
    }

    /** As {@link #create(Client, String)}, with a node of this kind. */
    static CompletableFuture<Integer> create(Client client, String path, CreateMode mode) {
        CompletableFuture<Integer> answer = new CompletableFuture<>();
        client.create(
                path,
                new byte[0],
                Ids.OPEN_ACL_UNSAFE,
                mode,
                (int code, String asked, Object context, String created, Stat stat) ->
                        answer.complete(code),
                null);
        return answer;
    }
}
