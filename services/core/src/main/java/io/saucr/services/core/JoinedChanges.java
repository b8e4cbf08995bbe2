package io.saucr.services.core;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Which changes of several turns in a row lead to the same as all of them (K3, C1): in their order,
 * without those that a later one makes void. What it gives depends on the turns alone, not on which
 * of them were joined before, so joining is associative. One thread.
 *
 * <p>The same, but for where messages lie: a turn's sends may find the heap fuller than they did,
 * as an ack in between was left out for a later one, and go to a file (K13). No record says where a
 * message lies; each start decides it again.
 */
final class JoinedChanges {

    /** A change and the time of its turn; null where a later one made it void. */
    private record Kept(Change change, long millis) {}

    private record Call(String peer, long number) {}

    /**
     * Consumed numbers and acks of one peer, while its pair neither begins nor ends.
     *
     * <p>The first consumed number stays, as it may be what makes the pair known, and acks that
     * follow count from there. The last one of both stays.
     */
    private static final class Run {
        final Count start;
        int consumed;
        int lastConsumed = -1;
        int lastAcked = -1;
        long acked;

        Run(Count start) {
            this.start = start;
        }

        /** Whether a number with this start changes nothing that one before it did not change. */
        boolean continues(Count next) {
            return start.incarnation() == next.incarnation() && start.nonce() == next.nonce();
        }
    }

    private final List<Kept> kept = new ArrayList<>();
    private final Map<String, Run> runs = new HashMap<>();
    private final Map<Long, Integer> timers = new HashMap<>();
    private final Map<String, Integer> repeats = new HashMap<>();
    private final Map<String, Integer> tried = new HashMap<>();
    private final Map<Call, Integer> waits = new HashMap<>();
    private long newestTimer;
    private long millis = Long.MIN_VALUE;

    /** The next turn, or several that were joined. */
    void add(Delta delta) {
        long before = millis;
        millis = Math.max(before, delta.nowMillis());
        long now = millis;
        for (Change change : delta.changes()) {
            if (change instanceof Change.At it) {
                now = Math.max(before, it.nowMillis());
            } else {
                add(change, now);
            }
        }
    }

    private void add(Change change, long now) {
        int index = kept.size();
        kept.add(new Kept(change, now));
        if (change instanceof Change.Consumed it) {
            consumed(it, index);
        } else if (change instanceof Change.Acked it) {
            acked(it, index);
        } else if (change instanceof Change.TimersUpTo it) {
            newestTimer = Math.max(newestTimer, it.id());
            leaveOut(index);
        } else if (change instanceof Change.TimerSet it) {
            timers.put(it.id(), index);
        } else if (change instanceof Change.TimerGone it) {
            Integer set = timers.remove(it.id());
            if (set != null) {
                newestTimer = Math.max(newestTimer, it.id());
                leaveOut(set);
                leaveOut(index);
            }
        } else if (change instanceof Change.RepeatDue it) {
            leaveOut(repeats.put(it.type(), index));
        } else if (change instanceof Change.RepeatGone it) {
            leaveOut(repeats.put(it.type(), index));
        } else if (change instanceof Change.Tried it) {
            leaveOut(tried.put(it.channel(), index));
        } else if (change instanceof Change.Waits it) {
            waits.put(new Call(it.peer(), it.number()), index);
        } else if (change instanceof Change.Answered it) {
            leaveOut(waits.remove(new Call(it.peer(), it.number())));
        } else if (change instanceof Change.PairOpened it) {
            runs.remove(it.peer());
        } else if (change instanceof Change.PairKnown it) {
            runs.remove(it.peer());
        } else if (change instanceof Change.PairOver it) {
            runs.remove(it.peer());
        } else if (change instanceof Change.PairRefused it) {
            runs.remove(it.peer());
        } else if (change instanceof Change.GivenUp it) {
            runs.remove(it.peer());
        } else if (!isOfNoPair(change)) {
            runs.clear();
        }
    }

    /** Whether numbers mean the same before and behind it. */
    private static boolean isOfNoPair(Change change) {
        return change instanceof Change.Sent
                || change instanceof Change.OutputMade
                || change instanceof Change.OutputDone
                || change instanceof Change.ReturnTaken
                || change instanceof Change.Parked
                || change instanceof Change.ReturnParked
                || change instanceof Change.ParkedGone
                || change instanceof Change.ReturnAgain
                || change instanceof Change.EpochBegan
                || change instanceof Change.Withdrawn;
    }

    private void leaveOut(Integer index) {
        if (index != null) {
            kept.set(index, null);
        }
    }

    private Run run(String peer, Count count) {
        Run run = runs.get(peer);
        if (run == null || !run.continues(count)) {
            run = new Run(count);
            runs.put(peer, run);
        }
        return run;
    }

    private void consumed(Change.Consumed change, int index) {
        Run run = run(change.peer(), change.last());
        if (run.consumed > 1) {
            leaveOut(run.lastConsumed);
        }
        run.consumed++;
        run.lastConsumed = index;
    }

    private void acked(Change.Acked change, int index) {
        Run run = run(change.peer(), change.last());
        if (run.lastAcked >= 0 && change.last().number() >= run.acked) {
            leaveOut(run.lastAcked);
        }
        run.lastAcked = index;
        run.acked = change.last().number();
    }

    /** The time of the last turn. */
    long nowMillis() {
        return millis;
    }

    /** What is left, with the times that matter. */
    List<Change> changes() {
        List<Change> all = new ArrayList<>();
        long now = millis;
        for (Kept each : kept) {
            if (each == null) {
                continue;
            }
            if (isTimed(each.change()) && each.millis() != now) {
                now = each.millis();
                all.add(new Change.At(now));
            }
            all.add(each.change());
        }
        if (newestTimer > 0) {
            all.add(new Change.TimersUpTo(newestTimer));
        }
        return List.copyOf(all);
    }

    /** Whether its time is remembered: when a peer was heard, when a message was sent. */
    private static boolean isTimed(Change change) {
        return change instanceof Change.Sent
                || change instanceof Change.Consumed
                || change instanceof Change.Acked
                || change instanceof Change.PairOpened;
    }
}
