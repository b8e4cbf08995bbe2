package io.saucr.services.core.replay;

/**
 * What becomes of a member whose state differs from the primary's (X14): it does not become
 * primary, and loads the primary's snapshot. If it differs again at the same request, it only
 * stores segments, until a snapshot behind that request.
 */
public final class Quarantine {

    /** What the member does. */
    public enum State {
        REPLAYS,
        LOADS_SNAPSHOT,
        STORES
    }

    private State state = State.REPLAYS;
    private long request;

    /** What the member does now. */
    public State state() {
        return state;
    }

    /** Whether it may become primary. */
    public boolean mayBecomePrimary() {
        return state == State.REPLAYS;
    }

    /** The replay of a request differs. */
    public void diverged(long at) {
        state = at == request ? State.STORES : State.LOADS_SNAPSHOT;
        request = at;
    }

    /**
     * A snapshot of the primary is there.
     *
     * @param newest the newest request that it has
     * @return whether to load it
     */
    public boolean offers(long newest) {
        boolean loads =
                state == State.LOADS_SNAPSHOT || (state == State.STORES && newest >= request);
        if (loads) {
            state = State.REPLAYS;
        }
        return loads;
    }
}
