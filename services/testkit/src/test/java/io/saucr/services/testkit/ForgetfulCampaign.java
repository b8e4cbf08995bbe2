package io.saucr.services.testkit;

import java.io.IOException;

/** Many seeded schedules of {@link ForgetfulTest}; ends with the first that differs. */
final class ForgetfulCampaign {

    private static final int EACH_SHOWN = 10_000;

    private ForgetfulCampaign() {}

    /**
     * Runs; a schedule that fails ends it with its seed.
     *
     * @param arguments how many schedules; the first seed, 0 where it is not given
     */
    public static void main(String[] arguments) throws IOException {
        long runs = Long.parseLong(arguments[0]);
        long first = arguments.length > 1 ? Long.parseLong(arguments[1]) : 0;
        long begun = System.nanoTime();
        long undone = 0;
        for (long seed = first; seed < first + runs; seed++) {
            undone += ForgetfulTest.run(seed);
            long done = seed - first + 1;
            if (done % EACH_SHOWN == 0 || done == runs) {
                System.out.printf(
                        "%,d schedules from seed %,d in %d s: %,d lives from memory, each equal to"
                                + " one from disk%n",
                        done, first, (System.nanoTime() - begun) / 1_000_000_000, undone);
            }
        }
    }
}
