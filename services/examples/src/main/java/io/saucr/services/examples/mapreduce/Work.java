package io.saucr.services.examples.mapreduce;

import java.util.Map;

/**
 * What a worker is to do.
 *
 * @param kind of it
 * @param task its number, from 0; a task is given again where its worker is not heard of for long
 * @param text whose words are to be counted, of a map task
 * @param counts of words that are to be added up, of a reduce task: what each map task counted, by
 *     its number
 */
public record Work(Kind kind, int task, String text, Map<Integer, Map<String, Long>> counts) {

    /** Kinds of work. */
    public enum Kind {
        MAP,
        REDUCE,
        /** There is none now; ask again. */
        WAIT,
        /** All is done. */
        END
    }

    /** No work. */
    static Work none(Kind kind) {
        return new Work(kind, 0, "", Map.of());
    }
}
