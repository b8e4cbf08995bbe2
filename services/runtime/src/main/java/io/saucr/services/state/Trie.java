package io.saucr.services.state;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Iterator;
import java.util.NoSuchElementException;

/**
 * Entries by key, as a hash array mapped trie. Immutable, any thread: a change makes another trie
 * that shares all but the path to the entry, so that the state before a turn, or that of a
 * snapshot, is a reference, and undoing a turn costs nothing.
 */
final class Trie {

    /**
     * An entry.
     *
     * @param hash of the key
     * @param check of key and value as bytes, where changes in place are looked for; else 0
     */
    record Entry(int hash, Object key, Object value, int check) {}

    /** Says whether two keys are the same. */
    interface Sameness {
        boolean same(Object one, Object other);
    }

    /** No entry. */
    static final Trie EMPTY = new Trie(null, 0);

    private static final int LEVEL_BITS = 5;
    private static final int LEVEL_MASK = (1 << LEVEL_BITS) - 1;

    /** Slots whose bit is set, in the order of the bits: an Entry, a Node or a Bucket each. */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record Node(int bitmap, Object[] slots) {

        int place(int bit) {
            return Integer.bitCount(bitmap & (bit - 1));
        }
    }

    /** Two or more entries of one hash. */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record Bucket(Entry[] entries) {}

    private final Object root;
    private final int size;

    private Trie(Object root, int size) {
        this.root = root;
        this.size = size;
    }

    int size() {
        return size;
    }

    /** The entry of a key, or null. */
    Entry get(int hash, Object key, Sameness keys) {
        Object slot = root;
        for (int shift = 0; slot instanceof Node node; shift += LEVEL_BITS) {
            int bit = bit(hash, shift);
            if ((node.bitmap() & bit) == 0) {
                return null;
            }
            slot = node.slots()[node.place(bit)];
        }
        if (slot instanceof Entry entry) {
            return entry.hash() == hash && keys.same(entry.key(), key) ? entry : null;
        }
        if (slot instanceof Bucket bucket && bucket.entries()[0].hash() == hash) {
            for (Entry entry : bucket.entries()) {
                if (keys.same(entry.key(), key)) {
                    return entry;
                }
            }
        }
        return null;
    }

    /** The same with this entry, in place of the one of its key if there is one. */
    Trie with(Entry entry, Sameness keys) {
        boolean grows = get(entry.hash(), entry.key(), keys) == null;
        return new Trie(with(root, entry, 0, keys), grows ? size + 1 : size);
    }

    /** The same without this key. */
    Trie without(int hash, Object key, Sameness keys) {
        return get(hash, key, keys) == null
                ? this
                : new Trie(without(root, hash, key, 0, keys), size - 1);
    }

    private static int bit(int hash, int shift) {
        return 1 << ((hash >>> shift) & LEVEL_MASK);
    }

    private static Object with(Object slot, Entry entry, int shift, Sameness keys) {
        if (slot == null) {
            return entry;
        }
        if (slot instanceof Entry there) {
            if (there.hash() != entry.hash()) {
                return apart(there, there.hash(), entry, shift);
            }
            return keys.same(there.key(), entry.key())
                    ? entry
                    : new Bucket(new Entry[] {there, entry});
        }
        if (slot instanceof Bucket bucket) {
            int hash = bucket.entries()[0].hash();
            return hash == entry.hash()
                    ? with(bucket, entry, keys)
                    : apart(bucket, hash, entry, shift);
        }
        Node node = (Node) slot;
        int bit = bit(entry.hash(), shift);
        int place = node.place(bit);
        if ((node.bitmap() & bit) != 0) {
            Object[] slots = node.slots().clone();
            slots[place] = with(slots[place], entry, shift + LEVEL_BITS, keys);
            return new Node(node.bitmap(), slots);
        }
        Object[] slots = new Object[node.slots().length + 1];
        System.arraycopy(node.slots(), 0, slots, 0, place);
        slots[place] = entry;
        System.arraycopy(node.slots(), place, slots, place + 1, node.slots().length - place);
        return new Node(node.bitmap() | bit, slots);
    }

    /** A node, or nodes, in which two slots of different hashes lie apart. */
    private static Object apart(Object there, int hash, Entry entry, int shift) {
        int its = bit(hash, shift);
        int mine = bit(entry.hash(), shift);
        if (its == mine) {
            Object below = apart(there, hash, entry, shift + LEVEL_BITS);
            return new Node(its, new Object[] {below});
        }
        boolean first = Integer.compareUnsigned(its, mine) < 0;
        return new Node(
                its | mine, first ? new Object[] {there, entry} : new Object[] {entry, there});
    }

    private static Bucket with(Bucket bucket, Entry entry, Sameness keys) {
        Entry[] entries = bucket.entries();
        for (int index = 0; index < entries.length; index++) {
            if (keys.same(entries[index].key(), entry.key())) {
                Entry[] replaced = entries.clone();
                replaced[index] = entry;
                return new Bucket(replaced);
            }
        }
        Entry[] longer = Arrays.copyOf(entries, entries.length + 1);
        longer[entries.length] = entry;
        return new Bucket(longer);
    }

    /** What remains of a slot that holds the key; null where nothing does. */
    private static Object without(Object slot, int hash, Object key, int shift, Sameness keys) {
        if (slot instanceof Entry) {
            return null;
        }
        if (slot instanceof Bucket bucket) {
            Entry[] rest =
                    Arrays.stream(bucket.entries())
                            .filter(entry -> !keys.same(entry.key(), key))
                            .toArray(Entry[]::new);
            return rest.length == 1 ? rest[0] : new Bucket(rest);
        }
        Node node = (Node) slot;
        int bit = bit(hash, shift);
        int place = node.place(bit);
        Object rest = without(node.slots()[place], hash, key, shift + LEVEL_BITS, keys);
        if (rest == null) {
            int length = node.slots().length;
            if (length == 1) {
                return null;
            }
            if (length == 2 && !(node.slots()[1 - place] instanceof Node)) {
                return node.slots()[1 - place];
            }
            Object[] slots = new Object[length - 1];
            System.arraycopy(node.slots(), 0, slots, 0, place);
            System.arraycopy(node.slots(), place + 1, slots, place, length - place - 1);
            return new Node(node.bitmap() & ~bit, slots);
        }
        if (node.slots().length == 1 && !(rest instanceof Node)) {
            return rest;
        }
        Object[] slots = node.slots().clone();
        slots[place] = rest;
        return new Node(node.bitmap(), slots);
    }

    /** All entries. */
    Iterator<Entry> iterator() {
        Deque<Iterator<?>> open = new ArrayDeque<>();
        if (root != null) {
            open.push(Arrays.asList(root).iterator());
        }
        return new Iterator<>() {

            @Override
            public boolean hasNext() {
                while (!open.isEmpty() && !open.peek().hasNext()) {
                    open.pop();
                }
                return !open.isEmpty();
            }

            @Override
            public Entry next() {
                while (hasNext()) {
                    Object slot = open.peek().next();
                    if (slot instanceof Entry entry) {
                        return entry;
                    }
                    open.push(
                            Arrays.asList(
                                            slot instanceof Node node
                                                    ? node.slots()
                                                    : (Object[]) ((Bucket) slot).entries())
                                    .iterator());
                }
                throw new NoSuchElementException();
            }
        };
    }
}
