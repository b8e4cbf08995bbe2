package io.saucr.services.bench;

import io.saucr.services.Address;
import io.saucr.services.Client;
import io.saucr.services.Halt;
import io.saucr.services.Handlers;
import io.saucr.services.Protection;
import io.saucr.services.RunningService;
import io.saucr.services.Service;
import io.saucr.services.Services;
import io.saucr.services.State;
import io.saucr.services.Turn;
import io.saucr.services.ValueState;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Whole services: for each pair two of them, over sockets of this machine, which send a number to
 * and fro, each adding one and keeping it. Each hop is a durable turn with its message, as in the
 * paper's first table (section 5.1). Nobody asks for a hop: a turn has happened once the other
 * service takes the message that it sent, which left only when the turn was forced (K4).
 */
final class PingPong implements Contestant {

    private static final int SEGMENT_BYTES = 1 << 20;

    private static final int STARTING_THREADS = 16;

    private final List<Pair> pairs = new ArrayList<>();
    private volatile boolean stopped;

    /** From one service to the other: the hop that the receiver is to make. */
    record Hop(long number) {}

    /** To one of a pair: the newest hop that it made. */
    record Ask() {}

    /** The answer. */
    record Made(long number) {}

    /** One of a pair. */
    private final class Player implements Service {
        private final String partner;
        private final Progress progress;
        private final ValueState<Long> made;

        Player(State state, String partner, Progress progress) {
            this.partner = partner;
            this.progress = progress;
            made = state.value("made", Long.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(Hop.class, this::hop);
            on.query(Ask.class, (ask, turn) -> new Made(made.orElse(0L)));
        }

        private void hop(Hop hop, Turn turn) {
            if (hop.number() > 2 && hop.number() != made.orElse(0L) + 2) {
                throw new IllegalStateException(
                        "hop " + hop.number() + " came after " + made.value());
            }
            progress.durable(hop.number() - 1);
            made.update(hop.number());
            if (!stopped) {
                turn.send(partner, new Hop(hop.number() + 1));
            }
        }
    }

    /** Two services that run. */
    private final class Pair {
        final Progress progress = new Progress();
        final RunningService second;
        final RunningService first;

        Pair(Path folder, int number) throws IOException, InterruptedException {
            String one = "one-" + number;
            String two = "two-" + number;
            // It answers by the connection of the first, whose address it need not know.
            second = run(Services.without(two, Map.of()), folder.resolve(two), one);
            first =
                    run(
                            Services.without(one, Map.of(two, second.address())),
                            folder.resolve(one),
                            two);
        }

        private RunningService run(Services place, Path folder, String partner)
                throws IOException, InterruptedException {
            return place.folder(folder)
                    .segmentBytes(SEGMENT_BYTES)
                    .listen(new Address("127.0.0.1", 0))
                    .onHalt(Halt.process())
                    .run(state -> new Player(state, partner, progress), Protection.local());
        }

        void begin() throws IOException, InterruptedException, ExecutionException {
            try (Client client = client(first)) {
                client.send(new Hop(1)).get();
            }
        }

        long made() throws IOException, InterruptedException, ExecutionException {
            return Math.max(made(first), made(second));
        }

        private long made(RunningService service)
                throws IOException, InterruptedException, ExecutionException {
            try (Client client = client(service)) {
                return client.ask(new Ask(), Made.class).get().number();
            }
        }

        private Client client(RunningService of) throws IOException {
            return Services.without(of.name(), Map.of(of.name(), of.address())).client();
        }

        void close() {
            first.close();
            second.close();
        }
    }

    PingPong(Path folder, int count) throws Exception {
        ExecutorService starting = Executors.newFixedThreadPool(STARTING_THREADS);
        try {
            List<Future<Pair>> started = new ArrayList<>();
            for (int pair = 0; pair < count; pair++) {
                int number = pair;
                started.add(starting.submit(() -> new Pair(folder, number)));
            }
            for (Future<Pair> pair : started) {
                pairs.add(pair.get());
            }
        } finally {
            starting.shutdownNow();
        }
        for (Pair pair : pairs) {
            pair.begin();
        }
    }

    @Override
    public void turn(int pair, long n) throws InterruptedException {
        pairs.get(pair).progress.await(n);
    }

    @Override
    public boolean goesOn() {
        return true;
    }

    @Override
    public long reached(int pair, long asked) {
        return Math.max(asked, pairs.get(pair).progress.durable());
    }

    @Override
    public void stop() {
        stopped = true;
    }

    @Override
    public long counter(int pair) throws Exception {
        return pairs.get(pair).made();
    }

    @Override
    public void close() {
        pairs.forEach(Pair::close);
    }
}
