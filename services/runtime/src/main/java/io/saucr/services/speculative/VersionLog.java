package io.saucr.services.speculative;

import io.saucr.services.core.speculation.VersionRecord;
import io.saucr.services.core.speculation.VersionRecord.Bounded;
import io.saucr.services.core.speculation.VersionRecord.Passed;
import io.saucr.services.core.speculation.VersionRecord.Sealed;
import io.saucr.services.core.speculation.Versions;
import io.saucr.services.journal.Base;
import io.saucr.services.journal.Journal;
import io.saucr.services.journal.JournalListener;
import io.saucr.services.journal.JournalOptions;
import io.saucr.services.journal.Membership;
import io.saucr.services.journal.Recovered;
import io.saucr.services.journal.RefusedFolderException;
import io.saucr.services.journal.ServiceFolder;
import io.saucr.services.turns.SurvivingVersions;
import io.saucr.services.turns.SurvivingVersions.Layer;
import io.saucr.services.turns.VersionFormat;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.LongFunction;

/**
 * The journal of a group's member: one record for each version, and one for each passage to another
 * world (D5, D10). The number of a record is the journal's own and never comes again, while those
 * of versions and turns may. Nothing is deleted by a passage: a start drops what it did not keep.
 *
 * <p>A folder of a service with {@code local()} becomes a member's by {@link #begin}, and may be
 * used so again after {@link #leave}. Between them only a member of the same group may use it.
 *
 * <p>First {@link #open}, then {@link #begin}, then records. Any thread, one call after the other;
 * {@link Listener} on the journal's.
 */
final class VersionLog implements AutoCloseable {

    /** Hears how far records are on disk; must not block. */
    interface Listener {

        /** A record and all before it are on disk. Each record, in order. */
        void synced(VersionRecord record);

        /** A write or fsync failed: the process has to halt (K8). Once. */
        void failed(IOException cause);
    }

    private record Appended(long position, VersionRecord record) {}

    private final ServiceFolder folder;
    private final Recovered recovered;
    private final SurvivingVersions survived;
    private final Membership membership;
    private Journal journal;

    /** The base, then what survives above it, in order. */
    private final List<Layer> layers = new ArrayList<>();

    private boolean read;
    private long world;
    private long newest;

    /** Guards itself. */
    private final Deque<Appended> unsynced = new ArrayDeque<>();

    private VersionLog(
            ServiceFolder folder,
            Recovered recovered,
            SurvivingVersions survived,
            Membership membership) {
        this.folder = folder;
        this.recovered = recovered;
        this.survived = survived;
        this.membership = membership;
        layers.add(survived.base());
        layers.addAll(survived.layers());
        world = survived.world();
        newest = survived.newest();
    }

    /**
     * Reads what survived, all of which is on disk then (K9).
     *
     * @param folder opened as that of a member of this group; closed by the caller, after this
     * @param group its path in the ensemble
     * @throws RefusedFolderException where it must not be used as it is; says where and what to do
     * @throws IOException where the disk fails
     */
    static VersionLog open(ServiceFolder folder, String group, JournalOptions options)
            throws IOException {
        Membership membership =
                folder.membership()
                        .filter(it -> it.group().equals(group))
                        .orElse(new Membership(group, false, 1, 0));
        Recovered recovered = folder.recover(options);
        SurvivingVersions survived = new SurvivingVersions(membership, recovered.baseTurn());
        try {
            recovered.sections(
                    (name, content) -> {
                        if (SurvivingVersions.isSection(name)) {
                            survived.base(content);
                        }
                    });
            recovered.turns(survived::record);
        } catch (RefusedFolderException e) {
            throw e;
        } catch (IOException e) {
            throw new RefusedFolderException(
                    folder.path(),
                    -1,
                    e.getMessage()
                            + ". The folder was left as it is. Put it back from a copy under a new"
                            + " generation, or give the service up");
        }
        return new VersionLog(folder, recovered, survived, membership);
    }

    /**
     * What the member knows of the versions that survived.
     *
     * @param member its index in the group
     */
    Versions versions(int member) {
        return survived.versions(member);
    }

    /** The newest version that is not dropped. */
    synchronized long newest() {
        return newest;
    }

    /** The newest turn that is not dropped; 0 without one. */
    synchronized long lastTurn() {
        return last().lastTurn();
    }

    private Layer last() {
        return layers.get(layers.size() - 1);
    }

    /**
     * Reads the sections of the base, apart from this log's own. Before the first {@link #fold}.
     */
    void sections(Base.SectionReader reader) throws IOException {
        recovered.sections(
                (name, content) -> {
                    if (!SurvivingVersions.isSection(name)) {
                        reader.section(name, content);
                    }
                });
    }

    /**
     * Reads the turns above the base that are not dropped; several that are one version come as
     * one, under the number of the last. Once, before the first version that is sealed.
     *
     * @throws IOException of the reader, or where the disk fails
     */
    synchronized void turns(Recovered.TurnReader reader) throws IOException {
        if (read) {
            throw new IllegalStateException("turns are read once, before versions are sealed");
        }
        read = true;
        recovered.turns(SurvivingVersions.reading(layers.subList(1, layers.size()), reader));
    }

    /**
     * Notes that the folder is a member's, and takes records from now on.
     *
     * @throws IOException where the disk fails
     */
    synchronized void begin(Listener listener) throws IOException {
        if (!membership.in()) {
            folder.member(
                    new Membership(
                            membership.group(), true, membership.world(), membership.version()));
        }
        journal =
                recovered.journal(
                        new JournalListener() {
                            @Override
                            public void forced(long position) {
                                for (Appended each = next(position);
                                        each != null;
                                        each = next(position)) {
                                    listener.synced(each.record());
                                }
                            }

                            @Override
                            public void failed(IOException cause) {
                                listener.failed(cause);
                            }
                        });
    }

