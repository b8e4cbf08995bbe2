package io.saucr.services.turns;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Delta;
import io.saucr.services.core.Finals;
import io.saucr.services.core.Frame;
import io.saucr.services.core.Group;
import io.saucr.services.core.Incarnation;
import io.saucr.services.journal.Base;
import io.saucr.services.journal.DeadJournalException;
import io.saucr.services.journal.OutboxFiles;
import io.saucr.services.journal.Recovered;
import io.saucr.services.state.Changes;
import io.saucr.services.state.StateSnapshot;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Keeps turns of a service from being undone, and says which are final: all that a protection
 * implements. First {@link #traits}, {@link #room} and {@link #folding}, then {@link #recover},
 * then {@link #confirm}, then {@link #begin}, then turns. Where {@link Ending.Undone} is heard,
 * {@link #recover} and {@link #begin} come again.
 */
public interface Guard extends AutoCloseable {

    /** What is the same for all of its starts. Any time. */
    Traits traits();

    /**
     * Reads what survived (K9), all of it final. Returns when this start is primary: while another
     * one is, it may take that one's turns for long.
     *
     * <p>Asked once, and again for each life that follows one whose turns are undone, when no turn
     * and no snapshot of that is under way any more: then it gives {@link Memory}, and {@link
     * #begin} follows at once. Turns that the ended life still gave to {@link #done} are undone
     * with it.
     *
     * @throws IOException where what survived cannot be read, or must not be used; says what to do
     */
    Start recover(Recovery into) throws IOException;

    /**
     * Notes that this start holds the head; nothing may leave before it returns (K14).
     *
     * @throws IOException where that fails: the process has to halt
     */
    void confirm() throws IOException;

    /**
     * Forgets this start, which nobody but what survives ever heard of; only {@link #close} may
     * follow.
     *
     * @throws IOException where that fails
     */
    void withdraw() throws IOException;

    /**
     * Begins to take turns.
     *
     * @param listener hears of them, on a thread of its own; must not block
     */
    void begin(Listener listener);

    /** Takes a turn that was executed. Does not wait for it to be final (K8). Turn thread. */
    void done(Done turn);

    /**
     * Proves that this start is primary, by what begins after this, and says so by {@link
     * Listener#moved}. Returns at once. Turn thread; only where {@link Traits#provesReads}.
     *
     * @param read the newest that is to be proven; rising
     */
    default void prove(long read) {
        throw new IllegalStateException("read " + read + " needs no proof here");
    }

    /**
     * Since when this start was primary for certain, by the steady clock in ms; empty before that
     * is known, and once it is out of office (C9). Any thread.
     */
    default OptionalLong officeSince() {
        return OptionalLong.empty();
    }

    /** How long the last time took in which turns became final, in microseconds. Any thread. */
    long lastFsyncMicros();

    /** What members of its group hear and say; of a service that is one. Any time. */
    default Optional<Speculation> speculation() {
        return Optional.empty();
    }

    /** Where snapshots are put. */
    Folding folding();

    /** How much may still come in. */
    Room room();

    /** Ends it; what was taken becomes final first. */
    @Override
    void close() throws IOException;

    /**
     * What is the same for all starts of a service under this protection.
     *
     * @param first the first birth that the service ever had: it stays, whatever births and starts
     *     follow
     * @param provesReads whether what was read leaves only once it is proven (C8)
     * @param keepsEpochs whether the state says behind which turn each start began, for clients to
     *     hear (C11)
     * @param leaseMillis so long replies to outside clients may leave before their turns are final
     *     (C9); 0 where they wait. What is positive goes with both before
     * @param notesWrites whether what is noted of writes to the ensemble is a part of the state,
     *     since that is all that a later start may have (E1); else it lies in a folder within the
     *     service's
     */
    record Traits(
            Birth first,
            boolean provesReads,
            boolean keepsEpochs,
            long leaseMillis,
            boolean notesWrites) {

        /** Of a service whose turns are final where it runs. */
        public static Traits of(Birth first) {
            return new Traits(first, false, false, 0, false);
        }
    }

    /**
     * The start that recovered.
     *
     * @param incarnations the starts that are known, in the order of their numbers. The last one is
     *     this start, which what survived knows already (K14)
     * @param formers births that an operator replaced, the first one first; usually none (K11)
     * @param markers births whose once client's marker this one may replace: an operator's order
     *     said so (E5)
     * @param newestTurn of what survived; 0 where there is none
     */
    record Start(
            List<Incarnation> incarnations,
            List<Birth> formers,
            Set<Birth> markers,
            long newestTurn) {

        public Start {
            incarnations = List.copyOf(incarnations);
            formers = List.copyOf(formers);
            markers = Set.copyOf(markers);
        }

        /** This start. */
        public Incarnation incarnation() {
            return incarnations.get(incarnations.size() - 1);
        }
    }

    /** Takes what survived: the sections of the newest base, then each turn above it, in order. */
    interface Recovery extends Base.SectionReader, Recovered.TurnReader {

        /**
         * Takes all at once, from a life of this process that ended; in place of sections, before
         * turns.
         *
         * @throws IOException where messages in files are not there
         */
        void memory(Memory of) throws IOException;

        /**
         * All that was taken so far; asked between two turns on the thread that gives them, and
         * again only once what it gave before is written or not needed.
         */
        Memory soFar();

        /** Of who only reads what is on disk. */
        static Recovery of(Base.SectionReader base, Recovered.TurnReader turns) {
            return new Recovery() {
                @Override
                public void section(String name, InputStream content) throws IOException {
                    base.section(name, content);
                }

                @Override
                public void turn(long turn, ByteBuffer delta) throws IOException {
                    turns.turn(turn, delta);
                }

                @Override
                public void memory(Memory of) {
                    throw new IllegalStateException("nothing lived before this");
                }

                @Override
                public Memory soFar() {
                    throw new IllegalStateException("nobody follows this start");
                }
            };
        }
    }

    /**
     * A turn that was executed.
     *
     * @param delta what it did in the core; its turn is the one after the newest
     * @param changes what it changed in the state; both are one record (K3)
     * @param state as it is behind this turn; asked before {@link Guard#done} returns
     */
    record Done(Delta delta, Changes changes, Supplier<StateSnapshot> state) {

        public long turn() {
            return delta.turn();
        }
    }

    /** Hears what becomes of turns. */
    interface Listener {

        /** More may leave (K4, C8). What was heard before stays so, where this says less. */
        void moved(Finals now);

        /** The life is over, and no step of it begins any more. The first reason counts. */
        void over(Ending why);
    }

    /** Messages between members of a group, of turns that can be undone. Turn thread. */
    interface Speculation extends Group {

        /** What becomes of a message of another service. */
        enum Taking {
            TAKEN,
            /** It comes again once both are in the same world (D4). */
            DROPPED,
            /** Its sender is no member, or says what cannot be. */
            REFUSED
        }

        /**
         * A message came; where it is taken, {@link Guard#done} is told of the turn that does so.
         *
         * @param from name of the sender
         */
        Taking heard(String from, Frame.Tagged message);
    }

    /** Snapshots of the state, which let records go (K10). */
    interface Folding {

        /** Bytes of turns behind the newest base, for deciding when to fold. Any thread. */
        long bytesAboveBase();

        /**
         * Bytes of the newest base: the next one is due after as many of turns; 0 where unknown.
         */
        default long baseBytes() {
            return 0;
        }

        /**
         * Whether a checkpoint was cut since the newest turn, so that the whole state is looked at
         * where values are (C12). The turn thread.
         */
        default boolean beginsCheckpoint() {
            return false;
        }

        /**
         * A base of this turn, the newest, is to be made once it is final; for who makes bases of
         * more than one turn at a time. Turn thread.
         *
         * @param of all that the base will hold
         */
        default void due(Memory of) {}

        /**
         * Replaces the base and lets the records go that it covers (K10). One at a time, any
         * thread, while turns continue.
         *
         * @param turn whose state the sections hold, final
         * @param files of the outbox that it names; on disk before it is, or inside it
         * @throws DeadJournalException where the files cannot be put on disk: nothing may leave any
         *     longer
         * @throws IOException where it failed otherwise; the older base stands
         */
        void fold(long turn, OutboxFiles.Names files, Base.Sections sections) throws IOException;
    }

    /** What holds inputs back (K13). */
    interface Room {

        /**
         * Looks whether there is room for more than acks and folding, which have a reserve; where
         * there is none the reserve is let go, and taken again once there is. One thread at a time,
         * not the turn thread.
         */
        boolean isThere() throws IOException;

        /**
         * Whether there is so little room that inputs of outside clients wait, before {@link
         * #isThere} says that none are taken. One thread at a time, not the turn thread.
         */
        boolean isScarce() throws IOException;

        /** Bytes of turns that are not final: for back pressure. Any thread. */
        long bytesNotFinal();

        /** The files of outboxes, in the state that {@link Guard#recover} found. */
        OutboxFiles outbox();
    }
}
