package io.saucr.apache;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Which tests are not run, or may differ with SAUCR on, and why. Read from a text with a line for
 * each: {@code all|on class[#method] reason}. Immutable.
 */
record Exclusions(List<Exclusion> list) {
    private static final String RESOURCE = "exclusions.txt";

    /**
     * One of them.
     *
     * @param everywhere true: left out in all columns; false: it runs in all, and may differ with
     *     SAUCR on
     * @param method empty for the whole class
     */
    record Exclusion(boolean everywhere, String testClass, String method, String reason) {
        boolean covers(String otherClass, String test) {
            return testClass.equals(otherClass)
                    && (method.isEmpty() || test.equals(method) || test.startsWith(method + "/"));
        }

        @Override
        public String toString() {
            return testClass + (method.isEmpty() ? "" : "#" + method) + ": " + reason;
        }
    }

    /** The project's own. */
    static Exclusions ofThisProject() throws IOException {
        try (InputStream in = Exclusions.class.getResourceAsStream(RESOURCE)) {
            return parse(new String(in.readAllBytes(), StandardCharsets.UTF_8));
        }
    }

    /**
     * @throws IllegalArgumentException naming a line that has no scope, class or reason
     */
    static Exclusions parse(String text) {
        List<Exclusion> list = new ArrayList<>();
        for (String line : text.split("\n", -1)) {
            if (line.isBlank() || line.startsWith("#")) {
                continue;
            }
            String[] parts = line.trim().split("\\s+", 3);
            if (parts.length < 3 || !Set.of("all", "on").contains(parts[0])) {
                throw new IllegalArgumentException("not an exclusion: " + line);
            }
            String[] name = parts[1].split("#", 2);
            list.add(
                    new Exclusion(
                            parts[0].equals("all"),
                            name[0],
                            name.length == 1 ? "" : name[1],
                            parts[2]));
        }
        return new Exclusions(List.copyOf(list));
    }

    /** Whether no test of the class runs. */
    boolean excludesClass(String testClass) {
        return list.stream()
                .anyMatch(e -> e.everywhere && e.testClass.equals(testClass) && e.method.isEmpty());
    }

    /** The methods of the class that are not run. */
    Set<String> excludedMethods(String testClass) {
        return methods(e -> e.everywhere && e.testClass.equals(testClass));
    }

    /** The methods of the class that may differ with SAUCR on. */
    Set<String> differingMethods(String testClass) {
        return methods(e -> !e.everywhere && e.testClass.equals(testClass));
    }

    private Set<String> methods(Predicate<Exclusion> which) {
        return list.stream()
                .filter(which)
                .map(Exclusion::method)
                .filter(method -> !method.isEmpty())
                .collect(Collectors.toUnmodifiableSet());
    }

    /** Why the test may differ with SAUCR on; empty if it may not. */
    String reasonToDiffer(String testClass, String test) {
        return list.stream()
                .filter(e -> !e.everywhere && e.covers(testClass, test))
                .map(Exclusion::reason)
                .findFirst()
                .orElse("");
    }
}
