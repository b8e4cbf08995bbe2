package io.saucr.crash;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code saucr-crash check}: what it says, and what it writes. */
@Tag("trial")
class CheckCommandTest {
    private static final Path HISTORIES = Path.of("../history/src/test/resources/io/saucr/history");
    private static final Path GOOD = HISTORIES.resolve("good/registers-are-independent.edn");
    private static final Path BAD = HISTORIES.resolve("bad/one-register-of-several.edn");

    @TempDir Path work;

    private static String check(int status, Object... arguments) {
        List<String> line = new ArrayList<>(List.of("check"));
        Stream.of(arguments).map(Object::toString).forEach(line::add);
        return CommandOutput.run(status, line.toArray(String[]::new));
    }

    /** What it says on standard error. */
    private static String error(int status, Object... arguments) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream before = System.err;
        System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        try {
            check(status, arguments);
        } finally {
            System.setErr(before);
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }

    private static List<String> content(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    @Test
    void theReadIsShownBesideTheWriteThatWasLost() {
        Path file = HISTORIES.resolve("bad/falls-back-to-an-older-write.edn");
        assertThat(check(3, file))
                .isEqualToNormalizingNewlines(
                        file
                                + """
                                : not linearizable, 1 of 1 register; 7 calls, 5 configurations
                                  register 0 (7 calls), no order of its calls fits:
                                    process 1 read 1 (events 14 to 15), when the register could hold only 3
                                    lost: the write of 3 by process 0 (events 8 to 9), acknowledged before that began
                                    1 is older: the write of 1 by process 0 (events 2 to 3)
                                    seen again by process 2 (events 16 to 17)
                                    the nemesis between: all-processes [1 2 3] (event 10), start [1 2 3] (event 12)
                                """);
    }

    @Test
    void aHistoryThatMayNotBeReadIsNamedWithTheReason() throws Exception {
        Path file = Path.of("h.edn");
        assertThat(CheckCommand.unread(file, new AccessDeniedException("h.edn")))
                .isEqualTo("h.edn: cannot be read: AccessDeniedException");
        Path loop = work.resolve("loop.edn");
        Files.createSymbolicLink(loop, loop);
        assertThat(error(1, loop))
                .startsWith(loop + ": cannot be read: Too many levels of symbolic links");
    }

    @Test
    void whatIsNotLostIsNotCalledSo() {
        assertThat(check(3, HISTORIES.resolve("bad/stale-read.edn")))
                .contains(
                        "not seen: the write of 2 by process 0", "it is there again for the read");
        assertThat(check(3, HISTORIES.resolve("bad/failed-cas-is-seen.edn")))
                .contains(
                        "1 is written only by a call that failed: the compare-and-set from 0 to 1")
                .doesNotContain("lost");
        assertThat(check(3, HISTORIES.resolve("bad/value-from-nowhere.edn")))
                .contains("7 was never written")
                .doesNotContain("lost");
        assertThat(check(3, HISTORIES.resolve("bad/value-before-its-write.edn")))
                .contains("1 is written only later: the write of 1 by process 1")
                .doesNotContain("lost");
        assertThat(check(3, HISTORIES.resolve("bad/two-cas-from-one-value.edn")))
                .contains("the compare-and-set from 1 to 3 by process 1 (events 5 to 7) succeeded")
                .contains("under way at the same time");
        assertThat(check(3, HISTORIES.resolve("bad/read-goes-back.edn")))
                .contains(
                        "lost: the write of 1 by process 0 (events 2 to 7), under way at the same")
                .contains("seen before by the read of 1 by process 1 (events 3 to 4)");
        assertThat(check(3, HISTORIES.resolve("bad/lost-register.edn")))
                .contains("the register itself was lost");
    }

    /** Each word is a process with its call, such as {@code 0w1}, or its answer: {@code 0w1!}. */
    private String explained(String calls, Object... options) throws IOException {
        List<String> lines = new ArrayList<>();
        for (String word : calls.split(" ")) {
            boolean answer = word.endsWith("!");
            String value = word.substring(2).replace("!", "");
            String function =
                    switch (word.charAt(1)) {
                        case 'w' -> "write :value " + value;
                        case 'r' -> "read :value " + (answer ? value : "nil");
                        default -> "cas :value [" + value.replace('>', ' ') + "]";
                    };
            String type = answer ? "ok" : "invoke";
            lines.add("{:type :" + type + " :process " + word.charAt(0) + " :f :" + function + "}");
        }
        Path file = Files.write(work.resolve("explained.edn"), lines);
        return check(3, Stream.concat(Stream.of(file), Stream.of(options)).toArray());
    }

    @Test
    void aCallMayTakeEffectBeforeAWriteThatIsUnderWayBesideIt() throws Exception {
        assertThat(explained("0w0 0w0! 0w1 0w1! 1r 0w2 0w2! 1r0!"))
                .contains(
                        "process 1 read 0 (events 4 to 7), when the register could hold only 1 or 2",
                        "lost: the write of 1 by process 0 (events 2 to 3), acknowledged before",
                        "\n    the write of 2 by process 0 (events 5 to 6), under way")
                .doesNotContain("lost: the write of 2");
        assertThat(explained("0w3 1r 0w3! 1r1!"))
                .contains("could hold only 3 or nil", "nil if nothing had been written to it");
    }

    @Test
    void aCompareAndSetThatFitsNowhereExplainsNothing() throws Exception {
        assertThat(explained("0w0 0w0! 1c3>5 2r 2r7!")).contains("could hold only 0\n");
        assertThat(explained("0w0 0w0! 1c3>5 3w6 4c6>8 2r 2r7!"))
                .contains("could hold only 0, 8 or 6\n");
        assertThat(explained("0w0 0w0! 1c3>2 2r 2r2!"))
                .contains(
                        "2 was not there before: the compare-and-set from 3 to 2 by process 1"
                                + " (event 2) cannot have taken effect")
                .doesNotContain("lost", "older");
        assertThat(explained("0w0 0w0! 1c1>1 1c1>1!"))
                .contains("1 is written by no other call")
                .doesNotContain("older");
    }

    @Test
    void aWriteThatWasSeenIsOverByTheNextOne() throws Exception {
        assertThat(explained("0w5 1r 1r5! 2w1 2w1! 3r 3r7!")).contains("could hold only 1\n");
    }

    @Test
    void whatIsWrittenAgainIsAnotherWrite() throws Exception {
        // The value was seen, but not of the last write of it.
        assertThat(explained("0w0 0w0! 0w1 0w1! 1r 1r1! 0w2 0w2! 0w1 0w1! 1r 1r0!"))
                .contains("lost: the write of 1 by process 0 (events 8 to 9)")
                .doesNotContain("seen before");
        // It is there again, because it was written again; so is what was seen in its place.
        String said =
                explained("0w0 0w0! 0w1 0w1! 1r 1r0! 1r 1r0! 0w1 0w1! 1r 1r1! 0w0 0w0! 1r 1r0!");
        assertThat(said)
                .contains("lost: the write of 1 by process 0 (events 2 to 3)")
                .contains("seen again by process 1 (events 6 to 7)\n")
                .doesNotContain("there again");
    }

    @Test
    void theFaultsAfterTheWriteThatIsCertainAreNamedAlsoOneUnderWay() throws Exception {
        String write = "{:process 0 :f :write :value %d :type %s}";
        String cut = "{:process :nemesis :type :info :f %s :value [1]}";
        List<String> lines =
                List.of(
                        String.format(write, 0, ":invoke"),
                        String.format(cut, ":pause"),
                        String.format(cut, ":pause"),
                        String.format(write, 0, ":ok"),
                        String.format(cut, ":power-cut"),
                        String.format(write, 1, ":invoke"),
                        String.format(write, 1, ":ok"),
                        String.format(cut, ":power-cut"),
                        String.format(cut, ":start"),
                        // It may not have taken effect; the one before did.
                        "{:process 1 :f :write :value 2 :type :invoke}",
                        "{:process 0 :f :read :value nil :type :invoke}",
                        "{:process 0 :f :read :value 0 :type :ok}",
                        String.format(cut, ":start"),
                        String.format(cut, ":heal"));
        assertThat(check(3, Files.write(work.resolve("h.edn"), lines)))
                .endsWith("the nemesis between: power-cut [1] (event 4), start [1] (event 8)\n");
    }

    @Test
    void whatCouldNotBeTriedIsSaid() throws Exception {
        String calls = "0w0 0w0! 1w1 2w2 3w3 4c1>2 5c2>3 6c3>1 7r 7r9!";
        assertThat(explained(calls)).contains("could hold only 0, 1, 3 or 1 other value\n");
        assertThat(explained("0w0 0w0! 1w1 2w2 1w1! 2w2! 7r 7r9!", "--configurations", 5))
                .contains("when the register could hold ", "; not every value was tried");
    }

    @Test
    void everyBadRegisterIsNamedWithItsCalls() throws Exception {
        List<String> lines = new ArrayList<>();
        for (int register = 0; register < 30; register++) {
            String call = "{:process 0 :f :write :value [" + register + " 1] :type ";
            lines.add(call + ":invoke}");
            lines.add(call + ":ok}");
            String read = "{:process 0 :f :read :type ";
            lines.add(read + ":invoke :value [" + register + " nil]}");
            lines.add(read + ":ok :value [" + register + " " + (register % 10 == 7 ? 2 : 1) + "]}");
        }
        Path file = Files.write(work.resolve("h.edn"), lines);
        String said = check(3, file);
        assertThat(said)
                .startsWith(file + ": not linearizable, 3 of 30 registers; 60 calls, ")
                .contains("  register 7 (2 calls), no order", "  register 17 (2 calls), no order")
                .contains("  register 27 (2 calls), no order");
        assertThat(said.lines().filter(line -> line.startsWith("  register"))).hasSize(3);
    }

    @Test
    void whatItCannotDecideIsNamed() throws Exception {
        List<String> lines = new ArrayList<>();
        for (String type : List.of(":invoke", ":ok")) {
            for (int i = 0; i < 12; i++) {
                lines.add("{:process " + i + " :f :write :value " + i + " :type " + type + "}");
            }
        }
        lines.add("{:process 0 :f :read :value nil :type :invoke}");
        lines.add("{:process 0 :f :read :value 99 :type :ok}");
        Path file = Files.write(work.resolve("h.edn"), lines);
        assertThat(check(1, file, "--configurations", 1000))
                .contains(file + ": not decided, 1 of 1 register; 13 calls")
                .contains("  the register (13 calls), not decided: given up after 1001");
        assertThat(check(3, file)).contains("99 was never written");
    }

    @Test
    void theValueBeforeTheFirstWriteCanBeGiven() throws Exception {
        Path file =
                Files.writeString(
                        work.resolve("h.edn"),
                        "{:process 0 :type :invoke :f :read :value nil}\n"
                                + "{:process 0 :type :ok :f :read :value 0}");
        assertThat(check(3, file))
                .contains("nothing had been written to it", "0 was never written");
        check(0, file, "--initial", 0);
        assertThat(check(3, file, "--initial", "[1]")).contains("could hold only [1]");
        assertThat(error(2, file, "--initial", "[")).contains("initial value [: the file ends");
        assertThat(error(2, file, "--initial", "1 2")).contains("expected one value");
        assertThat(error(2, file, "--configurations", 0)).contains("0 configurations");
    }

    @Test
    void splitWritesIntoNewFoldersOnly() throws Exception {
        Path split = work.resolve("new/registers");
        assertThat(check(3, BAD, "--split", split)).contains("its registers are in " + split);
        assertThat(content(split))
                .containsExactly("register-0.edn", "register-1.edn", "register-2.edn");
        assertThat(Files.readAllLines(split.resolve("register-1.edn")))
                .startsWith(
                        "{:index 0, :time 3000, :type :invoke, :process 9, :f :write, :value 0}")
                .hasSize(6);
        String before = Files.readString(split.resolve("register-0.edn"));
        assertThat(error(1, GOOD, "--split", split))
                .contains("--split " + split + ": the folder is not empty; name a new one");
        assertThat(split.resolve("register-0.edn")).hasContent(before);
        // What was split can be checked.
        check(0, split.resolve("register-0.edn"));
        assertThat(check(3, split.resolve("register-1.edn"))).contains("the register (3 calls)");
        assertThat(error(1, GOOD, "--split", split.resolve("register-0.edn")))
                .contains("that is a file, not a folder");
    }

    @Test
    void splitWritesTheSameValues() throws Exception {
        List<String> values =
                List.of(
                        "##Inf",
                        "1.5M",
                        "100M",
                        "1/2",
                        "\\newline",
                        "\"a\\nb\"",
                        "[##NaN {:a \\space}]");
        List<String> lines = new ArrayList<>();
        for (String value : values) {
            String call = ", :process 0, :f :write, :value [1 " + value + "]}";
            lines.add("{:time 5, :type :invoke" + call);
            lines.add("{:time 5, :type :ok" + call);
        }
        Path split = work.resolve("registers");
        check(0, Files.write(work.resolve("h.edn"), lines), "--split", split);
        List<String> written = Files.readAllLines(split.resolve("register-1.edn"));
        assertThat(written).hasSameSizeAs(lines);
        for (int i = 0; i < written.size(); i++) {
            assertThat(written.get(i)).endsWith(":value " + values.get(i / 2) + "}");
        }
    }

    /** What was found counts for more than that it could not be written. */
    @Test
    void aSplitThatCannotBeWrittenLeavesTheVerdict() throws Exception {
        Path file = Files.createFile(work.resolve("file"));
        Path split = file.resolve("registers");
        String error = error(3, BAD, "--split", split);
        assertThat(error)
                .startsWith("--split " + split + ": cannot be written: ")
                .contains(file.toString())
                .doesNotContain("there is no such file");
        assertThat(check(3, BAD, "--split", split)).contains(": not linearizable, 1 of 3");
        assertThat(error(1, GOOD, "--split", split))
                .startsWith("--split " + split + ": cannot be written: ");
        assertThat(check(1, GOOD, "--split", split))
                .contains(": linearizable, 2 registers")
                .doesNotContain("its registers are in");
    }

    @Test
    void everyHistoryHasAFolderOfItsOwnWhateverItIsCalled() throws Exception {
        Path split = work.resolve("new/registers");
        Path dot = Files.copy(GOOD, work.resolve(".edn"));
        Path dots = Files.copy(GOOD, work.resolve("...edn"));
        check(0, dot, dots, "--split", split);
        assertThat(content(split)).containsExactly("...edn", ".edn");
        assertThat(content(work.resolve("new"))).containsExactly("registers");
        assertThat(error(3, BAD, "/", "--split", work.resolve("other")))
                .contains("/: cannot be read: Is a directory");
    }

    @Test
    void severalHistoriesAreSplitIntoAFolderEach() throws Exception {
        Path split = Files.createDirectory(work.resolve("empty"));
        check(3, GOOD, BAD, "--split", split);
        assertThat(content(split))
                .containsExactly("one-register-of-several", "registers-are-independent");
        assertThat(content(split.resolve("registers-are-independent"))).hasSize(2);
        Path same = Files.copy(GOOD, work.resolve(GOOD.getFileName()));
        Path other = work.resolve("other");
        assertThat(error(1, GOOD, same, "--split", other))
                .contains(
                        "two histories are called registers-are-independent; split them one by one");
        assertThat(other).doesNotExist();
    }

    @Test
    void oneUnreadableHistoryIsNamedAndTheOthersAreChecked() throws Exception {
        Path none = work.resolve("none.edn");
        Path cut = Files.writeString(work.resolve("cut.edn"), "{:index 0, :time 1, :ty");
        assertThat(error(3, none, cut, work, BAD))
                .contains(none + ": there is no such file")
                .contains(cut + ", line 1: the file ends within it")
                .contains(work + ": cannot be read");
        assertThat(check(1, none, GOOD)).contains(GOOD + ": linearizable, 2 registers; 6 calls, ");
        assertThat(error(1, Files.createFile(work.resolve("empty.edn"))))
                .contains("empty.edn: there is no call on a register in it");
    }
}
