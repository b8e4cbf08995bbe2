package io.saucr.services.turns;

/** How messages become bytes and back, and under which name a type travels. Any thread. */
public interface MessageTypes {

    /** The name under which messages of this class are sent. */
    String name(Class<?> type);

    /**
     * Says whether messages of this class may be sent.
     *
     * @throws IllegalArgumentException where they may not; names the part that is not allowed
     */
    void check(Class<?> type);

    /**
     * The bytes of a message.
     *
     * @throws IllegalArgumentException where its type may not be sent
     */
    byte[] encode(Object message);

    /**
     * A message from its bytes.
     *
     * @throws IllegalArgumentException where the bytes are not one of this class; says why
     */
    <T> T decode(Class<T> type, byte[] bytes);
}
