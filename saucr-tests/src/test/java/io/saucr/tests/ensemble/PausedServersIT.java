package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.tests.ensemble.SaucrEnsemble.LogLine;
import java.time.Duration;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * Servers stand still (SIGSTOP) and their sockets stay open, as when a machine or a link vanishes:
 * only missed heartbeats tell (R9, R10, H11).
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@PromisesTimes
class PausedServersIT {
    private static final Duration HEARTBEAT = Duration.ofMillis(500);
    private static final Duration TOLERANCE = Duration.ofMillis(200);
    private static final Duration PROMISED = HEARTBEAT.plus(TOLERANCE);
    private static final int SILENT_INTERVALS = 12;
    private static final int ROUNDS = 3;
    private static final String STOOD_STILL = "this leader itself stood still";

    /**
     * How much longer a busy machine may take in a round; at least one round must keep the limit
     * without it.
     */
    private static final Duration BUSY = Duration.ofSeconds(2);

    private static final Duration WAKING_UP = Duration.ofMillis(100);

    private static SaucrEnsemble ensemble;

    @BeforeAll
    static void start() throws Exception {
        ensemble =
                SaucrEnsemble.start(
                        SaucrEnsemble.describe("paused-servers", 5)
                                .set("tickTime", "1000")
                                .set("syncLimit", "30")
                                .set("saucr.heartbeatInterval", HEARTBEAT.toMillis() + "ms")
                                .set(
                                        "saucr.missedHeartbeatsBeforeElection",
                                        Integer.toString(SILENT_INTERVALS))
                                .set("saucr.backgroundFlushInterval", "1h")
                                .set("saucr.idleFlush", "1h"));
    }

    @AfterAll
    static void stop() {
        ensemble.close();
    }

    @Test
    @Order(1)
    void r6SlowWithinAnIntervalPlusToleranceWhenTwoVanish() throws Exception {
        int leader = ensemble.awaitFast();
        List<Duration> reactions = new ArrayList<>();
        for (int round = 0; round < ROUNDS; round++) {
            List<Integer> followers = ensemble.followers();
            Integer[] vanishing = {followers.get(0), followers.get(1)};
            try (AckedWrites writes =
                    new AckedWrites(ensemble.connect(leader), "/vanish-" + round, 8)) {
                writes.awaitMore(100);
                long switches = ensemble.metric(leader, "zk_saucr_mode_switches");
                LocalTime before = SaucrEnsemble.now();
                ensemble.pause(vanishing);
                LocalTime vanished = SaucrEnsemble.now();
                writes.awaitMore(100);
                assertThat(ensemble.fast(leader)).isFalse();
                for (int id : ensemble.running()) {
                    assertThat(ensemble.markers(id).crashedInFastMode()).isFalse();
                }
                LogLine turned = ensemble.log(leader, before, "Switched to slow mode").get(0);
                reactions.add(Duration.between(vanished, turned.time()));
                assertThat(turned.text()).contains("only 3 of 5 voters are responsive: server");
                for (int id : vanishing) {
                    assertThat(silence(turned, id)).isGreaterThanOrEqualTo(PROMISED.toMillis());
                }
                ensemble.resume(vanishing);
                assertThat(ensemble.awaitFast()).isEqualTo(leader);
                writes.awaitMore(100);
                writes.stop();
                assertThat(ensemble.metric(leader, "zk_saucr_mode_switches"))
                        .as("one switch to slow, one to fast")
                        .isEqualTo(switches + 2);
                writes.assertAllOnEachOf(ensemble);
            }
        }
        System.out.println("slow after two of five were paused: " + reactions);
        assertThat(Collections.min(reactions)).isLessThanOrEqualTo(PROMISED.plus(WAKING_UP));
        assertThat(Collections.max(reactions)).isLessThanOrEqualTo(PROMISED.plus(BUSY));
    }

    /** For how long the server was silent, milliseconds, as the line of a switch says. */
    private static long silence(LogLine line, int id) {
        return millis(line, "server " + id + " was silent for (\\d+) ms");
    }

    private static long millis(LogLine line, String pattern) {
        Matcher matcher = Pattern.compile(pattern).matcher(line.text());
        assertThat(matcher.find()).as("%s in %s", pattern, line.text()).isTrue();
        return Long.parseLong(matcher.group(1));
    }

