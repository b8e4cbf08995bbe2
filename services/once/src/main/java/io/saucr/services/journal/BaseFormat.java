package io.saucr.services.journal;

import io.saucr.services.core.Incarnation;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The bytes of a base's file: a header, then frames whose checksums are chained, so that a damage
 * is found within 64 KiB of where it is and nothing of another file passes for a part of this one.
 *
 * <p>The header is that of a {@link ChainedFile} of the kind "saucrbas", with the number of a turn.
 * Frame: length of the content (4), kind (4), CRC32C of the checksum before it and all this (4),
 * content. Kinds: 1 begins a section and holds its name, 2 is a part of it, 3 ends the file. A base
 * of a service with standbys has the number of a segment where others have that of a turn.
 */
public final class BaseFormat {

    private static final ChainedFile.Kind KIND =
            new ChainedFile.Kind(
                    0x7361756372626173L,
                    1,
                    "this is no base of a service",
                    "the base has",
                    "the base was");

    private static final int FRAME_BYTES = 12;
    private static final int PART_BYTES = 64 << 10;
    private static final int LONGEST_NAME = 255;

    private static final int NAME = 1;
    private static final int PART = 2;
    private static final int END = 3;

    private BaseFormat() {}

    private static int frameChecksum(int before, int kind, ByteBuffer frame, int length) {
        return ChainedFile.checksum(
                before,
                ByteBuffer.allocate(8).putInt(length).putInt(kind).flip(),
                frame.duplicate().limit(FRAME_BYTES + length).position(FRAME_BYTES));
    }

    /** Writes a base into an empty file, frame by frame. One thread. */
    public static final class FileWriter implements Base.Writer {

        private final Disk.File file;
        private final ByteBuffer frame = ByteBuffer.allocate(FRAME_BYTES + PART_BYTES);
        private final Set<String> names = new HashSet<>();
        private long at;
        private int checksum;
        private Parts open;

        /**
         * Writes the header.
         *
         * @param file empty
         * @param start who writes it
         * @param turn as of which it is
         */
        public FileWriter(Disk.File file, Incarnation start, long turn) throws IOException {
            this.file = file;
            ByteBuffer header = ChainedFile.header(KIND, 0, start, turn);
            checksum = ChainedFile.headerChecksum(header);
            file.write(header, 0);
            at = KIND.headerBytes();
            frame.position(FRAME_BYTES);
        }

        @Override
        public OutputStream section(String name) throws IOException {
            if (name.isEmpty() || name.length() > LONGEST_NAME || !names.add(name)) {
                throw new IllegalArgumentException(
                        "a section's name has 1 to %s characters and comes once, not \"%s\""
                                .formatted(LONGEST_NAME, name));
            }
            endSection();
            frame.put(name.getBytes(StandardCharsets.UTF_8));
            writeFrame(NAME);
            open = new Parts();
            return open;
        }

        /** Ends the last section, and the base. */
        public void end() throws IOException {
            endSection();
            frame.putLong(at);
            writeFrame(END);
        }

        private void endSection() throws IOException {
            if (open != null && frame.position() > FRAME_BYTES) {
                writeFrame(PART);
            }
            open = null;
        }

        private void writeFrame(int kind) throws IOException {
            int length = frame.position() - FRAME_BYTES;
            checksum = frameChecksum(checksum, kind, frame, length);
            frame.putInt(0, length).putInt(4, kind).putInt(8, checksum).flip();
            int bytes = frame.remaining();
            file.write(frame, at);
            at += bytes;
            frame.clear().position(FRAME_BYTES);
        }

        /** Gathers parts in the frame. */
        private final class Parts extends OutputStream {

            @Override
            public void write(int value) throws IOException {
                room();
                frame.put((byte) value);
            }

            @Override
            public void write(byte[] bytes, int offset, int length) throws IOException {
                int from = offset;
                while (from < offset + length) {
                    room();
                    int part = Math.min(frame.remaining(), offset + length - from);
                    frame.put(bytes, from, part);
                    from += part;
                }
            }

