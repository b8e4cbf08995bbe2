package io.saucr.services.replay;

import static io.saucr.services.once.PatientWaits.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.core.replay.DivergedException;
import io.saucr.services.replay.ReplayedLanes.Reply;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Locks, conditions and maps of handlers, one scenario each. */
@Timeout(60)
@SuppressWarnings({"LockNotBeforeTry", "WaitNotInLoop"}) // That is what it tries.
class LaneLockTest {

    /** What one request does. */
    private interface Does {
        String with(Locks locks, LaneTurn turn) throws InterruptedException;
    }

    /** What handlers share. */
    private static final class Locks {
        final Lock a;
        final Lock b;
        final Condition condition;
        final ReadWriteLock readWrite;
        final LaneMap<String, String> map;
        boolean flag;

        Locks(LaneState state) {
            a = state.lock("a");
            b = state.lock("b");
            condition = a.newCondition();
            readWrite = state.readWriteLock("read-write");
            map = state.map("map", String.class, String.class, 2);
        }
    }

    private final Map<String, Does> program = new HashMap<>();
    private final List<byte[]> log = new ArrayList<>();
    private final List<LaneMember> members = new ArrayList<>();
    private final AtomicInteger entered = new AtomicInteger();
    private Locks locks;

    @SuppressWarnings("UnnecessaryLambda")
    private Function<LaneState, LaneHandler> constructor() {
        return state -> {
            Locks of = new Locks(state);
            locks = of;
            return (body, turn) -> {
                try {
                    return program.get(new String(body, UTF_8)).with(of, turn).getBytes(UTF_8);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            };
        };
    }

    private LaneMember member(String name) {
        LaneMember member = new LaneMember(name, 2, constructor(), 1);
        members.add(member);
        return member;
    }

    private LaneMember primary() throws Exception {
        LaneMember primary = member("primary " + members.size());
        primary.takeOver(log, 2);
        primary.cut(log);
        return primary;
    }

    private static CompletableFuture<Reply> ask(LaneMember of, long sender, String request) {
        return of.lanes.ask(sender, 1, request.getBytes(UTF_8));
    }

    /** Cuts until there is a reply. */
    private Reply reply(LaneMember of, CompletableFuture<Reply> to) throws Exception {
        await().pollInterval(1, TimeUnit.MILLISECONDS)
                .until(
                        () -> {
                            boolean unused = of.cut(log);
                            return to.isDone();
                        });
        return to.get();
    }

    private static String text(Reply reply) {
        return reply.threw() ? "threw" : new String(reply.bytes(), UTF_8);
    }

    /** A follower that replays everything, and has what the primary has. */
    private void agrees(LaneMember primary) throws Exception {
        while (primary.cut(log)) {
            Thread.onSpinWait();
        }
        LaneMember follower = member("follower");
        follower.follow(log);
        follower.lanes.awaitReplayed(log.size());
        assertThat(follower.failures).isEmpty();
        assertThat(follower.lanes.content()).isEqualTo(primary.lanes.content());
    }

    @AfterEach
    void close() throws Exception {
        for (LaneMember each : members) {
            each.close();
        }
    }

    @Test
    void aLockThatIsNotHeldIsNotReleased() throws Exception {
        program.put(
                "unlock",
                (of, turn) -> {
                    of.a.unlock();
                    return "";
                });
        LaneMember primary = primary();
        assertThat(reply(primary, ask(primary, 1, "unlock")).threw()).isTrue();
        agrees(primary);
    }

    @Test
    void x12LocksOfAHandlerThatEndsAreReleasedAndItsChangesStay() throws Exception {
        program.put(
                "keeps",
                (of, turn) -> {
                    of.a.lock();
                    of.a.lock();
                    of.readWrite.readLock().lock();
                    of.map.put("key", "kept");
                    return "";
                });
        program.put(
                "takes",
                (of, turn) -> {
                    of.readWrite.writeLock().lock();
                    of.readWrite.writeLock().unlock();
                    return of.a.tryLock() + of.map.get("key");
                });
        LaneMember primary = primary();
        assertThat(reply(primary, ask(primary, 1, "keeps")).threw()).isTrue();
        // It returned with a lock, too.
        program.put(
                "gets",
                (of, turn) -> {
                    of.a.lock();
                    of.a.unlock();
                    return of.map.get("key");
                });
        assertThat(text(reply(primary, ask(primary, 2, "gets")))).isEqualTo("kept");
        assertThat(text(reply(primary, ask(primary, 3, "takes")))).isEqualTo("threw");
        agrees(primary);
    }

    @Test
    void aReadWriteLockIsNotUpgraded() throws Exception {
        program.put(
                "upgrades",
                (of, turn) -> {
                    of.readWrite.readLock().lock();
                    of.readWrite.writeLock().lock();
                    return "";
                });
        LaneMember primary = primary();
        assertThat(reply(primary, ask(primary, 1, "upgrades")).threw()).isTrue();
        agrees(primary);
    }

    @Test
    void x11TheYoungestOfACircleIsKilled() throws Exception {
        CountDownLatch both = new CountDownLatch(2);
        program.put("ab", (of, turn) -> bothOf(of.a, of.b, both));
        program.put("ba", (of, turn) -> bothOf(of.b, of.a, both));
        LaneMember primary = primary();
        CompletableFuture<Reply> older = ask(primary, 1, "ab");
        CompletableFuture<Reply> younger = ask(primary, 2, "ba");
        assertThat(text(reply(primary, older))).isEqualTo("both");
        assertThat(text(reply(primary, younger))).isEqualTo("threw");
        agrees(primary);
    }

    private static String bothOf(Lock one, Lock other, CountDownLatch both)
            throws InterruptedException {
        one.lock();
        try {
            // Not recorded: it is open in a replay.
            both.countDown();
            both.await();
            other.lock();
            other.unlock();
            return "both";
        } finally {
            one.unlock();
        }
    }

    @Test
    void x7AFailedAttemptIsReplayedWithoutTouchingTheLock() throws Exception {
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch tried = new CountDownLatch(1);
        program.put(
                "holds",
                (of, turn) -> {
                    of.a.lock();
                    held.countDown();
                    tried.await();
                    of.a.unlock();
                    return "";
                });
        program.put(
                "tries",
                (of, turn) -> {
                    held.await();
                    boolean got = of.a.tryLock() || of.a.tryLock(1, TimeUnit.MILLISECONDS);
                    tried.countDown();
                    return "" + got;
                });
        LaneMember primary = primary();
        CompletableFuture<Reply> holds = ask(primary, 1, "holds");
        assertThat(text(reply(primary, ask(primary, 2, "tries")))).isEqualTo("false");
        assertThat(text(reply(primary, holds))).isEmpty();
        agrees(primary);
    }

    private void waitsAndSignals() {
        program.put(
                "waits",
                (of, turn) -> {
                    of.a.lock();
                    try {
                        entered.incrementAndGet();
                        while (!of.flag) {
                            of.condition.await();
                        }
                        return "woken";
                    } finally {
                        of.a.unlock();
                    }
                });
        program.put(
                "signals",
                (of, turn) -> {
                    of.a.lock();
                    try {
                        of.flag = true;
                        of.condition.signal();
                        return "";
                    } finally {
                        of.a.unlock();
                    }
                });
    }

    @Test
    void aConditionIsAwaitedAndSignalled() throws Exception {
        waitsAndSignals();
        LaneMember primary = primary();
        CompletableFuture<Reply> waits = ask(primary, 1, "waits");
        reply(primary, ask(primary, 2, "signals"));
        assertThat(text(reply(primary, waits))).isEqualTo("woken");
        agrees(primary);
    }

    /**
     * The signal was given. The wake-up may be lost with the primary, the answer is for certain.
     */
    @Test
    void x9ALaneThatAwaitsWakesAfterATakeover() throws Exception {
        waitsAndSignals();
        CountDownLatch dies = new CountDownLatch(1);
        Does waiting = program.get("waits");
        program.put(
                "waits",
                (of, turn) -> {
                    String woken = waiting.with(of, turn);
                    dies.await();
                    return woken;
                });
        LaneMember primary = primary();
        CompletableFuture<Reply> lost = ask(primary, 1, "waits");
        await().until(
                        () -> {
                            boolean unused = primary.cut(log);
                            return entered.get() == 1;
                        });
        reply(primary, ask(primary, 2, "signals"));
        primary.kill();
        dies.countDown();
        assertThat(lost).isCompletedExceptionally();
        LaneMember second = primary();
        assertThat(text(reply(second, ask(second, 1, "waits")))).isEqualTo("woken");
        assertThat(entered.get()).as("on both members once").isEqualTo(2);
        agrees(second);
    }

    @Test
    void x9AHolderHoldsItsLockAfterATakeover() throws Exception {
        CountDownLatch locked = new CountDownLatch(1);
        CountDownLatch dies = new CountDownLatch(1);
        program.put(
                "holds",
                (of, turn) -> {
                    of.a.lock();
                    entered.incrementAndGet();
                    locked.countDown();
                    dies.await();
                    of.map.put("key", "value");
                    of.a.unlock();
                    return "held";
                });
        program.put("tries", (of, turn) -> "" + of.a.tryLock());
        LaneMember primary = primary();
        Object unusedAnswer = ask(primary, 1, "holds");
        await().until(
                        () -> {
                            boolean unused = primary.cut(log);
                            return locked.getCount() == 0;
                        });
        while (primary.cut(log)) {
            Thread.onSpinWait();
        }
        primary.kill();
        LaneMember second = member("second");
        second.takeOver(log, 2);
        assertThat(entered.get()).as("it stands inside of lock()").isEqualTo(1);
        second.cut(log);
        assertThat(text(reply(second, ask(second, 2, "tries")))).isEqualTo("false");
        dies.countDown();
        assertThat(text(reply(second, ask(second, 1, "holds")))).isEqualTo("held");
        agrees(second);
    }

    @Test
    void x11ARequestWithoutAttemptsIsKilledAndRunsNoCode() throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        program.put(
                "poison",
                (of, turn) -> {
                    of.a.lock();
                    entered.incrementAndGet();
                    never.await();
                    return "";
                });
        LaneMember one = primary();
        Object unusedAnswer = ask(one, 1, "poison");
        await().until(
                        () -> {
                            boolean unused = one.cut(log);
                            return entered.get() == 1;
                        });
        while (one.cut(log)) {
            Thread.onSpinWait();
        }
        one.kill();
        LaneMember two = primary();
        await().until(() -> entered.get() == 2);
        two.kill();
        LaneMember three = primary();
        assertThat(reply(three, ask(three, 1, "poison")).threw()).isTrue();
        assertThat(entered.get()).as("two attempts").isEqualTo(2);
        never.countDown();
        agrees(three);
        assertThat(entered.get()).isEqualTo(2);
    }

