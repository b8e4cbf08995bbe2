package io.saucr.services.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.Query;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What is refused before a service starts, as it can not be replayed. */
class CodeScanTest {

    record Ask(long number) {}

    record Look(long number) implements Query<Ask> {}

    /** A service with one handler. */
    abstract static class Serves implements LaneService {

        @Override
        public void handlers(LaneHandlers on) {
            on.message(Ask.class, (ask, turn) -> new Ask(handle(ask.number())));
        }

        abstract long handle(long number) throws Exception;
    }

    private static List<String> found(Class<?> service) {
        return CodeScan.findings(service).stream().map(CodeScan.Finding::toString).toList();
    }

    private static void finds(Class<?> service, String... words) {
        assertThat(found(service)).singleElement().asString().contains(words);
    }

    static final class Clock extends Serves {
        @Override
        long handle(long number) {
            return Helper.later(number);
        }
    }

    static final class Helper {
        private Helper() {}

        static long later(long number) {
            return System.nanoTime() + number;
        }
    }

    @Test
    void aClockIsFoundWithClassMethodAndLine() {
        finds(Clock.class, "CodeScanTest$Helper.later, line ", ", calls System.nanoTime(): take");
        assertThat(found(Clock.class).get(0)).matches(".*, line [1-9][0-9]*, calls.*");
        assertThatThrownBy(() -> CodeScan.check(Clock.class))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(Clock.class.getName() + " does what another member")
                .hasMessageContaining("turn.nowMillis()")
                .hasMessageContaining("withoutScan()");
    }

    static final class Reference extends Serves {
        @Override
        long handle(long number) {
            return Stream.generate(Instant::now).limit(number).count();
        }
    }

    @Test
    void aReferenceToAMethodIsACall() {
        finds(Reference.class, "calls Instant.now()");
    }

    static final class Chance extends Serves {
        @Override
        long handle(long number) {
            return new Random(number).nextLong() + new Random().nextLong();
        }
    }

    @Test
    void randomNumbersWithoutASeedAreFound() {
        finds(Chance.class, "makes a Random: take turn.random()");
    }

    static final class Threads extends Serves {
        @Override
        long handle(long number) throws Exception {
            return CompletableFuture.supplyAsync(() -> number).get();
        }
    }

    @Test
    void otherThreadsAreFound() {
        finds(Threads.class, "calls CompletableFuture.supplyAsync(): work of another thread");
    }

    static final class Blocks extends Serves {
        @Override
        synchronized long handle(long number) {
            synchronized (Blocks.class) {
                return number;
            }
        }
    }

    @Test
    void whatIsSynchronizedIsFound() {
        assertThat(found(Blocks.class)).hasSize(2).allMatch(it -> it.contains("is synchronized"));
    }

    static final class OwnLock extends Serves {
        private final Lock lock = new ReentrantLock();

        @Override
        long handle(long number) {
            lock.lock();
            try {
                return number;
            } finally {
                lock.unlock();
            }
        }
    }

    @Test
    void locksThatAreNotRecordedAreFound() {
        finds(OwnLock.class, "makes a ReentrantLock, which is not recorded: take LaneState.lock");
    }

    static final class Disk extends Serves {
        @Override
        long handle(long number) throws Exception {
            return Files.size(Path.of("x")) + number;
        }
    }

    @Test
    void filesAreFound() {
        finds(Disk.class, "calls Files.size(): what is outside of the service differs by member");
    }

    static final class Fields extends Serves {
        private final Map<String, Long> passed;
        private final HashMap<String, Long> cache = new HashMap<>();
        private final long[] counts = new long[1];
        private final AtomicLong next = new AtomicLong();
        private long newest;

        Fields() {
            passed = Map.of();
        }

        @Override
        long handle(long number) {
            newest = number;
            return cache.size() + passed.size() + counts[0] + next.get() + newest;
        }
    }

