package io.saucr.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.ensemble.WriteLoad.Outcome;
import java.io.IOException;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** How writes follow each other, with answers that the test gives. */
class WriteLoadTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /** Writes that wait for the test's answer. */
    private static final class HeldWrites implements WriteLoad.Writes {
        private final Queue<Outcome> inFlight = new ConcurrentLinkedQueue<>();
        private final AtomicInteger left;

        HeldWrites(int most) {
            left = new AtomicInteger(most);
        }

        @Override
        public boolean next(ZooKeeper session, int writer, Outcome outcome) {
            return left.getAndDecrement() > 0 && inFlight.add(outcome);
        }

        @Override
        public Duration pace() {
            return Duration.ZERO;
        }

        void answer(Code code, long zxid) {
            Stat stat = new Stat();
            stat.setMzxid(zxid);
            inFlight.remove().of(code, stat);
        }
    }

    private final AtomicInteger sessions = new AtomicInteger();

    /** Nobody listens there: the session is not closed, and never connected. */
    private ZooKeeper session() throws IOException {
        sessions.incrementAndGet();
        return new ZooKeeper("127.0.0.1:1", 10_000, event -> {});
    }

    private WriteLoad load(HeldWrites writes, int inFlight) throws Exception {
        return new WriteLoad(this::session, 1, inFlight, writes);
    }

    @Test
    void eachAnswerBeginsTheNextWrite() throws Exception {
        HeldWrites writes = new HeldWrites(100);
        try (WriteLoad load = load(writes, 2)) {
            assertThat(writes.inFlight).isEmpty();
            load.start();
            assertThat(writes.inFlight).hasSize(2);
            writes.answer(Code.OK, 7);
            writes.answer(Code.OK, 5);
            assertThat(writes.inFlight).hasSize(2);
            assertThat(load.acknowledged()).isEqualTo(2);
            assertThat(load.lastZxid()).isEqualTo(7);
            assertThat(load.measure().getTotalCount()).isEqualTo(2);
            assertThat(load.await(2, PATIENCE)).isTrue();
            assertThat(load.await(3, Duration.ZERO)).isFalse();
        }
    }

    @Test
    void aStopWaitsForWhatIsInFlight() throws Exception {
        HeldWrites writes = new HeldWrites(100);
        try (WriteLoad load = load(writes, 2)) {
            load.start();
            writes.answer(Code.OK, 1);
            assertThat(load.stop(Duration.ofMillis(10))).isFalse();
            writes.answer(Code.OK, 2);
            writes.answer(Code.CONNECTIONLOSS, 0);
            assertThat(load.stop(PATIENCE)).isTrue();
            assertThat(load.acknowledged()).isEqualTo(2);
            assertThat(load.uncertain()).isEqualTo(1);
            load.start();
            assertThat(writes.inFlight).isEmpty();
        }
    }

    @Test
    void aPauseEndsWithTheNextStart() throws Exception {
        HeldWrites writes = new HeldWrites(100);
        try (WriteLoad load = load(writes, 2)) {
            load.start();
            load.pause();
            writes.answer(Code.OK, 1);
            assertThat(writes.inFlight).hasSize(1);
            load.start();
            assertThat(writes.inFlight).hasSize(2);
        }
    }

    @Test
    void aWriteWithoutAnAnswerIsFollowedByAnotherOne() throws Exception {
        HeldWrites writes = new HeldWrites(100);
        try (WriteLoad load = load(writes, 1)) {
            load.start();
            writes.answer(Code.CONNECTIONLOSS, 0);
            Awaitility.await().atMost(PATIENCE).until(() -> writes.inFlight.size() == 1);
            assertThat(load.uncertain()).isEqualTo(1);
            assertThat(sessions).hasValue(1);
        }
    }

    @Test
    void aSessionThatHasEndedIsReplaced() throws Exception {
        HeldWrites writes = new HeldWrites(100);
        WriteLoad.Connector closed =
                () -> {
                    ZooKeeper session = session();
                    if (sessions.get() == 1) {
                        session.close();
                    }
                    return session;
                };
        try (WriteLoad load = new WriteLoad(closed, 1, 1, writes)) {
            load.start();
            writes.answer(Code.SESSIONEXPIRED, 0);
            Awaitility.await().atMost(PATIENCE).until(() -> writes.inFlight.size() == 1);
            assertThat(sessions).hasValue(2);
        }
    }

    @Test
    void aLoadThatIsDoneHasNothingInFlight() throws Exception {
        HeldWrites writes = new HeldWrites(1);
        try (WriteLoad load = load(writes, 3)) {
            load.start();
            writes.answer(Code.OK, 1);
            assertThat(load.stop(PATIENCE)).isTrue();
            assertThat(load.acknowledged()).isEqualTo(1);
        }
    }
}
