package io.saucr.services.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** Who takes part, by the name that a user gives. */
enum Contender {
    RAW_APPEND("one write and one fdatasync of a preallocated file for each pair", RawAppend::new),

    JOURNAL("the journal of a service, a folder for each pair", JournalAlone::new),

    SERVICE(
            "two services for each pair that send a number to and fro, each hop a turn",
            PingPong::new),

    PARTITIONS(
            "as many partitions of one service as pairs, a number for each that goes round, each"
                    + " hop a turn",
            PartitionsRing::new),

    BERKELEY_DB(
            "Berkeley DB JE, counter and message in one forced transaction",
            (folder, pairs) -> new BerkeleyDb(folder)),

    POSTGRES("PostgreSQL, counter and outbox table in one transaction", Postgres::new),

    POSTGRES_ARTEMIS(
            "PostgreSQL and Artemis, a commit of each for every turn", PostgresAndArtemis::new),

    PEKKO(
            "Pekko persistence over JDBC on PostgreSQL, one event for each turn",
            PekkoPersistence::new),

    DBOS("DBOS on PostgreSQL, a workflow of one step for each turn", Dbos::new),

    RESTATE(
            "Restate, two virtual objects for each pair that send a number to and fro",
            Restate::new),

    KAFKA_STREAMS(
            "Kafka Streams, exactly once: a record in, a counter, a record out",
            KafkaStreamsTurns::new);

    /** Starts one. */
    private interface Opening {
        Contestant open(Path folder, int pairs) throws Exception;
    }

    private final String description;

    @SuppressWarnings("ImmutableEnumChecker") // A constructor.
    private final Opening opening;

    Contender(String description, Opening opening) {
        this.description = description;
        this.opening = opening;
    }

    /**
     * Starts it, empty.
     *
     * @param folder empty, on the disk that is measured
     * @param pairs how many counters there are, from 1
     */
    Contestant open(Path folder, int pairs) throws Exception {
        return opening.open(folder, pairs);
    }

    /**
     * Fetches what no library brings, before anything is measured.
     *
     * @throws IOException where that can't be had; the message says what to do
     */
    void prepare() throws IOException, InterruptedException {
        if (this == RESTATE) {
            RestateServer.install();
        }
    }

    /**
     * Whether forces can be counted and delayed: not those of a program that is linked statically.
     */
    boolean forcesAreSeen() {
        return this != RESTATE;
    }

    String description() {
        return description;
    }

    /** The name in options and tables: raw-append. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /**
     * Finds one by its name.
     *
     * @throws IllegalArgumentException where there is none; the message lists all
     */
    static Contender of(String name) {
        return Arrays.stream(values())
                .filter(each -> each.toString().equals(name))
                .findFirst()
                .orElseThrow(
                        () ->
                                new IllegalArgumentException(
                                        "unknown contender '"
                                                + name
                                                + "'; known are "
                                                + Arrays.stream(values())
                                                        .map(Contender::toString)
                                                        .collect(Collectors.joining(", "))));
    }
}
