package io.saucr.services.core;

/** Many seeded runs of services and clients; ends with the first violation and shows it. */
final class ServiceCampaign {

    private ServiceCampaign() {}

    /**
     * Runs.
     *
     * @param arguments how many runs; the first seed, 0 where it is not given; the steps of a run
     */
    public static void main(String[] arguments) {
        long runs = Long.parseLong(arguments[0]);
        long first = arguments.length > 1 ? Long.parseLong(arguments[1]) : 0;
        int steps = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 200;
        long begun = System.nanoTime();
        long consumed = 0;
        long crashes = 0;
        long halts = 0;
        for (long seed = first; seed < first + runs; seed++) {
            ServiceWorld world = new ServiceWorld(seed, ServiceWorld.Broken.NOTHING);
            try {
                world.run(steps);
            } catch (RuntimeException e) {
                e.printStackTrace();
                world.violations.add(e.toString());
            }
            if (!world.violations.isEmpty()) {
                System.out.println("seed " + seed + "\n" + world);
                System.exit(1);
            }
            consumed += world.consumed;
            crashes += world.crashes;
            halts += world.halts;
            if ((seed - first + 1) % 20_000 == 0 || seed == first + runs - 1) {
                System.out.printf(
                        "%,d runs in %d s: %,d messages consumed, %,d crashes, %,d halts, no violation%n",
                        seed - first + 1,
                        (System.nanoTime() - begun) / 1_000_000_000,
                        consumed,
                        crashes,
                        halts);
            }
        }
    }
}
