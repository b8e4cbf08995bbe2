package io.saucr.server.runtime;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * For how long a thread was ready to run and had no processor, as Linux counts it: what a busy
 * machine has kept it waiting, and no disk. Any thread may ask.
 */
public final class ProcessorWaits implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ProcessorWaits.class);
    private static final Path PROC = Path.of("/proc");

    /** More than the line has. */
    private static final int MOST_BYTES = 128;

    /** Where nobody counts. */
    public static final ProcessorWaits UNKNOWN = new ProcessorWaits(null);

    // Guarded by this.
    private final byte[] line = new byte[MOST_BYTES];
    private RandomAccessFile counts;
    private long told;

    private ProcessorWaits(RandomAccessFile counts) {
        this.counts = counts;
    }

    /** Those of the thread that calls; {@link #UNKNOWN} where the system does not count them. */
    public static ProcessorWaits ofThisThread() {
        try {
            Path own = Files.readSymbolicLink(PROC.resolve("thread-self"));
            Path file = PROC.resolve(own).resolve("schedstat");
            ProcessorWaits waits = new ProcessorWaits(new RandomAccessFile(file.toFile(), "r"));
            waits.nanosSinceTold();
            return waits;
        } catch (IOException | UnsupportedOperationException e) {
            LOG.info(
                    "This system does not tell how long a thread waits for a processor ({}): on a"
                            + " busy machine the own log may look late",
                    e.toString());
            return UNKNOWN;
        }
    }

    /** Nanoseconds since this was last called; 0 if that is not known. */
    public synchronized long nanosSinceTold() {
        if (counts == null) {
            return 0;
        }
        try {
            counts.seek(0);
            int length = counts.read(line);
            long all = waited(new String(line, 0, Math.max(0, length), StandardCharsets.US_ASCII));
            long since = Math.max(0, all - told);
            told = all;
            return since;
        } catch (IOException | NumberFormatException e) {
            LOG.debug("The thread has ended", e);
            return 0;
        }
    }

    /**
     * @param counts time on a processor, time ready to run, number of times on a processor
     */
    private static long waited(String counts) {
        String[] parts = counts.strip().split(" ");
        return parts.length < 2 ? 0 : Long.parseLong(parts[1]);
    }

    @Override
    public synchronized void close() {
        if (counts == null) {
            return;
        }
        try {
            counts.close();
        } catch (IOException e) {
            LOG.debug("Nothing was written to it", e);
        }
        counts = null;
    }
}
