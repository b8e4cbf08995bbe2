package io.saucr.services.turns;

import io.saucr.services.core.Birth;
import io.saucr.services.core.Delta;
import io.saucr.services.core.Finals;
import io.saucr.services.core.Incarnation;
import io.saucr.services.journal.Base;
import io.saucr.services.journal.DeadJournalException;
import io.saucr.services.journal.OutboxFiles;
import io.saucr.services.journal.Recovered;
import io.saucr.services.state.Changes;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Supplier;

/**
 * When turns of a service are final, which nothing can undo any more: all that a protection
 * implements. First {@link #recover}, then {@link #incarnations} and all that is of this start,
 * then {@link #begin}, then turns.
 */
public interface Finality extends AutoCloseable {

    /**
     * The starts that are known, in the order of their numbers. The last one is this start, which
     * what survived knows already (K14).
     */
    List<Incarnation> incarnations();

    /** This start. */
    default Incarnation incarnation() {
        List<Incarnation> all = incarnations();
        return all.get(all.size() - 1);
    }

    /**
     * The first birth that the service ever had, known before {@link #recover}: it stays, whatever
     * births and starts follow.
     */
    default Birth first() {
        return formers().isEmpty() ? incarnation().birth() : formers().get(0);
    }

    /** The highest start that is known to have held the head; 0 for none (K14). */
    long confirmed();

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

    /** Births that an operator replaced, the first one first; usually none (K11). */
    List<Birth> formers();

    /** The head that this birth may replace (K11). */
    Optional<Incarnation> replaces();

    /** Births whose once client's marker this one may replace: an operator's order said so (E5). */
    Set<Birth> markers();

    /**
     * Reads what survived, once (K9). Returns when this start is in office: while another one is,
     * it may take that one's turns for long.
     *
     * @param base takes the sections of the newest base, where there is one
     * @param turns takes the deltas of the turns above it, in order
     * @param soFar gives all that was taken so far as the sections of a base, with what waits in
     *     files of the outbox, which any thread may write; asked between two turns on the thread
     *     that gives them, and again only once what it gave before is written or not needed
     * @return the newest turn; 0 where there is none
     * @throws IOException where what survived cannot be read, or must not be used; says what to do
     */
    long recover(Base.SectionReader base, Recovered.TurnReader turns, Supplier<Base.Sections> soFar)
            throws IOException;

    /**
     * Begins to take turns.
     *
     * @param listener hears of them, on a thread of its own; must not block
     */
    void begin(Listener listener);

    /**
     * Takes a turn that was executed. Does not wait for it to be final (K8). Turn thread.
     *
     * @param delta what it did in the core; its turn is the one after the newest
     * @param changes what it changed in the state; both are one record (K3)
     */
    void done(Delta delta, Changes changes);

    /**
     * Whether what is noted of writes to the ensemble is a part of the state, since that is all
     * that a later start may have (E1); else it lies in a folder within the service's.
     */
    default boolean notesWritesInState() {
        return false;
    }

    /** Whether what was read is told only once it is proven (C8). */
    default boolean provesReads() {
        return false;
    }

    /**
     * Proves that this start is in office, by what begins after this, and says so by {@link
     * Listener#moved}. Returns at once. Turn thread.
     *
     * @param read the newest that is to be proven; rising
     */
    default void prove(long read) {
        throw new IllegalStateException("read " + read + " needs no proof here");
    }

    /** Whether the state says behind which turn each start began, for clients to hear (C11). */
    default boolean keepsEpochs() {
        return false;
    }

    /**
     * So long replies to outside clients may leave before their turns are final (C9); 0 where they
     * wait. What is positive goes with {@link #keepsEpochs} and {@link #provesReads}.
     */
    default long leaseMillis() {
        return 0;
    }

    /**
     * Since when this start was in office for certain, by the steady clock in ms; empty before that
     * is known, and once it is out of office (C9). Any thread.
     */
    default OptionalLong officeSince() {
        return OptionalLong.empty();
    }

    /**
     * Looks whether there is room for more than acks and folding, which have a reserve (K13); where
     * there is none the reserve is let go, and taken again once there is. One thread at a time, not
     * the turn thread.
     */
    boolean hasRoom() throws IOException;

    /**
     * Whether there is so little room that inputs of outside clients wait, before {@link #hasRoom}
     * says that none are taken (K13). One thread at a time, not the turn thread.
     */
    boolean isScarce() throws IOException;

    /** How long the last time took in which turns became final, in microseconds. Any thread. */
    long lastFsyncMicros();

    /** Bytes of turns that are not final: for back pressure. Any thread. */
    long bytesNotFinal();

    /**
     * Whether a checkpoint was cut since the newest turn, so that the whole state is looked at
     * where values are (C12). The turn thread.
     */
    default boolean beginsCheckpoint() {
        return false;
    }

    /** Bytes of turns behind the newest base, for deciding when to fold. Any thread. */
    long bytesAboveBase();

    /** Bytes of the newest base: the next one is due after as many of turns; 0 where unknown. */
    default long baseBytes() {
        return 0;
    }

    /** The files of outboxes, in the state that {@link #recover} found (K13). */
    OutboxFiles outbox();

    /**
     * A base of this turn, the newest, is to be made once it is final; for who makes bases of more
     * than one turn at a time. Turn thread.
     */
    default void folding(long turn) {}

    /**
     * Replaces the base and lets the records go that it covers (K10). One at a time, any thread,
     * while turns go on.
     *
     * @param turn whose state the sections hold, final
     * @param files of the outbox that it names; on disk before it is, or inside it
     * @throws DeadJournalException where the files cannot be put on disk: the process has to halt
     * @throws IOException where it failed otherwise; the older base stands
     */
    void fold(long turn, OutboxFiles.Names files, Base.Sections sections) throws IOException;

    /** Ends it; what was taken becomes final first. */
    @Override
    void close() throws IOException;

    /** Hears what became final. */
    interface Listener {

        /** More may leave (K4, C8). What was heard before stays so, where this says less. */
        void moved(Finals now);

        /** No turn becomes final any more: the process has to halt (K8). Once. */
        void failed(Throwable cause);
    }
}