    private Appended next(long upTo) {
        synchronized (unsynced) {
            return unsynced.isEmpty() || unsynced.peekFirst().position() > upTo
                    ? null
                    : unsynced.removeFirst();
        }
    }

    /**
     * Appends a version (D5). Does not wait for the disk.
     *
     * @param lastTurn the newest of its turns
     * @param turns all of them joined, as {@link io.saucr.services.turns.DeltaFormat#bytes} gave
     *     them
     * @throws IllegalArgumentException where it does not follow on what is there, or is too large;
     *     nothing was appended
     * @throws io.saucr.services.journal.DeadJournalException where the disk failed
     */
    synchronized void seal(Sealed sealed, long lastTurn, byte[] turns) {
        if (sealed.world() != world || sealed.version() <= newest || lastTurn <= lastTurn()) {
            throw new IllegalArgumentException(
                    sealed
                            + " with turn "
                            + lastTurn
                            + " does not follow on version "
                            + newest
                            + " of world "
                            + world
                            + " with turn "
                            + lastTurn());
        }
        read = true;
        long position = append(sealed, VersionFormat.bytes(sealed, lastTurn, turns));
        newest = sealed.version();
        layers.add(new Layer(position, world, newest, lastTurn));
    }

    /**
     * Appends a note of what is final. Does not wait for the disk.
     *
     * @throws IllegalArgumentException where it is of another world or a version that is not there
     * @throws io.saucr.services.journal.DeadJournalException where the disk failed
     */
    synchronized void note(Bounded bounded) {
        if (bounded.world() != world || bounded.version() > newest) {
            throw new IllegalArgumentException(
                    bounded + " does not follow on version " + newest + " of world " + world);
        }
        long unused = append(bounded, VersionFormat.bytes(bounded));
    }

    /**
     * Appends a passage, and drops what it does not keep (D10). Does not wait for the disk.
     *
     * @throws IllegalArgumentException where it keeps what is not there, or is of no later world
     * @throws io.saucr.services.journal.DeadJournalException where the disk failed
     */
    synchronized void pass(Passed passed) {
        if (passed.world() <= world
                || passed.kept() > newest
                || passed.kept() < layers.get(0).version()) {
            throw new IllegalArgumentException(
                    passed
                            + " does not follow on version "
                            + newest
                            + " of world "
                            + world
                            + ", with a base of version "
                            + layers.get(0).version());
        }
        long unused = append(passed, VersionFormat.bytes(passed));
        world = passed.world();
        newest = passed.kept();
        layers.removeIf(it -> it.version() > passed.kept());
    }

    private long append(VersionRecord record, byte[] bytes) {
        long position = journal.appended() + 1;
        synchronized (unsynced) {
            unsynced.add(new Appended(position, record));
        }
        boolean appended = false;
        try {
            journal.append(position, ByteBuffer.wrap(bytes));
            appended = true;
            return position;
        } finally {
            if (!appended) {
                synchronized (unsynced) {
                    unsynced.removeLast();
                }
            }
        }
    }

    /**
     * Replaces the base, and lets the records go that it covers (K10). One at a time.
     *
     * @param turn whose state the sections hold: the last of a version that is final and on disk,
     *     or of the turns before versions
     * @throws IllegalArgumentException where it is none
     * @throws IOException where it failed; the older base stands
     */
    void fold(long turn, Base.Sections sections) throws IOException {
        Layer of = layer(turn);
        recovered
                .base()
                .write(
                        of.position(),
                        writer -> {
                            SurvivingVersions.write(membership.group(), of, writer);
                            sections.writeTo(writer);
                        });
        synchronized (this) {
            layers.removeIf(it -> it.position() < of.position());
        }
        journal.folded(of.position());
    }

    private synchronized Layer layer(long turn) {
        for (Layer each : layers) {
            if (each.lastTurn() == turn) {
                return each;
            }
        }
        throw new IllegalArgumentException("turn " + turn + " ends no version that is there");
    }

    /**
     * Ends the membership: waits until all is on disk, writes a base of it, and lets the folder be
     * used with {@code local()}. A crash in between leaves a member's folder, with all in it. Only
     * {@link #close} may follow.
     *
     * @param sections of the newest turn, whose number is to be the one given: numbers of turns and
     *     records are the same again
     * @throws IOException where the disk failed: the folder is still a member's
     */
    synchronized void leave(LongFunction<Base.Sections> sections) throws IOException {
        long position = journal.appended();
        journal.close();
        if (journal.forced() < position) {
            throw new IOException("record " + position + " did not reach the disk");
        }
        long base = recovered.base().turn();
        long turn = Math.max(Math.max(position, lastTurn()), base + 1);
        Layer of = new Layer(turn, world, newest, turn);
        Base.Sections all = sections.apply(turn);
        recovered
                .base()
                .write(
                        turn,
                        writer -> {
                            SurvivingVersions.write(membership.group(), of, writer);
                            all.writeTo(writer);
                        });
        folder.member(new Membership(membership.group(), false, world, newest));
    }

    /** How many bytes of records a snapshot would let go. After {@link #begin}. */
    long bytesAboveBase() {
        return journal.bytesAboveBase();
    }

    /** How long the last fsync took, in microseconds. After {@link #begin}. */
    long lastFsyncMicros() {
        return journal.lastFsyncMicros();
    }

    /** Waits until all is on disk. The caller closes the folder. */
    @Override
    public void close() {
        if (journal != null) {
            journal.close();
        }
    }
}
