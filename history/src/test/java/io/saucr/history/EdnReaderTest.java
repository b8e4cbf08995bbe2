package io.saucr.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import clojure.lang.PersistentHashMap;
import clojure.lang.RT;
import io.saucr.history.Edn.Keyword;
import io.saucr.history.Edn.Ratio;
import io.saucr.history.Edn.Symbol;
import io.saucr.history.Edn.Tagged;
import java.io.IOException;
import java.io.StringReader;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** EDN, and what else Clojure prints; compared with Clojure's own printer and reader. */
class EdnReaderTest {
    private static List<Object> read(String text) throws IOException {
        EdnReader reader = new EdnReader(new StringReader(text));
        List<Object> values = new ArrayList<>();
        for (Object next = reader.next(); next != EdnReader.END; next = reader.next()) {
            values.add(next);
        }
        return values;
    }

    @Test
    void atoms() throws Exception {
        assertThat(
                        read(
                                "nil true false 0 -7 +3 12N 0x1f 99999999999999999999 1.5 -2e3 1.0M"
                                        + " 1/3 ##Inf \"a\\n\\\"\\u0041\" \\a \\newline \\u0042 \\( :a"
                                        + " :b/c d e/f - ->x"))
                .isEqualTo(
                        Arrays.asList(
                                null,
                                true,
                                false,
                                0L,
                                -7L,
                                3L,
                                12L,
                                31L,
                                new BigInteger("99999999999999999999"),
                                1.5,
                                -2000.0,
                                new BigDecimal("1"),
                                new Ratio(BigInteger.ONE, BigInteger.valueOf(3)),
                                Double.POSITIVE_INFINITY,
                                "a\n\"A",
                                'a',
                                '\n',
                                'B',
                                '(',
                                new Keyword("a"),
                                new Keyword("b/c"),
                                new Symbol("d"),
                                new Symbol("e/f"),
                                new Symbol("-"),
                                new Symbol("->x")));
    }

    @Test
    void collectionsCommentsAndWhatIsDiscarded() throws Exception {
        Map<Object, Object> map = new LinkedHashMap<>();
        map.put(new Keyword("a"), List.of(1L, 2L));
        map.put(new Keyword("n/b"), null);
        assertThat(
                        read(
                                "\uFEFF; a comment\n[1, (2 3)]#{1 2} {:a [1 2] :n/b nil} #_ gone #_[1 2"
                                        + "] [#_1] #:n{:b nil}; the end"))
                .isEqualTo(
                        List.of(
                                List.of(1L, List.of(2L, 3L)),
                                Set.of(1L, 2L),
                                map,
                                List.of(),
                                java.util.Collections.singletonMap(new Keyword("n/b"), null)));
        assertThat(read("#_1")).isEmpty();
        assertThat(read("")).isEmpty();
    }

    /** As they stand in histories: records, objects, exceptions. */
    @Test
    void whatClojurePrintsBeyondEdn() throws Exception {
        List<Object> values =
                read(
                        "#jepsen.history.Op{:index 1} #object[java.lang.Object 0x1c2959ef \"o\"]"
                                + " #error {:via [{:type java.net.ConnectException :at"
                                + " [sun.nio.ch.Net$1 <init> \"Net.java\" -2]}]} #inst \"2020-01-01\""
                                + " #\"a\\d+\" #'user/x ^{:doc 1} [2] #^:k x");
        assertThat(values).hasSize(8);
        assertThat(values.get(0))
                .isEqualTo(new Tagged("jepsen.history.Op", Map.of(new Keyword("index"), 1L)));
        assertThat(values.get(1))
                .isEqualTo(
                        new Tagged(
                                "object",
                                List.of(new Symbol("java.lang.Object"), 0x1c2959efL, "o")));
        assertThat(values.get(2)).isInstanceOf(Tagged.class);
        assertThat(values.subList(3, 8))
                .isEqualTo(
                        List.of(
                                new Tagged("inst", "2020-01-01"),
                                new Tagged("regex", "a\\d+"),
                                new Tagged("var", new Symbol("user/x")),
                                List.of(2L),
                                new Symbol("x")));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{:a",
                "[1 2",
                "\"abc",
                "]",
                "}",
                "{:a}",
                "{:a 1 :a 2}",
                "12x",
                "0x",
                "08",
                "1/0",
                "1/-2",
                "##X",
                "\"\\q\"",
                "\\wrong",
                "\\u12",
                "#",
                "# 1",
                "#:n 1",
                "#tag",
                "^",
                "[1)",
                "#_"
            })
    void whatIsNoEdnIsRefused(String text) {
        assertThatThrownBy(() -> read("1\n\n" + text))
                .isInstanceOf(EdnReader.SyntaxException.class);
    }

    @Test
    void theLineOfAValueIsWhereItBegins() throws Exception {
        EdnReader reader = new EdnReader(new StringReader("; x\n\n[1\n2]\n{:a\n"));
        reader.next();
        assertThat(reader.line()).isEqualTo(3);
        assertThatThrownBy(reader::next).hasMessage("the file ends within it");
        assertThat(reader.line()).isEqualTo(5);
    }

