package io.saucr.history;

import io.saucr.history.RegisterCall.CompareAndSet;
import io.saucr.history.RegisterCall.Write;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The orders of the calls that began before a call returned which fits into none of them: which
 * values it could have seen, and whose. Each is tried, not concluded, as values may have been
 * written more than once. Used by one thread.
 */
final class OrdersBefore {
    private final RegisterOperation stuck;
    private final Object initial;
    private final Predicate<List<RegisterOperation>> fit;

    /** Without that call; what was answered after it was not yet. */
    private final List<RegisterOperation> before;

    /** What was read, and what compare-and-sets expected. */
    private final Set<Object> seen = new HashSet<>();

    /** When the last of the changes that were answered before that call began. */
    private final int lastChange;

    /**
     * A value that the register could hold while the call was under way.
     *
     * @param write whose it is; null if it was there before the first write
     */
    record Held(Object value, RegisterOperation write) {}

    /**
     * @param operations of the register
     * @param initial what it held before the first write
     * @param stuck the call that fits into no order
     * @param fit whether operations fit into an order
     */
    OrdersBefore(
            List<RegisterOperation> operations,
            Object initial,
            RegisterOperation stuck,
            Predicate<List<RegisterOperation>> fit) {
        this.stuck = stuck;
        this.initial = initial;
        this.fit = fit;
        this.before =
                operations.stream()
                        .filter(o -> o.called() < stuck.returned() && !o.equals(stuck))
                        .toList();
        before.stream().filter(o -> !(o.call() instanceof Write)).forEach(o -> seen.add(o.saw()));
        this.lastChange =
                before.stream()
                        .filter(o -> o.isChange() && isAnsweredBefore(o))
                        .mapToInt(RegisterOperation::called)
                        .max()
                        .orElse(-1);
    }

    /** The values that the call could have seen; the latest that are certain come first. */
    List<Held> held() {
        Map<Object, List<RegisterOperation>> writes = new LinkedHashMap<>();
        before.stream()
                // Others are overwritten for certain.
                .filter(o -> o.isChange() && o.returned() > lastChange)
                .sorted(
                        Comparator.comparing((RegisterOperation o) -> !isAnsweredBefore(o))
                                .thenComparing(Comparator.reverseOrder()))
                .forEach(
                        o ->
                                writes.computeIfAbsent(o.call().after(null), v -> new ArrayList<>())
                                        .add(o));
        writes.putIfAbsent(initial, List.of());
        List<Held> held = new ArrayList<>();
        writes.forEach((value, writers) -> holder(value, writers).ifPresent(held::add));
        return held;
    }

    private Optional<Held> holder(Object value, List<RegisterOperation> writes) {
        for (RegisterOperation write : writes) {
            if (isFree(write) || fit.test(with(write, insteadSaw(value)))) {
                return Optional.of(new Held(value, write));
            }
        }
        boolean untouched = Objects.equals(value, initial) && lastChange < 0;
        return untouched && fit.test(with(null, insteadSaw(value)))
                ? Optional.of(new Held(value, null))
                : Optional.empty();
    }

    /** The last call, by invocation, that left this value and may have taken effect before. */
    Optional<RegisterOperation> latestWrite(Object value) {
        return before.stream()
                .filter(o -> o.wrote(value))
                .sorted(Comparator.reverseOrder())
                .filter(o -> o.returned() < stuck.returned() || fit.test(with(o, null)))
                .findFirst();
    }

    private boolean isAnsweredBefore(RegisterOperation operation) {
        return operation.returned() < stuck.called();
    }

    /** Whether it may have taken effect after everything else: nothing shows that it did. */
    private boolean isFree(RegisterOperation operation) {
        return operation.call() instanceof Write write
                && operation.returned() > stuck.returned()
                && !seen.contains(write.value());
    }

    /** That call, had it seen this value. A read of nil would fit anywhere. */
    private RegisterOperation insteadSaw(Object value) {
        Object after =
                stuck.call() instanceof CompareAndSet cas ? cas.value() : stuck.call().after(value);
        return new RegisterOperation(
                stuck.process(),
                stuck.called(),
                stuck.returned(),
                new CompareAndSet(stuck.call().key(), value, after));
    }

    /**
     * @param certain that took effect before that call returned; null for none
     * @param instead in the place of that call; null for none
     */
    private List<RegisterOperation> with(RegisterOperation certain, RegisterOperation instead) {
        List<RegisterOperation> operations = new ArrayList<>();
        for (RegisterOperation operation : before) {
            boolean answered = operation.returned() < stuck.returned();
            int returned =
                    answered
                            ? operation.returned()
                            : operation.equals(certain)
                                    ? stuck.returned()
                                    : RegisterOperation.NEVER;
            operations.add(
                    new RegisterOperation(
                            operation.process(), operation.called(), returned, operation.call()));
        }
        if (instead != null) {
            operations.add(instead);
        }
        return operations.stream().sorted().toList();
    }
}
