package io.saucr.services.tool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.services.Address;
import io.saucr.services.Asks;
import io.saucr.services.Client;
import io.saucr.services.Handlers;
import io.saucr.services.MapState;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.Service;
import io.saucr.services.ServiceException;
import io.saucr.services.Services;
import io.saucr.services.State;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** What is shown of a group, by its head and by a member that runs. */
class GroupCommandTest {

    /** However busy the machine is. */
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    @TempDir private Path work;

    private NIOServerCnxnFactory ensemble;
    private String servers;
    private String out;
    private String err;

    /** Does nothing. */
    private static final class Idle implements Service {
        @Override
        public void handlers(Handlers on) {}
    }

    @BeforeEach
    void startEnsemble() throws Exception {
        Path data = Files.createDirectories(work.resolve("zookeeper"));
        ensemble = new NIOServerCnxnFactory();
        ensemble.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 20);
        ensemble.startup(new ZooKeeperServer(data.toFile(), data.toFile(), 500));
        servers = "127.0.0.1:" + ensemble.getLocalPort();
    }

    @AfterEach
    void stop() {
        ensemble.shutdown();
    }

    private int execute(String... arguments) {
        StringWriter toOut = new StringWriter();
        StringWriter toErr = new StringWriter();
        CommandLine command =
                ServicesCommand.commandLine()
                        .setOut(new PrintWriter(toOut, true))
                        .setErr(new PrintWriter(toErr, true));
        int code = command.execute(arguments);
        out = toOut.toString();
        err = toErr.toString();
        return code;
    }

    private RunningService start(String name) throws Exception {
        return Services.at(servers + "/apps/" + name)
                .folder(work.resolve(name))
                .listen(new Address("127.0.0.1", 0))
                .segmentBytes(1 << 20)
                .statusPage(0)
                .run(state -> new Idle(), Protection.speculative("/groups/travel"));
    }

    @Test
    void aGroupIsShownWithItsMembers() throws Exception {
        try (RunningService trips = start("trips")) {
            start("hotels").close();
            assertThat(execute("group", "--ensemble", servers + "/groups/travel")).isZero();
            assertThat(out)
                    .contains("/groups/travel: world 1; in epoch ")
                    .containsPattern(
                            "trips   " + trips.status().generation() + "  0 +- +(127[0-9.:]+|-)\\R")
                    .containsPattern("hotels  [0-9a-f]{32}  0 +at version \\d+  -\\R");
            assertThat(execute("group", "--json", "--ensemble", servers + "/groups/travel"))
                    .isZero();
            JsonNode json = new ObjectMapper().readTree(out);
            assertThat(json.path("members").get(1).path("name").asText()).isEqualTo("hotels");
            assertThat(json.path("members").get(1).path("left").isNumber()).isTrue();
            assertThat(json.path("members").get(0).path("left").isMissingNode()).isTrue();
            assertThat(execute("status", "--url", trips.statusPage().orElseThrow().toString()))
                    .isZero();
            assertThat(out)
                    .contains("Member of the group /groups/travel: trips")
                    .contains("MESSAGES");
        }
    }

    private int giveUp(String member, String... more) {
        List<String> all = new ArrayList<>();
        all.addAll(List.of("group", "give-up", member));
        all.addAll(List.of("--ensemble", servers + "/groups/travel"));
        all.addAll(List.of(more));
        return execute(all.toArray(String[]::new));
    }

    @Test
    void aMemberThatRunsIsNotGivenUpUnlessItsProcessIsSaidToBeDead() throws Exception {
        try (RunningService trips = start("trips");
                RunningService hotels = start("hotels")) {
            String generation = hotels.status().generation();
            await().atMost(PATIENCE).until(() -> giveUp("hotels") == 1);
            assertThat(err)
                    .contains("hotels runs at 127.0.0.1:")
                    .contains("If that process is dead: --dead 127.0.0.1:");
            String at = err.substring(err.indexOf("--dead ") + 7).strip();
            assertThat(giveUp("hotels", "--generation", generation)).isEqualTo(1);
            assertThat(giveUp("hotels", "--dead", "127.0.0.1:1")).isEqualTo(1);
            assertThat(giveUp("hotels", "--dead", at)).isZero();
            assertThat(out)
                    .contains("hotels of the group /groups/travel is generation " + generation)
                    .contains("Turns of other members that depend on turns of it")
                    .contains("The group decides once each of these runs: trips.")
                    .contains(
                            "Nothing was changed. To execute the command: --generation "
                                    + generation);
            assertThat(hotels.halted()).isEmpty();
            assertThat(giveUp("hotels", "--dead", at, "--generation", generation)).isZero();
            assertThat(out).isEqualTo("hotels is given up" + System.lineSeparator());
            await().atMost(PATIENCE).until(() -> hotels.halted().isPresent());
            assertThat(hotels.halted().get()).contains("an operator gave it up in world 1");
            await().atMost(PATIENCE)
                    .ignoreException(ServiceException.class) // between two worlds
                    .until(() -> trips.status().group().world() == 2);
            assertThat(trips.status().group().members()).containsExactly("trips");
        }
    }

    @Test
    void aMemberThatIsLostIsGivenUpOnce() throws Exception {
        String generation;
        try (RunningService hotels = start("hotels")) {
            generation = hotels.status().generation();
        }
        try (RunningService trips = start("trips")) {
            assertThat(giveUp("hotels")).isZero();
            assertThat(out).contains("It left the group at version").contains("no turn of another");
            assertThat(giveUp("hotels", "--dead", "127.0.0.1:1")).isEqualTo(1);
            assertThat(err).contains("hotels does not run at 127.0.0.1:1: leave out --dead");
            assertThat(giveUp("hotels", "--generation", "0".repeat(32))).isEqualTo(1);
            assertThat(err).contains("hotels is generation " + generation + ", not 0000");
            assertThat(giveUp("cars")).isEqualTo(1);
            assertThat(err).contains("cars is no member of the group /groups/travel, which has [");
            assertThat(giveUp("hotels", "--generation", generation)).isZero();
            assertThat(out).contains("hotels is given up");
            assertThat(giveUp("hotels", "--generation", generation)).isZero();
            assertThat(out).contains("hotels was given up before, in world 1. Nothing was changed");
            assertThat(execute("group", "--ensemble", servers + "/groups/travel")).isZero();
            assertThat(out).containsPattern("hotels +[0-9a-f]{32} +0 +given up in world 1 +-\\R");
            assertThat(execute("group", "--json", "--ensemble", servers + "/groups/travel"))
                    .isZero();
            JsonNode json = new ObjectMapper().readTree(out);
            assertThat(json.path("members").get(0).path("givenUp").asLong()).isEqualTo(1);
            assertThatThrownBy(() -> start("hotels"))
                    .hasMessageContaining("an operator gave it up in world 1 of the group");
            assertThat(trips.halted()).isEmpty();
        }
    }

    /** Counts what it is asked. */
    private static final class Counter implements Service {

        record More() implements Asks<Count> {}

        record Count(int sum) {}

        private final MapState<String, Integer> sums;

        Counter(State state) {
            sums = state.map("sums", String.class, Integer.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(
                    More.class,
                    (it, turn) -> {
                        int sum = sums.getOrDefault("all", 0) + 1;
                        sums.put("all", sum);
                        turn.reply(new Count(sum));
                    });
        }
    }

    private Services counter() {
        return Services.at(servers + "/apps/hotels")
                .folder(work.resolve("hotels"))
                .listen(new Address("127.0.0.1", 0))
                .segmentBytes(1 << 20);
    }

    private RunningService alone() throws Exception {
        return counter().run(Counter::new, Protection.local());
    }

    private RunningService member() throws Exception {
        return counter().run(Counter::new, Protection.speculative("/groups/travel"));
    }

    private int ask() throws Exception {
        try (Client client =
                Services.at(servers + "/apps/hotels").client("ann", work.resolve("ann"))) {
            return client.ask(new Counter.More()).get(60, TimeUnit.SECONDS).sum();
        }
    }

    private int remove(String folder) {
        return execute(
                "group",
                "remove",
                "hotels",
                "--folder",
                work.resolve(folder).toString(),
                "--ensemble",
                servers + "/groups/travel");
    }

    @Test
    void aMemberThatHasLeftIsRemovedAndContinuesWithAllThatItHas() throws Exception {
        assertThat(remove("hotels")).isEqualTo(1);
        assertThat(err).contains("there is no service in it");
        assertThat(work.resolve("hotels")).doesNotExist();
        try (RunningService trips = start("trips")) {
            try (RunningService hotels = member()) {
                assertThat(ask()).isEqualTo(1);
                assertThat(ask()).isEqualTo(2);
                assertThat(remove("hotels")).isEqualTo(1);
                assertThat(err).contains("it is in use by this process");
                assertThat(hotels.halted()).isEmpty();
            }
            assertThatThrownBy(() -> alone())
                    .hasMessageContaining("it is of a member of the group /groups/travel");
            assertThat(remove("hotels")).isZero();
            assertThat(out)
                    .contains("hotels is no member of the group /groups/travel any more")
                    .contains("Start it with Protection.local()");
            assertThat(remove("hotels")).isEqualTo(1);
            assertThat(err).contains("is not the folder of a member of the group /groups/travel");
            try (RunningService hotels = alone()) {
                assertThat(ask()).isEqualTo(3);
                assertThat(hotels.halted()).isEmpty();
            }
            assertThat(trips.status().group().world()).isEqualTo(1);
            assertThat(trips.status().group().members()).containsExactly("trips");
            // And back again, as a new member.
            try (RunningService hotels = member()) {
                assertThat(ask()).isEqualTo(4);
                assertThat(hotels.status().group().members()).containsExactly("trips", "hotels");
            }
            assertThat(remove("hotels")).isZero();
            try (RunningService hotels = alone()) {
                assertThat(ask()).isEqualTo(5);
                assertThat(hotels.halted()).isEmpty();
            }
        }
    }

    @Test
    void aMemberThatHasNotLeftIsNotRemoved() throws Exception {
        try (RunningService hotels = member()) {
            assertThat(ask()).isEqualTo(1);
            // The session of a killed process ends so that nobody hears of a leave.
            copy(work.resolve("hotels"), work.resolve("copy"));
            assertThat(hotels.halted()).isEmpty();
        }
        try (RunningService hotels = member()) {
            assertThat(ask()).isEqualTo(2);
            await().atMost(PATIENCE).until(() -> remove("copy") == 1 && err.contains("runs at"));
            assertThat(err).contains("hotels runs at 127.0.0.1:").contains("Nothing was changed");
            assertThat(hotels.halted()).isEmpty();
        }
        assertThat(remove("copy")).isEqualTo(1);
        assertThat(err).contains("left its group with").contains("it is another copy");
        // As where the command was interrupted behind its write of the head.
        assertThat(giveUp("hotels")).isZero();
        String generation = out.substring(out.indexOf("--generation ") + 13).strip();
        assertThat(giveUp("hotels", "--generation", generation)).isZero();
        assertThat(remove("hotels")).isZero();
        try (RunningService hotels = alone()) {
            assertThat(ask()).isEqualTo(3);
            assertThat(hotels.halted()).isEmpty();
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path each : files.toList()) {
                if (!each.endsWith("lock")) {
                    Files.copy(each, to.resolve(from.relativize(each).toString()));
                }
            }
        }
    }

    @Test
    void aGroupIsNamedWithItsEnsemble() {
        assertThat(execute("group")).isEqualTo(2);
        assertThat(err).contains("Missing required option: '--ensemble=SERVERS/PATH'");
        assertThat(execute("group", "give-up", "hotels")).isEqualTo(2);
        assertThat(giveUp("hotels")).isEqualTo(1);
        assertThat(err).contains("there is no group at /groups/travel");
    }

    @Test
    void whatIsNoGroupIsSaid() throws Exception {
        assertThat(execute("group", "--ensemble", servers + "/groups/travel")).isEqualTo(1);
        assertThat(err)
                .contains("there is no group at /groups/travel")
                .contains("Protection.speculative(\"/groups/travel\")");
        ZooKeeper client = new ZooKeeper(servers, 10_000, event -> {});
        client.create("/x", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        client.create(
                "/x/head",
                "y".getBytes(StandardCharsets.UTF_8),
                ZooDefs.Ids.OPEN_ACL_UNSAFE,
                CreateMode.PERSISTENT);
        client.close();
        assertThat(execute("group", "--ensemble", servers + "/x")).isEqualTo(1);
        assertThat(err).contains("the head of the group /x can't be read");
    }
}
