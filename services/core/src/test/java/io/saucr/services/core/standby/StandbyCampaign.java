package io.saucr.services.core.standby;

import io.saucr.services.core.standby.StandbyWorld.Broken;

/** Many seeded runs of a service with standbys; ends with the first violation and shows it. */
final class StandbyCampaign {

    private static final int EACH_SHOWN = 20_000;

    private StandbyCampaign() {}

    /**
     * Runs; exit code 1 where something was violated.
     *
     * @param arguments how many runs; the first seed, 0 where it is not given; the rule that is
     *     broken, none where it is not given
     */
    public static void main(String[] arguments) {
        long runs = Long.parseLong(arguments[0]);
        long first = arguments.length > 1 ? Long.parseLong(arguments[1]) : 0;
        Broken broken = arguments.length > 2 ? Broken.valueOf(arguments[2]) : Broken.NOTHING;
        long begun = System.nanoTime();
        long written = 0;
        long read = 0;
        long takeovers = 0;
        long handovers = 0;
        long lost = 0;
        long early = 0;
        long announced = 0;
        long namedInStore = 0;
        long loaded = 0;
        for (long seed = first; seed < first + runs; seed++) {
            StandbyWorld world = run(seed, broken, false);
            if (!world.violations.isEmpty()
                    || (broken == Broken.NOTHING && !world.stalls.isEmpty())) {
                run(seed, broken, true).trace.forEach(System.out::println);
                System.out.println("seed " + seed + ": " + world.violations + world.stalls);
                System.exit(1);
            }
            written += world.written;
            read += world.read;
            takeovers += world.takeovers;
            handovers += world.handovers;
            lost += world.lost;
            early += world.early;
            announced += world.announced;
            namedInStore += world.namedInStore;
            loaded += world.loaded;
            if ((seed - first + 1) % EACH_SHOWN == 0 || seed == first + runs - 1) {
                System.out.printf(
                        "%,d runs in %d s: %,d turns, %,d reads, %,d takeovers, %,d handovers,"
                                + " %,d services lost with all copies; %,d early replies, %,d"
                                + " announced as lost; %,d heads of a store, %,d segments loaded"
                                + " from one; no violation%n",
                        seed - first + 1,
                        (System.nanoTime() - begun) / 1_000_000_000,
                        written,
                        read,
                        takeovers,
                        handovers,
                        lost,
                        early,
                        announced,
                        namedInStore,
                        loaded);
            }
        }
    }

    private static StandbyWorld run(long seed, Broken broken, boolean tracing) {
        StandbyWorld world = new StandbyWorld(seed, broken, tracing);
        try {
            world.run();
        } catch (RuntimeException e) {
            if (tracing) {
                world.trace.add(e.toString());
                for (StackTraceElement each : e.getStackTrace()) {
                    world.trace.add("    " + each);
                }
            }
            world.violations.add(e.toString());
        }
        return world;
    }
}
