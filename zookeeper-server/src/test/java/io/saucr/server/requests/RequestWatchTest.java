package io.saucr.server.requests;

import static io.saucr.server.PatientWaits.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.saucr.core.Mode;
import io.saucr.server.requests.RequestTop.BusyException;
import io.saucr.server.requests.RequestTop.By;
import io.saucr.server.requests.RequestTop.Entry;
import io.saucr.server.requests.RequestTop.Result;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.proto.GetDataRequest;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.RequestRecord;
import org.apache.zookeeper.txn.CreateTxn;
import org.apache.zookeeper.txn.ErrorTxn;
import org.apache.zookeeper.txn.MultiTxn;
import org.apache.zookeeper.txn.SetDataTxn;
import org.apache.zookeeper.txn.Txn;
import org.apache.zookeeper.txn.TxnHeader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RequestWatchTest {
    private static final long ZXID = (3L << 32) | 1;
    private static final long MILLI = 1_000_000;

    private final SlowRequests slow = new SlowRequests(Duration.ofMillis(100));
    private final RequestWatch watch = new RequestWatch(slow);

    private static Request read(String path) {
        return new Request(
                null,
                9,
                1,
                OpCode.getData,
                RequestRecord.fromRecord(new GetDataRequest(path, false)),
                null);
    }

    private static Request write(String path, byte[] data) {
        Request request =
                new Request(9, 1, OpCode.setData, null, new SetDataTxn(path, data, 1), ZXID);
        request.setHdr(new TxnHeader(9, 1, ZXID, 1, OpCode.setData));
        request.prepQueueStartTime = request.createTime + 1;
        request.prepStartTime = request.createTime + 3;
        request.commitProcQueueStartTime = request.createTime + 10;
        request.commitRecvTime = request.createTime + 200;
        return request;
    }

    // ---- Slow requests ----

    @Test
    void aSlowReadHasItsStages() {
        Request request = read("/a");
        request.commitProcQueueStartTime = request.createTime + 2;
        watch.read(request, request.createTime + 52, request.createTime + 99);
        assertThat(slow.newest()).isEmpty();
        watch.read(request, request.createTime + 52, request.createTime + 100);
        assertThat(slow.newest())
                .singleElement()
                .satisfies(
                        it -> {
                            assertThat(it.operation()).isEqualTo("getData");
                            assertThat(it.path()).isEqualTo("/a");
                            assertThat(it.millis()).isEqualTo(100);
                            assertThat(it.stages().toString())
                                    .isEqualTo("{queue=2, wait=50, read=48}");
                            assertThat(it.replication()).isNull();
                        });
        assertThat(slow.counted()).isEqualTo(1);
    }

    @Test
    void aSlowWriteOfTheLeadersClientHasTheAcknowledgements() {
        Request request = write("/a\n\u202eb", new byte[70]);
        AckTimes acks = new AckTimes(watch.stages());
        long proposed = (request.createTime + 4) * MILLI;
        acks.proposed(ZXID, proposed);
        acks.acked(1, ZXID, proposed + MILLI);
        acks.acked(3, ZXID, proposed + 196 * MILLI);
        long now = proposed + 196 * MILLI;
        assertThat(watch.isSlow(request, now)).isTrue();
        assertThat(watch.isSlow(request, proposed + 90 * MILLI)).isFalse();
        watch.committed(
                new RequestWatch.Write(request, ZXID, 0, acks, Mode.SLOW, List.of(3L, 2L, 1L)),
                3,
                now);
        assertThat(slow.newest()).isEmpty();
        watch.applied(
                request, (request.createTime + 205) * MILLI, (request.createTime + 206) * MILLI);
        assertThat(slow.newest())
                .singleElement()
                .satisfies(
                        it -> {
                            assertThat(it.path()).isEqualTo("/a  b");
                            assertThat(it.bytes()).isEqualTo(70);
                            assertThat(it.stages().toString())
                                    .isEqualTo("{queue=10, commit=190, wait=5, apply=1}");
                            assertThat(it.replication().mode()).isEqualTo("slow");
                            assertThat(it.replication().queueMillis()).isEqualTo(2);
                            assertThat(it.replication().proposalMillis()).isEqualTo(1);
                            assertThat(it.replication().commitMillis()).isEqualTo(196);
                            assertThat(it.replication().completedBy()).isEqualTo(3);
                            assertThat(it.replication().missing()).containsExactly(2L);
                        });
    }

    @Test
    void aWriteOfAnotherServersClientIsReportedWhenItIsCommitted() {
        Request request = write("/a", new byte[7]);
        request.commitProcQueueStartTime = -1;
        AckTimes acks = new AckTimes(watch.stages());
        acks.proposed(ZXID, request.prepStartTime * MILLI);
        RequestWatch.Write write =
                new RequestWatch.Write(request, ZXID, 4, acks, Mode.FAST, List.of(1L));
        SlowRequest waiting = watch.waiting(write, (request.createTime + 301) * MILLI);
        assertThat(waiting.millis()).isEqualTo(300);
        assertThat(waiting.replication().commitMillis()).isEqualTo(-1);
        watch.reportWaiting(waiting);
        assertThat(slow.newest()).as("it is not over").isEmpty();
        watch.committed(write, 1, (request.createTime + 301) * MILLI);
        watch.applied(
                request, (request.createTime + 302) * MILLI, (request.createTime + 303) * MILLI);
        assertThat(slow.newest())
                .singleElement()
                .satisfies(
                        it -> {
                            assertThat(it.of()).isEqualTo(4);
                            assertThat(it.millis()).isEqualTo(300);
                        });
        assertThat(slow.counted()).as("of this server's clients").isZero();
    }

    @Test
    void withoutAThresholdNothingIsSlow() {
        slow.threshold(Duration.ZERO);
        Request request = read("/a");
        watch.read(request, request.createTime, request.createTime + 1_000_000);
        assertThat(slow.newest()).isEmpty();
    }

    // ---- What a request is about ----

    @Test
    void whatCannotBeDecodedHasNoPath() {
        Request request =
                new Request(
                        null,
                        9,
                        1,
                        OpCode.getData,
                        RequestRecord.fromBytes(new byte[] {1, 2}),
                        null);
        assertThat(RequestContent.path(request)).isNull();
        assertThat(RequestContent.path(new Request(null, 9, 1, OpCode.getData, null, null)))
                .isNull();
        assertThat(RequestContent.path(new Request(null, 9, 1, 4711, null, null))).isNull();
        assertThat(RequestContent.operation(4711)).isEqualTo("operation 4711");
    }

    @Test
    void aMultiHasThePathOfItsFirstOperation() {
        byte[] path = "/m".getBytes(StandardCharsets.UTF_8);
        byte[] create =
                ByteBuffer.allocate(4 + path.length + 4).putInt(path.length).put(path).array();
        MultiTxn txn =
                new MultiTxn(
                        List.of(
                                new Txn(OpCode.error, new byte[] {0, 0, 0, 1}),
                                new Txn(OpCode.create, create)));
        Request request = new Request(9, 1, OpCode.multi, null, txn, ZXID);
        assertThat(RequestContent.path(request)).isEqualTo("/m");
        assertThat(RequestContent.bytes(request, true)).isEqualTo(4 + create.length);
        txn.setTxns(List.of(new Txn(OpCode.create, new byte[] {9, 9, 9, 9})));
        assertThat(RequestContent.path(request)).isEqualTo("");
        txn.setTxns(List.of(new Txn(OpCode.create, new byte[0])));
        assertThat(RequestContent.path(request)).isNull();
    }

    @Test
    void aWriteThatFailedHasThePathOfTheRequest() {
        Request request = read("/gone");
        request.setTxn(new ErrorTxn(-101));
        assertThat(RequestContent.path(request)).isEqualTo("/gone");
        request.setTxn(new CreateTxn("/c", new byte[5], List.of(), false, 1));
        assertThat(RequestContent.path(request)).isEqualTo("/c");
        assertThat(RequestContent.bytes(request, true)).isEqualTo(5);
    }

    // ---- Who causes the load ----

    @ParameterizedTest
    @CsvSource({
        "/, 1, /",
        "/a, 1, /a",
        "/a/b, 1, /a",
        "/a/b/c, 2, /a/b",
        "/a/b, 2, /a/b",
        "/a/b, 9, /a/b",
        "a, 1, a",
        "'', 1, ''"
    })
    void aPrefixHasSoManyNames(String path, int depth, String prefix) {
        assertThat(path.substring(0, RequestTop.prefixLength(path, depth))).isEqualTo(prefix);
    }

    @Test
    void threadsThatCountDoNotMeetAndNothingIsLost() throws Exception {
        int threads = 4;
        ExecutorService pool = Executors.newFixedThreadPool(threads + 1);
        AtomicBoolean over = new AtomicBoolean();
        try {
            List<Future<Long>> counting = new ArrayList<>();
            CountDownLatch began = new CountDownLatch(threads);
            for (int i = 0; i < threads; i++) {
                String path = "/app" + i % 2 + "/x";
                counting.add(
                        pool.submit(
                                () -> {
                                    long count = 0;
                                    while (!over.get()) {
                                        watch.top().count(read(path), false, 2);
                                        count++;
                                        began.countDown();
                                    }
                                    return count;
                                }));
            }
            began.await();
            Result result = watch.top().sample(By.PREFIX, 1, 300, 10);
            over.set(true);
            long counted = 0;
            for (Future<Long> each : counting) {
                counted += each.get();
            }
            assertThat(result.entries())
                    .extracting(Entry::key)
                    .containsExactlyInAnyOrder("/app0", "/app1");
            long reads = result.entries().stream().mapToLong(it -> it.counts().reads()).sum();
            assertThat(reads).isPositive().isLessThanOrEqualTo(counted);
            assertThat(result.entries().get(0).counts().sumMillis())
                    .isEqualTo(2 * result.entries().get(0).counts().reads());
            assertThat(result.rest().requests()).isZero();
        } finally {
            over.set(true);
            pool.shutdown();
            assertThat(pool.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void moreKeysThanAreAskedForAreInTheRest() throws Exception {
        ExecutorService pool = Executors.newSingleThreadExecutor();
        try {
            AtomicBoolean over = new AtomicBoolean();
            Future<Long> counting =
                    pool.submit(
                            () -> {
                                long count = 0;
                                for (int i = 0; !over.get(); i = (i + 1) % 30) {
                                    Request request = read("/p" + i);
                                    watch.top().count(request, false, 0);
                                    count++;
                                }
                                return count;
                            });
            Result result = watch.top().sample(By.PREFIX, 1, 200, 3);
            Result operations = watch.top().sample(By.OPERATION, 1, 100, 3);
            Result sessions = watch.top().sample(By.SESSION, 1, 100, 3);
            over.set(true);
            counting.get();
            assertThat(result.entries()).hasSize(3);
            assertThat(result.rest().reads()).isPositive();
            assertThat(operations.entries()).extracting(Entry::key).containsExactly("getData");
            assertThat(sessions.entries()).extracting(Entry::key).containsExactly("0x9");
            assertThat(sessions.entries().get(0).client()).isNull();
        } finally {
            pool.shutdownNow();
        }
    }

    @Test
    void atMostSoManyWaitForAResult() throws Exception {
        ExecutorService pool = Executors.newCachedThreadPool();
        try {
            List<Future<Result>> waiting = new ArrayList<>();
            for (int i = 0; i < RequestTop.MOST_SAMPLES; i++) {
                waiting.add(pool.submit(() -> watch.top().sample(By.PREFIX, 1, 60_000, 3)));
            }
            await().untilAsserted(
                            () ->
                                    assertThatThrownBy(
                                                    () -> watch.top().sample(By.SESSION, 1, 1, 3))
                                            .isInstanceOf(BusyException.class));
            waiting.forEach(each -> each.cancel(true));
            await().ignoreExceptionsInstanceOf(BusyException.class)
                    .until(() -> watch.top().sample(By.SESSION, 1, 1, 3) != null);
        } finally {
            pool.shutdownNow();
        }
    }

    // ---- Cost ----

    /** The way of a write allocates nothing, unless it is slow or somebody counts. */
    @Test
    void nothingIsAllocatedForARequest() {
        int times = 20_000;
        Request write = write("/a/b", new byte[9]);
        Request read = read("/a/b");
        read.commitProcQueueStartTime = read.createTime;
        AckTimes acks = new AckTimes(watch.stages());
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = 0;
        for (int i = 0; i < 2 * times; i++) {
            if (i == times) {
                before = threads.getCurrentThreadAllocatedBytes();
            }
            long now = write.createTime * MILLI + 1_000L * (i % 50);
            watch.proposed(write, 1_000);
            acks.proposed(ZXID + i, now);
            for (int sid = 1; sid <= 5; sid++) {
                acks.acked(sid, ZXID + i, now + 1_000L * sid);
            }
            acks.committed(ZXID + i, now + 4_000);
            if (watch.isSlow(write, now)) {
                throw new AssertionError("not slow");
            }
            watch.applied(write, now, now + 5_000);
            watch.read(read, read.createTime, read.createTime + 1);
        }
        double bytes =
                (double) (threads.getCurrentThreadAllocatedBytes() - before) / (double) times;
        assertThat(bytes).isLessThan(0.5);
    }

    /** While somebody counts, too: only a new key allocates. */
    @Test
    void nothingIsAllocatedToCount() throws Exception {
        int times = 20_000;
        Request[] requests = new Request[64];
        for (int i = 0; i < requests.length; i++) {
            requests[i] = i % 2 == 0 ? read("/a" + i + "/b") : write("/a" + i + "/b", new byte[9]);
        }
        ExecutorService pool = Executors.newCachedThreadPool();
        try {
            List<Future<Result>> waiting = new ArrayList<>();
            for (By by : By.values()) {
                waiting.add(pool.submit(() -> watch.top().sample(by, 1, 60_000, 3)));
            }
            await().until(() -> watch.top().running() == 3);
            ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            long before = 0;
            for (int i = 0; i < 2 * times; i++) {
                if (i == times) {
                    before = threads.getCurrentThreadAllocatedBytes();
                }
                watch.top().count(requests[i % requests.length], i % 2 == 1, 1);
            }
            double bytes =
                    (double) (threads.getCurrentThreadAllocatedBytes() - before) / (double) times;
            assertThat(bytes).isLessThan(0.5);
            waiting.forEach(each -> each.cancel(true));
        } finally {
            pool.shutdownNow();
        }
    }
}
