package io.saucr.history;

import java.io.IOException;
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

    /**
     * A call took effect.
     *
     * @param call the call; of a read, with the value that was read
     */
    public synchronized void ok(int process, RegisterCall call) {
        add(HistoryEvent.Type.OK, process, call);
    }

    public synchronized void fail(int process, RegisterCall call) {
        add(HistoryEvent.Type.FAIL, process, call);
    }

    /**
     * Nobody knows whether a call took effect. The process must not ask any more; its client goes
     * on under another number.
     */
    public synchronized void info(int process, RegisterCall call) {
        add(HistoryEvent.Type.INFO, process, call);
    }

    /** What a nemesis does to servers. */
    public interface Deed {
        void run() throws IOException;
    }

    /**
     * A fault or its end: written down before it is brought about, and once more after that.
     *
     * @param fault a keyword without the colon
     * @param servers whom it is about
     */
    public void nemesis(String fault, List<Integer> servers, Deed deed) throws IOException {
        String value = Edn.print(servers);
        add(fault, value);
        deed.run();
        add(fault, value);
    }

    private synchronized void add(String fault, String value) {
        events.add(new HistoryEvent.Nemesis(events.size(), time(), fault, value));
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
