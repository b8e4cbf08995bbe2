package io.saucr.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.saucr.core.log.LleMap;
import io.saucr.core.log.LogIdentity;
import io.saucr.core.log.MarkerFile;
import io.saucr.core.quorum.View;
import io.saucr.server.config.ParsedProperties;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

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

    @AfterEach
    void forgetProperties() {
        ParsedProperties.forget();
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

    /** With these words, and every file stays as it was. */
    private void refused(String words, int voters, String... lines) throws IOException {
        Map<Path, String> before = contents();
        assertThatThrownBy(() -> parse(voters, lines))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("zoo.cfg")
                .hasMessageContaining(words);
        assertThat(contents()).isEqualTo(before);
    }

    /** Bytes and date of every file but the configuration. */
    private Map<Path, String> contents() throws IOException {
        Map<Path, String> found = new TreeMap<>();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                if (!file.endsWith("zoo.cfg")) {
                    String bytes = HexFormat.of().formatHex(Files.readAllBytes(file));
                    found.put(file, Files.getLastModifiedTime(file) + " " + bytes);
                }
            }
        }
        return found;
    }

    @Test
    void threeVotersWithMajoritiesAreAccepted() {
        assertThatCode(() -> parse(3, "saucr.enabled=true")).doesNotThrowAnyException();
    }

    @Test
    void anUnknownKeyOrABadValueIsRefusedInEitherCase() throws Exception {
        for (String enabled : List.of("saucr.enabled=true", "saucr.enabled=false")) {
            refused("unknown key saucr.flush; known are", 3, enabled, "saucr.flush=1s");
            forgetProperties();
            refused("saucr.idleFlush=-5ms is not allowed", 3, enabled, "saucr.idleFlush=-5ms");
            forgetProperties();
        }
        refused(
                "saucr.enabled=yes is not allowed; it must be true or false",
                3,
                "saucr.enabled=yes");
    }

    @Test
    void twoVotersHaveNoFastQuorum() throws Exception {
        refused("at least 3 voters, but server.* names 2", 2, "saucr.enabled=true");
    }

    @Test
    void observersAreNoVoters() throws Exception {
        refused(
                "at least 3 voters, but server.* names 2",
                2,
                "saucr.enabled=true",
                "server.8=127.0.0.1:3008:4008:observer",
                "server.9=127.0.0.1:3009:4009:observer");
    }

    @Test
    void oneServerAloneHasNoQuorum() throws Exception {
        refused("at least 3 voters, but server.* names 0", 0, "saucr.enabled=true");
    }

    @Test
    void theOracleHasNoFastQuorum() throws Exception {
        Path oracle = Files.writeString(folder.resolve("oracle"), "1");
        refused("needs majority quorums", 2, "saucr.enabled=true", "oraclePath=" + oracle);
        forgetProperties();
        refused("oraclePath", 2, "saucr.enabled=true", "oraclePath=" + oracle);
    }

    @Test
    void weightsHaveNoFastQuorum() throws Exception {
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
    void h7ForceSyncNoContradictsSlowMode() throws Exception {
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
        new MarkerStore(version).writeLatestOnDisk(Z, LleMap.empty(), View.FIRST);
        forgetProperties();
        assertThatCode(() -> parse(3, "dataLogDir=" + logs)).doesNotThrowAnyException();
    }

    @Test
    void r26AnotherServersFolderIsRefusedInEitherCase() throws Exception {
        Path version = Files.createDirectories(data.resolve("version-2"));
        new MarkerStore(version).writeIdentity(new LogIdentity("", 2, 77, 0, 0, 0));
        refused("is not this server's: the data are those of server 2", 3, "saucr.enabled=true");
        refused("is not this server's: the data are those of server 2", 3);
        // The wrong number may be there.
        refused("This is server 1, as the file " + data.resolve("myid") + " says.", 3);
    }

    @Test
    void h13ALogThatIsGoneIsALossToo() throws Exception {
        Path version = Files.createDirectories(data.resolve("version-2"));
        Files.writeString(version.resolve("currentEpoch"), "1\nsaucr server=1 log=4d\n");
        refused("there is no marker in it", 3, "saucr.enabled=false");
        assertThatCode(() -> parse(3, "saucr.enabled=true")).doesNotThrowAnyException();
    }

    static Stream<Arguments> badMarkers() {
        byte[] fast = MarkerFile.encodeFastSwitch(Z);
        byte[] disk = MarkerFile.encodeLatestOnDisk(Z, LleMap.empty(), View.FIRST);
        byte[] flipped = disk.clone();
        flipped[disk.length / 2] ^= 1;
        byte[] nonsense = "nonsense\n".getBytes(StandardCharsets.US_ASCII);
        return Stream.of(
                arguments("empty", "saucr.fastSwitch", new byte[0]),
                arguments("torn", "saucr.fastSwitch", Arrays.copyOf(fast, fast.length - 3)),
                arguments("flipped bit", "saucr.latestOnDisk", flipped),
                arguments("zeros", "saucr.latestOnDisk", new byte[disk.length]),
                arguments("the other marker", "saucr.latestOnDisk", fast),
                arguments("nonsense", "saucr.latestOnDisk", nonsense));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("badMarkers")
    void r14ACorruptMarkerIsRefusedInEitherCase(String damage, String file, byte[] content)
            throws Exception {
        Path version = Files.createDirectories(data.resolve("version-2"));
        Files.write(version.resolve(file), content);
        for (String enabled : List.of("saucr.enabled=true", "saucr.enabled=false")) {
            refused(file + " cannot be used", 3, enabled);
            forgetProperties();
            refused("Delete the file, and never put an older one in its place", 3, enabled);
            forgetProperties();
        }
    }

    private static Stream<Arguments> damagedEpochs() {
        String number = "first line must be an epoch, a number from 0 to 2147483647";
        return Stream.of(
                arguments("no text", new byte[] {(byte) 0xff, (byte) 0xfe, 0}, "'\\xff\\xfe\\x00'"),
                arguments("nothing", new byte[0], "it has none"),
                arguments("a blank line", bytes("\n3\n"), "it has none"),
                arguments("a word", bytes("three\n"), "that is 'three'"),
                arguments("a blank behind it", bytes("3 \n"), "that is '3 '"),
                arguments("a negative number", bytes("-1\n"), "that is '-1'"),
                arguments("too large a number", bytes("4294967296"), "that is '4294967296'"),
                arguments("more digits", bytes("99999999999999999999"), "999999'"),
                arguments("zeros", new byte[4096], "\\x00'..."),
                arguments("too much", new byte[2 << 20], "it has more than 1048576 bytes"),
                arguments("another number", bytes("\u0663\n"), number));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Not only that something is wrong: which file, what it holds, and what to do. */
    @ParameterizedTest
    @MethodSource("damagedEpochs")
    void aDamagedEpochFileIsRefusedByItsPath(String damage, byte[] content, String shown)
            throws Exception {
        Path version = Files.createDirectories(data.resolve("version-2"));
        for (String enabled : List.of("saucr.enabled=true", "saucr.enabled=false")) {
            Path file = Files.write(version.resolve("currentEpoch"), content);
            for (String words :
                    List.of(
                            file + " is damaged: its first line must be an epoch",
                            shown,
                            "so it must not vote. While a majority of the other servers is serving,"
                                    + " empty its data directory but for myid")) {
                refused(words, 3, enabled);
            }
        }
    }

    @Test
    void theOtherEpochFileAndTheLineOfTheLogAreLookedAtToo() throws Exception {
        Path version = Files.createDirectories(data.resolve("version-2"));
        Path accepted = Files.write(version.resolve("acceptedEpoch"), new byte[] {(byte) 0xff});
        refused(accepted + " is damaged", 3, "saucr.enabled=true");
        Files.writeString(accepted, "2\n");
        Path current = Files.writeString(version.resolve("currentEpoch"), "2\nsaucr log of none");
        refused(current + " is damaged", 3, "saucr.enabled=true");
        refused("that is 'saucr log of none'", 3, "saucr.enabled=true");
        Files.writeString(current, "2\n \n");
        parse(3, "saucr.enabled=true");
    }

    /** ZooKeeper finds this when the start has changed files, and names neither file. */
    @Test
    void anAcceptedEpochBelowTheCurrentOneIsRefused() throws Exception {
        Path version = Files.createDirectories(data.resolve("version-2"));
        Path accepted = Files.writeString(version.resolve("acceptedEpoch"), "1\n");
        Path current = Files.writeString(version.resolve("currentEpoch"), "2\n");
        for (String enabled : List.of("saucr.enabled=true", "saucr.enabled=false")) {
            refused(accepted + " says 1, and " + current + " says 2", 3, enabled);
            refused("empty its data directory but for myid", 3, enabled);
        }
        Files.writeString(accepted, "2\n");
        parse(3, "saucr.enabled=true");
        Files.delete(accepted);
        parse(3, "saucr.enabled=true");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "currentEpoch",
                "acceptedEpoch",
                "saucr.fastSwitch",
                "saucr.latestOnDisk",
                "saucr.identity",
                "saucr.proof",
                "saucr.lock"
            })
    void whatIsNoFileIsRefusedByItsPath(String name) throws Exception {
        Path version = Files.createDirectories(data.resolve("version-2"));
        Path file = version.resolve(name);
        Files.createDirectory(file);
        refused(file + " is in the way: it is a folder", 3, "saucr.enabled=true");
        Files.delete(file);
        new ProcessBuilder("mkfifo", file.toString()).start().waitFor();
        assertThatThrownBy(() -> parse(3, "saucr.enabled=true"))
                .hasMessageContaining(file + " is in the way: it is a device, pipe or socket");
        Files.delete(file);
        Files.createSymbolicLink(file, Path.of("/none/file"));
        assertThatThrownBy(() -> parse(3, "saucr.enabled=true"))
                .hasMessageContaining(
                        file + " is a symbolic link to /none/file, which is not there");
    }

    @Test
    void aFolderThatIsALinkToNothingIsRefusedByItsPath() throws Exception {
        Path version = data.resolve("version-2");
        Files.createSymbolicLink(version, Path.of("/none/version-2"));
        refused(
                "dataDir: "
                        + version
                        + " is a symbolic link to /none/version-2, which is not there",
                3,
                "saucr.enabled=true");
    }

    @Test
    void aLogThatMayBeTheServersUnderAnotherNameIsRefusedInEitherCase() throws Exception {
        Path version = Files.createDirectories(data.resolve("version-2"));
        Path file = Files.createFile(version.resolve("log.10000000A"));
        refused(file + " may be a file of this server", 3, "saucr.enabled=true");
        refused("ZooKeeper would write log.10000000a", 3, "saucr.enabled=false");
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
        // Clients with TLS need it.
        parse(3, "saucr.enabled=true", "secureClientPort=2281");
        assertThat(clientPort()).isEqualTo(netty);
        parse(3, "saucr.enabled=true");
        assertThat(clientPort()).isEqualTo(SaucrClientPort.class.getName());
        parse(3, "saucr.enabled=true", "serverCnxnFactory=" + netty);
        assertThat(clientPort()).isEqualTo(netty);
    }

    private static String pauseOfFollowers() {
        return System.getProperty(Boot.LEADER_CONNECT_DELAY);
    }

    @Test
    void thePauseOfFollowersIsShortUnlessTheConfigurationNamesOne() throws Exception {
        parse(3, "saucr.enabled=false");
        assertThat(pauseOfFollowers()).isNull();
        parse(3, "saucr.enabled=true");
        assertThat(pauseOfFollowers()).isEqualTo("20");
        parse(3, "saucr.enabled=false");
        assertThat(pauseOfFollowers()).isNull();
        parse(3, "saucr.enabled=false", "leaderConnectDelayDuringRetryMs=20");
        assertThat(pauseOfFollowers()).as("the operator's").isEqualTo("20");
        forgetProperties();
        parse(3, "saucr.enabled=true", "leaderConnectDelayDuringRetryMs=100");
        assertThat(pauseOfFollowers()).isEqualTo("100");
    }

    @Test
    void whoLooksForALeaderSaysSoOftenUnlessTheConfigurationNamesAnInterval() throws Exception {
        parse(3, "saucr.enabled=true");
        assertThat(System.getProperty(Boot.NOTIFICATION_INTERVAL)).isEqualTo("2000");
        parse(3, "saucr.enabled=false");
        assertThat(System.getProperty(Boot.NOTIFICATION_INTERVAL)).isNull();
        parse(3, "saucr.enabled=true", "fastleader.maxNotificationInterval=60000");
        assertThat(System.getProperty(Boot.NOTIFICATION_INTERVAL)).isEqualTo("60000");
    }
}
