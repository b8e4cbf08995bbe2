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
        new StandbyModel(StandbyModel.Size.of(Arrays.copyOfRange(numbers, 1, 9)), broken)
                .exploration()
                .exploreAndExit(numbers[0]);
    }
}
