package io.saucr.services.core.standby;

import io.saucr.services.core.standby.StandbyWorld.Broken;
import java.util.Arrays;

/** Every way through a world of any size. */
final class StandbyModelCampaign {

    private StandbyModelCampaign() {}

    /**
     * Explores.
     *
     * @param arguments how many states at most; then what {@link StandbyModel.Size} has, in its
     *     order; then the rule that is broken, none where it is not given
     */
    public static void main(String[] arguments) {
        int[] numbers = Arrays.stream(arguments).limit(9).mapToInt(Integer::parseInt).toArray();
        Broken broken = arguments.length > 9 ? Broken.valueOf(arguments[9]) : Broken.NOTHING;
        long begun = System.nanoTime();
        StandbyModel.Found found =
                new StandbyModel(
                                new StandbyModel.Size(
                                        numbers[1],
                                        numbers[2],
                                        numbers[3],
                                        numbers[4],
                                        numbers[5],
                                        numbers[6],
                                        numbers[7],
                                        numbers[8]),
                                broken)
                        .explore(numbers[0]);
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
