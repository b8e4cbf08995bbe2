package io.saucr.crash.history;

import io.saucr.crash.history.RegisterCall.CompareAndSet;
import io.saucr.crash.history.RegisterCall.Read;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Says in words why the calls on a register fit into no order: which call shows it, beside the
 * write that is lost. Everything before that call fits into an order; in each the register holds
 * another value than the one that the call saw.
 *
 * @param initial what the register held before the first write
 * @param stuck the first call, by its return, that fits into no order; a read or a compare-and-set
 * @param held what the register may hold when that call takes effect
 */
record Contradiction(
        History history,
        Register register,
        Object initial,
        RegisterOperation stuck,
        Set<Object> held) {
    private static final int MOST_NAMED = 3;
    private static final int MOST_FAULTS = 6;

    List<String> sentences() {
        Set<Object> possible = new LinkedHashSet<>(held);
        operations()
                .filter(o -> o.returned() == RegisterOperation.NEVER)
                .filter(o -> o.called() < stuck.returned() && !o.wrote(saw()))
                .forEach(o -> possible.add(o.call().after(null)));
        List<String> sentences = new ArrayList<>();
        sentences.add(what() + ", when the register could hold only " + values(possible));
        possible.stream().limit(MOST_NAMED).forEach(value -> holds(sentences, value));
        sentences.add(origin());
        more().ifPresent(sentences::add);
        faults().ifPresent(sentences::add);
        return sentences;
    }

    private Stream<RegisterOperation> operations() {
        return register.operations().stream();
    }

    /** The last write of it, by invocation, that began before that call returned. */
    private Optional<RegisterOperation> latestWrite(Object value) {
        return operations()
                .filter(o -> o.wrote(value) && o.called() < stuck.returned())
                .max(Comparator.naturalOrder());
    }

    private Stream<RegisterOperation> reads(Object value) {
        return operations().filter(o -> o.call() instanceof Read && Objects.equals(saw(o), value));
    }

    /** Those that began after that call returned. */
    private Stream<RegisterOperation> readsAfter(Object value) {
        return reads(value).filter(o -> o.called() > stuck.returned());
    }

    private static Object saw(RegisterOperation operation) {
        return operation.call() instanceof Read read
                ? read.value()
                : operation.call() instanceof CompareAndSet cas ? cas.expected() : null;
    }

    private Object saw() {
        return saw(stuck);
    }

    private String what() {
        if (stuck.call() instanceof CompareAndSet) {
            return stuck + " succeeded";
        }
        return "process "
                + stuck.process()
                + " read "
                + Edn.print(saw())
                + " ("
                + stuck.events()
                + ")";
    }

    private static String values(Set<Object> values) {
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
    private void holds(List<String> sentences, Object value) {
        Optional<RegisterOperation> latest = latestWrite(value);
        if (latest.isEmpty()) {
            sentences.add("nothing had been written to it");
            return;
        }
        RegisterOperation write = latest.get();
        Optional<RegisterOperation> readBefore =
                reads(value).filter(o -> o.returned() < stuck.called()).findFirst();
        Optional<RegisterOperation> readAfter = readsAfter(value).findFirst();
        String seen = readBefore.map(o -> ", and seen before by " + o).orElse("");
        if (write.returned() < stuck.called()) {
            seen = ", acknowledged before that began" + seen;
        } else if (write.returned() == RegisterOperation.NEVER) {
            seen = ", whose outcome its client was not told" + seen;
        } else {
            seen = ", under way at the same time" + seen;
        }
        boolean certain = write.returned() < stuck.called() || readBefore.isPresent();
        String sentence = write + seen;
        if (readAfter.isPresent()) {
            sentence = "not seen: " + sentence + "; it is there again for " + readAfter.get();
        } else if (certain && stuck.call() instanceof Read && isBack()) {
            sentence = "lost: " + sentence;
        }
        sentences.add(sentence);
    }

    /** Whether it saw what was before, rather than what never was. */
    private boolean isBack() {
        Object value = saw();
        return Objects.equals(value, initial)
                || RegisterCall.ABSENT.equals(value)
                || latestWrite(value).isPresent();
    }

    /** Where the value that was seen comes from. */
    private String origin() {
        Object value = saw();
        String printed = Edn.print(value);
        Optional<RegisterOperation> older = latestWrite(value);
        if (older.isPresent()) {
            return printed + " is older: " + older.get();
        }
        if (Objects.equals(value, initial)) {
            return printed + " is what it held before the first write";
        }
        Optional<RegisterOperation> later = operations().filter(o -> o.wrote(value)).findFirst();
        if (later.isPresent()) {
            return printed + " is written only later: " + later.get();
        }
        Optional<RegisterOperation> failed =
                register.failed().stream().filter(o -> o.wrote(value)).findFirst();
        if (failed.isPresent()) {
            return printed + " is written only by a call that failed: " + failed.get();
        }
        return RegisterCall.ABSENT.equals(value)
                ? "the register itself was gone"
                : printed + " was never written";
    }

    /** The reads after it that see the same. */
    private Optional<String> more() {
        List<RegisterOperation> reads = readsAfter(saw()).toList();
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

    /** What the nemesis did after the write that is not seen began. */
    private Optional<String> faults() {
        int from =
                operations()
                        .filter(o -> held.stream().anyMatch(o::wrote))
                        .filter(o -> o.called() < stuck.returned())
                        .mapToInt(RegisterOperation::called)
                        .max()
                        .orElse(0);
        List<String> faults = new ArrayList<>();
        String open = "";
        for (HistoryEvent event : history.events()) {
            if (event instanceof HistoryEvent.Nemesis nemesis) {
                String fault = nemesis.fault() + " " + nemesis.value();
                // The second of the two lines of a fault.
                boolean second = nemesis.fault().equals(open);
                open = second ? "" : nemesis.fault();
                if (!second && nemesis.index() > from && nemesis.index() < stuck.returned()) {
                    faults.add(fault + " (event " + nemesis.index() + ")");
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
