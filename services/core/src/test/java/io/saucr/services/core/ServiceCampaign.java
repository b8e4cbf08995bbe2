package io.saucr.services.core;

import io.saucr.services.core.ServiceWorld.Broken;
import java.util.Optional;

/** Many seeded runs of services and clients; ends with the first violation and shows it. */
final class ServiceCampaign {

    private static final int EACH_SHOWN = 20_000;

    private ServiceCampaign() {}

    /**
     * Runs; exit code 1 where something was violated.
     *
     * @param arguments how many runs; the first seed, 0 where it is not given; the steps of a run;
     *     {@code group} for runs with a group
     */
    public static void main(String[] arguments) {
        long runs = Long.parseLong(arguments[0]);
        long first = arguments.length > 1 ? Long.parseLong(arguments[1]) : 0;
        int steps = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 200;
        Optional<ServiceGroup.Broken> group =
                arguments.length > 3 ? Optional.of(ServiceGroup.Broken.NOTHING) : Optional.empty();
        long begun = System.nanoTime();
        long consumed = 0;
        long crashes = 0;
        long halts = 0;
        long diverged = 0;
        for (long seed = first; seed < first + runs; seed++) {
            ServiceWorld world = run(seed, steps, group, false);
            if (!world.violations.isEmpty()) {
                System.out.println("seed " + seed + "\n" + run(seed, steps, group, true));
                System.exit(1);
            }
            consumed += world.consumed;
            crashes += world.crashes;
            halts += world.halts;
            diverged += world.diverged ? 1 : 0;
            if ((seed - first + 1) % EACH_SHOWN == 0 || seed == first + runs - 1) {
                System.out.printf(
                        "%,d runs in %d s: %,d messages consumed, %,d crashes, %,d halts,"
                                + " %,d ended as two folders of one service were heard,"
                                + " no violation%n",
                        seed - first + 1,
                        (System.nanoTime() - begun) / 1_000_000_000,
                        consumed,
                        crashes,
                        halts,
                        diverged);
            }
        }
    }

    private static ServiceWorld run(
            long seed, int steps, Optional<ServiceGroup.Broken> group, boolean tracing) {
        ServiceWorld world = new ServiceWorld(seed, Broken.NOTHING, group, tracing);
        try {
            world.run(steps);
        } catch (RuntimeException e) {
            if (tracing) {
                e.printStackTrace(System.out);
            }
            world.violations.add(e.toString());
        }
        return world;
    }
}
