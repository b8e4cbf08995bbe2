package io.saucr.services;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;

/**
 * A message that is answered, and by which type:
 *
 * <pre>{@code
 * record Balance(String owner) implements Asks<Cents> {}
 * CompletableFuture<Cents> cents = client.ask(new Balance("ann"));
 * }</pre>
 *
 * <p>Its handler answers with that type, or {@linkplain Turn#detach leaves the answer to a later
 * turn}: one that does neither fails its turn. It travels as any other message does.
 *
 * @param <A> the answer: a record, or a sealed interface of the records that it may be
 */
public interface Asks<A> {

    /**
     * The type that answers a message.
     *
     * @throws IllegalArgumentException where its class does not say it
     */
    @SuppressWarnings("unchecked")
    static <A> Class<A> answerOf(Asks<A> message) {
        return (Class<A>) parameter(message.getClass(), Asks.class);
    }

    /**
     * What a class says for the one parameter of an interface: of this one or of {@link
     * Continuation}.
     *
     * @throws IllegalArgumentException where it does not implement it, or gives no class
     */
    static Class<?> parameter(Class<?> type, Class<?> generic) {
        Class<?> found = find(type, generic);
        if (found == null) {
            throw new IllegalArgumentException(
                    type.getName()
                            + " does not say which type answers it: let it implement "
                            + generic.getSimpleName()
                            + "<Answer>, where Answer is a record or a sealed interface of records");
        }
        return found;
    }

    private static Class<?> find(Type type, Class<?> generic) {
        if (type instanceof ParameterizedType it) {
            if (it.getRawType() == generic) {
                return it.getActualTypeArguments()[0] instanceof Class<?> answer ? answer : null;
            }
            return find(it.getRawType(), generic);
        }
        if (type instanceof Class<?> it) {
            for (Type each : it.getGenericInterfaces()) {
                Class<?> found = find(each, generic);
                if (found != null) {
                    return found;
                }
            }
        }
        return null;
    }
}
