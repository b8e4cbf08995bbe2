package io.saucr.history;

import io.saucr.history.RegisterCall.Read;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Pairs answers with the calls that they answer. A process has one call at a time, and none after
 * INFO. Used by one thread.
 */
final class CallsUnderWay {
    private final Map<Integer, HistoryEvent.Client> open = new HashMap<>();
    private final Set<Integer> retired = new HashSet<>();

    /**
     * The next event of the history.
     *
     * @return the invocation that it answers; null if it is one itself
     * @throws IllegalArgumentException if the event breaks the rules above
     */
    HistoryEvent.Client next(HistoryEvent.Client event) {
        int process = event.process();
        if (retired.contains(process)) {
            throw new IllegalArgumentException(
                    "process " + process + " continues after its call ended with :info");
        }
        if (event.type() == HistoryEvent.Type.INVOKE) {
            HistoryEvent.Client other = open.putIfAbsent(process, event);
            if (other != null) {
                throw new IllegalArgumentException(
                        "process %s has a call already, begun at event %s"
                                .formatted(process, other.index()));
            }
            return null;
        }
        HistoryEvent.Client call = open.remove(process);
        if (call == null) {
            throw new IllegalArgumentException(
                    "process " + process + " has an answer, but no call");
        }
        if (!answers(event, call)) {
            throw new IllegalArgumentException(
                    "process %s has an answer to something else than it asked at event %s"
                            .formatted(process, call.index()));
        }
        if (event.type() == HistoryEvent.Type.INFO) {
            retired.add(process);
        }
        return call;
    }

    /** The call of a process; null if it has none. */
    HistoryEvent.Client of(int process) {
        return open.get(process);
    }

    /** The calls that nothing has answered yet. */
    Iterable<HistoryEvent.Client> left() {
        return open.values();
    }

    private static boolean answers(HistoryEvent.Client answer, HistoryEvent.Client call) {
        return answer.call().equals(call.call())
                || (answer.call() instanceof Read read
                        && call.call() instanceof Read
                        && read.key().equals(call.call().key()));
    }
}
