package io.saucr.services.core;

/** Every way through a world of any size. */
final class ServiceModelCampaign {

    private ServiceModelCampaign() {}

    /**
     * Explores.
     *
     * @param arguments messages, crashes, cuts, and how many states at most
     */
    public static void main(String[] arguments) {
        long begun = System.nanoTime();
        ServiceModel.Found found =
                new ServiceModel(
                                new ServiceModel.Size(
                                        Integer.parseInt(arguments[0]),
                                        Integer.parseInt(arguments[1]),
                                        Integer.parseInt(arguments[2])),
                                ServiceWorld.Broken.NOTHING)
                        .explore(Integer.parseInt(arguments[3]));
        System.out.printf(
                "%,d states, %,d at rest, in %d s: %s%n%s%n",
                found.states(),
                found.atRest(),
                (System.nanoTime() - begun) / 1_000_000_000,
                found.violation() == null ? "no violation" : found.violation(),
                String.join("\n", found.path()));
        System.exit(found.violation() == null ? 0 : 1);
    }
}
