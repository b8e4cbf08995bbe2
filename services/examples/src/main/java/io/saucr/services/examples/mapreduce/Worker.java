package io.saucr.services.examples.mapreduce;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Counts words, and adds up what others counted, until all is done. One thread. */
public final class Worker {

    private static final long WAIT_MILLIS = 20;

    private final Tasks tasks;
    private int finished;

    /** Asks for tasks there. */
    public Worker(Tasks tasks) {
        this.tasks = tasks;
    }

    /**
     * Works until the end.
     *
     * @return how many tasks this worker did
     */
    public int work() throws InterruptedException {
        while (true) {
            Work work = tasks.next();
            switch (work.kind()) {
                case MAP -> finish(work, map(work.text()));
                case REDUCE -> finish(work, reduce(work.counts()));
                case WAIT -> TimeUnit.MILLISECONDS.sleep(WAIT_MILLIS);
                case END -> {
                    return finished;
                }
            }
        }
    }

    private void finish(Work work, Map<String, Long> counts) {
        tasks.done(work.task(), counts);
        finished++;
    }

    private static Map<String, Long> map(String text) {
        Map<String, Long> counts = new HashMap<>();
        for (String word : text.toLowerCase(Locale.ROOT).split("[^a-z]+")) {
            if (!word.isEmpty()) {
                counts.merge(word, 1L, Long::sum);
            }
        }
        return counts;
    }

    private static Map<String, Long> reduce(Map<Integer, Map<String, Long>> all) {
        Map<String, Long> sums = new HashMap<>();
        all.values()
                .forEach(one -> one.forEach((word, count) -> sums.merge(word, count, Long::sum)));
        return sums;
    }
}
