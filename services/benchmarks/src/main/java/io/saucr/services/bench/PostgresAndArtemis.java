package io.saucr.services.bench;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.apache.activemq.artemis.api.core.QueueConfiguration;
import org.apache.activemq.artemis.api.core.RoutingType;
import org.apache.activemq.artemis.api.core.client.ActiveMQClient;
import org.apache.activemq.artemis.api.core.client.ClientConsumer;
import org.apache.activemq.artemis.api.core.client.ClientMessage;
import org.apache.activemq.artemis.api.core.client.ClientProducer;
import org.apache.activemq.artemis.api.core.client.ClientSession;
import org.apache.activemq.artemis.api.core.client.ClientSessionFactory;
import org.apache.activemq.artemis.api.core.client.ServerLocator;
import org.apache.activemq.artemis.core.config.Configuration;
import org.apache.activemq.artemis.core.config.impl.ConfigurationImpl;
import org.apache.activemq.artemis.core.server.JournalType;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;

/**
 * The database next to a queue that the paper compares itself with (section 3.3): a message is
 * taken from the queue, the counter is set in PostgreSQL with the message's number against
 * duplicates, the next message is sent, and both commit, the database first. Without two-phase
 * commit that is what careful programs do by hand. Artemis runs in this JVM and forces its journal
 * (NIO) for each commit.
 */
final class PostgresAndArtemis implements Contestant {

    private final EmbeddedPostgres database;
    private final EmbeddedActiveMQ broker = new EmbeddedActiveMQ();
    private final ServerLocator locator;
    private final ClientSessionFactory factory;
    private final List<Pair> pairs = new ArrayList<>();

    private record Pair(
            Connection connection,
            PreparedStatement counter,
            ClientSession session,
            ClientConsumer consumer,
            ClientProducer producer) {}

    PostgresAndArtemis(Path folder, int count) throws Exception {
        database = Postgres.start(folder, count);
        try (Connection connection = database.getPostgresDatabase().getConnection()) {
            connection
                    .createStatement()
                    .execute("create table counters (pair int primary key, n bigint not null)");
            for (int pair = 0; pair < count; pair++) {
                connection
                        .createStatement()
                        .execute("insert into counters values (" + pair + ", 0)");
            }
        }
        Configuration configuration =
                new ConfigurationImpl()
                        .setPersistenceEnabled(true)
                        .setSecurityEnabled(false)
                        .setJournalType(JournalType.NIO)
                        .setJournalDatasync(true)
                        .setJournalSyncTransactional(true)
                        // As many forces as commits ask for, none is delayed for others: latency is
                        // what is compared.
                        .setJournalBufferTimeout_NIO(0)
                        .setJournalDirectory(folder.resolve("artemis-journal").toString())
                        .setBindingsDirectory(folder.resolve("artemis-bindings").toString())
                        .setLargeMessagesDirectory(folder.resolve("artemis-large").toString())
                        .setPagingDirectory(folder.resolve("artemis-paging").toString())
                        .addAcceptorConfiguration("here", "vm://0");
        broker.setConfiguration(configuration);
        broker.start();
        locator = ActiveMQClient.createServerLocator("vm://0");
        locator.setBlockOnDurableSend(false).setBlockOnAcknowledge(false);
        factory = locator.createSessionFactory();
        for (int pair = 0; pair < count; pair++) {
            Connection connection = database.getPostgresDatabase().getConnection();
            connection.setAutoCommit(false);
            ClientSession session = factory.createSession(false, false, 0);
            session.createQueue(
                    new QueueConfiguration("pair-" + pair)
                            .setRoutingType(RoutingType.ANYCAST)
                            .setDurable(true));
            session.start();
            Pair each =
                    new Pair(
                            connection,
                            connection.prepareStatement(
                                    "update counters set n = ? where pair = ? and n = ?"),
                            session,
                            session.createConsumer("pair-" + pair),
                            session.createProducer("pair-" + pair));
            send(each, 1);
            session.commit();
            pairs.add(each);
        }
    }

    private static void send(Pair pair, long n) throws Exception {
        ClientMessage message = pair.session.createMessage(true);
        message.getBodyBuffer().writeLong(n);
        pair.producer.send(message);
    }

    @Override
    public void turn(int pair, long n) throws Exception {
        Pair each = pairs.get(pair);
        ClientMessage message = each.consumer.receive();
        if (message.getBodyBuffer().readLong() != n) {
            throw new IllegalStateException("pair " + pair + ": not message " + n);
        }
        message.acknowledge();
        each.counter.setLong(1, n);
        each.counter.setInt(2, pair);
        each.counter.setLong(3, n - 1);
        each.counter.executeUpdate();
        each.connection.commit();
        send(each, n + 1);
        each.session.commit();
    }

    @Override
    public long counter(int pair) throws SQLException {
        try (Connection connection = database.getPostgresDatabase().getConnection();
                ResultSet row =
                        connection
                                .createStatement()
                                .executeQuery("select n from counters where pair = " + pair)) {
            row.next();
            return row.getLong(1);
        }
    }

    @Override
    public void close() throws IOException {
        try {
            for (Pair pair : pairs) {
                pair.session.close();
                pair.connection.close();
            }
            factory.close();
            locator.close();
            broker.stop();
        } catch (Exception e) {
            throw new IOException(e);
        } finally {
            database.close();
        }
    }
}
