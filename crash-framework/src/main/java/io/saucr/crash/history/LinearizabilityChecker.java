package io.saucr.crash.history;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Decides whether a history of registers is linearizable, each register by itself: Wing and Gong's
 * search over the orders that real time allows, with Lowe's memory of the configurations (calls
 * that took effect, value) that led nowhere.
 *
 * <p>Memory is bounded by the number of configurations that it remembers per register; where they
 * do not suffice it says {@link Answer#UNKNOWN}, never a guess. A history that is not linearizable
 * is named as such even if another register is unknown. Stateless between calls.
 */
public final class LinearizabilityChecker {
    /** How many configurations are remembered by default; one takes about 200 bytes. */
    public static final int DEFAULT_CONFIGURATIONS = 400_000;

    private final int mostConfigurations;

    /** What the checker says of a history. */
    public enum Answer {
        LINEARIZABLE,
        NOT_LINEARIZABLE,
        /** It gave up. */
        UNKNOWN
    }

    /**
     * @param key of the register that decided; -1 if all are linearizable
     * @param configurations that were looked at, of all registers
     * @param evidence of a history that is not linearizable: the calls that could not be brought
     *     into an order together with those before them
     */
    public record Result(Answer answer, int key, long configurations, List<String> evidence) {
        public Result {
            evidence = List.copyOf(evidence);
        }
    }

    /**
     * @param mostConfigurations that are remembered per register, at least 1
     */
    public LinearizabilityChecker(int mostConfigurations) {
        if (mostConfigurations < 1) {
            throw new IllegalArgumentException(mostConfigurations + " configurations");
        }
        this.mostConfigurations = mostConfigurations;
    }

    /** Judges all registers. */
    public Result check(History history) {
        long configurations = 0;
        int unknown = -1;
        for (Map.Entry<Integer, List<RegisterOperation>> register :
                history.operations().entrySet()) {
            Search search = new Search(relevant(register.getValue()));
            Answer answer = search.run();
            configurations += search.seen.size();
            if (answer == Answer.NOT_LINEARIZABLE) {
                return new Result(answer, register.getKey(), configurations, search.evidence());
            }
            if (answer == Answer.UNKNOWN) {
                unknown = register.getKey();
            }
        }
        return unknown < 0
                ? new Result(Answer.LINEARIZABLE, -1, configurations, List.of())
                : new Result(Answer.UNKNOWN, unknown, configurations, List.of());
    }

    /**
     * The operations that the search must look at. Calls of unknown outcome whose value nobody saw
     * are left out: such a call may have taken effect after everything else, so an order with it
     * exists only if one without it does.
     */
    private static List<RegisterOperation> relevant(List<RegisterOperation> operations) {
        List<RegisterOperation> kept = operations;
        while (true) {
            Set<Long> seen = new HashSet<>();
            for (RegisterOperation operation : kept) {
                operation.call().required().ifPresent(seen::add);
            }
            List<RegisterOperation> fewer =
                    kept.stream()
                            .filter(
                                    operation ->
                                            operation.returned() != RegisterOperation.NEVER
                                                    || seen.contains(written(operation)))
                            .toList();
            if (fewer.size() == kept.size()) {
                return fewer;
            }
            kept = fewer;
        }
    }

    private static long written(RegisterOperation operation) {
        return operation.call().written().orElse(RegisterCall.NIL);
    }

    /** Which calls took effect, and the value after them. */
    private record Configuration(BitSet done, long value) {}

    /** A call or a return in the list of events that are still to be explained. */
    private static final class Entry {
        final int operation;
        final boolean isReturn;
        Entry partner;
        Entry previous;
        Entry next;

        Entry(int operation, boolean isReturn) {
            this.operation = operation;
            this.isReturn = isReturn;
        }

        /** Takes a call and its return out of the list. */
        void lift() {
            unlink();
            if (partner != null) {
                partner.unlink();
            }
        }

        /** Undoes {@link #lift}, in reverse order. */
        void unlift() {
            if (partner != null) {
                partner.relink();
            }
            relink();
        }

        private void unlink() {
            previous.next = next;
            if (next != null) {
                next.previous = previous;
            }
        }

        private void relink() {
            previous.next = this;
            if (next != null) {
                next.previous = this;
            }
        }
    }

    /** The search on one register. */
    private final class Search {
        private final List<RegisterOperation> operations;
        private final Set<Configuration> seen = new HashSet<>();
        private final Entry head = new Entry(-1, false);
        private final BitSet done;
        private long value = RegisterCall.NIL;
        private int furthest = -1;
        private Set<Integer> stuckWith = Set.of();

        /** A step of the present order, and the value before it. */
        private record Step(Entry call, long valueBefore) {}

        Search(List<RegisterOperation> operations) {
            this.operations = operations;
            done = new BitSet(operations.size());
            List<Entry> entries = new ArrayList<>();
            for (int i = 0; i < operations.size(); i++) {
                Entry call = new Entry(i, false);
                entries.add(call);
                if (operations.get(i).returned() != RegisterOperation.NEVER) {
                    call.partner = new Entry(i, true);
                    entries.add(call.partner);
                }
            }
            entries.sort((a, b) -> Integer.compare(place(a), place(b)));
            Entry last = head;
            for (Entry entry : entries) {
                last.next = entry;
                entry.previous = last;
                last = entry;
            }
        }

        private int place(Entry entry) {
            RegisterOperation operation = operations.get(entry.operation);
            return entry.isReturn ? operation.returned() : operation.called();
        }

        /**
         * Tries the calls that are not after any return, in turn; a return means that none of them
         * fits, and the last step is taken back. Calls without a return may be left over.
         */
        Answer run() {
            Deque<Step> steps = new ArrayDeque<>();
            long open =
                    operations.stream()
                            .filter(o -> o.returned() != RegisterOperation.NEVER)
                            .count();
            Entry entry = head.next;
            while (open > 0) {
                if (entry != null && !entry.isReturn) {
                    long before = value;
                    RegisterCall call = operations.get(entry.operation).call();
                    if (call.required().orElse(value) == value) {
                        value = call.written().orElse(value);
                        done.flip(entry.operation);
                        if (seen.add(new Configuration((BitSet) done.clone(), value))) {
                            if (seen.size() > mostConfigurations) {
                                return Answer.UNKNOWN;
                            }
                            steps.push(new Step(entry, before));
                            entry.lift();
                            open -= entry.partner == null ? 0 : 1;
                            entry = head.next;
                            continue;
                        }
                        done.flip(entry.operation);
                        value = before;
                    }
                    entry = entry.next;
                } else {
                    if (entry != null) {
                        remember(entry);
                    }
                    if (steps.isEmpty()) {
                        return Answer.NOT_LINEARIZABLE;
                    }
                    Step step = steps.pop();
                    value = step.valueBefore();
                    done.flip(step.call().operation);
                    step.call().unlift();
                    open += step.call().partner == null ? 0 : 1;
                    entry = step.call().next;
                }
            }
            return Answer.LINEARIZABLE;
        }

        /**
         * Remembers the latest return that no order got past, and the calls that were open then.
         */
        private void remember(Entry stuck) {
            int place = place(stuck);
            if (place > furthest) {
                furthest = place;
                Set<Integer> open = new HashSet<>();
                for (Entry e = head.next; e != stuck; e = e.next) {
                    open.add(e.operation);
                }
                stuckWith = open;
            }
        }

        List<String> evidence() {
            return stuckWith.stream().sorted().map(i -> operations.get(i).toString()).toList();
        }
    }
}
