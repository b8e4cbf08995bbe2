package io.saucr.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.core.LleMap;
import io.saucr.core.LogIdentity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.server.NettyServerCnxnFactory;
import org.apache.zookeeper.server.SaucrClientPort;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.persistence.MarkerStore;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig.ConfigException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** ZooKeeper's own parser refuses what SAUCR cannot work with; the patch calls the check. */
class StartCheckTest {
    private static final long Z = 0x1_0000_0005L;

    @TempDir Path folder;
    private Path data;

    @BeforeEach
    void folders() throws IOException {
        data = Files.createDirectories(folder.resolve("data"));
        Files.writeString(data.resolve("myid"), "1\n");
        forgetProperties();
    }

    /** The parser turns keys that it does not know into system properties. */
    @AfterEach
    void forgetProperties() {
        for (String name : System.getProperties().stringPropertyNames()) {
            if (name.startsWith("zookeeper.")) {
                System.clearProperty(name);
            }
        }
    }

    private void parse(int voters, String... lines) throws Exception {
        List<String> all =
                new ArrayList<>(List.of("dataDir=" + data, "clientPort=2181", "initLimit=10"));
        all.add("syncLimit=5");
        all.add("tickTime=2000");
        all.addAll(List.of(lines));
        for (int i = 1; i <= voters; i++) {
            all.add("server." + i + "=127.0.0.1:" + (3000 + i) + ":" + (4000 + i));
        }
        Path file = Files.write(folder.resolve("zoo.cfg"), all);
        new QuorumPeerConfig().parse(file.toString());
    }

    private void refused(String words, int voters, String... lines) {
        assertThatThrownBy(() -> parse(voters, lines))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("zoo.cfg")
                .hasMessageContaining(words);
    }

    @Test
    void threeVotersWithMajoritiesAreAccepted() {
        assertThatCode(() -> parse(3, "saucr.enabled=true")).doesNotThrowAnyException();
    }

    @Test
    void observersAreNoVoters() {
        refused(
                "at least 3 voters, but server.* names 2",
                2,
                "saucr.enabled=true",
                "server.8=127.0.0.1:3008:4008:observer",
                "server.9=127.0.0.1:3009:4009:observer");
    }

    @Test
    void oneServerAloneHasNoQuorum() {
        refused("at least 3 voters, but server.* names 0", 0, "saucr.enabled=true");
    }

    @Test
    void weightsHaveNoFastQuorum() {
        refused(
                "needs majority quorums",
                3,
                "saucr.enabled=true",
                "group.1=1:2:3",
                "weight.1=2",
                "weight.2=1",
                "weight.3=1");
    }

    @Test
    void h7ForceSyncNoContradictsSlowMode() {
        refused(
                "forceSync=no is not allowed with saucr.enabled=true",
                3,
                "saucr.enabled=true",
                "forceSync=no");
    }

    @Test
    void forceSyncNoIsApachesOwnBusinessWhileSaucrIsOff() {
        assertThatCode(() -> parse(3, "saucr.enabled=false", "forceSync=no"))
                .doesNotThrowAnyException();
    }

    @Test
    void r26AnotherEnsemblesFolderIsRefused() throws Exception {
        Path logs = folder.resolve("logs");
        Path version = Files.createDirectories(logs.resolve("version-2"));
        new MarkerStore(version).writeIdentity(new LogIdentity("users", 1, 77, 0, 0, 0));
        for (String enabled : List.of("saucr.enabled=true", "saucr.enabled=false")) {
            refused(
                    "the data are of the ensemble 'users', and this server's is 'orders'",
                    3,
                    "dataLogDir=" + logs,
                    "saucr.ensembleName=orders",
                    enabled);
            forgetProperties();
        }
        refused("this server's has no name", 3, "dataLogDir=" + logs, "saucr.enabled=true");
    }

    @Test
    void h13MarkersAreLookedForBesideTheLog() throws Exception {
        Path logs = folder.resolve("logs");
        Path version = Files.createDirectories(logs.resolve("version-2"));
        new MarkerStore(version).writeFastSwitch(Z);
        refused(
                "saucr.enabled=false is not allowed now: this server may lack acknowledged writes",
                3,
                "dataLogDir=" + logs);
        refused("crashed in fast mode", 3, "dataLogDir=" + logs, "saucr.enabled=false");
        assertThatCode(() -> parse(3, "dataLogDir=" + logs, "saucr.enabled=true"))
                .doesNotThrowAnyException();
        new MarkerStore(version).writeLatestOnDisk(Z, LleMap.empty());
        forgetProperties();
        assertThatCode(() -> parse(3, "dataLogDir=" + logs)).doesNotThrowAnyException();
    }

    @Test
    void r26AnotherServersFolderIsRefusedInEitherCase() throws Exception {
        Path version = Files.createDirectories(data.resolve("version-2"));
        new MarkerStore(version).writeIdentity(new LogIdentity("", 2, 77, 0, 0, 0));
        refused("is not this server's: the data are those of server 2", 3, "saucr.enabled=true");
        refused("is not this server's: the data are those of server 2", 3);
    }

    @Test
    void h13ALogThatIsGoneIsALossToo() throws Exception {
        Path version = Files.createDirectories(data.resolve("version-2"));
        Files.writeString(version.resolve("currentEpoch"), "1\nsaucr server=1 log=4d\n");
        refused("there is no marker in it", 3, "saucr.enabled=false");
        assertThatCode(() -> parse(3, "saucr.enabled=true")).doesNotThrowAnyException();
    }

    @Test
    void aCorruptMarkerIsRefusedInEitherCase() throws Exception {
        Path version = Files.createDirectories(data.resolve("version-2"));
        Files.writeString(version.resolve("saucr.latestOnDisk"), "nonsense\n");
        refused("saucr.latestOnDisk cannot be used", 3, "saucr.enabled=true");
        refused("saucr.latestOnDisk cannot be used", 3, "saucr.enabled=false");
    }

    private static String clientPort() {
        return System.getProperty(ServerCnxnFactory.ZOOKEEPER_SERVER_CNXN_FACTORY);
    }

    @Test
    void thePortForClientsIsOursUnlessTheConfigurationNamesOne() throws Exception {
        parse(3, "saucr.enabled=true");
        assertThat(clientPort()).isEqualTo(SaucrClientPort.class.getName());
        parse(3, "saucr.enabled=false");
        assertThat(clientPort()).isNull();
        String netty = NettyServerCnxnFactory.class.getName();
        parse(3, "saucr.enabled=true", "serverCnxnFactory=" + netty);
        assertThat(clientPort()).isEqualTo(netty);
    }
}
