package io.saucr.crash.history;

import java.util.ArrayList;
import java.util.List;

/**
 * Writes a history down as it happens: a call before it is sent, an answer after it came, so that
 * the order of events is one that really was. Thread-safe.
 */
public final class HistoryRecorder {
    private final long start = System.nanoTime();
    private final List<HistoryEvent> events = new ArrayList<>();

    public synchronized void invoke(int process, RegisterCall call) {
        add(HistoryEvent.Type.INVOKE, process, call);
    }

    /** With what was read, if it was a read. */
    public synchronized void ok(int process, RegisterCall call) {
        add(HistoryEvent.Type.OK, process, call);
    }

    public synchronized void fail(int process, RegisterCall call) {
        add(HistoryEvent.Type.FAIL, process, call);
    }

    /** The process must not ask any more; another number takes its place. */
    public synchronized void info(int process, RegisterCall call) {
        add(HistoryEvent.Type.INFO, process, call);
    }

    public synchronized void nemesis(String fault, List<Integer> servers) {
        events.add(new HistoryEvent.Nemesis(events.size(), time(), fault, servers));
    }

    private void add(HistoryEvent.Type type, int process, RegisterCall call) {
        events.add(new HistoryEvent.Client(events.size(), time(), type, process, call));
    }

    private long time() {
        return System.nanoTime() - start;
    }

    /** What was recorded until now. */
    public synchronized History history() {
        return new History(events);
    }
}
