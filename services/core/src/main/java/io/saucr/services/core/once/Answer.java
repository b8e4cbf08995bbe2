package io.saucr.services.core.once;

/** What came back of one multi. */
public sealed interface Answer {

    /** All of it happened. */
    record Done() implements Answer {}

    /**
     * Nothing of it happened, because of an operation: NoNode, BadVersion, NoAuth, quota and the
     * like.
     *
     * @param index of the operation in its request, from 0
     * @param code of the error
     */
    record Refused(int index, int code) implements Answer {}

    /**
     * Nothing of it happened, because the marker has another version, or there is none of that
     * name.
     */
    record MarkerMoved() implements Answer {}

    /**
     * It happened or it did not, or it may yet: the connection or the session was lost, or the
     * server said that it did not handle it now. Also where it was never sent.
     *
     * @param connectionLost while it was under way, which a request may be the cause of
     */
    record Unknown(boolean connectionLost) implements Answer {}
}
