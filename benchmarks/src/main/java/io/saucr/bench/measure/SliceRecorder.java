package io.saucr.bench.measure;

import io.saucr.bench.report.RunFolder;
import io.saucr.bench.result.Case;
import io.saucr.bench.result.LoadResult;
import io.saucr.bench.result.Numbers;
import io.saucr.bench.result.Slice;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Writes a benchmark's slices and histograms into the run's folder as they are measured, and shows
 * how far it is. Used by one thread.
 */
public final class SliceRecorder implements Benchmark.Listener {
    private static final String SLICES = "slices.csv";

    private final RunFolder folder;
    private final Progress progress;
    private final List<Slice> before;
    private int round;

    /**
     * Keeps what a run that is resumed has measured in whole rounds, and puts the rest into {@code
     * slices-cut-short.csv}.
     */
    public SliceRecorder(RunFolder folder, RunPlan plan, Progress progress) throws IOException {
        this.folder = folder;
        this.progress = progress;
        List<Slice> found = folder.rows(SLICES, Slice.class);
        this.before = ofWholeRounds(found, plan);
        if (before.size() < found.size()) {
            List<Slice> cut = new ArrayList<>(found);
            cut.removeAll(before);
            folder.append("slices-cut-short.csv", Slice.class, cut);
            folder.replace(SLICES, Slice.class, before);
        }
        before.forEach(slice -> progress.done());
    }

    static List<Slice> ofWholeRounds(List<Slice> slices, RunPlan plan) {
        Map<Case.EnsembleKey, Map<Integer, Integer>> counts = new HashMap<>();
        for (Slice slice : slices) {
            counts.computeIfAbsent(slice.measured().ensemble(), key -> new HashMap<>())
                    .merge(slice.round(), 1, Integer::sum);
        }
        return slices.stream()
                .filter(
                        slice -> {
                            Case.EnsembleKey key = slice.measured().ensemble();
                            return counts.get(key).get(slice.round())
                                    == plan.configurations().size() * plan.cases(key).size();
                        })
                .toList();
    }

    /** Slices of whole rounds that were measured before the run was resumed. */
    public List<Slice> before() {
        return before;
    }

    @Override
    public void step(String what) {
        progress.step(what);
    }

    @Override
    public void measured(Slice slice, LoadResult load) throws IOException {
        progress.done();
        folder.append(SLICES, Slice.class, List.of(slice));
        folder.keep(
                slice.measured().ensemble() + "-round-" + slice.round(),
                tag(slice),
                load.latencies(),
                round != slice.round());
        round = slice.round();
    }

    /** Names a case and a configuration in histogram logs, without spaces and commas. */
    static String tag(Slice slice) {
        return String.format(
                        Locale.ROOT,
                        "%s/%s/%d-clients/%s/n%d/%d-bytes%s%s",
                        slice.configuration(),
                        slice.workload(),
                        slice.clients(),
                        slice.device().name().toLowerCase(Locale.ROOT),
                        slice.voters(),
                        slice.valueBytes(),
                        slice.rate() == 0 ? "" : "/" + Numbers.number(slice.rate()) + "-offered",
                        slice.measured().sizes().toString().replace(", ", "/").replace(' ', '-'))
                .replaceAll("[\\s,]", ";");
    }

    @Override
    public void roundEnded(int ended) {
        progress.note("round " + ended + " measured");
        round = 0;
    }

    @Override
    public void ended(String configuration, int server, Path log) throws IOException {
        folder.keepLog(configuration, server, log);
    }
}
