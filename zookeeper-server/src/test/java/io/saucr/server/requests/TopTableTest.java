package io.saucr.server.requests;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.server.requests.TopTable.Counts;
import io.saucr.server.requests.TopTable.Row;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class TopTableTest {
    private final TopTable table = new TopTable();

    private static Object label(Long key) {
        return "s" + key;
    }

    private Map<Object, Counts> counts() {
        return table.rows().stream().collect(Collectors.toMap(Row::label, Row::counts));
    }

    @Test
    void eachKeyHasItsCounts() {
        table.add("/app/a", 4, true, 100, 3);
        table.add("/app/b", 4, false, 50, 9);
        table.add("/apple", 6, true, 1, 0);
        table.add(7, TopTableTest::label, 7L, false, 2, 1);
        Map<Object, Counts> counts = counts();
        assertThat(counts).containsOnlyKeys("/app", "/apple", "s7");
        Counts app = counts.get("/app");
        assertThat(app.reads()).isEqualTo(1);
        assertThat(app.writes()).isEqualTo(1);
        assertThat(app.bytesRead()).isEqualTo(50);
        assertThat(app.bytesWritten()).isEqualTo(100);
        assertThat(app.sumMillis()).isEqualTo(12);
        assertThat(app.maxMillis()).isEqualTo(9);
        assertThat(table.rest().requests()).isZero();
    }

    /** "Aa" and "BB" have the same hash. */
    @Test
    void keysWithTheSameHashAreKeptApart() {
        table.add("/Aa", 3, true, 0, 0);
        table.add("/BB", 3, true, 0, 0);
        table.add("/BB", 3, true, 0, 0);
        assertThat(counts().get("/Aa").writes()).isEqualTo(1);
        assertThat(counts().get("/BB").writes()).isEqualTo(2);
    }

    @Test
    void aBusyKeyStaysAmongAMillionRareOnesAndNothingIsLost() {
        Random random = new Random(7);
        int busy = 0;
        int all = 1_000_000;
        for (int i = 0; i < all; i++) {
            if (random.nextInt(100) == 0) {
                busy++;
                table.add(-1, TopTableTest::label, -1L, true, 1, 1);
            } else {
                long key = random.nextLong() >>> 1;
                table.add(key, TopTableTest::label, key, true, 1, 1);
            }
        }
        assertThat(table.rows()).hasSizeLessThanOrEqualTo(TopTable.SETS * TopTable.WAYS);
        // The busy one, a hundredth of all, has a rank above those that a set's rare ones inherit.
        assertThat(counts().get("s-1").writes()).isBetween(busy * 9L / 10, (long) busy);
        long sum = table.rows().stream().mapToLong(row -> row.counts().writes()).sum();
        assertThat(sum + table.rest().writes()).isEqualTo(all);
        assertThat(table.rest().bytesWritten()).isLessThanOrEqualTo(all).isPositive();
    }
}
