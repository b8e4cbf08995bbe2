package io.saucr.bench.measure;

import io.saucr.bench.load.Load;
import io.saucr.bench.load.RawSessions;
import io.saucr.bench.result.Sizes;
import io.saucr.ensemble.Deadline;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The sessions, watches and watchers of one ensemble besides its load, which change from case to
 * case. Used by one thread.
 */
final class Surroundings implements AutoCloseable {
    /** The longest that servers with ticks of 2 s give. */
    private static final int SESSION_TIMEOUT_MILLIS = 40_000;

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final long POLL_MILLIS = 5;

    private final AtomicLong writes = new AtomicLong();
    private Sizes sizes = Sizes.NONE;
    private final List<RawSessions> open = new ArrayList<>();
    private RawSessions watchers; // One of those that are open, or null.
    private long writesBefore;

    /** The same load, of which each success is counted as a write. */
    Load counted(Load load) {
        return new Load() {
            @Override
            public void prepare(String address) throws Exception {
                load.prepare(address);
            }

            @Override
            public Session open(String address, long seed) throws Exception {
                Session session = load.open(address, seed);
                return new Session() {
                    @Override
                    public void operate() throws Exception {
                        session.operate();
                        writes.incrementAndGet();
                    }

                    @Override
                    public void close() throws InterruptedException {
                        session.close();
                    }
                };
            }
        };
    }

    /** Ends what is there and opens what a case wants, if that is something else. */
    void become(Sizes wanted, List<String> addresses) throws Exception {
        if (wanted.equals(sizes)) {
            return;
        }
        end();
        sizes = wanted;
        if (wanted.sessions() > 0) {
            open.add(RawSessions.idle(addresses, wanted.sessions(), SESSION_TIMEOUT_MILLIS));
        }
        if (wanted.watches() > 0) {
            open.add(RawSessions.withWatches(addresses, wanted.watches(), SESSION_TIMEOUT_MILLIS));
        }
        if (wanted.watchers() > 0) {
            watchers = RawSessions.watchers(addresses, wanted.watchers(), SESSION_TIMEOUT_MILLIS);
            open.add(watchers);
            writesBefore = writes.get();
        }
    }

    /**
     * Checks, while no load runs, that all sessions are still there, and that every watcher has
     * been notified of every write: else less was measured than was to be.
     *
     * @throws IOException if not
     */
    void check() throws IOException, InterruptedException {
        for (RawSessions each : open) {
            each.requireOpen();
        }
        if (watchers == null) {
            return;
        }
        long wanted = (writes.get() - writesBefore) * sizes.watchers();
        Deadline deadline = Deadline.in(PATIENCE);
        while (watchers.notifications() < wanted) {
            watchers.requireOpen();
            if (deadline.hasPassed()) {
                throw new IOException(
                        "watchers were notified %s times of %s writes, instead of %s times"
                                .formatted(
                                        watchers.notifications(),
                                        writes.get() - writesBefore,
                                        wanted));
            }
            TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
        }
    }

    private void end() throws Exception {
        for (RawSessions each : open) {
            each.end();
        }
        open.clear();
        watchers = null;
    }

    @Override
    public void close() {
        open.forEach(RawSessions::close);
    }
}
