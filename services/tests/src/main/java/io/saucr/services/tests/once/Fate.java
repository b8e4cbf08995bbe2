package io.saucr.services.tests.once;

/**
 * What becomes of a request on a {@link ClientLine}, and of what follows it on its connection.
 *
 * @param then what else happens: with the server's answer at hand where there is one, and before
 *     the client sees that its connection has ended; may block
 */
public record Fate(Kind kind, Runnable then) {
    /** What happens. */
    public enum Kind {
        /** Nothing. */
        PASS,
        /** The connection ends; the server never gets the request. */
        CUT_BEFORE,
        /** The same, in the middle of the request. */
        CUT_WITHIN,
        /** The server's answer is there, the client never gets it: the connection ends. */
        CUT_AFTER,
        /** The same, in the middle of the answer. */
        CUT_WITHIN_ANSWER,
        /**
         * The connection ends for the client; for the server it lives on, with pings, until the
         * request and what followed it are {@linkplain ClientLine#release released} to it.
         */
        HOLD,
        /** The server gets everything, the client no answer any more, until it gives up. */
        MUTE,
        /** The server never gets the request, and has ended the session. */
        EXPIRE_BEFORE,
        /** The server has answered, which the client never sees, and has ended the session. */
        EXPIRE_AFTER
    }

    public static final Fate PASS = of(Kind.PASS);

    /** One without more. */
    public static Fate of(Kind kind) {
        return new Fate(kind, () -> {});
    }

    /** The same, with more. */
    public Fate and(Runnable more) {
        return new Fate(kind, more);
    }
}
