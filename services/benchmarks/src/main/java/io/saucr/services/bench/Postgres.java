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

/**
 * PostgreSQL with an outbox table: one transaction sets the counter and writes the message; the one
 * before has been delivered and goes. Preset durability: fsync and synchronous_commit are on. One
 * connection for each pair.
 */
final class Postgres implements Contestant {

    private final EmbeddedPostgres server;
    private final List<Session> sessions = new ArrayList<>();

    private record Session(
            Connection connection,
            PreparedStatement counter,
            PreparedStatement outbox,
            PreparedStatement delivered) {}

    Postgres(Path folder, int pairs) throws IOException, SQLException {
        server = start(folder, pairs);
        try (Connection connection = server.getPostgresDatabase().getConnection()) {
            connection
                    .createStatement()
                    .execute("create table counters (pair int primary key, n bigint not null)");
            connection
                    .createStatement()
                    .execute(
                            "create table outbox (pair int, n bigint, body bigint not null, primary key (pair, n))");
            for (int pair = 0; pair < pairs; pair++) {
                connection
                        .createStatement()
                        .execute("insert into counters values (" + pair + ", 0)");
            }
        }
        for (int pair = 0; pair < pairs; pair++) {
            Connection connection = server.getPostgresDatabase().getConnection();
            connection.setAutoCommit(false);
            sessions.add(
                    new Session(
                            connection,
                            connection.prepareStatement("update counters set n = ? where pair = ?"),
                            connection.prepareStatement("insert into outbox values (?, ?, ?)"),
                            connection.prepareStatement(
                                    "delete from outbox where pair = ? and n = ?")));
        }
    }

    /** A server on a free port of loopback. */
    static EmbeddedPostgres start(Path folder, int pairs) throws IOException {
        return EmbeddedPostgres.builder()
                .setDataDirectory(folder.resolve("postgres"))
                .setOverrideWorkingDirectory(folder.resolve("binaries").toFile())
                // The builder's own default gives up durability.
                .setServerConfig("fsync", "on")
                .setServerConfig("synchronous_commit", "on")
                .setServerConfig("full_page_writes", "on")
                .setServerConfig("max_connections", String.valueOf(pairs + 20))
                .start();
    }

    @Override
    public void turn(int pair, long n) throws SQLException {
        Session session = sessions.get(pair);
        session.counter.setLong(1, n);
        session.counter.setInt(2, pair);
        session.counter.executeUpdate();
        session.delivered.setInt(1, pair);
        session.delivered.setLong(2, n - 1);
        session.delivered.executeUpdate();
        session.outbox.setInt(1, pair);
        session.outbox.setLong(2, n);
        session.outbox.setLong(3, n + 1);
        session.outbox.executeUpdate();
        session.connection.commit();
    }

    @Override
    public long counter(int pair) throws SQLException {
        try (Connection connection = server.getPostgresDatabase().getConnection();
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
            for (Session session : sessions) {
                session.connection.close();
            }
        } catch (SQLException e) {
            throw new IOException(e);
        } finally {
            server.close();
        }
    }
}
