package io.saucr.history;

import io.saucr.history.OrdersBefore.Held;
import io.saucr.history.RegisterCall.CompareAndSet;
import io.saucr.history.RegisterCall.Read;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Says in words why the calls on a register fit into no order: which call shows it, next to the
 * write that is lost. Everything before that call fits into an order; in each the register holds
 * another value than the one that the call saw. Used by one thread.
 */
final class Contradiction {
    private static final int MOST_NAMED = 3;
    private static final int MOST_FAULTS = 6;

    private final History history;
    private final Register register;
    private final Object initial;
    private final RegisterOperation stuck;
    private final List<Held> held;

    private final LinearizabilityChecker.Trials trials;

    /** Whether no other value was possible. */
    private final boolean complete;

    /** The last write before of the value that the call saw. */
    private final Optional<RegisterOperation> older;

    /**
     * @param initial what the register held before the first write
     * @param stuck the first call, by its return, that fits into no order; a read or a
     *     compare-and-set
     */
    Contradiction(
            History history,
            Register register,
            Object initial,
            RegisterOperation stuck,
            LinearizabilityChecker.Trials trials) {
        this.history = history;
        this.register = register;
        this.initial = initial;
        this.stuck = stuck;
        this.trials = trials;
        OrdersBefore orders = new OrdersBefore(register.operations(), initial, stuck, trials::fit);
        this.held = orders.held();
        this.complete = trials.complete();
        this.older = orders.latestWrite(saw());
    }

    List<String> sentences() {
        List<String> sentences = new ArrayList<>();
        sentences.add(what() + when());
        held.stream().limit(MOST_NAMED).forEach(value -> sentences.add(holds(value)));
        sentences.add(origin());
        more().ifPresent(sentences::add);
        faults().ifPresent(sentences::add);
        return sentences;
    }

    private String when() {
        if (held.isEmpty()) {
            return ", which fits nowhere";
        }
        String values = values(held.stream().map(Held::value).toList());
        return complete
                ? ", when the register could hold only " + values
                : ", when the register could hold " + values + "; not every value was tried";
    }

    private Stream<RegisterOperation> operations() {
        return register.operations().stream();
    }

    private Stream<RegisterOperation> reads(Object value) {
        return operations().filter(o -> o.call() instanceof Read && Objects.equals(o.saw(), value));
    }

    /**
     * Those that began after that call returned, and saw this write.
     *
     * @param write null for what was written before that call
     */
    private Stream<RegisterOperation> readsAfter(Object value, RegisterOperation write) {
        int again =
                operations()
                        .filter(o -> o.wrote(value) && !o.equals(write))
                        .filter(o -> o.returned() > stuck.called())
                        .mapToInt(RegisterOperation::called)
                        .min()
                        .orElse(RegisterOperation.NEVER);
        return reads(value).filter(o -> o.called() > stuck.returned() && o.returned() < again);
    }

    private Object saw() {
        return stuck.saw();
    }

    private String what() {
        if (stuck.call() instanceof CompareAndSet) {
            return stuck + " succeeded";
        }
        return "process %s read %s (%s)"
                .formatted(stuck.process(), Edn.print(saw()), stuck.events());
    }

    private static String values(List<Object> values) {
        List<String> named =
                new ArrayList<>(values.stream().limit(MOST_NAMED).map(Edn::print).toList());
        int more = values.size() - named.size();
        String last =
                more == 0
                        ? named.remove(named.size() - 1)
                        : more + (more == 1 ? " other value" : " other values");
        return named.isEmpty() ? last : String.join(", ", named) + " or " + last;
    }

    /** Why the register may hold this value: who wrote it, and whether that is certain. */
    private String holds(Held possible) {
        RegisterOperation write = possible.write();
        if (write == null) {
            return held.size() == 1
                    ? "nothing had been written to it"
                    : Edn.print(possible.value()) + " if nothing had been written to it";
        }
        Optional<RegisterOperation> readBefore = readBefore(possible);
        String sentence = write.toString();
        if (write.returned() < stuck.called()) {
            sentence += ", acknowledged before that began";
        } else if (write.returned() == RegisterOperation.NEVER) {
            sentence += ", whose outcome its client was not told";
        } else {
            sentence += ", under way at the same time";
        }
        sentence += readBefore.map(o -> ", and seen before by " + o).orElse("");
        if (!isCertain(possible)) {
            return sentence;
        }
        Optional<RegisterOperation> readAfter = readsAfter(possible.value(), write).findFirst();
        if (readAfter.isPresent()) {
            return "not seen: " + sentence + "; it is there again for " + readAfter.get();
        }
        return stuck.call() instanceof Read && isBack() ? "lost: " + sentence : sentence;
    }

