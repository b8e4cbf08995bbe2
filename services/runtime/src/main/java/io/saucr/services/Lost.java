package io.saucr.services;

import java.util.concurrent.CompletableFuture;

/**
 * A reply that a client had and that is lost, with what its turn had done. Immutable.
 *
 * @param request what was asked
 * @param epoch of the service that answered it; a takeover begins the next one
 * @param turn that the reply showed
 * @param survived the last turn of that epoch that is not lost
 * @param again the answer, where the request is made again; where not, it fails with {@link
 *     ServiceException}
 */
public record Lost(
        Object request, long epoch, long turn, long survived, CompletableFuture<Object> again) {

    /** What becomes of the request. */
    public enum Decision {
        /** It is made again; its answer may be another one. */
        REPEAT,
        /** It is not made again. */
        DROP
    }

    @Override
    public String toString() {
        return "the reply to "
                + request
                + ", of turn "
                + turn
                + " of epoch "
                + epoch
                + ", of which turns up to "
                + survived
                + " survived";
    }
}
