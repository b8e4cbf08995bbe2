package io.saucr.services.core.journal;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Incarnation;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A segment as a journal writes it, in memory. */
final class WrittenSegment {

    static final Birth BIRTH = new Birth(7, 7);

    final SegmentHeader header;
    final ByteBuffer bytes;
    final List<SegmentRecord> records = new ArrayList<>();
    private int checksum;

    WrittenSegment(SegmentHeader header, int size) {
        this(header, ByteBuffer.allocate(size));
    }

    /** In a file that held something before. */
    WrittenSegment(SegmentHeader header, ByteBuffer used) {
        this.header = header;
        this.bytes = used;
        bytes.clear().put(header.encode());
        checksum = header.mark();
    }

    static Incarnation start(long number) {
        return new Incarnation(BIRTH, number, number * 31);
    }

    boolean hasRoom(String delta) {
        return bytes.remaining() >= SegmentRecord.bytes(delta.getBytes(UTF_8).length);
    }

    long lastTurn() {
        return header.firstTurn() - 1 + records.size();
    }

    int lastChecksum() {
        return checksum;
    }

    /** Appends the next turn. */
    WrittenSegment append(long forced, String delta) {
        int offset = bytes.position();
        byte[] content = delta.getBytes(UTF_8);
        int before = checksum;
        checksum =
                SegmentRecord.put(
                        header.mark(),
                        checksum,
                        lastTurn() + 1,
                        forced,
                        ByteBuffer.wrap(content),
                        bytes);
        records.add(
                new SegmentRecord(
                        offset, before, lastTurn() + 1, forced, checksum, content.length));
        return this;
    }

    /** The whole file. */
    ByteBuffer file() {
        return bytes.duplicate().clear();
    }

    /** The bytes of a file up to the limit; each view is overwritten by the next one. */
    static SegmentBytes read(ByteBuffer file) {
        return new SegmentBytes() {
            private byte[] shown = new byte[0];

            @Override
            public long size() {
                return file.limit();
            }

            @Override
            public ByteBuffer view(long at, int bytes) {
                Arrays.fill(shown, (byte) 0x5a);
                shown = new byte[bytes + 3];
                file.get((int) at, shown, 3, bytes);
                return ByteBuffer.wrap(shown, 3, bytes);
            }
        };
    }
}
