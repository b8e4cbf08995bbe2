package io.saucr.services.examples.mapreduce;

import java.util.Map;

/** Who hands out tasks, as a worker sees it. */
public interface Tasks {

    /** What is to be done next. */
    Work next();

    /** What came of a task; a second time it is nothing new. */
    void done(int task, Map<String, Long> counts);
}
