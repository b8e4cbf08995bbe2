package io.saucr.services.bench;

import io.saucr.services.Client;
import io.saucr.services.bench.ParallelServer.Compute;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Asks {@link ParallelServer.Compute} one after the other, several at the same time. */
final class ComputeLoad {
    private final Client client;
    private final int micros;
    private final int keys;
    private final AtomicLong next = new AtomicLong();
    private final AtomicLong done = new AtomicLong();
    private final List<CompletableFuture<Void>> ends = new ArrayList<>();
    private volatile boolean over;

    ComputeLoad(Client client, int micros, int keys) {
        this.client = client;
        this.micros = micros;
        this.keys = keys;
    }

    void begin(int calls) {
        for (int call = 0; call < calls; call++) {
            CompletableFuture<Void> end = new CompletableFuture<>();
            ends.add(end);
            ask(end);
        }
    }

    private void ask(CompletableFuture<Void> end) {
        int key = (int) (next.incrementAndGet() * 7919 % keys);
        CompletableFuture<?> unused =
                client.ask(new Compute(key, micros))
                        .whenComplete(
                                (answer, failure) -> {
                                    done.incrementAndGet();
                                    if (failure != null) {
                                        end.completeExceptionally(failure);
                                    } else if (over) {
                                        end.complete(null);
                                    } else {
                                        ask(end);
                                    }
                                });
    }

    /** How many were answered. */
    long done() {
        return done.get();
    }

    /** Throws what went wrong. */
    void end() throws Exception {
        over = true;
        for (CompletableFuture<Void> each : ends) {
            each.get(1, TimeUnit.MINUTES);
        }
    }
}
