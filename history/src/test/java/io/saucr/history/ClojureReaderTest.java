package io.saucr.history;

import static org.assertj.core.api.Assertions.assertThat;

import clojure.lang.Compiler;
import clojure.lang.EdnReader;
import clojure.lang.Keyword;
import clojure.lang.MapEntry;
import clojure.lang.PersistentHashMap;
import clojure.lang.RT;
import io.saucr.history.RegisterCall.CompareAndSet;
import io.saucr.history.RegisterCall.Read;
import io.saucr.history.RegisterCall.Write;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Histories as Clojure itself reads them, and with what Jepsen's checkers expect of them: indices
 * without a gap, every completion after its invocation by the same process, no process again after
 * {@code :info}.
 */
class ClojureReaderTest {
    private static final List<Keyword> KEYS =
            Stream.of("index", "time", "type", "process", "f", "value")
                    .map(Keyword::intern)
                    .toList();

    @TempDir Path work;

    private static Keyword keyword(String name) {
        return Keyword.intern(name);
    }

    private static List<Map<?, ?>> read(Path file) throws Exception {
        List<Map<?, ?>> operations = new ArrayList<>();
        for (String line : Files.readAllLines(file)) {
            operations.add((Map<?, ?>) EdnReader.readString(line, PersistentHashMap.EMPTY));
        }
        return operations;
    }

    private static void assertHistory(List<Map<?, ?>> operations, boolean withRegister) {
        Map<Object, Map<?, ?>> open = new HashMap<>();
        Set<Object> gone = new HashSet<>();
        long time = 0;
        for (int i = 0; i < operations.size(); i++) {
            Map<?, ?> operation = operations.get(i);
            assertThat(operation.keySet()).hasSize(KEYS.size());
            assertThat(KEYS).allMatch(operation::containsKey);
            assertThat(operation.get(keyword("index"))).isEqualTo((long) i);
            long now = (Long) operation.get(keyword("time"));
            assertThat(now).isGreaterThanOrEqualTo(time);
            time = now;
            Object process = operation.get(keyword("process"));
            Object type = operation.get(keyword("type"));
            if (process.equals(keyword("nemesis"))) {
                assertThat(type).isEqualTo(keyword("info"));
                continue;
            }
            assertThat(process).isInstanceOf(Long.class);
            assertThat(gone).as("operation %d", i).doesNotContain(process);
            assertThat(operation.get(keyword("f")))
                    .isIn(keyword("read"), keyword("write"), keyword("cas"));
            if (withRegister) {
                assertThat((List<?>) operation.get(keyword("value"))).hasSize(2);
            }
            if (type.equals(keyword("invoke"))) {
                assertThat(open.put(process, operation)).as("operation %d", i).isNull();
            } else {
                assertThat(type).isIn(keyword("ok"), keyword("fail"), keyword("info"));
                Map<?, ?> invocation = open.remove(process);
                assertThat(invocation).as("operation %d", i).isNotNull();
                assertThat(invocation.get(keyword("f"))).isEqualTo(operation.get(keyword("f")));
                if (type.equals(keyword("info"))) {
                    gone.add(process);
                }
            }
        }
    }

    @Test
    void recordedHistoriesAreJepsens() throws Exception {
        Path file = work.resolve("history.edn");
        for (int seed = 0; seed < 100; seed++) {
            EdnHistory.write(RandomHistories.of(seed), file);
            assertHistory(read(file), true);
        }
    }

    @Test
    void everyKindOfOperationReadsAsClojuresOwnValues() throws Exception {
        HistoryRecorder recorder = new HistoryRecorder();
        recorder.nemesis("power-cut", List.of(1, 3), () -> {});
        recorder.invoke(0, new Read(7L, null));
        recorder.ok(0, new Read(7L, RegisterCall.ABSENT));
        recorder.invoke(1, new Write(7L, 5L));
        recorder.info(1, new Write(7L, 5L));
        recorder.invoke(2, new CompareAndSet(7L, 5L, 6L));
        recorder.fail(2, new CompareAndSet(7L, 5L, 6L));
        Path file = work.resolve("history.edn");
        EdnHistory.write(recorder.history(), file);
        List<Map<?, ?>> operations = read(file);
        assertHistory(operations, true);
        List<Object> values = new ArrayList<>();
        operations.forEach(operation -> values.add(operation.get(keyword("value"))));
        assertThat(values)
                .isEqualTo(
                        List.of(
                                List.of(1L, 3L),
                                List.of(1L, 3L),
                                Arrays.asList(7L, null),
                                List.of(7L, keyword("absent")),
                                List.of(7L, 5L),
                                List.of(7L, 5L),
                                List.of(7L, List.of(5L, 6L)),
                                List.of(7L, List.of(5L, 6L))));
        EdnHistory.writeRegisters(recorder.history(), work.resolve("registers"));
        List<Map<?, ?>> register = read(work.resolve("registers/register-7.edn"));
        assertHistory(register, false);
        assertThat(register).hasSize(6);
        assertThat(register.get(4).get(keyword("value"))).isEqualTo(List.of(5L, 6L));
    }

    /**
     * As docs/internals/histories.md has it: jepsen.independent knows its values by their class.
     */
    @Test
    void theFunctionOfThePageMakesTuples() throws Exception {
        String page = Files.readString(Path.of("../docs/internals/histories.md"));
        Matcher blocks = Pattern.compile("```clojure\n(.*?)```", Pattern.DOTALL).matcher(page);
        assertThat(blocks.find()).isTrue();
        RT.init();
        Compiler.load(new StringReader("(ns histories-page)\n" + blocks.group(1)));
        Path file = work.resolve("history.edn");
        History history = ExportedHistories.of(2);
        EdnHistory.write(history, file);
        List<?> operations =
                (List<?>) RT.var("histories-page", "load-history").invoke(file.toString());
        assertThat(operations).hasSize(history.events().size());
        int faults = 0;
        for (int i = 0; i < operations.size(); i++) {
            Map<?, ?> operation = (Map<?, ?>) operations.get(i);
            Object value = operation.get(keyword("value"));
            if (history.events().get(i) instanceof HistoryEvent.Client client) {
                assertThat(value).isInstanceOf(MapEntry.class);
                assertThat(((MapEntry) value).key()).isEqualTo(client.call().key());
            } else {
                assertThat(value).isEqualTo(List.of(1L, 2L)).isNotInstanceOf(MapEntry.class);
                faults++;
            }
        }
        assertThat(faults).isPositive();
        // The other block needs Jepsen; it is at least Clojure.
        assertThat(blocks.find()).isTrue();
        assertThat(RT.readString("[" + blocks.group(1) + "]")).isNotNull();
    }
}
