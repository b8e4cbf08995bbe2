package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.ensemble.LoopbackHosting;
import io.saucr.ensemble.LoopbackHosting.Disk;
import io.saucr.ensemble.ServerAddress;
import io.saucr.tests.ensemble.ToolProcess.Said;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code bin/saucr member} and {@code shed} as an operator uses them, while clients write and
 * processes are killed: no write is lost, and a configuration is the old one or the new one.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class MemberIT {
    private static final int VOTERS = 3;
    private static final int FOURTH = 4;
    private static final int FIFTH = 5;
    private static final List<Integer> ALL = List.of(1, 2, 3, FOURTH, FIFTH);

    @TempDir static Path folder;

    private static LoopbackHosting hosting;
    private static SaucrEnsemble ensemble;
    private static AckedWrites writes;

    @BeforeAll
    static void start() throws Exception {
        hosting = new LoopbackHosting(SaucrEnsemble.folder("member"), ALL.size(), Disk.PLAIN);
        ensemble =
                SaucrEnsemble.prepare(
                        SaucrEnsemble.describe("member", VOTERS)
                                .observers(ALL.size() - VOTERS)
                                .hosting(hosting)
                                .set("reconfigEnabled", "true")
                                .set("standaloneEnabled", "false")
                                .set("skipACL", "yes")
                                .set("admin.enableServer", "true")
                                .set("admin.serverAddress", "127.0.0.1")
                                .set("saucr.heartbeatInterval", "2s")
                                .set("saucr.fastModeConfirmations", "1")
                                .set("saucr.adminServers", addresses(id -> id + "=" + admin(id))));
        ensemble.restart(1, 2, 3);
        ensemble.awaitServing();
        ensemble.awaitFast();
    }

    @AfterAll
    static void stop() {
        ensemble.close();
    }

    /** One at a time, so that all of them can be listed. */
    @BeforeEach
    void write() throws Exception {
        Integer[] running = ensemble.running().toArray(Integer[]::new);
        writes = new AckedWrites(ensemble.connect(running), "/member-" + System.nanoTime(), 1);
    }

    @AfterEach
    void assertNothingIsLost() throws Exception {
        try (AckedWrites written = writes) {
            written.awaitMore(10);
            written.stop();
            for (int id : ensemble.running()) {
                try (Client reader = ensemble.connect(id)) {
                    written.assertAllIn(reader);
                }
            }
        }
    }

    private static String admin(int id) {
        ServerAddress address = hosting.address(id);
        return address.clientHost() + ":" + address.adminPort();
    }

    private static String addresses(Function<Integer, String> address) {
        return ALL.stream().map(address).collect(Collectors.joining(","));
    }

    private static ProcessBuilder builder(String... arguments) throws Exception {
        ProcessBuilder builder =
                ToolProcess.builder(
                        folder,
                        addresses(id -> hosting.address(id).client()),
                        addresses(MemberIT::admin),
                        arguments);
        // However busy the machine is.
        builder.environment().put("SAUCR_TIMEOUT", "30s");
        return builder;
    }

    private static Said saucr(String... arguments) throws Exception {
        return ToolProcess.run(List.of(builder(arguments)), SaucrEnsemble.PATIENCE.multipliedBy(3))
                .get(0);
    }

    private static void fine(Said said, String words) {
        assertThat(said.exitCode()).as(said.toString()).isZero();
        assertThat(said.out()).as(said.toString()).contains(words);
    }

    private static String line(int id) {
        ServerAddress address = hosting.address(id);
        return "server.%d=%s;%s".formatted(id, address.peer(), address.client());
    }

    /** With its first zoo.cfg: ZooKeeper has replaced the lines of the members by its own file. */
    private static void startAnew(int id) throws Exception {
        ensemble.server(id).configure("peerType", "observer");
        ensemble.restart(id);
    }

    /** Waits until every voter counts, so that one of them may be missed. Returns the leader. */
    private static int awaitWhole(int voters) {
        int[] leader = new int[1];
        SaucrEnsemble.await(
                voters + " voters that count",
                () -> {
                    leader[0] = ensemble.awaitFast();
                    return ensemble.metric(leader[0], "zk_saucr_prompt_voters") == voters;
                });
        return leader[0];
    }

    /** Numbers of the members with this role. */
    private static Set<Integer> members(String role) throws Exception {
        Set<Integer> ids = new TreeSet<>();
        Said said = saucr("member", "list", "-o", "json");
        said.json()
                .forEach(
                        each -> {
                            if (each.path("role").asText().equals(role)) {
                                ids.add(each.path("server").asInt());
                            }
                        });
        return ids;
    }

    @Test
    @Order(1)
    void observersThatWereNeverStartedAreRemoved() throws Exception {
        Said list = saucr("member", "list");
        assertThat(list.exitCode()).as(list.toString()).isZero();
        assertThat(list.row("1 ")).containsPattern("voter +yes");
        assertThat(list.row("4 ")).contains("observer");
        fine(saucr("member", "remove", "4"), "server 4 is removed");
        fine(saucr("member", "remove", "5"), "voters: 1, 2, 3");
        fine(saucr("member", "remove", "5"), "there is nothing to do");
        assertThat(members("observer")).isEmpty();
    }

    @Test
    @Order(2)
    void anAddThatIsKilledLeavesAnObserverAndContinues() throws Exception {
        ProcessBuilder add = builder("member", "add", line(FOURTH));
        Process process = add.start();
        Path out = add.redirectOutput().file().toPath();
        SaucrEnsemble.await(
                "the first step", () -> Files.readString(out).contains("4 is an observer"));
        process.destroyForcibly().waitFor();
        assertThat(members("observer")).containsExactly(FOURTH);
        assertThat(members("voter")).containsExactly(1, 2, 3);

        Said late = saucr("member", "promote", "4", "--wait", "1s");
        assertThat(late.exitCode()).isEqualTo(1);
        assertThat(late.err()).contains("server 4 has not caught up within 1 s", "nothing listens");

        ensemble.restart(FOURTH);
        fine(saucr("member", "add", line(FOURTH)), "server 4 is a voter; voters: 1, 2, 3, 4");
        fine(saucr("member", "promote", "4"), "voters: 1, 2, 3, 4");
        SaucrEnsemble.await("its role", () -> ensemble.role(FOURTH).equals("follower"));
        ensemble.awaitFast();
    }

    /** Four voters of which one is down are slow: the new one is accepted as such, or not. */
    @Test
    @Order(3)
    void whatWouldLoseFastModeIsRefused() throws Exception {
        ensemble.restart(FIFTH);
        fine(saucr("member", "add", line(FIFTH)), "voters: 1, 2, 3, 4, 5");
        int leader = awaitWhole(ALL.size());
        int dead = ensemble.followers().get(0);
        ensemble.kill(dead);
        SaucrEnsemble.await(
                "a view without it", () -> ensemble.metric(leader, "zk_saucr_prompt_voters") == 4);
        ensemble.awaitFast();
        int alive = ensemble.followers().get(0);
        Said refused = saucr("member", "remove", Integer.toString(alive));
        assertThat(refused.exitCode()).isEqualTo(1);
        assertThat(refused.err())
                .contains("fast mode would be lost", "server " + dead + " would not count");
        assertThat(members("voter")).containsExactlyElementsOf(ALL);
        ensemble.restart(dead);
        awaitWhole(ALL.size());
        fine(saucr("member", "remove", "5"), "voters: 1, 2, 3, 4");
        ensemble.terminate(FIFTH);
        ensemble.awaitFast();
    }

    /**
     * So the others wait for no election; where it cannot, on a busy machine, it leaves all the
     * same.
     */
    @Test
    @Order(4)
    void aLeaderThatIsRemovedHandsOverFirst() throws Exception {
        int leader = awaitWhole(FOURTH);
        if (leader != FOURTH) {
            SaucrEnsemble.await(
                    "a leader that can be removed",
                    () -> saucr("move-leader", Integer.toString(FOURTH)).exitCode() == 0);
            awaitWhole(FOURTH);
        }
        LocalTime before = SaucrEnsemble.now();
        Said removed = saucr("member", "remove", "4");
        fine(removed, "voters: 1, 2, 3");
        if (ensemble.log(FOURTH, before, "Handing over to server").isEmpty()) {
            assertThat(removed.out()).contains("server 4 leads, and leaves without handing over: ");
        } else {
            assertThat(removed.out()).containsPattern("server [123] leads now instead of server 4");
        }
        ensemble.terminate(FOURTH);
        startAnew(FOURTH);
        fine(saucr("member", "add", line(FOURTH)), "voters: 1, 2, 3, 4");
        awaitWhole(FOURTH);
    }

    /** Of a removal and of an addition: the members are those that the command says. */
    @Test
    @Order(5)
    void theLeaderIsKilledInTheMiddle() throws Exception {
        killTheLeaderInTheMiddle(0, 2);
    }

    @Tag("long")
    @Test
    @Order(6)
    void theLeaderIsKilledLaterInTheMiddle() throws Exception {
        killTheLeaderInTheMiddle(2, 4);
    }

    /** A later round kills the leader after more writes. */
    private void killTheLeaderInTheMiddle(int first, int end) throws Exception {
        for (int round = first; round < end; round++) {
            boolean removes = round % 2 == 0;
            int leader = awaitWhole(members("voter").size());
            if (leader == FOURTH) {
                ensemble.kill(FOURTH);
                leader = ensemble.leader();
                ensemble.restart(FOURTH);
                awaitWhole(members("voter").size());
            }
            ProcessBuilder change =
                    removes ? builder("member", "remove", "4") : builder("member", "add", line(4));
            List<Said> said = new ArrayList<>();
            Thread running = new Thread(() -> said.addAll(ran(change)));
            running.start();
            writes.awaitMore(20 * round);
            ensemble.kill(leader);
            ensemble.restart(leader);
            running.join();
            System.out.println("round " + round + ": " + said);
            boolean made = said.get(0).exitCode() == 0;
            assertThat(made || !said.get(0).err().isEmpty()).isTrue();
            ensemble.awaitServing();
            Set<Integer> voters = members("voter");
            if (made) {
                assertThat(voters.contains(FOURTH)).isEqualTo(!removes);
            }
            assertThat(voters).contains(1, 2, 3);
            awaitWhole(voters.size());
            fine(
                    removes ? saucr("member", "remove", "4") : saucr("member", "add", line(4)),
                    removes ? "voters: 1, 2, 3" : "voters: 1, 2, 3, 4");
            if (removes) {
                ensemble.terminate(FOURTH);
                startAnew(FOURTH);
            }
            ensemble.awaitServing();
            ensemble.awaitFast();
            assertNothingIsLost();
            write();
        }
    }

    private static List<Said> ran(ProcessBuilder builder) {
        try {
            return ToolProcess.run(List.of(builder), SaucrEnsemble.PATIENCE.multipliedBy(3));
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    @Order(7)
    void aServerIsReplacedWhereTwoAreLeft() throws Exception {
        awaitWhole(FOURTH);
        fine(saucr("member", "remove", "4"), "voters: 1, 2, 3");
        ensemble.terminate(FOURTH);
        ensemble.awaitFast();
        int lost = ensemble.followers().get(0);
        ensemble.kill(lost);
        Said refused = saucr("member", "remove", Integer.toString(lost));
        assertThat(refused.exitCode()).isEqualTo(1);
        assertThat(refused.err()).contains("the way out", "--replace " + lost);
        startAnew(FIFTH);
        fine(
                saucr("member", "add", line(FIFTH), "--replace", Integer.toString(lost)),
                "server 5 is a voter in the place of server " + lost);
        Set<Integer> expected = new TreeSet<>(Set.of(1, 2, 3, FIFTH));
        expected.remove(lost);
        assertThat(members("voter")).isEqualTo(expected);
        ensemble.awaitFast();
    }

    @Test
    @Order(8)
    void shedMovesClientsWithTheirSessions() throws Exception {
        int leader = ensemble.leader();
        List<Client> clients = new ArrayList<>();
        int other = ensemble.followers().get(0);
        try {
            for (int i = 0; i < 10; i++) {
                clients.add(ensemble.connect(leader, other));
            }
            List<Long> sessions = clients.stream().map(Client::getSessionId).toList();
            ProcessBuilder shed = builder("shed", "--share", "100", "a full server");
            shed.environment().put("SAUCR_ENDPOINTS", hosting.address(leader).client());
            shed.environment().put("SAUCR_ADMIN", admin(leader));
            Said said = ToolProcess.run(List.of(shed), SaucrEnsemble.PATIENCE).get(0);
            assertThat(said.exitCode()).as(said.toString()).isZero();
            assertThat(said.out()).containsPattern("closed (\\d+) of \\1 connections");
            for (Client client : clients) {
                SaucrEnsemble.await(
                        "each session",
                        () -> Stream.of(client.getState()).allMatch(state -> state.isConnected()));
            }
            assertThat(clients.stream().map(Client::getSessionId).toList()).isEqualTo(sessions);
        } finally {
            clients.forEach(Client::close);
        }
    }

    @Test
    @Order(9)
    void withoutAMajorityTheWayOutIsNamed() throws Exception {
        assertNothingIsLost();
        List<Integer> followers = ensemble.followers();
        ensemble.kill(followers.toArray(Integer[]::new));
        ProcessBuilder list = builder("member", "remove", "1");
        list.environment().put("SAUCR_TIMEOUT", "2s");
        Said said = ToolProcess.run(List.of(list), SaucrEnsemble.PATIENCE).get(0);
        assertThat(said.exitCode()).isEqualTo(1);
        assertThat(said.err()).contains("the way out is to start the servers that are down");
        ensemble.restart(followers.toArray(Integer[]::new));
        ensemble.awaitServing();
        write();
    }
}
