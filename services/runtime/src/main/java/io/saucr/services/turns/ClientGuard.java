package io.saucr.services.turns;

import java.io.IOException;

/**
 * What a client with a birth needs next to {@link Guard}: to which service its numbers belong. A
 * pair of births numbers its messages (K11), so that what waits for one service must never go to
 * another one of that name.
 */
public interface ClientGuard extends Guard {

    /** To which service the client belongs; empty text where it has met none. */
    String bound();

    /**
     * Notes to which service it belongs; as lasting as turns are when this returns.
     *
     * @throws IOException where that fails: the client has to end
     */
    void bind(String to) throws IOException;
}
