package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.ensemble.Distribution;
import io.saucr.ensemble.ServerProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalTime;
import java.util.Map;
import net.bytebuddy.implementation.MethodCall;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A server dies when it has its leader's history, in its log or as a snapshot, and not yet the
 * epoch's number in its file. Apache's server then refuses every later start (R25). Files that no
 * such death explains are refused here, too.
 */
class InterruptedJoinIT {
    private static final int STATUS = 9;

    @Tag("long")
    @Test
    void r25AServerThatDiedWhileItJoinedAnEpochServesAgain() throws Exception {
        servesAgain(true);
    }

    @Tag("long")
    @Test
    void r25AServerThatDiedWithADifferenceAloneServesAgain() throws Exception {
        servesAgain(false);
    }

    private static void servesAgain(boolean snapshot) throws Exception {
        String name = snapshot ? "join-snapshot" : "join-difference";
        Distribution dies =
                BuiltDistribution.changed(
                        name,
                        "org.apache.zookeeper.server.quorum.QuorumPeer",
                        "setCurrentEpoch",
                        MethodCall.invoke(Runtime.class.getMethod("halt", int.class))
                                .onMethodCall(
                                        MethodCall.invoke(Runtime.class.getMethod("getRuntime")))
                                .with(STATUS));
        try (SaucrEnsemble ensemble =
                        SaucrEnsemble.start(
                                SaucrEnsemble.describe(name, 3)
                                        .set("forceSnapshotSync", Boolean.toString(snapshot)));
                AckedWrites writes = new AckedWrites(ensemble.connect(), "/joined", 8)) {
            int leader = ensemble.awaitFast();
            int victim = ensemble.followers().get(0);
            writes.awaitMore(50);
            ensemble.kill(victim);
            ensemble.kill(leader);
            ensemble.restart(leader);
            ensemble.awaitServing();
            writes.awaitMore(50);

            ServerProcess server = ensemble.server(victim);
            server.install(dies);
            server.start();
            ensemble.awaitFailure(victim);
            assertThat(epoch(server, "currentEpoch")).isLessThan(epoch(server, "acceptedEpoch"));
            if (snapshot) {
                assertThat(ensemble.log(victim, LocalTime.MIN, "Getting a snapshot from leader"))
                        .isNotEmpty();
            }

            server.install(BuiltDistribution.servers());
            refusesAnotherHistorysEpoch(ensemble, victim);
            ensemble.restart(victim);
            ensemble.awaitServing();
            assertThat(ensemble.log(victim, LocalTime.MIN, "was killed while it joined epoch"))
                    .hasSize(1);
            int leads = ensemble.awaitFast();
            // Without it there is no majority now.
            for (int id : ensemble.all()) {
                if (id != victim && id != leads) {
                    ensemble.kill(id);
                }
            }
            writes.awaitMore(50);
            writes.stop();
            for (int id : ensemble.running()) {
                try (Client reader = ensemble.connect(id)) {
                    writes.assertAllIn(reader);
                }
            }
        }
    }

    /** Somebody put an old acceptedEpoch beside the log: then no death explains these files. */
    private static void refusesAnotherHistorysEpoch(SaucrEnsemble ensemble, int victim)
            throws Exception {
        ServerProcess server = ensemble.server(victim);
        Path folder = server.dataDirectory().resolve("version-2");
        Path file = folder.resolve("acceptedEpoch");
        String accepted = Files.readString(file);
        long current = epoch(server, "currentEpoch");
        Files.writeString(file, Long.toString(current));
        Map<String, String> before = BadInputIT.contents(folder);
        server.start();
        ensemble.awaitFailure(victim);
        assertThat(server.logTail(200))
                .contains("acceptedEpoch and currentEpoch in")
                .contains("say " + current + " and " + current + ": they are another history's")
                .contains("empty both folders but for myid");
        assertThat(BadInputIT.contents(folder)).isEqualTo(before);
        Files.writeString(file, accepted);
    }

    private static long epoch(ServerProcess server, String file) throws Exception {
        Path path = server.dataDirectory().resolve("version-2").resolve(file);
        return Long.parseLong(Files.readAllLines(path).get(0).trim());
    }
}
