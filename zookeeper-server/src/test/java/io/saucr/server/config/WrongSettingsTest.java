package io.saucr.server.config;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig.ConfigException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Settings that a server must not start with, ZooKeeper's own and ours, one after the other in an
 * otherwise good configuration: each is refused with the file, the key, the value and what is
 * allowed.
 */
@Tag("trial")
class WrongSettingsTest {
    private static final String SERVER_LINE =
            "it must be HOST:PORT:ELECTION-PORT[:participant|:observer][;[CLIENT-HOST:]CLIENT-PORT]";

    @TempDir Path folder;
    private Path data;
    private final Map<String, String> lines = new LinkedHashMap<>();

    @BeforeEach
    void goodConfiguration() throws IOException {
        forgetProperties();
        data = Files.createDirectories(folder.resolve("data"));
        Files.writeString(data.resolve("myid"), "1\n");
        lines.put("dataDir", data.toString());
        lines.put("clientPort", "2181");
        lines.put("tickTime", "2000");
        lines.put("initLimit", "10");
        lines.put("syncLimit", "5");
        lines.put("server.1", "127.0.0.1:3001:4001");
        lines.put("server.2", "127.0.0.1:3002:4002");
        lines.put("server.3", "127.0.0.1:3003:4003");
        lines.put("saucr.enabled", "true");
    }

    @AfterEach
    void forgetProperties() {
        ParsedProperties.forget();
    }

    private Path file() {
        return folder.resolve("zoo.cfg");
    }

    private QuorumPeerConfig parse() throws IOException, ConfigException {
        List<String> text = new ArrayList<>();
        lines.forEach((key, value) -> text.add(key + "=" + value));
        Files.write(file(), text);
        QuorumPeerConfig config = new QuorumPeerConfig();
        config.parse(file().toString());
        return config;
    }

    /** The whole message, and nothing was written. */
    private void refused(String message) throws IOException {
        Map<String, String> before = contents();
        assertThatThrownBy(this::parse).isInstanceOf(ConfigException.class).hasMessage(message);
        assertThat(contents()).isEqualTo(before);
    }

    private Map<String, String> contents() throws IOException {
        Map<String, String> found = new TreeMap<>();
        try (Stream<Path> files = Files.walk(data)) {
            for (Path each : files.toList()) {
                found.put(
                        each.toString(),
                        // Some of them are no text.
                        Files.isDirectory(each) ? "" : Files.readString(each, ISO_8859_1));
            }
        }
        return found;
    }

    @Test
    void theConfigurationIsGoodWithoutThem() throws Exception {
        assertThat(parse().getServerId()).isEqualTo(1);
    }

