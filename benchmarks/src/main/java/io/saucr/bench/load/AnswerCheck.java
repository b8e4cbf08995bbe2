package io.saucr.bench.load;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * Remembers what a database answered to a YCSB workload, which itself ignores it. A record that is
 * not there is an answer, not a failure: a follower may not have it yet. Used by one thread.
 */
@SuppressWarnings("NonApiType") // YCSB's signatures
final class AnswerCheck extends DB {
    private final DB database;
    private Status failure = Status.OK;

    AnswerCheck(DB database) {
        this.database = database;
    }

    /** Forgets the failures so far. */
    void reset() {
        failure = Status.OK;
    }

    /**
     * @throws DBException if an operation has failed since the last reset
     */
    void requireSuccess() throws DBException {
        if (!failure.isOk()) {
            throw new DBException("YCSB status " + failure.getName());
        }
    }

    private Status checked(Status status) {
        if (!status.isOk() && !Status.NOT_FOUND.equals(status)) {
            failure = status;
        }
        return status;
    }

    @Override
    public void cleanup() throws DBException {
        database.cleanup();
    }

    @Override
    public Status read(
            String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
        return checked(database.read(table, key, fields, result));
    }

    @Override
    public Status scan(
            String table,
            String startKey,
            int count,
            Set<String> fields,
            Vector<HashMap<String, ByteIterator>> result) {
        return checked(database.scan(table, startKey, count, fields, result));
    }

    @Override
    public Status update(String table, String key, Map<String, ByteIterator> values) {
        return checked(database.update(table, key, values));
    }

    @Override
    public Status insert(String table, String key, Map<String, ByteIterator> values) {
        return checked(database.insert(table, key, values));
    }

    @Override
    public Status delete(String table, String key) {
        return checked(database.delete(table, key));
    }
}
