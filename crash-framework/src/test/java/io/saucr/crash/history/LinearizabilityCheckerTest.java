package io.saucr.crash.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.crash.history.LinearizabilityChecker.Answer;
import io.saucr.crash.history.RegisterCall.Read;
import io.saucr.crash.history.RegisterCall.Write;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The checker against histories whose answer is known, and against Porcupine. */
class LinearizabilityCheckerTest {
    private static final Path HISTORIES = Path.of("src/test/resources/io/saucr/crash/history");

    private final LinearizabilityChecker checker =
            new LinearizabilityChecker(LinearizabilityChecker.DEFAULT_CONFIGURATIONS);

    @TempDir Path work;

    private static Stream<Path> files(String kind) {
        try (Stream<Path> files = Files.list(HISTORIES.resolve(kind))) {
            return files.sorted().toList().stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Stream<Path> good() {
        return files("good");
    }

    static Stream<Path> bad() {
        return files("bad");
    }

    @ParameterizedTest
    @MethodSource("good")
    void goodHistories(Path file) throws Exception {
        assertThat(checker.check(EdnHistory.read(file)).answer()).isEqualTo(Answer.LINEARIZABLE);
    }

    @ParameterizedTest
    @MethodSource("bad")
    void badHistories(Path file) throws Exception {
        LinearizabilityChecker.Result result = checker.check(EdnHistory.read(file));
        assertThat(result.answer()).isEqualTo(Answer.NOT_LINEARIZABLE);
        assertThat(result.evidence()).isNotEmpty();
    }

    @Test
    void aThousandRandomHistoriesAsPorcupineSeesThem() throws Exception {
        List<String> recorded = Files.readAllLines(HISTORIES.resolve("porcupine-verdicts.txt"));
        assertThat(PorcupineHistories.digest(PorcupineHistories.text()))
                .as(
                        "other histories than those that Porcupine saw: run src/test/go/porcupine/record")
                .isEqualTo(recorded.get(0));
        String verdicts = String.join("", recorded.subList(1, recorded.size()));
        assertThat(verdicts).hasSize(PorcupineHistories.COUNT);
        int linearizable = 0;
        for (int seed = 0; seed < PorcupineHistories.COUNT; seed++) {
            Answer answer = checker.check(RandomHistories.of(seed)).answer();
            assertThat(answer == Answer.LINEARIZABLE ? '1' : '0')
                    .as("history %d: %s", seed, answer)
                    .isEqualTo(verdicts.charAt(seed));
            assertThat(answer).isNotEqualTo(Answer.UNKNOWN);
            linearizable += answer == Answer.LINEARIZABLE ? 1 : 0;
        }
        assertThat(linearizable).isBetween(300, 800);
    }

    /** Many writes at once, and a read of a value that nobody wrote. */
    private static History hard(int writers) {
        HistoryRecorder recorder = new HistoryRecorder();
        for (int process = 0; process < writers; process++) {
            recorder.invoke(process, new Write(0, process));
        }
        for (int process = 0; process < writers; process++) {
            recorder.ok(process, new Write(0, process));
        }
        recorder.invoke(writers, new Read(0, RegisterCall.NIL));
        recorder.ok(writers, new Read(0, writers));
        return recorder.history();
    }

    @Test
    void itGivesUpWhenItsMemoryIsFull() {
        LinearizabilityChecker small = new LinearizabilityChecker(1000);
        LinearizabilityChecker.Result result = small.check(hard(12));
        assertThat(result.answer()).isEqualTo(Answer.UNKNOWN);
        assertThat(result.key()).isZero();
        assertThat(result.configurations()).isBetween(1000L, 1001L);
        assertThat(checker.check(hard(12)).answer()).isEqualTo(Answer.NOT_LINEARIZABLE);
    }

    @Test
    void aViolationIsNamedAlsoBesideARegisterThatIsTooHard() {
        HistoryRecorder recorder = new HistoryRecorder();
        History hard = hard(12);
        for (HistoryEvent event : hard.events()) {
            HistoryEvent.Client client = (HistoryEvent.Client) event;
            if (client.type() == HistoryEvent.Type.INVOKE) {
                recorder.invoke(client.process(), client.call());
            } else {
                recorder.ok(client.process(), client.call());
            }
        }
        recorder.invoke(100, new Read(1, RegisterCall.NIL));
        recorder.ok(100, new Read(1, 5));
        LinearizabilityChecker.Result result =
                new LinearizabilityChecker(1000).check(recorder.history());
        assertThat(result.answer()).isEqualTo(Answer.NOT_LINEARIZABLE);
        assertThat(result.key()).isEqualTo(1);
        assertThat(result.evidence()).singleElement().asString().contains("process 100");
    }

    @Test
    void historiesSurviveTheirFile() throws Exception {
        Path file = work.resolve("history.edn");
        for (int seed = 0; seed < 200; seed++) {
            History history = RandomHistories.of(seed);
            EdnHistory.write(history, file);
            assertThat(EdnHistory.read(file)).isEqualTo(history);
        }
        HistoryRecorder recorder = new HistoryRecorder();
        recorder.nemesis("power-cut", List.of(1, 3));
        recorder.invoke(0, new Read(7, RegisterCall.NIL));
        recorder.ok(0, new Read(7, RegisterCall.ABSENT));
        EdnHistory.write(recorder.history(), file);
        assertThat(EdnHistory.read(file)).isEqualTo(recorder.history());
        assertThat(Files.readAllLines(file).get(0))
                .matches(
                        "\\{:index 0, :time \\d+, :type :info, :process :nemesis, :f :power-cut,"
                                + " :value \\[1 3\\]}");
        EdnHistory.writeRegisters(recorder.history(), work.resolve("registers"));
        assertThat(Files.readAllLines(work.resolve("registers/register-7.edn")).get(1))
                .matches(
                        "\\{:index 1, :time \\d+, :type :ok, :process 0, :f :read, :value"
                                + " :absent}");
    }

    @Test
    void whatIsNoHistoryIsRefusedWithThePlace() throws Exception {
        Path file = work.resolve("bad.edn");
        String first = "{:index 0, :time 1, :type :invoke, :process 0, :f :write, :value [0 1]}\n";
        for (String second :
                List.of(
                        "{:index 1, :time 2, :type :invoke, :process 0, :f :read, :value [0 nil]}",
                        "{:index 2, :time 2, :type :ok, :process 0, :f :write, :value [0 1]}",
                        "{:index 1, :time 2, :type :ok, :process 0, :f :write, :value [0 2]}",
                        "{:index 1, :time 2, :type :ok, :process 0, :f :append, :value [0 1]}",
                        "{:index 1, :time 2, :type :ok, :process 0, :value [0 1]}",
                        "[1 2]",
                        "{:index")) {
            Files.writeString(file, first + second);
            assertThatThrownBy(() -> EdnHistory.read(file))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("bad.edn, event");
        }
    }

    @Test
    void aProcessIsNotUsedAgainAfterInfo() {
        HistoryRecorder recorder = new HistoryRecorder();
        recorder.invoke(0, new Write(0, 1));
        recorder.info(0, new Write(0, 1));
        recorder.invoke(0, new Write(0, 2));
        assertThatThrownBy(recorder::history).hasMessageContaining("after :info");
    }
}
