package io.saucr.services.bench;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * The least that a durable turn can cost: one write and one fdatasync of a file of its own, whose
 * blocks were written before, so that no change of the file's size is forced, too.
 */
final class RawAppend implements Contestant {

    /** Bytes of a turn: counter, message, checksum and a header, as a journal would write them. */
    private static final int RECORD_BYTES = 128;

    private static final int PREALLOCATED_BYTES = 8 << 20;

    private final List<Log> logs = new ArrayList<>();

    private static final class Log {
        final FileChannel channel;
        final ByteBuffer record = ByteBuffer.allocateDirect(RECORD_BYTES);
        final CRC32C checksum = new CRC32C();
        long position;

        Log(Path file) throws IOException {
            channel =
                    FileChannel.open(
                            file,
                            StandardOpenOption.CREATE_NEW,
                            StandardOpenOption.READ,
                            StandardOpenOption.WRITE);
            ByteBuffer zeros = ByteBuffer.allocateDirect(1 << 20);
            for (int written = 0; written < PREALLOCATED_BYTES; written += zeros.capacity()) {
                zeros.clear();
                channel.write(zeros, written);
            }
            channel.force(true);
        }
    }

    RawAppend(Path folder, int pairs) throws IOException {
        for (int pair = 0; pair < pairs; pair++) {
            logs.add(new Log(folder.resolve("pair-" + pair)));
        }
    }

    @Override
    public void turn(int pair, long n) throws IOException {
        Log log = logs.get(pair);
        if (log.position + RECORD_BYTES > PREALLOCATED_BYTES) {
            log.position = 0;
        }
        ByteBuffer record = log.record;
        record.clear().putLong(0, n).putLong(8, n + 1);
        record.position(0).limit(RECORD_BYTES - Integer.BYTES);
        log.checksum.reset();
        log.checksum.update(record);
        record.limit(RECORD_BYTES)
                .putInt(RECORD_BYTES - Integer.BYTES, (int) log.checksum.getValue());
        record.position(0);
        while (record.hasRemaining()) {
            log.channel.write(record, log.position + record.position());
        }
        log.channel.force(false);
        log.position += RECORD_BYTES;
    }

    @Override
    public long counter(int pair) throws IOException {
        Log log = logs.get(pair);
        ByteBuffer last = ByteBuffer.allocate(Long.BYTES);
        log.channel.read(last, log.position - RECORD_BYTES);
        return last.getLong(0);
    }

    @Override
    public void close() throws IOException {
        for (Log log : logs) {
            log.channel.close();
        }
    }
}
