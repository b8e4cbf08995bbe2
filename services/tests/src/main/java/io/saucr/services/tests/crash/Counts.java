package io.saucr.services.tests.crash;

import io.saucr.services.MapState;
import io.saucr.services.State;
import java.util.HashMap;
import java.util.Map;

/** What a service of these tests counts, by name. Turn thread. */
final class Counts {

    private final MapState<String, Long> counts;

    Counts(State state) {
        counts = state.map("counts", String.class, Long.class);
    }

    long get(String name) {
        return counts.getOrDefault(name, 0L);
    }

    void set(String name, long value) {
        counts.put(name, value);
    }

    void add(String name, long more) {
        counts.merge(name, more, Long::sum);
    }

    /** A number that is to be the one after the last of this name; else that is counted. */
    void next(String name, long number) {
        if (number != get(name) + 1) {
            add("disorder", 1);
        }
        set(name, number);
    }

    Ledger.Books books() {
        Map<String, Long> books = new HashMap<>();
        counts.entries().forEach(each -> books.put(each.getKey(), each.getValue()));
        return new Ledger.Books(books);
    }
}
