package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.core.log.LleMap;
import io.saucr.core.log.MarkerFile;
import io.saucr.core.quorum.View;
import io.saucr.ensemble.Ensemble;
import io.saucr.ensemble.ServerProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Mistakes that a server must not start with: it ends with an error status, says what is wrong and
 * what is allowed, and leaves its data unchanged. One start of a process for each kind of mistake;
 * StartCheckTest and SaucrSettingsTest test the others without a process.
 */
class BadInputIT {
    @Test
    void anUnknownKeyIsRefusedEvenWhileSaucrIsOff() throws Exception {
        refused(
                "unknown-key",
                3,
                Map.of("saucr.enabled", "false", "saucr.flush", "1s"),
                Map.of(),
                List.of("zoo.cfg", "unknown key saucr.flush", "saucr.idleFlush"));
    }

    @Test
    void twoVotersHaveNoFastQuorum() throws Exception {
        refused(
                "two-voters",
                2,
                Map.of(),
                Map.of(),
                List.of("zoo.cfg", "at least 3", "server.*", "2"));
    }

    @Test
    void r14ACorruptMarkerIsRefused() throws Exception {
        byte[] flipped = MarkerFile.encodeLatestOnDisk(0x100000009L, LleMap.empty(), View.FIRST);
        flipped[flipped.length / 2] ^= 1;
        refused(
                "marker",
                3,
                Map.of(),
                Map.of("saucr.latestOnDisk", flipped),
                List.of(
                        "zoo.cfg",
                        "saucr.latestOnDisk",
                        "cannot be used",
                        "Delete the file, and never put an older one in its place"));
    }

    @Test
    void h13SaucrCannotBeTurnedOffAfterACrashInFastMode() throws Exception {
        refused(
                "off-after-fast-crash",
                3,
                Map.of("saucr.enabled", "false"),
                Map.of("saucr.fastSwitch", MarkerFile.encodeFastSwitch(0x100000005L)),
                List.of(
                        "zoo.cfg",
                        "saucr.enabled=false is not allowed now",
                        "crashed in fast mode",
                        "saucr.enabled=true until it has recovered"));
    }

    /**
     * @param markers files beside the log
     */
    private static void refused(
            String name,
            int voters,
            Map<String, String> settings,
            Map<String, byte[]> markers,
            List<String> words)
            throws Exception {
        Ensemble.Builder builder = SaucrEnsemble.describe("bad-input-" + name, voters);
        settings.forEach(builder::set);
        try (Ensemble ensemble = builder.build()) {
            ServerProcess server = ensemble.server(1);
            Path logs = Files.createDirectories(server.dataDirectory().resolve("version-2"));
            Files.writeString(server.dataDirectory().resolve("myid"), "1\n");
            Files.writeString(logs.resolve("acceptedEpoch"), "1");
            Files.writeString(logs.resolve("currentEpoch"), "1");
            for (Map.Entry<String, byte[]> marker : markers.entrySet()) {
                Files.write(logs.resolve(marker.getKey()), marker.getValue());
            }
            Map<String, String> before = contents(server.dataDirectory());
            server.start();
            SaucrEnsemble.await("the end of the server", () -> !server.isAlive());
            assertThat(server.exitStatus().orElseThrow())
                    .as("exit status; log:\n%s", server.logTail(20))
                    .isNotZero();
            String log = server.logTail(200);
            assertThat(words).allSatisfy(word -> assertThat(log).contains(word));
            assertThat(contents(server.dataDirectory())).isEqualTo(before);
        }
    }

    /** Bytes and date of every file. */
    static Map<String, String> contents(Path folder) throws IOException {
        Map<String, String> found = new TreeMap<>();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                FileTime modified = Files.getLastModifiedTime(file);
                found.put(
                        folder.relativize(file).toString(),
                        modified + " " + HexFormat.of().formatHex(Files.readAllBytes(file)));
            }
        }
        return found;
    }
}
