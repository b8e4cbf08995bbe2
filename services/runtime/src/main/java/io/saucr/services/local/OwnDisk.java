package io.saucr.services.local;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Finals;
import io.saucr.services.core.Incarnation;
import io.saucr.services.journal.Base;
import io.saucr.services.journal.DeadJournalException;
import io.saucr.services.journal.Disk;
import io.saucr.services.journal.ForceMode;
import io.saucr.services.journal.JournalListener;
import io.saucr.services.journal.JournalOptions;
import io.saucr.services.journal.OutboxFiles;
import io.saucr.services.journal.ServiceFolder;
import io.saucr.services.journal.SharedJournal;
import io.saucr.services.journal.TurnLog;
import io.saucr.services.turns.ClientGuard;
import io.saucr.services.turns.DeltaFormat;
import io.saucr.services.turns.Ending;
import io.saucr.services.turns.Guard;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A turn is final once its record is forced in the service's folder (K4): what {@link
 * io.saucr.services.Protection#local} gives.
 */
public final class OwnDisk implements ClientGuard, Guard.Folding, Guard.Room {

    private final ServiceFolder folder;
    private final TurnLog.Opener opener;
    private final OutboxFiles outbox;
    private TurnLog log;

    private OwnDisk(ServiceFolder folder, TurnLog.Opener opener, int outboxFileBytes) {
        this.folder = folder;
        this.opener = opener;
        this.outbox = folder.outbox(outboxFileBytes);
    }

    /**
     * Opens or makes a service's folder, locked, and begins an incarnation in it (K14).
     *
     * @param disk of this machine, or a test's
     * @param path the folder
     * @param name of the service, the same as ever
     * @param force when
     * @throws IOException where the folder must not be used, or the disk fails; says what to do
     */
    public static OwnDisk open(
            Disk disk, Path path, String name, ForceMode force, SecureRandom random)
            throws IOException {
        return open(disk, path, name, new JournalOptions(force), random);
    }

    /** The same with segments of any size. */
    public static OwnDisk open(
            Disk disk, Path path, String name, JournalOptions options, SecureRandom random)
            throws IOException {
        return of(
                ServiceFolder.open(disk, path, name, random),
                TurnLog.own(options),
                options.segmentBytes());
    }

    /** The same of an open folder, whose turns are in any log. */
    static OwnDisk of(ServiceFolder folder, TurnLog.Opener opener, int outboxFileBytes) {
        return new OwnDisk(folder, opener, outboxFileBytes);
    }

    @Override
    public Traits traits() {
        List<Birth> formers = folder.formers();
        return Traits.of(formers.isEmpty() ? incarnation().birth() : formers.get(0));
    }

    /** All starts that the folder knows; known before {@link #recover}. */
    public List<Incarnation> incarnations() {
        return folder.incarnations();
    }

    /** This start. */
    public Incarnation incarnation() {
        List<Incarnation> all = incarnations();
        return all.get(all.size() - 1);
    }

    /** The highest start that is known to have held the head; 0 for none (K14). */
    public long confirmed() {
        return folder.confirmed();
    }

    @Override
    public void confirm() throws IOException {
        folder.confirm();
    }

    @Override
    public void withdraw() throws IOException {
        folder.withdraw();
        if (log != null) {
            log.withdraw();
        }
    }

    /** The head that this birth may replace (K11). */
    public Optional<Incarnation> replaces() {
        return folder.replaces();
    }

    @Override
    public String bound() {
        return folder.bound();
    }

    @Override
    public void bind(String to) throws IOException {
        folder.bind(to);
    }

    @Override
    public Start recover(Recovery into) throws IOException {
        log = opener.open(folder);
        log.sections(outbox.beside(into));
        outbox.cut();
        log.turns(into);
        Set<Birth> markers = folder.marker().map(Set::of).orElse(Set.of());
        return new Start(incarnations(), folder.formers(), markers, log.lastTurn());
    }

    @Override
    public void begin(Listener listener) {
        log.begin(
                new JournalListener() {
                    @Override
                    public void forced(long turn) {
                        listener.moved(Finals.turns(turn));
                    }

                    @Override
                    public void failed(IOException cause) {
                        listener.over(Ending.failed(cause));
                    }
                });
    }

    @Override
    public void done(Done turn) {
        byte[] bytes = DeltaFormat.bytes(turn.delta(), turn.changes());
        log.append(turn.turn(), ByteBuffer.wrap(bytes));
    }

    @Override
    public Folding folding() {
        return this;
    }

    @Override
    public Room room() {
        return this;
    }

    @Override
    public boolean isThere() throws IOException {
        return log.reserve().hasRoom();
    }

    @Override
    public boolean isScarce() throws IOException {
        return log.reserve().isScarce();
    }

    @Override
    public long lastFsyncMicros() {
        return log.lastFsyncMicros();
    }

    @Override
    public long bytesNotFinal() {
        return log.unforcedBytes();
    }

    @Override
    public long bytesAboveBase() {
        return log.bytesAboveBase();
    }

    @Override
    public OutboxFiles outbox() {
        return outbox;
    }

    @Override
    public void fold(long turn, OutboxFiles.Names files, Base.Sections sections)
            throws IOException {
        try {
            outbox.force(files);
        } catch (IOException e) {
            throw new DeadJournalException(e);
        }
        log.base().write(turn, OutboxFiles.with(files, sections));
        log.folded(turn);
    }

    /**
     * A partition leaves the journal that it shares: its folder has all of its turns then.
     *
     * @throws IOException where the disk fails: the next start next to that journal puts it right
     */
    void release() throws IOException {
        ((SharedJournal.Partition) log).release();
    }

    @Override
    public void close() throws IOException {
        try {
            if (log != null) {
                log.close();
            }
            outbox.close();
        } finally {
            folder.close();
        }
    }
}
