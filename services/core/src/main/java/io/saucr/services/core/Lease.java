package io.saucr.services.core;

import java.util.ArrayDeque;

/**
 * How long replies may leave before they are covered (C9): while the last proof of office began
 * less than this ago, and the oldest reply that is not covered left less than this ago. So a loss
 * is of replies of that time at most, and who was deposed falls silent. One thread.
 */
public final class Lease {

    private record Uncovered(long turn, long leftMillis) {}

    private final long millis;

    /** At most one entry for each millisecond. */
    private final ArrayDeque<Uncovered> uncovered = new ArrayDeque<>();

    private boolean inOffice;
    private long officeMillis;

    /**
     * Not held yet.
     *
     * @param millis how long it lasts, from 1
     */
    public Lease(long millis) {
        if (millis < 1) {
            throw new IllegalArgumentException("a lease lasts from 1 ms, not " + millis);
        }
        this.millis = millis;
    }

    /** Something proved the office that began then, by this machine's steady clock. */
    public void provenSince(long sinceMillis) {
        officeMillis = inOffice ? Math.max(officeMillis, sinceMillis) : sinceMillis;
        inOffice = true;
    }

    /** Whether a reply may leave now before it is covered. */
    public boolean holds(long nowMillis) {
        return inOffice
                && nowMillis - officeMillis < millis
                && (uncovered.isEmpty() || nowMillis - uncovered.element().leftMillis() < millis);
    }

    /** A reply left that shows this turn. */
    public void left(long turn, long nowMillis) {
        Uncovered last = uncovered.peekLast();
        if (last != null && last.leftMillis() == nowMillis) {
            uncovered.removeLast();
        }
        if (last == null || last.turn() < turn || last.leftMillis() == nowMillis) {
            uncovered.add(new Uncovered(turn, nowMillis));
        }
    }

    /** All turns up to this one are covered. */
    public void covered(long turn) {
        while (!uncovered.isEmpty() && uncovered.element().turn() <= turn) {
            uncovered.remove();
        }
    }
}
