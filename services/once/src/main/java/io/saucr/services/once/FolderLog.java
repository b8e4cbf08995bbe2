package io.saucr.services.once;

import io.saucr.services.core.Incarnation;
import io.saucr.services.journal.ForceMode;
import io.saucr.services.journal.Journal;
import io.saucr.services.journal.JournalListener;
import io.saucr.services.journal.JournalOptions;
import io.saucr.services.journal.Recovered;
import io.saucr.services.journal.ServiceFolder;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.concurrent.ExecutorService;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Records in a folder of their own, locked (K9, K10, K14). The client's thread. */
final class FolderLog implements OnceLog {

    private static final Logger LOG = LoggerFactory.getLogger(FolderLog.class);

    private static final int SEGMENT_BYTES = 1 << 20;
    private static final long FOLD_BYTES = 16 << 20;

    private final Path path;
    private final ServiceFolder folder;
    private final Recovered recovered;
    private final OnceRecords records;

    /** The thread that writes bases. */
    private final ExecutorService bases;

    private Journal journal;

    /** A base that waits until its records are forced. */
    private Fold fold;

    private volatile boolean folding;

    /** What a base is to say, and the record up to which it says it. */
    private static final class Fold {
        final long record;
        final byte[] all;

        Fold(long record, byte[] all) {
            this.record = record;
            this.all = all;
        }
    }

    private FolderLog(
            Path path,
            String client,
            ServiceFolder folder,
            Recovered recovered,
            OnceRecords records) {
        this.path = path;
        this.folder = folder;
        this.recovered = recovered;
        this.records = records;
        this.bases = ClientThread.oneThread(client, "bases");
    }

    /** Opens or makes a client's folder, and begins an incarnation in it. */
    static FolderLog open(Path path, String client, SecureRandom random) throws IOException {
        ServiceFolder folder = ServiceFolder.open(path, client, random);
        boolean ready = false;
        try {
            Recovered recovered =
                    folder.recover(new JournalOptions(new ForceMode.Always(), SEGMENT_BYTES));
            OnceRecords records = new OnceRecords();
            recovered.sections((name, content) -> records.decode(content.readAllBytes()));
            recovered.turns((turn, delta) -> records.take(delta));
            ready = true;
            return new FolderLog(path, client, folder, recovered, records);
        } finally {
            if (!ready) {
                folder.withdraw();
                folder.close();
            }
        }
    }

    @Override
    public List<Incarnation> starts() {
        return folder.incarnations();
    }

    @Override
    public OnceRecords records() {
        return records;
    }

    @Override
    public long begin(JournalListener listener) {
        journal = recovered.journal(listener);
        return recovered.lastTurn();
    }

    @Override
    public void write(long number, OnceRecords.Entry record) {
        journal.write(number, OnceRecords.encode(record));
    }

    @Override
    public void force() {
        journal.forceBeside();
    }

    /** Writes a base where the journal has grown, as soon as all that it says is forced. */
    @Override
    public void forced(long record, long newest, OnceRecords all) {
        if (folding) {
            return;
        }
        if (fold == null && journal.bytesAboveBase() >= FOLD_BYTES) {
            fold = new Fold(newest, all.encode());
        }
        if (fold == null || record < fold.record) {
            return;
        }
        Fold now = fold;
        fold = null;
        folding = true;
        // It waits for the disk.
        bases.execute(
                () -> {
                    try {
                        recovered
                                .base()
                                .write(now.record, writer -> writer.section("once").write(now.all));
                        journal.folded(now.record);
                    } catch (IOException e) {
                        LOG.warn("{}: no base was written: {}", path, e.getMessage());
                    }
                    folding = false;
                });
    }

    @Override
    public void close(boolean known) {
        // Before the folder is another's.
        bases.shutdown();
        ClientThread.awaitEnd(bases);
        if (journal != null) {
            journal.close();
        }
        try {
            if (!known) {
                // A client that is refused again and again does not grow.
                folder.withdraw();
            }
            folder.close();
        } catch (IOException e) {
            LOG.warn("{}: {}", path, e.getMessage());
        }
    }

    @Override
    public String toString() {
        return "the disk of " + path;
    }
}
