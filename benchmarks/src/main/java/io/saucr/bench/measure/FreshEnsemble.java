package io.saucr.bench.measure;

import io.saucr.bench.ensemble.BenchEnsemble;
import io.saucr.bench.ensemble.Configuration;
import io.saucr.bench.report.RunFolder;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * An ensemble that lives for one measurement.
 *
 * @param jvmFlags of the servers
 */
public record FreshEnsemble(int servers, List<String> jvmFlags) {
    /** What is measured of it once it serves. */
    public interface Measurement<T> {
        T of(BenchEnsemble ensemble) throws Exception;
    }

    /** What is done to it before it starts. */
    public interface Preparation {
        void of(BenchEnsemble ensemble) throws Exception;
    }

    /**
     * Starts it, measures, ends it, and keeps its logs.
     *
     * @param work an empty folder
     * @param results where logs are kept
     * @param name of the logs
     */
    public <T> T measure(
            Configuration configuration,
            Path work,
            RunFolder results,
            String name,
            Measurement<T> measurement)
            throws Exception {
        return measure(configuration, work, results, name, unchanged -> {}, measurement);
    }

    /** The same of servers that are prepared first. */
    public <T> T measure(
            Configuration configuration,
            Path work,
            RunFolder results,
            String name,
            Preparation preparation,
            Measurement<T> measurement)
            throws Exception {
        BenchEnsemble ensemble = new BenchEnsemble(configuration, servers, jvmFlags, work);
        try (ensemble) {
            preparation.of(ensemble);
            ensemble.start();
            return measurement.of(ensemble);
        } finally {
            for (Map.Entry<Integer, Path> log : ensemble.logs().entrySet()) {
                results.keepLog(name, log.getKey(), log.getValue());
            }
        }
    }
}
