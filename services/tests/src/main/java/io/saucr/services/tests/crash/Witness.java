package io.saucr.services.tests.crash;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What was seen outside, in the order in which it was seen, and what is wrong with it: each answer
 * once, in order, with the balance that a run without crashes gives; each call to the world with
 * one id. Thread-safe.
 */
final class Witness {

    private final List<String> violations = new ArrayList<>();
    private final Map<Long, String> calls = new HashMap<>();
    private long lastMoved;
    private long answers;
    private long taken;
    private long repeatedCalls;
    private final Map<Long, Long> lastTaken = new HashMap<>();

    /** A line of the client. */
    synchronized void client(String line) {
        String[] words = line.split(" ");
        switch (words[0]) {
            case "moved" -> {
                long number = Long.parseLong(words[1]);
                if (number <= lastMoved) {
                    violations.add("an answer again or late: " + line + " after " + lastMoved);
                }
                if (Long.parseLong(words[2]) != -Ledger.centsUpTo(number)) {
                    violations.add(
                            "a wrong balance: " + line + ", not " + -Ledger.centsUpTo(number));
                }
                lastMoved = number;
                answers++;
            }
            case "resumed" -> {
                if (Long.parseLong(words[1]) < lastMoved) {
                    violations.add("moves are gone: " + line + " after " + lastMoved);
                }
            }
            case "taken" -> {
                long start = Long.parseLong(words[1]);
                long number = Long.parseLong(words[2]);
                if (number <= lastTaken.getOrDefault(start, 0L)) {
                    violations.add("an answer without a generation again: " + line);
                }
                lastTaken.put(start, number);
                taken++;
            }
            case "asked", "stopped" -> {}
            default -> violations.add("the client says " + line);
        }
    }

    /** A line of a service. */
    synchronized void service(String name, String line) {
        String[] words = line.split(" ");
        if (words[0].equals("world")) {
            long number = Long.parseLong(words[1]);
            String before = calls.putIfAbsent(number, words[2]);
            repeatedCalls += before == null ? 0 : 1;
            if (!Ledger.hasCall(number) || (before != null && !before.equals(words[2]))) {
                violations.add(name + " calls the world: " + line + ", before " + before);
            }
        }
    }

    /** What was seen outside up to a moment. */
    record Seen(long moved, long called, long taken) {}

    /** What was seen so far. */
    synchronized Seen seen() {
        long called = calls.keySet().stream().mapToLong(Long::longValue).max().orElse(0);
        return new Seen(lastMoved, called, taken);
    }

    /**
     * What was seen outside, or by the payee, the payer must not have lost.
     *
     * @param seen before the payer was asked
     */
    synchronized void noOrphan(Seen seen, Map<String, Long> payee, Map<String, Long> payer) {
        long moved = payer.getOrDefault("moved", 0L);
        for (long other :
                new long[] {seen.moved(), seen.called(), payee.getOrDefault("moved", 0L)}) {
            if (moved < other) {
                violations.add("an orphan: move " + other + " was seen, the payer has " + moved);
            }
        }
        if (payer.getOrDefault("once", 0L) < seen.taken()) {
            violations.add(
                    "orphans: " + seen.taken() + " were taken, the payer has " + payer.get("once"));
        }
    }

    /**
     * When all is quiet: everything that follows from so many moves, once.
     *
     * @param writes how often the znode was written to
     */
    synchronized void settled(
            Map<String, Long> payer, Map<String, Long> payee, long moves, long writes) {
        Map<String, Long> expected = new HashMap<>();
        expected.put("moved", moves);
        expected.put("credited", moves);
        expected.put("cents", -Ledger.centsUpTo(moves));
        expected.put("ticks", moves / 5);
        expected.put("tickSum", 5 * (moves / 5) * (moves / 5 + 1) / 2);
        expected.put("written", moves / 10);
        expected.put("unwritten", 0L);
        expected.put("disorder", 0L);
        equal("payer", expected, payer);
        equal(
                "payee",
                Map.of("moved", moves, "cents", Ledger.centsUpTo(moves), "disorder", 0L),
                payee);
        if (lastMoved != moves) {
            violations.add("the last answer is that of " + lastMoved + ", not of " + moves);
        }
        if (calls.size() != moves / 7) {
            violations.add(calls.size() + " calls to the world, not " + moves / 7);
        }
        if (writes != moves / 10) {
            violations.add(writes + " writes to the ensemble, not " + moves / 10);
        }
    }

    private void equal(String who, Map<String, Long> expected, Map<String, Long> counts) {
        expected.forEach(
                (name, value) -> {
                    if (counts.getOrDefault(name, 0L) != (long) value) {
                        violations.add(
                                who + ": " + name + " is " + counts.get(name) + ", not " + value);
                    }
                });
    }

    synchronized List<String> violations() {
        return List.copyOf(violations);
    }

    synchronized String summary() {
        return "%s moves, %s answers seen, %s without a generation, %s calls to the world, %s of them again, %s violations"
                .formatted(
                        lastMoved, answers, taken, calls.size(), repeatedCalls, violations.size());
    }
}
