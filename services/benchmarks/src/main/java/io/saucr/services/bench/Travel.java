package io.saucr.services.bench;

import io.saucr.services.Address;
import io.saucr.services.Client;
import io.saucr.services.Halt;
import io.saucr.services.RunningService;
import io.saucr.services.Services;
import io.saucr.services.examples.travel.Store;
import io.saucr.services.examples.travel.TravelProcess;
import io.saucr.services.examples.travel.Trips;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import org.HdrHistogram.Histogram;

/**
 * The trips of the examples and their stores in one process, and clients that book. A booking with
 * n stores is 2n + 1 turns, one after the other. Used by one thread.
 */
final class Travel implements AutoCloseable {

    private static final long LONGEST_NANOS = 600_000_000_000L;
    private static final int SEGMENT_BYTES = 4 << 20;

    private final List<RunningService> services = new ArrayList<>();
    private final List<Client> clients = new ArrayList<>();
    private long trips;

    /**
     * Starts it.
     *
     * @param folder empty
     * @param stores at how many each trip reserves, from 1 to 8
     * @param ensemble servers
     */
    Travel(Path folder, int stores, Chain.Mode mode, String ensemble)
            throws IOException, InterruptedException, ExecutionException {
        List<String> names = new ArrayList<>(List.of(TravelProcess.TRIPS));
        names.addAll(TravelProcess.stores(stores));
        for (String name : names) {
            // One path for each number of stores: they may share an ensemble.
            String path = ensemble + "/travel-" + stores + "/" + name;
            services.add(
                    mode.run(
                            Services.at(path)
                                    .folder(folder.resolve(name))
                                    .listen(new Address("127.0.0.1", 0))
                                    .segmentBytes(SEGMENT_BYTES)
                                    .onHalt(Halt.process()),
                            TravelProcess.constructor(name, stores, Integer.MAX_VALUE),
                            "/groups/travel-" + stores));
            clients.add(Services.at(path).client());
        }
    }

    private CompletableFuture<Trips.Outcome> book() {
        return clients.get(0).ask(new Trips.Book("trip-" + trips++), Trips.Outcome.class);
    }

    /**
     * Books one trip after the other.
     *
     * @param millis so long, and at least one
     * @return how long each took, in nanoseconds
     */
    Histogram oneByOne(long millis) throws InterruptedException, ExecutionException {
        Histogram latencies = new Histogram(LONGEST_NANOS, 3);
        long now = System.nanoTime();
        long end = now + millis * 1_000_000;
        do {
            check(book().get());
            long then = System.nanoTime();
            latencies.recordValue(Math.min(then - now, LONGEST_NANOS));
            now = then;
        } while (now < end);
        return latencies;
    }

    /**
     * Books several trips at the same time.
     *
     * @param callers so many at most are under way
     * @param millis so long
     * @return trips in a second
     */
    double atOnce(int callers, long millis) throws InterruptedException {
        Semaphore free = new Semaphore(callers);
        AtomicReference<Throwable> failure = new AtomicReference<>();
        long before = trips;
        long begun = System.nanoTime();
        while (System.nanoTime() - begun < millis * 1_000_000) {
            free.acquire();
            CompletableFuture<?> unused =
                    book().thenAccept(Travel::check)
                            .whenComplete(
                                    (nothing, thrown) -> {
                                        if (thrown != null) {
                                            failure.set(thrown);
                                        }
                                        free.release();
                                    });
        }
        free.acquire(callers);
        long nanos = System.nanoTime() - begun;
        if (failure.get() != null) {
            throw new IllegalStateException("a trip failed", failure.get());
        }
        return (trips - before) * 1e9 / nanos;
    }

    private static void check(Trips.Outcome outcome) {
        if (!outcome.isBooked()) {
            throw new IllegalStateException(outcome + ", and all stores have room");
        }
    }

    /**
     * Compares what each store has with the trips that were booked.
     *
     * @throws IllegalStateException where they differ
     */
    void check() throws InterruptedException, ExecutionException {
        for (Client store : clients.subList(1, clients.size())) {
            int all = store.ask(new Store.Ask(""), Store.Trip.class).get().all();
            if (all != trips) {
                throw new IllegalStateException(
                        "a store has " + all + " trips of " + trips + " that were booked");
            }
        }
    }

    @Override
    public void close() {
        clients.forEach(Client::close);
        services.forEach(RunningService::close);
    }
}
