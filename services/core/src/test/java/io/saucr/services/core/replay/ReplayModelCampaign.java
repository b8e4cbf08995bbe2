package io.saucr.services.core.replay;

/** Every way through a world of any size, or many random worlds. */
final class ReplayModelCampaign {

    private ReplayModelCampaign() {}

    /**
     * Explores; ends the process, with 0 where there is no violation.
     *
     * @param arguments how many states at most, and the numbers and handlers of a size of {@link
     *     ReplayModelTest}; or {@code seeds}, the first seed, and how many; then the rule that is
     *     broken, {@code NOTHING} where it is not given
     */
    public static void main(String[] arguments) {
        Broken broken = arguments.length > 3 ? Broken.valueOf(arguments[3]) : Broken.NOTHING;
        if (arguments[0].equals("seeds")) {
            long first = Long.parseLong(arguments[1]);
            long last = first + Long.parseLong(arguments[2]);
            for (long seed = first; seed < last; seed++) {
                ReplayWorld world = ReplaySimulationTest.run(seed, broken);
                if (!world.violations.isEmpty()) {
                    System.out.println("seed " + seed + ": " + world.violations);
                    System.exit(1);
                }
            }
            System.out.printf("seeds %d to %d: no violation%n", first, last - 1);
            System.exit(0);
        }
        ReplayExplorer.Found found =
                new ReplayExplorer(
                                ReplayModelTest.size(arguments[1], arguments[2]),
                                broken,
                                Integer.parseInt(arguments[0]))
                        .explore();
        System.out.printf(
                "%,d states, %,d at rest: %s%n%s%n",
                found.states(),
                found.atRest(),
                found.violation() == null ? "no violation" : found.violation(),
                found.path());
        System.exit(found.violation() == null ? 0 : 1);
    }
}
