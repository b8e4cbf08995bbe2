package io.saucr.services.core;

import io.saucr.services.core.ServiceWorld.Broken;
import java.util.List;
import java.util.Optional;

/** Many seeded runs of services and clients; ends with the first violation and shows it. */
final class ServiceCampaign implements Seeds.Campaign {

    private final int steps;
    private final Optional<ServiceGroup.Broken> group;
    private long consumed;
    private long crashes;
    private long halts;
    private long diverged;

    private ServiceCampaign(int steps, Optional<ServiceGroup.Broken> group) {
        this.steps = steps;
        this.group = group;
    }

    /**
     * Runs; exit code 1 where something was violated.
     *
     * @param arguments how many runs; the first seed, 0 where it is not given; the steps of a run;
     *     {@code group} for runs with a group
     */
    public static void main(String[] arguments) {
        int steps = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 200;
        Optional<ServiceGroup.Broken> group =
                arguments.length > 3 ? Optional.of(ServiceGroup.Broken.NOTHING) : Optional.empty();
        Seeds.campaign(
                Long.parseLong(arguments[0]),
                arguments.length > 1 ? Long.parseLong(arguments[1]) : 0,
                new ServiceCampaign(steps, group));
    }

    @Override
    public List<String> violations(long seed) {
        ServiceWorld world = new ServiceWorld(seed, Broken.NOTHING, group, false);
        world.run(steps);
        consumed += world.consumed;
        crashes += world.crashes;
        halts += world.halts;
        diverged += world.diverged ? 1 : 0;
        return world.violations;
    }

    @Override
    public String trace(long seed) {
        ServiceWorld world = new ServiceWorld(seed, Broken.NOTHING, group, true);
        try {
            world.run(steps);
        } catch (RuntimeException e) {
            e.printStackTrace(System.out);
        }
        return world.toString();
    }

    @Override
    public String counts() {
        return String.format(
                "%,d messages consumed, %,d crashes, %,d halts, %,d ended as two folders of one"
                        + " service were heard",
                consumed, crashes, halts, diverged);
    }
}
