package io.saucr.ensemble;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * Sessions that write without pause, each with several writes in flight, and know what they were
 * promised: {@link NewNodes} or {@link Registers} say what is written. A write without an answer is
 * not repeated.
 *
 * <p>Thread-safe. Answers come on the sessions' event threads, which begin the next write.
 */
public final class WriteLoad implements AutoCloseable {
    /** What is written, and what became of it. Called by several threads. */
    public interface Writes {
        /**
         * Hands the next write to a session.
         *
         * @param writer which one it is of all that write at the same time, from 0
         * @return false if there is nothing left to write
         */
        boolean next(ZooKeeper session, int writer, Outcome outcome);

        /** How long a writer waits before its next write; most often not at all. */
        Duration pace();
    }

    /** Told once of each write. */
    public interface Outcome {
        /**
         * @param stat of the node, if the write was acknowledged
         */
        void of(Code code, Stat stat);
    }

    /** Opens a session: at the beginning, and when one has expired. */
    public interface Connector {
        /** A session that is connected, or connects on its own. */
        ZooKeeper connect() throws IOException, InterruptedException;
    }

    private enum State {
        WRITING,
        PAUSED,
        STOPPED
    }

    private static final long RETRY_MILLIS = 20;
    private static final long CLOSE_MILLIS = 100;
    private static final long LONGEST_MICROS = TimeUnit.MINUTES.toMicros(2);

    private final Connector connector;
    private final Writes writes;
    private final List<Session> sessions = new ArrayList<>();
    private final List<Writer> writers = new ArrayList<>();
    private final Recorder latencyMicros = new Recorder(LONGEST_MICROS, 3);
    private final ScheduledExecutorService timer =
            Executors.newSingleThreadScheduledExecutor(task -> daemon(task, "write-timer"));
    private State state = State.PAUSED;
    private long acknowledged;
    private long uncertain;
    private long lastZxid;

    /**
     * Opens the sessions and writes nothing yet.
     *
     * @param sessions at least 1
     * @param inFlight writes that each session has in flight, at least 1; together the number of
     *     {@link Registers}, if these are written
     */
    public WriteLoad(Connector connector, int sessions, int inFlight, Writes writes)
            throws IOException, InterruptedException {
        this.connector = connector;
        this.writes = writes;
        for (int i = 0; i < sessions; i++) {
            Session session = new Session(connector.connect());
            this.sessions.add(session);
            for (int j = 0; j < inFlight; j++) {
                writers.add(new Writer(session, writers.size()));
            }
        }
    }

    /** Begins to write, or continues after {@link #pause}. Does nothing after {@link #stop}. */
    public void start() {
        synchronized (this) {
            if (state != State.PAUSED) {
                return;
            }
            state = State.WRITING;
        }
        writers.forEach(Writer::begin);
    }

    /** No more writes until {@link #start}; those in flight may still be answered. */
    public synchronized void pause() {
        if (state == State.WRITING) {
            state = State.PAUSED;
        }
    }

    /**
     * No more writes; waits until every write in flight has an outcome. The sessions stay open.
     *
     * @return whether they all have one in time
     */
    public synchronized boolean stop(Duration limit) throws InterruptedException {
        state = State.STOPPED;
        Deadline deadline = Deadline.in(limit);
        while (writers.stream().anyMatch(writer -> writer.inFlight) && !deadline.hasPassed()) {
            wait(Math.max(1, deadline.left().toMillis()));
        }
        return writers.stream().noneMatch(writer -> writer.inFlight);
    }

    /**
     * Waits until so many writes were acknowledged.
     *
     * @return whether they were in time
     */
    public synchronized boolean await(long count, Duration limit) throws InterruptedException {
        Deadline deadline = Deadline.in(limit);
        while (acknowledged < count && !deadline.hasPassed()) {
            wait(Math.max(1, deadline.left().toMillis()));
        }
        return acknowledged >= count;
    }

    /** Writes that were acknowledged so far. */
    public synchronized long acknowledged() {
        return acknowledged;
    }

    /** Writes whose connection broke before an answer came: they may have been done or not. */
    public synchronized long uncertain() {
        return uncertain;
    }

    /** The highest zxid of an acknowledged write; 0 before the first. */
    public synchronized long lastZxid() {
        return lastZxid;
    }

    /** Latencies in microseconds of the writes that were acknowledged since the last call. */
    public Histogram measure() {
        return latencyMicros.getIntervalHistogram();
    }

    /** No more writes. A session that no server can end is left to expire. */
    @Override
    public void close() {
        synchronized (this) {
            state = State.STOPPED;
        }
        timer.shutdownNow();
        List<Thread> closing =
                sessions.stream().map(session -> daemon(session::close, "close-session")).toList();
        closing.forEach(Thread::start);
        Deadline deadline = Deadline.in(Duration.ofMillis(CLOSE_MILLIS));
        try {
            for (Thread each : closing) {
                each.join(Math.max(1, deadline.left().toMillis()));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static Thread daemon(Runnable task, String name) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }

    /** A session of the client, another one after it has expired. */
    private final class Session {
        private volatile ZooKeeper client;

        Session(ZooKeeper client) {
            this.client = client;
        }

        /** Only the timer's thread calls this. */
        void renewIfExpired() {
            if (client.getState().isAlive()) {
                return;
            }
            try {
                client = connector.connect();
            } catch (IOException | EnsembleException e) {
                return; // The next write fails and comes back here.
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        void close() {
            try {
                client.close();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Has at most one write in flight. */
    private final class Writer {
        private final Session session;
        private final int number;
        private boolean inFlight; // guarded by the load

        Writer(Session session, int number) {
            this.session = session;
            this.number = number;
        }

        /** Unless it has a write in flight, as it may after a pause. */
        void begin() {
            synchronized (WriteLoad.this) {
                if (inFlight || state != State.WRITING) {
                    return;
                }
                inFlight = true;
            }
            write();
        }

        private void write() {
            long startNanos = System.nanoTime();
            if (!writes.next(
                    session.client, number, (code, stat) -> done(code, stat, startNanos))) {
                end();
            }
        }

        private void done(Code code, Stat stat, long startNanos) {
            boolean isAcknowledged = code == Code.OK;
            if (isAcknowledged) {
                long micros = (System.nanoTime() - startNanos) / 1000;
                latencyMicros.recordValue(Math.min(micros, LONGEST_MICROS));
            }
            boolean goesOn;
            synchronized (WriteLoad.this) {
                if (isAcknowledged) {
                    acknowledged++;
                    lastZxid = Math.max(lastZxid, stat.getMzxid());
                } else {
                    uncertain++;
                }
                WriteLoad.this.notifyAll();
                goesOn = state == State.WRITING;
            }
            long pauseMillis = isAcknowledged ? writes.pace().toMillis() : RETRY_MILLIS;
            if (!goesOn) {
                end();
            } else if (pauseMillis == 0) {
                write();
            } else {
                writeLater(pauseMillis);
            }
        }

        private void writeLater(long millis) {
            try {
                var unused =
                        timer.schedule(
                                () -> {
                                    session.renewIfExpired();
                                    end();
                                    begin();
                                },
                                millis,
                                TimeUnit.MILLISECONDS);
            } catch (RejectedExecutionException closed) {
                end();
            }
        }

        private void end() {
            synchronized (WriteLoad.this) {
                inFlight = false;
                WriteLoad.this.notifyAll();
            }
        }
    }
}
