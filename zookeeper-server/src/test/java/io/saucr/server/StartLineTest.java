package io.saucr.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.core.log.LogIdentity;
import io.saucr.server.config.SaucrSettings;
import io.saucr.server.runtime.Release;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import org.apache.zookeeper.server.persistence.MarkerStore;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a server says of itself before it starts. */
class StartLineTest {
    private static final String RELEASE = "version " + Release.VERSION + " (jar), ";

    @TempDir Path data;

    private String line(String saucr, String... servers) throws Exception {
        Files.writeString(data.resolve("myid"), "2\n");
        Properties lines = new Properties();
        lines.setProperty("dataDir", data.toString());
        lines.setProperty("clientPort", "2181");
        lines.setProperty("tickTime", "2000");
        lines.setProperty("initLimit", "10");
        lines.setProperty("syncLimit", "5");
        for (int i = 0; i < servers.length; i++) {
            lines.setProperty("server." + (i + 1), servers[i]);
        }
        QuorumPeerConfig config = new QuorumPeerConfig();
        config.parseProperties(lines);
        Properties properties = new Properties();
        for (String setting : saucr.split(" ")) {
            String[] keyAndValue = setting.split("=", 2);
            properties.setProperty("zookeeper." + keyAndValue[0], keyAndValue[1]);
        }
        return StartLine.of(config, SaucrSettings.parse("zoo.cfg", properties));
    }

    private static String[] three() {
        return new String[] {"127.0.0.1:1:2", "127.0.0.1:3:4", "127.0.0.1:5:6"};
    }

    @Test
    void theVersionIsThatOfTheBuild() {
        assertThat(Release.VERSION).matches("\\d+\\.\\d+\\.\\d+(-\\w+)?");
    }

    @Test
    void withoutSaucr() throws Exception {
        assertThat(line("saucr.enabled=false", three()))
                .isEqualTo(
                        "SAUCR is off, "
                                + RELEASE
                                + "server 2: replicates as Apache ZooKeeper 3.9.5 does");
        assertThat(line("saucr.enabled=false")).contains("a server alone: replicates");
    }

    @Test
    void withSaucrAndAllSettings() throws Exception {
        Path version = Files.createDirectories(data.resolve("version-2"));
        String settings =
                "saucr.enabled=true saucr.ensembleName=orders saucr.heartbeatInterval=500us"
                        + " saucr.idleFlush=1500ms saucr.diskTimeout=1m saucr.committedLogMegabytes=64 saucr.slowRequestTime=off"
                        + " saucr.bootId=b-1 saucr.adminServers=2=zk2:8080,1=zk1:8080";
        String start = "SAUCR is on, " + RELEASE + "server 2 of the ensemble 'orders', ";
        String end =
                "saucr.heartbeatInterval=500us saucr.missedHeartbeatsBeforeElection=4000"
                        + " saucr.fastModeConfirmations=3 saucr.backgroundFlushInterval=100ms"
                        + " saucr.idleFlush=1500ms saucr.diskTimeout=60s saucr.committedLogMegabytes=64 saucr.slowRequestTime=off"
                        + " saucr.bootId=b-1"
                        + " saucr.adminServers=1=zk1:8080,2=zk2:8080";
        assertThat(line(settings, three()))
                .isEqualTo(start + "log without an identity yet; " + end);
        new MarkerStore(version).writeIdentity(new LogIdentity("orders", 2, 77, 0, 0, 0));
        assertThat(line(settings, three())).isEqualTo(start + "log 4d; " + end);
    }

    /** The server starts; what its identity says is looked at again then. */
    @Test
    void anIdentityThatIsDamagedIsSaid() throws Exception {
        Path version = Files.createDirectories(data.resolve("version-2"));
        Files.writeString(version.resolve("saucr.identity"), "nonsense\n");
        assertThat(line("saucr.enabled=true", three()))
                .contains("server 2 of an ensemble without a name, log of unknown identity: ")
                .contains("saucr.identity cannot be used");
    }
}
