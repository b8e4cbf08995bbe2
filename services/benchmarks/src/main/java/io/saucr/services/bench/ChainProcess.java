package io.saucr.services.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import org.HdrHistogram.Histogram;

/**
 * A {@link Chain} in a process of its own. It says {@code warm} once it runs and its code is
 * compiled. For each line that it is sent it says {@code millis} and the median time of a request
 * during a slice, then it waits for the next line; it ends when that stream does.
 */
final class ChainProcess {

    private static final long LONGEST_NANOS = 600_000_000_000L;

    private ChainProcess() {}

    /**
     * Measures.
     *
     * @param arguments folder, number of services, a {@link Chain.Mode}, servers of an ensemble
     *     where the mode has a group, milliseconds of the warm-up, milliseconds of a slice
     */
    public static void main(String[] arguments) throws Exception {
        try (Chain chain =
                        new Chain(
                                Path.of(arguments[0]),
                                Integer.parseInt(arguments[1]),
                                Chain.Mode.valueOf(arguments[2]),
                                arguments[3]);
                BufferedReader in = TalkingProcess.lines()) {
            Histogram unused = slice(chain, Long.parseLong(arguments[4]));
            System.out.println("warm");
            while (in.readLine() != null) {
                double nanos = slice(chain, Long.parseLong(arguments[5])).getValueAtPercentile(50);
                chain.check();
                System.out.printf(Locale.ROOT, "millis %.6f%n", nanos / 1e6);
            }
        }
    }

    /** At least one request, however long it takes. */
    private static Histogram slice(Chain chain, long millis)
            throws IOException, InterruptedException, ExecutionException {
        Histogram latencies = new Histogram(LONGEST_NANOS, 3);
        long now = System.nanoTime();
        long end = now + millis * 1_000_000;
        do {
            chain.pass();
            long then = System.nanoTime();
            latencies.recordValue(Math.min(then - now, LONGEST_NANOS));
            now = then;
        } while (now < end);
        return latencies;
    }
}
