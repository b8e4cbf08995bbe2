package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.tests.ensemble.AdminServer.Answer;
import io.saucr.tests.ensemble.ToolProcess.Said;
import java.io.IOException;
import java.nio.file.Path;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
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
 * A leader hands over (R28) while clients write: the one leads that was named, whatever its number
 * is, and no write is lost, also if a process is killed in the middle of it.
 */
@NeedsCompiler
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class MoveLeaderIT {
    private static final int VOTERS = 5;
    private static final int MOVES = 100;
    private static final int CLIENTS = 8;
    private static final String HANDS_OVER = "Handing over to server ";

    /** As SaucrQuorumPeer has it. */
    private static final long NAME_HOLDS_NANOS = TimeUnit.SECONDS.toNanos(2);

    @TempDir static Path folder;

    private static SaucrEnsemble ensemble;
    private static AckedWrites writes;

    @BeforeAll
    static void start() throws Exception {
        ensemble =
                SaucrEnsemble.start(
                        AdminServer.describe("move-leader", VOTERS)
                                .set("admin.serverAddress", "127.0.0.1")
                                .set("saucr.heartbeatInterval", "2s")
                                .set("saucr.fastModeConfirmations", "1"));
    }

    @AfterAll
    static void stop() {
        ensemble.close();
    }

    /** One at a time, so that all of them can be listed. */
    @BeforeEach
    void write() throws Exception {
        writes = new AckedWrites(ensemble.connect(), "/move-" + System.nanoTime(), 1);
    }

    @AfterEach
    void assertNothingIsLost() throws Exception {
        ensemble.awaitServing();
        try (AckedWrites written = writes) {
            written.awaitMore(10);
            written.stop();
            written.assertAllOnEachOf(ensemble);
        }
    }

    private static Answer move(int leader, int to) throws Exception {
        return new AdminServer(ensemble.server(leader))
                .post("saucr/moveLeader", "ip self", to + " a test");
    }

    /**
     * Moves when everything is calm, so that nothing but the hand-over decides who leads. On a busy
     * machine an election may take longer than the name holds; then the number decides, and the
     * next try is made from there.
     */
    private static void moveTo(int to) throws Exception {
        SaucrEnsemble.await(
                "the hand-over to server " + to,
                () -> {
                    int leader = ensemble.awaitFast();
                    if (leader == to) {
                        return true;
                    }
                    LocalTime before = SaucrEnsemble.now();
                    long begin = System.nanoTime();
                    if (move(leader, to).status() != 200) {
                        // The next leader may need more than a second, and the leader leads on.
                        return false;
                    }
                    assertThat(ensemble.log(leader, before, HANDS_OVER + to)).isNotEmpty();
                    ensemble.awaitServing();
                    if (System.nanoTime() - begin < NAME_HOLDS_NANOS) {
                        assertThat(ensemble.leader()).isEqualTo(to);
                    }
                    return ensemble.leader() == to;
                });
    }

    private static List<Integer> newLeader(int old) {
        return ensemble.running().stream()
                .filter(id -> id != old && ensemble.role(id).equals("leader"))
                .toList();
    }

    @Test
    @Order(1)
    void r28TheNamedServerLeadsWhateverItsNumberIs() throws Exception {
        for (int to = 1; to <= VOTERS; to++) {
            int leader = ensemble.awaitFast();
            if (to != leader) {
                moveTo(to);
                ensemble.awaitServing();
                writes.awaitMore(10);
            }
        }
    }

    @Test
    @Order(2)
    void refusalsNameTheReasonAndChangeNothing() throws Exception {
        int leader = ensemble.awaitFast();
        int follower = ensemble.followers().get(0);
        int dead = ensemble.followers().get(1);
        assertThat(move(leader, leader).body().path("error").asText()).contains("leads already");
        assertThat(move(leader, 9).body().path("error").asText())
                .isEqualTo("server 9 does not follow as a voter");
        assertThat(move(follower, leader).body().path("error").asText()).contains("does not lead");
        ensemble.kill(dead);
        SaucrEnsemble.await(
                "its absence", () -> ensemble.metric(leader, "zk_saucr_prompt_voters") < VOTERS);
        assertThat(move(leader, dead).status()).isEqualTo(409);
        assertThat(ensemble.leader()).isEqualTo(leader);
        ensemble.restart(dead);
    }

    @Test
    @Order(3)
    void theToolMovesTheLeader() throws Exception {
        int leader = ensemble.awaitFast();
        int to = ensemble.followers().get(0);
        SaucrEnsemble.await(
                "the hand-over",
                () ->
                        saucr("move-leader", Integer.toString(to), "new memory")
                                .out()
                                .equals("server " + to + " leads\n"));
        ensemble.awaitServing();
        assertThat(saucr("move-leader", Integer.toString(to)).exitCode()).isZero();
        ensemble.awaitFast();
        Said[] moved = new Said[1];
        SaucrEnsemble.await(
                "the hand-over",
                () -> {
                    moved[0] = saucr("move-leader", "-o", "json");
                    return moved[0].exitCode() == 0;
                });
        Said any = moved[0];
        assertThat(any.json().path("from").asInt()).isEqualTo(to);
        assertThat(any.json().path("leads").asInt()).isNotEqualTo(to).isNotZero();
        assertThat(leader).isNotEqualTo(to);
    }

    private static Said saucr(String... arguments) throws Exception {
        List<Integer> ids = ensemble.all();
        String endpoints =
                ids.stream()
                        .map(id -> ensemble.server(id).address().client())
                        .collect(Collectors.joining(","));
        String admins =
                ids.stream()
                        .map(id -> ensemble.server(id).address().admin())
                        .collect(Collectors.joining(","));
        ProcessBuilder builder = ToolProcess.builder(folder, endpoints, admins, arguments);
        builder.environment().put("SAUCR_TIMEOUT", "30s");
        return ToolProcess.run(List.of(builder), SaucrEnsemble.PATIENCE).get(0);
    }

    /** SIGTERM, as of {@code zkServer.sh stop} and of systemd. */
    @Test
    @Order(4)
    void r28ALeaderThatIsStoppedHandsOver() throws Exception {
        int leader = ensemble.awaitFast();
        LocalTime before = SaucrEnsemble.now();
        ensemble.terminate(leader);
        // On a busy machine it may give up.
        List<SaucrEnsemble.LogLine> said = new ArrayList<>();
        said.addAll(ensemble.log(leader, before, "Handed over before the end"));
        said.addAll(ensemble.log(leader, before, "Ends without handing over: the next leader"));
        assertThat(said).hasSize(1);
        assertThat(ensemble.markers(leader).crashedInFastMode()).isFalse();
        assertThat(ensemble.leader()).isNotEqualTo(leader);
        writes.awaitMore(10);
        ensemble.restart(leader);
    }

    /** The old leader, the new one, and a voter, each at another moment of the hand-over. */
    @Test
    @Order(5)
    void aProcessIsKilledInTheMiddle() throws Exception {
        for (int victim = 0; victim < 3; victim++) {
            killInTheMiddle(victim, victim);
        }
    }

    @Tag("long")
    @Test
    @Order(7)
    void eachProcessIsKilledAtEachMoment() throws Exception {
        for (int moment = 0; moment < 3; moment++) {
            for (int victim = 0; victim < 3; victim++) {
                killInTheMiddle(victim, moment);
            }
        }
    }

    private void killInTheMiddle(int role, int moment) throws Exception {
        int leader = ensemble.awaitFast();
        List<Integer> followers = ensemble.followers();
        int to = followers.get(0);
        int victim = List.of(leader, to, followers.get(1)).get(role);
        CompletableFuture<Void> moves = moving(leader, to);
        TimeUnit.MILLISECONDS.sleep(10L * moment);
        ensemble.kill(victim);
        moves.join();
        writes.awaitMore(10);
        ensemble.restart(victim);
        ensemble.awaitServing();
        assertNothingIsLost();
        write();
    }

    private static CompletableFuture<Void> moving(int leader, int to) {
        return CompletableFuture.runAsync(
                () -> {
                    try {
                        System.out.println(move(leader, to));
                    } catch (IOException e) {
                        System.out.println("no answer: " + e.getMessage());
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                });
    }

    /** Two orders at once: one of them is carried out, and the ensemble has one leader. */
    @Test
    @Order(6)
    void twoOrdersAtOnce() throws Exception {
        SaucrEnsemble.await(
                "an order that is carried out",
                () -> {
                    int leader = ensemble.awaitFast();
                    LocalTime before = SaucrEnsemble.now();
                    List<CompletableFuture<Void>> moves = new ArrayList<>();
                    for (int to : ensemble.followers()) {
                        moves.add(moving(leader, to));
                    }
                    moves.forEach(CompletableFuture::join);
                    if (ensemble.log(leader, before, HANDS_OVER).isEmpty()) {
                        // On a busy machine it may give up both.
                        return false;
                    }
                    ensemble.awaitServing();
                    return newLeader(leader).size() == 1;
                });
    }

    /** Under load; the pauses are printed, for what they are depends on the machine. */
    @Tag("long")
    @Test
    @Order(8)
    void manyMovesUnderLoad() throws Exception {
        List<Double> ofAll = new ArrayList<>();
        List<Double> ofEach = new ArrayList<>();
        List<Double> afterKills = new ArrayList<>();
        int moved = 0;
        int named = 0;
        try (WritePauses pauses = new WritePauses(ensemble, CLIENTS)) {
            for (int i = 0; i < MOVES; i++) {
                int leader = ensemble.awaitFast();
                List<Integer> followers = ensemble.followers();
                int to = followers.get(i % followers.size());
                pauses.awaitEach();
                pauses.begin();
                moved += move(leader, to).status() == 200 ? 1 : 0;
                SaucrEnsemble.await("another leader", () -> newLeader(leader).size() == 1);
                named += newLeader(leader).contains(to) ? 1 : 0;
                pauses.awaitEach();
                ofAll.add(pauses.ofAll());
                ofEach.addAll(pauses.ofEach());
            }
            System.out.printf(
                    "%d of %d moved, %d to the server that was named; milliseconds without any"
                            + " answer: %s; without an answer to one client: %s%n",
                    moved, MOVES, named, quantiles(ofAll), quantiles(ofEach));
            for (int i = 0; i < MOVES / 5; i++) {
                int leader = ensemble.awaitFast();
                pauses.awaitEach();
                pauses.begin();
                ensemble.kill(leader);
                SaucrEnsemble.await("another leader", () -> newLeader(leader).size() == 1);
                pauses.awaitEach();
                afterKills.add(pauses.ofAll());
                ensemble.restart(leader);
                ensemble.awaitServing();
            }
        }
        System.out.println(
                "after kills, milliseconds without any answer: " + quantiles(afterKills));
    }

    private static String quantiles(List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        return "p50 %.0f, p99 %.0f, max %.0f"
                .formatted(
                        sorted.get(sorted.size() / 2),
                        sorted.get((int) (sorted.size() * 0.99)),
                        sorted.get(sorted.size() - 1));
    }
}
