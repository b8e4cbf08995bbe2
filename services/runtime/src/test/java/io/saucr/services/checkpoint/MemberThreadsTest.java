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

    /** The local disk, of which one kind of call hangs while a latch is closed. */
    private static Disk hanging(
            String which, AtomicReference<CountDownLatch> latch, CountDownLatch hangs) {
        Intercepting hanging =
                (call, result) -> {
                    CountDownLatch closed = latch.get();
                    if (call.getName().equals(which) && closed != null) {
                        hangs.countDown();
                        closed.await();
                    }
                    return result.get();
                };
        return proxy(
                Disk.class,
                Disk.local(),
                (call, result) ->
                        call.getName().equals("open")
                                ? proxy(Disk.File.class, (Disk.File) result.get(), hanging)
                                : hanging.call(call, result));
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
                MemberFolder.open(hanging("write", latch, hangs), path, Chain.SERVICE, NAMES)) {
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

    /** A file of a gigabyte takes its time: nothing else waits for it. */
    @Test
    void nobodyWaitsForAFileThatIsDeleted() throws Exception {
        AtomicReference<CountDownLatch> latch = new AtomicReference<>();
        CountDownLatch hangs = new CountDownLatch(1);
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try (MemberFolder folder =
                MemberFolder.open(
                        hanging("delete", latch, hangs), path, Chain.SERVICE, NAMES, 300)) {
            folder.birth(Chain.BIRTH);
            for (int i = 0; i < 4; i++) {
                folder.append(chain.next(200, 0));
            }
            base(folder, 1);
            base(folder, 2);
            CountDownLatch closed = new CountDownLatch(1);
            latch.set(closed);
            Future<?> folds =
                    threads.submit(
                            () -> {
                                base(folder, 3);
                                return null;
                            });
            hangs.await();
            Segment fifth = chain.next(200, 0);
            Future<Long> goesOn =
                    threads.submit(
                            () -> {
                                folder.append(fifth);
                                folder.force();
                                return folder.read(fifth.id()).id().number()
                                        + folder.newestBase().number()
                                        + folder.oldest();
                            });
            assertThat(goesOn.get(60, TimeUnit.SECONDS)).isEqualTo(5 + 3 + 3);
            assertThat(path.resolve("bases").resolve("0000000000000000001.snap")).exists();
            latch.set(null);
            closed.countDown();
            folds.get(60, TimeUnit.SECONDS);
            assertThat(path.resolve("bases").resolve("0000000000000000001.snap")).doesNotExist();
            assertThat(path.resolve("segments").resolve("0000000000000000001.log")).doesNotExist();
        } finally {
            threads.shutdownNow();
        }
    }

    /** Turns ask how much is above the base each time that some of them are final. */
    @Test
    void turnsDoNotWaitForASegmentThatIsRead() throws Exception {
        AtomicReference<CountDownLatch> latch = new AtomicReference<>();
        CountDownLatch hangs = new CountDownLatch(1);
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try (MemberFolder folder =
                MemberFolder.open(hanging("read", latch, hangs), path, Chain.SERVICE, NAMES)) {
            folder.birth(Chain.BIRTH);
            Segment first = chain.next(200, 0);
            folder.append(first);
            CountDownLatch closed = new CountDownLatch(1);
            latch.set(closed);
            Future<Segment> reads = threads.submit(() -> folder.read(1));
            hangs.await();
            Future<Long> asks = threads.submit(folder::bytesAboveBase);
            assertThat(asks.get(60, TimeUnit.SECONDS)).isEqualTo(first.bytes());
            latch.set(null);
            closed.countDown();
            assertThat(reads.get(60, TimeUnit.SECONDS).id()).isEqualTo(first.id());
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
            base(folder, number);
        }
    }

    private void base(MemberFolder folder, long number) throws IOException {
        folder.base(
                chain.id(number),
                chain.epochs(),
                writer -> writer.section("state").write(new byte[100]));
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
