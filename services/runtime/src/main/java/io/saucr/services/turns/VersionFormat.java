package io.saucr.services.turns;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.dataformat.cbor.CBORFactory;
import io.saucr.services.core.speculation.GroupHead;
import io.saucr.services.core.speculation.VersionRecord;
import io.saucr.services.core.speculation.VersionRecord.Bounded;
import io.saucr.services.core.speculation.VersionRecord.Passed;
import io.saucr.services.core.speculation.VersionRecord.Sealed;
import io.saucr.services.core.speculation.VersionVector;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * The bytes of a record in the journal of a group's member (D5, D10). CBOR: one array of format 2,
 * kind and fields. A version (kind 1) has its world, number, last turn, dependencies as an array of
 * member and version in turn, and the turns as {@link DeltaFormat} writes them, in one byte string.
 * A passage (kind 2) has its world, cut and newest kept version. A note of what is final (kind 3)
 * has its world and version. What begins with format 1 is a turn that the service made before it
 * was a member. Any thread.
 */
public final class VersionFormat {

    private static final int FORMAT = 2;
    private static final int SEALED = 1;
    private static final int PASSED = 2;
    private static final int BOUNDED = 3;

    private static final CBORFactory FACTORY = new CBORFactory();

    /**
     * A record.
     *
     * @param version what it says; empty of a turn that was made before the service was a member
     * @param lastTurn the newest turn in it; 0 of a record without turns
     * @param turns as {@link DeltaFormat#read} takes them; nothing of a record without turns
     */
    public record Entry(Optional<VersionRecord> version, long lastTurn, ByteBuffer turns) {}

    private VersionFormat() {}

    /**
     * The bytes of a version.
     *
     * @param lastTurn the newest of its turns
     * @param turns all of them joined, as {@link DeltaFormat#bytes} gave them
     */
    public static byte[] bytes(Sealed sealed, long lastTurn, byte[] turns) {
        return write(
                turns.length,
                out -> {
                    out.writeNumber(SEALED);
                    out.writeNumber(sealed.world());
                    out.writeNumber(sealed.version());
                    out.writeNumber(lastTurn);
                    out.writeStartArray();
                    VersionVector dependencies = sealed.dependencies();
                    for (int member = 0; member < GroupHead.MOST_MEMBERS; member++) {
                        if (dependencies.at(member) > 0) {
                            out.writeNumber(member);
                            out.writeNumber(dependencies.at(member));
                        }
                    }
                    out.writeEndArray();
                    out.writeBinary(turns);
                });
    }

    /** The bytes of a passage. */
    public static byte[] bytes(Passed passed) {
        return write(
                0,
                out -> {
                    out.writeNumber(PASSED);
                    out.writeNumber(passed.world());
                    out.writeNumber(passed.cut());
                    out.writeNumber(passed.kept());
                });
    }

    /** The bytes of a note of what is final. */
    public static byte[] bytes(Bounded bounded) {
        return write(
                0,
                out -> {
                    out.writeNumber(BOUNDED);
                    out.writeNumber(bounded.world());
                    out.writeNumber(bounded.version());
                });
    }

    private interface Fields {
        void writeTo(JsonGenerator out) throws IOException;
    }

    private static byte[] write(int more, Fields fields) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(more + 64);
        try (JsonGenerator out = FACTORY.createGenerator(bytes)) {
            out.writeStartArray();
            out.writeNumber(FORMAT);
            fields.writeTo(out);
            out.writeEndArray();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    /**
     * Reads a record.
     *
     * @param position of the record in the journal; the turn, where it was made before the service
     *     was a member
     * @param content from position to limit, which stay
     * @throws IOException where it is none, or of a later release; says which
     */
    public static Entry read(long position, ByteBuffer content) throws IOException {
        byte[] bytes = new byte[content.remaining()];
        content.duplicate().get(bytes);
        try (JsonParser in = FACTORY.createParser(bytes)) {
            expect(in.nextToken() == JsonToken.START_ARRAY, position);
            if (number(in, position) != FORMAT) {
                // Whether it is a turn is decided by who reads turns.
                return new Entry(Optional.empty(), position, ByteBuffer.wrap(bytes));
            }
            long kind = number(in, position);
            Entry entry;
            if (kind == SEALED) {
                entry = sealed(in, position);
            } else if (kind == PASSED) {
                long world = number(in, position);
                entry = turnless(new Passed(world, number(in, position), number(in, position)));
            } else if (kind == BOUNDED) {
                entry = turnless(new Bounded(number(in, position), number(in, position)));
            } else {
                throw new IOException(
                        "record "
                                + position
                                + " is of kind "
                                + kind
                                + ", which this release does not know: start the release that"
                                + " wrote it");
            }
            expect(in.nextToken() == JsonToken.END_ARRAY, position);
            expect(in.nextToken() == null, position);
            return entry;
        } catch (JsonProcessingException | IllegalArgumentException | IndexOutOfBoundsException e) {
            // The parser counts past its buffer where a length is wild.
            throw new IOException("record " + position + " is damaged: " + e.getMessage(), e);
        }
    }

    private static Entry sealed(JsonParser in, long position) throws IOException {
        long world = number(in, position);
        long version = number(in, position);
        long lastTurn = number(in, position);
        expect(lastTurn > 0, position);
        expect(in.nextToken() == JsonToken.START_ARRAY, position);
        VersionVector dependencies = VersionVector.NONE;
        int before = -1;
        while (in.nextToken() != JsonToken.END_ARRAY) {
            expect(in.currentToken() == JsonToken.VALUE_NUMBER_INT, position);
            long member = in.getLongValue();
            long of = number(in, position);
            expect(member > before && member < GroupHead.MOST_MEMBERS && of > 0, position);
            before = (int) member;
            dependencies = dependencies.with(before, of);
        }
        expect(in.nextToken() == JsonToken.VALUE_EMBEDDED_OBJECT, position);
        ByteBuffer turns = ByteBuffer.wrap(in.getBinaryValue());
        Sealed sealed = new Sealed(world, version, dependencies);
        return new Entry(Optional.of(sealed), lastTurn, turns);
    }

    private static Entry turnless(VersionRecord record) {
        return new Entry(Optional.of(record), 0, ByteBuffer.allocate(0));
    }

    private static long number(JsonParser in, long position) throws IOException {
        expect(in.nextToken() == JsonToken.VALUE_NUMBER_INT, position);
        return in.getLongValue();
    }

    private static void expect(boolean fits, long position) throws IOException {
        if (!fits) {
            throw new IOException(
                    "record " + position + " is damaged: it is no version of a group's member");
        }
    }
}
