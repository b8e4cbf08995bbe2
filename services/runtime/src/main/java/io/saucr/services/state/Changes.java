package io.saucr.services.state;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What one turn, or several in a row, changed in a service's collections, as bytes: part of the
 * record of a turn (K3). Immutable, any thread. Which collections and types there are need not be
 * known to join changes.
 */
public final class Changes {

    /** Nothing was changed. */
    public static final Changes NONE = new Changes(Collections.emptySortedMap());

    private static final int FORMAT = 1;

    /**
     * Of one collection.
     *
     * @param kind of the collection
     * @param cleared whether everything that was there before went; of a list, {@code first} says
     *     it
     * @param first of a list: the number of its first value; smaller ones went
     * @param next of a list: the number that the next value gets
     * @param entries the new bytes by the bytes of the key, null where it was removed; of a list by
     *     eight bytes of the number; to be applied in this order, after the rest
     */
    record Collection(
            Kind kind, boolean cleared, long first, long next, Map<ByteBuffer, byte[]> entries) {}

    /** Changes of one collection by turns in a row; takes as long as there are entries. */
    private static final class Joining {

        private final Kind kind;

        /** Whatever is put again goes behind all that is there: what is applied last is last. */
        private final Map<ByteBuffer, byte[]> entries = new LinkedHashMap<>(16, 0.75f, true);

        private boolean cleared;
        private long first;
        private long next;
        private long bytes;

        Joining(Kind kind) {
            this.kind = kind;
        }

        void add(String name, Collection later) {
            if (kind != later.kind) {
                throw new IllegalArgumentException(
                        "collection "
                                + name
                                + " is a "
                                + kind
                                + " in one turn and a "
                                + later.kind
                                + " in a later one");
            }
            if (later.cleared) {
                entries.clear();
                cleared = true;
                bytes = 0;
            }
            first = later.first;
            next = later.next;
            later.entries.forEach(
                    (key, value) -> {
                        int before = entries.size();
                        byte[] old = entries.put(key, value);
                        bytes += Changes.bytes(key, value);
                        if (entries.size() == before) {
                            bytes -= Changes.bytes(key, old);
                        }
                    });
        }

        Collection joined() {
            if (kind == Kind.LIST) {
                entries.keySet().removeIf(key -> key.getLong(0) < first);
            }
            return new Collection(kind, cleared, first, next, entries);
        }
    }

    /**
     * Joins changes of turns in a row as they come, so that of what is written again and again only
     * the newest stays in memory. One thread at a time.
     */
    public static final class Joiner {

        private final Map<String, Joining> all = new TreeMap<>();

        /**
         * Adds those of the next turn.
         *
         * @return by how many bytes of keys and values what is held has grown; less than 0 where it
         *     holds less
         * @throws IllegalArgumentException where a collection is of another kind in later ones
         */
        public long add(Changes turn) {
            long more = 0;
            for (Map.Entry<String, Collection> each : turn.byName.entrySet()) {
                Joining joining =
                        all.computeIfAbsent(
                                each.getKey(), it -> new Joining(each.getValue().kind()));
                more -= joining.bytes;
                joining.add(each.getKey(), each.getValue());
                more += joining.bytes;
            }
            return more;
        }

        /** All of them; nothing is added any more. */
        public Changes joined() {
            Map<String, Collection> joined = new TreeMap<>();
            all.forEach((name, its) -> joined.put(name, its.joined()));
            return new Changes(joined);
        }
    }

    private final Map<String, Collection> byName;

    /** By name in order, so that joining in any grouping gives the same bytes. */
    Changes(Map<String, Collection> byName) {
        this.byName = byName;
    }

    Map<String, Collection> byName() {
        return byName;
    }

    /** Whether nothing was changed. */
    public boolean isEmpty() {
        return byName.isEmpty();
    }

    /** How many entries were changed, for figures. */
    public int entries() {
        return byName.values().stream().mapToInt(one -> one.entries().size()).sum();
    }

    /** The bytes of all keys and values in it. */
    public long bytes() {
        long sum = 0;
        for (Collection one : byName.values()) {
            for (Map.Entry<ByteBuffer, byte[]> entry : one.entries().entrySet()) {
                sum += bytes(entry.getKey(), entry.getValue());
            }
        }
        return sum;
    }

    private static long bytes(ByteBuffer key, byte[] value) {
        long sum = key.remaining();
        return value == null ? sum : sum + value.length;
    }

    /**
     * These changes and then the later ones, as one. Associative.
     *
     * @throws IllegalArgumentException where a collection is of another kind in the later ones
     */
    public Changes then(Changes later) {
        return join(List.of(this, later));
    }

