package io.saucr.services.turns;

import io.saucr.services.Service;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;

/**
 * Refuses a service whose class has a field that can be assigned: what it holds would neither
 * survive a crash nor be undone with its turn. What a final field refers to cannot be seen from
 * here.
 */
public final class FieldCheck {

    private FieldCheck() {}

    /**
     * Looks at a service's class and those above it.
     *
     * @throws IllegalArgumentException where a field is not final; names it
     */
    static void check(Service service) {
        for (Class<?> type = service.getClass();
                type != null && type != Object.class;
                type = type.getSuperclass()) {
            for (Field field : type.getDeclaredFields()) {
                // Coverage tools add fields of their own.
                if (!Modifier.isFinal(field.getModifiers()) && !field.isSynthetic()) {
                    throw new IllegalArgumentException(
                            "field "
                                    + field.getName()
                                    + " of "
                                    + type.getName()
                                    + " is not final: what it holds is lost in a crash and stays"
                                    + " when its turn is undone. Keep it in the state, as a value"
                                    + " that the constructor declares, or make it final");
                }
            }
        }
    }
}