    private Optional<RegisterOperation> readBefore(Held possible) {
        return reads(possible.value())
                .filter(o -> o.returned() < stuck.called())
                .filter(o -> o.returned() > possible.write().called())
                .findFirst();
    }

    /** Whether its write took effect before that call for certain. */
    private boolean isCertain(Held possible) {
        return possible.write() != null
                && (possible.write().returned() < stuck.called()
                        || readBefore(possible).isPresent());
    }

    /** Whether it saw what was before, rather than what never was. */
    private boolean isBack() {
        Object value = saw();
        return Objects.equals(value, initial)
                || RegisterCall.ABSENT.equals(value)
                || older.isPresent();
    }

    /** Where the value that was seen comes from. */
    private String origin() {
        Object value = saw();
        String printed = Edn.print(value);
        if (older.isPresent()) {
            return printed + " is older: " + older.get();
        }
        if (Objects.equals(value, initial)) {
            return printed + " is what it held before the first write";
        }
        List<RegisterOperation> others =
                operations().filter(o -> o.wrote(value) && !o.equals(stuck)).toList();
        Optional<RegisterOperation> before =
                others.stream().filter(o -> o.called() < stuck.returned()).findFirst();
        if (before.isPresent()) {
            return trials.complete()
                    ? printed
                            + " was not there before: "
                            + before.get()
                            + " cannot have taken effect"
                    : printed + " is written by " + before.get();
        }
        if (!others.isEmpty()) {
            return printed + " is written only later: " + others.get(0);
        }
        Optional<RegisterOperation> failed =
                register.failed().stream().filter(o -> o.wrote(value)).findFirst();
        if (failed.isPresent()) {
            return printed + " is written only by a call that failed: " + failed.get();
        }
        if (stuck.wrote(value)) {
            return printed + " is written by no other call";
        }
        return RegisterCall.ABSENT.equals(value)
                ? "the register itself was lost"
                : printed + " was never written";
    }

    /** The reads after it that see the same. */
    private Optional<String> more() {
        List<RegisterOperation> reads = readsAfter(saw(), null).toList();
        if (reads.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(
                "seen again by "
                        + reads.stream()
                                .limit(MOST_NAMED)
                                .map(o -> "process " + o.process() + " (" + o.events() + ")")
                                .collect(Collectors.joining(", "))
                        + (reads.size() > MOST_NAMED
                                ? " and " + (reads.size() - MOST_NAMED) + " more reads"
                                : ""));
    }

    private static String name(HistoryEvent.Nemesis nemesis) {
        return nemesis.fault() + " " + nemesis.value() + " (event " + nemesis.index() + ")";
    }

    /** What the nemesis was at after the write that is not seen began, the last that is certain. */
    private Optional<String> faults() {
        boolean certain = held.stream().anyMatch(this::isCertain);
        int from =
                held.stream()
                        .filter(possible -> !certain || isCertain(possible))
                        .map(Held::write)
                        .filter(Objects::nonNull)
                        .mapToInt(RegisterOperation::called)
                        .max()
                        .orElse(0);
        List<String> faults = new ArrayList<>();
        HistoryEvent.Nemesis begun = null;
        for (HistoryEvent event : history.events()) {
            if (!(event instanceof HistoryEvent.Nemesis nemesis)) {
                continue;
            }
            if (begun != null && begun.fault().equals(nemesis.fault())) {
                // The second of the two lines of a fault: it may have been under way.
                if (begun.index() <= from && nemesis.index() > from) {
                    faults.add(name(begun));
                }
                begun = null;
            } else {
                begun = nemesis;
                if (nemesis.index() > from && nemesis.index() < stuck.returned()) {
                    faults.add(name(nemesis));
                }
            }
        }
        int first = Math.max(0, faults.size() - MOST_FAULTS);
        return faults.isEmpty()
                ? Optional.empty()
                : Optional.of(
                        "the nemesis between: "
                                + (first > 0 ? first + " faults, then " : "")
                                + String.join(", ", faults.subList(first, faults.size())));
    }
}
