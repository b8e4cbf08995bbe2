package org.apache.zookeeper.server;

import static io.saucr.server.PatientWaits.await;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Without a limit no thread stands between a connection and the first processor. */
class InlineRequestThrottlerTest {
    private record Submitted(int cxid, Thread by) {}

    private final List<Submitted> submitted = new CopyOnWriteArrayList<>();
    private InlineRequestThrottler requests;

    @BeforeEach
    void start() {
        ZooKeeperServer server =
                new ZooKeeperServer() {
                    @Override
                    public void submitRequestNow(Request request) {
                        submitted.add(new Submitted(request.cxid, Thread.currentThread()));
                    }
                };
        requests = new InlineRequestThrottler(server);
        requests.start();
    }

    @AfterEach
    void stop() {
        RequestThrottler.setMaxRequests(0);
        ZooKeeperServer.setThrottledOpWaitTime(0);
        requests.shutdown();
    }

    private void submit(int cxid) {
        requests.submitRequest(new Request(null, 1, cxid, OpCode.setData, null, null));
    }

    @Test
    void withoutALimitTheCallerHandsThemOn() {
        submit(1);
        submit(2);
        assertThat(submitted)
                .containsExactly(
                        new Submitted(1, Thread.currentThread()),
                        new Submitted(2, Thread.currentThread()));
    }

    @Test
    void onceALimitWasSetEverythingQueuesSoThatNothingOvertakes() {
        submit(1);
        RequestThrottler.setMaxRequests(5);
        submit(2);
        RequestThrottler.setMaxRequests(0);
        submit(3);
        await().until(() -> submitted.size() == 3);
        assertThat(submitted)
                .containsExactly(
                        new Submitted(1, Thread.currentThread()),
                        new Submitted(2, requests),
                        new Submitted(3, requests));
    }

    @Test
    void whoWantsLateRequestsRefusedGetsTheQueueThatMeasuresHowLateTheyAre() {
        ZooKeeperServer.setThrottledOpWaitTime(1000);
        submit(1);
        await().until(() -> submitted.size() == 1);
        assertThat(submitted).containsExactly(new Submitted(1, requests));
    }

    @Test
    void afterTheShutdownNothingIsHandedOn() {
        requests.shutdown();
        submit(1);
        assertThat(submitted).isEmpty();
        assertThat(requests.getInflight()).isZero();
    }
}
