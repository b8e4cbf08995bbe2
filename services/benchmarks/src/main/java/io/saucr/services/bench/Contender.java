package io.saucr.services.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** Who takes part, by the name that a user gives. */
enum Contender {
    RAW_APPEND("one write and one fdatasync of a preallocated file for each pair") {
        @Override
        Contestant open(Path folder, int pairs) throws Exception {
            return new RawAppend(folder, pairs);
        }
    },
    JOURNAL("the journal of a service, a folder for each pair") {
        @Override
        Contestant open(Path folder, int pairs) throws Exception {
            return new JournalAlone(folder, pairs);
        }
    },
    SERVICE("two services for each pair that send a number to and fro, each hop a turn") {
        @Override
        Contestant open(Path folder, int pairs) throws Exception {
            return new PingPong(folder, pairs);
        }
    },
    PARTITIONS(
            "as many partitions of one service as pairs, a number for each that goes round, each"
                    + " hop a turn") {
        @Override
        Contestant open(Path folder, int pairs) throws Exception {
            return new PartitionsRing(folder, pairs);
        }
    },
    BERKELEY_DB("Berkeley DB JE, counter and message in one forced transaction") {
        @Override
        Contestant open(Path folder, int pairs) {
            return new BerkeleyDb(folder);
        }
    },
    POSTGRES("PostgreSQL, counter and outbox table in one transaction") {
        @Override
        Contestant open(Path folder, int pairs) throws Exception {
            return new Postgres(folder, pairs);
        }
    },
    POSTGRES_ARTEMIS("PostgreSQL and Artemis, a commit of each for every turn") {
        @Override
        Contestant open(Path folder, int pairs) throws Exception {
            return new PostgresAndArtemis(folder, pairs);
        }
    },
    PEKKO("Pekko persistence over JDBC on PostgreSQL, one event for each turn") {
        @Override
        Contestant open(Path folder, int pairs) throws Exception {
            return new PekkoPersistence(folder, pairs);
        }
    },
    DBOS("DBOS on PostgreSQL, a workflow of one step for each turn") {
        @Override
        Contestant open(Path folder, int pairs) throws Exception {
            return new Dbos(folder, pairs);
        }
    },
    RESTATE("Restate, two virtual objects for each pair that send a number to and fro") {
        @Override
        Contestant open(Path folder, int pairs) throws Exception {
            return new Restate(folder, pairs);
        }

        @Override
        void prepare() throws IOException, InterruptedException {
            RestateServer.install();
        }

        @Override
        boolean forcesAreSeen() {
            return false;
        }
    },
    KAFKA_STREAMS("Kafka Streams, exactly once: a record in, a counter, a record out") {
        @Override
        Contestant open(Path folder, int pairs) throws Exception {
            return new KafkaStreamsTurns(folder, pairs);
        }
    };

    private final String description;

    Contender(String description) {
        this.description = description;
    }

    /**
     * Starts it, empty.
     *
     * @param folder empty, on the disk that is measured
     * @param pairs how many counters there are, from 1
     */
    abstract Contestant open(Path folder, int pairs) throws Exception;

    /**
     * Fetches what no library brings, before anything is measured.
     *
     * @throws IOException where that can't be had; the message says what to do
     */
    void prepare() throws IOException, InterruptedException {}

    /**
     * Whether forces can be counted and delayed: not those of a program that is linked statically.
     */
    boolean forcesAreSeen() {
        return true;
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