    /**
     * Changes of turns in a row, as one: the same as one {@link #then} the other, in less time.
     *
     * @throws IllegalArgumentException where a collection is of another kind in later ones
     */
    public static Changes join(List<Changes> turns) {
        Joiner joiner = new Joiner();
        for (Changes turn : turns) {
            long unused = joiner.add(turn);
        }
        return joiner.joined();
    }

    /** The bytes; none where nothing was changed. */
    public byte[] encode() {
        if (byName.isEmpty()) {
            return new byte[0];
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JsonGenerator out = Codec.generator(bytes)) {
            out.writeStartArray(null, 1 + byName.size());
            out.writeNumber(FORMAT);
            for (Map.Entry<String, Collection> named : byName.entrySet()) {
                Collection its = named.getValue();
                out.writeStartArray(null, 5 + 2 * its.entries().size());
                out.writeString(named.getKey());
                out.writeNumber(its.kind().code());
                out.writeBoolean(its.cleared());
                out.writeNumber(its.first());
                out.writeNumber(its.next());
                for (Map.Entry<ByteBuffer, byte[]> entry : its.entries().entrySet()) {
                    out.writeBinary(entry.getKey().array());
                    if (entry.getValue() == null) {
                        out.writeNull();
                    } else {
                        out.writeBinary(entry.getValue());
                    }
                }
                out.writeEndArray();
            }
            out.writeEndArray();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    /**
     * Changes from their bytes.
     *
     * @throws UnreadableStateException where they are damaged or of a newer release
     */
    public static Changes decode(byte[] bytes) throws UnreadableStateException {
        if (bytes.length == 0) {
            return NONE;
        }
        try (JsonParser in = Codec.parser(bytes)) {
            expect(in.nextToken() == JsonToken.START_ARRAY, in);
            expect(in.nextToken() == JsonToken.VALUE_NUMBER_INT, in);
            if (in.getLongValue() != FORMAT) {
                throw new UnreadableStateException(
                        "a turn's changes are of format "
                                + in.getLongValue()
                                + ", and this release reads "
                                + FORMAT
                                + ": start the release that wrote them");
            }
            Map<String, Collection> byName = new TreeMap<>();
            while (in.nextToken() != JsonToken.END_ARRAY) {
                expect(in.currentToken() == JsonToken.START_ARRAY, in);
                expect(in.nextToken() == JsonToken.VALUE_STRING, in);
                String name = in.getText();
                expect(byName.put(name, collection(name, in)) == null, in);
            }
            expect(in.nextToken() == null, in);
            return new Changes(byName);
        } catch (JsonProcessingException e) {
            throw new UnreadableStateException(
                    "a turn's changes are damaged: " + e.getOriginalMessage(), e);
        } catch (MismatchException e) {
            throw new UnreadableStateException(
                    "a turn's changes are damaged: " + e.getMessage(), e);
        } catch (UnreadableStateException e) {
            throw e;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Collection collection(String name, JsonParser in) throws IOException {
        expect(in.nextToken() == JsonToken.VALUE_NUMBER_INT, in);
        Kind kind = Kind.of(in.getIntValue(), name);
        JsonToken token = in.nextToken();
        expect(token == JsonToken.VALUE_TRUE || token == JsonToken.VALUE_FALSE, in);
        boolean cleared = in.getBooleanValue();
        expect(in.nextToken() == JsonToken.VALUE_NUMBER_INT, in);
        long first = in.getLongValue();
        expect(in.nextToken() == JsonToken.VALUE_NUMBER_INT, in);
        long next = in.getLongValue();
        Map<ByteBuffer, byte[]> entries = new LinkedHashMap<>();
        while (in.nextToken() != JsonToken.END_ARRAY) {
            expect(in.currentToken() == JsonToken.VALUE_EMBEDDED_OBJECT, in);
            ByteBuffer key = ByteBuffer.wrap(in.getBinaryValue());
            expect(!entries.containsKey(key), in);
            if (kind == Kind.LIST) {
                expect(
                        key.remaining() == Long.BYTES
                                && key.getLong(0) >= first
                                && key.getLong(0) < next,
                        in);
            }
            if (in.nextToken() == JsonToken.VALUE_NULL) {
                expect(kind != Kind.LIST, in);
                entries.put(key, null);
            } else {
                expect(in.currentToken() == JsonToken.VALUE_EMBEDDED_OBJECT, in);
                entries.put(key, in.getBinaryValue());
            }
        }
        return new Collection(kind, cleared, first, next, entries);
    }

    private static void expect(boolean fits, JsonParser in) throws UnreadableStateException {
        if (!fits) {
            throw new UnreadableStateException(
                    "a turn's changes are damaged at byte "
                            + in.currentTokenLocation().getByteOffset()
                            + " of their bytes");
        }
    }
}
