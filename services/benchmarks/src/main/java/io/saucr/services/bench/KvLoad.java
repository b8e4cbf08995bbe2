package io.saucr.services.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.hazelcast.client.HazelcastClient;
import com.hazelcast.client.config.ClientConfig;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.map.IMap;
import io.saucr.services.Address;
import io.saucr.services.Bytes;
import io.saucr.services.Client;
import io.saucr.services.Services;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;
import org.HdrHistogram.Histogram;

/**
 * The process of the clients: as many threads as there are clients, each with a connection of its
 * own where the store has such, which get and put keys one after the other. All keys are put
 * before. It says {@code warm} and goes on; what follows the line that it is sent then counts.
 */
final class KvLoad {

    static final String WARM = "warm";
    private static final double YCSB_SKEW = 0.99;

    /** Longest time that counts, in microseconds. */
    private static final long MOST_MICROS = 60_000_000;

    /** A client of a store. Used by one thread. */
    private interface Store extends AutoCloseable {

        void put(String key, byte[] value);

        byte[] get(String key);

        @Override
        void close();
    }

    /** Opens as many as there are clients. */
    private interface Stores {
        Store open() throws IOException;
    }

    /**
     * What clients saw.
     *
     * @param operations that were answered
     * @param puts of these
     * @param seconds in which they were
     */
    record Result(
            long operations,
            long puts,
            double seconds,
            double p50Micros,
            double p99Micros,
            double mostMicros) {}

    private final int keys;
    private final byte[] value;
    private final double[] upTo;
    private volatile boolean counting;
    private volatile boolean over;
    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    private KvLoad(int keys, int valueBytes) {
        this.keys = keys;
        value = new byte[valueBytes];
        upTo = popularity(keys);
    }

    /**
     * Loads.
     *
     * @param arguments {@code services} or {@code hazelcast}; addresses; clients; share of puts;
     *     keys; bytes of a value; seconds before that do not count; seconds that do
     */
    public static void main(String[] arguments) throws Exception {
        int clients = Integer.parseInt(arguments[2]);
        KvLoad load = new KvLoad(Integer.parseInt(arguments[4]), Integer.parseInt(arguments[5]));
        Result result =
                load.run(
                        stores(arguments[0], arguments[1]),
                        clients,
                        Double.parseDouble(arguments[3]),
                        Double.parseDouble(arguments[6]),
                        Double.parseDouble(arguments[7]));
        System.out.println(new ObjectMapper().writeValueAsString(result));
        Runtime.getRuntime().halt(0);
    }

    /** Of each key and all before it: how likely it is that one of them is chosen (Zipf). */
    static double[] popularity(int keys) {
        double[] upTo = new double[keys];
        double sum = 0;
        for (int key = 0; key < keys; key++) {
            sum += 1 / Math.pow(key + 1, YCSB_SKEW);
            upTo[key] = sum;
        }
        for (int key = 0; key < keys; key++) {
            upTo[key] /= sum;
        }
        return upTo;
    }

    private static Stores stores(String kind, String addresses) {
        if (kind.equals("hazelcast")) {
            ClientConfig config = new ClientConfig();
            config.setClusterName("bench");
            config.setProperty("hazelcast.logging.type", "none");
            for (String address : addresses.split(",")) {
                config.getNetworkConfig().addAddress(address);
            }
            HazelcastInstance client = HazelcastClient.newHazelcastClient(config);
            IMap<String, byte[]> map = client.getMap(HazelcastMember.MAP);
            return () -> new OfHazelcast(map);
        }
        Address at = Address.parse(addresses);
        return () ->
                new OfService(
                        Services.without(KvService.NAME, Map.of(KvService.NAME, at)).client());
    }

    private record OfHazelcast(IMap<String, byte[]> map) implements Store {

        @Override
        public void put(String key, byte[] value) {
            map.set(key, value);
        }

        @Override
        public byte[] get(String key) {
            return map.get(key);
        }

        @Override
        public void close() {
            // The process ends.
        }
    }

    private record OfService(Client client) implements Store {

        @Override
        public void put(String key, byte[] value) {
            KvService.Done unused =
                    client.ask(new KvService.Put(key, Bytes.of(value)), KvService.Done.class)
                            .join();
        }

        @Override
        public byte[] get(String key) {
            return client.ask(new KvService.Get(key), KvService.Value.class)
                    .join()
                    .value()
                    .toArray();
        }

        @Override
        public void close() {
            client.close();
        }
    }

    private Result run(Stores stores, int clients, double putShare, double warmUp, double seconds)
            throws Exception {
        try (Store first = stores.open()) {
            for (int key = 0; key < keys; key++) {
                first.put(name(key), value);
            }
        }
        Histogram all = new Histogram(MOST_MICROS, 3);
        long[] puts = new long[clients];
        List<Thread> threads = new ArrayList<>();
        for (int client = 0; client < clients; client++) {
            int number = client;
            Thread thread =
                    new Thread(
                            () -> {
                                try (Store store = stores.open()) {
                                    puts[number] = ask(store, number, putShare, all);
                                } catch (IOException | RuntimeException e) {
                                    failure.compareAndSet(null, e);
                                }
                            },
                            "client " + client);
            threads.add(thread);
            thread.start();
        }
        Thread.sleep(Math.round(warmUp * 1_000));
        System.out.println(WARM);
        BufferedReader in =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String unused = in.readLine();
        long begun = System.nanoTime();
        counting = true;
        Thread.sleep(Math.round(seconds * 1_000));
        over = true;
        double took = (System.nanoTime() - begun) / 1e9;
        for (Thread thread : threads) {
            thread.join();
        }
        if (failure.get() != null) {
            throw new IOException("a client failed: " + failure.get(), failure.get());
        }
        return new Result(
                all.getTotalCount(),
                Arrays.stream(puts).sum(),
                took,
                all.getValueAtPercentile(50),
                all.getValueAtPercentile(99),
                all.getMaxValue());
    }

    /** Until it is over; gives how many puts counted. */
    private long ask(Store store, int client, double putShare, Histogram all) {
        SplittableRandom random = new SplittableRandom(client);
        Histogram own = new Histogram(MOST_MICROS, 3);
        long puts = 0;
        byte[] written = value.clone();
        while (!over) {
            String key = name(choose(random));
            boolean put = random.nextDouble() < putShare;
            boolean counts = counting;
            long begun = System.nanoTime();
            if (put) {
                written[0]++;
                store.put(key, written);
            } else if (store.get(key).length != value.length) {
                throw new IllegalStateException(key + " was lost");
            }
            if (counts && !over) {
                own.recordValue(Math.min(MOST_MICROS, (System.nanoTime() - begun) / 1_000));
                puts += put ? 1 : 0;
            }
        }
        synchronized (all) {
            all.add(own);
        }
        return puts;
    }

    private int choose(SplittableRandom random) {
        int found = Arrays.binarySearch(upTo, random.nextDouble());
        return Math.min(keys - 1, found < 0 ? -found - 1 : found);
    }

    private static String name(int key) {
        return "user" + key;
    }
}
