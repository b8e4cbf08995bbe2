package io.saucr.services.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.IntegerDeserializer;
import org.apache.kafka.common.serialization.IntegerSerializer;
import org.apache.kafka.common.serialization.LongDeserializer;
import org.apache.kafka.common.serialization.LongSerializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

/**
 * Kafka Streams with {@code exactly_once_v2} and its presets otherwise: a record comes in, the
 * counter in a store with a changelog is set, a record goes out, and all three are of one
 * transaction of the broker. A turn has happened once who reads committed records alone has the one
 * that went out. Each pair has a partition. The store lies in memory, which spares it the
 * checkpoints of one on disk.
 */
final class KafkaStreamsTurns implements Contestant {

    private static final String APPLICATION = "bench";
    private static final String IN = "hops";
    private static final String OUT = "made";
    private static final String STORE = "counters";
    private static final Duration POLL = Duration.ofMillis(100);
    private static final int PATIENCE_MINUTES = 2;

    private final List<Progress> progress = new ArrayList<>();
    private final KafkaBroker broker;
    private final KafkaProducer<Integer, Long> producer;
    private final KafkaStreams streams;
    private final KafkaConsumer<Integer, Long> made;
    private final Thread reading;
    private volatile boolean closing;

    /** Sets the counter and says so. */
    private static final class Counting implements Processor<Integer, Long, Integer, Long> {

        private ProcessorContext<Integer, Long> context;
        private KeyValueStore<Integer, Long> counters;

        @Override
        public void init(ProcessorContext<Integer, Long> it) {
            context = it;
            counters = it.getStateStore(STORE);
        }

        @Override
        public void process(Record<Integer, Long> hop) {
            Long before = counters.get(hop.key());
            if (hop.value() != (before == null ? 0 : before) + 1) {
                throw new IllegalStateException(
                        "pair " + hop.key() + ": " + hop.value() + " came after " + before);
            }
            counters.put(hop.key(), hop.value());
            context.forward(hop);
        }
    }

    KafkaStreamsTurns(Path folder, int pairs) throws Exception {
        for (int pair = 0; pair < pairs; pair++) {
            progress.add(new Progress());
        }
        broker = new KafkaBroker(folder);
        try (Admin admin =
                Admin.create(
                        Map.of(
                                "bootstrap.servers",
                                broker.address(),
                                "default.api.timeout.ms",
                                "60000"))) {
            admin.createTopics(
                            List.of(
                                    new NewTopic(IN, pairs, (short) 1),
                                    new NewTopic(OUT, pairs, (short) 1)))
                    .all()
                    .get(PATIENCE_MINUTES, TimeUnit.MINUTES);
        } catch (ExecutionException e) {
            throw new IOException("the Kafka broker does not serve:\n" + broker.said(), e);
        }
        producer =
                new KafkaProducer<>(
                        Map.of("bootstrap.servers", broker.address()),
                        new IntegerSerializer(),
                        new LongSerializer());
        made = consumer();
        made.assign(
                IntStream.range(0, pairs).mapToObj(pair -> new TopicPartition(OUT, pair)).toList());
        made.seekToBeginning(List.of());
        reading = new Thread(this::read, "made");
        reading.start();
        streams = new KafkaStreams(topology(), configuration(folder));
        streams.start();
    }

    private static Topology topology() {
        return new Topology()
                .addSource(IN, new IntegerDeserializer(), new LongDeserializer(), IN)
                .addProcessor("counting", Counting::new, IN)
                .addStateStore(
                        Stores.keyValueStoreBuilder(
                                Stores.inMemoryKeyValueStore(STORE),
                                Serdes.Integer(),
                                Serdes.Long()),
                        "counting")
                .addSink(OUT, OUT, new IntegerSerializer(), new LongSerializer(), "counting");
    }

    private Properties configuration(Path folder) {
        Properties properties = new Properties();
        properties.put(StreamsConfig.APPLICATION_ID_CONFIG, APPLICATION);
        properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, broker.address());
        properties.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        properties.put(StreamsConfig.STATE_DIR_CONFIG, folder.resolve("streams").toString());
        properties.put("auto.offset.reset", "earliest");
        return properties;
    }

    /** Sees what was committed, and nothing else. */
    private KafkaConsumer<Integer, Long> consumer() {
        return new KafkaConsumer<>(
                Map.of("bootstrap.servers", broker.address(), "isolation.level", "read_committed"),
                new IntegerDeserializer(),
                new LongDeserializer());
    }

    private void read() {
        try {
            while (!closing) {
                for (ConsumerRecord<Integer, Long> each : made.poll(POLL)) {
                    progress.get(each.key()).durable(each.value());
                }
            }
        } catch (WakeupException e) {
            // That is how it ends.
        }
    }

    @Override
    public void turn(int pair, long n) throws InterruptedException {
        Future<?> unused = producer.send(new ProducerRecord<>(IN, pair, pair, n));
        progress.get(pair).await(n);
    }

    /** Read from the log of the store, as after a crash. */
    @Override
    public long counter(int pair) {
        TopicPartition log = new TopicPartition(APPLICATION + "-" + STORE + "-changelog", pair);
        long last = 0;
        try (KafkaConsumer<Integer, Long> consumer = consumer()) {
            consumer.assign(List.of(log));
            consumer.seekToBeginning(List.of(log));
            long end = consumer.endOffsets(List.of(log)).get(log);
            while (consumer.position(log) < end) {
                for (ConsumerRecord<Integer, Long> each : consumer.poll(POLL)) {
                    last = each.value();
                }
            }
        }
        return last;
    }

    @Override
    public void close() throws IOException {
        closing = true;
        made.wakeup();
        try {
            reading.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        made.close();
        // The broker ends with its data: nobody needs what a graceful end would tell it.
        boolean unused = streams.close(Duration.ofSeconds(5));
        producer.close(Duration.ZERO);
        broker.close();
    }
}