    @Test
    void stateThatLanesShareIsFound() {
        assertThat(found(Fields.class))
                .anyMatch(it -> it.contains("Fields.cache is of type HashMap, which lanes share"))
                .anyMatch(it -> it.contains("Fields.counts is an array, which lanes share"))
                .anyMatch(it -> it.contains("Fields.next is of type AtomicLong, which lanes share"))
                .anyMatch(it -> it.contains("Fields.newest is not final, which lanes share"))
                .noneMatch(it -> it.contains("passed"));
    }

    static final class Statics extends Serves {
        static long newest;
        static final int[] TABLE = {1, 2};
        static final String CONSTANT = Integer.toString(3);

        @Override
        long handle(long number) {
            newest = number;
            return (long) TABLE[0] + CONSTANT.length();
        }
    }

    @Test
    void mutableStaticsAreFound() {
        assertThat(found(Statics.class))
                .hasSize(2)
                .anyMatch(it -> it.contains("uses the static newest, which is not final"))
                .anyMatch(it -> it.contains("uses the static TABLE, which is an array"));
    }

    static final class Started {
        static final long AT = System.currentTimeMillis();

        private Started() {}
    }

    static final class Initializes extends Serves {
        @Override
        long handle(long number) {
            return number + Started.AT;
        }
    }

    @Test
    void aStaticThatDiffersByMemberIsFound() {
        finds(Initializes.class, "Started.<clinit>, line ", "calls System.currentTimeMillis()");
    }

    static final class Hidden implements LongSupplier {
        @Override
        public long getAsLong() {
            return System.nanoTime();
        }
    }

    static final class ByInterface extends Serves {
        private final LongSupplier supplier = new Hidden();

        @Override
        long handle(long number) {
            return supplier.getAsLong();
        }
    }

    @Test
    void whatIsCalledByAnInterfaceIsFoundWhereItIsMade() {
        finds(ByInterface.class, "CodeScanTest$Hidden.getAsLong", "calls System.nanoTime()");
    }

    static final class Queries implements LaneService {
        @Override
        public void handlers(LaneHandlers on) {
            on.message(Ask.class, (ask, turn) -> ask);
            on.query(Look.class, look -> new Ask(System.nanoTime()));
        }
    }

    static final class QueriesAndMessages implements LaneService {
        @Override
        public void handlers(LaneHandlers on) {
            on.query(Look.class, look -> new Ask(now()));
            on.message(Ask.class, (ask, turn) -> new Ask(now()));
        }

        private static long now() {
            return System.nanoTime();
        }
    }

    @Test
    void aQueryMayDoWhatAMessageMayNot() {
        assertThat(found(Queries.class)).isEmpty();
        finds(QueriesAndMessages.class, "QueriesAndMessages.now", "calls System.nanoTime()");
    }

    enum Colour {
        RED,
        BLUE
    }

    static final class Fine extends Serves {
        private static final Logger LOG = LoggerFactory.getLogger(Fine.class);

        private final LaneMap<String, Long> counts;
        private final List<Lock> locks;

        Fine(LaneState state) {
            counts = state.map("counts", String.class, Long.class);
            locks = state.locks("lock", 3);
        }

        @Override
        long handle(long number) throws Exception {
            LOG.debug("number {}", number);
            Map<String, Long> local = new HashMap<>();
            local.put("a", number);
            Colour colour = Colour.values()[(int) (number % 2)];
            Lock lock = locks.get(0);
            lock.lock();
            try {
                Thread.sleep(0);
                return switch (colour) {
                    case RED -> counts.merge("red " + local, number, Long::sum);
                    case BLUE -> new Cursor().next();
                };
            } finally {
                lock.unlock();
            }
        }
    }

    /** Of one handler alone. */
    static final class Cursor {
        private int at;

        int next() {
            return at++;
        }
    }

    @Test
    void whatCanBeReplayedIsNotFound() {
        assertThat(found(Fine.class)).isEmpty();
        assertThatCode(() -> CodeScan.check(Fine.class)).doesNotThrowAnyException();
    }

    @Test
    void aServiceWithoutAClassFileIsNotLookedAt() {
        LaneService lambda = on -> on.message(Ask.class, (ask, turn) -> new Ask(System.nanoTime()));
        assertThat(found(lambda.getClass())).isEmpty();
    }
}
