package io.saucr.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.history.LinearizabilityChecker.Answer;
import io.saucr.history.LinearizabilityChecker.Result;
import io.saucr.history.RegisterCall.CompareAndSet;
import io.saucr.history.RegisterCall.Read;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Histories that this program did not write, in the forms that Jepsen's versions give them. */
@Tag("trial")
class JepsenHistoriesTest {
    private final LinearizabilityChecker checker = new LinearizabilityChecker(1000);

    @TempDir Path work;

    private Path file(String... lines) throws IOException {
        return Files.write(work.resolve("history.edn"), List.of(lines));
    }

    private Result check(String... lines) throws IOException {
        return checker.check(EdnHistory.read(file(lines)));
    }

    private static List<Object> keys(Result result) {
        return result.registers().stream().map(judgement -> judgement.register().key()).toList();
    }

    /** As of 0.3: records, two lines for each deed of the nemesis, errors, names of nodes. */
    @Test
    void recordsOfIndependentRegisters() throws Exception {
        Result result =
                check(
                        "#jepsen.history.Op{:index 0, :time 1, :type :invoke, :process 0, :f :write,"
                                + " :value [7 3]}",
                        "#jepsen.history.Op{:index 1, :time 2, :type :info, :process :nemesis, :f"
                                + " :start-partition, :value :majority}",
                        "#jepsen.history.Op{:index 2, :time 3, :type :ok, :process 0, :f :write,"
                                + " :value [7 3], :node \"n1\"}",
                        "#jepsen.history.Op{:index 3, :time 4, :type :info, :process :nemesis, :f"
                                + " :start-partition, :value [:isolated {\"n1\" #{\"n2\"}}]}",
                        "#jepsen.history.Op{:index 4, :time 5, :type :invoke, :process 1, :f :cas,"
                                + " :value [7 [3 4]]}",
                        "#jepsen.history.Op{:index 5, :time 6, :type :info, :process 1, :f :cas,"
                                + " :value [7 [3 4]], :error [:timeout \"no \\\"answer\\\"\"],"
                                + " :exception {:via [{:type java.net.SocketException, :at"
                                + " [sun.nio.ch.Net poll \"Net.java\" -2]}]}}",
                        "#jepsen.history.Op{:index 6, :time 7, :type :invoke, :process 0, :f :read,"
                                + " :value [7 nil]}",
                        "#jepsen.history.Op{:index 7, :time 8, :type :ok, :process 0, :f :read,"
                                + " :value [7 4]}",
                        "#jepsen.history.Op{:index 8, :time 9, :type :invoke, :process 0, :f :read,"
                                + " :value [\"other\" nil]}",
                        "#jepsen.history.Op{:index 9, :time 9, :type :ok, :process 0, :f :read,"
                                + " :value [\"other\" 1]}");
        assertThat(keys(result)).containsExactly(7L, "other");
        assertThat(result.with(Answer.LINEARIZABLE)).hasSize(1);
        assertThat(result.evidence())
                .singleElement()
                .asString()
                .startsWith("register \"other\" (1 call): process 0 read 1 (events 8 to 9)");
    }

    /** As of 0.1: keys in another order, no index, the process of a failed call goes on. */
    @Test
    void oneRegisterWithoutIndices() throws Exception {
        Result result =
                check(
                        "{:type :invoke, :f :read, :value nil, :process 4, :time 10}",
                        "{:type :invoke, :f :cas, :value [0 3], :process 1, :time 11}",
                        "{:type :ok, :f :read, :value nil, :process 4, :time 12}",
                        "{:type :fail, :f :cas, :value nil, :process 1, :error :precondition}",
                        "{:type :invoke, :f :write, :value 2, :process 1}",
                        "{:type :info, :f :start, :process :nemesis, :value \"Cut off {}\"}",
                        "{:type :ok, :f :write, :value 2, :process 1}",
                        "{:type :invoke, :f :read, :value nil, :process 4}",
                        "{:type :ok, :f :read, :value 1, :process 4}");
        assertThat(keys(result)).containsExactly(RegisterCall.THE_ONLY_KEY);
        assertThat(result.evidence())
                .singleElement()
                .asString()
                .startsWith("the register (4 calls): process 4 read 1 (events 7 to 8)")
                .contains("could hold only 2");
    }