            private void room() throws IOException {
                if (open != this) {
                    throw new IllegalStateException(
                            "the next section has begun, or the base ended");
                }
                if (!frame.hasRemaining()) {
                    writeFrame(PART);
                }
            }
        }
    }

    /** Reads a base. One thread. */
    public static final class FileReader {

        private final Path path;
        private final Disk.File file;
        private final String advice;
        private final ByteBuffer frame = ByteBuffer.allocate(FRAME_BYTES + PART_BYTES);
        private long at;
        private int checksum;
        private int kind;

        /**
         * Reads the header.
         *
         * @param turn that the file's name says
         * @param known whether it may be a base of that start
         * @param advice what to do about a damaged one: a sentence
         * @throws RefusedFolderException where it is not that of a base of that turn
         */
        public FileReader(
                Path path, Disk.File file, long turn, Predicate<Incarnation> known, String advice)
                throws IOException {
            this.path = path;
            this.file = file;
            this.advice = advice;
            ByteBuffer header =
                    ChainedFile.header(
                            KIND,
                            path,
                            file,
                            known,
                            this::damaged,
                            numbers -> "the base is of turn " + numbers[0] + ", not of that",
                            turn);
            checksum = ChainedFile.headerChecksum(header);
            at = KIND.headerBytes();
        }

        /**
         * Reads the first section only. Once, instead of {@link #sections}.
         *
         * @throws RefusedFolderException where it is damaged
         */
        public void first(Base.SectionReader reader) throws IOException {
            next();
            if (kind != NAME) {
                throw damaged(at);
            }
            section(reader);
        }

        private void section(Base.SectionReader reader) throws IOException {
            String name =
                    new String(
                            frame.array(), FRAME_BYTES, frame.remaining(), StandardCharsets.UTF_8);
            next();
            InputStream content = new Content();
            reader.section(name, content);
            while (kind == PART) {
                next();
            }
        }

        /**
         * Reads all of it. Once.
         *
         * @throws RefusedFolderException where it is damaged
         */
        public void sections(Base.SectionReader reader) throws IOException {
            next();
            while (kind == NAME) {
                section(reader);
            }
            if (kind != END || frame.remaining() != 8 || at != file.size()) {
                throw damaged(at);
            }
        }

        private void next() throws IOException {
            frame.clear().limit(FRAME_BYTES);
            file.read(frame, at);
            int length = frame.getInt(0);
            if (frame.hasRemaining() || length < 0 || length > PART_BYTES) {
                throw damaged(at);
            }
            frame.limit(FRAME_BYTES + length);
            file.read(frame, at + FRAME_BYTES);
            kind = frame.getInt(4);
            int expected = frameChecksum(checksum, kind, frame, length);
            if (frame.hasRemaining() || frame.getInt(8) != expected) {
                throw damaged(at);
            }
            checksum = expected;
            at += FRAME_BYTES + length;
            frame.position(FRAME_BYTES);
        }

        private RefusedFolderException damaged(long offset) {
            return new RefusedFolderException(
                    path,
                    offset,
                    "the base is damaged, although it was on disk. The folder was left as it is. "
                            + advice);
        }

        /** The parts of one section. */
        private final class Content extends InputStream {

            private boolean more() throws IOException {
                while (kind == PART && !frame.hasRemaining()) {
                    next();
                }
                return kind == PART;
            }

            @Override
            public int read() throws IOException {
                return more() ? frame.get() & 0xff : -1;
            }

            @Override
            public int read(byte[] bytes, int offset, int length) throws IOException {
                if (length == 0) {
                    return 0;
                }
                if (!more()) {
                    return -1;
                }
                int part = Math.min(length, frame.remaining());
                frame.get(bytes, offset, part);
                return part;
            }
        }
    }
}
