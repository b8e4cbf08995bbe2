package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.ensemble.Distribution;
import io.saucr.tests.ensemble.HoldingProxy.Direction;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import net.bytebuddy.implementation.FixedValue;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * In fast mode a write has reached the leader and one of two followers; both lose power at one
 * instant. The write must not have been acknowledged (R4), because the third server does not have
 * it. In the same scenario, servers whose leader is content with a bare majority of memory acks do
 * acknowledge it, and lose it.
 */
@NeedsCompiler
class FastQuorumIT {
    private static final int WITHOUT = 1;
    private static final int WITH = 2;
    private static final int LEADER = CabledEnsemble.LEADER;
    private static final String PATH = "/held";

    /** Longer than an answer takes, if there is one. */
    private static final Duration SILENCE = Duration.ofSeconds(2);

    /** Whether the write was acknowledged, and whether it is there in the end. */
    private record Outcome(boolean acknowledged, boolean present) {
        boolean lost() {
            return acknowledged && !present;
        }
    }

    @Test
    void r4NothingIsAcknowledgedBeforeAFastQuorumHasIt() throws Exception {
        Outcome outcome = tell("fast-quorum", BuiltDistribution.servers(), SILENCE);
        assertThat(outcome.acknowledged()).isFalse();
        assertThat(outcome.lost()).isFalse();
    }

    @Tag("long")
    @Test
    void whatABareMajorityHasInMemoryIsLost() throws Exception {
        Distribution servers =
                BuiltDistribution.changed(
                        "bare-majority",
                        "io.saucr.core.quorum.CommitRule",
                        "fastQuorum",
                        FixedValue.value(2));
        assertThat(tell("bare-majority", servers, SaucrEnsemble.PATIENCE).lost()).isTrue();
    }

    private static Outcome tell(String name, Distribution servers, Duration patience)
            throws Exception {
        try (SaucrEnsemble ensemble = CabledEnsemble.prepare(name, servers);
                HoldingProxy cable = CabledEnsemble.cable(ensemble, WITHOUT)) {
            CabledEnsemble.start(ensemble, WITH, WITHOUT);
            boolean acknowledged;
            try (Client client = CabledEnsemble.connect(ensemble)) {
                CabledEnsemble.writeUntilFast(ensemble, client);
                cable.hold(Direction.BACK);
                CompletableFuture<Integer> answer = CabledEnsemble.create(client, PATH);
                SaucrEnsemble.await("the proposal", cable::full);
                acknowledged = acknowledged(answer, patience);
                ensemble.losePower(WITH, LEADER);
            }
            // What the cable held is lost; the survivor notices that the connection has ended.
            cable.cut();
            ensemble.shim(WITHOUT).detours(Map.of());
            ensemble.restart(WITH, LEADER);
            ensemble.awaitServing();
            try (Client client = ensemble.connect(LEADER)) {
                client.sync("/");
                return new Outcome(acknowledged, client.exists(PATH, false) != null);
            }
        }
    }

    private static boolean acknowledged(CompletableFuture<Integer> answer, Duration patience)
            throws Exception {
        try {
            return answer.get(patience.toMillis(), TimeUnit.MILLISECONDS) == Code.OK.intValue();
        } catch (TimeoutException e) {
            return false;
        }
    }
}
