package io.saucr.services.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.journal.Disk;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A folder under the threads that a service has: one appends, one forces, one writes bases. */
class MemberThreadsTest {

    private static final int SEGMENTS = 400;
    private static final SecureRandom NAMES = new SecureRandom();

    @TempDir private Path path;

    private final Chain chain = new Chain();

    /** The local disk, whose writes of files hang while a latch is closed. */
    private static Disk hanging(AtomicReference<CountDownLatch> latch, CountDownLatch hangs) {
        return proxy(
                Disk.class,
                Disk.local(),
                (call, result) ->
                        call.getName().equals("open")
                                ? proxy(
                                        Disk.File.class,
                                        (Disk.File) result.get(),
                                        (write, written) -> {
                                            CountDownLatch closed = latch.get();
                                            if (write.getName().equals("write") && closed != null) {
                                                hangs.countDown();
                                                closed.await();
                                            }
                                            return written.get();
                                        })
                                : result.get());
    }

    private interface Intercepting {
        Object call(Method method, Result result) throws Throwable;
    }

    private interface Result {
        Object get() throws Throwable;
    }

    private static <T> T proxy(Class<T> type, T of, Intercepting by) {
        return type.cast(
                Proxy.newProxyInstance(
                        type.getClassLoader(),
                        new Class<?>[] {type},
                        (proxy, method, arguments) ->
                                by.call(
                                        method,
                                        () -> {
                                            try {
                                                return method.invoke(of, arguments);
                                            } catch (InvocationTargetException e) {
                                                throw e.getCause();
                                            }
                                        })));
    }

    /**
     * R24: turns that others' copies make final would wait for this disk, and nobody would know.
     */
    @Test
    void whoOnlyAsksDoesNotWaitForAWriteThatHangs() throws Exception {
        AtomicReference<CountDownLatch> latch = new AtomicReference<>();
        CountDownLatch hangs = new CountDownLatch(1);
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try (MemberFolder folder =
                MemberFolder.open(hanging(latch, hangs), path, Chain.SERVICE, NAMES)) {
            folder.birth(Chain.BIRTH);
            folder.append(chain.next(200, 0));
            CountDownLatch closed = new CountDownLatch(1);
            latch.set(closed);
            Segment second = chain.next(200, 0);
            Future<?> appends = threads.submit(() -> folder.append(second));
            hangs.await();
            Future<Long> asks =
                    threads.submit(
                            () ->
                                    folder.bytesAboveBase()
                                            + folder.oldest()
                                            + folder.at(1).orElseThrow().number());
            assertThat(asks.get(60, TimeUnit.SECONDS)).isPositive();
            assertThat(folder.last()).isEqualTo(chain.id(1));
            latch.set(null);
            closed.countDown();
            appends.get(60, TimeUnit.SECONDS);
            assertThat(folder.last()).isEqualTo(second.id());
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void appendsForcesBasesAndReadsAtTheSameTime() throws Exception {
        List<Segment> segments = new ArrayList<>();
        for (int count = 0; count < SEGMENTS; count++) {
            segments.add(chain.next(200, 0));
        }
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try (MemberFolder folder = open()) {
            folder.birth(Chain.BIRTH);
            List<Future<?>> tasks = new ArrayList<>();
            tasks.add(
                    threads.submit(
                            () -> {
                                segments.forEach(folder::append);
                                return null;
                            }));
            tasks.add(threads.submit(untilAll(folder, folder::force)));
            tasks.add(threads.submit(untilAll(folder, () -> base(folder))));
            tasks.add(threads.submit(untilAll(folder, () -> read(folder))));
            for (Future<?> task : tasks) {
                task.get(60, TimeUnit.SECONDS);
            }
            folder.force();
        } finally {
            threads.shutdownNow();
            assertThat(threads.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
        }
        try (MemberFolder folder = open()) {
            assertThat(folder.last()).isEqualTo(chain.id(SEGMENTS));
            assertThat(folder.newestBase().number()).isPositive();
            assertThat(folder.damages()).isEmpty();
            List<Long> read = new ArrayList<>();
            Restored restored = folder.restore(chain.id(SEGMENTS));
            restored.segments(segment -> read.add(segment.id().number()));
            assertThat(restored.base().number() + read.size()).isEqualTo(SEGMENTS);
        }
    }

    private MemberFolder open() throws IOException {
        return MemberFolder.open(Disk.local(), path, Chain.SERVICE, NAMES, 10_000);
    }

    private interface Step {
        void take() throws IOException;
    }

    private static Callable<Void> untilAll(MemberFolder folder, Step step) {
        return () -> {
            while (folder.last().number() < SEGMENTS) {
                step.take();
            }
            return null;
        };
    }

    private void base(MemberFolder folder) throws IOException {
        long number = folder.last().number();
        if (number > folder.newestBase().number()) {
            folder.base(
                    chain.id(number),
                    chain.epochs(),
                    writer -> writer.section("state").write(new byte[100]));
        }
    }

    private void read(MemberFolder folder) throws IOException {
        long oldest = folder.oldest();
        try {
            if (oldest <= folder.last().number()) {
                assertThat(folder.read(oldest).id()).isEqualTo(chain.id(oldest));
            }
        } catch (MissingSegmentException e) {
            // A base let it go meanwhile.
            assertThat(folder.oldest()).isGreaterThan(oldest);
        }
    }
}
