package io.saucr.crash.history;

import io.saucr.crash.history.RegisterCall.Read;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What clients asked and were told, in real-time order. Complete in this: an answer follows the
 * call that it answers, a process has one call at a time and none after INFO. Immutable.
 */
public record History(List<HistoryEvent> events) {
    /**
     * @throws IllegalArgumentException naming the event that breaks the rules above
     */
    public History {
        events = List.copyOf(events);
        Map<Integer, RegisterCall> open = new HashMap<>();
        Set<Integer> retired = new HashSet<>();
        for (int i = 0; i < events.size(); i++) {
            HistoryEvent event = events.get(i);
            require(event.index() == i, "the index is not " + i, event);
            if (event instanceof HistoryEvent.Client client) {
                int process = client.process();
                require(!retired.contains(process), "the process asks after :info", event);
                if (client.type() == HistoryEvent.Type.INVOKE) {
                    require(open.put(process, client.call()) == null, "two calls at once", event);
                } else {
                    RegisterCall call = open.remove(process);
                    require(call != null && answers(client.call(), call), "no such call", event);
                    if (client.type() == HistoryEvent.Type.INFO) {
                        retired.add(process);
                    }
                }
            }
        }
    }

    private static void require(boolean condition, String what, HistoryEvent event) {
        if (!condition) {
            throw new IllegalArgumentException(what + ": " + event);
        }
    }

    private static boolean answers(RegisterCall answer, RegisterCall call) {
        return answer.equals(call)
                || (answer instanceof Read && call instanceof Read && answer.key() == call.key());
    }

    /**
     * The calls on each register that may have taken effect: linearizability is local, so each
     * register can be judged by itself. A call without an answer counts as INFO; failed calls and
     * reads without a result say nothing and are left out.
     */
    public SortedMap<Integer, List<RegisterOperation>> operations() {
        SortedMap<Integer, List<RegisterOperation>> byKey = new TreeMap<>();
        Map<Integer, HistoryEvent.Client> open = new HashMap<>();
        for (HistoryEvent event : events) {
            if (event instanceof HistoryEvent.Client client) {
                if (client.type() == HistoryEvent.Type.INVOKE) {
                    open.put(client.process(), client);
                } else {
                    HistoryEvent.Client call = open.remove(client.process());
                    if (client.type() == HistoryEvent.Type.OK) {
                        add(byKey, call, client.index(), client.call());
                    } else if (client.type() == HistoryEvent.Type.INFO) {
                        add(byKey, call, RegisterOperation.NEVER, client.call());
                    }
                }
            }
        }
        open.values().forEach(call -> add(byKey, call, RegisterOperation.NEVER, call.call()));
        byKey.values().forEach(list -> list.sort(null));
        return byKey;
    }

    private static void add(
            SortedMap<Integer, List<RegisterOperation>> byKey,
            HistoryEvent.Client call,
            int returned,
            RegisterCall what) {
        if (what instanceof Read && returned == RegisterOperation.NEVER) {
            return;
        }
        byKey.computeIfAbsent(what.key(), key -> new ArrayList<>())
                .add(new RegisterOperation(call.process(), call.index(), returned, what));
    }

    /** How many calls ended this way. */
    public long count(HistoryEvent.Type type) {
        return events.stream()
                .filter(e -> e instanceof HistoryEvent.Client client && client.type() == type)
                .count();
    }
}
