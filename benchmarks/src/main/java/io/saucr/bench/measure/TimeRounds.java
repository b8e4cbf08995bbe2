package io.saucr.bench.measure;

import io.saucr.bench.ensemble.Configuration;
import io.saucr.bench.report.RunFolder;
import io.saucr.bench.result.RunResult;
import io.saucr.bench.result.TimeSample;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Measures how long things take, each in an ensemble of its own, with the configurations in turns
 * and in rounds; who begins changes from round to round, because whoever goes first has the colder
 * machine. Times go to {@code times.csv} as they are measured. Used by one thread.
 */
public final class TimeRounds {
    private static final String TIMES = "times.csv";

    /** What is measured together with one ensemble. */
    public interface Subject {
        /** For a person who waits. */
        String name();

        /** What {@link #measure} measures, in order. */
        List<String> measures();

        /**
         * Starts an ensemble, measures, and ends it.
         *
         * @param work an empty folder
         * @param results where logs may be kept
         * @return seconds by what took them, in order; greater than 0
         */
        Map<String, Double> measure(Configuration configuration, Path work, RunFolder results)
                throws Exception;
    }

    private final String title;
    private final List<Configuration> configurations;
    private final List<Subject> subjects;
    private final int rounds;
    private final Map<String, Object> parameters;
    private int number;

    /**
     * @param parameters that are part of the plan
     */
    public TimeRounds(
            String title,
            List<Configuration> configurations,
            List<Subject> subjects,
            int rounds,
            Map<String, Object> parameters) {
        if (rounds < 1) {
            throw new IllegalArgumentException("not possible: " + rounds + " rounds");
        }
        this.title = title;
        this.configurations = List.copyOf(configurations);
        this.subjects = List.copyOf(subjects);
        this.rounds = rounds;
        this.parameters = parameters;
    }

    /** What is going to be measured, for the run's folder. */
    public Map<String, Object> plan() {
        Map<String, Object> plan = new LinkedHashMap<>();
        plan.put("title", title);
        plan.put("configurations", configurations.stream().map(Configuration::described).toList());
        plan.put("rounds", rounds);
        plan.putAll(parameters);
        return plan;
    }

    /** Measures what is not in the folder yet, and ends the run. */
    public RunResult measure(RunFolder folder, WorkFolder work) throws Exception {
        List<TimeSample> samples = new ArrayList<>(folder.rows(TIMES, TimeSample.class));
        Progress progress = Progress.of(rounds * subjects.size() * configurations.size());
        try {
            for (int round = 1; round <= rounds; round++) {
                measure(round, samples, progress, folder, work);
                progress.note("round " + round + " measured");
            }
        } catch (Exception e) {
            progress.end();
            folder.sayUnfinished();
            throw e;
        }
        progress.end();
        RunResult result = folder.empty().withTimes(inOrder(samples));
        folder.finish(result);
        return result;
    }

    private void measure(
            int round,
            List<TimeSample> samples,
            Progress progress,
            RunFolder folder,
            WorkFolder work)
            throws Exception {
        for (Subject subject : subjects) {
            for (int turn = 0; turn < configurations.size(); turn++) {
                Configuration configuration =
                        configurations.get((turn + round - 1) % configurations.size());
                progress.step(
                        "round " + round + ", " + subject.name() + ", " + configuration.name());
                if (!measured(samples, subject, configuration, round)) {
                    List<TimeSample> own =
                            measure(
                                    subject,
                                    configuration,
                                    round,
                                    work.path().resolve("times-" + ++number),
                                    folder);
                    samples.addAll(own);
                    folder.append(TIMES, TimeSample.class, own);
                }
                progress.done();
            }
        }
    }

    private static boolean measured(
            List<TimeSample> samples, Subject subject, Configuration configuration, int round) {
        return samples.stream()
                .anyMatch(
                        sample ->
                                sample.round() == round
                                        && sample.configuration().equals(configuration.name())
                                        && subject.measures().contains(sample.measure()));
    }

    private static List<TimeSample> measure(
            Subject subject, Configuration configuration, int round, Path work, RunFolder folder)
            throws Exception {
        try {
            List<TimeSample> samples = new ArrayList<>();
            subject.measure(configuration, work, folder)
                    .forEach(
                            (what, seconds) ->
                                    samples.add(
                                            new TimeSample(
                                                    what, configuration.name(), round, seconds)));
            return samples;
        } catch (IllegalStateException e) {
            throw new IOException(
                    "configuration " + configuration.name() + ": " + e.getMessage(), e);
        } finally {
            WorkFolder.delete(work);
        }
    }

    /** The first configuration first, whoever began in a round. */
    private List<TimeSample> inOrder(List<TimeSample> samples) {
        List<TimeSample> sorted = new ArrayList<>();
        for (Configuration configuration : configurations) {
            samples.stream()
                    .filter(sample -> sample.configuration().equals(configuration.name()))
                    .forEach(sorted::add);
        }
        return sorted;
    }
}
