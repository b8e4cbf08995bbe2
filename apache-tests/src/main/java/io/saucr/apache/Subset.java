package io.saucr.apache;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Some of ZooKeeper's test classes under a name. Read from a text: one line each, {@code class
 * reason}; {@code #} begins a comment. Immutable.
 *
 * @param reasons why each of them is in it, by the class's full name, in the text's order
 */
record Subset(Map<String, String> reasons) {
    /**
     * One of the project's own: {@code ci} is what every build runs, {@code more} what all tests
     * run besides.
     *
     * @throws IllegalArgumentException if there is none of this name
     */
    static Subset named(String name) throws IOException {
        try (InputStream in = Subset.class.getResourceAsStream("subset-" + name + ".txt")) {
            if (in == null) {
                throw new IllegalArgumentException("no subset '" + name + "'");
            }
            return parse(new String(in.readAllBytes(), StandardCharsets.UTF_8));
        }
    }

    /**
     * @throws IllegalArgumentException naming a line that has no class or reason, or a class that
     *     is there twice
     */
    static Subset parse(String text) {
        Map<String, String> reasons = new LinkedHashMap<>();
        for (String line : text.split("\n", -1)) {
            if (line.isBlank() || line.startsWith("#")) {
                continue;
            }
            String[] parts = line.trim().split("\\s+", 2);
            if (parts.length < 2 || reasons.put(parts[0], parts[1]) != null) {
                throw new IllegalArgumentException("not a class of a subset: " + line);
            }
        }
        return new Subset(reasons);
    }

    boolean contains(String testClass) {
        return reasons.containsKey(testClass);
    }
}
