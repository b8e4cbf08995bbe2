package io.saucr.services.bench;

import io.saucr.services.Address;
import io.saucr.services.Client;
import io.saucr.services.Halt;
import io.saucr.services.Handlers;
import io.saucr.services.Keyed;
import io.saucr.services.MapState;
import io.saucr.services.Partitions;
import io.saucr.services.Protection;
import io.saucr.services.RunningPartitions;
import io.saucr.services.Service;
import io.saucr.services.Services;
import io.saucr.services.State;
import io.saucr.services.Turn;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * One service in as many partitions as there are pairs, in one process: each pair is a number that
 * goes from partition to partition, and each hop is a durable turn with its message, as in {@link
 * PingPong}. The partitions share an fsync. One pair has two partitions, as what a partition sends
 * itself does not leave it.
 */
final class PartitionsRing implements Contestant {

    private static final String NAME = "ring";
    private static final int ATTEMPTS = 1_000;

    private final List<String> keys = new ArrayList<>();
    private final List<Progress> progress = new ArrayList<>();
    private final int count;
    private final RunningPartitions running;
    private final Client client;
    private volatile boolean stopped;

    /** To the partition of the key: the hop that a number makes there. */
    record Hop(int pair, String key, long number) implements Keyed {}

    /** How far numbers came here. */
    record Ask(int pair, String key) implements Keyed {}

    /** The answer. */
    record Made(long number) {}

    private final class Player implements Service {

        private final MapState<Integer, Long> made;

        Player(State state) {
            made = state.map("made", Integer.class, Long.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(Hop.class, this::hop);
            on.query(Ask.class, (ask, turn) -> new Made(made.getOrDefault(ask.pair(), 0L)));
        }

        private void hop(Hop hop, Turn turn) {
            long before = made.getOrDefault(hop.pair(), 0L);
            if (before > 0 && hop.number() != before + count) {
                throw new IllegalStateException(hop + " came after " + before);
            }
            progress.get(hop.pair()).durable(hop.number() - 1);
            made.put(hop.pair(), hop.number());
            if (!stopped) {
                String next = key(hop.pair(), hop.number() + 1);
                turn.send(NAME, new Hop(hop.pair(), next, hop.number() + 1));
            }
        }
    }

    /** Of the partition where a number makes this hop. */
    private String key(int pair, long hop) {
        return keys.get((int) ((pair + hop) % count));
    }

    PartitionsRing(Path folder, int pairs) throws Exception {
        count = Math.max(2, pairs);
        int port = freePorts(count);
        Map<String, Address> addresses = new HashMap<>();
        for (int number = 0; number < count; number++) {
            addresses.put(NAME + "." + number, new Address("127.0.0.1", port + number));
        }
        Partitions ring =
                Services.without(NAME, addresses)
                        .folder(folder)
                        .listen(new Address("127.0.0.1", port))
                        .onHalt(Halt.process())
                        .partitions(count);
        for (int number = 0; number < count; number++) {
            int tried = 0;
            while (ring.of("key" + tried) != number) {
                tried++;
            }
            keys.add("key" + tried);
        }
        for (int pair = 0; pair < pairs; pair++) {
            progress.add(new Progress());
        }
        running = ring.run(Player::new, Protection.local());
        client = ring.client();
        for (int pair = 0; pair < pairs; pair++) {
            client.send(new Hop(pair, key(pair, 1), 1)).get();
        }
    }

    /** So many ports in a row that no process listens on. */
    private static int freePorts(int count) throws IOException {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            List<ServerSocket> held = new ArrayList<>();
            try {
                held.add(new ServerSocket(0));
                int first = held.get(0).getLocalPort();
                for (int port = first + 1; port < first + count; port++) {
                    held.add(new ServerSocket(port));
                }
                return first;
            } catch (IOException | IllegalArgumentException e) {
                // Another process listens on one of them, or there is no such port: further on.
            } finally {
                for (ServerSocket each : held) {
                    each.close();
                }
            }
        }
        throw new IOException("no " + count + " ports in a row are free");
    }

    @Override
    public void turn(int pair, long n) throws InterruptedException {
        progress.get(pair).await(n);
    }

    @Override
    public boolean goesOn() {
        return true;
    }

    @Override
    public long reached(int pair, long asked) {
        return Math.max(asked, progress.get(pair).durable());
    }

    @Override
    public void stop() {
        stopped = true;
    }

    @Override
    public long counter(int pair) throws Exception {
        long most = 0;
        for (String key : keys) {
            most = Math.max(most, client.ask(new Ask(pair, key), Made.class).get().number());
        }
        return most;
    }

    @Override
    public void close() {
        client.close();
        running.close();
    }
}
