package io.saucr.services.state;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A trie holds what a map holds, whatever the hashes, and every version stays as it was. */
class TrieTest {

    private static final Trie.Sameness KEYS = Object::equals;

    private record Version(Trie trie, Map<Integer, Integer> model) {}

    /**
     * Few bits of hash make buckets, and nodes deep down that lie apart in their last bits alone.
     */
    private static int hash(int key, int mask) {
        return (key * 0x9E3779B1) & mask;
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0, 3, 0xC0000000, 0x80000001, 0x7C00, 0x3F})
    void versionsStayAsTheyWere(int mask) {
        Random random = new Random(mask);
        Trie trie = Trie.EMPTY;
        Map<Integer, Integer> model = new HashMap<>();
        List<Version> versions = new ArrayList<>();
        for (int step = 0; step < 6000; step++) {
            int key = random.nextInt(200);
            // Growing and shrinking in turn, down to nothing.
            if (random.nextInt(100) < (step / 1000 % 2 == 0 ? 80 : 5)) {
                trie = trie.with(new Trie.Entry(hash(key, mask), key, step, 0), KEYS);
                model.put(key, step);
            } else {
                Trie without = trie.without(hash(key, mask), key, KEYS);
                assertThat(without == trie).isEqualTo(model.remove(key) == null);
                trie = without;
            }
            assertThat(trie.size()).isEqualTo(model.size());
            if (step % 100 == 0) {
                versions.add(new Version(trie, new HashMap<>(model)));
            }
        }
        for (Version version : versions) {
            for (int key = 0; key < 200; key++) {
                Trie.Entry entry = version.trie().get(hash(key, mask), key, KEYS);
                assertThat(entry == null ? null : entry.value())
                        .isEqualTo(version.model().get(key));
            }
            Map<Object, Object> iterated = new HashMap<>();
            int count = 0;
            for (Iterator<Trie.Entry> all = version.trie().iterator(); all.hasNext(); count++) {
                Trie.Entry entry = all.next();
                iterated.put(entry.key(), entry.value());
            }
            assertThat(count).isEqualTo(version.model().size());
            assertThat(iterated).isEqualTo(version.model());
        }
    }
}