    @Test
    void x14AHandlerThatDiffersIsFound() throws Exception {
        program.put("differs", (of, turn) -> "" + entered.incrementAndGet() + of.map.get("key"));
        LaneMember primary = primary();
        reply(primary, ask(primary, 1, "differs"));
        LaneMember follower = member("follower");
        follower.follow(log);
        await().until(() -> !follower.failures.isEmpty());
        assertThat(follower.failures.get(0))
                .isInstanceOf(DivergedException.class)
                .hasMessageContaining("request 1 in lane 1");
        assertThatThrownBy(() -> follower.lanes.awaitReplayed(log.size()))
                .hasMessageContaining("request 1");
    }

    @Test
    void x15AQueryReadsAndLocksWithoutEvents() throws Exception {
        program.put(
                "puts",
                (of, turn) -> {
                    of.map.put("key", "value");
                    return "";
                });
        LaneMember primary = primary();
        reply(primary, ask(primary, 1, "puts"));
        locks.a.lock();
        assertThat(locks.map.get("key")).isEqualTo("value");
        locks.a.unlock();
        assertThat(primary.cut(log)).as("no events").isFalse();
        assertThatThrownBy(() -> locks.map.put("key", "other"))
                .hasMessageContaining("map in a query");
        locks.a.lock();
        assertThatThrownBy(() -> locks.condition.await()).hasMessageContaining("a query");
        locks.a.unlock();
        agrees(primary);
    }

