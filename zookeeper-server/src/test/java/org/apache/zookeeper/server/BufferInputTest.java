package org.apache.zookeeper.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInput;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What it reads is what {@link DataInputStream} reads, wherever the buffer ends. */
class BufferInputTest {
    private static final int CAPACITY = 16;

    /** Bytes of each kind of value; of a string those before its content. */
    private static final int[] SIZES = {1, 1, 1, 2, 2, 2, 4, 8, 4, 8, 2, 19};

    /** Hands out the bytes in pieces of random size. */
    private static BufferInput inPieces(byte[] bytes, Random random) {
        ByteArrayInputStream rest = new ByteArrayInputStream(bytes);
        BufferInput.Source source =
                new BufferInput.Source() {
                    @Override
                    public ByteBuffer fill(ByteBuffer buffer) {
                        byte[] piece = new byte[1 + random.nextInt(CAPACITY)];
                        int count = rest.read(piece, 0, piece.length);
                        ByteBuffer filled =
                                random.nextBoolean() ? buffer.clear() : ByteBuffer.allocate(99);
                        return count < 0 ? null : filled.put(piece, 0, count).flip();
                    }

                    @Override
                    public void close() throws IOException {
                        rest.close();
                    }
                };
        return new BufferInput(ByteBuffer.allocateDirect(CAPACITY).limit(0), source);
    }

    private static Object read(int kind, DataInput in) throws IOException {
        return switch (kind) {
            case 0 -> in.readBoolean();
            case 1 -> in.readByte();
            case 2 -> in.readUnsignedByte();
            case 3 -> in.readShort();
            case 4 -> in.readUnsignedShort();
            case 5 -> in.readChar();
            case 6 -> in.readInt();
            case 7 -> in.readLong();
            case 8 -> Float.floatToRawIntBits(in.readFloat());
            case 9 -> Double.doubleToRawLongBits(in.readDouble());
            case 10 -> in.readUTF();
            default -> {
                byte[] bytes = new byte[19];
                in.readFully(bytes);
                yield Arrays.toString(bytes);
            }
        };
    }

    private static void write(int kind, DataOutputStream out, Random random) throws IOException {
        if (kind == 10) {
            out.writeUTF("\u00e4".repeat(random.nextInt(20)));
            return;
        }
        byte[] bytes = new byte[SIZES[kind]];
        random.nextBytes(bytes);
        out.write(bytes);
    }

    @Test
    void readsWhatADataInputStreamReads() throws IOException {
        Random random = new Random(3);
        for (int round = 0; round < 300; round++) {
            ByteArrayOutputStream written = new ByteArrayOutputStream();
            DataOutputStream out = new DataOutputStream(written);
            List<Integer> kinds = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                kinds.add(random.nextInt(SIZES.length));
                write(kinds.get(i), out, random);
            }
            byte[] bytes = written.toByteArray();
            DataInput expected = new DataInputStream(new ByteArrayInputStream(bytes));
            DataInput pieces = inPieces(bytes, random);
            BufferInput whole = new BufferInput(bytes);
            for (int kind : kinds) {
                Object value = read(kind, expected);
                assertThat(read(kind, pieces)).isEqualTo(value);
                assertThat(read(kind, whole)).isEqualTo(value);
            }
            assertThat(whole.available()).isZero();
            assertThat(whole.read()).isEqualTo(-1);
        }
    }

    @Test
    void whatIsCutOffIsTheEndAndNoZero() {
        for (int kind = 0; kind < SIZES.length; kind++) {
            int each = kind;
            byte[] bytes = new byte[SIZES[each] - 1];
            assertThatExceptionOfType(EOFException.class)
                    .as("kind %s", each)
                    .isThrownBy(() -> read(each, new BufferInput(bytes)));
            assertThatExceptionOfType(EOFException.class)
                    .as("kind %s", each)
                    .isThrownBy(() -> read(each, inPieces(bytes, new Random(each))));
        }
    }

    @Test
    void readsAsAStream() throws IOException {
        byte[] bytes = new byte[1000];
        new Random(1).nextBytes(bytes);
        assertThat(inPieces(bytes, new Random(2)).readAllBytes()).isEqualTo(bytes);
        BufferInput in = new BufferInput(bytes);
        assertThat(in.skipBytes(10)).isEqualTo(10);
        assertThat(in.read()).isEqualTo(bytes[10] & 0xff);
        assertThat(in.read(new byte[3], 1, 0)).isZero();
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> in.read(new byte[3], 1, 3));
    }

    @Test
    @SuppressWarnings("deprecation")
    void linesEndAsTheyDoForADataInputStream() throws IOException {
        byte[] bytes = "one\r\ntwo\n\nlast".getBytes(StandardCharsets.ISO_8859_1);
        DataInput expected = new DataInputStream(new ByteArrayInputStream(bytes));
        DataInput in = new BufferInput(bytes);
        for (int i = 0; i < 5; i++) {
            assertThat(in.readLine()).isEqualTo(expected.readLine());
        }
    }
}
