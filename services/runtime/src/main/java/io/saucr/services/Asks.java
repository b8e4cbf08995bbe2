package io.saucr.services;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.HashMap;
import java.util.Map;

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
        Class<?> found = find(type, generic, Map.of());
        if (found == null) {
            throw new IllegalArgumentException(
                    type.getName()
                            + " does not say which type answers it: let it implement "
                            + generic.getSimpleName()
                            + "<Answer>, where Answer is a record or a sealed interface of records");
        }
        return found;
    }

    /**
     * What a type, or an interface of it, says; null where that is no class, or it says nothing.
     */
    private static Class<?> find(Type type, Class<?> generic, Map<Type, Type> known) {
        Class<?> raw = type instanceof ParameterizedType it ? (Class<?>) it.getRawType() : null;
        Map<Type, Type> given = new HashMap<>();
        if (raw != null) {
            Type[] arguments = ((ParameterizedType) type).getActualTypeArguments();
            for (int i = 0; i < arguments.length; i++) {
                given.put(
                        raw.getTypeParameters()[i], known.getOrDefault(arguments[i], arguments[i]));
            }
        } else if (type instanceof Class<?> it) {
            raw = it;
        }
        if (raw == null) {
            return null;
        }
        if (raw == generic) {
            return given.get(generic.getTypeParameters()[0]) instanceof Class<?> it ? it : null;
        }
        for (Type each : raw.getGenericInterfaces()) {
            Class<?> found = find(each, generic, given);
            if (found != null) {
                return found;
            }
        }
        return null;
    }
}
