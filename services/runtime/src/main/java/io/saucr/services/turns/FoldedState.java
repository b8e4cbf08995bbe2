package io.saucr.services.turns;

import io.saucr.services.ServiceException;
import io.saucr.services.core.Action;
import io.saucr.services.core.Birth;
import io.saucr.services.core.Change;
import io.saucr.services.core.Delta;
import io.saucr.services.core.Epochs;
import io.saucr.services.core.Limits;
import io.saucr.services.core.ServiceCore;
import io.saucr.services.journal.Base;
import io.saucr.services.journal.OutboxFiles;
import io.saucr.services.state.Changes;
import io.saucr.services.state.StateStore;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * All that a service keeps, read from a snapshot and the turns above it without the service's
 * classes, to be written as one snapshot for another folder. Values stay the bytes that they are.
 *
 * <p>Notes of writes to the ensemble are left out: where they are kept differs by protection.
 * {@link #openWrites} says whether any of them is still needed. One thread; first what was kept is
 * read, then {@link #sections} may be asked for.
 */
public final class FoldedState {

    private final String name;
    private final ServiceCore core;
    private final StateStore state;
    private final OutboxFiles outbox;

    /**
     * Nothing is read yet.
     *
     * @param name of the service
     * @param outbox takes messages that wait for peers beyond what memory holds
     */
    public FoldedState(String name, OutboxFiles outbox) {
        this.name = name;
        this.outbox = outbox;
        core = new ServiceCore(name, Limits.standard());
        state = new StateStore(name, 0, false);
        OnceNotes.dropFrom(state);
    }

    /**
     * Refuses what cannot become the state of another folder, once all is read.
     *
     * @param nothing what to do instead where the service has done nothing yet, as a sentence goes
     *     on behind "so there is nothing to"
     * @param then what to do once no writes are open
     * @throws ServiceException where there is nothing to write, or notes of writes to the ensemble
     *     are still needed
     */
    public void throwUnlessMovable(String nothing, String then) {
        if (turn() == 0) {
            throw new ServiceException(
                    name + " has done nothing yet, so there is nothing to " + nothing);
        }
        if (openWrites() > 0) {
            throw new ServiceException(
                    name
                            + " has "
                            + openWrites()
                            + " writes to the ensemble whose outcome it was not told of. Start it as"
                            + " before, wait until its status shows no outputs, "
                            + then
                            + ". Nothing was changed");
        }
    }

    /**
     * Reads one section of the snapshot.
     *
     * @throws IOException where the section is damaged, or of a release that this one is not
     */
    public void section(String section, InputStream content) throws IOException {
        if (StateStore.isSection(section)) {
            state.load(section, content);
        } else if (Recording.isSection(section)) {
            core.recover(DeltaFormat.read(Recording.turn(content), content));
            Recording.store(core, outbox);
        } else if (!SurvivingVersions.isSection(section)) {
            throw new IOException(
                    "the snapshot of "
                            + name
                            + " has a section "
                            + section
                            + ", which this release does not know: use the release that wrote it");
        }
    }

    /**
     * Applies the next turn above the snapshot.
     *
     * @throws IOException where the turn is damaged, or of a release that this one is not
     */
    public void turn(long turn, ByteBuffer bytes) throws IOException {
        Delta delta = DeltaFormat.read(turn, bytes);
        core.recover(delta);
        Recording.store(core, outbox);
        state.apply(Changes.decode(delta.state()));
    }

    /**
     * Counts from a later turn on, as numbers of records went further than those of turns.
     *
     * @param turn not less than {@link #turn}, which is not 0
     */
    public void continueBehind(long turn) {
        if (turn > core.newestTurn()) {
            Delta all = core.snapshot();
            core.recover(new Delta(turn, all.incarnation(), all.nowMillis(), List.of()));
        }
    }

    /** The newest turn; 0 where there is none. */
    public long turn() {
        return core.newestTurn();
    }

    /** How many writes to the ensemble have no outcome that the service was told of (E10). */
    public long openWrites() {
        return core.snapshot().changes().stream()
                .filter(
                        it ->
                                it instanceof Change.OutputIs output
                                        && Turns.ensembleWrite(output.body()).isPresent())
                .count();
    }

    /**
     * Whether the service has run under this birth since an order gave it one (K11). What follows
     * from a new birth is a part of its first turn.
     */
    public boolean ranAs(Birth birth) {
        return core.snapshot().changes().stream()
                .anyMatch(it -> it instanceof Change.BornAs as && as.now().equals(birth));
    }

    /**
     * All of it, as sections of a snapshot with the messages of the outbox inside. It names an
     * epoch in which nothing is lost, so that a client which asked before hears of no loss (C11).
     *
     * @throws IOException where messages that wait in files are not there, or the disk fails
     */
    public Base.Sections sections() throws IOException {
        for (Action.Release each : core.released()) {
            outbox.release(each.stream(), each.upTo());
        }
        Recording.expect(core, outbox);
        Delta all = withEpoch(core.snapshot());
        Base.Sections kept = state.snapshot()::writeTo;
        return outbox.inside(
                outbox.names(Recording.streams(all)),
                writer -> {
                    Recording.write(all, writer);
                    kept.writeTo(writer);
                });
    }

    private static Delta withEpoch(Delta all) {
        if (all.changes().stream().anyMatch(Change.EpochBegan.class::isInstance)) {
            return all;
        }
        List<Change> changes = new ArrayList<>(all.changes());
        changes.add(new Change.EpochBegan(new Epochs.Begun(1, 0)));
        return new Delta(all.turn(), all.incarnation(), all.nowMillis(), List.copyOf(changes));
    }
}
