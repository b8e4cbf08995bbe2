package io.saucr.services.tests.standby;

import io.saucr.services.Client;
import io.saucr.services.Lost;
import io.saucr.services.Services;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Clients of an asynchronous {@link Registers} that write, each value to a register of its own, and
 * keep what they were told and what they were told is lost. Half of what is lost is asked for
 * again. At the end each write that was answered is there, or its loss was announced to who wrote
 * it, and what is there was not announced as lost; losses are of replies of one lease.
 */
final class Ledger implements AutoCloseable {

    private static final long PATIENCE_SECONDS = 30;

    /** Between two writes of a client: all of them stay in the members' memory. */
    private static final long PAUSE_MILLIS = 10;

    /** What came of one write. */
    private static final class Entry {
        final boolean numbered;
        volatile long answeredNanos;
        volatile Lost lost;

        /** When the answer came that was lost then: one that was asked again may be, too. */
        volatile long lostNanos;

        volatile Lost.Decision decision;

        Entry(boolean numbered) {
            this.numbered = numbered;
        }

        void noteWhen(CompletableFuture<?> answer) {
            CompletableFuture<Void> unused =
                    answer.thenRun(() -> answeredNanos = System.nanoTime());
        }
    }

    private final String place;
    private final Consumer<Long> answers;
    private final Map<String, Entry> entries = new ConcurrentHashMap<>();
    private final List<Thread> threads = new ArrayList<>();
    private final List<Client> clients = new ArrayList<>();
    private final List<String> wrong = new ArrayList<>(); // Guarded by its own monitor.
    private final AtomicLong keys = new AtomicLong();
    private final AtomicLong answered = new AtomicLong();
    private volatile boolean over;

    /**
     * No clients yet.
     *
     * @param answers hears of each answer, with the moment in ns at which it was asked for
     */
    Ledger(String place, Consumer<Long> answers) {
        this.place = place;
        this.answers = answers;
    }

    /** Begins so many clients, every other one with numbers of its own. */
    void begin(int count) throws IOException {
        for (int i = 0; i < count; i++) {
            boolean numbered = i % 2 == 0;
            Client client =
                    numbered
                            ? Services.at(place).client("writer-" + i)
                            : Services.at(place).client();
            client.onLost(this::lost);
            clients.add(client);
            Thread thread = new Thread(() -> run(client, numbered), "client " + i);
            thread.setDaemon(true);
            threads.add(thread);
            thread.start();
        }
    }

    private void run(Client client, boolean numbered) {
        while (!over) {
            String key = "k" + keys.incrementAndGet();
            Entry entry = new Entry(numbered);
            entries.put(key, entry);
            long from = System.nanoTime();
            CompletableFuture<Registers.Value> answer =
                    client.ask(new Registers.Write(key, key), Registers.Value.class);
            entry.noteWhen(answer);
            try {
                String before = answer.orTimeout(PATIENCE_SECONDS, TimeUnit.SECONDS).join().value();
                answered.incrementAndGet();
                answers.accept(from);
                if (!before.isEmpty()) {
                    wrong(key + " was written before it was asked for: " + before);
                }
            } catch (CompletionException e) {
                // Nobody knows what came of it, and nobody was told.
                entries.remove(key);
            }
            LockSupport.parkNanos(PAUSE_MILLIS * 1_000_000);
        }
    }

    private Lost.Decision lost(Lost lost) {
        String key = ((Registers.Write) lost.request()).key();
        Entry entry = entries.get(key);
        if (entry == null) {
            wrong(key + " was announced as lost, and was never answered");
            return Lost.Decision.DROP;
        }
        if (entry.decision == Lost.Decision.DROP) {
            wrong(key + " was announced as lost after it was dropped");
        }
        if (lost.turn() <= lost.survived()) {
            wrong(key + " was announced as lost, and is not: " + lost);
        }
        entry.lost = lost;
        entry.lostNanos = entry.answeredNanos;
        entry.noteWhen(lost.again());
        entry.decision = key.hashCode() % 2 == 0 ? Lost.Decision.REPEAT : Lost.Decision.DROP;
        return entry.decision;
    }

    private void wrong(String what) {
        synchronized (wrong) {
            wrong.add(what);
        }
    }

    /** How many writes were answered. */
    long answered() {
        return answered.get();
    }

    /** How many of them were announced as lost. */
    long lost() {
        return entries.values().stream().filter(it -> it.lost != null).count();
    }

    /** Stops writing; calls that wait come to their end. */
    void stop() {
        over = true;
        try {
            for (Thread each : threads) {
                each.join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Compares what clients were told with what is there. After {@link #stop}.
     *
     * @param longestMillis between the first and the last reply of one epoch that are lost
     * @return what must not be
     */
    List<String> judge(long longestMillis) throws IOException {
        Map<Long, long[]> spans = new ConcurrentHashMap<>();
        try (Client reads = Services.at(place).client("judge")) {
            entries.forEach((key, entry) -> judge(key, entry, reads, spans));
        }
        spans.forEach(
                (epoch, span) -> {
                    long millis = (span[1] - span[0]) / 1_000_000;
                    if (millis > longestMillis) {
                        wrong(
                                "replies of epoch %s were lost that came within %s ms, and not within %s ms"
                                        .formatted(epoch, millis, longestMillis));
                    }
                });
        synchronized (wrong) {
            return List.copyOf(wrong);
        }
    }

    private void judge(String key, Entry entry, Client reads, Map<Long, long[]> spans) {
        boolean repeated = entry.decision == Lost.Decision.REPEAT;
        if (repeated) {
            try {
                Object unused =
                        entry.lost.again().orTimeout(PATIENCE_SECONDS, TimeUnit.SECONDS).join();
            } catch (CompletionException e) {
                if (entry.numbered) {
                    wrong(key + " was asked again and not answered: " + e.getCause());
                }
                return;
            }
        }
        if (entry.lost != null) {
            long at = entry.lostNanos;
            spans.merge(
                    entry.lost.epoch(),
                    new long[] {at, at},
                    (one, other) ->
                            new long[] {Math.min(one[0], other[0]), Math.max(one[1], other[1])});
        }
        // No member goes any more: what is there now stays.
        String there =
                reads.ask(new Registers.Read(key), Registers.Value.class)
                        .orTimeout(PATIENCE_SECONDS, TimeUnit.SECONDS)
                        .join()
                        .value();
        boolean expected = entry.lost == null || repeated;
        if (expected && !there.equals(key)) {
            wrong(key + " was answered and is not there, and nobody was told");
        } else if (!expected && !there.isEmpty()) {
            wrong(key + " was announced as lost and dropped, and is there");
        }
    }

    @Override
    public void close() {
        stop();
        clients.forEach(Client::close);
    }
}
