package io.saucr.services.core.replay;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * A line of a handler that {@link ReplayWorld} runs.
 *
 * @param at number of a resource; lines to leave out, for {@link Kind#TRY} in {@code more}
 */
record Op(Kind kind, int at, int more) {

    /** Kinds of lines. */
    enum Kind {
        LOCK,
        UNLOCK,
        READ_LOCK,
        READ_UNLOCK,
        /** Of the variable that the lock protects. */
        READ,
        WRITE,
        /** Of a stripe of a collection: an event that changes it. */
        CALL,
        /** Leaves out the next {@code more} lines if it did not get the lock. */
        TRY,
        /** Awaits until the flag of the lock is set. */
        AWAIT,
        /** Awaits once, with a time-out. */
        AWAIT_TIMED,
        /** Sets the flag, and wakes all that await. */
        SIGNAL,
        CHOOSE,
        NOW,
        /** Takes the next number of a counter that no lock protects. */
        RACE,
        THROW,
        /** Kills the process. */
        POISON
    }

    static final int LOCKS = 3;
    static final int READ_WRITE = 3;
    static final int STRIPES = 4;
    static final int RESOURCES = 6;

    static Op of(Kind kind, int at) {
        return new Op(kind, at, 0);
    }

    static Op of(Kind kind) {
        return new Op(kind, 0, 0);
    }

    /** Sets the flags of all locks, so that nobody awaits for ever. */
    static List<Op> signalAll() {
        List<Op> lines = new ArrayList<>();
        for (int lock = 0; lock < LOCKS; lock++) {
            lines.add(of(Kind.LOCK, lock));
            lines.add(of(Kind.SIGNAL, lock));
            lines.add(of(Kind.UNLOCK, lock));
        }
        return lines;
    }

    /** A handler without data races. */
    static List<Op> handler(Random random, boolean mayAwait) {
        List<Op> lines = new ArrayList<>();
        for (int count = 1 + random.nextInt(3); count > 0; count--) {
            part(random, mayAwait, lines);
        }
        if (random.nextInt(12) == 0) {
            int at = random.nextInt(lines.size());
            // Not among lines that are left out together.
            while (at > 0 && (isAttempt(lines, at - 1) || isAttempt(lines, at - 2))) {
                at--;
            }
            lines.add(at, of(Kind.POISON));
        }
        return lines;
    }

    private static boolean isAttempt(List<Op> lines, int at) {
        return at >= 0 && lines.get(at).kind == Kind.TRY;
    }

    private static void part(Random random, boolean mayAwait, List<Op> lines) {
        int lock = random.nextInt(LOCKS);
        int other = random.nextInt(LOCKS);
        switch (random.nextInt(10)) {
            case 0, 1, 2 -> {
                lines.add(of(Kind.LOCK, lock));
                inside(random, lock, lines);
                if (other != lock) {
                    // In any order: some handlers wait for each other for ever.
                    lines.add(of(Kind.LOCK, other));
                    inside(random, other, lines);
                    lines.add(of(Kind.UNLOCK, other));
                }
                inside(random, lock, lines);
                lines.add(of(Kind.UNLOCK, lock));
            }
            case 3 -> {
                lines.add(of(Kind.READ_LOCK, READ_WRITE));
                lines.add(of(Kind.READ, READ_WRITE));
                lines.add(of(Kind.READ_UNLOCK, READ_WRITE));
            }
            case 4 -> {
                lines.add(of(Kind.LOCK, READ_WRITE));
                lines.add(of(Kind.WRITE, READ_WRITE));
                lines.add(of(Kind.UNLOCK, READ_WRITE));
            }
            case 5, 6 -> lines.add(of(Kind.CALL, STRIPES + random.nextInt(RESOURCES - STRIPES)));
            case 7 -> {
                lines.add(new Op(Kind.TRY, lock, 2));
                lines.add(of(Kind.WRITE, lock));
                lines.add(of(Kind.UNLOCK, lock));
            }
            case 8 -> {
                lines.add(of(Kind.LOCK, lock));
                boolean timed = !mayAwait || random.nextBoolean();
                boolean inside = timed && other != lock && random.nextInt(3) > 0;
                if (inside) {
                    lines.add(lines.size() - 1, of(Kind.LOCK, other));
                }
                lines.add(of(timed ? Kind.AWAIT_TIMED : Kind.AWAIT, lock));
                lines.add(of(Kind.WRITE, lock));
                lines.add(of(Kind.UNLOCK, lock));
                if (inside) {
                    lines.add(of(Kind.UNLOCK, other));
                }
            }
            default -> {
                lines.add(of(random.nextBoolean() ? Kind.CHOOSE : Kind.NOW));
                lines.add(of(Kind.LOCK, lock));
                lines.add(of(Kind.WRITE, lock));
                lines.add(of(Kind.SIGNAL, lock));
                if (random.nextInt(6) == 0) {
                    lines.add(of(Kind.THROW));
                }
                lines.add(of(Kind.UNLOCK, lock));
            }
        }
    }

    private static void inside(Random random, int lock, List<Op> lines) {
        lines.add(of(random.nextBoolean() ? Kind.READ : Kind.WRITE, lock));
    }
}
