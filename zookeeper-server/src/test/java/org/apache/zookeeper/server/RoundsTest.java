package org.apache.zookeeper.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.server.Boot;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RoundsTest {

    /** Rounds belong to threads and have no end: each test has a thread of its own. */
    private static <T> T inNewThread(Callable<T> test) throws Exception {
        FutureTask<T> task = new FutureTask<>(test);
        new Thread(task).start();
        return task.get();
    }

    @Test
    void aThreadThatHasNotBegunHasNoRounds() throws Exception {
        List<String> done = new ArrayList<>();
        boolean putOff =
                inNewThread(
                        () -> {
                            boolean taken = Rounds.putOff(() -> done.add("work"));
                            Rounds.end();
                            return taken || Rounds.isRunning(Thread.currentThread());
                        });
        assertThat(putOff).isFalse();
        assertThat(done).isEmpty();
    }

    @Test
    void workIsDoneOnceAtTheEndOfEachRoundInTheOrderOfItsFirstMention() throws Exception {
        List<String> done = new ArrayList<>();
        Runnable first = () -> done.add("first");
        Runnable second = () -> done.add("second");
        inNewThread(
                () -> {
                    Rounds.begin();
                    assertThat(Rounds.putOff(first)).isTrue();
                    Rounds.begin();
                    assertThat(Rounds.putOff(second)).isTrue();
                    assertThat(Rounds.putOff(first)).isTrue();
                    assertThat(done).isEmpty();
                    Rounds.end();
                    assertThat(done).containsExactly("first", "second");
                    Rounds.end();
                    assertThat(done).hasSize(2);
                    Rounds.putOff(second);
                    Rounds.end();
                    return assertThat(done).containsExactly("first", "second", "second");
                });
    }

    @Test
    void workThatIsPutOffAtTheEndOfARoundIsDoneEvenIfItWasBefore() throws Exception {
        List<String> done = new ArrayList<>();
        Runnable flush = () -> done.add("flush");
        inNewThread(
                () -> {
                    Rounds.begin();
                    Rounds.putOff(flush);
                    Rounds.putOff(
                            () -> {
                                done.add("write");
                                Rounds.putOff(flush);
                            });
                    Rounds.end();
                    return assertThat(done).containsExactly("flush", "write", "flush");
                });
    }

    @Test
    void workThatThrowsIsNotDoneAgainAndDoesNotKeepOtherWorkFromBeingDone() throws Exception {
        AtomicInteger thrown = new AtomicInteger();
        List<String> done = new ArrayList<>();
        inNewThread(
                () -> {
                    Rounds.begin();
                    Rounds.putOff(
                            () -> {
                                thrown.incrementAndGet();
                                throw new IllegalStateException("broken");
                            });
                    Rounds.putOff(() -> done.add("work"));
                    assertThatThrownBy(Rounds::end).hasMessage("broken");
                    Rounds.end();
                    assertThat(thrown).hasValue(1);
                    return assertThat(done).containsExactly("work");
                });
    }

    @Test
    void onlyTheThreadItselfIsRunning() throws Exception {
        Thread other = new Thread(() -> {});
        inNewThread(
                () -> {
                    Rounds.begin();
                    assertThat(Boot.selectsAnyway(other)).isFalse();
                    return assertThat(Boot.selectsAnyway(Thread.currentThread())).isTrue();
                });
    }

    @Test
    void aSelectingThreadThatHasSomethingInItsQueueDoesNotWait() throws Exception {
        Queue<SelectionKey> updates = new ArrayDeque<>();
        try (Selector selector = Selector.open();
                Selector of = Selector.open();
                SocketChannel channel = SocketChannel.open()) {
            channel.configureBlocking(false);
            updates.add(channel.register(of, SelectionKey.OP_READ));
            Boot.roundEnds(selector, updates);
            // For ever, if nothing has woken it.
            assertThat(selector.select()).isZero();
        }
    }
}