    /** A history that was printed as one value, of tuples with their tag. */
    @Test
    void allInOneVector() throws Exception {
        Result result =
                check(
                        "[{:process 0 :type :invoke :f :write :value #jepsen.independent/tuple [:x"
                                + " 1]}",
                        " {:process 0 :type :ok :f :write :value #jepsen.independent/tuple [:x 1]}",
                        " {:process 0 :type :invoke :f :cas :value #jepsen.independent/tuple [:x [1"
                                + " 2]]}",
                        " {:process 0 :type :ok :f :cas :value #jepsen.independent/tuple [:x [1"
                                + " 2]]}]");
        assertThat(result.summary()).isEqualTo("linearizable");
        assertThat(result.registers().get(0).register().name()).isEqualTo("register :x");
        assertThat(result.registers().get(0).register().operations().get(1).call())
                .isEqualTo(new CompareAndSet(new Edn.Keyword("x"), 1L, 2L));
    }

    /** Jepsen saves each register's part as well: with the indices of the whole. */
    @Test
    void indicesMayHaveGaps() throws Exception {
        Result result =
                check(
                        "{:index 17 :process 3 :type :invoke :f :write :value 1}",
                        "{:index 40 :process 3 :type :ok :f :write :value 1}",
                        "{:index 41 :process 3 :type :invoke :f :read :value nil}",
                        "{:index 99 :process 3 :type :ok :f :read :value 0}");
        assertThat(result.evidence()).singleElement().asString().contains("events 17 to 40");
    }

    @Test
    void valuesOfEveryKind() throws Exception {
        Result result =
                check(
                        "{:process 0 :type :invoke :f :write :value [1 \"a\"]}",
                        "{:process 0 :type :ok :f :write :value [1 \"a\"]}",
                        "{:process 0 :type :invoke :f :cas :value [1 [\"a\" {:b #{1}}]]}",
                        "{:process 0 :type :ok :f :cas :value [1 [\"a\" {:b #{1}}]]}",
                        "{:process 0 :type :invoke :f :read :value [1 nil]}",
                        "{:process 0 :type :ok :f :read :value [1 {:b #{1}}]}");
        assertThat(result.answer()).isEqualTo(Answer.LINEARIZABLE);
    }

    /** As in Knossos: a write of nil counts, and a read of nil fits anywhere. */
    @Test
    void nilIsAValueToWriteAndNoneToRead() throws Exception {
        String[] lines = {
            "{:process 0 :type :invoke :f :write :value 1}",
            "{:process 0 :type :ok :f :write :value 1}",
            "{:process 0 :type :invoke :f :write :value nil}",
            "{:process 0 :type :ok :f :write :value nil}",
            "{:process 0 :type :invoke :f :cas :value [nil 2]}",
            "{:process 0 :type :ok :f :cas :value [nil 2]}",
            "{:process 0 :type :invoke :f :read :value nil}",
            "{:process 0 :type :ok :f :read :value nil}"
        };
        History history = EdnHistory.read(file(lines));
        assertThat(((HistoryEvent.Client) history.events().get(7)).call())
                .isEqualTo(new Read(RegisterCall.THE_ONLY_KEY, null));
        assertThat(checker.check(history).answer()).isEqualTo(Answer.LINEARIZABLE);
        lines[5] = lines[4].replace(":type :invoke", ":type :ok").replace("nil 2", "1 2");
        lines[4] = lines[4].replace("nil 2", "1 2");
        assertThat(check(lines).answer()).isEqualTo(Answer.NOT_LINEARIZABLE);
    }

    @Test
    void aTagIsPartOfAValue() throws Exception {
        Path file =
                file(
                        "{:process 0 :type :invoke :f :write :value #inst \"2026\"}",
                        "{:process 0 :type :ok :f :write :value #inst \"2026\"}",
                        "{:process 0 :type :invoke :f :read :value nil}",
                        "{:process 0 :type :ok :f :read :value \"2026\"}");
        Path registers = work.resolve("tagged");
        EdnHistory.writeRegisters(EdnHistory.read(file), registers);
        assertThat(Files.readString(registers.resolve("register.edn")))
                .contains(":f :write, :value #inst \"2026\"}");
        assertThat(checker.check(EdnHistory.read(file)).answer())
                .isEqualTo(Answer.NOT_LINEARIZABLE);
    }

