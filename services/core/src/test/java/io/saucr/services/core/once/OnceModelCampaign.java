package io.saucr.services.core.once;

import io.saucr.services.core.once.OnceModel.Bounds;
import io.saucr.services.core.once.OnceModel.Broken;
import io.saucr.services.core.once.OnceModel.Kind;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Every way through larger worlds than those of {@link OnceModelTest}; takes long, and memory. */
final class OnceModelCampaign {

    private static final Set<Integer> NONE = Set.of();

    private static final List<Bounds> WORLDS =
            List.of(
                    new Bounds(3, NONE, NONE, limits(1), Map.of(Kind.CUT, 2, Kind.KILL, 1)),
                    new Bounds(3, NONE, Set.of(2), limits(2), Map.of(Kind.CUT, 2, Kind.HEAL, 1)),
                    new Bounds(2, NONE, NONE, limits(1), Map.of(Kind.CUT, 1, Kind.ZOMBIE, 2)),
                    new Bounds(3, Set.of(2), NONE, limits(2), Map.of(Kind.CUT, 1, Kind.KILL, 2)),
                    new Bounds(
                            2,
                            NONE,
                            Set.of(1),
                            limits(1),
                            Map.of(Kind.CUT, 1, Kind.KILL, 1, Kind.HEAL, 1, Kind.DISTURB, 1)),
                    new Bounds(
                            2,
                            NONE,
                            NONE,
                            limits(1),
                            Map.of(
                                    Kind.CUT,
                                    1,
                                    Kind.KILL,
                                    1,
                                    Kind.BACKUP,
                                    1,
                                    Kind.RESTORE,
                                    1,
                                    Kind.COPY_FOLDER,
                                    1,
                                    Kind.OLD_FOLDER,
                                    1)));

    private OnceModelCampaign() {}

    private static MarkerChain.Limits limits(int batch) {
        return new MarkerChain.Limits(2, batch, 1000, 2, OnceModel.WRAPS_AT, 2);
    }

    /**
     * Explores.
     *
     * @param args how many states each world may have at most, or nothing for 5 million
     */
    public static void main(String[] args) {
        int most = args.length == 0 ? 5_000_000 : Integer.parseInt(args[0]);
        for (Bounds bounds : WORLDS) {
            OnceExplorer.Found found =
                    new OnceExplorer(most).explore(new OnceModel(bounds, Broken.NOTHING));
            System.out.println(bounds + "\n    " + found);
            if (found.violation() != null) {
                System.exit(1);
            }
        }
    }
}
