package io.saucr.services.tests.standby;

import io.saucr.services.Client;
import io.saucr.services.Services;
import io.saucr.services.tests.crash.Member;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/**
 * A state that members have before anything happens to them, and the JVMs that hold it: options of
 * campaigns. Used by one thread.
 */
final class Filling {

    private static final int TURN_BYTES = 1 << 20;

    /** So many turns at most are under way. */
    private static final int AHEAD = 4;

    private static final int LEAST_BYTES = 32;
    private static final int MOST_BYTES = 1 << 20;
    private static final long PATIENCE_SECONDS = 120;

    /** For members with an empty state. */
    private static final long SMALL_SECONDS = 60;

    @Option(
            names = "--entries",
            description =
                    "that the state has beside the registers, before anything happens; preset:"
                            + " ${DEFAULT-VALUE}")
    private long entries;

    @Option(names = "--bytes", description = "of each of them; preset: ${DEFAULT-VALUE}")
    private int bytes = 100;

    @Option(
            names = "--jvm",
            split = ",",
            description =
                    "options of the members' JVMs, as -Xmx4g,-XX:+UseG1GC; preset: ${DEFAULT-VALUE}")
    private List<String> jvm = Member.SMALL_JVM;

    /** Fails where that is not allowed; the message says what is. */
    void check(CommandLine command) {
        if (entries < 0 || bytes < LEAST_BYTES || bytes > MOST_BYTES) {
            throw new CommandLine.ParameterException(
                    command,
                    "--entries is 0 or more, --bytes is " + LEAST_BYTES + " to " + MOST_BYTES);
        }
    }

    long entries() {
        return entries;
    }

    int bytes() {
        return bytes;
    }

    List<String> jvm() {
        return jvm;
    }

    /** So long a member may take until it has everything. */
    long patienceSeconds() {
        return SMALL_SECONDS + entries * bytes / (2 << 20);
    }

    /** Gives the service these entries; says how far it is. */
    void fill(String place) throws Exception {
        if (entries == 0) {
            return;
        }
        int together = Math.max(1, TURN_BYTES / bytes);
        ArrayDeque<CompletableFuture<Registers.Filled>> asked = new ArrayDeque<>();
        long begun = System.nanoTime();
        long told = begun;
        try (Client client = Services.at(place).client("fills")) {
            for (long from = 0; from < entries; from += together) {
                int count = (int) Math.min(together, entries - from);
                asked.add(
                        client.ask(new Registers.Fill(from, count, bytes), Registers.Filled.class));
                while (asked.size() > (from + count < entries ? AHEAD : 0)) {
                    Registers.Filled unused =
                            asked.remove().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
                }
                if (System.nanoTime() - told > TimeUnit.SECONDS.toNanos(5)) {
                    told = System.nanoTime();
                    System.out.printf("%,d of %,d entries are there%n", from + count, entries);
                }
            }
        }
        System.out.printf(
                "%,d entries of %,d bytes are there after %d s%n",
                entries, bytes, TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begun));
    }

    /**
     * Whether the service has all of them still.
     *
     * @throws IOException where it does not answer
     */
    boolean isThere(String place) throws Exception {
        if (entries == 0) {
            return true;
        }
        try (Client client = Services.at(place).client()) {
            long there =
                    client.ask(new Registers.HowMany(), Registers.Filled.class)
                            .get(PATIENCE_SECONDS, TimeUnit.SECONDS)
                            .entries();
            if (there != entries) {
                System.out.printf("%,d entries are there, and there were %,d%n", there, entries);
            }
            return there == entries;
        }
    }
}
