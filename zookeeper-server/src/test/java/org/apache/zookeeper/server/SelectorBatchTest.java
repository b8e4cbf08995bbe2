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
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SelectorBatchTest {

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
                            boolean taken = SelectorBatch.putOff(() -> done.add("work"));
                            SelectorBatch.end();
                            return taken || SelectorBatch.isRunning(Thread.currentThread());
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
                    SelectorBatch.begin();
                    assertThat(SelectorBatch.putOff(first)).isTrue();
                    SelectorBatch.begin();
                    assertThat(SelectorBatch.putOff(second)).isTrue();
                    assertThat(SelectorBatch.putOff(first)).isTrue();
                    assertThat(done).isEmpty();
                    SelectorBatch.end();
                    assertThat(done).containsExactly("first", "second");
                    SelectorBatch.end();
                    assertThat(done).hasSize(2);
                    SelectorBatch.putOff(second);
                    SelectorBatch.end();
                    return assertThat(done).containsExactly("first", "second", "second");
                });
    }

    @Test
    void workThatIsPutOffAtTheEndOfARoundIsDoneEvenIfItWasBefore() throws Exception {
        List<String> done = new ArrayList<>();
        Runnable flush = () -> done.add("flush");
        inNewThread(
                () -> {
                    SelectorBatch.begin();
                    SelectorBatch.putOff(flush);
                    SelectorBatch.putOff(
                            () -> {
                                done.add("write");
                                SelectorBatch.putOff(flush);
                            });
                    SelectorBatch.end();
                    return assertThat(done).containsExactly("flush", "write", "flush");
                });
    }

    @Test
    void workThatThrowsIsNotDoneAgainAndDoesNotKeepOtherWorkFromBeingDone() throws Exception {
        AtomicInteger thrown = new AtomicInteger();
        List<String> done = new ArrayList<>();
        inNewThread(
                () -> {
                    SelectorBatch.begin();
                    SelectorBatch.putOff(
                            () -> {
                                thrown.incrementAndGet();
                                throw new IllegalStateException("broken");
                            });
                    SelectorBatch.putOff(() -> done.add("work"));
                    assertThatThrownBy(SelectorBatch::end).hasMessage("broken");
                    SelectorBatch.end();
                    assertThat(thrown).hasValue(1);
                    return assertThat(done).containsExactly("work");
                });
    }

    @Test
    void anEventLoopEndsEachRoundOnceAfterWhatItHasRead() throws Exception {
        List<String> done = new ArrayList<>();
        Queue<Runnable> loop = new ArrayDeque<>();
        Runnable flush = () -> done.add("flush");
        inNewThread(
                () -> {
                    SelectorBatch.begin(loop::add);
                    SelectorBatch.putOff(flush);
                    SelectorBatch.putOff(
                            () -> {
                                done.add("write");
                                SelectorBatch.putOff(flush);
                            });
                    assertThat(done).isEmpty();
                    assertThat(loop).hasSize(1);
                    loop.remove().run();
                    assertThat(done).containsExactly("flush", "write", "flush");
                    assertThat(loop).isEmpty();
                    // The next round.
                    SelectorBatch.putOff(flush);
                    loop.remove().run();
                    return assertThat(done).hasSize(4);
                });
    }

    @Test
    void anEventLoopDoesTheRestAfterWorkThatThrows() throws Exception {
        List<String> done = new ArrayList<>();
        Queue<Runnable> loop = new ArrayDeque<>();
        inNewThread(
                () -> {
                    SelectorBatch.begin(loop::add);
                    SelectorBatch.putOff(
                            () -> {
                                throw new IllegalStateException("broken");
                            });
                    SelectorBatch.putOff(() -> done.add("work"));
                    assertThatThrownBy(() -> loop.remove().run()).hasMessage("broken");
                    loop.remove().run();
                    assertThat(loop).isEmpty();
                    return assertThat(done).containsExactly("work");
                });
    }

    @Test
    void anEventLoopThatShutsDownPutsNothingOff() throws Exception {
        boolean putOff =
                inNewThread(
                        () -> {
                            SelectorBatch.begin(
                                    work -> {
                                        throw new RejectedExecutionException();
                                    });
                            return SelectorBatch.putOff(() -> {});
                        });
        assertThat(putOff).isFalse();
    }

    @Test
    void onlyTheThreadItselfIsRunning() throws Exception {
        Thread other = new Thread(() -> {});
        inNewThread(
                () -> {
                    SelectorBatch.begin();
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
