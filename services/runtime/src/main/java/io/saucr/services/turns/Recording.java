package io.saucr.services.turns;

import io.saucr.services.core.Action;
import io.saucr.services.core.Change;
import io.saucr.services.core.Delta;
import io.saucr.services.core.Finals;
import io.saucr.services.core.ServiceCore;
import io.saucr.services.core.Stored;
import io.saucr.services.journal.Base;
import io.saucr.services.journal.DeadJournalException;
import io.saucr.services.journal.OutboxFiles;
import io.saucr.services.state.Changes;
import io.saucr.services.state.StateSnapshot;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Does what a core decides: turns go to {@link Guard}, what may leave to the {@link
 * Endpoint.Border}; now and then all turns become a base (K10). The thread of the endpoint, apart
 * from writing a base.
 */
public final class Recording {

    private static final Logger LOG = LoggerFactory.getLogger(Recording.class);

    /** So many files of the outbox at most are open and not forced. */
    private static final int MOST_DIRTY_FILES = 64;

    /** The section of a base that holds channels, timers and outputs. */
    private static final String SECTION = "service";

    private final String name;
    private final ServiceCore core;
    private final Guard guard;
    private final Supplier<StateSnapshot> state;
    private final long leastFoldBytes;
    private final Executor folding;
    private final Consumer<Runnable> between;
    private final OutboxFiles outbox;
    private Endpoint.Border border;
    private Memory fold;

    /** Whether {@link #fold} is being written; before that its turn is to be final. */
    private boolean writing;

    private long folded;
    private long foldAtBytes;

    /**
     * Records.
     *
     * @param state gives what the state holds now, to be written later
     * @param leastFoldBytes of turns above the base, at which another is written
     */
    public Recording(
            String name,
            ServiceCore core,
            Guard guard,
            Supplier<StateSnapshot> state,
            long leastFoldBytes,
            Turns.Surroundings surroundings) {
        this.name = name;
        this.core = core;
        this.guard = guard;
        this.outbox = guard.room().outbox();
        this.state = state;
        this.leastFoldBytes = leastFoldBytes;
        this.folding = surroundings.folding();
        this.between = surroundings.between();
        this.foldAtBytes = leastFoldBytes;
    }

    public void begin(Endpoint.Border where) {
        border = where;
    }

    /** Whether a section of a base is one that {@link #load} reads. */
    public static boolean isSection(String section) {
        return section.equals(SECTION);
    }

    /** The turn as of which a base is: how that section begins. */
    static long turn(InputStream content) throws IOException {
        byte[] turn = content.readNBytes(Long.BYTES);
        if (turn.length < Long.BYTES) {
            throw new IOException("a base's section " + SECTION + " ends in its first 8 bytes");
        }
        return ByteBuffer.wrap(turn).getLong();
    }

    public void load(InputStream content) throws IOException {
        folded = turn(content);
        core.recover(DeltaFormat.read(folded, content));
        store();
    }

    /** The next turn above the base; says what it was. */
    public Delta apply(long turn, ByteBuffer bytes) throws IOException {
        Delta delta = DeltaFormat.read(turn, bytes);
        core.recover(delta);
        store();
        return delta;
    }

    /** What an earlier life of this process did, in place of what is on disk. */
    void recover(Memory from) throws IOException {
        outbox.recover(from.files());
        folded = from.core().get(0).turn();
        for (Delta delta : from.core()) {
            // A service without turns has a base, too.
            if (delta.turn() > 0) {
                core.recover(delta);
                store();
            }
        }
    }

    /** All that was recovered so far; between two turns. */
    public Memory soFar() {
        for (Action.Release each : core.released()) {
            release(each);
        }
        return now();
    }

    /**
     * All that survived was read.
     *
     * @throws IOException where messages in files are not there
     */
    public void recovered() throws IOException {
        // Else each start would write all of a large state first of all.
        foldAtBytes = Math.max(leastFoldBytes, guard.folding().baseBytes());
        expect(core, outbox);
    }

    /**
     * Looks whether the files hold what the core says that they hold.
     *
     * @throws IOException where messages in files are not there
     */
    static void expect(ServiceCore core, OutboxFiles outbox) throws IOException {
        long sent = 0;
        for (Change change : core.snapshot().changes()) {
            if (change instanceof Change.PeerIs it) {
                sent = it.sent();
            } else if (change instanceof Change.InFiles it) {
                outbox.expect(it.stream(), sent - it.messages());
            } else if (change instanceof Change.ReturningIs it) {
                outbox.expect(it.stream(), it.from());
            }
        }
    }

    /** Messages beyond what memory holds go to files (K13). */
    private void store() throws IOException {
        store(core, outbox);
    }

    static void store(ServiceCore core, OutboxFiles outbox) throws IOException {
        for (Stored each : core.stored()) {
            outbox.append(each.stream(), each.count(), DeltaFormat.message(each.message()));
        }
    }

