package io.saucr.services.bench;

import io.saucr.bench.result.Numbers;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Runs whole applications side by side: each once in every round, in an order that moves on by one
 * from round to round. Used by one thread.
 */
final class Rounds {

    /** Runs an application once. */
    interface Trial {

        /**
         * Runs it.
         *
         * @param round from 0
         * @return what it showed; a figure that this one does not have is missing
         */
        Map<String, Double> run(int round) throws Exception;
    }

    /**
     * What one run showed.
     *
     * @param contender who
     * @param round from 0
     * @param figures by their names
     */
    record Measurement(String contender, int round, Map<String, Double> figures) {

        /** The figures whose names begin with some words, without these. */
        Measurement of(String prefix) {
            Map<String, Double> own = new LinkedHashMap<>();
            figures.forEach(
                    (name, value) -> {
                        if (name.startsWith(prefix)) {
                            own.put(name.substring(prefix.length()), value);
                        }
                    });
            return new Measurement(contender, round, own);
        }
    }

    private final PrintStream progress;

    /** Says how it goes to a stream. */
    Rounds(PrintStream progress) {
        this.progress = progress;
    }

    /**
     * Runs all.
     *
     * @param trials by the contenders' names, in the order of the first round
     * @param rounds from 1
     */
    List<Measurement> run(Map<String, Trial> trials, int rounds) throws Exception {
        List<String> names = List.copyOf(trials.keySet());
        List<Measurement> measured = new ArrayList<>();
        for (int round = 0; round < rounds; round++) {
            for (int place = 0; place < names.size(); place++) {
                String name = names.get((place + round) % names.size());
                Map<String, Double> figures = trials.get(name).run(round);
                measured.add(new Measurement(name, round, figures));
                progress.printf(
                        Locale.ROOT,
                        "%d of %d: round %d, %s: %s%n",
                        measured.size(),
                        rounds * names.size(),
                        round + 1,
                        name,
                        figures.entrySet().stream()
                                .map(it -> it.getKey() + " " + Numbers.number(it.getValue()))
                                .collect(Collectors.joining(", ")));
            }
        }
        return measured;
    }
}
