package io.saucr.services.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.services.Address;
import io.saucr.services.Bytes;
import io.saucr.services.Client;
import io.saucr.services.Services;
import java.io.BufferedReader;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * The process of the client of {@link PauseService}. It fills the state, says {@code filled}, and
 * for each line that it is sent changes entries for some seconds, one message after each
 * millisecond, whether or not those before were answered; then it says what it saw as JSON.
 */
final class PauseLoad {

    static final String FILLED = "filled";

    private static final int FILL_BYTES = 512 << 10;
    private static final int FILLS_AHEAD = 4;

    /** A service refuses more than some that wait. */
    private static final int MOST_AHEAD = 200;

    private static final long PATIENCE_SECONDS = 120;
    private static final long PERIOD_NANOS = 1_000_000;
    private static final long MOST_MICROS = 600_000_000;

    /** So many messages come between two checkpoints. */
    static final int PER_CHECKPOINT = (int) (KvServer.EVERY.toNanos() / PERIOD_NANOS);

    /**
     * What the client saw.
     *
     * @param messages that were answered
     * @param changed entries
     * @param seconds in which they were
     * @param waitMillis the longest wait for an answer within one interval of checkpoints, from
     *     when the message was to be sent: median
     * @param worstWaitMillis the same: 99 of 100 intervals
     */
    record Result(
            long messages,
            long changed,
            double seconds,
            double waitMillis,
            double worstWaitMillis) {}

    private PauseLoad() {}

    /**
     * Loads.
     *
     * @param arguments address; entries; bytes of a value; seconds of each part, of which the first
     *     fifth does not count; for each part, how many entries change between two checkpoints
     */
    public static void main(String[] arguments) throws Exception {
        long entries = Long.parseLong(arguments[1]);
        int valueBytes = Integer.parseInt(arguments[2]);
        double seconds = Double.parseDouble(arguments[3]);
        SplittableRandom random = new SplittableRandom(7);
        byte[] value = new byte[valueBytes];
        random.nextBytes(value);
        try (Client client =
                Services.without(
                                PauseServer.NAME,
                                Map.of(PauseServer.NAME, Address.parse(arguments[0])))
                        .client()) {
            fill(client, entries, Bytes.of(value), Math.max(1, FILL_BYTES / valueBytes));
            System.out.println(FILLED);
            BufferedReader in = TalkingProcess.lines();
            for (int part = 4; part < arguments.length; part++) {
                if (in.readLine() == null) {
                    return;
                }
                int changed = Integer.parseInt(arguments[part]);
                Result unused = run(client, entries, Bytes.of(value), changed, seconds / 5, random);
                System.out.println(KvLoad.WARM);
                if (in.readLine() == null) {
                    return;
                }
                Result result = run(client, entries, Bytes.of(value), changed, seconds, random);
                System.out.println(new ObjectMapper().writeValueAsString(result));
            }
        }
        Runtime.getRuntime().halt(0);
    }

    private static void fill(Client client, long entries, Bytes value, int together)
            throws Exception {
        ArrayDeque<CompletableFuture<PauseService.Done>> asked = new ArrayDeque<>();
        for (long first = 0; first < entries; first += together) {
            int count = (int) Math.min(together, entries - first);
            asked.add(change(client, first, count, value));
            while (asked.size() > (first + count < entries ? FILLS_AHEAD : 0)) {
                PauseService.Done unused = asked.remove().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
            }
        }
    }

    private static CompletableFuture<PauseService.Done> change(
            Client client, long first, int count, Bytes value) {
        return client.ask(new PauseService.Change(first, count, value), PauseService.Done.class);
    }

    private static Result run(
            Client client,
            long entries,
            Bytes value,
            int changed,
            double seconds,
            SplittableRandom random)
            throws Exception {
        int messages = (int) Math.max(PER_CHECKPOINT, seconds * 1e9 / PERIOD_NANOS);
        AtomicLongArray waits = new AtomicLongArray(messages);
        CompletableFuture<?>[] asked = new CompletableFuture<?>[messages];
        Semaphore ahead = new Semaphore(MOST_AHEAD);
        long begun = System.nanoTime();
        long all = 0;
        for (int i = 0; i < messages; i++) {
            int number = i;
            long due = begun + i * PERIOD_NANOS;
            while (System.nanoTime() - due < 0) {
                LockSupport.parkNanos(due - System.nanoTime());
            }
            // Of all messages between two checkpoints each changes its part.
            long before = (long) (i % PER_CHECKPOINT) * changed / PER_CHECKPOINT;
            long after = (long) (i % PER_CHECKPOINT + 1) * changed / PER_CHECKPOINT;
            int count = (int) (after - before);
            all += count;
            long first = random.nextLong(Math.max(1, entries - count));
            // What is sent late for that has waited since it was due.
            ahead.acquire();
            asked[i] =
                    change(client, first, count, value)
                            .whenComplete((done, failure) -> ahead.release())
                            .thenAccept(done -> waits.set(number, System.nanoTime() - due));
        }
        CompletableFuture.allOf(asked).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        double took = (System.nanoTime() - begun) / 1e9;
        Histogram longest = new Histogram(MOST_MICROS, 3);
        for (int from = 0; from + PER_CHECKPOINT <= messages; from += PER_CHECKPOINT) {
            long most = 0;
            for (int i = from; i < from + PER_CHECKPOINT; i++) {
                most = Math.max(most, waits.get(i));
            }
            longest.recordValue(Math.min(most / 1_000, MOST_MICROS));
        }
        return new Result(
                messages,
                all,
                took,
                longest.getValueAtPercentile(50) / 1e3,
                longest.getValueAtPercentile(99) / 1e3);
    }
}
