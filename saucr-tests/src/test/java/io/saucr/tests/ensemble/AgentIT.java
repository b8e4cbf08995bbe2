package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.ensemble.Ensemble;
import io.saucr.ensemble.LoopbackHosting.Disk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The Java agent in front of Apache's released, untouched server. */
@NeedsCompiler
class AgentIT {

    @Test
    void apachesServerWithTheAgentReplicatesSituationAware() throws Exception {
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.start(
                        Ensemble.of(ApacheRelease.base(), SaucrEnsemble.folder("agent"))
                                .voters(3)
                                .set("saucr.enabled", "true")
                                .set("saucr.heartbeatInterval", "2s")
                                .set("saucr.fastModeConfirmations", "1")
                                .disk(Disk.SHIM_WITH_JOURNAL)
                                .jvmFlag("-javaagent:" + agent()))) {
            int leader = ensemble.awaitFast();
            String version = BuiltDistribution.servers().version();
            assertThat(ensemble.server(leader).logTail(100_000))
                    .contains("SAUCR is on, version " + version + " (agent), server " + leader);
            assertThat(ensemble.mntr(leader)).containsEntry("zk_saucr_version", version);
            try (AckedWrites writes = new AckedWrites(ensemble.connect(leader), "/agent", 8)) {
                writes.awaitMore(200);
                SaucrEnsemble.await(
                        "fast commits", () -> ensemble.metric(leader, "zk_saucr_fast_commits") > 0);
                int victim = ensemble.followers().get(0);
                ensemble.losePower(victim);
                ensemble.awaitSlow(leader);
                writes.awaitMore(50);
                ensemble.restart(victim);
                ensemble.awaitServing();
                assertThat(ensemble.awaitFast()).isEqualTo(leader);
                writes.awaitMore(50);
                writes.stop();
                writes.assertAllOnEachOf(ensemble);
            }
        }
    }

    @Test
    void withAnotherReleaseTheServerIsNotStarted() throws Exception {
        try (Ensemble ensemble =
                Ensemble.of(ApacheRelease.old(), SaucrEnsemble.folder("agent-refuses"))
                        .set("saucr.enabled", "true")
                        .jvmFlag("-javaagent:" + agent())
                        .build()) {
            ensemble.server(1).start();
            SaucrEnsemble.await("the end of it", () -> !ensemble.server(1).isAlive());
            assertThat(ensemble.server(1).exitStatus()).hasValue(1);
            assertThat(ensemble.server(1).logTail(5))
                    .contains("SAUCR agent: org.apache.zookeeper.")
                    .contains("is not that of Apache ZooKeeper 3.9.5 as released")
                    .contains("not started");
        }
    }

    private static Path agent() throws IOException {
        try (Stream<Path> jars = Files.list(BuiltDistribution.home().resolve("agent"))) {
            return jars.findFirst().orElseThrow();
        }
    }
}
