package io.saucr.server.requests;

import io.saucr.server.requests.TopTable.Counts;
import io.saucr.server.requests.TopTable.Row;
import io.saucr.server.runtime.Printable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.apache.zookeeper.server.Request;

/**
 * Counts the requests of this server's clients by path prefix, session or operation, while somebody
 * waits for the result. Threads that serve requests mostly count in different tables. Thread-safe.
 */
public final class RequestTop {
    /** So many results may be waited for at the same time. */
    static final int MOST_SAMPLES = 4;

    /** Threads whose numbers differ by less never wait for each other. */
    private static final int TABLES = 64;

    private static final int LONGEST_PREFIX = 256;
    private static final String NO_PATH = "(no path)";

    /** What requests are counted by. */
    public enum By {
        PREFIX,
        SESSION,
        OPERATION
    }

    /** Too many results are waited for. */
    public static final class BusyException extends Exception {
        private static final long serialVersionUID = 1L;

        BusyException() {
            super(MOST_SAMPLES + " samples are under way; try again in a few seconds");
        }
    }

    /**
     * What was counted of one key.
     *
     * @param key printable
     * @param client address and port of a session's client; null without one
     */
    public record Entry(String key, String client, Counts counts) {
        /** For the AdminServer; the keys are the same for every entry. */
        public Map<String, Object> readable() {
            Map<String, Object> result = new LinkedHashMap<>();
            result.put("key", key);
            result.put("client", client);
            result.putAll(RequestTop.readable(counts));
            return result;
        }
    }

    /**
     * What was counted.
     *
     * @param nanos for how long
     * @param entries the busiest first
     * @param rest what is in no entry
     */
    public record Result(long nanos, List<Entry> entries, Counts rest) {}

    /** Replaced as a whole under the monitor; read for each request. */
    private volatile Sample[] samples = {};

    /** A request was answered. Costs one read of a field while nobody waits for a result. */
    void count(Request request, boolean write, long millis) {
        Sample[] now = samples;
        if (now.length > 0) {
            int bytes = RequestContent.bytes(request, write);
            for (Sample each : now) {
                each.count(request, write, bytes, millis);
            }
        }
    }

    /**
     * Counts for a while, and returns what was counted.
     *
     * @param depth how many names a prefix has, from 1 on
     * @param most entries of the result
     * @throws BusyException if {@value #MOST_SAMPLES} others wait
     * @throws InterruptedException if the thread is interrupted meanwhile
     */
    public Result sample(By by, int depth, long millis, int most)
            throws BusyException, InterruptedException {
        Sample sample = new Sample(by, depth);
        long began = System.nanoTime();
        begin(sample);
        try {
            TimeUnit.MILLISECONDS.sleep(millis);
        } finally {
            end(sample);
        }
        return sample.result(System.nanoTime() - began, most);
    }

    /** How many results are waited for. */
    int running() {
        return samples.length;
    }

    private synchronized void begin(Sample sample) throws BusyException {
        if (samples.length == MOST_SAMPLES) {
            throw new BusyException();
        }
        Sample[] more = Arrays.copyOf(samples, samples.length + 1);
        more[samples.length] = sample;
        samples = more;
    }

    private synchronized void end(Sample sample) {
        samples = Arrays.stream(samples).filter(each -> each != sample).toArray(Sample[]::new);
    }

    /** The counts of an entry, or of the rest, for the AdminServer. */
    public static Map<String, Object> readable(Counts counts) {
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("reads", counts.reads());
        result.put("writes", counts.writes());
        result.put("bytesRead", counts.bytesRead());
        result.put("bytesWritten", counts.bytesWritten());
        result.put("sumMillis", counts.sumMillis());
        result.put("maxMillis", counts.maxMillis());
        return result;
    }

    /** How long a path is up to its name number {@code depth}. */
    static int prefixLength(String path, int depth) {
        int end = 0;
        for (int i = 0; i < depth; i++) {
            end = path.indexOf('/', end + 1);
            if (end < 0) {
                return Math.min(LONGEST_PREFIX, path.length());
            }
        }
        return Math.min(LONGEST_PREFIX, end);
    }

    /** A session, with the address of its client; null without one. */
    private record Session(long id, String client) {
        static Session of(Request request) {
            return new Session(request.sessionId, RequestWatch.client(request));
        }
    }

    /** A result that somebody waits for. */
    private static final class Sample {
        private final By by;
        private final int depth;

        private final AtomicReferenceArray<TopTable> tables = new AtomicReferenceArray<>(TABLES);

        Sample(By by, int depth) {
            this.by = by;
            this.depth = depth;
        }

        private static Object operation(Request request) {
            return RequestContent.operation(request.type);
        }

        private TopTable table() {
            int number = (int) Thread.currentThread().getId() & (TABLES - 1);
            TopTable table = tables.get(number);
            if (table == null) {
                tables.compareAndSet(number, null, new TopTable());
                table = tables.get(number);
            }
            return table;
        }

        void count(Request request, boolean write, int bytes, long millis) {
            TopTable own = table();
            switch (by) {
                case SESSION ->
                        own.add(request.sessionId, Session::of, request, write, bytes, millis);
                case OPERATION ->
                        own.add(request.type, Sample::operation, request, write, bytes, millis);
                case PREFIX -> {
                    String path = RequestContent.path(request);
                    if (path == null) {
                        own.add(NO_PATH, NO_PATH.length(), write, bytes, millis);
                    } else {
                        own.add(path, prefixLength(path, depth), write, bytes, millis);
                    }
                }
            }
        }

        Result result(long nanos, int most) {
            Map<Object, Counts> byLabel = new LinkedHashMap<>();
            Counts rest = new Counts();
            for (int i = 0; i < TABLES; i++) {
                TopTable each = tables.get(i);
                if (each == null) {
                    continue;
                }
                for (Row row : each.rows()) {
                    byLabel.computeIfAbsent(row.label(), absent -> new Counts()).add(row.counts());
                }
                rest.add(each.rest());
            }
            List<Entry> entries = new ArrayList<>();
            byLabel.forEach((label, counts) -> entries.add(entry(label, counts)));
            entries.sort(
                    Comparator.comparingLong((Entry entry) -> entry.counts().requests())
                            .reversed()
                            .thenComparing(Entry::key));
            for (Entry each : entries.subList(Math.min(most, entries.size()), entries.size())) {
                rest.add(each.counts());
            }
            return new Result(
                    nanos, List.copyOf(entries.subList(0, Math.min(most, entries.size()))), rest);
        }

        private static Entry entry(Object label, Counts counts) {
            return label instanceof Session session
                    ? new Entry("0x" + Long.toHexString(session.id()), session.client(), counts)
                    : new Entry(Printable.of(label.toString(), LONGEST_PREFIX), null, counts);
        }
    }
}
