package io.saucr.crash.nemesis;

import io.saucr.history.HistoryRecorder;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Clients that ask registers without pause, each in a thread of its own: half reads, a third
 * writes, the rest compare-and-set. Three registers are in use at a time, each for so many calls
 * that it can still be judged; then the next one takes its place. Every value is written once. A
 * client that is connected, for the first time or again, reads all three before anything else: what
 * is written over before it is read cannot be seen to be lost.
 */
final class RegisterLoad implements AutoCloseable {
    private static final int AT_A_TIME = 3;
    private static final int CALLS_PER_REGISTER = 150;

    private final int callsPerSecond;
    private final int clients;
    private final int registers;
    private final HistoryRecorder recorder;
    private final AtomicLong values = new AtomicLong();
    private final AtomicLong calls = new AtomicLong();
    private final AtomicReference<Exception> failure = new AtomicReference<>();
    private final List<Thread> threads = new ArrayList<>();
    private final CountDownLatch unanswered;
    private volatile boolean stopped;

    /**
     * Starts at once.
     *
     * @param registers that exist, at least 3; the last ones are used for longer if need be
     */
    RegisterLoad(
            NemesisPlan plan,
            int registers,
            String connectString,
            HistoryRecorder recorder,
            AtomicInteger processes) {
        this.callsPerSecond = plan.callsPerSecond();
        this.clients = plan.clients();
        this.registers = registers;
        this.recorder = recorder;
        unanswered = new CountDownLatch(clients);
        for (int i = 0; i < clients; i++) {
            Random random = new Random(plan.seed() * 1000 + i);
            Thread thread = new Thread(() -> ask(connectString, processes, random), "client " + i);
            thread.setDaemon(true);
            threads.add(thread);
            thread.start();
        }
    }

    /** How many registers a run needs. */
    static int registers(NemesisPlan plan) {
        long calls = plan.length().toSeconds() * plan.callsPerSecond();
        return (int) (calls / CALLS_PER_REGISTER) + AT_A_TIME;
    }

    private void ask(String connectString, AtomicInteger processes, Random random) {
        try (RegisterClient client = new RegisterClient(connectString, recorder, processes)) {
            boolean answered = false;
            boolean hasRead = false;
            while (!stopped) {
                Thread.sleep(random.nextInt(2 * 1000 * clients / callsPerSecond + 1));
                if (!client.ready()) {
                    hasRead = false;
                } else if (hasRead) {
                    call(client, random);
                } else {
                    hasRead = readAll(client);
                    if (hasRead && !answered) {
                        answered = true;
                        unanswered.countDown();
                    }
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException | RuntimeException e) {
            failure.compareAndSet(null, e);
        }
    }

    /** The first of the registers that are in use. */
    private int first(long call) {
        long group = call / ((long) AT_A_TIME * CALLS_PER_REGISTER);
        return (int) Math.min(group * AT_A_TIME, registers - AT_A_TIME);
    }

    private boolean readAll(RegisterClient client) throws IOException, InterruptedException {
        int first = first(calls.get());
        for (int key = first; key < first + AT_A_TIME; key++) {
            if (!client.read(key)) {
                return false;
            }
        }
        return true;
    }

    private void call(RegisterClient client, Random random)
            throws IOException, InterruptedException {
        int key = first(calls.getAndIncrement()) + random.nextInt(AT_A_TIME);
        int what = random.nextInt(6);
        if (what < 3) {
            client.read(key);
        } else if (what < 5) {
            client.write(key, values.incrementAndGet());
        } else {
            client.compareAndSet(key, values.incrementAndGet());
        }
    }

    /**
     * Waits until each client has been answered: a fault that comes before is no fault to them.
     *
     * @return false if that takes longer
     */
    boolean awaitAnswers(Duration limit) throws InterruptedException {
        return unanswered.await(limit.toMillis(), TimeUnit.MILLISECONDS);
    }

    /**
     * Lets the clients finish their calls.
     *
     * @throws IOException if one of them could not continue
     */
    void stop() throws IOException, InterruptedException {
        stopped = true;
        for (Thread thread : threads) {
            thread.join();
        }
        if (failure.get() != null) {
            throw new IOException("a client failed", failure.get());
        }
    }

    @Override
    public void close() {
        stopped = true;
        threads.forEach(Thread::interrupt);
    }
}
