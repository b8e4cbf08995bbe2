package io.saucr.services.examples.memcached;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/**
 * The commands of a README file, as a reader types them in the project's folder, apart from the
 * build, the ports of ZooKeeper and memcached, and the amount of work. Each test has an ensemble.
 */
abstract class ReadmeCommands {

    static final Path SERVICES = Path.of("..").toAbsolutePath().normalize();
    private static final int TICK_MILLIS = 500;
    private static final int LONGEST_MINUTES = 4;

    /** What a shell script needs around commands that were meant for a terminal. */
    private static final String BEFORE =
            """
            set -euo pipefail
            trap 'kill -9 $(jobs -p) 2>/dev/null || true' EXIT
            """;

    @TempDir private Path folder;

    private NIOServerCnxnFactory ensemble;

    @BeforeEach
    void startEnsemble() throws Exception {
        Path data = Files.createDirectories(folder.resolve("zookeeper"));
        ensemble = new NIOServerCnxnFactory();
        ensemble.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 200);
        ensemble.startup(new ZooKeeperServer(data.toFile(), data.toFile(), TICK_MILLIS));
        Path unused = Files.createSymbolicLink(folder.resolve("services"), SERVICES);
    }

    @AfterEach
    void stopEnsemble() {
        ensemble.shutdown();
    }

    /** All commands of "Run it", which begin with the build. */
    static String commands(Path readme) throws IOException {
        String text = Files.readString(readme);
        String part = text.substring(text.indexOf("\n## Run it\n"));
        int end = part.indexOf("\n## ", 1);
        StringBuilder commands = new StringBuilder();
        for (String line : (end < 0 ? part : part.substring(0, end)).lines().toList()) {
            if (line.startsWith("    ") && !line.startsWith("    mvn ")) {
                commands.append(line.substring(4)).append("\n");
            }
        }
        assertThat(commands.toString()).startsWith("run=");
        return commands.toString();
    }

    final String run(String commands) throws Exception {
        Path script = folder.resolve("commands.sh");
        Path out = folder.resolve("out");
        String ours = commands.replace("127.0.0.1:2181", "127.0.0.1:" + ensemble.getLocalPort());
        assertThat(ours).isNotEqualTo(commands);
        Files.writeString(script, BEFORE + ours);
        ProcessBuilder builder =
                new ProcessBuilder("bash", script.toString())
                        .directory(folder.toFile())
                        .redirectOutput(out.toFile())
                        .redirectError(folder.resolve("err").toFile());
        builder.environment()
                .put(
                        "JAVA_TOOL_OPTIONS",
                        "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto -Xmx128m"
                                + " -Dlogback.configurationFile=io/saucr/services/examples/logback.xml");
        Process process = builder.start();
        boolean ended = process.waitFor(LONGEST_MINUTES, TimeUnit.MINUTES);
        if (!ended) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
        String told = Files.readString(out);
        assertThat(ended && process.exitValue() == 0)
                .as("%s\n%s", told, Files.readString(folder.resolve("err")))
                .isTrue();
        return told;
    }
}