    @Test
    void nilThatWasNeverWrittenIsNamed() throws Exception {
        Path file =
                file(
                        "{:process 0 :type :invoke :f :cas :value [nil 1]}",
                        "{:process 0 :type :ok :f :cas :value [nil 1]}");
        assertThat(LinearizabilityChecker.of(1000, "0").check(EdnHistory.read(file)).evidence())
                .singleElement()
                .asString()
                .contains("from nil to 1 by process 0 (events 0 to 1) succeeded")
                .endsWith("nil was never written");
    }

    /** Others than Jepsen name them differently; a deed may begin with {@code :invoke}. */
    @Test
    void faultsOfEveryNameAreNoCalls() throws Exception {
        History history =
                EdnHistory.read(
                        file(
                                "{:process :nemesis :type :invoke :f :kill :value nil}",
                                "{:process :nemesis :type :info :f :kill :value :n1}",
                                "{:process \"chaos\" :type :info :f \"cut off\" :value [1 2]}",
                                "{:process :clock :type :info :f :bump}"));
        assertThat(history.events())
                .containsExactly(
                        new HistoryEvent.Nemesis(0, 0, "kill", "nil"),
                        new HistoryEvent.Nemesis(1, 0, "kill", ":n1"),
                        new HistoryEvent.Nemesis(2, 0, "\"cut off\"", "[1 2]"),
                        new HistoryEvent.Nemesis(3, 0, "bump", "nil"));
    }

    static Stream<Arguments> notOfRegisters() {
        String first = "{:process 0 :type :invoke :f :write :value [0 1]}";
        return Stream.of(
                Arguments.of(
                        List.of("{:process 0 :type :invoke :f :txn :value [[:r 1 nil]]}"),
                        "line 1: :txn is :f, expected :read, :write or :cas"),
                Arguments.of(
                        List.of("0\t:invoke\t:read\tnil"), "line 1: 0 is no operation, which is a"),
                Arguments.of(
                        List.of(first, "{:process 0 :type :maybe :f :write :value [0 1]}"),
                        "line 2: :maybe is :type, expected :invoke, :ok, :fail or :info"),
                Arguments.of(
                        List.of(first, "{:process 1 :type :invoke :f :write :value 1}"),
                        "line 2: 1 is :value, expected [register value]"),
                Arguments.of(
                        List.of(first, "{:process 1 :type :invoke :f :cas :value [0 1]}"),
                        "line 2: 1 is :value, expected [old new]"),
                Arguments.of(
                        List.of(
                                "{:process 0 :type :invoke :f :write :value 1}",
                                "{:process 1 :type :invoke :f :read :value [0 nil]}"),
                        "line 2: [0 nil] is :value, as if of a register among others"),
                Arguments.of(
                        List.of(first, "{:process 0 :type :ok :f :read :value [0 1]}"),
                        "line 2: process 0 has an answer to something else than it asked at event 0"),
                Arguments.of(
                        List.of(first, "{:process 0 :type :info :f :read :value nil}"),
                        "line 2: :read is :f of an answer to :write"),
                Arguments.of(
                        List.of(first, "{:process 1 :type :ok :f :write :value [0 1]}"),
                        "line 2: process 1 has an answer, but no call"),
                Arguments.of(
                        List.of(first, "{:process 0 :type :invoke :f :write :value [0 2]}"),
                        "line 2: process 0 has a call already, begun at event 0"),
                Arguments.of(
                        List.of("{:process 1.5 :type :invoke :f :write :value [0 1]}"),
                        "line 1: 1.5 is :process, expected a number or :nemesis"),
                Arguments.of(
                        List.of(first, "{:process :c1 :type :invoke :f :read :value [0 nil]}"),
                        "line 2: :c1 is :process of a call (:type :invoke, :f :read), expected a"
                                + " number"),
                Arguments.of(
                        List.of("{:process \"c1\" :type :ok :f :read :value [0 7]}"),
                        "line 1: \"c1\" is :process of a call (:type :ok, :f :read)"),
                Arguments.of(
                        List.of("{:process :c1 :type :info :f :write :value [0 7]}"),
                        "line 1: :c1 is :process of a call (:type :info, :f :write)"),
                Arguments.of(
                        List.of("{:process :nemesis :type :invoke :f :cas :value [0 [1 2]]}"),
                        "line 1: :nemesis is :process of a call (:type :invoke, :f :cas)"),
                Arguments.of(
                        List.of("{:process :c1 :type :invoke :f :txn :value [[:r 1 nil]]}"),
                        "line 1: :c1 is :process of a call (:type :invoke, :f :txn)"),
                Arguments.of(
                        List.of("{:process :nemesis :type :ok :f :kill}"),
                        "line 1: :nemesis is :process of a call (:type :ok, :f :kill)"),
                Arguments.of(
                        List.of("{:process :nemesis :f :kill}"),
                        "line 1: nil is :type, expected :invoke, :ok, :fail or :info"),
                Arguments.of(
                        List.of("{:process -1 :type :invoke :f :write :value [0 1]}"),
                        "line 1: -1 is :process, expected a number from 0"),
                Arguments.of(
                        List.of("{:index 5 :process 0 :type :invoke :f :write :value [nil 1]}"),
                        "line 1: [nil 1] is :value without a register"),
                Arguments.of(
                        List.of(
                                "{:index 5 :process :nemesis :f :kill :type :info}",
                                "{:index 5 :process :nemesis :f :kill :type :info}"),
                        "line 2: 5 is :index after 5"),
                Arguments.of(
                        List.of(
                                "{:index 2147483645 :process 0 :type :invoke :f :read :value nil}",
                                "{:process 1 :type :invoke :f :read :value nil}",
                                "{:process 0 :type :ok :f :read :value 9}"),
                        "line 3: there is no :index, and none is left after 2147483646"),
                Arguments.of(
                        List.of("{:index 2147483647 :process :nemesis :f :kill :type :info}"),
                        "line 1: 2147483647 is :index, expected a number from 0 to 2147483646"),
                Arguments.of(
                        List.of("[" + first, "{:process 0}]"),
                        "line 2, operation 2 of the vector: nil is :type"),
                Arguments.of(
                        List.of("(", first, "{:process 0 :process 0})"),
                        "line 3, operation 2 of the vector: a map with the key :process twice"),
                Arguments.of(
                        List.of("[" + first, "{:process 0 "),
                        "line 2, operation 2 of the vector: the file ends within it"),
                Arguments.of(List.of("[" + first), "line 2, operation 1 of the vector: the file"),
                Arguments.of(List.of("[[" + first, "]]"), "line 1, operation 1 of the vector: [{:"),
                Arguments.of(List.of("[" + first, "]", "{}"), "line 3: nil is :process"),
                Arguments.of(List.of(first, "", "{:process 0 :ty"), "line 3: the file ends"));
    }

