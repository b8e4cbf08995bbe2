package io.saucr.history;

import io.saucr.history.RegisterCall.CompareAndSet;
import io.saucr.history.RegisterCall.Read;
import java.io.IOException;
import java.io.StringReader;
import java.nio.IntBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Decides whether a history of registers is linearizable, each register on its own: Wing and Gong's
 * search over the orders that real time allows, with Lowe's memory of the configurations (calls
 * that took effect, value) that led nowhere. A read without a value fits anywhere, as in Knossos.
 *
 * <p>Memory is bounded by the number of configurations that it remembers per register; where they
 * do not suffice it says {@link Answer#UNKNOWN}, never a guess. Stateless between calls.
 */
public final class LinearizabilityChecker {
    /** How many configurations are remembered by default; one takes about 200 bytes. */
    public static final int DEFAULT_CONFIGURATIONS = 400_000;

    private final int mostConfigurations;
    private final Object initial;

    /** What the checker says of a register, or of all. */
    public enum Answer {
        LINEARIZABLE,
        NOT_LINEARIZABLE,
        /** It gave up. */
        UNKNOWN
    }

    /**
     * @param configurations that were looked at
     * @param explanation sentences that say what does not fit; empty unless it is NOT_LINEARIZABLE
     */
    public record Judgement(
            Register register, Answer answer, long configurations, List<String> explanation) {
        public Judgement {
            explanation = List.copyOf(explanation);
        }

        /** Such as "register 7 (150 calls)". */
        public String name() {
            return register.name()
                    + " ("
                    + register.calls()
                    + (register.calls() == 1 ? " call)" : " calls)");
        }
    }

    /** What is said of a history: of each of its registers. */
    public record Result(List<Judgement> registers) {
        public Result {
            registers = List.copyOf(registers);
        }

        /** The worst of the registers' answers; a violation is worse than an unknown one. */
        public Answer answer() {
            return !with(Answer.NOT_LINEARIZABLE).isEmpty()
                    ? Answer.NOT_LINEARIZABLE
                    : with(Answer.UNKNOWN).isEmpty() ? Answer.LINEARIZABLE : Answer.UNKNOWN;
        }

        /** The registers of which this is said. */
        public List<Judgement> with(Answer answer) {
            return registers.stream().filter(judgement -> judgement.answer() == answer).toList();
        }

        /** One line that names each register that is not linearizable or not decided. */
        public String summary() {
            Answer answer = answer();
            if (answer == Answer.LINEARIZABLE) {
                return "linearizable";
            }
            List<Judgement> worst = with(answer);
            return (answer == Answer.UNKNOWN ? "not decided: " : "not linearizable: ")
                    + worst.size()
                    + " of "
                    + registers.size()
                    + (registers.size() == 1 ? " register: " : " registers: ")
                    + worst.stream().map(Judgement::name).collect(Collectors.joining(", "));
        }

        /** Of each register that is not linearizable, what does not fit, in words. */
        public List<String> evidence() {
            return with(Answer.NOT_LINEARIZABLE).stream()
                    .map(bad -> bad.name() + ": " + String.join("; ", bad.explanation()))
                    .toList();
        }

        /** All that were looked at. */
        public long configurations() {
            return registers.stream().mapToLong(Judgement::configurations).sum();
        }
    }

    /**
     * @param mostConfigurations that are remembered per register, at least 1
     */
    public LinearizabilityChecker(int mostConfigurations) {
        this(mostConfigurations, null);
    }

    /**
     * @param mostConfigurations that are remembered per register, at least 1
     * @param initial what each register holds before the first write; null for nothing
     */
    LinearizabilityChecker(int mostConfigurations, Object initial) {
        if (mostConfigurations < 1) {
            throw new IllegalArgumentException(mostConfigurations + " configurations");
        }
        this.mostConfigurations = mostConfigurations;
        this.initial = initial;
    }

    /**
     * @param mostConfigurations that are remembered per register, at least 1
     * @param initial what each register holds before the first write, as EDN
     * @throws IllegalArgumentException if it is not one value of EDN, or there are no
     *     configurations
     */
    public static LinearizabilityChecker of(int mostConfigurations, String initial) {
        EdnReader reader = new EdnReader(new StringReader(initial));
        try {
            Object value = reader.next();
            if (value != EdnReader.END && reader.next() == EdnReader.END) {
                return new LinearizabilityChecker(mostConfigurations, value);
            }
        } catch (IOException e) {
            throw new IllegalArgumentException(
                    "initial value " + initial + ": " + e.getMessage(), e);
        }
        throw new IllegalArgumentException("initial value " + initial + ": expected one value");
    }

    /** Judges all registers. */
    public Result check(History history) {
        List<Judgement> judgements = new ArrayList<>();
        for (Register register : history.registers()) {
            Search search = new Search(relevant(register.operations()), mostConfigurations);
            Answer answer = search.run();
            List<String> explanation =
                    answer == Answer.NOT_LINEARIZABLE
                            ? new Contradiction(
                                            history, register, initial, search.stuck, new Trials())
                                    .sentences()
                            : List.of();
            judgements.add(new Judgement(register, answer, search.seen.size(), explanation));
        }
        return new Result(judgements);
    }

    /**
     * The operations that the search must look at. Calls of unknown outcome whose value nobody saw
     * are left out: such a call may have taken effect after everything else, so an order with it
     * exists only if one without it does.
     */
    private static List<RegisterOperation> relevant(List<RegisterOperation> operations) {
        List<RegisterOperation> kept = operations;
        while (true) {
            Set<Object> required = new HashSet<>();
            for (RegisterOperation operation : kept) {
                if (operation.call() instanceof Read read) {
                    required.add(read.value());
                } else if (operation.call() instanceof CompareAndSet cas) {
                    required.add(cas.expected());
                }
            }
            List<RegisterOperation> fewer =
                    kept.stream()
                            .filter(
                                    operation ->
                                            operation.returned() != RegisterOperation.NEVER
                                                    || required.contains(
                                                            operation.call().after(null)))
                            .toList();
            if (fewer.size() == kept.size()) {
                return fewer;
            }
            kept = fewer;
        }
    }

    /**
     * Which calls took effect, and the value after them.
     *
     * @param last of these calls, by invocation
     * @param without earlier calls that did not: few, however long the history is
     */
    private record Configuration(int last, IntBuffer without, Object value) {}

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

    /** Further searches, for an explanation; all of them may remember as much as the first one. */
    final class Trials {
        private int left = mostConfigurations;
        private boolean complete = true;

        /** Whether these fit into an order; false as well if that was not found out. */
        boolean fit(List<RegisterOperation> operations) {
            if (left == 0) {
                complete = false;
                return false;
            }
            Search search = new Search(relevant(operations), left);
            Answer answer = search.run();
            left = Math.max(0, left - search.seen.size());
            complete &= answer != Answer.UNKNOWN;
            return answer == Answer.LINEARIZABLE;
        }

        /** Whether everything was found out. */
        boolean complete() {
            return complete;
        }
    }

    /** The search on one register. */
    private final class Search {
        private final List<RegisterOperation> operations;
        private final int most;
        private final Set<Configuration> seen = new HashSet<>();
        private final Entry head = new Entry(-1, false);
        private Object value = initial;
        private int last = -1;

        /** The latest return that no order got past: of this operation. */
        private RegisterOperation stuck;

        /** A step of the present order, and what was before it. */
        private record Step(Entry call, Object valueBefore, int lastBefore) {}

        /**
         * @param most configurations that are remembered
         */
        Search(List<RegisterOperation> operations, int most) {
            this.operations = operations;
            this.most = most;
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
            Entry end = head;
            for (Entry entry : entries) {
                end.next = entry;
                entry.previous = end;
                end = entry;
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
                    RegisterCall call = operations.get(entry.operation).call();
                    if (call.fits(value) && seen.add(configurationWith(entry, call.after(value)))) {
                        if (seen.size() > most) {
                            return Answer.UNKNOWN;
                        }
                        steps.push(new Step(entry, value, last));
                        value = call.after(value);
                        last = Math.max(last, entry.operation);
                        entry.lift();
                        open -= entry.partner == null ? 0 : 1;
                        entry = head.next;
                    } else {
                        entry = entry.next;
                    }
                } else {
                    if (entry != null) {
                        remember(entry);
                    }
                    if (steps.isEmpty()) {
                        return Answer.NOT_LINEARIZABLE;
                    }
                    Step step = steps.pop();
                    value = step.valueBefore();
                    last = step.lastBefore();
                    step.call().unlift();
                    open += step.call().partner == null ? 0 : 1;
                    entry = step.call().next;
                }
            }
            return Answer.LINEARIZABLE;
        }

        /** What comes of one more call. */
        private Configuration configurationWith(Entry call, Object after) {
            int latest = Math.max(last, call.operation);
            int count = 0;
            int[] without = new int[4];
            for (Entry e = head.next; e != null && e.operation < latest; e = e.next) {
                if (!e.isReturn && e != call) {
                    if (count == without.length) {
                        without = Arrays.copyOf(without, 2 * count);
                    }
                    without[count++] = e.operation;
                }
            }
            return new Configuration(latest, IntBuffer.wrap(Arrays.copyOf(without, count)), after);
        }

        /** Remembers the latest return that no order got past. */
        private void remember(Entry entry) {
            RegisterOperation operation = operations.get(entry.operation);
            if (stuck == null || operation.returned() > stuck.returned()) {
                stuck = operation;
            }
        }
    }
}