    // ---- Ours ----

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Saucr.enabled",
                "saucrEnabled",
                "saucr.Enabled",
                "SAUCR_ENABLED",
                "saucr-enabled",
                "saucer.enabled",
                "sacur.enabled",
                "saucr.enable",
                "zookeeper.saucr.enabled"
            })
    void whoeverMeantEnabledIsToldSo(String key) throws Exception {
        lines.remove("saucr.enabled");
        lines.put(key, "true");
        assertThatThrownBy(this::parse)
                .isInstanceOf(ConfigException.class)
                .hasMessageStartingWith(
                        file()
                                + ": unknown key "
                                + key
                                + ", probably saucr.enabled; known are saucr.adminServers, ");
    }

    @ParameterizedTest
    @CsvSource({
        "saucr.heartbeatinterval, saucr.heartbeatInterval",
        "saucrIdleFlush, saucr.idleFlush",
        "Saucr.EnsembleName, saucr.ensembleName",
        "saucr.adminServer, saucr.adminServers"
    })
    void theSameForOtherKeysEvenWhileSaucrIsOff(String key, String right) throws Exception {
        lines.put("saucr.enabled", "false");
        lines.put(key, "1");
        assertThatThrownBy(this::parse)
                .hasMessageContaining("unknown key " + key + ", probably " + right + ";");
    }

    /** ZooKeeper takes every key, for itself or for what is plugged in. */
    @ParameterizedTest
    @ValueSource(
            strings = {"forceSync", "snapCount", "enabled", "idleFlush", "source.enabled", "sauce"})
    void whatIsNearNoKeyOfOursIsNotOurBusiness(String key) throws Exception {
        lines.put(key, "1");
        assertThat(parse().getServerId()).isEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "saucr.enabled | yes | true or false",
                "saucr.heartbeatInterval | 50 ms | 500us to 1m, for example 50ms",
                "saucr.heartbeatInterval | 100us | 500us to 1m, for example 50ms",
                "saucr.missedHeartbeatsBeforeElection | 1 | 2 to 1000000",
                "saucr.fastModeConfirmations | many | 1 to 1000",
                "saucr.backgroundFlushInterval | 2h | 1ms to 1h, for example 100ms",
                "saucr.idleFlush | 0 | 1ms to 1h, for example 500ms",
                "saucr.diskTimeout | 10ms | 1s to 1h, for example 10s",
                "saucr.ensembleName | my orders | 1 to 64 letters, digits, dots, dashes and underscores",
                "saucr.adminServers | 1:zk1 | ID=HOST:PORT, separated by commas, each ID once and ports from 1 to 65535, for example 1=zk1:8080,2=zk2:8080",
                "clientPort | abc | a port from 1 to 65535, or 0 for none",
                "clientPort | 70000 | a port from 1 to 65535, or 0 for none",
                "secureClientPort | 2281x | a port from 1 to 65535, or 0 for none",
                "tickTime | often | a number of milliseconds, at least 1",
                "tickTime | 0 | a number of milliseconds, at least 1",
                "tickTime | -5 | a number of milliseconds, at least 1",
                "initLimit | ten | a number of ticks, at least 1",
                "initLimit | -10 | a number of ticks, at least 1",
                "syncLimit | 0 | a number of ticks, at least 1",
                "maxClientCnxns | all | a whole number",
                "autopurge.purgeInterval | 1h | a whole number",
                "electionAlg | 1 | 3",
                "peerType | voter | participant or observer",
                "standaloneEnabled | maybe | true or false",
                "reconfigEnabled | 1 | true or false",
                "sslQuorum | on | true or false",
                "jvm.pause.sleep.time.ms | 1s | a number of milliseconds",
                "metricsProvider.className | no.Such | the name of a class on the class path",
                "clientPortAddress | nosuch.invalid | an IP address, or a host name that has one",
                "dataDir | '' | the absolute path of a folder",
                "dataDir | d | the absolute path of a folder",
                "dataLogDir | . | the absolute path of a folder",
                "dynamicConfigFile | /no/such/file | the path of a file that exists"
            })
    void aValueThatIsNotAllowed(String key, String value, String allowed) throws Exception {
        lines.put(key, value);
        if (key.equals("dynamicConfigFile")) {
            lines.keySet().removeIf(each -> each.startsWith("server."));
        }
        refused(file() + ": " + key + "=" + value + " is not allowed; it must be " + allowed);
    }

    @Test
    void anAdminServerOfAStrangerIsRefusedWhereTheServersStayTheSame() throws Exception {
        lines.put("saucr.adminServers", "1=zk1:8080,7=zk7:8080,9=zk9:8080");
        refused(
                file()
                        + ": saucr.adminServers names server 7, 9, which is not in the ensemble;"
                        + " server.* names 1, 2, 3");
        lines.put("reconfigEnabled", "true");
        assertThat(parse().getServerId()).as("one that was removed").isEqualTo(1);
    }

    // ---- ZooKeeper's ----

    @ParameterizedTest
    @CsvSource({
        "127.0.0.1:3002",
        "127.0.0.1:x:4002",
        "127.0.0.1:3002:4002:voter",
        "127.0.0.1:3002:70000",
        "127.0.0.1:3002:4002;port",
        "127.0.0.1:3002:3002"
    })
    void aServerThatIsNoAddress(String value) throws Exception {
        lines.put("server.2", value);
        assertThatThrownBy(this::parse)
                .isInstanceOf(ConfigException.class)
                .hasMessageStartingWith(
                        file() + ": server.2=" + value + " is not allowed; " + SERVER_LINE);
    }

    @Test
    void aServerWithoutANumber() throws Exception {
        lines.put("server.two", "127.0.0.1:3004:4004");
        refused(
                file()
                        + ": key server.two is not allowed; it must be server.N, N the number in the"
                        + " myid file of that server");
    }

    static Stream<Map.Entry<String, String>> needed() {
        return Stream.of(
                Map.entry("dataDir", "the folder for the data"),
                Map.entry("initLimit", "a number of ticks, at least 1"),
                Map.entry("syncLimit", "a number of ticks, at least 1"));
    }

    @ParameterizedTest
    @MethodSource("needed")
    void aKeyThatIsMissing(Map.Entry<String, String> key) throws Exception {
        lines.remove(key.getKey());
        refused(file() + ": " + key.getKey() + " is missing; it must be " + key.getValue());
    }

    @Test
    void valuesThatContradictEachOther() throws Exception {
        lines.put("minSessionTimeout", "60000");
        lines.put("maxSessionTimeout", "1000");
        refused(
                file()
                        + ": minSessionTimeout=60000 is not allowed; it must not be larger than"
                        + " maxSessionTimeout=1000");
        lines.remove("minSessionTimeout");
        refused(
                file()
                        + ": minSessionTimeout=(2 ticks) is not allowed; it must not be larger than"
                        + " maxSessionTimeout=1000");
        lines.remove("maxSessionTimeout");
        lines.put("secureClientPortAddress", "127.0.0.1");
        refused(
                file()
                        + ": secureClientPortAddress=127.0.0.1 is not allowed without"
                        + " secureClientPort, a port from 1 to 65535");
    }

    @Test
    void theAddressForTlsHasToBeOne() throws Exception {
        lines.put("secureClientPort", "2182");
        lines.put("secureClientPortAddress", "nosuch.invalid");
        refused(
                file()
                        + ": secureClientPortAddress=nosuch.invalid is not allowed; it must be an IP"
                        + " address, or a host name that has one");
    }

    @Test
    void theNumberOfTheServer() throws Exception {
        Path id = data.resolve("myid");
        Files.writeString(id, "one\n");
        refused(
                file()
                        + ": the file "
                        + id
                        + " must hold the number of this server alone, one of 1, 2, 3; it begins"
                        + " with 'one'");
        Files.writeString(id, "9\n");
        refused(
                file()
                        + ": the file "
                        + id
                        + " says that this is server 9, but server.* names only 1, 2, 3");
        Files.delete(id);
        refused(
                file()
                        + ": the file "
                        + id
                        + " is missing; it must hold the number of this server, one of 1, 2, 3");
        Files.write(id, new byte[] {(byte) 0xff, (byte) 0xfe, 0, 'x'});
        refused(
                file()
                        + ": the file "
                        + id
                        + " must hold the number of this server alone, one of 1, 2, 3; it begins"
                        + " with '\\xff\\xfe\\x00x'");
        Files.delete(id);
        Files.createDirectory(id);
        refused(id + " must be a file, and it is a folder. Move it away");
        Files.delete(id);
        Files.createSymbolicLink(id, Path.of("/none/myid"));
        assertThatThrownBy(this::parse)
                .hasMessage(
                        id
                                + " must be a file, and it is a symbolic link to /none/myid. Move it away");
    }

    /** They are not read into memory, however small the heap is. */
    @Test
    void aFileThatIsFarTooLarge() throws Exception {
        String words = " is not what it should be: it has more than 1048576 bytes";
        Path id = data.resolve("myid");
        writeSparse(id, 1L << 40);
        assertThatThrownBy(this::parse).hasMessage(id + words);
        Files.writeString(id, "1\n");
        Path dynamic = folder.resolve("members");
        writeSparse(dynamic, 1L << 40);
        lines.keySet().removeIf(each -> each.startsWith("server."));
        lines.put("dynamicConfigFile", dynamic.toString());
        assertThatThrownBy(this::parse).hasMessage(dynamic + words);
        Path config = folder.resolve("large.cfg");
        writeSparse(config, 1L << 40);
        assertThatThrownBy(() -> new QuorumPeerConfig().parse(config.toString()))
                .isInstanceOf(ConfigException.class)
                .hasMessage(config + words);
    }

    private static void writeSparse(Path file, long bytes) throws IOException {
        try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
            sparse.setLength(bytes);
        }
    }

    @Test
    void theFileOfTheMembers() throws Exception {
        Path dynamic = folder.resolve("members");
        Files.writeString(dynamic, "server.1=127.0.0.1:3001:4001;2181\nsaucr.enabled=true\n");
        lines.put("dynamicConfigFile", dynamic.toString());
        refused(
                file()
                        + ": server.1=127.0.0.1:3001:4001 is not allowed next to dynamicConfigFile; it"
                        + " must be in "
                        + dynamic);
        lines.keySet().removeIf(each -> each.startsWith("server."));
        refused(
                dynamic
                        + ": saucr.enabled=true is not allowed; this file has server.*, group.* and"
                        + " weight.* alone, the other keys belong into "
                        + file());
        Files.writeString(dynamic, "server.1=127.0.0.1:3001\n");
        assertThatThrownBy(this::parse)
                .hasMessageStartingWith(
                        dynamic + ": server.1=127.0.0.1:3001 is not allowed; " + SERVER_LINE);
        Files.delete(data.resolve("myid"));
        Files.writeString(
                dynamic, "server.5=127.0.0.1:3001:4001;2181\nserver.6=127.0.0.1:3002:4002\n");
        assertThatThrownBy(this::parse).hasMessageEndingWith("one of 5, 6");
    }

    @Test
    void aFileThatIsNone() throws Exception {
        String none = folder.resolve("none.cfg").toString();
        assertThatThrownBy(() -> new QuorumPeerConfig().parse(none))
                .isInstanceOf(ConfigException.class)
                .hasMessage(none + ": this configuration file does not exist, or is no file");
        assertThatThrownBy(() -> new QuorumPeerConfig().parse(folder.toString()))
                .hasMessage(folder + ": this configuration file does not exist, or is no file");
        lines.put("snapCount", "\\u12");
        assertThatThrownBy(this::parse).hasMessageStartingWith(file() + ": cannot be read: ");
    }

    @Test
    void aFileInThePlaceOfAFolder() throws Exception {
        Path log = Files.createDirectories(folder.resolve("log"));
        Path version = Files.writeString(log.resolve("version-2"), "");
        lines.put("dataLogDir", log.toString());
        refused(
                file()
                        + ": dataLogDir="
                        + log
                        + " is not allowed; it must be a folder, and "
                        + version
                        + " is a file");
        lines.put("dataDir", version.toString());
        lines.keySet().removeIf(key -> key.startsWith("server.") || key.startsWith("saucr."));
        refused(
                file()
                        + ": dataDir="
                        + version
                        + " is not allowed; it must be a folder, and "
                        + version
                        + " is a file");
    }

    /** ZooKeeper takes blanks at the end of other values away. */
    @Test
    void aBlankAtTheEndOfAServer() throws Exception {
        lines.put("server.2", "127.0.0.1:3002:4002 ");
        assertThatThrownBy(this::parse)
                .hasMessageStartingWith(
                        file()
                                + ": server.2=127.0.0.1:3002:4002  is not allowed; "
                                + SERVER_LINE
                                + " without a blank at its end (");
    }

    @Test
    void theKeyForSeveralAddressesDoesNotAllowThem() throws Exception {
        lines.put("multiAddress.enabled", "true");
        lines.put("server.2", "127.0.0.1:3002:4002|127.0.0.2:3002:4002");
        assertThatThrownBy(this::parse)
                .hasMessageContaining("server.2=127.0.0.1:3002:4002|127.0.0.2:3002:4002")
                .hasMessageContaining("-Dzookeeper.multiAddress.enabled=true");
    }

    /** Also a key that has a default: the server started with that. */
    @ParameterizedTest
    @ValueSource(strings = {"dataDir", "tickTime"})
    void aByteOrderMarkHidesTheFirstKey(String first) throws Exception {
        List<String> all = List.of("dataDir=" + data, "tickTime=1000", "clientPort=2181");
        List<String> sorted = new ArrayList<>(all);
        sorted.sort(Comparator.comparing(each -> !each.startsWith(first)));
        Files.writeString(file(), "\ufeff" + String.join("\n", sorted) + "\n");
        String path = file().toString();
        assertThatThrownBy(() -> new QuorumPeerConfig().parse(path))
                .hasMessage(
                        path
                                + ": begins with a byte order mark, so its first key, "
                                + first
                                + ", is not found; save the file without one");
        Files.writeString(file(), "\ufeff# ours\n" + String.join("\n", sorted) + "\n");
        new QuorumPeerConfig().parse(path);
    }

    /** What has no words of ours is said with ZooKeeper's. */
    @Test
    void otherRefusalsNameTheFile() throws Exception {
        lines.put("quorum.auth.serverRequireSasl", "true");
        refused(
                file()
                        + ": quorum.auth.enableSasl is disabled, so cannot enable"
                        + " quorum.auth.serverRequireSasl");
    }

    /** The same words where SAUCR is off, and nothing more is refused than by ZooKeeper. */
    @Test
    void withoutSaucrZooKeeperDecides() throws Exception {
        lines.put("saucr.enabled", "false");
        lines.put("initLimit", "-10");
        assertThat(parse().getInitLimit()).isEqualTo(-10);
        lines.put("initLimit", "ten");
        refused(
                file()
                        + ": initLimit=ten is not allowed; it must be a number of ticks, at least 1");
    }
}
