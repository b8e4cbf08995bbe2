package io.saucr.server.tool;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.core.log.LleMap;
import io.saucr.core.log.LogIdentity;
import io.saucr.core.log.LogIdentity.Stamp;
import io.saucr.core.log.Markers;
import io.saucr.core.quorum.View;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.persistence.FileTxnLog;
import org.apache.zookeeper.server.persistence.MarkerStore;
import org.apache.zookeeper.server.persistence.PageCacheProof;
import org.apache.zookeeper.txn.CreateTxn;
import org.apache.zookeeper.txn.TxnHeader;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** What an operator gets from {@code bin/saucr-recovery} (R19). */
class RecoveryCommandTest {
    private static final long FIRST = 0x1_0000_0001L;
    private static final int ENTRIES = 5;
    private static final int DONE = 0;
    private static final int REFUSED = 1;
    private static final int WRONG_ARGUMENTS = 2;
    private static final int NOT_COMPLETE = 3;

    @TempDir Path data;

    private final InputStream stdin = System.in;
    private Path version;
    private MarkerStore markers;
    private String output;

    @BeforeEach
    void aServerThatCrashedInFastMode() throws IOException {
        version = Files.createDirectories(data.resolve("version-2"));
        FileTxnLog.setPreallocSize(4096);
        try (FileTxnLog log = new FileTxnLog(version.toFile())) {
            for (int i = 0; i < ENTRIES; i++) {
                long zxid = FIRST + i;
                log.append(
                        new Request(
                                new TxnHeader(7, i, zxid, 1000, OpCode.create),
                                new CreateTxn(
                                        "/n" + i, new byte[10], Ids.OPEN_ACL_UNSAFE, false, -1),
                                null));
            }
            log.commit();
        }
        Files.writeString(data.resolve("myid"), "1\n");
        Files.writeString(version.resolve("currentEpoch"), "1");
        Files.writeString(version.resolve("acceptedEpoch"), "2");
        markers = new MarkerStore(version);
        markers.writeLatestOnDisk(
                FIRST + 1, LleMap.empty().with(1, FIRST + 9).with(2, FIRST), View.FIRST);
        markers.writeFastSwitch(FIRST + 2);
    }

    @Test
    void theFolderThatIsMissingIsNamedWithItsOption() throws IOException {
        Path none = data.resolve("none");
        assertThat(run("inspect", none.toString())).isEqualTo(REFUSED);
        assertThat(output).contains(none + "/version-2 is not a folder: dataDir (DATADIR)");
        assertThat(run("inspect", data.toString(), "--log-dir", none.toString()))
                .isEqualTo(REFUSED);
        assertThat(output)
                .contains(none + "/version-2 is not a folder: dataLogDir (--log-dir)")
                .doesNotContain("DATADIR");
    }

    @Test
    void everyCommandTellsTheVersion() {
        for (String[] command : new String[][] {{"-V"}, {"inspect", "--version"}}) {
            assertThat(run(command)).isEqualTo(DONE);
            assertThat(output).startsWith("saucr ");
        }
    }

    /** The server reads its file as Latin-1. */
    @Test
    void theConfigurationIsReadAsTheServerReadsIt() throws IOException {
        Path config =
                Files.writeString(
                        data.resolve("zoo.cfg"),
                        "# f\u00fcr uns\n dataDir : " + data + "\n",
                        StandardCharsets.ISO_8859_1);
        assertThat(run("inspect", "--config", config.toString())).isEqualTo(NOT_COMPLETE);
        assertThat(output).contains("MEMORY_LOST");
    }

    @AfterEach
    void restore() {
        System.setIn(stdin);
        FileTxnLog.setPreallocSize(64 * 1024 * 1024);
    }

    private int run(String... arguments) {
        StringWriter text = new StringWriter();
        CommandLine command = RecoveryCommand.commandLine();
        command.setOut(new PrintWriter(text, true)).setErr(new PrintWriter(text, true));
        int code = command.execute(arguments);
        output = text.toString();
        return code;
    }

    private static void type(String line) {
        System.setIn(new ByteArrayInputStream(line.getBytes(StandardCharsets.UTF_8)));
    }

