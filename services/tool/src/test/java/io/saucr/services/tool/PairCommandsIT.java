package io.saucr.services.tool;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.services.Client;
import io.saucr.services.Services;
import io.saucr.services.tool.PairProcess.Counter.Add;
import io.saucr.services.tool.PairProcess.Counter.Count;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The commands against members that are processes: the office moves, then both disks die. */
class PairCommandsIT {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int TICK_MILLIS = 200;

    @TempDir private Path work;

    private final List<Process> processes = new ArrayList<>();
    private NIOServerCnxnFactory ensemble;
    private String place;
    private String out;
    private String err;

    @BeforeEach
    void start() throws Exception {
        Path data = Files.createDirectories(work.resolve("zookeeper"));
        ensemble = new NIOServerCnxnFactory();
        ensemble.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100);
        ensemble.startup(new ZooKeeperServer(data.toFile(), data.toFile(), TICK_MILLIS));
        place = "127.0.0.1:" + ensemble.getLocalPort() + "/apps/counter";
    }

    @AfterEach
    void end() throws Exception {
        for (Process each : processes) {
            each.destroyForcibly().waitFor();
        }
        ensemble.shutdown();
    }

    private record Running(Process process, String member, String page) {}

    private Process begin(String name, String... more) throws IOException {
        Path output = work.resolve(name + ".out");
        Files.writeString(output, "");
        List<String> words =
                new ArrayList<>(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-XX:TieredStopAtLevel=1",
                                "-XX:+UseSerialGC",
                                "-Xshare:auto",
                                "-Xmx128m",
                                "-Dlogback.configurationFile=io/saucr/services/examples/logback.xml",
                                "-cp",
                                System.getProperty("java.class.path"),
                                PairProcess.class.getName(),
                                place,
                                work.resolve(name).toString()));
        words.addAll(List.of(more));
        Process process =
                new ProcessBuilder(words)
                        .redirectError(ProcessBuilder.Redirect.appendTo(log(name).toFile()))
                        .redirectOutput(output.toFile())
                        .start();
        processes.add(process);
        return process;
    }

    private Path log(String name) {
        return work.resolve(name + ".log");
    }

    private Running running(String name, Process process) throws IOException {
        Path output = work.resolve(name + ".out");
        await().atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(20))
                .until(() -> !process.isAlive() || Files.readString(output).endsWith("\n"));
        String[] words = Files.readString(output).strip().split(" ");
        assertThat(words).as(Files.readString(log(name))).hasSize(2);
        return new Running(process, words[0], words[1]);
    }

    private static void kill(Running member) throws InterruptedException {
        member.process().destroyForcibly().waitFor();
    }

    private int execute(String... arguments) {
        StringWriter outText = new StringWriter();
        StringWriter errText = new StringWriter();
        CommandLine command = ServicesCommand.commandLine();
        command.setOut(new PrintWriter(outText, true));
        command.setErr(new PrintWriter(errText, true));
        int code = command.execute(arguments);
        out = outText.toString();
        err = errText.toString();
        return code;
    }

    private JsonNode member(Running of) throws IOException {
        assertThat(execute("status", "--json", "--url", of.page())).as(err).isZero();
        return JSON.readTree(out).at("/0/status/member");
    }

    private void awaitFollowers(Running primary, int count) {
        await().atMost(PATIENCE).until(() -> member(primary).get("followers").size() == count);
    }

    private static long add(Client client) throws Exception {
        return client.ask(new Add(), Count.class).get(PATIENCE.toSeconds(), SECONDS).now();
    }

    private int acceptLoss(String folder, String... more) {
        List<String> words =
                new ArrayList<>(
                        List.of(
                                "accept-data-loss",
                                work.resolve(folder).toString(),
                                "--ensemble",
                                place));
        words.addAll(List.of(more));
        return execute(words.toArray(String[]::new));
    }

    @Test
    void theOfficeMovesByOrderAndTheServiceGoesOnWhereBothDisksAreLost() throws Exception {
        Process first = begin("a");
        Running a = running("a", first);
        Process second = begin("b");
        Process third = begin("c");
        Running b = running("b", second);
        Running c = running("c", third);
        try (Client client = Services.at(place).client("caller")) {
            assertThat(add(client)).isEqualTo(1);
            awaitFollowers(a, 2);
            assertThat(add(client)).isEqualTo(2);

            assertThat(execute("handover", "--to", b.member(), "--url", c.page())).isEqualTo(1);
            assertThat(err).contains("run the command with its page", a.member());
            await().atMost(PATIENCE)
                    .until(() -> execute("handover", "--to", b.member(), "--url", a.page()) == 0);
            assertThat(out).contains("member " + b.member() + " of counter", "is primary");
            assertThat(add(client)).isEqualTo(3);
            awaitFollowers(b, 2);
            long stored = member(b).get("segment").asLong();
            await().atMost(PATIENCE).until(() -> member(c).get("applied").asLong() >= stored);

            // Turn 4 is on the disks of a and b alone.
            kill(c);
            awaitFollowers(b, 1);
            assertThat(add(client)).isEqualTo(4);
            kill(a);
            kill(b);
            Files.move(work.resolve("a"), work.resolve("lost-a"));
            Files.move(work.resolve("b"), work.resolve("lost-b"));
            CompletableFuture<Count> waits = client.ask(new Add(), Count.class);

            Running waiting = running("c", begin("c"));
            await().atMost(PATIENCE).until(() -> !member(waiting).get("lacks").asText().isEmpty());
            assertThat(waits).isNotDone();
            kill(waiting);
            assertThat(execute("folder", "verify", work.resolve("c").toString())).isZero();

            // Sessions of the killed ones end after four seconds.
            await().atMost(PATIENCE).until(() -> acceptLoss("c") == 0);
            Matcher shown = Pattern.compile("--losing (lose-\\S+)").matcher(out);
            assertThat(shown.find()).as(out).isTrue();
            assertThat(out).contains("Lost: turns ", "and is not there", "Nothing was changed");
            assertThat(acceptLoss("c", "--losing", "lose-1-to-2-00000000")).isEqualTo(2);
            assertThat(err).contains("the loss is " + shown.group(1) + " now");
            assertThat(acceptLoss("c", "--losing", shown.group(1))).as(err).isZero();
            assertThat(out).containsPattern("has generation [0-9a-f]{32} now. Start the member");

            Running left = running("c", begin("c"));
            assertThatThrownBy(() -> waits.get(PATIENCE.toSeconds(), SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .hasMessageContaining("perhaps consumed");
            assertThat(add(client)).isEqualTo(4);

            // The disk of the last primary comes back, with what was given up.
            Files.move(work.resolve("lost-b"), work.resolve("b"));
            Running back = running("b", begin("b"));
            awaitFollowers(left, 1);
            assertThat(member(back).get("role").asText()).isEqualTo("standby");
            assertThat(add(client)).isEqualTo(5);
            try (Stream<Path> files = Files.list(work.resolve("b/segments"))) {
                assertThat(files).anyMatch(it -> it.toString().endsWith(".given-up"));
            }
            assertThat(Files.readString(log("b"))).contains("they were given up");
        }
    }

    private int restore(String folder, Path from) {
        return execute(
                "restore",
                work.resolve(folder).toString(),
                "--ensemble",
                place,
                "--from",
                from.toString());
    }

    /** What members share is behind, and all their own disks are lost. */
    @Test
    void whereAllDisksAreLostTheServiceGoesOnFromTheStoreBehindALossThatIsNamed() throws Exception {
        Path store = Files.createDirectories(work.resolve("store"));
        Running a = running("a", begin("a", store.toString()));
        Running b = running("b", begin("b", store.toString()));
        try (Client client = Services.at(place).client("caller")) {
            assertThat(add(client)).isEqualTo(1);
            awaitFollowers(a, 1);
            assertThat(add(client)).isEqualTo(2);
            await().atMost(PATIENCE).until(() -> member(a).get("copies").asText().equals("store"));
            assertThat(restore("early", work.resolve("nowhere"))).isEqualTo(1);
            assertThat(err).contains("nowhere", "there is no such folder");
            assertThat(work.resolve("early")).doesNotExist();
            Files.createDirectories(work.resolve("other"));
            assertThat(restore("early", work.resolve("other"))).isEqualTo(1);
            assertThat(err).contains("holds no segment of generation");
            assertThat(work.resolve("early")).doesNotExist();
            assertThat(work.resolve("other")).isEmptyDirectory();
            Files.writeString(work.resolve("file"), "mine");
            assertThat(restore("file", store)).isEqualTo(1);
            assertThat(err).contains("something else than a member's folder");
            assertThat(restore("store/within", store)).isEqualTo(2);
            assertThat(err).contains("not within what members share");
            assertThat(restore("a", store)).isEqualTo(1);
            assertThat(err).contains("it is in use by process");

            // From here on the store takes nothing.
            Files.move(store, work.resolve("aside"));
            Files.writeString(store, "not mounted");
            assertThat(add(client)).isEqualTo(3);
            kill(a);
            kill(b);
            Files.move(work.resolve("a"), work.resolve("lost-a"));
            Files.move(work.resolve("b"), work.resolve("lost-b"));
            Files.delete(store);
            Files.move(work.resolve("aside"), store);

            Running waiting = running("c", begin("c", store.toString()));
            await().atMost(PATIENCE).until(() -> !member(waiting).get("lacks").asText().isEmpty());
            kill(waiting);
            assertThat(restore("c", store)).as(err).isZero();
            assertThat(out).contains("with all up to segment", "nothing whole", "accept-data-loss");
            // Once more does no harm.
            assertThat(restore("c", store)).as(err).isZero();

            await().atMost(PATIENCE).until(() -> acceptLoss("c") == 0);
            Matcher shown = Pattern.compile("--losing (lose-\\S+)").matcher(out);
            assertThat(shown.find()).as(out).isTrue();
            assertThat(acceptLoss("c", "--losing", shown.group(1))).as(err).isZero();
            // Its folder is lost at once: what counts is still there, of the birth before.
            Files.move(work.resolve("c"), work.resolve("lost-c0"));
            assertThat(restore("e", store)).as(err).isZero();
            assertThat(out).contains("The head names that segment: start this member");
            Running left = running("c", begin("c", store.toString()));
            await().atMost(PATIENCE)
                    .until(() -> member(left).get("role").asText().equals("primary"));
            try (Client another = Services.at(place).client("another")) {
                assertThat(add(another)).isEqualTo(3);
            }
            await().atMost(PATIENCE)
                    .until(() -> member(left).get("copies").asText().equals("store"));

            // Of the new birth all is there, too: nothing is lost then.
            kill(left);
            Files.move(work.resolve("c"), work.resolve("lost-c"));
            assertThat(restore("d", store)).as(err).isZero();
            assertThat(out).contains("The head names that segment: start this member");
            Running last = running("d", begin("d", store.toString()));
            await().atMost(PATIENCE)
                    .until(() -> member(last).get("role").asText().equals("primary"));
            try (Client another = Services.at(place).client("third")) {
                assertThat(add(another)).isEqualTo(4);
            }
        }
    }
}
