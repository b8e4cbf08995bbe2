package io.saucr.services.state;

import io.saucr.services.TypeName;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Finds out how values of a Java type become bytes, and refuses types whose values could change in
 * place, or whose bytes would not say what they are. One use, one thread.
 */
final class TypeResolver {

    /** What people use, and what may be used instead. */
    private static final Map<Class<?>, String> INSTEAD =
            Map.ofEntries(
                    Map.entry(byte[].class, "use io.saucr.services.Bytes"),
                    Map.entry(java.util.Date.class, "use java.time.Instant"),
                    Map.entry(java.util.Calendar.class, "use java.time.ZonedDateTime"),
                    Map.entry(AtomicInteger.class, "use int or Integer"),
                    Map.entry(AtomicLong.class, "use long or Long"),
                    Map.entry(AtomicBoolean.class, "use boolean or Boolean"),
                    Map.entry(AtomicReference.class, "use a component of its type"),
                    Map.entry(StringBuilder.class, "use String"),
                    Map.entry(CharSequence.class, "use String"),
                    Map.entry(Number.class, "use one of its kinds, such as long or BigDecimal"),
                    Map.entry(
                            Object.class,
                            "use a sealed interface of the records that it may be, so that bytes"
                                    + " tell which"),
                    Map.entry(Collection.class, "use List or Set"),
                    Map.entry(Iterable.class, "use List or Set"));

    private final Map<Class<?>, ValueType> known;
    private final Map<Class<?>, ValueType> found = new HashMap<>();

    /**
     * A resolver.
     *
     * @param known what was resolved before
     */
    TypeResolver(Map<Class<?>, ValueType> known) {
        this.known = known;
    }

    /** What was resolved in addition. */
    Map<Class<?>, ValueType> found() {
        return found;
    }

    /**
     * Resolves a class.
     *
     * @param where it stands, for messages
     * @throws IllegalArgumentException where it is not allowed: says which part of it
     */
    ValueType resolve(Class<?> type, String where) {
        ValueType resolved = ScalarType.of(type);
        if (resolved == null) {
            resolved = known.get(type);
        }
        if (resolved == null) {
            resolved = found.get(type);
        }
        if (resolved != null) {
            return resolved;
        }
        if (type.getTypeParameters().length > 0) {
            boolean container = type == List.class || type == Set.class || type == Map.class;
            if (INSTEAD.containsKey(type)) {
                throw refused(type, where, INSTEAD.get(type));
            }
            throw refused(
                    type,
                    where,
                    container || type == Optional.class
                            ? "make it a component of a record, with the types of its elements"
                            : "its type parameters are not in the bytes: use a record without any");
        }
        if (type.isEnum()) {
            EnumType resolvedEnum = new EnumType(type);
            found.put(type, resolvedEnum);
            return resolvedEnum;
        }
        if (type.isRecord()) {
            return record(type, where);
        }
        if (type.isSealed() && type.isInterface()) {
            return choice(type, where);
        }
        throw refused(type, where, instead(type));
    }

    private static String instead(Class<?> type) {
        String instead = INSTEAD.get(type);
        if (instead != null) {
            return instead;
        }
        if (type.isPrimitive()) {
            return "use its box";
        }
        if (type.isArray()) {
            return "use List, as arrays can be changed in place";
        }
        if (type.isInterface()) {
            return "make it a sealed interface of records, so that bytes tell which it is";
        }
        if (Enum.class.isAssignableFrom(type)) {
            return "use its enum";
        }
        return "make it a record of immutable parts, as its objects may change in place";
    }

    private static IllegalArgumentException refused(Type type, String where, String instead) {
        return new IllegalArgumentException(
                where + ": " + type.getTypeName() + " is not allowed; " + instead);
    }

    private RecordType record(Class<?> type, String where) {
        RecordType resolved = new RecordType(type);
        // Before its parts, which may contain it.
        found.put(type, resolved);
        List<RecordType.Component> components = new ArrayList<>();
        RecordComponent[] declared = type.getRecordComponents();
        for (RecordComponent component : declared) {
            String its = "component " + component.getName() + " of record " + type.getName();
            Class<?> raw = component.getType();
            ValueType part =
                    raw.isPrimitive()
                            ? ScalarType.of(MethodType.methodType(raw).wrap().returnType())
                            : part(component.getGenericType(), its);
            Object missing =
                    raw.isPrimitive() ? Array.get(Array.newInstance(raw, 1), 0) : part.absent();
            components.add(
                    new RecordType.Component(
                            component.getName(),
                            part,
                            accessor(component, its),
                            missing,
                            missing == null));
        }
        resolved.complete(components, constructor(type, declared, where));
        return resolved;
    }

