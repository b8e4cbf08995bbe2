package io.saucr.services.replay;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;

/** A service whose generated handlers share values, each under a lock of its own. */
final class Shared implements LaneHandler {

    private static final int LOCKS = 3;
    private static final int OPS = 12;

    private final List<Lock> locks;
    private final List<Condition> conditions;
    private final ReadWriteLock readWrite;
    private final LaneMap<String, Long> map;
    private final long[] values = new long[LOCKS];
    private final long[] flags = new long[LOCKS];
    private long read;

    Shared(LaneState state) {
        locks = state.locks("lock", LOCKS);
        conditions = locks.stream().map(Lock::newCondition).toList();
        readWrite = state.readWriteLock("read-write");
        map = state.map("map", String.class, Long.class, 4);
    }

    /** A request whose handler is generated from a seed. */
    static byte[] request(long seed) {
        return ByteBuffer.allocate(8).putLong(seed).array();
    }

    String content() {
        return Arrays.toString(values) + Arrays.toString(flags) + read;
    }

    @Override
    public byte[] handle(byte[] body, LaneTurn turn) {
        SplittableRandom random = new SplittableRandom(ByteBuffer.wrap(body).getLong());
        long sum = turn.nowMillis() + turn.random().nextLong();
        for (int op = 0; op < OPS; op++) {
            sum = 31 * sum + op(random, turn, sum);
        }
        return ByteBuffer.allocate(8).putLong(sum).array();
    }

    private long op(SplittableRandom random, LaneTurn turn, long sum) {
        int at = random.nextInt(LOCKS);
        switch (random.nextInt(12)) {
            case 0, 1 -> {
                locks.get(at).lock();
                try {
                    return write(at, sum);
                } finally {
                    locks.get(at).unlock();
                }
            }
            case 2 -> {
                return nested(random, at, sum);
            }
            case 3 -> {
                return tries(locks.get(at).tryLock(), at, sum);
            }
            case 4 -> {
                try {
                    return tries(locks.get(at).tryLock(1, TimeUnit.MILLISECONDS), at, sum);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
            case 5 -> {
                readWrite.readLock().lock();
                try {
                    return read;
                } finally {
                    readWrite.readLock().unlock();
                }
            }
            case 6 -> {
                readWrite.writeLock().lock();
                try {
                    read = 31 * read + sum;
                    return read;
                } finally {
                    readWrite.writeLock().unlock();
                }
            }
            case 7 -> {
                return map.merge("key-" + at, sum, (one, other) -> 31 * one + other);
            }
            case 8 -> {
                return map.getOrDefault("key-" + at, -1L);
            }
            case 9 -> {
                return awaits(at, sum);
            }
            case 10 -> {
                return signals(at, sum);
            }
            default -> {
                if (random.nextInt(8) == 0) {
                    throw new IllegalArgumentException("a handler that throws");
                }
                return turn.choose(() -> (int) (System.nanoTime() & 7));
            }
        }
    }

    private long write(int at, long sum) {
        values[at] = 31 * values[at] + sum;
        return values[at];
    }

    /** In any order, so lanes may wait for each other in a circle. */
    private long nested(SplittableRandom random, int at, long sum) {
        int other = random.nextInt(LOCKS);
        locks.get(at).lock();
        try {
            locks.get(other).lock();
            try {
                return write(at, sum) + write(other, sum);
            } finally {
                locks.get(other).unlock();
            }
        } finally {
            locks.get(at).unlock();
        }
    }

    private long tries(boolean held, int at, long sum) {
        if (!held) {
            return 7;
        }
        try {
            return write(at, sum);
        } finally {
            locks.get(at).unlock();
        }
    }

    @SuppressWarnings("WaitNotInLoop") // Each way that the wait ends is a result.
    private long awaits(int at, long sum) {
        locks.get(at).lock();
        try {
            boolean woken = conditions.get(at).await(1, TimeUnit.MILLISECONDS);
            return write(at, flags[at] + sum + (woken ? 1 : 0));
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        } finally {
            locks.get(at).unlock();
        }
    }

    private long signals(int at, long sum) {
        locks.get(at).lock();
        try {
            flags[at] = 31 * flags[at] + sum;
            conditions.get(at).signal();
            return flags[at];
        } finally {
            locks.get(at).unlock();
        }
    }
}