    @Test
    void endlessNestingIsRefusedBeforeTheStackIsFull() {
        for (String bracket : List.of("[", "{", "#{", "#a ", "^", "#^", "#_")) {
            assertThatThrownBy(() -> read(bracket.repeat(1_000_000)))
                    .as(bracket)
                    .hasMessageContaining("nested deeper than");
        }
    }

    @Test
    void endlessNumbersAreRefused() throws Exception {
        for (String digit : List.of("9", "-9", "0x9")) {
            assertThatThrownBy(() -> read(digit + "9".repeat(1_000_000)))
                    .hasMessage("a number of more than 1000 digits");
        }
        assertThat(read("9".repeat(900) + " " + "a".repeat(2000))).hasSize(2);
    }

    /** On one line, because a line of a history is an operation. */
    @Test
    void whatIsPrintedIsTheSameValue() throws Exception {
        String text =
                "##Inf ##-Inf ##NaN 1.5M 1000M 1E+3000M 1/2 -7/3 99999999999999999999 \\newline \\space"
                        + " \\u0000 \\( \\u2028 \"a\\n\\u0085\\ud800\\\"\" [\\tab 1] #{nil} #t :a";
        for (Object value : read(text)) {
            assertThat(text).contains(Edn.print(value));
            assertThat(read(Edn.print(value)))
                    .isEqualTo(java.util.Collections.singletonList(value));
        }
        assertThat(read("2/4 -4/2 0/5 +3/9"))
                .isEqualTo(
                        List.of(
                                new Ratio(BigInteger.ONE, BigInteger.TWO),
                                -2L,
                                0L,
                                new Ratio(BigInteger.ONE, BigInteger.valueOf(3))));
    }

    @Test
    void whatClojureTakesForEqualIsEqual() throws Exception {
        for (String pair :
                List.of(
                        "1.0M 1.00M",
                        "1e2000M 10e1999M",
                        "100M 1e2M",
                        "0.0M 0M",
                        "0.0 -0.0",
                        "[-0.0] (0.0)",
                        "1 1N",
                        "1 1.0",
                        "1 1M",
                        "1.0 1.0M",
                        "{:a 1.0M} {:a 1.00M}")) {
            List<Object> values = read(pair);
            List<?> clojures =
                    (List<?>)
                            clojure.lang.EdnReader.readString(
                                    "[" + pair + "]", PersistentHashMap.EMPTY);
            assertThat(values.get(0).equals(values.get(1)))
                    .as(pair)
                    .isEqualTo(clojure.lang.Util.equiv(clojures.get(0), clojures.get(1)));
        }
    }

    /** Random values, through Clojure's printer and this reader, and the other way round. */
    @Test
    void clojureReadsAndPrintsTheSame() throws Exception {
        Random random = new Random(7);
        for (int i = 0; i < 2000; i++) {
            Object value = random(random, 4);
            Object clojures =
                    clojure.lang.EdnReader.readString(Edn.print(value), PersistentHashMap.EMPTY);
            assertThat(read(RT.printString(clojures)))
                    .isEqualTo(java.util.Collections.singletonList(value));
        }
    }

    private static Object random(Random random, int depth) throws IOException {
        int size = random.nextInt(4);
        switch (random.nextInt(depth > 0 ? 13 : 10)) {
            case 0:
                return null;
            case 1:
                return random.nextLong();
            case 2:
                return new Keyword("k" + size);
            case 3:
                return "text \"" + size + "\\\n\r\t\b\0\u2028\ud83d\ude00";
            case 4:
                return random.nextBoolean();
            case 5:
                return new Symbol("s" + size + "/t");
            case 6:
                return List.of(Double.NEGATIVE_INFINITY, Double.NaN, random.nextGaussian(), 1e300)
                        .get(size);
            case 7:
                return read(new BigDecimal(BigInteger.valueOf(random.nextLong()), 5 * size - 5)
                                + "M")
                        .get(0);
            case 8:
                return List.of(
                                new Ratio(BigInteger.TWO, BigInteger.valueOf(3)),
                                new Ratio(BigInteger.TEN.negate(), BigInteger.valueOf(7)),
                                BigInteger.TEN.pow(30),
                                BigInteger.TEN.pow(20).negate())
                        .get(size);
            case 9:
                return " \n\t\r\b\f\0(\\\";,a\u00e9\u0085\u2028".charAt(random.nextInt(15));
            case 10:
                List<Object> list = new ArrayList<>();
                for (int i = 0; i < size; i++) {
                    list.add(random(random, depth - 1));
                }
                return list;
            case 11:
                Set<Object> set = new HashSet<>();
                for (int i = 0; i < size; i++) {
                    set.add(random(random, depth - 1));
                }
                return new LinkedHashSet<>(set);
            default:
                Map<Object, Object> map = new LinkedHashMap<>();
                for (int i = 0; i < size; i++) {
                    map.put(random(random, depth - 1), random(random, depth - 1));
                }
                return map;
        }
    }
}
