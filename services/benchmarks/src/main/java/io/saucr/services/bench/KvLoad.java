package io.saucr.services.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.hazelcast.client.HazelcastClient;
import com.hazelcast.client.config.ClientConfig;
import com.hazelcast.map.IMap;
import io.saucr.services.Address;
import io.saucr.services.Bytes;
import io.saucr.services.Client;
import io.saucr.services.Services;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/**
 * The process of the clients, as an application has them: many that each wait for their answer, on
 * one connection of the store's own client. They get and put keys one after the other, by the
 * store's asynchronous calls, so that no thread of a client costs more than the store does. All
 * keys are put before. It says {@code warm} and goes on; what follows the line that it is sent then
 * counts.
 */
final class KvLoad {

    static final String WARM = "warm";
    private static final double YCSB_SKEW = 0.99;

    /** Longest time that counts, in microseconds. */
    private static final long MOST_MICROS = 60_000_000;

    /** The client of a store. Any thread. */
    private interface Store {

        CompletionStage<?> put(String key, byte[] value);

        /** Gives the length of the value, 0 where there is none. */
        CompletionStage<Integer> get(String key);
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
    private final Histogram answered = new ConcurrentHistogram(MOST_MICROS, 3);
    private final LongAdder puts = new LongAdder();
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
                        store(arguments[0], arguments[1]),
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

    private static Store store(String kind, String addresses) throws IOException {
        if (kind.equals("hazelcast")) {
            ClientConfig config = new ClientConfig();
            config.setClusterName("bench");
            config.setProperty("hazelcast.logging.type", "none");
            for (String address : addresses.split(",")) {
                config.getNetworkConfig().addAddress(address);
            }
            return new OfHazelcast(
                    HazelcastClient.newHazelcastClient(config).getMap(HazelcastMember.MAP));
        }
        Address at = Address.parse(addresses);
        return new OfService(Services.without(KvService.NAME, Map.of(KvService.NAME, at)).client());
    }

    private record OfHazelcast(IMap<String, byte[]> map) implements Store {

        @Override
        public CompletionStage<?> put(String key, byte[] value) {
            return map.setAsync(key, value);
        }

        @Override
        public CompletionStage<Integer> get(String key) {
            return map.getAsync(key).thenApply(value -> value == null ? 0 : value.length);
        }
    }

    private record OfService(Client client) implements Store {

        @Override
        public CompletionStage<?> put(String key, byte[] value) {
            return client.ask(new KvService.Put(key, Bytes.of(value)), KvService.Done.class);
        }

        @Override
        public CompletionStage<Integer> get(String key) {
            return client.ask(new KvService.Get(key), KvService.Value.class)
                    .thenApply(answer -> answer.value().size());
        }
    }

    private Result run(Store store, int clients, double putShare, double warmUp, double seconds)
            throws Exception {
        for (int key = 0; key < keys; key += clients) {
            CompletableFuture.allOf(
                            IntStream.range(key, Math.min(keys, key + clients))
                                    .mapToObj(
                                            it -> store.put(name(it), value).toCompletableFuture())
                                    .toArray(CompletableFuture[]::new))
                    .join();
        }
        List<Asker> askers =
                IntStream.range(0, clients)
                        .mapToObj(client -> new Asker(store, client, putShare))
                        .toList();
        askers.forEach(Asker::ask);
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
        for (Asker asker : askers) {
            asker.ended.join();
        }
        if (failure.get() != null) {
            throw new IOException("a client failed: " + failure.get(), failure.get());
        }
        return new Result(
                answered.getTotalCount(),
                puts.sum(),
                took,
                answered.getValueAtPercentile(50),
                answered.getValueAtPercentile(99),
                answered.getMaxValue());
    }

    /** One client. Its calls follow one another, each on the thread that tells of the last one. */
    private final class Asker {

        private final Store store;
        private final double putShare;
        private final SplittableRandom random;
        private final byte[] written = value.clone();
        final CompletableFuture<Void> ended = new CompletableFuture<>();

        Asker(Store store, int client, double putShare) {
            this.store = store;
            this.putShare = putShare;
            random = new SplittableRandom(client);
        }

        void ask() {
            String key = name(choose(random));
            boolean put = random.nextDouble() < putShare;
            boolean counts = counting;
            long begun = System.nanoTime();
            CompletionStage<?> answer;
            if (put) {
                written[0]++;
                answer = store.put(key, written.clone());
            } else {
                answer = store.get(key).thenAccept(length -> check(key, length));
            }
            CompletionStage<?> unused =
                    answer.whenComplete(
                            (done, failed) -> {
                                if (failed != null) {
                                    failure.compareAndSet(null, failed);
                                } else if (counts && !over) {
                                    answered.recordValue(
                                            Math.min(
                                                    MOST_MICROS,
                                                    (System.nanoTime() - begun) / 1_000));
                                    puts.add(put ? 1 : 0);
                                }
                                if (over || failure.get() != null) {
                                    ended.complete(null);
                                } else {
                                    ask();
                                }
                            });
        }
    }

    private void check(String key, int length) {
        if (length != value.length) {
            throw new IllegalStateException(key + " was lost");
        }
    }

    private int choose(SplittableRandom random) {
        int found = Arrays.binarySearch(upTo, random.nextDouble());
        return Math.min(keys - 1, found < 0 ? -found - 1 : found);
    }

    private static String name(int key) {
        return "user" + key;
    }
}
