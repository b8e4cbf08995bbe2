package io.saucr.model.cluster;

import io.saucr.core.recovery.Bytes;
import io.saucr.core.recovery.EpochEnds;
import io.saucr.core.recovery.ReadableHistory;
import io.saucr.core.recovery.RecoveryMessage.Entry;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/**
 * A server's log as a {@link ReadableHistory}, from which a recovering server copies. It starts
 * with the first entry ever: there are no snapshots in a {@link ModelCluster}.
 */
final class ServerHistory implements ReadableHistory {
    private final Server server;

    ServerHistory(Server server) {
        this.server = server;
    }

    @Override
    public EpochEnds epochEnds() {
        return server.epochEnds();
    }

    @Override
    public Iterator<Entry> after(long zxid) {
        List<Entry> entries = new ArrayList<>();
        for (int i = 0; i < server.length; i++) {
            long entry = server.log[i];
            long each = io.saucr.model.cluster.Entry.zxid(entry);
            if (each > zxid) {
                entries.add(new Entry(each, io.saucr.model.cluster.Entry.transaction(entry)));
            }
        }
        return entries.iterator();
    }

    @Override
    public Optional<Snapshot> newestSnapshot() {
        return Optional.empty();
    }

    @Override
    public Optional<Snapshot> snapshot(long zxid) {
        return Optional.empty();
    }

    @Override
    public Bytes read(Snapshot snapshot, long offset, int length) {
        throw new IllegalStateException("there are no snapshots here: " + snapshot);
    }
}
