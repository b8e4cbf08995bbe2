package io.saucr.services.journal;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Where in a shared journal the oldest record lies that a partition still needs, give or take 64
 * KiB (K10). Guarded by the journal's lock.
 */
final class OldestNeeded {

    private static final int MARKED_BYTES = 64 << 10;

    private final Deque<Mark> marks = new ArrayDeque<>();

    /**
     * From this turn on records lie at this position or behind it.
     *
     * @param bytes of the journal before that
     */
    private record Mark(long turn, long position, long bytes) {}

    /** A record of the partition's next turn lies there. */
    void appended(long turn, long position, long bytes) {
        if (marks.isEmpty() || bytes - marks.getLast().bytes() >= MARKED_BYTES) {
            marks.add(new Mark(turn, position, bytes));
        }
    }

    /**
     * No turn up to this one is needed any more.
     *
     * @param last the newest turn of the partition
     */
    void folded(long turn, long last) {
        if (last <= turn) {
            marks.clear();
        }
        Mark oldest = marks.pollFirst();
        while (!marks.isEmpty() && marks.peekFirst().turn() <= turn + 1) {
            oldest = marks.removeFirst();
        }
        if (oldest != null) {
            marks.addFirst(oldest);
        }
    }

    /** Whether nothing is needed. */
    boolean isNone() {
        return marks.isEmpty();
    }

    /** The position of the oldest; where something is needed. */
    long position() {
        return marks.getFirst().position();
    }

    /** The bytes of the journal before it; where something is needed. */
    long bytes() {
        return marks.getFirst().bytes();
    }
}
