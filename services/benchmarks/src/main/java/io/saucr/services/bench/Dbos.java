package io.saucr.services.bench;

import dev.dbos.transact.DBOS;
import dev.dbos.transact.StartWorkflowOptions;
import dev.dbos.transact.config.DBOSConfig;
import dev.dbos.transact.workflow.Workflow;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * DBOS on PostgreSQL: each turn is a workflow with one step, whose recorded result is the counter;
 * the next workflow is its message. A table of the user's own, which the step would set in a
 * transaction next to it, is left out, as is a message to another workflow: both would only add
 * writes.
 */
final class Dbos implements Contestant {

    /** Beside the connections of its own pool. */
    private static final int CONNECTIONS = 100;

    private final EmbeddedPostgres database;
    private final DBOS dbos;
    private final Turns turns;

    /** What DBOS makes a proxy of. */
    public interface Turns {

        /** One turn: what the counter has become. */
        long turn(long n);
    }

    /** The workflow itself. */
    public static final class Counted implements Turns {

        private final DBOS dbos;

        Counted(DBOS dbos) {
            this.dbos = dbos;
        }

        @Override
        @Workflow(name = "turn")
        public long turn(long n) {
            return dbos.runStep(() -> n, "count");
        }
    }

    Dbos(Path folder, int pairs) throws IOException {
        database = Postgres.start(folder, Math.max(pairs, CONNECTIONS));
        dbos =
                new DBOS(
                        DBOSConfig.defaults("bench")
                                .withDatabaseUrl(database.getJdbcUrl("postgres", "postgres"))
                                .withDbUser("postgres")
                                .withDbPassword(""));
        turns = dbos.registerProxy(Turns.class, new Counted(dbos));
        dbos.launch();
    }

    @Override
    public void turn(int pair, long n) {
        long counted =
                dbos.startWorkflow(
                                () -> turns.turn(n),
                                new StartWorkflowOptions("pair-" + pair + "-" + n))
                        .getResult();
        if (counted != n) {
            throw new IllegalStateException("pair " + pair + ": " + counted + " instead of " + n);
        }
    }

    @Override
    public long counter(int pair) throws SQLException {
        try (Connection connection = database.getPostgresDatabase().getConnection();
                PreparedStatement query =
                        connection.prepareStatement(
                                "select count(*) from dbos.workflow_status"
                                        + " where status = 'SUCCESS' and workflow_uuid like ?")) {
            query.setString(1, "pair-" + pair + "-%");
            try (ResultSet row = query.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        }
    }

    @Override
    public void close() throws IOException {
        try {
            dbos.shutdown();
        } finally {
            database.close();
        }
    }
}
