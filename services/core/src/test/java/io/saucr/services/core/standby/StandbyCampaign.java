package io.saucr.services.core.standby;

import io.saucr.services.core.Seeds;
import io.saucr.services.core.standby.StandbyWorld.Broken;
import java.util.ArrayList;
import java.util.List;

/** Many seeded runs of a service with standbys; ends with the first violation and shows it. */
final class StandbyCampaign implements Seeds.Campaign {

    private final Broken broken;
    private long written;
    private long read;
    private long takeovers;
    private long handovers;
    private long lost;
    private long early;
    private long announced;
    private long namedInStore;
    private long loaded;

    private StandbyCampaign(Broken broken) {
        this.broken = broken;
    }

    /**
     * Runs; exit code 1 where something was violated.
     *
     * @param arguments how many runs; the first seed, 0 where it is not given; the rule that is
     *     broken, none where it is not given
     */
    public static void main(String[] arguments) {
        Seeds.campaign(
                Long.parseLong(arguments[0]),
                arguments.length > 1 ? Long.parseLong(arguments[1]) : 0,
                new StandbyCampaign(
                        arguments.length > 2 ? Broken.valueOf(arguments[2]) : Broken.NOTHING));
    }

    @Override
    public List<String> violations(long seed) {
        StandbyWorld world = new StandbyWorld(seed, broken, false);
        world.run();
        written += world.written;
        read += world.read;
        takeovers += world.takeovers;
        handovers += world.handovers;
        lost += world.lost;
        early += world.early;
        announced += world.announced;
        namedInStore += world.namedInStore;
        loaded += world.loaded;
        List<String> all = new ArrayList<>(world.violations);
        if (broken == Broken.NOTHING) {
            all.addAll(world.stalls);
        }
        return all;
    }

    @Override
    public String trace(long seed) {
        StandbyWorld world = new StandbyWorld(seed, broken, true);
        try {
            world.run();
        } catch (RuntimeException e) {
            e.printStackTrace(System.out);
        }
        return String.join("\n", world.trace);
    }

    @Override
    public String counts() {
        return String.format(
                "%,d turns, %,d reads, %,d takeovers, %,d handovers, %,d services lost with all"
                        + " copies; %,d early replies, %,d announced as lost; %,d heads of a store,"
                        + " %,d segments loaded from one",
                written, read, takeovers, handovers, lost, early, announced, namedInStore, loaded);
    }
}
