package io.saucr.model.cluster;

import io.saucr.core.Mode;

/**
 * The part of {@link io.saucr.core.CommitRule} that a leader uses, so that one with a broken rule
 * can take its place.
 */
interface AckCount {
    long connect(long sid);

    void join(long sid, long connection);

    boolean disconnect(long sid, long connection);

    void restarted(long sid);

    void propose(long zxid, Mode mode);

    void ack(long sid, long connection, long zxid);

    long committableThrough();

    void committed(long zxid);

    boolean lastSlowOnFastQuorumOfDisks();

    boolean slowEntriesCommitted();

    Mode mode(long zxid);

    long durableThrough(long sid);
}