    private static MethodHandle accessor(RecordComponent component, String where) {
        try {
            Method accessor = component.getAccessor();
            accessor.setAccessible(true);
            return MethodHandles.lookup()
                    .unreflect(accessor)
                    .asType(MethodType.methodType(Object.class, Object.class));
        } catch (IllegalAccessException | InaccessibleObjectException e) {
            throw closed(component.getDeclaringRecord(), where, e);
        }
    }

    private static MethodHandle constructor(
            Class<?> type, RecordComponent[] components, String where) {
        try {
            Constructor<?> constructor =
                    type.getDeclaredConstructor(
                            Arrays.stream(components)
                                    .map(RecordComponent::getType)
                                    .toArray(Class<?>[]::new));
            constructor.setAccessible(true);
            return MethodHandles.lookup()
                    .unreflectConstructor(constructor)
                    .asSpreader(Object[].class, components.length)
                    .asType(MethodType.methodType(Object.class, Object[].class));
        } catch (NoSuchMethodException | IllegalAccessException | InaccessibleObjectException e) {
            throw closed(type, where, e);
        }
    }

    private static IllegalArgumentException closed(Class<?> type, String where, Exception e) {
        return new IllegalArgumentException(
                where
                        + ": "
                        + type.getName()
                        + " cannot be read from here; let its module open the package "
                        + type.getPackageName()
                        + " to this library",
                e);
    }

    private ChoiceType choice(Class<?> type, String where) {
        ChoiceType resolved = new ChoiceType(type);
        found.put(type, resolved);
        addOptions(resolved, type, where);
        return resolved;
    }

    private void addOptions(ChoiceType choice, Class<?> type, String where) {
        for (Class<?> option : type.getPermittedSubclasses()) {
            String its = where + ", of which " + type.getName() + " permits " + option.getName();
            if (option.isSealed() && option.isInterface()) {
                addOptions(choice, option, its);
            } else if (!option.isRecord() && !option.isEnum()) {
                throw refused(option, its, instead(option));
            } else if (!choice.add(option, name(option), resolve(option, its))) {
                throw refused(
                        option,
                        its,
                        "another one is also called "
                                + name(option)
                                + ": give one a name of its own, by @TypeName");
            }
        }
    }

    /** The name by which bytes tell a class from others. */
    static String name(Class<?> type) {
        TypeName named = type.getAnnotation(TypeName.class);
        if (named == null) {
            return type.getSimpleName();
        }
        if (named.value().isEmpty() || named.value().length() > 200) {
            throw new IllegalArgumentException(
                    "@TypeName of " + type.getName() + " has to have 1 to 200 characters");
        }
        return named.value();
    }

    private ValueType part(Type type, String where) {
        if (type instanceof Class<?> plain) {
            if (plain == Optional.class
                    || plain == List.class
                    || plain == Set.class
                    || plain == Map.class) {
                throw refused(type, where, "say of what, as in " + plain.getSimpleName() + "<...>");
            }
            return resolve(plain, where);
        }
        if (type instanceof ParameterizedType generic) {
            Type[] arguments = generic.getActualTypeArguments();
            if (generic.getRawType() == Optional.class) {
                ValueType content = part(arguments[0], where);
                if (content instanceof OptionalType) {
                    throw refused(type, where, "use one Optional");
                }
                return new OptionalType(content);
            }
            if (generic.getRawType() == List.class) {
                return new ListType(part(arguments[0], where));
            }
            if (generic.getRawType() == Set.class) {
                return new SetType(part(arguments[0], where));
            }
            if (generic.getRawType() == Map.class) {
                return new MapType(part(arguments[0], where), part(arguments[1], where));
            }
            return resolve((Class<?>) generic.getRawType(), where);
        }
        throw refused(type, where, "name the type itself, as a class without parameters");
    }

    /**
     * Refuses keys with sets or maps in them: which key is meant would depend on an order.
     *
     * @throws IllegalArgumentException where there is one
     */
    static void checkKey(ValueType type, String where) {
        checkKey(type, where, new HashSet<>());
    }

    private static void checkKey(ValueType type, String where, Set<ValueType> seen) {
        if (!seen.add(type)) {
            return;
        }
        if (type instanceof SetType || type instanceof MapType) {
            throw new IllegalArgumentException(
                    where
                            + ": "
                            + type.described()
                            + " is not allowed in a key; use a sorted List");
        } else if (type instanceof OptionalType optional) {
            checkKey(optional.content(), where, seen);
        } else if (type instanceof ListType list) {
            checkKey(list.element(), where, seen);
        } else if (type instanceof ChoiceType choice) {
            for (ValueType option : choice.options()) {
                checkKey(option, where, seen);
            }
        } else if (type instanceof RecordType composed) {
            for (RecordType.Component component : composed.components()) {
                checkKey(
                        component.type(),
                        where + ", component " + component.name() + " of " + type.described(),
                        seen);
            }
        }
    }
}
