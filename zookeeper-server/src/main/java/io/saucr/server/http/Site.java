package io.saucr.server.http;

import java.io.IOException;

/** What is at the paths of an {@link HttpListener}. */
@FunctionalInterface
public interface Site {

    /**
     * Answers a request, by {@link Exchange#answer} or {@link Exchange#stream}. A thread of the
     * listener calls this and may block.
     *
     * @throws IOException if the request does not come or the answer does not go, which ends the
     *     connection
     */
    void answer(Exchange exchange) throws IOException;
}
