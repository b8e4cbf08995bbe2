package io.saucr.history;

import static org.assertj.core.api.Assertions.assertThat;

import clojure.lang.EdnReader;
import clojure.lang.Keyword;
import clojure.lang.PersistentHashMap;
import clojure.lang.Util;
import io.saucr.history.LinearizabilityChecker.Answer;
import java.io.IOException;
import java.io.PushbackReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The checker against a plain search that shares nothing with it: Clojure reads the exported file,
 * and a compare-and-set register, where a read of nil fits anywhere, is tried with every order that
 * real time allows. Both see the same files.
 */
@Tag("trial")
class KnossosReadingTest {
    private static final Path HISTORIES = Path.of("src/test/resources/io/saucr/history");
    private static final int RANDOM = 2000;
    private static final long NEVER = Long.MAX_VALUE;

    private final LinearizabilityChecker checker =
            new LinearizabilityChecker(LinearizabilityChecker.DEFAULT_CONFIGURATIONS);

    @TempDir Path work;

    /**
     * @param returned {@link #NEVER} if nobody knows whether it took effect
     */
    private record Call(long called, long returned, String function, Object value) {}

    private static Object get(Map<?, ?> operation, String key) {
        return operation.get(Keyword.intern(key));
    }

    /** The calls of each register that may have taken effect. */
    private static Map<Object, List<Call>> calls(Path file) throws IOException {
        Map<Object, List<Call>> byRegister = new LinkedHashMap<>();
        Map<Object, Map<?, ?>> open = new HashMap<>();
        List<Map<?, ?>> unknown = new ArrayList<>();
        PersistentHashMap options = PersistentHashMap.create(Keyword.intern("eof"), null);
        try (PushbackReader reader = new PushbackReader(Files.newBufferedReader(file))) {
            Map<?, ?> next;
            while ((next = (Map<?, ?>) EdnReader.read(reader, options)) != null) {
                Object process = get(next, "process");
                if (!(process instanceof Long)) {
                    continue;
                }
                String type = ((Keyword) get(next, "type")).getName();
                if (type.equals("invoke")) {
                    assertThat(open.put(process, next)).isNull();
                    continue;
                }
                Map<?, ?> invocation = open.remove(process);
                if (type.equals("ok")) {
                    add(byRegister, invocation, (Long) get(next, "index"), get(next, "value"));
                } else if (type.equals("info")) {
                    unknown.add(invocation);
                }
            }
        }
        unknown.addAll(open.values());
        for (Map<?, ?> invocation : unknown) {
            add(byRegister, invocation, NEVER, get(invocation, "value"));
        }
        return byRegister;
    }

    private static void add(
            Map<Object, List<Call>> byRegister, Map<?, ?> invocation, long returned, Object value) {
        List<?> pair = (List<?>) value;
        byRegister
                .computeIfAbsent(pair.get(0), key -> new ArrayList<>())
                .add(
                        new Call(
                                (Long) get(invocation, "index"),
                                returned,
                                ((Keyword) get(invocation, "f")).getName(),
                                pair.get(1)));
    }

    private static boolean linearizable(Path file) throws IOException {
        return calls(file).values().stream().allMatch(calls -> fits(calls, 0, null));
    }

    /** Whether the calls whose bits are not set fit behind those that are, which left a value. */
    private static boolean fits(List<Call> calls, long done, Object held) {
        long firstReturn = NEVER;
        for (int i = 0; i < calls.size(); i++) {
            if ((done >> i & 1) == 0) {
                firstReturn = Math.min(firstReturn, calls.get(i).returned());
            }
        }
        if (firstReturn == NEVER) {
            return true;
        }
        for (int i = 0; i < calls.size(); i++) {
            Call call = calls.get(i);
            if ((done >> i & 1) != 0 || call.called() > firstReturn) {
                continue;
            }
            long then = done | 1L << i;
            boolean fits =
                    switch (call.function()) {
                        case "write" -> fits(calls, then, call.value());
                        case "read" ->
                                (call.value() == null || Util.equiv(call.value(), held))
                                        && fits(calls, then, held);
                        case "cas" -> {
                            List<?> change = (List<?>) call.value();
                            yield Util.equiv(change.get(0), held)
                                    && fits(calls, then, change.get(1));
                        }
                        default -> throw new AssertionError(call);
                    };
            if (fits) {
                return true;
            }
        }
        return false;
    }

    private Answer answer(Path file) throws IOException {
        return checker.check(EdnHistory.read(file)).answer();
    }

    private static List<Path> files(String kind) throws IOException {
        try (Stream<Path> files = Files.list(HISTORIES.resolve(kind))) {
            return files.sorted().toList();
        }
    }

    @Test
    void handMadeHistories() throws Exception {
        List<Path> good = files("good");
        List<Path> bad = files("bad");
        assertThat(good.size() + bad.size()).isGreaterThanOrEqualTo(35);
        for (Path file : good) {
            assertThat(linearizable(file)).as(file.toString()).isTrue();
            assertThat(answer(file)).as(file.toString()).isEqualTo(Answer.LINEARIZABLE);
        }
        for (Path file : bad) {
            assertThat(linearizable(file)).as(file.toString()).isFalse();
            assertThat(answer(file)).as(file.toString()).isEqualTo(Answer.NOT_LINEARIZABLE);
        }
    }

    @Test
    void randomHistories() throws Exception {
        Path file = work.resolve("history.edn");
        int linearizable = 0;
        for (long seed = 0; seed < RANDOM; seed++) {
            EdnHistory.write(ExportedHistories.of(seed), file);
            boolean expected = linearizable(file);
            assertThat(answer(file))
                    .as("seed %d", seed)
                    .isEqualTo(expected ? Answer.LINEARIZABLE : Answer.NOT_LINEARIZABLE);
            linearizable += expected ? 1 : 0;
        }
        // Half of them have faults, which not every history shows.
        assertThat(linearizable).isBetween(RANDOM / 2, RANDOM * 4 / 5);
    }
}
