package io.saucr.crash.campaign;

import io.saucr.crash.fault.Backend;
import io.saucr.crash.fault.FaultBackend;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * Where the runs of all campaigns happen, one after the other, each on machines of its own. A run
 * that is through has a line of JSON in the campaign's file, so that an interrupted campaign goes
 * on where it stopped; progress and the time left are printed. Used by one thread.
 */
public final class Workbench {
    /**
     * The campaign stops after so many runs in a row without an outcome: something is wrong here.
     */
    private static final int MOST_ABORTED_IN_A_ROW = 3;

    private final OutFolder folder;
    private final Backend backend;
    private final PrintStream progress;

    /**
     * @param folder made if it does not exist
     * @param progress gets a line per run
     */
    public Workbench(Path folder, Backend backend, PrintStream progress) throws IOException {
        this.folder = new OutFolder(folder, progress);
        this.backend = backend;
        this.progress = progress;
    }

    /** One kind of run: what there is to do, and what comes of it. */
    public interface Kind<T, O> {
        /** The file of the outcomes, in the folder. */
        String file();

        Class<O> outcomeType();

        /** Equal for a task and its outcome, different for different tasks. */
        String key(T task);

        /** The key of the task whose outcome this is. */
        String keyOf(O outcome);

        int servers(T task);

        /**
         * @param machines to be closed by the run
         * @param work for the servers' folders
         * @throws IOException if the servers do not even serve before any fault, or the machines
         *     fail
         */
        O run(T task, FaultBackend machines, Path work) throws IOException, InterruptedException;

        /** Whether the servers' logs need not be kept. */
        boolean asExpected(O outcome);

        /** For the line of progress. */
        String words(O outcome);
    }

    public OutFolder folder() {
        return folder;
    }

    /** Gets a line per run; a long run may add its own. */
    PrintStream progress() {
        return progress;
    }

    /**
     * Runs every task that has no outcome yet. One that fails without an outcome is left out; it
     * has its turn when the campaign is resumed.
     *
     * @return the outcomes of these tasks, older ones included
     * @throws IOException at the end, if a run had no outcome; at once, if several in a row had
     *     none
     */
    public <T, O> List<O> run(Kind<T, O> kind, List<T> tasks)
            throws IOException, InterruptedException {
        folder.removeLeftovers();
        Set<String> done = new HashSet<>();
        for (O outcome : folder.read(kind.file(), kind.outcomeType())) {
            done.add(kind.keyOf(outcome));
        }
        List<T> left = tasks.stream().filter(task -> !done.contains(kind.key(task))).toList();
        progress.printf(
                "%d runs, %d done before; faults by the %s back end%n",
                left.size(), tasks.size() - left.size(), backend);
        List<IOException> aborted = new ArrayList<>();
        int abortedInARow = 0;
        long begin = System.nanoTime();
        for (int i = 0; i < left.size() && abortedInARow < MOST_ABORTED_IN_A_ROW; i++) {
            String words;
            try {
                O outcome = runOne(kind, left.get(i));
                folder.append(kind.file(), outcome);
                words = kind.words(outcome);
                abortedInARow = 0;
            } catch (IOException e) {
                folder.keepLogs("aborted " + kind.key(left.get(i)));
                words = "no outcome: " + e.getMessage();
                aborted.add(e);
                abortedInARow++;
            }
            Duration remaining =
                    Duration.ofNanos((System.nanoTime() - begin) / (i + 1) * (left.size() - i - 1));
            progress.printf(
                    Locale.ROOT,
                    "%d/%d  %s  (%d:%02d left)%n",
                    i + 1,
                    left.size(),
                    words,
                    remaining.toMinutes(),
                    remaining.toSecondsPart());
        }
        if (!aborted.isEmpty()) {
            throw new IOException(
                    aborted.size() + " runs without an outcome, the first because of",
                    aborted.get(0));
        }
        Set<String> asked = new HashSet<>();
        tasks.forEach(task -> asked.add(kind.key(task)));
        return folder.read(kind.file(), kind.outcomeType()).stream()
                .filter(outcome -> asked.contains(kind.keyOf(outcome)))
                .toList();
    }

    private <T, O> O runOne(Kind<T, O> kind, T task) throws IOException, InterruptedException {
        Path work = folder.freshWork();
        O outcome = kind.run(task, backend.open(work, kind.servers(task)), work);
        if (!kind.asExpected(outcome)) {
            folder.keepLogs(kind.key(task));
        }
        folder.deleteWork();
        return outcome;
    }
}
