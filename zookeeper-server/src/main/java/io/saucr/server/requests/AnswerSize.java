package io.saucr.server.requests;

/** A client's connection that remembers how long its newest answer was. */
public interface AnswerSize {
    /**
     * Bytes of the newest answer to a request, its length field excluded; 0 before the first. Exact
     * in the thread that has just answered.
     */
    int newestAnswerBytes();
}