    /** Does what the core wants done. */
    public void perform(List<Action> actions) {
        boolean sent = false;
        long read = 0;
        for (Action action : actions) {
            if (action instanceof Action.Append it) {
                append(it.delta(), Changes.NONE);
            } else if (action instanceof Action.Send it) {
                border.send(it.link(), it.frame());
                sent = true;
            } else if (action instanceof Action.Close it) {
                border.close(it.link(), it.reason());
            } else if (action instanceof Action.Reach it) {
                border.reach(it.service());
            } else if (action instanceof Action.Leave it) {
                border.leave(it.service(), it.reason());
            } else if (action instanceof Action.Call it) {
                border.call(it.output(), it.id(), it.body());
            } else if (action instanceof Action.Fetch it) {
                beside(() -> fetch(it));
            } else if (action instanceof Action.Release it) {
                beside(() -> release(it));
            } else if (action instanceof Action.Prove it) {
                read = it.read();
            } else if (action instanceof Action.Halt it) {
                border.halt(it.reason());
            }
        }
        if (read > 0) {
            guard.prove(read);
        }
        if (sent) {
            border.flush();
        }
    }

    /** A turn was executed, and changed this in the state. */
    public void append(Delta delta, Changes changes) {
        guard.done(new Guard.Done(delta, changes, state));
        try {
            store();
        } catch (IOException e) {
            throw new DeadJournalException(e);
        }
    }

    /** Beside the turns. What waits for it would wait for ever where it failed unheard (K8). */
    private void beside(Runnable task) {
        folding.execute(
                () -> {
                    try {
                        task.run();
                    } catch (Throwable e) {
                        between.accept(() -> dies(e));
                    }
                });
    }

    /** Nothing of this start may be relied on any more. */
    private void dies(Throwable e) {
        throw e instanceof DeadJournalException dead
                ? dead
                : new IllegalStateException("work outside of the turns of " + name + " failed", e);
    }

    private void fetch(Action.Fetch fetch) {
        List<Change.Unacked> messages = new ArrayList<>();
        try {
            for (byte[] each :
                    outbox.read(fetch.stream(), fetch.after(), fetch.most(), fetch.bytes())) {
                messages.add(DeltaFormat.message(each));
            }
        } catch (IOException e) {
            throw new DeadJournalException(e);
        }
        between.accept(() -> perform(core.fetched(fetch.stream(), fetch.after(), messages)));
    }

    private void release(Action.Release release) {
        try {
            outbox.release(release.stream(), release.upTo());
        } catch (IOException e) {
            // The files take room, and do no harm: a start deletes what no base names.
            LOG.warn("{}: files of its outbox could not be deleted", name, e);
        }
    }

    /** What may leave now does, and a base may be due. */
    public void moved(Finals now) {
        perform(core.moved(now));
        foldIfDue();
        writeIfFinal();
    }

    /** Of partitions the turns of others fill the journal, too. */
    void foldIfDue() {
        if (guard.folding().bytesAboveBase() >= foldAtBytes || outbox.dirty() > MOST_DIRTY_FILES) {
            fold();
        }
    }

    /** Whether the newest base is on disk and holds all turns. */
    boolean isFolded() {
        return fold == null && folded == core.newestTurn();
    }

    /** Writes a base of the newest turn once that is final; nothing where one is under way. */
    void fold() {
        if (fold == null && core.newestTurn() > folded) {
            fold = now();
            guard.folding().due(fold);
        }
        writeIfFinal();
    }

    private Memory now() {
        Delta all = core.snapshot();
        return new Memory(state.get(), List.of(all), outbox.names(streams(all)));
    }

    /** Of which streams a base names the files. */
    static Set<Long> streams(Delta all) {
        Set<Long> streams = new TreeSet<>();
        for (Change change : all.changes()) {
            if (change instanceof Change.InFiles it) {
                streams.add(it.stream());
            } else if (change instanceof Change.ReturningIs it) {
                streams.add(it.stream());
            }
        }
        return streams;
    }

    private void writeIfFinal() {
        if (fold != null && !writing && fold.turn() <= core.finals().outside()) {
            writing = true;
            Memory now = fold;
            beside(() -> write(now));
        }
    }

    private void write(Memory now) {
        long[] written = new long[1];
        boolean done = false;
        try {
            guard.folding().fold(now.turn(), now.files(), counted(now.sections(), written));
            done = true;
        } catch (DeadJournalException e) {
            throw e;
        } catch (IOException | RuntimeException e) {
            LOG.warn(
                    "{}: no base of turn {} could be written; the one before stands, and another is"
                            + " tried once more turns are there",
                    name,
                    now.turn(),
                    e);
        }
        long next =
                (done ? 0 : guard.folding().bytesAboveBase())
                        + Math.max(leastFoldBytes, written[0]);
        boolean succeeded = done;
        between.accept(
                () -> {
                    folded = succeeded ? now.turn() : folded;
                    fold = null;
                    writing = false;
                    foldAtBytes = next;
                });
    }

    private static Base.Sections counted(Base.Sections sections, long[] written) {
        return writer -> sections.writeTo(section -> counted(writer.section(section), written));
    }

    /** Writes the section that {@link #load} reads. */
    static void write(Delta core, Base.Writer to) throws IOException {
        OutputStream section = to.section(SECTION);
        section.write(ByteBuffer.allocate(Long.BYTES).putLong(core.turn()).array());
        DeltaFormat.write(core, section);
        section.flush();
    }

    private static OutputStream counted(OutputStream out, long[] written) {
        return new FilterOutputStream(out) {
            @Override
            public void write(int value) throws IOException {
                written[0]++;
                out.write(value);
            }

            @Override
            public void write(byte[] bytes, int from, int length) throws IOException {
                written[0] += length;
                out.write(bytes, from, length);
            }
        };
    }
}
