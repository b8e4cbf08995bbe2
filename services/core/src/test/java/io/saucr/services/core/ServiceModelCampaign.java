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
        new ServiceModel(
                        new ServiceModel.Size(
                                Integer.parseInt(arguments[0]),
                                Integer.parseInt(arguments[1]),
                                Integer.parseInt(arguments[2])),
                        ServiceWorld.Broken.NOTHING)
                .exploration()
                .exploreAndExit(Integer.parseInt(arguments[3]));
    }
}
