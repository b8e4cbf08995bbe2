package io.saucr.bench.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.HdrHistogram.Histogram;
import org.apache.zookeeper.KeeperException;
import org.junit.jupiter.api.Test;

class RunningClientsTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final AtomicInteger opened = new AtomicInteger();
    private final AtomicBoolean stalled = new AtomicBoolean();

    /** Sessions expire after three operations; while it is stalled, all operations fail. */
    private final Load expiring =
            new Load() {
                @Override
                public void prepare(String address) {}

                @Override
                public Session open(String address, long seed) {
                    opened.incrementAndGet();
                    AtomicInteger left = new AtomicInteger(3);
                    return new Session() {
                        @Override
                        public void operate() throws Exception {
                            Thread.sleep(1);
                            if (stalled.get()) {
                                throw new KeeperException.ConnectionLossException();
                            }
                            if (left.getAndDecrement() <= 0) {
                                throw new KeeperException.SessionExpiredException();
                            }
                        }

                        @Override
                        public void close() {}
                    };
                }
            };

    @Test
    void theyGoOnInNewSessions() throws Exception {
        try (RunningClients clients = RunningClients.start(expiring, List.of("a", "b"), 3)) {
            for (int i = 0; i < 10; i++) {
                clients.awaitEach(PATIENCE);
            }
            assertThat(opened.get()).isGreaterThan(3 * 2);
            assertThat(clients.operations()).isGreaterThan(3 * 3);
        }
    }

    @Test
    void latenciesAreOfWhatSucceededSinceTheyWereLastAskedFor() throws Exception {
        RunningClients clients = RunningClients.start(expiring, List.of("a"), 2);
        try (clients) {
            clients.awaitEach(PATIENCE);
        }
        Histogram latencies = clients.latencies();
        assertThat(latencies.getTotalCount()).isEqualTo(clients.operations());
        assertThat(latencies.getMinValue()).isGreaterThanOrEqualTo(900);
        assertThat(clients.latencies().getTotalCount()).isZero();
    }

    @Test
    void whoeverIsNotServedIsNamed() throws Exception {
        stalled.set(true);
        try (RunningClients clients = RunningClients.start(expiring, List.of("a"), 1)) {
            assertThatThrownBy(() -> clients.awaitEach(Duration.ofMillis(10)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("a client of a is not served");
            stalled.set(false);
            clients.awaitEach(PATIENCE);
        }
    }
}
