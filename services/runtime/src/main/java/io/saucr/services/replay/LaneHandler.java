package io.saucr.services.replay;

/**
 * Handles requests, in several lanes at once. What is to survive lies in collections of {@link
 * LaneState}: a snapshot holds nothing else (X13). Its locks make several calls one step.
 * Everything that differs from member to member is not to be read (X14).
 */
public interface LaneHandler {

    /**
     * Handles a request.
     *
     * @param body the request; not to be changed
     * @return the reply; not to be changed afterwards
     * @throws RuntimeException dead-letters the request: what it changed stays (X12)
     */
    byte[] handle(byte[] body, LaneTurn turn);

    /**
     * Answers a query, on a thread that is no lane: it reads, and records nothing (X15).
     *
     * @param body the query; not to be changed
     * @return the answer; not to be changed afterwards
     * @throws RuntimeException refuses the query
     */
    default byte[] query(byte[] body) {
        throw new IllegalArgumentException("no handler takes queries");
    }
}
