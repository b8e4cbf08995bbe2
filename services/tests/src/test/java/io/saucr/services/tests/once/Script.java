package io.saucr.services.tests.once;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;

/** The fates of chosen requests, each once, and the first of those that fit. Thread-safe. */
final class Script implements Function<Request, Fate> {
    private record Line(Predicate<Request> which, Fate fate) {}

    private final List<Line> lines = new ArrayList<>(); // Guarded by this.

    /** The first request that fits has this fate. */
    synchronized Script on(Predicate<Request> which, Fate fate) {
        lines.add(new Line(which, fate));
        return this;
    }

    /** The first request that holds this text has this fate. */
    Script on(String text, Fate fate) {
        return on(request -> request.contains(text), fate);
    }

    @Override
    public synchronized Fate apply(Request request) {
        for (Line line : lines) {
            if (line.which().test(request)) {
                lines.remove(line);
                return line.fate();
            }
        }
        return Fate.PASS;
    }

    /** How many are still to come. */
    synchronized int left() {
        return lines.size();
    }
}