    /** Every file below the data directory, with its bytes. */
    private Map<String, String> files() throws IOException {
        Map<String, String> content = new TreeMap<>();
        try (Stream<Path> files = Files.walk(data)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                content.put(
                        data.relativize(file).toString(),
                        Base64.getEncoder().encodeToString(Files.readAllBytes(file)));
            }
        }
        return content;
    }

    private void tearTheTail() throws IOException {
        Path log = version.resolve("log." + Long.toHexString(FIRST));
        byte[] bytes = Files.readAllBytes(log);
        int last = bytes.length - 1;
        while (bytes[last] == 0) {
            last--;
        }
        bytes[last - 3] ^= 0x55;
        Files.write(log, bytes);
    }

    @Test
    void inspectSaysWhatIsThereAndChangesNothing() throws IOException {
        Map<String, String> before = files();
        assertThat(run("inspect", data.toString())).isEqualTo(NOT_COMPLETE);
        assertThat(output)
                .containsPattern("state +MEMORY_LOST")
                .containsPattern("crashedInFastMode +true")
                .containsPattern("fastSwitch +0x100000003")
                .containsPattern("latestOnDisk +0x100000002")
                .containsPattern("lastLogged +0x100000005")
                .containsPattern("newestSnapshot +none")
                .containsPattern("damage +none")
                .containsPattern("currentEpoch +1")
                .containsPattern("acceptedEpoch +2")
                .contains("1=0x10000000a");
        assertThat(files()).isEqualTo(before);
    }

    @Test
    void inspectSaysTheSameInJson() throws IOException {
        tearTheTail();
        Map<String, String> before = files();
        assertThat(run("inspect", "--json", data.toString())).isEqualTo(NOT_COMPLETE);
        JsonNode facts = new ObjectMapper().readTree(output);
        assertThat(facts.get("crashedInFastMode").asBoolean()).isTrue();
        assertThat(facts.get("lastLogged").asText()).isEqualTo("0x100000004");
        assertThat(facts.get("damage").asText())
                .contains("checksum")
                .contains("log.100000001")
                .containsPattern("byte \\d+");
        assertThat(facts.get("currentEpoch").asLong()).isEqualTo(1);
        assertThat(facts.get("lleMap").get("1").asText()).isEqualTo("0x10000000a");
        assertThat(facts.get("lleMap").get("2").asText()).isEqualTo("0x100000001");
        assertThat(files()).isEqualTo(before);
    }

    @Test
    void logsMayLieElsewhere() throws IOException {
        Path snapshots = Files.createDirectories(data.resolve("snapshots"));
        Files.createDirectories(snapshots.resolve("version-2"));
        assertThat(run("inspect", snapshots.toString(), "--log-dir", data.toString()))
                .isEqualTo(NOT_COMPLETE);
        assertThat(output).containsPattern("lastLogged +0x100000005");
        assertThat(output).containsPattern("currentEpoch +-1");

        Path config =
                Files.write(
                        data.resolve("zoo.cfg"),
                        List.of("dataDir=" + snapshots, "dataLogDir=" + data));
        assertThat(run("inspect", "--config", config.toString())).isEqualTo(NOT_COMPLETE);
        assertThat(output).containsPattern("crashedInFastMode +true");
        assertThat(run("inspect", "--config", config.toString(), data.toString()))
                .isEqualTo(WRONG_ARGUMENTS);
        assertThat(run("inspect", "--config", data.resolve("none").toString())).isEqualTo(REFUSED);
    }

    @Test
    void aLogFolderThatIsGoneIsNoAllClear() throws IOException {
        Files.writeString(
                version.resolve("currentEpoch"), "1\n" + new Stamp(1, 77).encode() + "\n");
        Path empty = Files.createDirectories(data.resolve("empty"));
        Files.createDirectories(empty.resolve("version-2"));
        assertThat(run("inspect", data.toString(), "--log-dir", empty.toString()))
                .isEqualTo(NOT_COMPLETE);
        assertThat(output).containsPattern("state +DISK_LOST").contains("log folder");
        assertThat(
                        run(
                                "accept-loss",
                                data.toString(),
                                "--log-dir",
                                empty.toString(),
                                "--yes-i-accept-losing-acknowledged-writes"))
                .isEqualTo(DONE);
        assertThat(run("inspect", data.toString(), "--log-dir", empty.toString())).isEqualTo(DONE);
    }

    @Test
    void anEmptyDiskIsNoAllClear() throws IOException {
        Path empty = Files.createDirectories(data.resolve("empty"));
        Files.createDirectories(empty.resolve("version-2"));
        assertThat(run("inspect", empty.toString())).isEqualTo(NOT_COMPLETE);
        assertThat(output).containsPattern("state +EMPTY");
    }

    @Test
    void anotherServersDiskIsNoAllClear() throws IOException {
        Files.writeString(
                version.resolve("currentEpoch"), "1\n" + new Stamp(2, 77).encode() + "\n");
        assertThat(run("inspect", data.toString())).isEqualTo(NOT_COMPLETE);
        assertThat(output).containsPattern("state +FOREIGN");
    }

    @Test
    void writesInThePageCacheAloneAreNoAllClear() throws IOException {
        markers.writeIdentity(new LogIdentity("", 1, 77, 1, 1, 0, 0));
        Files.writeString(
                version.resolve("currentEpoch"), "1\n" + new Stamp(1, 77).encode() + "\n");
        PageCacheProof proof = new PageCacheProof(version, "");
        proof.logFile(version.resolve("log." + Long.toHexString(FIRST)));
        proof.reached(FIRST + 4);
        assertThat(run("inspect", data.toString())).isEqualTo(NOT_COMPLETE);
        assertThat(output).containsPattern("state +COMPLETE_IN_PAGE_CACHE");
    }

    @Test
    void whereEverythingIsOnDiskItIsComplete() throws IOException {
        markers.writeLatestOnDisk(FIRST + 4, LleMap.empty(), View.FIRST);
        assertThat(run("inspect", data.toString())).isEqualTo(DONE);
        assertThat(output).containsPattern("state +COMPLETE\\b");
    }

    @Test
    void aWrongDirectoryIsNamed() throws IOException {
        Path wrong = data.resolve("nowhere");
        for (String verb : new String[] {"inspect", "accept-loss"}) {
            assertThat(run(verb, wrong.toString())).isEqualTo(REFUSED);
            assertThat(output)
                    .contains(wrong.toString())
                    .contains("is not a folder: dataDir (DATADIR) must be that of a server");
        }
        // One level too deep, as one easily types it.
        assertThat(run("inspect", version.toString())).isEqualTo(REFUSED);
        assertThat(output).contains(version.resolve("version-2").toString());
        assertThat(run("inspect")).isEqualTo(WRONG_ARGUMENTS);
        assertThat(run("forget", data.toString())).isEqualTo(WRONG_ARGUMENTS);
    }

    @Test
    void aRunningServerIsLeftAlone() throws IOException {
        Path pid = data.resolve("zookeeper_server.pid");
        Files.writeString(pid, ProcessHandle.current().pid() + "\n");
        Map<String, String> before = files();
        assertThat(run("inspect", data.toString())).isEqualTo(REFUSED);
        assertThat(run("accept-loss", data.toString(), "--yes-i-accept-losing-acknowledged-writes"))
                .isEqualTo(REFUSED);
        assertThat(output).contains("runs as process").contains("stop it first");
        assertThat(files()).isEqualTo(before);

        Files.writeString(pid, "no number");
        assertThat(run("inspect", data.toString())).isEqualTo(NOT_COMPLETE);
    }

    @Test
    void aLossIsNotAcceptedWithoutAnExactYes() throws IOException {
        Map<String, String> before = files();
        for (String answer : new String[] {"", "\n", "y\n", "YES\n", "no\nyes\n", "yes, but\n"}) {
            type(answer);
            assertThat(run("accept-loss", data.toString())).isEqualTo(REFUSED);
            assertThat(output)
                    .contains("through 0x100000005")
                    .contains("may have acknowledged writes")
                    .contains("Type yes")
                    .contains("Nothing was changed.");
            assertThat(files()).isEqualTo(before);
        }
    }

    @Test
    void aTypedYesIsEnough() throws IOException {
        type("yes\n");
        assertThat(run("accept-loss", data.toString())).isEqualTo(DONE);
        assertLossAccepted(FIRST + 4);
    }

    @Test
    void theOptionIsAsGoodAsAYesAndATornTailIsCut() throws IOException {
        type("");
        tearTheTail();
        assertThat(run("accept-loss", data.toString(), "--yes-i-accept-losing-acknowledged-writes"))
                .isEqualTo(DONE);
        assertThat(output).doesNotContain("Type yes");
        assertLossAccepted(FIRST + 3);
        assertThat(run("inspect", data.toString())).isEqualTo(DONE);
        assertThat(output)
                .containsPattern("crashedInFastMode +false")
                .containsPattern("lastLogged +0x100000004")
                .containsPattern("damage +none");
    }

    /**
     * What an interrupted recovery had copied of a newer epoch would keep ZooKeeper from loading.
     */
    @Test
    void entriesOfAnEpochThatTheServerWasNeverInAreDropped() throws IOException {
        Files.writeString(version.resolve("currentEpoch"), "0");
        assertThat(run("accept-loss", data.toString(), "--yes-i-accept-losing-acknowledged-writes"))
                .isEqualTo(DONE);
        assertThat(run("inspect", data.toString())).isEqualTo(DONE);
        assertThat(output).containsPattern("lastLogged +0x0");
    }

    @Test
    void thereIsNothingToAcceptWhereNothingIsLost() throws IOException {
        markers.writeLatestOnDisk(FIRST + 4, LleMap.empty(), View.FIRST);
        Map<String, String> before = files();
        assertThat(run("accept-loss", data.toString(), "--yes-i-accept-losing-acknowledged-writes"))
                .isEqualTo(REFUSED);
        assertThat(output).contains("There is no loss to accept");
        assertThat(files()).isEqualTo(before);
    }

    private void assertLossAccepted(long last) throws IOException {
        Markers after = markers.read();
        assertThat(after.crashedInFastMode()).isFalse();
        assertThat(after.latestOnDisk()).isEqualTo(last);
        assertThat(after.lleMap().get(1)).isEqualTo(FIRST + 9);
        String audit = Files.readString(version.resolve("saucr.audit.log"));
        assertThat(audit.lines()).hasSize(1);
        assertThat(audit)
                .contains("accepted the loss of whatever followed 0x" + Long.toHexString(last))
                .containsPattern("^\\d{4}-\\d\\d-\\d\\dT");
        assertThat(output).contains(audit.trim());

        // A second time there is nothing to accept, and the first stays on record.
        assertThat(run("accept-loss", data.toString(), "--yes-i-accept-losing-acknowledged-writes"))
                .isEqualTo(REFUSED);
        assertThat(Files.readString(version.resolve("saucr.audit.log"))).isEqualTo(audit);
    }
}