    @Test
    @Order(2)
    void r4OnePausedFollowerLeavesTheModeFast() throws Exception {
        int leader = ensemble.awaitFast();
        long switches = ensemble.metric(leader, "zk_saucr_mode_switches");
        int follower = ensemble.followers().get(0);
        try (AckedWrites writes = new AckedWrites(ensemble.connect(leader), "/one-paused", 8)) {
            ensemble.pause(follower);
            writes.awaitMore(100);
            SaucrEnsemble.await(
                    "suspicion", () -> ensemble.metric(leader, "zk_saucr_prompt_voters") == 4);
            writes.awaitMore(100);
            assertThat(ensemble.fast(leader)).isTrue();
            ensemble.resume(follower);
            SaucrEnsemble.await(
                    "return", () -> ensemble.metric(leader, "zk_saucr_prompt_voters") == 5);
            writes.stop();
            assertThat(ensemble.metric(leader, "zk_saucr_mode_switches")).isEqualTo(switches);
            try (Client reader = ensemble.connect(follower)) {
                writes.assertAllIn(reader);
            }
        }
    }

    @Test
    @Order(3)
    void r10FollowersOfASilentLeaderFlushButKeepFollowing() throws Exception {
        int leader = ensemble.awaitFast();
        List<Integer> followers = ensemble.followers();
        try (AckedWrites writes = new AckedWrites(ensemble.connect(leader), "/silent", 8)) {
            writes.awaitMore(100);
            LocalTime paused = SaucrEnsemble.now();
            ensemble.pause(leader);
            SaucrEnsemble.await(
                    "flush of every follower",
                    () -> {
                        for (int id : followers) {
                            if (ensemble.markers(id).crashedInFastMode()) {
                                return false;
                            }
                        }
                        return true;
                    });
            ensemble.resume(leader);
            writes.awaitMore(100);
            assertThat(ensemble.leader()).isEqualTo(leader);
            for (int id : ensemble.all()) {
                assertThat(ensemble.log(id, paused, "New election.")).isEmpty();
            }
            assertThat(ensemble.awaitFast()).isEqualTo(leader);
        }
    }

    /**
     * What two followers sent last may still be unread when the leader stops, and is heard when it
     * wakes up; then its pause has nothing to do with their silence. That is rare.
     */
    @Test
    @Order(4)
    void h11ASwitchTellsThatTheLeaderItselfStoodStill() throws Exception {
        LogLine turned = null;
        for (int round = 0; round < ROUNDS && turned == null; round++) {
            LogLine line = turnedByAPauseOfTheLeaderToo(round);
            turned = line.text().contains(STOOD_STILL) ? line : null;
        }
        assertThat(turned).isNotNull();
        long stoodStill = millis(turned, STOOD_STILL + " for at least (\\d+) ms");
        assertThat(stoodStill).isGreaterThanOrEqualTo(TOLERANCE.toMillis());
        assertThat(millis(turned, "server \\d+ was silent for (\\d+) ms"))
                .isGreaterThanOrEqualTo(stoodStill);
    }

    /** Two followers stand still, and the leader with them for a while. */
    private static LogLine turnedByAPauseOfTheLeaderToo(int round) throws Exception {
        int leader = ensemble.awaitFast();
        List<Integer> followers = ensemble.followers();
        AckedWrites.written(ensemble.connect(leader), "/still-" + round, 8, 100);
        LocalTime paused = SaucrEnsemble.now();
        ensemble.pause(followers.get(0), followers.get(1), leader);
        // Those who run miss their leader, so it stands still for longer than that takes.
        for (int id : followers.subList(2, 4)) {
            SaucrEnsemble.await(
                    "server " + id + " tells of a silent leader",
                    () -> !ensemble.log(id, paused, "the leader was silent for").isEmpty());
        }
        ensemble.resume(leader);
        SaucrEnsemble.await(
                "slow mode",
                () -> !ensemble.log(leader, paused, "Switched to slow mode").isEmpty());
        ensemble.resume(followers.get(0), followers.get(1));
        assertThat(ensemble.awaitFast()).isEqualTo(leader);
        return ensemble.log(leader, paused, "Switched to slow mode").get(0);
    }

    @Tag("long")
    @Test
    @Order(5)
    void r10AfterTooManySilentIntervalsFollowersLookForANewLeader() throws Exception {
        int first = ensemble.awaitFast();
        List<Integer> followers = ensemble.followers();
        try (AckedWrites writes =
                new AckedWrites(ensemble.connect(followers.get(0)), "/deposed", 8)) {
            writes.awaitMore(100);
            ensemble.pause(first);
            int second = ensemble.leader();
            assertThat(followers).contains(second);
            assertThat(ensemble.awaitFast()).isEqualTo(second);
            writes.awaitMore(100);
            ensemble.resume(first);
            SaucrEnsemble.await(
                    "the old leader follows", () -> ensemble.role(first).equals("follower"));
            writes.awaitMore(100);
            writes.stop();
            assertThat(ensemble.awaitFast()).isEqualTo(second);
            writes.assertAllOnEachOf(ensemble);
        }
    }
}
