package io.saucr.services.turns;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

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
     * Says whether this is a type of answers: of messages, or a sealed interface of such types.
     *
     * @throws IllegalArgumentException where it is not; names the part that is not allowed
     */
    default void checkAnswer(Class<?> type) {
        for (Class<?> each : kinds(type)) {
            check(each);
        }
    }

    /** Which of the types that an answer may be has this name, if any has. */
    default <A> Optional<Class<? extends A>> kind(Class<A> type, String name) {
        return kinds(type).stream()
                .filter(it -> name(it).equals(name))
                .<Class<? extends A>>map(it -> it.asSubclass(type))
                .findFirst();
    }

    private static List<Class<?>> kinds(Class<?> type) {
        return type.isSealed() && type.isInterface()
                ? Stream.of(type.getPermittedSubclasses())
                        .flatMap(it -> kinds(it).stream())
                        .toList()
                : List.of(type);
    }

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
