package io.saucr.services.turns;

import io.saucr.services.core.Body;
import io.saucr.services.core.Frame;
import io.saucr.services.core.Link;

/**
 * One end of links, a service or a client with a birth, for any code that moves the frames and the
 * time: the threads and sockets of a process, or a test kit. All calls on one thread at a time,
 * {@link #begin} first; whatever one throws must end the process, as the end may then disagree with
 * its own record.
 */
public interface Endpoint extends TurnLoop.Steps {

    /** Where that goes which leaves. On the endpoint's thread; must not block. */
    interface Border {

        /** Sends, at the latest with {@link #flush}, or drops where the link is closed. */
        void send(Link link, Frame frame);

        /**
         * All that was sent leaves, together where that is possible; follows each {@link #send}.
         */
        default void flush() {}

        /** Closes, and tells people why. */
        void close(Link link, String reason);

        /** Keeps trying to make a link to this service. */
        void reach(String service);

        /** Tries no more, until it is seen at another address, and tells people why. */
        void leave(String service, String reason);

        /**
         * Makes a call to the world, until it returned (K17).
         *
         * @param output its number
         * @param id the same for each attempt
         */
        void call(long output, String id, Body call);

        /** The process must end; nothing that was not sent before may leave (K14). */
        void halt(String reason);
    }

    /** The first call; {@link Guard#begin} was called before. */
    void begin(Border border);

    /** A link to another end is there. */
    void linkUp(Link link);

    /** A frame came over a link. */
    void frame(Link link, Frame frame);

    /** A link is closed. */
    void linkDown(Link link);
}
