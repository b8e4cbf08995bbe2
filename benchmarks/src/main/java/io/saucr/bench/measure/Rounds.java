package io.saucr.bench.measure;

import io.saucr.bench.ensemble.Configuration;
import io.saucr.bench.report.RunFolder;
import io.saucr.bench.result.RunResult;
import io.saucr.bench.result.Sample;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Runs an experiment with the configurations in turns and in rounds; who begins changes from round
 * to round, because the first one has the colder machine. Samples go to a file as they are made,
 * and what is in it is not measured again. Used by one thread.
 *
 * @param <S> what each measurement makes
 */
public final class Rounds<S extends Record & Sample> {
    private final Experiment<S> experiment;
    private final List<Configuration> configurations;
    private final int rounds;
    private final List<S> samples = new ArrayList<>();
    private int measured;

    /**
     * @throws IllegalArgumentException if there is not at least one round
     */
    public Rounds(Experiment<S> experiment, List<Configuration> configurations, int rounds) {
        if (rounds < 1) {
            throw new IllegalArgumentException("not possible: " + rounds + " rounds");
        }
        this.experiment = experiment;
        this.configurations = List.copyOf(configurations);
        this.rounds = rounds;
    }

    /** What is going to be measured, for the run's folder. */
    public Map<String, Object> plan() {
        Map<String, Object> plan = new LinkedHashMap<>();
        plan.put("title", experiment.title());
        plan.put("configurations", configurations.stream().map(Configuration::described).toList());
        plan.put("rounds", rounds);
        plan.putAll(experiment.parameters());
        return plan;
    }

    /** Measures what is not in the folder yet, and ends the run. */
    public RunResult measure(RunFolder folder, WorkFolder work) throws Exception {
        samples.addAll(folder.rows(experiment.kind().file(), experiment.kind().type()));
        int turns = experiment.subjects().size() * configurations.size();
        Progress progress = Progress.of(rounds * turns);
        try {
            for (int round = 1; round <= rounds; round++) {
                for (Experiment.Subject<S> subject : experiment.subjects()) {
                    for (int turn = 0; turn < configurations.size(); turn++) {
                        Configuration configuration =
                                configurations.get((turn + round - 1) % configurations.size());
                        progress.step(step(round, subject, configuration));
                        measure(subject, configuration, round, folder, work);
                        progress.done();
                    }
                }
                progress.note("round " + round + " measured");
            }
        } catch (Exception e) {
            progress.end();
            folder.sayUnfinished();
            throw e;
        }
        progress.end();
        sort();
        RunResult result = experiment.kind().result().of(samples, folder);
        folder.finish(result);
        return result;
    }

    private static String step(
            int round, Experiment.Subject<?> subject, Configuration configuration) {
        return "round " + round + ", " + subject.name() + ", " + configuration.name();
    }

    private void measure(
            Experiment.Subject<S> subject,
            Configuration configuration,
            int round,
            RunFolder folder,
            WorkFolder work)
            throws Exception {
        if (samples.stream()
                .anyMatch(
                        sample ->
                                sample.round() == round
                                        && sample.configuration().equals(configuration.name())
                                        && subject.has(sample))) {
            return;
        }
        Path data = work.path().resolve("measured-" + ++measured);
        try {
            List<S> own = subject.measure(configuration, round, data, folder);
            samples.addAll(own);
            folder.append(experiment.kind().file(), experiment.kind().type(), own);
        } catch (IllegalStateException e) {
            throw new IOException(
                    "configuration " + configuration.name() + ": " + e.getMessage(), e);
        } finally {
            WorkFolder.delete(data);
        }
    }

    /** The first subject and configuration first, in whatever order a round ran. */
    private void sort() {
        List<String> names = configurations.stream().map(Configuration::name).toList();
        samples.sort(
                Comparator.comparingInt(this::subject)
                        .thenComparingInt(sample -> names.indexOf(sample.configuration()))
                        .thenComparingInt(Sample::round));
    }

    private int subject(S sample) {
        return IntStream.range(0, experiment.subjects().size())
                .filter(i -> experiment.subjects().get(i).has(sample))
                .findFirst()
                .orElse(Integer.MAX_VALUE);
    }
}
