package io.saucr.services.bench;

import io.saucr.services.journal.ForceMode;
import io.saucr.services.journal.Journal;
import io.saucr.services.journal.JournalListener;
import io.saucr.services.journal.JournalOptions;
import io.saucr.services.journal.Recovered;
import io.saucr.services.journal.ServiceFolder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;

/**
 * The journal of a service, without the service: each pair has a folder of its own, and its thread
 * waits for the force of each turn, as a message does that the turn sends.
 */
final class JournalAlone implements Contestant {

    /** What {@link RawAppend} writes, less the journal's own header. */
    private static final int DELTA_BYTES = 64;

    /** As {@link RawAppend} has ready: with many pairs larger ones would take most of the time. */
    private static final int SEGMENT_BYTES = 8 << 20;

    private final List<Pair> pairs = new ArrayList<>();

    /**
     * A folder and its journal; the force thread says what is forced, the pair's thread waits for
     * it.
     */
    private static final class Pair implements JournalListener {
        final ServiceFolder folder;
        final Recovered recovered;
        final Journal journal;
        final ByteBuffer delta = ByteBuffer.allocateDirect(DELTA_BYTES);
        private long forced;
        private IOException failure;

        Pair(Path path, String name) throws IOException {
            folder = ServiceFolder.open(path, name, new SecureRandom());
            recovered = folder.recover(new JournalOptions(new ForceMode.Always(), SEGMENT_BYTES));
            journal = recovered.journal(this);
        }

        @Override
        public synchronized void forced(long turn) {
            forced = turn;
            notifyAll();
        }

        @Override
        public synchronized void failed(IOException cause) {
            failure = cause;
            notifyAll();
        }

        synchronized void await(long turn) throws IOException, InterruptedException {
            while (forced < turn) {
                if (failure != null) {
                    throw failure;
                }
                wait();
            }
        }
    }

    JournalAlone(Path folder, int count) throws IOException {
        for (int pair = 0; pair < count; pair++) {
            pairs.add(new Pair(folder.resolve("pair-" + pair), "pair-" + pair));
        }
    }

    @Override
    public void turn(int pair, long n) throws IOException, InterruptedException {
        Pair each = pairs.get(pair);
        each.delta.clear().putLong(0, n).putLong(8, n + 1);
        each.journal.append(n, each.delta);
        each.await(n);
    }

    @Override
    public long counter(int pair) {
        return pairs.get(pair).journal.forced();
    }

    @Override
    public void close() throws IOException {
        for (Pair pair : pairs) {
            pair.journal.close();
            pair.folder.close();
        }
    }
}
