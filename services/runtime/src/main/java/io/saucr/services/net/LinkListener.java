package io.saucr.services.net;

import io.saucr.services.core.Frame;
import io.saucr.services.wire.NetOptions;

/**
 * Hears what happens on the connections of one service. All calls run on the executor that {@link
 * Peers} was given: of one link in this order: {@link #up}, then frames, then {@link #down}, the
 * last.
 */
public interface LinkListener {

    /**
     * A peer can be talked to. On a link that was dialled nothing has been said yet: this side
     * sends HELLO first. On one that was accepted, the peer's HELLO follows at once; {@link
     * Connection#peer} is who it says it is, and with TLS a service's certificate says so, too. Of
     * a client without a birth requests follow instead, if any ({@link Connection#nameless}).
     */
    void up(Connection link);

    /**
     * A frame arrived. Each HELLO bears the name {@link Connection#peer}. Until this has returned
     * for all that one read brought, they count against {@link NetOptions#untakenBytes}.
     */
    void frame(Connection link, Frame frame);

    /** What waited to be sent has left, after {@link Connection#writable} was false. */
    default void writable(Connection link) {}

    /**
     * The link is closed, and frames sent on it may be lost. One that was dialled is dialled again.
     *
     * @param reason for people: who did what, and what to do about it
     */
    void down(Connection link, String reason);
}
