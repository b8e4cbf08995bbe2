package org.apache.zookeeper.server.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.core.recovery.RecoveryMessage.LleQuery;
import io.saucr.core.recovery.RecoveryWire;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.util.CircularBlockingQueue;
import org.junit.jupiter.api.Test;

class LatestPerKindQueueTest {
    private static final long TO = 4;

    private final Map<Long, ByteBuffer> lastSent = new ConcurrentHashMap<>();
    private final LatestPerKindQueue queue = new LatestPerKindQueue(TO, lastSent, null);

    private static ByteBuffer vote(int round) {
        return ByteBuffer.allocate(40).putInt(0).putLong(round).clear();
    }

    private static ByteBuffer question(int nonce) {
        return RecoveryWire.encode(new LleQuery(nonce, 3, false));
    }

    /** As ZooKeeper's sending thread does. */
    private ByteBuffer send() throws InterruptedException {
        ByteBuffer message = queue.poll(0, TimeUnit.NANOSECONDS);
        if (message != null) {
            lastSent.put(TO, message);
        }
        return message;
    }

    @Test
    void aRecoveryMessageReplacesNoVoteAndAVoteNoRecoveryMessage() throws InterruptedException {
        queue.offer(vote(1));
        queue.offer(question(1));
        assertThat(send()).isEqualTo(vote(1));
        assertThat(send()).isEqualTo(question(1));
        queue.offer(question(2));
        queue.offer(vote(2));
        assertThat(send()).isEqualTo(question(2));
        assertThat(send()).isEqualTo(vote(2));
        assertThat(send()).isNull();
    }

    @Test
    void onlyTheLatestOfEachKindWaits() throws InterruptedException {
        for (int i = 0; i < 10; i++) {
            queue.offer(vote(i));
            queue.offer(question(i));
        }
        assertThat(queue).hasSize(2);
        assertThat(send()).isEqualTo(vote(9));
        assertThat(send()).isEqualTo(question(9));
    }

    @Test
    void aNewConnectionRepeatsTheLastVoteUnlessAVoteWaits() throws InterruptedException {
        queue.offer(vote(1));
        send();
        queue.offer(question(1));
        send();
        queue.offer(question(2));
        // What a new connection asks, and what it then sends.
        assertThat(queue.isEmpty()).isTrue();
        assertThat(lastSent.get(TO)).isEqualTo(vote(1));
        queue.offer(vote(2));
        assertThat(queue.isEmpty()).isFalse();
    }

    @Test
    void whereNoVoteWasSentANewConnectionRepeatsNothing() throws InterruptedException {
        queue.offer(question(1));
        send();
        assertThat(queue.isEmpty()).isTrue();
        assertThat(lastSent).isEmpty();
    }

    @Test
    void aQueueOfZooKeepersIsReplacedWithWhatWaitsInItAndWhatWasSentLast() throws Exception {
        lastSent.put(TO, vote(1));
        CircularBlockingQueue<ByteBuffer> replaced = new CircularBlockingQueue<>(1);
        replaced.offer(vote(2));
        LatestPerKindQueue other = new LatestPerKindQueue(TO, lastSent, replaced);
        other.offer(question(1));
        assertThat(other.isEmpty()).isFalse();
        assertThat(lastSent.get(TO)).isEqualTo(vote(1));
        assertThat(other.poll(0, TimeUnit.NANOSECONDS)).isEqualTo(vote(2));
        assertThat(other.poll(0, TimeUnit.NANOSECONDS)).isEqualTo(question(1));
        assertThat(other.isEmpty()).isTrue();
        assertThat(lastSent.get(TO)).isEqualTo(vote(2));
    }

    @Test
    void aRecoveryMessageCountsUntilTheNextMessageIsAskedFor() throws InterruptedException {
        queue.offer(vote(1));
        assertThat(queue.hasRecoveryMessage()).isFalse();
        queue.offer(question(1));
        assertThat(queue.hasRecoveryMessage()).isTrue();
        send();
        send();
        assertThat(queue.hasRecoveryMessage()).isTrue();
        assertThat(queue.stuckFor(0)).isSameAs(Thread.currentThread());
        assertThat(queue.stuckFor(TimeUnit.HOURS.toNanos(1))).isNull();
        assertThat(send()).isNull();
        assertThat(queue.hasRecoveryMessage()).isFalse();
        assertThat(queue.stuckFor(0)).isNull();
    }
}
