package io.saucr.services.state;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.zip.CRC32C;

/**
 * The entries of one collection. A turn's changes make new versions, of which the one before the
 * turn is kept until the turn is sealed or undone; what changed is kept as bytes next to it. Turn
 * thread; versions are immutable and may be written by any thread.
 */
class Table {

    /** So many bytes has a key at most. */
    static final int LARGEST_KEY_BYTES = 64 << 10;

    /** So many bytes has a value at most. */
    static final int LARGEST_VALUE_BYTES = 16 << 20;

    private static final int FORMAT = 1;

    /**
     * All entries as of some turn.
     *
     * @param first of a list: the number of its first value
     * @param next of a list: the number that the next value gets
     */
    record Version(Trie entries, long first, long next) {}

    private static final Version EMPTY = new Version(Trie.EMPTY, 0, 0);

    private final String name;
    private final Kind kind;
    private final Coding keys;
    private final Coding values;
    private final boolean checking;

    private Version now = EMPTY;
    private Version before;
    private boolean cleared;
    private Map<ByteBuffer, byte[]> changed = new LinkedHashMap<>();

    /**
     * Keys that an earlier release wrote otherwise, by today's bytes. They are removed under the
     * bytes that they have in the base, too: who does not declare the collection, and thus tells
     * keys apart by bytes, would keep them.
     */
    private final Map<ByteBuffer, ByteBuffer> storedAs = new HashMap<>();

    /**
     * An empty table.
     *
     * @param checking whether entries know their checksum, by which changes in place are found
     */
    Table(String name, Kind kind, Coding keys, Coding values, boolean checking) {
        this.name = name;
        this.kind = kind;
        this.keys = keys;
        this.values = values;
        this.checking = checking;
    }

    String name() {
        return name;
    }

    Kind kind() {
        return kind;
    }

    Version now() {
        return now;
    }

    /** All entries as they are now, for a caller that looks at more than one of them. */
    Version whole() {
        return now;
    }

    /** Is as another table was, which the same service declared. */
    void restore(Table other, Version version) {
        now = version;
        storedAs.putAll(other.storedAs);
    }

    /** The collection in words, for messages. */
    String described() {
        return switch (kind) {
            case MAP -> "map " + name;
            case LIST -> "list " + name;
            case VALUE -> "value " + name;
        };
    }

    /** Whether this turn changed it. */
    boolean isTouched() {
        return before != null;
    }

    /** Whether this turn, which touched it, changed it. */
    boolean isChanged() {
        return !now.equals(before);
    }

    /** Keeps the version that undoing the turn leads back to. */
    void touch() {
        before = now;
    }

    /** The entry of a key, or null. */
    Trie.Entry get(Object key) {
        return get(key, now);
    }

    /** The same in a version. */
    Trie.Entry get(Object key, Version version) {
        try {
            return version.entries().get(keys.hash(key), key, keys::same);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("the key of " + described() + ": " + e.getMessage());
        }
    }

    /** The values of a list as they are now, in order. */
    Iterator<Trie.Entry> inOrder() {
        Version version = whole();
        return new Iterator<>() {

            private long at = version.first();

            @Override
            public boolean hasNext() {
                return at < version.next();
            }

            @Override
            public Trie.Entry next() {
                if (!hasNext()) {
                    throw new NoSuchElementException();
                }
                Long number = at++;
                return version.entries().get(keys.hash(number), number, keys::same);
            }
        };
    }

    /** An entry that was checked and may be put; nothing is changed yet. */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    record Checked(Trie.Entry entry, ByteBuffer key, byte[] value) {}

    /** How many bytes it takes to say that this is put. */
    int bytes(Checked checked) {
        return bytes(checked.key()) + checked.value().length;
    }

    /** How many bytes it takes to say that this is removed. */
    int bytes(ByteBuffer key) {
        ByteBuffer stored = storedAs.get(key);
        return key.remaining() + (stored == null ? 0 : stored.remaining());
    }

    /** The bytes of an entry's key. */
    ByteBuffer key(Trie.Entry entry) {
        return ByteBuffer.wrap(keys.encode(entry.key()));
    }

