package io.saucr.services.core.once;

import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Copies and describes a {@link MarkerChain} field by field, so that the model checker can go back
 * to a state. One that is added to the chain is taken along without a change here; of a type that
 * is not known here, it throws.
 */
final class ChainState {

    /** The same for all states of a run, or only counted to keep names apart. */
    private static final Set<String> SAID_ELSEWHERE =
            Set.of("client", "self", "limits", "known", "lastRequest", "names");

    private static final List<Field> CHAIN = fields(MarkerChain.class);
    private static final List<Field> OPERATION;
    private static final Constructor<?> NEW_OPERATION;

    static {
        try {
            Class<?> operation = Class.forName(MarkerChain.class.getName() + "$Operation");
            OPERATION = fields(operation);
            NEW_OPERATION = operation.getDeclaredConstructor(long.class, boolean.class, int.class);
            NEW_OPERATION.setAccessible(true);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(e.getMessage(), e);
        }
    }

    private ChainState() {}

    private static List<Field> fields(Class<?> of) {
        List<Field> fields = new ArrayList<>();
        for (Field field : of.getDeclaredFields()) {
            if (!Modifier.isStatic(field.getModifiers())) {
                field.setAccessible(true);
                fields.add(field);
            }
        }
        return fields;
    }

    /** Makes one chain what the other is; nothing of it is shared that either may change. */
    static void copy(MarkerChain from, MarkerChain to) {
        copy(from, to, CHAIN);
    }

    private static void copy(Object from, Object to, List<Field> fields) {
        try {
            for (Field field : fields) {
                field.set(to, copyOf(field.get(from)));
            }
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }

    private static Object copyOf(Object value) throws IllegalAccessException {
        if (value == null
                || value instanceof Number
                || value instanceof Boolean
                || value instanceof String
                || value instanceof Enum<?>
                || value instanceof Record) {
            return value;
        } else if (value instanceof TreeMap<?, ?> map) {
            TreeMap<Object, Object> copy = new TreeMap<>();
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                copy.put(entry.getKey(), copyOf(entry.getValue()));
            }
            return copy;
        } else if (value instanceof TreeSet<?> set) {
            return new TreeSet<>(set);
        } else if (value instanceof HashSet<?> set) {
            return new HashSet<>(set);
        } else if (value instanceof ArrayDeque<?> queue) {
            Deque<Object> copy = new ArrayDeque<>();
            for (Object each : queue) {
                copy.add(copyOf(each));
            }
            return copy;
        } else if (value.getClass().getName().startsWith("java.util.ImmutableCollections$")) {
            return value;
        } else if (value.getClass() == NEW_OPERATION.getDeclaringClass()) {
            try {
                Object copy = NEW_OPERATION.newInstance(1L, false, 1);
                copy(value, copy, OPERATION);
                return copy;
            } catch (ReflectiveOperationException e) {
                throw new LinkageError(e.getMessage(), e);
            }
        }
        throw new AssertionError("a chain has a " + value.getClass() + ", which is not copied yet");
    }

    /** Adds what a chain, or one of its operations, knows. */
    static void describe(Object value, StateText text) {
        try {
            for (Field field : value instanceof MarkerChain ? CHAIN : OPERATION) {
                if (!SAID_ELSEWHERE.contains(field.getName())) {
                    text.add(field.get(value));
                }
            }
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }
}
