package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.ensemble.Distribution;
import io.saucr.tests.ensemble.HoldingProxy.Direction;
import java.nio.ByteBuffer;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import net.bytebuddy.implementation.FixedValue;
import net.bytebuddy.implementation.MethodCall;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A follower's memory ack is on its way to the leader when the follower loses power. It recovers
 * from a server that the entry has not reached yet, so without the entry; then the ack arrives
 * (R20). The leader must not count it: if the leader and the third server failed at one instant,
 * nobody would have the entry.
 *
 * <p>The same scenario is run with servers whose fence does nothing, and with one that does not
 * tell its leader of the restart. Both acknowledge the write and lose it. So the scenario is the
 * dangerous one, and each half of the fence is needed.
 */
@NeedsCompiler
class HeldAckIT {
    private static final int RESTARTED = 1;
    private static final int OTHER = 2;
    private static final int LEADER = CabledEnsemble.LEADER;

    private static final String PATH = "/held";

    /** Whether the write was acknowledged, and whether it is there in the end. */
    private record Outcome(boolean present, boolean fenced) {}

    @Test
    void r20AnAckFromBeforeTheCrashDoesNotCount() throws Exception {
        assertThat(tell("held-ack", BuiltDistribution.servers()))
                .isEqualTo(new Outcome(true, true));
    }

    @Tag("long")
    @Test
    void withoutTheFenceTheWriteIsLost() throws Exception {
        Distribution servers =
                BuiltDistribution.changed(
                        "held-ack-no-fence",
                        "io.saucr.core.leader.IncarnationFence",
                        "restarted",
                        MethodCall.invoke(OptionalLong.class.getMethod("empty")));
        assertThat(tell("held-ack-no-fence", servers)).isEqualTo(new Outcome(false, false));
    }

    @Tag("long")
    @Test
    void withoutTheNoticeTheWriteIsLost() throws Exception {
        Distribution servers =
                BuiltDistribution.changed(
                        "held-ack-no-notice",
                        "org.apache.zookeeper.server.quorum.SaucrFollower",
                        "tellLeader",
                        FixedValue.value(true));
        assertThat(tell("held-ack-no-notice", servers)).isEqualTo(new Outcome(false, false));
    }

    private static Outcome tell(String name, Distribution servers) throws Exception {
        try (SaucrEnsemble ensemble = CabledEnsemble.prepare(name, servers);
                HoldingProxy restarted = CabledEnsemble.cable(ensemble, RESTARTED);
                HoldingProxy other = CabledEnsemble.cable(ensemble, OTHER)) {
            CabledEnsemble.start(ensemble, OTHER, RESTARTED);
            boolean fenced;
            try (Client client = CabledEnsemble.connect(ensemble)) {
                CabledEnsemble.writeUntilFast(ensemble, client);
                long zxid = client.setData("/zookeeper/quota", new byte[0], -1).getMzxid() + 1;
                restarted.hold(Direction.OUT);
                other.hold(Direction.BACK);
                CompletableFuture<Integer> answer = CabledEnsemble.create(client, PATH);
                byte[] ack = ack(zxid);
                SaucrEnsemble.await("the ack", () -> restarted.holds(Direction.OUT, ack));

                LocalTime cut = SaucrEnsemble.now();
                ensemble.losePower(RESTARTED);
                int nowhere = restarted.port();
                restarted.refuse();
                ensemble.shim(RESTARTED).detours(detours(ensemble, LEADER, nowhere));
                ensemble.shim(LEADER).detours(detours(ensemble, RESTARTED, nowhere));
                ensemble.restart(RESTARTED);
                SaucrEnsemble.await(
                        "recovery without the entry",
                        () ->
                                ensemble.log(RESTARTED, cut, "Recovered through 0x").stream()
                                        .anyMatch(
                                                line ->
                                                        line.text()
                                                                .contains(
                                                                        Long.toHexString(zxid - 1)
                                                                                + " in")));
                assertThat(answer).isNotDone();

                restarted.release(Direction.OUT);
                other.release(Direction.BACK);
                assertThat(answer.get(SaucrEnsemble.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                        .isEqualTo(Code.OK.intValue());
                fenced = !ensemble.log(LEADER, cut, "Server 1 has restarted").isEmpty();
                ensemble.losePower(OTHER, LEADER);
            }
            for (int id = 1; id <= 3; id++) {
                ensemble.shim(id).detours(Map.of());
            }
            ensemble.restart(OTHER, LEADER);
            ensemble.awaitServing();
            List<Boolean> present = new ArrayList<>();
            for (int id = 1; id <= 3; id++) {
                try (Client client = ensemble.connect(id)) {
                    client.sync("/");
                    present.add(client.exists(PATH, false) != null);
                }
            }
            assertThat(present).containsOnly(present.get(0));
            return new Outcome(present.get(0), fenced);
        }
    }

    private static Map<Integer, Integer> detours(SaucrEnsemble ensemble, int to, int instead) {
        return Map.of(
                ensemble.server(to).address().quorumPort(),
                instead,
                ensemble.server(to).address().electionPort(),
                instead);
    }

    /** The beginning of a follower's ack: ZooKeeper's packet type 3 and the zxid. */
    private static byte[] ack(long zxid) {
        return ByteBuffer.allocate(Integer.BYTES + Long.BYTES).putInt(3).putLong(zxid).array();
    }
}
