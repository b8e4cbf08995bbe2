package io.saucr.services.examples.memcached;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The commands of the examples' README files, as a reader types them in the project's folder, apart
 * from the build, the ports of ZooKeeper and memcached, and the amount of work.
 */
class ExampleCommandsIT {

    private static final Path SERVICES = Path.of("..").toAbsolutePath().normalize();
    private static final Path EXAMPLES =
            SERVICES.resolve("tool/src/main/java/io/saucr/services/examples");
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
    private static String commands(Path readme) throws IOException {
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

    /** With a tenth of the work. */
    private static String smaller(String commands, String number) {
        assertThat(commands).contains(" " + number);
        return commands.replace(" " + number, " " + number.substring(0, number.length() - 1));
    }

    private String run(String commands) throws Exception {
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
                                + " -Dlogback.configurationFile=io/saucr/services/tool/logback.xml");
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

    @Test
    void countersCount() throws Exception {
        String told = run(smaller(commands(EXAMPLES.resolve("counters/README.md")), "10000"));
        assertThat(told).containsPattern("(?m)^2 pairs counted up to 1[,.]?000 in ");
    }

    @Test
    void theSetIsThatOfOneThread() throws Exception {
        String told =
                run(smaller(commands(EXAMPLES.resolve("independentset/README.md")), "200000"));
        assertThat(told).contains("One thread finds the same.");
    }

    @Test
    void theTableFindsWhatWasPutBeforeAllWereKilled() throws Exception {
        String commands = commands(EXAMPLES.resolve("dht/README.md"));
        List<String> serving =
                commands.lines().filter(line -> line.startsWith("$run serve ")).toList();
        Matcher killed =
                Pattern.compile("(?m)^kill -9 .* then start both again.*\n").matcher(commands);
        String again = String.join("\n", serving) + "\n";
        String told = run(killed.replaceFirst(it -> Matcher.quoteReplacement(it.group() + again)));
        assertThat(told.lines())
                .hasSize(2)
                .allMatch(line -> line.contains("red") && line.startsWith("Found["));
    }

    /** With the comparison: what the original loses when it is killed, and the port does not. */
    @Test
    void thePortAnswersAsIfNothingHadBeenKilled() throws Exception {
        int free;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            free = socket.getLocalPort();
        }
        Path readme = Path.of("src/main/java/io/saucr/services/examples/memcached/README.md");
        String told = run(commands(readme).replace("11211", Integer.toString(free)));
        assertThat(row("original, not killed", told)).containsExactly(968, 0, 0);
        List<Integer> original = row("original, killed 2 times", told);
        assertThat(original.get(0)).isEqualTo(968);
        assertThat(original.get(1)).isPositive();
        assertThat(original.get(2)).isPositive();
        assertThat(row("port, killed 4 times", told)).containsExactly(968, 0, 0);
        assertThat(told.replace("\r", "")).startsWith("STORED\n99\n98\n");
    }

    private static List<Integer> row(String name, String told) {
        Matcher row =
                Pattern.compile("(?m)^" + name + " +([0-9.,]+) +([0-9.,]+) +([0-9.,]+)$")
                        .matcher(told);
        assertThat(row.find()).as("a row of %s in\n%s", name, told).isTrue();
        MatchResult found = row.toMatchResult();
        return List.of(number(found.group(1)), number(found.group(2)), number(found.group(3)));
    }

    private static int number(String shown) {
        return Integer.parseInt(shown.replaceAll("[.,]", ""));
    }
}
