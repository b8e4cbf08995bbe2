package io.saucr.bench.measure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.bench.ensemble.Configuration;
import io.saucr.bench.ensemble.SaucrDistribution;
import io.saucr.bench.report.RunFolder;
import io.saucr.bench.result.RunResult;
import io.saucr.bench.result.TimeSample;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RoundsTest {
    @TempDir Path folder;

    private final List<String> calls = new ArrayList<>();
    private String failsAt = "";

    private final class Timed implements Experiment.Subject<TimeSample> {
        private final String name;

        Timed(String name) {
            this.name = name;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public boolean has(TimeSample sample) {
            return sample.measure().equals(name);
        }

        @Override
        public List<TimeSample> measure(
                Configuration configuration, int round, Path work, RunFolder results) {
            String call = round + " " + name + " " + configuration.name();
            calls.add(call);
            if (call.equals(failsAt)) {
                throw new IllegalStateException("it does not serve");
            }
            return List.of(new TimeSample(name, configuration.name(), round, calls.size()));
        }
    }

    private Rounds<TimeSample> rounds(int number) throws Exception {
        SaucrDistribution none = new SaucrDistribution(null, Path.of("."));
        return new Rounds<>(
                new Experiment<>(
                        "test",
                        Experiment.TIMES,
                        List.of(new Timed("one"), new Timed("two")),
                        Map.of("servers", 3)),
                List.of(
                        Configuration.parse(Configuration.MEMORY_DURABLE, none),
                        Configuration.parse(Configuration.DISK_DURABLE, none)),
                number);
    }

    private RunResult run(boolean resume) throws Exception {
        Rounds<TimeSample> rounds = rounds(2);
        RunFolder results =
                RunFolder.open(folder.resolve("results"), "test", rounds.plan(), resume);
        try (WorkFolder work = new WorkFolder(folder.resolve("work"))) {
            return rounds.measure(results, work);
        }
    }

    @Test
    void theConfigurationsTakeTurnsAndWhoBeginsChanges() throws Exception {
        RunResult result = run(false);
        assertThat(calls)
                .containsExactly(
                        "1 one memory-durable",
                        "1 one disk-durable",
                        "1 two memory-durable",
                        "1 two disk-durable",
                        "2 one disk-durable",
                        "2 one memory-durable",
                        "2 two disk-durable",
                        "2 two memory-durable");
        assertThat(result.times())
                .extracting(each -> each.measure() + " " + each.configuration() + each.round())
                .startsWith(
                        "one memory-durable1",
                        "one memory-durable2",
                        "one disk-durable1",
                        "one disk-durable2",
                        "two memory-durable1");
        assertThat(rounds(2).plan()).containsEntry("rounds", 2).containsEntry("servers", 3);
    }

    @Test
    void whatHasBeenMeasuredIsNotMeasuredAgain() throws Exception {
        failsAt = "2 one disk-durable";
        assertThatThrownBy(() -> run(false))
                .isInstanceOf(IOException.class)
                .hasMessage("configuration disk-durable: it does not serve");
        assertThat(folder.resolve("work")).isEmptyDirectory();
        calls.clear();
        failsAt = "";
        assertThat(run(true).times()).hasSize(8);
        assertThat(calls)
                .containsExactly(
                        "2 one disk-durable",
                        "2 one memory-durable",
                        "2 two disk-durable",
                        "2 two memory-durable");
    }

    @Test
    void withoutARoundThereIsNothingToMeasure() {
        assertThatThrownBy(() -> rounds(0)).hasMessage("not possible: 0 rounds");
    }
}
