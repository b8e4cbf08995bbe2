package io.saucr.services.bench;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.Done;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.actor.Props;
import org.apache.pekko.pattern.Patterns;
import org.apache.pekko.persistence.AbstractPersistentActor;
import org.apache.pekko.persistence.jdbc.testkit.javadsl.SchemaUtils;

/**
 * Pekko persistence over JDBC on PostgreSQL: a persistent actor for each pair, which persists one
 * event for each turn and counts when that is in the database. Its message to the next process
 * would follow at least once, without a record of its own: that is what the event stands for.
 */
final class PekkoPersistence implements Contestant {

    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private final EmbeddedPostgres database;
    private final ActorSystem system;
    private final List<ActorRef> counters = new ArrayList<>();

    /** One counter; answers with what it has become. */
    public static final class Counter extends AbstractPersistentActor {

        private final String id;
        private long n;

        /** For {@link Props}. */
        public Counter(String id) {
            this.id = id;
        }

        @Override
        public String persistenceId() {
            return id;
        }

        @Override
        public Receive createReceiveRecover() {
            return receiveBuilder().match(Long.class, event -> n = event).build();
        }

        @Override
        public Receive createReceive() {
            return receiveBuilder()
                    .match(
                            Long.class,
                            next ->
                                    persist(
                                            next,
                                            event -> {
                                                n = event;
                                                getSender().tell(n, getSelf());
                                            }))
                    .build();
        }
    }

    PekkoPersistence(Path folder, int pairs) throws Exception {
        database = Postgres.start(folder, Math.max(pairs, 32));
        Config own =
                ConfigFactory.parseMap(
                        Map.ofEntries(
                                Map.entry("pekko.loglevel", "WARNING"),
                                Map.entry("pekko.stdout-loglevel", "WARNING"),
                                Map.entry("pekko.log-dead-letters", "off"),
                                Map.entry("pekko.persistence.journal.plugin", "jdbc-journal"),
                                Map.entry(
                                        "pekko.persistence.snapshot-store.plugin",
                                        "jdbc-snapshot-store"),
                                Map.entry(
                                        "pekko-persistence-jdbc.shared-databases.slick.profile",
                                        "slick.jdbc.PostgresProfile$"),
                                Map.entry(
                                        "pekko-persistence-jdbc.shared-databases.slick.db.url",
                                        database.getJdbcUrl("postgres", "postgres")),
                                Map.entry(
                                        "pekko-persistence-jdbc.shared-databases.slick.db.user",
                                        "postgres"),
                                Map.entry(
                                        "pekko-persistence-jdbc.shared-databases.slick.db.password",
                                        ""),
                                Map.entry(
                                        "pekko-persistence-jdbc.shared-databases.slick.db.driver",
                                        "org.postgresql.Driver"),
                                Map.entry("jdbc-journal.use-shared-db", "slick"),
                                Map.entry("jdbc-snapshot-store.use-shared-db", "slick"),
                                Map.entry("jdbc-read-journal.use-shared-db", "slick")));
        system = ActorSystem.create("bench", own.withFallback(ConfigFactory.load()));
        Done made =
                SchemaUtils.createIfNotExists(system)
                        .toCompletableFuture()
                        .get(1, TimeUnit.MINUTES);
        if (made == null) {
            throw new IllegalStateException("the tables of the journal were not made");
        }
        for (int pair = 0; pair < pairs; pair++) {
            counters.add(system.actorOf(Props.create(Counter.class, "pair-" + pair)));
        }
    }

    @Override
    public void turn(int pair, long n) throws Exception {
        Object answer =
                Patterns.ask(counters.get(pair), n, PATIENCE)
                        .toCompletableFuture()
                        .get(1, TimeUnit.MINUTES);
        if (!answer.equals(n)) {
            throw new IllegalStateException("pair " + pair + ": " + answer + " instead of " + n);
        }
    }

    @Override
    public long counter(int pair) throws SQLException {
        try (Connection connection = database.getPostgresDatabase().getConnection();
                ResultSet row =
                        connection
                                .createStatement()
                                .executeQuery(
                                        "select max(sequence_number) from event_journal where persistence_id = 'pair-"
                                                + pair
                                                + "'")) {
            row.next();
            return row.getLong(1);
        }
    }

    @Override
    public void close() throws IOException {
        try {
            system.terminate();
            system.getWhenTerminated().toCompletableFuture().get(1, TimeUnit.MINUTES);
        } catch (Exception e) {
            throw new IOException(e);
        } finally {
            database.close();
        }
    }
}
