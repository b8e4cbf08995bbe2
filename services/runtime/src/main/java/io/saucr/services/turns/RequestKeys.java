package io.saucr.services.turns;

import io.saucr.services.Bytes;
import io.saucr.services.Caller;
import io.saucr.services.ListState;
import io.saucr.services.MapState;
import io.saucr.services.State;
import io.saucr.services.turns.DoorRequest.Answer;
import io.saucr.services.turns.DoorRequest.Outcome;
import java.time.Duration;
import java.util.Optional;

/**
 * The idempotency keys of a service and their answers: a part of its state, changed by the very
 * turns that the requests led to, so that no crash comes between the two (K3). A key counts for 24
 * hours from its answer on; a key whose answer was left to a later turn waits for that as long as a
 * silent client with a birth is waited for. Turn thread, in turns and queries.
 */
public final class RequestKeys {

    /** So long a key is remembered. */
    static final long KEPT_MILLIS = Duration.ofHours(24).toMillis();

    /** So many keys are looked at in each turn that adds one: more than one, so that all go. */
    private static final int LOOKED_AT = 4;

    /** Stands for the peer of callers that have a key: known to the state, not to the core. */
    private static final String PEER = "#http";

    /**
     * What is known of a key.
     *
     * @param sinceMillis when it was answered, or asked where it waits
     * @param waits the turn that left the answer to a later one; 0 where it was answered
     * @param type of the answer; empty text where the turn gave none
     */
    record Remembered(Bytes hash, long sinceMillis, long waits, String type, String json) {}

    /** When to look whether a key is over. */
    record Look(String key, long atMillis) {}

    private final MapState<String, Remembered> keys;
    private final MapState<Long, String> waiting;
    private final ListState<Look> looks;
    private final long longestWaitMillis;

    private RequestKeys(State state, long longestWaitMillis) {
        keys = state.map(PEER, String.class, Remembered.class);
        waiting = state.map(PEER + "/waiting", Long.class, String.class);
        looks = state.list(PEER + "/looks", Look.class);
        this.longestWaitMillis = Math.max(KEPT_MILLIS, longestWaitMillis);
    }

    /**
     * Declares the keys.
     *
     * @param state that permits reserved names
     * @param longestWaitMillis after which a key goes that was never answered
     */
    static RequestKeys of(State state, long longestWaitMillis) {
        return new RequestKeys(state, longestWaitMillis);
    }

    /** Who waits for the answer that this turn left to a later one. */
    static Caller caller(long turn) {
        return new Caller(PEER, turn);
    }

    /** Whether that caller has a key. */
    static boolean isCaller(Caller caller) {
        return caller.peer().equals(PEER);
    }

    /** How many are remembered, those among them that are over and not yet looked at. */
    int size() {
        return keys.size();
    }

    /** What a request of this key hears, where the key is remembered. */
    Optional<Outcome> look(DoorRequest.Key key, long now) {
        Remembered found = keys.get(key.text());
        if (found == null || isOver(found, now)) {
            return Optional.empty();
        }
        if (!found.hash().equals(key.hash())) {
            return Optional.of(new Outcome.OtherBody());
        }
        if (found.waits() != 0) {
            return Optional.of(new Outcome.Waits());
        }
        return Optional.of(
                new Outcome.Answered(
                        found.type().isEmpty()
                                ? Optional.empty()
                                : Optional.of(new Answer(found.type(), found.json()))));
    }

    private boolean isOver(Remembered key, long now) {
        return now - key.sinceMillis() >= (key.waits() == 0 ? KEPT_MILLIS : longestWaitMillis);
    }

    /** Remembers a key whose turn this is, with its answer. */
    void answered(DoorRequest.Key key, Optional<Answer> answer, long now) {
        remember(key, remembered(key.hash(), answer, now), now);
    }

    /**
     * Remembers a key whose turn this is and leaves the answer to a later one.
     *
     * @param turn its number
     */
    void waits(DoorRequest.Key key, long turn, long now) {
        remember(key, new Remembered(key.hash(), now, turn, "", ""), now);
        waiting.put(turn, key.text());
    }

    /** Whether the request of that turn waits for its answer. */
    boolean waits(long turn) {
        return waiting.contains(turn);
    }

    /** Answers the request of an earlier turn that waits. */
    void answer(long turn, Answer answer, long now) {
        String key = waiting.remove(turn);
        keys.put(key, remembered(keys.get(key).hash(), Optional.of(answer), now));
    }

    private static Remembered remembered(Bytes hash, Optional<Answer> answer, long now) {
        return new Remembered(
                hash,
                now,
                0,
                answer.map(Answer::type).orElse(""),
                answer.map(Answer::json).orElse(""));
    }

    private void remember(DoorRequest.Key key, Remembered now, long millis) {
        for (int count = 0; count < LOOKED_AT; count++) {
            if (looks.isEmpty() || looks.get(0).atMillis() > millis) {
                break;
            }
            lookAgain(looks.removeFirst().key(), millis);
        }
        Remembered before = keys.get(key.text());
        if (before == null) {
            looks.add(new Look(key.text(), millis + KEPT_MILLIS));
        } else {
            forget(before);
        }
        keys.put(key.text(), now);
    }

    private void lookAgain(String key, long now) {
        Remembered found = keys.get(key);
        if (isOver(found, now)) {
            forget(found);
            keys.remove(key);
        } else {
            // It waits, or was answered late: later ones may be over before it.
            looks.add(new Look(key, now + KEPT_MILLIS));
        }
    }

    private void forget(Remembered key) {
        if (key.waits() != 0) {
            waiting.remove(key.waits());
        }
    }
}