    @ParameterizedTest
    @MethodSource("notOfRegisters")
    void whatIsNoHistoryOfRegistersIsRefusedWithLineAndReason(List<String> lines, String message)
            throws Exception {
        Path file = file(lines.toArray(String[]::new));
        assertThatThrownBy(() -> EdnHistory.read(file))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith(file + ", " + message);
    }

    @Test
    void aBinaryFileIsNamed() throws Exception {
        Path file = work.resolve("test.jepsen");
        byte[] bytes = "JEPSEN".getBytes(StandardCharsets.US_ASCII);
        bytes = Arrays.copyOf(bytes, 100);
        bytes[50] = (byte) 0xff;
        Files.write(file, bytes);
        assertThatThrownBy(() -> EdnHistory.read(file))
                .hasMessage(file + ": no text in UTF-8; of Jepsen's files, history.edn is one");
    }

    @Test
    void filesOfRegistersHaveNamesThatAnyFileSystemTakes() throws Exception {
        String longKey = "x".repeat(300);
        History history =
                EdnHistory.read(
                        file(
                                "{:process 0 :type :invoke :f :write :value [\"a/b\" 1]}",
                                "{:process 1 :type :invoke :f :write :value [\"a?b\" 2]}",
                                "{:process 2 :type :invoke :f :write :value [\"../x\" 3]}",
                                "{:process 3 :type :invoke :f :write :value [-5 4]}",
                                "{:process 4 :type :invoke :f :write :value [" + longKey + "5 5]}",
                                "{:process 5 :type :invoke :f :write :value ["
                                        + longKey
                                        + "6 6]}"));
        Path folder = work.resolve("registers");
        EdnHistory.writeRegisters(history, folder);
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrder(
                            "register-_a_b_.edn",
                            "register-_a_b_-2.edn",
                            "register-_.._x_.edn",
                            "register--5.edn",
                            "register-" + "x".repeat(91) + ".edn",
                            "register-" + "x".repeat(91) + "-2.edn");
        }
        assertThatThrownBy(() -> EdnHistory.writeRegisters(history, folder))
                .isInstanceOf(java.nio.file.FileAlreadyExistsException.class);
    }
}
