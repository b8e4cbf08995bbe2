package io.saucr.services.bench;

import java.io.BufferedReader;
import java.nio.file.Path;
import java.util.Locale;
import org.HdrHistogram.Histogram;

/**
 * {@link Travel} in a process of its own. It says {@code warm} once it runs and its code is
 * compiled. For each line that it is sent it books one trip after the other, then several at once,
 * and says median and 99th percentile in milliseconds and trips in a second, a line each; it ends
 * when that stream does.
 */
final class DseProcess {

    private DseProcess() {}

    /**
     * Measures.
     *
     * @param arguments folder, number of stores, a {@link Chain.Mode}, servers of an ensemble, how
     *     many book at once, milliseconds of the warm-up, milliseconds of a slice
     */
    public static void main(String[] arguments) throws Exception {
        int callers = Integer.parseInt(arguments[4]);
        long warmUp = Long.parseLong(arguments[5]);
        long slice = Long.parseLong(arguments[6]);
        try (Travel travel =
                        new Travel(
                                Path.of(arguments[0]),
                                Integer.parseInt(arguments[1]),
                                Chain.Mode.valueOf(arguments[2]),
                                arguments[3]);
                BufferedReader in = TalkingProcess.lines()) {
            Histogram unused = travel.oneByOne(warmUp / 2);
            double unusedRate = travel.atOnce(callers, warmUp / 2);
            System.out.println("warm");
            while (in.readLine() != null) {
                Histogram latencies = travel.oneByOne(slice / 2);
                double rate = travel.atOnce(callers, slice / 2);
                travel.check();
                System.out.printf(
                        Locale.ROOT,
                        "median %.6f%nmost %.6f%nrate %.3f%n",
                        latencies.getValueAtPercentile(50) / 1e6,
                        latencies.getValueAtPercentile(99) / 1e6,
                        rate);
            }
        }
    }
}