    @Test
    void whatDiffersFromMemberToMemberIsRefused() throws Exception {
        program.put(
                "nanos",
                (of, turn) -> {
                    of.a.lock();
                    return "" + of.condition.awaitNanos(1);
                });
        program.put(
                "nests",
                (of, turn) ->
                        of.map.merge("key", "value", (one, other) -> one)
                                + of.map.merge(
                                        "key",
                                        "value",
                                        (one, other) -> {
                                            of.a.lock();
                                            return one;
                                        }));
        LaneMember primary = primary();
        assertThat(reply(primary, ask(primary, 1, "nanos")).threw()).isTrue();
        assertThat(reply(primary, ask(primary, 2, "nests")).threw()).isTrue();
        agrees(primary);
    }

    @Test
    void badDeclarationsAreRefused() {
        LaneState state = new LaneState(2);
        state.lock("a");
        assertThatThrownBy(() -> state.lock("a")).hasMessage("a is declared already");
        assertThatThrownBy(() -> state.lock("")).hasMessageContaining("1 to 200 characters");
        assertThatThrownBy(() -> state.locks("many", 0)).hasMessageContaining("at least 1");
        assertThatThrownBy(() -> state.map("map", String.class, Object.class))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> state.map("map", String.class, String.class, 70_000))
                .hasMessageContaining("70001 locks and stripes, and at most 65536");
        state.seal();
        assertThatThrownBy(() -> state.lock("late")).hasMessageContaining("constructor");
    }
}
