package io.saucr.bench.result;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What a result was measured on. Immutable.
 *
 * @param program the commit of the source tree that the program was started from, if known
 * @param memoryBytes of the machine
 * @param load the load average of the last minute when the run began
 */
public record Machine(
        String program,
        String system,
        String java,
        int processors,
        String processor,
        long memoryBytes,
        double load) {

    /** The machine that this program runs on; what it does not tell stays empty. */
    public static Machine here() {
        return new Machine(
                System.getProperty("saucr.bench.commit", ""),
                System.getProperty("os.name")
                        + " "
                        + System.getProperty("os.version")
                        + " "
                        + System.getProperty("os.arch"),
                System.getProperty("java.vm.name") + " " + System.getProperty("java.version"),
                Runtime.getRuntime().availableProcessors(),
                line("/proc/cpuinfo", "model name").replaceFirst("^.*:\\s*", ""),
                1024 * number(line("/proc/meminfo", "MemTotal")),
                loadAverage());
    }

    private static String line(String file, String key) {
        try {
            return Files.readAllLines(Path.of(file)).stream()
                    .filter(line -> line.startsWith(key))
                    .findFirst()
                    .orElse("");
        } catch (IOException e) {
            return "";
        }
    }

    private static long number(String line) {
        String digits = line.replaceAll("\\D", "");
        return digits.isEmpty() ? 0 : Long.parseLong(digits);
    }

    private static double loadAverage() {
        String line = line("/proc/loadavg", "");
        return line.isEmpty() ? 0 : Double.parseDouble(line.substring(0, line.indexOf(' ')));
    }

    @Override
    public String toString() {
        return "%s x %s, %s GB, %s, %s, load %s"
                .formatted(
                        processors,
                        processor,
                        Numbers.number(memoryBytes / 1e9),
                        system,
                        java,
                        load);
    }
}
