package io.saucr.services.core;

import java.util.List;
import java.util.Optional;

/**
 * Decides what a service does: which input runs next, what is recorded, what may leave when, what
 * is a duplicate, who is behind its own past. No I/O, no threads, no clock: the service's turn
 * thread drives it, and so do simulator and model checker.
 *
 * <p>A start: construct, {@link #recover} the base and each Delta above it, {@link #begin}. Then,
 * again and again: events ({@link #frame}, {@link #linkUp}, {@link #linkDown}, {@link #result},
 * {@link #finalUpTo}); {@link #tick}; {@link #next}, and where that gives an input, one of {@link
 * #commit}, {@link #answered}, {@link #failed}, {@link #forbidden}, {@link #unknownType}. Whatever
 * returns actions: do them at once, in their order.
 */
@SuppressWarnings({"DoNotCallSuggester", "UnusedVariable"}) // Signatures first; the decisions follow.
public final class ServiceCore {

    /**
     * Begins a start.
     *
     * @param name of the service
     * @param starts all that its folder knows, this one last (K14)
     */
    public ServiceCore(String name, List<Incarnation> starts, Limits limits) {}

    /** Takes what survived: the base, if there is one, then each turn's above it (K9). */
    public void recover(Delta delta) {}

    /**
     * Everything was recovered and is forced.
     *
     * @param repeats what the service gives itself again and again
     */
    public List<Action> begin(List<Repeat> repeats, Moment at) {
        throw new UnsupportedOperationException();
    }

    /** A link is there, the peer's name is known. */
    public List<Action> linkUp(Link link) {
        throw new UnsupportedOperationException();
    }

    /** A link is gone. */
    public List<Action> linkDown(Link link) {
        throw new UnsupportedOperationException();
    }

    /** A frame came over a link that is up. */
    public List<Action> frame(Link link, Frame frame, Moment at) {
        throw new UnsupportedOperationException();
    }

    /** A call to the world returned (K17); becomes an input where there is an answer. */
    public List<Action> result(long output, Optional<Body> answer) {
        throw new UnsupportedOperationException();
    }

    /** What time alone brings about; call it before {@link #next}. */
    public List<Action> tick(Moment at) {
        throw new UnsupportedOperationException();
    }

    /** The input of the next turn (K1), which runs from now on; empty where none may run. */
    public Optional<Input> next(Moment at) {
        throw new UnsupportedOperationException();
    }

    /** In how many milliseconds {@link #tick} or {@link #next} has something to do by itself. */
    public long waitMillis(Moment at) {
        throw new UnsupportedOperationException();
    }

    /** The time of the turn that runs, or of the last one (K16). */
    public long nowMillis() {
        throw new UnsupportedOperationException();
    }

    /** The handler returned: what is to be appended to the journal (K3). */
    public Delta commit(Effects effects) {
        throw new UnsupportedOperationException();
    }

    /** The input was a query; its answer leaves when the newest turn is final (K4). */
    public List<Action> answered(Body answer) {
        throw new UnsupportedOperationException();
    }

    /** The handler threw: nothing of it remains; tried again later, or parked (K12). */
    public List<Action> failed(String reason, Moment at) {
        throw new UnsupportedOperationException();
    }

    /** The sender may not send this: parked without another attempt. */
    public List<Action> forbidden(String reason) {
        throw new UnsupportedOperationException();
    }

    /** No handler takes this type: its channel waits for a start that has one (K12). */
    public List<Action> unknownType() {
        throw new UnsupportedOperationException();
    }

    /** Every turn up to this one is final: what they caused may leave (K4, K5). */
    public List<Action> finalUpTo(long turn) {
        throw new UnsupportedOperationException();
    }

    /** All that the turns so far did, as one Delta of the newest turn: the base (K10). */
    public Delta snapshot() {
        throw new UnsupportedOperationException();
    }

    /** The newest turn; 0 before the first. */
    public long newestTurn() {
        throw new UnsupportedOperationException();
    }

    /** How many messages to this service were sent by all turns so far. */
    public long sentTo(String service) {
        throw new UnsupportedOperationException();
    }

    /** Whether the turn that consumed that message is final at the receiver (K5). */
    public boolean acked(String service, long number) {
        throw new UnsupportedOperationException();
    }

    /** The largest id of a timer that was given. */
    public long newestTimer() {
        throw new UnsupportedOperationException();
    }

    /** Whether that timer is set. */
    public boolean isSet(long timer) {
        throw new UnsupportedOperationException();
    }

    /** Whether the sender of that message waits for an answer of a later turn. */
    public boolean waits(String peer, long number) {
        throw new UnsupportedOperationException();
    }

    /** An operator says that this birth never comes back (K15). */
    public List<Action> declareGone(String service, Birth birth, String reason) {
        throw new UnsupportedOperationException();
    }
}
