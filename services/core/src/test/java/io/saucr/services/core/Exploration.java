package io.saucr.services.core;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Every way through a small world, the first steps first. States that were seen are left out; a
 * state is reached again by its steps, as what decides cannot be copied. One thread.
 */
public final class Exploration {

    /** In place of a violation: there are more states than were allowed. */
    public static final String MORE_STATES = "more states than allowed";

    private final Supplier<? extends World> beginning;
    private final Set<String> seen = new HashSet<>();
    private int atRest;

    /**
     * What was found.
     *
     * @param states that differ
     * @param atRest those in which all is done
     * @param violation the first one, or null
     * @param path that leads to it
     */
    public record Found(int states, int atRest, String violation, List<String> path) {}

    /**
     * What may happen next.
     *
     * @param fault whether all has to be done without it
     */
    public record Step(String name, boolean fault, Runnable what) {

        /** One that is no fault, or of a world that knows by itself when all is done. */
        public Step(String name, Runnable what) {
            this(name, false, what);
        }
    }

    /** A world that its steps change. */
    public abstract static class World {

        private final List<String> path = new ArrayList<>();
        private String violation;

        /** What may happen now; the same, in the same order, wherever the text is the same. */
        protected abstract List<Step> steps();

        /** All that decides what may follow. */
        protected abstract String text();

        /**
         * Whether all is done; it fails where something is missing then.
         *
         * @param moves whether a step that is no fault leads to another state
         */
        protected abstract boolean isAtRest(boolean moves);

        /** Notes a violation; the first one counts. */
        protected final void fail(String what) {
            violation = violation == null ? what : violation;
        }

        private void take(Step step) {
            path.add(step.name());
            try {
                step.what().run();
            } catch (RuntimeException e) {
                fail(e.toString());
            }
        }
    }

    /**
     * Of a world.
     *
     * @param beginning makes it as it begins, again and again
     */
    public Exploration(Supplier<? extends World> beginning) {
        this.beginning = beginning;
    }

    /** Looks at all of them, and no more than so many states. */
    public Found explore(int mostStates) {
        ArrayDeque<int[]> ways = new ArrayDeque<>();
        ways.add(new int[0]);
        seen.add(beginning.get().text());
        while (!ways.isEmpty()) {
            int[] way = ways.remove();
            World here = replay(way);
            String text = here.text();
            int steps = here.steps().size();
            boolean moves = false;
            for (int step = 0; step < steps; step++) {
                World next = replay(way);
                Step taken = next.steps().get(step);
                next.take(taken);
                if (next.violation != null) {
                    return found(next, next.violation);
                }
                String there = next.text();
                moves |= !taken.fault() && !there.equals(text);
                if (seen.add(there)) {
                    if (seen.size() > mostStates) {
                        return found(next, MORE_STATES);
                    }
                    int[] longer = Arrays.copyOf(way, way.length + 1);
                    longer[way.length] = step;
                    ways.add(longer);
                }
            }
            if (here.isAtRest(moves)) {
                atRest++;
            }
            if (here.violation != null) {
                return found(here, here.violation);
            }
        }
        return new Found(seen.size(), atRest, null, List.of());
    }

    private Found found(World where, String violation) {
        return new Found(seen.size(), atRest, violation, where.path);
    }

    private World replay(int[] way) {
        World world = beginning.get();
        for (int step : way) {
            world.take(world.steps().get(step));
        }
        return world;
    }

    /** Explores, and says what was found; ends the process, with 0 where there is no violation. */
    public void exploreAndExit(int mostStates) {
        long begun = System.nanoTime();
        Found found = explore(mostStates);
        System.out.printf(
                "%,d states, %,d at rest, in %d s: %s%n%s%n",
                found.states(),
                found.atRest(),
                (System.nanoTime() - begun) / 1_000_000_000,
                found.violation() == null ? "no violation" : found.violation(),
                String.join("\n", found.path()));
        System.exit(found.violation() == null ? 0 : 1);
    }

    /**
     * Fields of what decides, and what they hold, without what only waits in lambdas. What several
     * parts share is described once, and numbered where it comes again.
     *
     * @param left what is told elsewhere, or decides nothing
     */
    public static void describe(Object value, StringBuilder text, Set<Class<?>> left) {
        describe(value, text, left, new IdentityHashMap<>());
    }

    private static void describe(
            Object value, StringBuilder text, Set<Class<?>> left, Map<Object, Integer> seen) {
        if (value == null) {
            text.append("- ");
        } else if (left.stream().anyMatch(each -> each.isInstance(value))) {
            text.append("left ");
        } else if (value instanceof Map<?, ?> map) {
            text.append('{');
            map.forEach(
                    (key, held) -> {
                        text.append(key).append('=');
                        describe(held, text, left, seen);
                    });
            text.append('}');
        } else if (value instanceof Collection<?> many) {
            text.append('[');
            many.forEach(each -> describe(each, text, left, seen));
            text.append(']');
        } else if (value instanceof Runnable) {
            text.append("later ");
        } else if (value.getClass().isRecord()
                && value.getClass().getSimpleName().equals("Later")) {
            text.append(value.toString().replaceAll("what=.*", "")).append(' ');
        } else if (value.getClass().isRecord()
                || !value.getClass().getName().startsWith("io.saucr")
                || value.getClass().isEnum()) {
            text.append(value).append(' ');
        } else if (seen.containsKey(value)) {
            text.append('#').append(seen.get(value)).append(' ');
        } else {
            seen.put(value, seen.size());
            for (Field field : value.getClass().getDeclaredFields()) {
                if (!Modifier.isStatic(field.getModifiers()) && !field.isSynthetic()) {
                    try {
                        field.setAccessible(true);
                        text.append(field.getName()).append(':');
                        describe(field.get(value), text, left, seen);
                    } catch (IllegalAccessException e) {
                        throw new IllegalStateException(e);
                    }
                }
            }
        }
    }
}
