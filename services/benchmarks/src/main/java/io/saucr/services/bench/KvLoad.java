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
 * keys are put before. Each line that it is sent is one load: clients, the share of puts, seconds
 * that do not count. It says {@code warm} and continues; what follows the next line, the seconds
 * that count, is measured. One process for all loads of a store: what counts is not the compiling
 * of a client.
 */
final class KvLoad {

    static final String WARM = "warm";
    private static final double YCSB_SKEW = 0.99;
    private static final int AT_ONCE = 20;

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
    private final Store store;

    private KvLoad(Store store, int keys, int valueBytes) {
        this.store = store;
        this.keys = keys;
        value = new byte[valueBytes];
        upTo = popularity(keys);
    }

    /**
     * Loads until its input ends.
     *
     * @param arguments {@code services} or {@code hazelcast}; addresses; keys; bytes of a value
     */
    public static void main(String[] arguments) throws Exception {
        KvLoad load =
                new KvLoad(
                        store(arguments[0], arguments[1]),
                        Integer.parseInt(arguments[2]),
                        Integer.parseInt(arguments[3]));
        load.putAll();
        BufferedReader in = TalkingProcess.lines();
        ObjectMapper mapper = new ObjectMapper();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] each = line.split(" ");
            Running running =
                    load.new Running(Integer.parseInt(each[0]), Double.parseDouble(each[1]));
            running.begin();
            Thread.sleep(Math.round(Double.parseDouble(each[2]) * 1_000));
            System.out.println(WARM);
            double seconds = Double.parseDouble(in.readLine());
            System.out.println(mapper.writeValueAsString(running.count(seconds)));
        }
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

    private void putAll() {
        for (int key = 0; key < keys; key += AT_ONCE) {
            CompletableFuture.allOf(
                            IntStream.range(key, Math.min(keys, key + AT_ONCE))
                                    .mapToObj(
                                            it -> store.put(name(it), value).toCompletableFuture())
                                    .toArray(CompletableFuture[]::new))
                    .join();
        }
    }

    /** One load. */
    private final class Running {

        private final Histogram answered = new ConcurrentHistogram(MOST_MICROS, 3);
        private final LongAdder puts = new LongAdder();
        private final AtomicReference<Throwable> failure = new AtomicReference<>();
        private final List<Asker> askers;
        private volatile boolean counting;
        private volatile boolean over;

        Running(int clients, double putShare) {
            askers =
                    IntStream.range(0, clients)
                            .mapToObj(client -> new Asker(this, client, putShare))
                            .toList();
        }

        void begin() {
            askers.forEach(Asker::ask);
        }

        Result count(double seconds) throws Exception {
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
    }

    /** One client. Its calls follow one another, each on the thread that tells of the last one. */
    private final class Asker {

        private final Running running;
        private final double putShare;
        private final SplittableRandom random;
        private final byte[] written = value.clone();
        final CompletableFuture<Void> ended = new CompletableFuture<>();

        Asker(Running running, int client, double putShare) {
            this.running = running;
            this.putShare = putShare;
            random = new SplittableRandom(client);
        }

        void ask() {
            String key = name(choose(random));
            boolean put = random.nextDouble() < putShare;
            boolean counts = running.counting;
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
                                    running.failure.compareAndSet(null, failed);
                                } else if (counts && !running.over) {
                                    running.answered.recordValue(
                                            Math.min(
                                                    MOST_MICROS,
                                                    (System.nanoTime() - begun) / 1_000));
                                    running.puts.add(put ? 1 : 0);
                                }
                                if (running.over || running.failure.get() != null) {
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
