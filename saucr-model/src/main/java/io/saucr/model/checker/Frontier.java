package io.saucr.model.checker;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;

/**
 * The states at one distance from the start that have not been explored, as blocks of numbers and
 * bytes. Blocks that do not fit into the memory limit are kept in a file. Thread-safe; a {@link
 * Writer} is owned by one thread.
 */
final class Frontier implements AutoCloseable {
    private static final int BLOCK = 1 << 16;
    private static final int HEADER = Integer.BYTES + Short.BYTES;

    private final long memory;
    private final ArrayDeque<byte[]> blocks = new ArrayDeque<>();
    private final ArrayDeque<long[]> inFile = new ArrayDeque<>();
    private FileChannel file;
    private long fileEnd;
    private long used;
    private long size;

    /**
     * @param memory bytes of states that are kept in memory
     */
    Frontier(long memory) {
        this.memory = memory;
    }

    /** How many states were put in. */
    synchronized long size() {
        return size;
    }

    private synchronized void add(byte[] block, int states) {
        size += states;
        if (used + block.length <= memory) {
            used += block.length;
            blocks.add(block);
            return;
        }
        try {
            if (file == null) {
                Path path = Files.createTempFile("saucr-model", ".states");
                file =
                        FileChannel.open(
                                path,
                                StandardOpenOption.READ,
                                StandardOpenOption.WRITE,
                                StandardOpenOption.DELETE_ON_CLOSE);
            }
            ByteBuffer bytes = ByteBuffer.wrap(block);
            while (bytes.hasRemaining()) {
                file.write(bytes, fileEnd + bytes.position());
            }
            inFile.add(new long[] {fileEnd, block.length});
            fileEnd += block.length;
        } catch (IOException e) {
            throw new UncheckedIOException("states do not fit into memory, nor into a file", e);
        }
    }

    /** Takes a block of states out, null if there is none left. */
    synchronized ByteBuffer take() {
        if (!blocks.isEmpty()) {
            byte[] block = blocks.poll();
            used -= block.length;
            return ByteBuffer.wrap(block);
        }
        long[] place = inFile.poll();
        if (place == null) {
            return null;
        }
        ByteBuffer block = ByteBuffer.allocate((int) place[1]);
        try {
            while (block.hasRemaining()) {
                if (file.read(block, place[0] + block.position()) < 0) {
                    throw new IOException("the file of states is shorter than it was");
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return block.flip();
    }

    /** Reads the next state of a block, and returns its number. */
    static int read(ByteBuffer block, byte[] state) {
        int number = block.getInt();
        block.get(state, 0, block.getShort());
        return number;
    }

    @Override
    public synchronized void close() {
        if (file != null) {
            try {
                file.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** Collects states of one thread. */
    static final class Writer {
        private final ByteBuffer block = ByteBuffer.allocate(BLOCK);
        private Frontier to;
        private int states;

        /** What is written from now on goes there. */
        void begin(Frontier frontier) {
            to = frontier;
        }

        void write(int number, byte[] state, int length) {
            if (block.remaining() < HEADER + length) {
                flush();
            }
            block.putInt(number).putShort((short) length).put(state, 0, length);
            states++;
        }

        /** Hands over what was written. */
        void flush() {
            if (states > 0) {
                byte[] bytes = new byte[block.position()];
                block.flip().get(bytes);
                to.add(bytes, states);
                block.clear();
                states = 0;
            }
        }
    }
}
