package io.saucr.server.requests;

import static io.saucr.server.PatientWaits.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.server.requests.SlowRequest.Replication;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class SlowRequestsTest {
    private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 5);
    private final List<String> lines = new CopyOnWriteArrayList<>();

    private SlowRequests requests(Duration threshold) {
        return new SlowRequests(threshold, clock::get, lines::add);
    }

    private static SlowRequest request(long zxid) {
        return new SlowRequest(
                1, "setData", "/a", 0x1f, "127.0.0.1:5", 0, 3, zxid, 700, Map.of(), null);
    }

    @Test
    void aRequestIsSlowFromTheThresholdOn() {
        SlowRequests requests = requests(Duration.ofMillis(500));
        assertThat(requests.isSlow(499)).isFalse();
        assertThat(requests.isSlow(500)).isTrue();
        requests.threshold(Duration.ofMillis(1));
        assertThat(requests.isSlow(1)).isTrue();
        assertThat(requests.isSlow(0)).isFalse();
        requests.threshold(Duration.ZERO);
        assertThat(requests.isSlow(Long.MAX_VALUE)).isFalse();
    }

    @Test
    void tenInASecondAreReportedAndTheOthersAreCountedInOneLine() {
        SlowRequests requests = requests(Duration.ofMillis(500));
        for (int i = 0; i < SlowRequests.MOST_A_SECOND; i++) {
            assertThat(requests.admits(600)).isTrue();
            requests.report(request(i + 1));
        }
        for (int i = 0; i < 7; i++) {
            assertThat(requests.admits(700 + i)).isFalse();
        }
        assertThat(requests.leftOut()).isEqualTo(7);
        await().until(() -> lines.size() > SlowRequests.MOST_A_SECOND);
        assertThat(lines)
                .contains("Slow requests: 7 more in the last second, the slowest took 706 ms");
        clock.addAndGet(Duration.ofSeconds(1).toNanos());
        assertThat(requests.admits(1)).isTrue();
    }

    @Test
    void theNewestAreKeptTheNewestFirst() {
        SlowRequests requests = requests(Duration.ofMillis(500));
        for (int i = 1; i <= SlowRequests.MOST_KEPT + 3; i++) {
            requests.report(request(i));
        }
        List<SlowRequest> kept = requests.newest();
        assertThat(kept).hasSize(SlowRequests.MOST_KEPT);
        assertThat(kept.get(0).zxid()).isEqualTo(SlowRequests.MOST_KEPT + 3);
        assertThat(kept.get(kept.size() - 1).zxid()).isEqualTo(4);
    }

    /** The log is on the disk that is slow. */
    @Test
    void aLogThatHangsDelaysNobodyAndTakesNoMoreMemory() {
        CountDownLatch hangs = new CountDownLatch(1);
        SlowRequests requests =
                new SlowRequests(
                        Duration.ofMillis(500),
                        clock::get,
                        line -> {
                            try {
                                hangs.await();
                            } catch (InterruptedException e) {
                                Thread.currentThread().interrupt();
                            }
                        });
        int admitted = 0;
        for (int i = 0; i < 1_000; i++) {
            clock.addAndGet(Duration.ofSeconds(1).toNanos());
            if (requests.admits(600)) {
                admitted++;
                requests.report(request(i + 1));
            }
        }
        hangs.countDown();
        assertThat(admitted).isBetween(100, 300);
        assertThat(requests.leftOut()).isEqualTo(1_000 - admitted);
    }

    @Test
    void whatTheLeaderKnowsIsTakenOnceAndIsBounded() {
        SlowRequests requests = requests(Duration.ofMillis(500));
        Replication known = new Replication("fast", 0, 0, 1, List.of(), 2, List.of());
        for (int i = 1; i <= 5_000; i++) {
            requests.committed(i, known);
        }
        assertThat(requests.takeCommitted(5_000)).isSameAs(known);
        assertThat(requests.takeCommitted(5_000)).isNull();
        assertThat(requests.takeCommitted(1)).isNull();
    }

    @Test
    void theLineSaysWhoWhatAndWhere() {
        Replication replication =
                new Replication(
                        "slow",
                        1,
                        2,
                        1203,
                        List.of(new AckTimes.Ack(1, 0), new AckTimes.Ack(3, 1_203_900_000)),
                        3,
                        List.of(2L, 4L));
        Map<String, Long> stages = new LinkedHashMap<>();
        stages.put(SlowRequest.QUEUE, 0L);
        stages.put(SlowRequest.COMMIT, 1203L);
        SlowRequest own =
                new SlowRequest(
                        5,
                        "setData",
                        "/app",
                        0x1f,
                        "10.0.0.9:77",
                        0,
                        3,
                        0x100000002L,
                        1204,
                        stages,
                        replication);
        assertThat(own.sentence())
                .isEqualTo(
                        "Slow request: setData /app of session 0x1f at 10.0.0.9:77, 3 bytes, zxid"
                                + " 0x100000002, took 1204 ms: queue 0 ms, commit 1203 ms; on the"
                                + " leader: slow mode, queue 1 ms, proposal 2 ms, commit 1203 ms;"
                                + " acks: server 1 after 0 ms, server 3 after 1203 ms (completed the"
                                + " quorum); none yet of server 2, 4");
        SlowRequest waiting =
                new SlowRequest(
                        5,
                        "closeSession",
                        null,
                        0x1f,
                        null,
                        2,
                        0,
                        0x100000002L,
                        900,
                        Map.of(),
                        new Replication("fast", 0, 0, -1, List.of(), 0, List.of(1L)));
        assertThat(waiting.sentence())
                .isEqualTo(
                        "Slow request: closeSession of session 0x1f, a client of server 2, 0 bytes,"
                                + " zxid 0x100000002, waits for 900 ms: fast mode, queue 0 ms,"
                                + " proposal 0 ms, not committed; acks: none; none yet of server 1");
        assertThat(own.readable().keySet())
                .isEqualTo(waiting.readable().keySet())
                .containsExactly(
                        "at",
                        "operation",
                        "path",
                        "session",
                        "client",
                        "clientOf",
                        "bytes",
                        "zxid",
                        "millis",
                        "stageMillis",
                        "replication");
    }
}
