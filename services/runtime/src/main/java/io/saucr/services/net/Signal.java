package io.saucr.services.net;

import io.saucr.services.core.Frame;
import java.time.Duration;

/** What a peer's bytes say. */
sealed interface Signal {

    /**
     * Begins each direction of a connection: both speak the same protocol.
     *
     * @param client whether the peer is an outside client, which only who dials can be
     * @param keepAlive so often the peer says something
     * @param accepting the service at the accepting end: as it calls itself, or as who dials wants
     *     it to be
     */
    record Preface(boolean client, Duration keepAlive, String accepting) implements Signal {}

    /**
     * A frame for the core.
     *
     * @param bytes it took
     */
    record Arrived(Frame frame, int bytes) implements Signal {}

    /** Asks for nothing: the peer is alive. */
    record KeepAlive() implements Signal {}

    /**
     * The peer ends the connection.
     *
     * @param reason printable
     */
    record Goodbye(String reason) implements Signal {}
}
