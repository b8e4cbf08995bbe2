package io.saucr.services.tests.crash;

import io.saucr.services.Client;
import io.saucr.services.Services;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The process of the payer's clients: one with a birth, which makes moves, and one without, which
 * asks for what may be consumed at most once. It begins by asking how far it was, and says {@code
 * resumed <number>}. Orders: {@code move <number>} lets the first continue so far, {@code once
 * <count>} the other so far from where it is now, and it says {@code asked} then; {@code stop} ends
 * both, with {@code stopped <number>}, that of the last move. Each answer is a line, {@code moved
 * <number> <balance>} or {@code taken <start> <number>}; of moves {@code refused <why>}, too.
 */
final class ClientProgram {

    private static final int AT_ONCE = 8;
    private static final long PAUSE_NANOS = 5_000_000;

    private final Client teller;
    private final Client stranger;
    private final long session;
    private final Limit moves = new Limit();
    private final Limit asks = new Limit();

    private ClientProgram(Client teller, Client stranger, long session) {
        this.teller = teller;
        this.stranger = stranger;
        this.session = session;
    }

    /**
     * Runs until it is killed.
     *
     * @param args servers and path above the payer; folder; number of this start
     */
    public static void main(String[] args) throws IOException {
        Services payer =
                Services.at(args[0] + "/" + Ledger.PAYER)
                        .net(Settings.NET)
                        .sessionTimeout(Settings.SESSION);
        ClientProgram program =
                new ClientProgram(
                        payer.client(Ledger.TELLER, Path.of(args[1])),
                        payer.client(),
                        Long.parseLong(args[2]));
        program.begin();
        Lines.take(
                order -> {
                    String[] words = order.split(" ");
                    switch (words[0]) {
                        case "move" -> program.moves.raise(Long.parseLong(words[1]));
                        case "once" ->
                                program.asks.raise(
                                        program.asks.passed() + Long.parseLong(words[1]));
                        case "stop" -> {
                            program.asks.raise(0);
                            program.moves.raise(0);
                            Lines.say("stopped " + program.moves.passed());
                        }
                        default -> throw new IllegalArgumentException("no such order: " + order);
                    }
                });
    }

    private void begin() {
        long at =
                teller.ask(new Ledger.Where(), Ledger.At.class)
                        .orTimeout(10, TimeUnit.MINUTES)
                        .join()
                        .number();
        moves.from(at);
        Lines.say("resumed " + at);
        thread("moves", () -> move(at));
        thread("once", this::ask);
    }

    private void thread(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
    }

    /** How far somebody may go. */
    private static final class Limit {
        private long limit;
        private long passed;

        synchronized void raise(long number) {
            limit = number;
            notifyAll();
        }

        /** Returns at once where the number is within it. */
        synchronized void await(long number, Runnable before) {
            while (limit < number) {
                before.run();
                try {
                    wait();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
            passed = number;
        }

        synchronized void from(long number) {
            passed = number;
        }

        /** The last number that was let continue. */
        synchronized long passed() {
            return passed;
        }
    }

    private void move(long last) {
        BlockingQueue<Asked> underWay = new ArrayBlockingQueue<>(AT_ONCE);
        thread("answers", () -> tell(underWay));
        for (long number = last + 1; ; number++) {
            moves.await(number, () -> {});
            CompletableFuture<Ledger.Moved> answer =
                    teller.ask(new Ledger.Move(number), Ledger.Moved.class);
            put(underWay, new Asked(number, answer));
        }
    }

    /** One call of the client with a birth. */
    private record Asked(long number, CompletableFuture<Ledger.Moved> answer) {}

    private static void put(BlockingQueue<Asked> queue, Asked asked) {
        try {
            queue.put(asked);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** In the order of the calls, as futures are completed on several threads. */
    private static void tell(BlockingQueue<Asked> underWay) {
        while (true) {
            try {
                Asked asked = underWay.take();
                Ledger.Moved moved = asked.answer().join();
                Lines.say(
                        moved.number() == asked.number()
                                ? "moved " + moved.number() + " " + moved.balance()
                                : "refused " + asked + " has the answer " + moved);
            } catch (CompletionException e) {
                Lines.say("refused " + e.getCause());
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** One at a time, as what fails may have been consumed or not. */
    private void ask() {
        for (long number = 1; ; number++) {
            asks.await(number, () -> Lines.say("asked"));
            long call = number;
            CompletableFuture<Void> told =
                    stranger.ask(new Ledger.Once(session, number), Ledger.Taken.class)
                            .orTimeout(5, TimeUnit.SECONDS)
                            .handle(
                                    (taken, failure) -> {
                                        if (failure == null) {
                                            Lines.say("taken " + session + " " + call);
                                        }
                                        return null;
                                    });
            told.join();
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }
}
