package io.saucr.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.history.LinearizabilityChecker.Answer;
import io.saucr.history.RegisterCall.Read;
import io.saucr.history.RegisterCall.Write;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The checker against histories whose answer is known, and against Porcupine. */
class LinearizabilityCheckerTest {
    private static final Path HISTORIES = Path.of("src/test/resources/io/saucr/history");

    private final LinearizabilityChecker checker =
            new LinearizabilityChecker(LinearizabilityChecker.DEFAULT_CONFIGURATIONS);

    @TempDir Path work;

    @Test
    void aThousandRandomHistoriesAsPorcupineSeesThem() throws Exception {
        List<String> recorded = Files.readAllLines(HISTORIES.resolve("porcupine-verdicts.txt"));
        assertThat(PorcupineHistories.digest(PorcupineHistories.text()))
                .as(
                        "other histories than those that Porcupine saw: run src/test/go/porcupine/record")
                .isEqualTo(recorded.get(0));
        String verdicts = String.join("", recorded.subList(1, recorded.size()));
        assertThat(verdicts).hasSize(PorcupineHistories.COUNT);
        LinearizabilityChecker fromUnwritten =
                LinearizabilityChecker.of(
                        LinearizabilityChecker.DEFAULT_CONFIGURATIONS,
                        Long.toString(RandomHistories.UNWRITTEN));
        int linearizable = 0;
        for (int seed = 0; seed < PorcupineHistories.COUNT; seed++) {
            Answer answer = fromUnwritten.check(RandomHistories.of(seed)).answer();
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
            recorder.invoke(process, new Write(0L, (long) process));
        }
        for (int process = 0; process < writers; process++) {
            recorder.ok(process, new Write(0L, (long) process));
        }
        recorder.invoke(writers, new Read(0L, null));
        recorder.ok(writers, new Read(0L, (long) writers));
        return recorder.history();
    }

    @Test
    void itGivesUpWhenItsMemoryIsFull() {
        LinearizabilityChecker small = new LinearizabilityChecker(1000);
        LinearizabilityChecker.Result result = small.check(hard(12));
        assertThat(result.answer()).isEqualTo(Answer.UNKNOWN);
        assertThat(result.summary())
                .isEqualTo("not decided: 1 of 1 register: register 0 (13 calls)");
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
        recorder.invoke(100, new Read(1L, null));
        recorder.ok(100, new Read(1L, 5L));
        LinearizabilityChecker.Result result =
                new LinearizabilityChecker(1000).check(recorder.history());
        assertThat(result.answer()).isEqualTo(Answer.NOT_LINEARIZABLE);
        assertThat(result.summary())
                .isEqualTo("not linearizable: 1 of 2 registers: register 1 (1 call)");
        assertThat(result.evidence()).singleElement().asString().contains("process 100");
        assertThat(result.with(Answer.UNKNOWN)).hasSize(1);
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
        recorder.nemesis("power-cut", List.of(1, 3), () -> {});
        recorder.invoke(0, new Read(7L, null));
        recorder.ok(0, new Read(7L, RegisterCall.ABSENT));
        EdnHistory.write(recorder.history(), file);
        assertThat(EdnHistory.read(file)).isEqualTo(recorder.history());
        for (int i = 0; i < 2; i++) {
            assertThat(Files.readAllLines(file).get(i))
                    .matches(
                            "\\{:index "
                                    + i
                                    + ", :time \\d+, :type :info, :process :nemesis, :f :power-cut,"
                                    + " :value \\[1 3\\]}");
        }
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
                        "{:index 0, :time 2, :type :ok, :process 0, :f :write, :value [0 1]}",
                        "{:index 1, :time 2, :type :ok, :process 0, :f :write, :value [0 2]}",
                        "{:index 1, :time 2, :type :ok, :process 0, :f :append, :value [0 1]}",
                        "{:index 1, :time 2, :type :ok, :process 0, :value [0 1]}",
                        "[1 2]",
                        "{:index")) {
            Files.writeString(file, first + second);
            assertThatThrownBy(() -> EdnHistory.read(file))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("bad.edn, line 2");
        }
    }

    @Test
    void aProcessIsNotUsedAgainAfterInfo() {
        HistoryRecorder recorder = new HistoryRecorder();
        recorder.invoke(0, new Write(0L, 1L));
        recorder.info(0, new Write(0L, 1L));
        recorder.invoke(0, new Write(0L, 2L));
        assertThatThrownBy(recorder::history)
                .hasMessageContaining("after its call ended with :info");
    }
}
