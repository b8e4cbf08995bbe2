package io.saucr.services.bench;

import com.sleepycat.je.Database;
import com.sleepycat.je.DatabaseConfig;
import com.sleepycat.je.DatabaseEntry;
import com.sleepycat.je.Durability;
import com.sleepycat.je.Environment;
import com.sleepycat.je.EnvironmentConfig;
import com.sleepycat.je.OperationStatus;
import com.sleepycat.je.Transaction;
import com.sleepycat.je.TransactionConfig;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/**
 * Berkeley DB JE: one transaction puts the counter and the message, and is forced (SYNC, with its
 * group commit).
 */
final class BerkeleyDb implements Contestant {

    private final Environment environment;
    private final Database counters;
    private final Database outbox;
    private final TransactionConfig forced = new TransactionConfig();

    BerkeleyDb(Path folder) {
        EnvironmentConfig config = new EnvironmentConfig();
        config.setAllowCreate(true).setTransactional(true).setDurability(Durability.COMMIT_SYNC);
        environment = new Environment(folder.toFile(), config);
        DatabaseConfig database = new DatabaseConfig();
        database.setAllowCreate(true).setTransactional(true);
        counters = environment.openDatabase(null, "counters", database);
        outbox = environment.openDatabase(null, "outbox", database);
        forced.setDurability(Durability.COMMIT_SYNC);
    }

    @Override
    public void turn(int pair, long n) {
        Transaction transaction = environment.beginTransaction(null, forced);
        try {
            put(counters, transaction, key(pair), n);
            // The message before has been acknowledged: the outbox of a pair holds one.
            put(outbox, transaction, key(pair), n + 1);
            transaction.commit();
        } catch (RuntimeException e) {
            transaction.abort();
            throw e;
        }
    }

    private static void put(
            Database database, Transaction transaction, DatabaseEntry key, long value) {
        OperationStatus status =
                database.put(
                        transaction,
                        key,
                        new DatabaseEntry(
                                ByteBuffer.allocate(Long.BYTES).putLong(0, value).array()));
        if (status != OperationStatus.SUCCESS) {
            throw new IllegalStateException(database.getDatabaseName() + ": " + status);
        }
    }

    private static DatabaseEntry key(int pair) {
        return new DatabaseEntry(ByteBuffer.allocate(Integer.BYTES).putInt(0, pair).array());
    }

    @Override
    public long counter(int pair) {
        DatabaseEntry value = new DatabaseEntry();
        counters.get(null, key(pair), value, null);
        return ByteBuffer.wrap(value.getData()).getLong(0);
    }

    @Override
    public void close() {
        counters.close();
        outbox.close();
        environment.close();
    }
}
