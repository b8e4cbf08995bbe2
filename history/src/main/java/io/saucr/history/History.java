package io.saucr.history;

import io.saucr.history.RegisterCall.Read;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What clients asked and were told, in real-time order. Complete in this: indices grow, an answer
 * follows the call that it answers, a process has one call at a time and none after INFO.
 * Immutable.
 */
public record History(List<HistoryEvent> events) {
    /**
     * @throws IllegalArgumentException naming the event that breaks the rules above
     */
    public History {
        events = List.copyOf(events);
        CallsUnderWay calls = new CallsUnderWay();
        int before = -1;
        for (HistoryEvent event : events) {
            try {
                if (event.index() <= before) {
                    throw new IllegalArgumentException("the index is not above " + before);
                }
                before = event.index();
                if (event instanceof HistoryEvent.Client client) {
                    calls.next(client);
                }
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(event + ": " + e.getMessage(), e);
            }
        }
    }

    /** The registers, in the order in which they were asked for first. */
    public List<Register> registers() {
        Map<Object, Parts> byKey = new LinkedHashMap<>();
        CallsUnderWay calls = new CallsUnderWay();
        for (HistoryEvent event : events) {
            if (event instanceof HistoryEvent.Client client) {
                HistoryEvent.Client call = calls.next(client);
                if (call == null) {
                    byKey.computeIfAbsent(client.call().key(), key -> new Parts()).calls++;
                } else {
                    byKey.get(call.call().key()).add(call, client);
                }
            }
        }
        for (HistoryEvent.Client call : calls.left()) {
            byKey.get(call.call().key()).add(call, null);
        }
        List<Register> registers = new ArrayList<>();
        byKey.forEach(
                (key, parts) ->
                        registers.add(
                                new Register(key, parts.calls, parts.operations, parts.failed)));
        return registers;
    }

    /** What is collected of a register. */
    private static final class Parts {
        final List<RegisterOperation> operations = new ArrayList<>();
        final List<RegisterOperation> failed = new ArrayList<>();
        int calls;

        /**
         * @param answer null if there is none
         */
        void add(HistoryEvent.Client call, HistoryEvent.Client answer) {
            boolean open = answer == null || answer.type() == HistoryEvent.Type.INFO;
            RegisterCall what = open ? call.call() : answer.call();
            RegisterOperation operation =
                    new RegisterOperation(
                            call.process(),
                            call.index(),
                            open ? RegisterOperation.NEVER : answer.index(),
                            what);
            if (!open && answer.type() == HistoryEvent.Type.FAIL) {
                failed.add(operation);
            } else if (!(what instanceof Read read && (open || read.value() == null))) {
                operations.add(operation);
            }
        }
    }

    /** How many calls ended this way. */
    public long count(HistoryEvent.Type type) {
        return events.stream()
                .filter(e -> e instanceof HistoryEvent.Client client && client.type() == type)
                .count();
    }
}
