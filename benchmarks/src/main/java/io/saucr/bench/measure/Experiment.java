package io.saucr.bench.measure;

import io.saucr.bench.ensemble.Configuration;
import io.saucr.bench.report.RunFolder;
import io.saucr.bench.result.BurstSample;
import io.saucr.bench.result.FlappingSample;
import io.saucr.bench.result.RunResult;
import io.saucr.bench.result.Sample;
import io.saucr.bench.result.TimeSample;
import io.saucr.bench.result.TimelineEvent;
import io.saucr.bench.result.TimelinePoint;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * What one run measures in ensembles that live for one measurement each. Immutable.
 *
 * @param title names the run
 * @param kind of the samples
 * @param subjects what is measured of each configuration in each round, in this order
 * @param parameters that are part of the plan
 * @param <S> what each measurement makes
 */
public record Experiment<S extends Record & Sample>(
        String title, Kind<S> kind, List<Subject<S>> subjects, Map<String, Object> parameters) {
    /** To which the events of timelines go as they happen. */
    public static final String EVENTS = "events.csv";

    public static final Kind<TimeSample> TIMES =
            new Kind<>(
                    "times.csv",
                    TimeSample.class,
                    (samples, folder) -> folder.empty().withTimes(samples));
    public static final Kind<BurstSample> BURSTS =
            new Kind<>(
                    "bursts.csv",
                    BurstSample.class,
                    (samples, folder) -> folder.empty().withBursts(samples));
    public static final Kind<FlappingSample> FLAPPING =
            new Kind<>(
                    "flapping.csv",
                    FlappingSample.class,
                    (samples, folder) -> folder.empty().withFlapping(samples));
    public static final Kind<TimelinePoint> TIMELINES =
            new Kind<>(
                    "timeline.csv",
                    TimelinePoint.class,
                    (samples, folder) ->
                            folder.empty()
                                    .withTimeline(
                                            samples, folder.rows(EVENTS, TimelineEvent.class)));

    public Experiment {
        subjects = List.copyOf(subjects);
    }

    /**
     * @param file to which samples go as they are made
     * @param result puts all samples of a run into its result
     */
    public record Kind<S extends Record & Sample>(String file, Class<S> type, ResultOf<S> result) {}

    /** Puts all samples of a run into its result. */
    public interface ResultOf<S> {
        RunResult of(List<S> samples, RunFolder folder) throws IOException;
    }

    /** What is measured together with one ensemble. */
    public interface Subject<S> {
        /** In words. */
        String name();

        /** Whether a sample is one of it; of all of a run if there is one subject. */
        default boolean has(S sample) {
            return true;
        }

        /**
         * Starts an ensemble, measures, and ends it.
         *
         * @param work an empty folder
         * @param results where logs may be kept
         */
        List<S> measure(Configuration configuration, int round, Path work, RunFolder results)
                throws Exception;
    }
}
