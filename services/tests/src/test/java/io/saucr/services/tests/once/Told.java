package io.saucr.services.tests.once;

import org.apache.zookeeper.KeeperException;

/**
 * What a client says about one operation. Immutable.
 *
 * @param word {@value #DONE}, or the name of the code that it was refused with
 * @param name the created child of a sequential create, else empty
 */
public record Told(String word, String name) {
    static final String DONE = "DONE";

    static Told done() {
        return new Told(DONE, "");
    }

    static Told created(String name) {
        return new Told(DONE, name);
    }

    static Told refused(KeeperException.Code code) {
        return new Told(code.name(), "");
    }

    boolean isDone() {
        return word.equals(DONE);
    }

    @Override
    public String toString() {
        return name.isEmpty() ? word : word + " " + name;
    }
}