    /**
     * Checks and copies a key and a value.
     *
     * @throws IllegalArgumentException where they are not allowed
     */
    Checked check(Object key, Object value) {
        Object frozenKey;
        byte[] keyBytes;
        try {
            frozenKey = keys.freeze(key);
            keyBytes = keys.encode(frozenKey);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "the key of " + described() + ": " + e.getMessage(), e);
        }
        if (keyBytes.length > LARGEST_KEY_BYTES) {
            throw new IllegalArgumentException(
                    String.format(
                            Locale.ROOT,
                            "a key of %s has %,d bytes, and at most %,d are allowed: use a shorter"
                                    + " one, such as a digest",
                            described(),
                            keyBytes.length,
                            LARGEST_KEY_BYTES));
        }
        String where = kind == Kind.MAP ? " at key " + Codec.shown(key) : "";
        Object frozenValue;
        byte[] valueBytes;
        try {
            frozenValue = values.freeze(value);
            valueBytes = values.encode(frozenValue);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "the value of " + described() + where + ": " + e.getMessage(), e);
        }
        if (valueBytes.length > LARGEST_VALUE_BYTES) {
            throw new IllegalArgumentException(
                    String.format(
                            Locale.ROOT,
                            "the value of %s%s has %,d bytes, and at most %,d are allowed: keep it"
                                    + " in parts",
                            described(),
                            where,
                            valueBytes.length,
                            LARGEST_VALUE_BYTES));
        }
        return new Checked(
                new Trie.Entry(
                        keys.hash(frozenKey),
                        frozenKey,
                        frozenValue,
                        checking ? checksum(keyBytes, valueBytes) : 0),
                ByteBuffer.wrap(keyBytes),
                valueBytes);
    }

    /** Puts an entry, in a turn. */
    void put(Checked checked) {
        now = new Version(now.entries().with(checked.entry(), keys::same), now.first(), now.next());
        change(checked.key(), checked.value());
    }

    /** Removes an entry that is there, of this key, in a turn. */
    void remove(Trie.Entry entry, ByteBuffer key) {
        now =
                new Version(
                        now.entries().without(entry.hash(), entry.key(), keys::same),
                        now.first(),
                        now.next());
        change(key, null);
    }

    private void change(ByteBuffer key, byte[] value) {
        ByteBuffer stored = storedAs.get(key);
        if (stored != null) {
            // In front of today's bytes, which are applied after it.
            changed.put(stored, null);
        }
        changed.put(key, value);
    }

    /** Adds a value at the end of a list, in a turn. */
    void add(Checked checked) {
        now =
                new Version(
                        now.entries().with(checked.entry(), keys::same),
                        now.first(),
                        now.next() + 1);
        changed.put(checked.key(), checked.value());
    }

    /** Removes the first value of a list, which is there, in a turn. */
    void removeFirst(Trie.Entry entry) {
        now =
                new Version(
                        now.entries().without(entry.hash(), entry.key(), keys::same),
                        now.first() + 1,
                        now.next());
        changed.remove(key(entry));
    }

    /** Removes everything, in a turn. */
    void clear() {
        now = new Version(Trie.EMPTY, now.next(), now.next());
        cleared = kind != Kind.LIST;
        changed.clear();
    }

    /** Ends a turn that changed this table, and says how. */
    Changes.Collection seal() {
        Changes.Collection changes =
                new Changes.Collection(kind, cleared, now.first(), now.next(), changed);
        changed = new LinkedHashMap<>();
        endTurn();
        return changes;
    }

    /** Undoes what a turn changed. */
    void rollback() {
        now = before;
        endTurn();
    }

    private void endTurn() {
        before = null;
        cleared = false;
        changed.clear();
    }

    /**
     * Applies the changes of a turn that is known to have happened; before the first turn of this
     * start.
     *
     * @throws UnreadableStateException where they do not fit
     */
    void apply(Changes.Collection changes) throws UnreadableStateException {
        throwUnless(changes.kind());
        if (changes.cleared()) {
            now = EMPTY;
            storedAs.clear();
        }
        if (kind == Kind.LIST) {
            applyBounds(changes.first(), changes.next());
        }
        for (Map.Entry<ByteBuffer, byte[]> entry : changes.entries().entrySet()) {
            byte[] keyBytes = entry.getKey().array();
            if (entry.getValue() == null) {
                removeStored(keyBytes);
            } else {
                putStored(keyBytes, entry.getValue(), true);
            }
        }
        throwUnlessWithoutGaps();
    }

    private void applyBounds(long first, long next) throws UnreadableStateException {
        if (first < now.first() || next < now.next() || first > next) {
            throw new UnreadableStateException(
                    described()
                            + " ends up with the values "
                            + first
                            + " to "
                            + next
                            + " behind "
                            + now.first()
                            + " to "
                            + now.next()
                            + ": turns are missing or damaged");
        }
        Trie entries = now.entries();
        if (first >= now.next()) {
            entries = Trie.EMPTY;
        } else {
            for (Long number = now.first(); number < first; number++) {
                entries = entries.without(keys.hash(number), number, keys::same);
            }
        }
        now = new Version(entries, first, next);
    }

    private void throwUnless(Kind stored) throws UnreadableStateException {
        if (stored != kind) {
            throw new UnreadableStateException(
                    described()
                            + " was stored as a "
                            + stored.name().toLowerCase(Locale.ROOT)
                            + ": declare it so, or use another name");
        }
    }

    private void throwUnlessWithoutGaps() throws UnreadableStateException {
        if (kind == Kind.LIST && now.entries().size() != now.next() - now.first()) {
            throw new UnreadableStateException(
                    described()
                            + " has "
                            + now.entries().size()
                            + " values where there have to be "
                            + (now.next() - now.first())
                            + ": turns are missing or damaged");
        }
    }

    private void removeStored(byte[] keyBytes) throws UnreadableStateException {
        Object key = decode(keys, keyBytes, "a key");
        ByteBuffer today = ByteBuffer.wrap(keys.encode(key));
        storedAs.remove(today);
        now =
                new Version(
                        now.entries().without(keys.hash(key), key, keys::same),
                        now.first(),
                        now.next());
    }

    private void putStored(byte[] keyBytes, byte[] valueBytes, boolean again)
            throws UnreadableStateException {
        Object key = decode(keys, keyBytes, "a key");
        Object value = decode(values, valueBytes, "the value of key " + Codec.shown(key));
        int hash = keys.hash(key);
        byte[] todayBytes = keys.encode(key);
        ByteBuffer today = ByteBuffer.wrap(todayBytes);
        if (now.entries().get(hash, key, keys::same) != null) {
            boolean same = storedAs.getOrDefault(today, today).equals(ByteBuffer.wrap(keyBytes));
            if (!same || !again) {
                throw new UnreadableStateException(
                        described()
                                + " has two entries of the key "
                                + Codec.shown(key)
                                + (same
                                        ? ": its bytes are damaged"
                                        : ", which an earlier release told apart: keep the"
                                                + " components that tell keys apart"));
            }
        } else if (!Arrays.equals(todayBytes, keyBytes)) {
            storedAs.put(today, ByteBuffer.wrap(keyBytes));
        }
        int check = checking ? checksum(todayBytes, values.encode(value)) : 0;
        now =
                new Version(
                        now.entries().with(new Trie.Entry(hash, key, value, check), keys::same),
                        now.first(),
                        now.next());
    }

    private Object decode(Coding coding, byte[] bytes, String what)
            throws UnreadableStateException {
        try {
            return coding.decode(bytes);
        } catch (IllegalArgumentException e) {
            throw new UnreadableStateException(
                    what
                            + " of "
                            + described()
                            + " cannot be read as what it is declared to be now: "
                            + e.getMessage()
                            + "; start the release that wrote it, or declare its type again",
                    e);
        }
    }

    /**
     * Takes the entries of a section that {@link #write} wrote; before anything else.
     *
     * @throws UnreadableStateException where it is damaged or does not fit
     */
    void read(Header header, JsonParser in) throws IOException {
        throwUnless(header.kind());
        now = new Version(Trie.EMPTY, header.first(), header.next());
        try {
            for (long count = 0; count < header.entries(); count++) {
                expect(in.nextToken() == JsonToken.VALUE_EMBEDDED_OBJECT, in);
                byte[] keyBytes = in.getBinaryValue();
                expect(in.nextToken() == JsonToken.VALUE_EMBEDDED_OBJECT, in);
                if (kind == Kind.LIST) {
                    Long number = (Long) decode(keys, keyBytes, "a number");
                    expect(number >= header.first() && number < header.next(), in);
                }
                putStored(keyBytes, in.getBinaryValue(), false);
            }
            expect(in.nextToken() == null, in);
        } catch (JsonProcessingException e) {
            throw new UnreadableStateException(
                    described() + " is damaged: " + e.getOriginalMessage(), e);
        }
        throwUnlessWithoutGaps();
    }

    private void expect(boolean fits, JsonParser in) throws UnreadableStateException {
        expect(fits, name, in);
    }

    private static void expect(boolean fits, String name, JsonParser in)
            throws UnreadableStateException {
        if (!fits) {
            throw new UnreadableStateException(
                    "collection "
                            + name
                            + " is damaged at byte "
                            + in.currentTokenLocation().getByteOffset()
                            + " of its section");
        }
    }

    /** What stands in front of the entries. */
    record Header(Kind kind, long first, long next, long entries) {

        static Header read(String name, JsonParser in) throws IOException {
            try {
                expect(in.nextToken() == JsonToken.START_ARRAY, name, in);
                long format = number(name, in);
                if (format != FORMAT) {
                    throw new UnreadableStateException(
                            "collection "
                                    + name
                                    + " is of format "
                                    + format
                                    + ", and this release reads "
                                    + FORMAT
                                    + ": start the release that wrote it");
                }
                long kind = number(name, in);
                expect(kind == (int) kind, name, in);
                Header header =
                        new Header(
                                Kind.of((int) kind, name),
                                number(name, in),
                                number(name, in),
                                number(name, in));
                expect(in.nextToken() == JsonToken.END_ARRAY, name, in);
                return header;
            } catch (JsonProcessingException e) {
                throw new UnreadableStateException(
                        "collection " + name + " is damaged: " + e.getOriginalMessage(), e);
            }
        }

        private static long number(String name, JsonParser in) throws IOException {
            expect(in.nextToken() == JsonToken.VALUE_NUMBER_INT, name, in);
            return in.getLongValue();
        }
    }

    /** Writes a version of this table. Any thread. */
    void write(Version version, OutputStream section) throws IOException {
        try (JsonGenerator out = Codec.generator(section)) {
            out.writeStartArray(null, 5);
            out.writeNumber(FORMAT);
            out.writeNumber(kind.code());
            out.writeNumber(version.first());
            out.writeNumber(version.next());
            out.writeNumber(version.entries().size());
            out.writeEndArray();
            for (Iterator<Trie.Entry> entries = version.entries().iterator(); entries.hasNext(); ) {
                Trie.Entry entry = entries.next();
                byte[] key = keys.encode(entry.key());
                byte[] value = values.encode(entry.value());
                throwIfChangedInPlace(entry, key, value);
                out.writeBinary(key);
                out.writeBinary(value);
            }
        }
    }

    /** Does so with all entries of a version. */
    void throwIfAnyChangedInPlace(Version version) {
        Iterator<Trie.Entry> entries = version.entries().iterator();
        while (entries.hasNext()) {
            throwIfChangedInPlace(entries.next());
        }
    }

    /**
     * Compares an entry with what was stored.
     *
     * @throws IllegalStateException where its value was changed in place
     */
    void throwIfChangedInPlace(Trie.Entry entry) {
        throwIfChangedInPlace(entry, keys.encode(entry.key()), values.encode(entry.value()));
    }

    private void throwIfChangedInPlace(Trie.Entry entry, byte[] key, byte[] value) {
        if (checking && checksum(key, value) != entry.check()) {
            throw new IllegalStateException(
                    "a value of "
                            + described()
                            + (kind == Kind.VALUE ? "" : ", key " + Codec.shown(entry.key()) + ",")
                            + " was changed in place, which no crash and no undone turn would"
                            + " respect: make a new value and store it. It is now "
                            + Codec.shown(entry.value()));
        }
    }

    private static int checksum(byte[] key, byte[] value) {
        CRC32C checksum = new CRC32C();
        checksum.update(key);
        checksum.update(value);
        return (int) checksum.getValue();
    }
}
