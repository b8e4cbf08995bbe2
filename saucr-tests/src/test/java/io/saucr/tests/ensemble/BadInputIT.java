package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.saucr.core.LleMap;
import io.saucr.core.MarkerFile;
import io.saucr.crash.process.Ensemble;
import io.saucr.crash.process.ServerProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What a server must not start with: it ends with an error status, says what is wrong and what is
 * allowed, and leaves its data as it was.
 */
class BadInputIT {

    static Stream<Arguments> badConfigurations() {
        return Stream.of(
                arguments(
                        "unknown-key",
                        Map.of("saucr.heartbeatIntervall", "50ms"),
                        List.of(
                                "zoo.cfg",
                                "unknown key saucr.heartbeatIntervall",
                                "saucr.heartbeatInterval,")),
                arguments(
                        "unknown-key-while-off",
                        Map.of("saucr.enabled", "false", "saucr.flush", "1s"),
                        List.of("zoo.cfg", "unknown key saucr.flush", "saucr.idleFlush")),
                arguments(
                        "bad-flag",
                        Map.of("saucr.enabled", "yes"),
                        List.of("zoo.cfg", "saucr.enabled=yes", "true or false")),
                arguments(
                        "bad-unit",
                        Map.of("saucr.heartbeatInterval", "50parsecs"),
                        List.of("zoo.cfg", "saucr.heartbeatInterval=50parsecs", "500us to 1m")),
                arguments(
                        "duration-too-short",
                        Map.of("saucr.heartbeatInterval", "499us"),
                        List.of("zoo.cfg", "saucr.heartbeatInterval=499us", "500us to 1m")),
                arguments(
                        "negative-duration",
                        Map.of("saucr.idleFlush", "-5ms"),
                        List.of("zoo.cfg", "saucr.idleFlush=-5ms", "1ms to 1h")),
                arguments(
                        "duration-out-of-range",
                        Map.of("saucr.backgroundFlushInterval", "61m"),
                        List.of("zoo.cfg", "saucr.backgroundFlushInterval=61m", "1ms to 1h")),
                arguments(
                        "bad-count",
                        Map.of("saucr.fastModeConfirmations", "0"),
                        List.of("zoo.cfg", "saucr.fastModeConfirmations=0", "1 to 1000")),
                arguments(
                        "no-force",
                        Map.of("forceSync", "no"),
                        List.of("zoo.cfg", "forceSync=no", "saucr.enabled=true")),
                arguments(
                        "hierarchical-quorum",
                        Map.of(
                                "group.1",
                                "1:2:3",
                                "weight.1",
                                "1",
                                "weight.2",
                                "1",
                                "weight.3",
                                "1"),
                        List.of("zoo.cfg", "majority quorums", "group.*")));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("badConfigurations")
    void aConfigurationIsRefused(String name, Map<String, String> settings, List<String> words)
            throws Exception {
        refused(name, 3, settings, new String[0], words);
    }

    @Test
    void twoVotersHaveNoFastQuorum() throws Exception {
        refused(
                "two-voters",
                2,
                Map.of(),
                new String[0],
                List.of("zoo.cfg", "at least 3", "server.*", "2"));
    }

    @Test
    void theOracleQuorumHasNoFastQuorum() throws Exception {
        Path oracle = SaucrEnsemble.folder("oracle-file").resolve("oracle");
        Files.createDirectories(oracle.getParent());
        Files.writeString(oracle, "1");
        refused(
                "oracle",
                2,
                Map.of("oraclePath", oracle.toString()),
                new String[0],
                List.of("zoo.cfg", "majority quorums", "oraclePath"));
    }

    static Stream<Arguments> badMarkers() {
        byte[] fast = MarkerFile.encodeFastSwitch(0x100000005L);
        byte[] disk = MarkerFile.encodeLatestOnDisk(0x100000009L, LleMap.empty());
        byte[] flipped = disk.clone();
        flipped[disk.length / 2] ^= 1;
        return Stream.of(
                arguments("saucr.fastSwitch", "empty", new byte[0]),
                arguments("saucr.fastSwitch", "torn", Arrays.copyOf(fast, fast.length - 3)),
                arguments("saucr.latestOnDisk", "flipped-bit", flipped),
                arguments("saucr.latestOnDisk", "zeros", new byte[disk.length]),
                arguments("saucr.latestOnDisk", "the-other-marker", fast));
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("badMarkers")
    void r14ACorruptMarkerIsRefusedWhetherSaucrIsOnOrOff(String file, String damage, byte[] content)
            throws Exception {
        for (String enabled : List.of("true", "false")) {
            refused(
                    "marker-" + damage + "-" + enabled,
                    3,
                    Map.of("saucr.enabled", enabled),
                    new String[] {file, HexFormat.of().formatHex(content)},
                    List.of(
                            "zoo.cfg",
                            file,
                            "cannot be used",
                            "Delete the file, and never put an older one in its place"));
        }
    }

    @Test
    void anUnreadableMarkerIsRefused() throws Exception {
        refused(
                "marker-unreadable",
                3,
                Map.of(),
                new String[] {"saucr.fastSwitch", null},
                List.of("zoo.cfg", "saucr.fastSwitch", "cannot be used"));
    }

    @Test
    void h13SaucrCannotBeTurnedOffAfterACrashInFastMode() throws Exception {
        refused(
                "off-after-fast-crash",
                3,
                Map.of("saucr.enabled", "false"),
                new String[] {
                    "saucr.fastSwitch",
                    HexFormat.of().formatHex(MarkerFile.encodeFastSwitch(0x100000005L))
                },
                List.of(
                        "zoo.cfg",
                        "saucr.enabled=false is not allowed now",
                        "crashed in fast mode",
                        "saucr.enabled=true until it has recovered"));
    }

    /**
     * @param marker name and content in hex of a file beside the log, or nothing; a folder of that
     *     name if the content is null
     */
    private static void refused(
            String name,
            int voters,
            Map<String, String> settings,
            String[] marker,
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
            if (marker.length > 0) {
                if (marker[1] == null) {
                    Files.createDirectory(logs.resolve(marker[0]));
                } else {
                    Files.write(logs.resolve(marker[0]), HexFormat.of().parseHex(marker[1]));
                }
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
    private static Map<String, String> contents(Path folder) throws IOException {
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
