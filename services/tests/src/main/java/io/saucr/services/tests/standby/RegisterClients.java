package io.saucr.services.tests.standby;

import io.saucr.history.HistoryRecorder;
import io.saucr.history.RegisterCall;
import io.saucr.services.Client;
import io.saucr.services.Services;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Clients of {@link Registers} that write, swap and read without a pause, each on a thread of its
 * own, and what they were told, as a history. A few registers at a time, so that a checker has many
 * short histories.
 */
final class RegisterClients implements AutoCloseable {

    /** So long a call may take before nobody knows what became of it. */
    private static final long PATIENCE_SECONDS = 30;

    private static final int REGISTERS = 3;

    private final String place;
    private final HistoryRecorder history;
    private final List<Thread> threads = new ArrayList<>();
    private final AtomicInteger processes = new AtomicInteger();
    private final AtomicLong values = new AtomicLong();
    private final AtomicLong answered = new AtomicLong();
    private final CompletableFuture<Void> failure = new CompletableFuture<>();

    /** The first of the registers in use. */
    private volatile long registers;

    private volatile boolean over;
    private volatile FirstAnswer waiting;

    /** The first answer to a call that was made after this was made. */
    private static final class FirstAnswer {
        final long fromNanos;
        final long sinceNanos = System.nanoTime();
        final CompletableFuture<Long> nanos = new CompletableFuture<>();

        FirstAnswer(long fromNanos) {
            this.fromNanos = fromNanos;
        }
    }

    RegisterClients(String place, HistoryRecorder history) {
        this.place = place;
        this.history = history;
    }

    /** Begins so many clients. */
    void begin(int clients, long seed) throws IOException {
        nextRegisters();
        for (int i = 0; i < clients; i++) {
            Client writes = Services.at(place).client("writer-" + i);
            Client reads = Services.at(place).client();
            Random random = new Random(seed + i);
            Thread thread = new Thread(() -> run(writes, reads, random), "client " + i);
            thread.setDaemon(true);
            threads.add(thread);
            thread.start();
        }
    }

    /** From now on other registers, each of which begins with a 0 that is written. */
    void nextRegisters() throws IOException {
        long next = registers + REGISTERS;
        try (Client client = Services.at(place).client("begins-" + next)) {
            int process = processes.getAndIncrement();
            for (long key = next; key < next + REGISTERS; key++) {
                RegisterCall call = new RegisterCall.Write(key, 0L);
                history.invoke(process, call);
                client.ask(new Registers.Write("r" + key, "0"), Registers.Value.class).join();
                history.ok(process, call);
            }
        }
        registers = next;
    }

    /** How many calls were answered. */
    long answered() {
        return answered.get();
    }

    /** How long it takes from now until a call is answered that was made after now, in ms. */
    CompletableFuture<Double> nextAnswer() {
        return nextAnswer(System.nanoTime());
    }

    /**
     * The same, from a moment before: what takes long, such as taking a network away, has its
     * effect before it is done.
     *
     * @param fromNanos of {@link System#nanoTime}
     */
    CompletableFuture<Double> nextAnswer(long fromNanos) {
        FirstAnswer first = new FirstAnswer(fromNanos);
        waiting = first;
        return first.nanos.thenApply(it -> it / 1e6);
    }

    /** Fails where a client met what must not be. */
    void check() {
        if (failure.isCompletedExceptionally()) {
            failure.join();
        }
    }

    private void run(Client writes, Client reads, Random random) {
        int process = processes.getAndIncrement();
        try (writes;
                reads) {
            while (!over) {
                long key = registers + random.nextInt(REGISTERS);
                RegisterCall call = call(key, random);
                long from = System.nanoTime();
                history.invoke(process, call);
                switch (ask(call, writes, reads, process)) {
                    case ANSWERED -> {
                        answered.incrementAndGet();
                        tell(from);
                    }
                    case UNKNOWN -> process = processes.getAndIncrement();
                    default -> {
                        // It is made no more.
                    }
                }
            }
        } catch (RuntimeException e) {
            failure.completeExceptionally(e);
        }
    }

    /** A call was answered that was made then. */
    void tell(long from) {
        FirstAnswer first = waiting;
        if (first != null && from >= first.sinceNanos) {
            first.nanos.complete(System.nanoTime() - first.fromNanos);
        }
    }

    private RegisterCall call(long key, Random random) {
        int kind = random.nextInt(4);
        if (kind == 0) {
            return new RegisterCall.Read(key, null);
        }
        long value = values.incrementAndGet();
        return kind == 1
                ? new RegisterCall.CompareAndSet(key, value - random.nextInt(6) - 1, value)
                : new RegisterCall.Write(key, value);
    }

    /** What became of a call. */
    private enum Result {
        ANSWERED,
        /** It was not answered, and changed nothing. */
        FAILED,
        UNKNOWN
    }

    private Result ask(RegisterCall call, Client writes, Client reads, int process) {
        String key = "r" + call.key();
        try {
            if (call instanceof RegisterCall.Read) {
                String value =
                        get(reads.ask(new Registers.Read(key), Registers.Value.class)).value();
                history.ok(process, new RegisterCall.Read(call.key(), Long.parseLong(value)));
            } else if (call instanceof RegisterCall.Write it) {
                Registers.Value unused =
                        get(
                                writes.ask(
                                        new Registers.Write(key, it.value().toString()),
                                        Registers.Value.class));
                history.ok(process, call);
            } else if (call instanceof RegisterCall.CompareAndSet it) {
                Registers.Swapped swapped =
                        get(
                                writes.ask(
                                        new Registers.Swap(
                                                key,
                                                it.expected().toString(),
                                                it.value().toString()),
                                        Registers.Swapped.class));
                if (swapped.done()) {
                    history.ok(process, call);
                } else {
                    history.fail(process, call);
                }
            }
            return Result.ANSWERED;
        } catch (CompletionException e) {
            if (call instanceof RegisterCall.Read) {
                history.fail(process, call);
                return Result.FAILED;
            }
            history.info(process, call);
            return Result.UNKNOWN;
        }
    }

    private static <T> T get(CompletableFuture<T> call) {
        return call.orTimeout(PATIENCE_SECONDS, TimeUnit.SECONDS).join();
    }

    @Override
    public void close() {
        over = true;
        try {
            for (Thread each : threads) {
                each.join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
