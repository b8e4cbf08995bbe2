package io.saucr.services.turns;

import io.saucr.services.Bytes;
import io.saucr.services.core.Body;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * A request that came by HTTP, on its way to a turn. Immutable.
 *
 * @param id from 1, never used twice by a process
 * @param body the message or query
 * @param key its idempotency key, where it has one
 * @param told is given the outcome, once, on the thread of turns; must not block
 */
public record DoorRequest(long id, Body body, Optional<Key> key, Consumer<Outcome> told) {

    /**
     * An idempotency key.
     *
     * @param text of 1 to 200 printable characters of ASCII
     * @param hash of the request's type and body as they came
     */
    public record Key(String text, Bytes hash) {}

    /** An answer as it is sent, and as it is remembered. */
    public record Answer(String type, String json) {}

    /** What becomes of a request. */
    public sealed interface Outcome {

        /** Its turn is final, now or since an earlier request of that key. */
        record Answered(Optional<Answer> answer) implements Outcome {}

        /** It was not carried out, and may be later. */
        record Refused(String reason) implements Outcome {}

        /** Its handler failed; nothing of its turn remains. */
        record Failed(String reason) implements Outcome {}

        /** The first request of that key has no outcome yet. */
        record UnderWay() implements Outcome {}

        /** The key is another request's. */
        record OtherBody() implements Outcome {}

        /** Its turn left the answer to a later one, which was not yet. */
        record Waits() implements Outcome {}

        /** Nobody waits any longer; whether it is carried out is not known. */
        record Late() implements Outcome {}
    }
}
