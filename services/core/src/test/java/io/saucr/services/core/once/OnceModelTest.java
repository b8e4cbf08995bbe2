package io.saucr.services.core.once;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.core.once.OnceModel.Bounds;
import io.saucr.services.core.once.OnceModel.Broken;
import io.saucr.services.core.once.OnceModel.Kind;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Every way through small worlds, with the rules as they are and with each of them left out. {@link
 * OnceModelCampaign} takes larger ones.
 */
class OnceModelTest {

    private static final int MOST_STATES = 100_000;

    /** Small worlds, each about one kind of trouble. */
    enum World {
        /** Requests of a broken connection arrive late, behind those of the next one. */
        CUTS,
        /** The client dies, and what it had sent is still on its way. */
        DEATHS,
        /** The client before goes on beside its successor. */
        ZOMBIES,
        /** One of a batch is refused, for a while. */
        REFUSALS,
        /** The only one is refused, and so is its successor, until it is not. */
        LOST_REFUSALS,
        /** A sequential create before another operation; a stranger makes one, too. */
        CHILDREN,
        /** Two sequential creates; their client dies twice. */
        CHILDREN_AND_DEATHS,
        /** Versions wrap, and one is refused just then. */
        WRAPS,
        /** Something beside the chain has an open outcome. */
        DISTURBANCES,
        /** Somebody deletes the marker. */
        DELETIONS,
        /** The ensemble is restored from a backup. */
        RESTORES,
        /** The client is started on an old copy of its folder. */
        OLD_FOLDERS,
    }

    static Bounds bounds(World world) {
        Set<Integer> none = Set.of();
        return switch (world) {
            case CUTS -> new Bounds(2, none, none, limits(1), Map.of(Kind.CUT, 2));
            case DEATHS -> new Bounds(2, none, none, limits(1), Map.of(Kind.CUT, 1, Kind.KILL, 1));
            case ZOMBIES -> new Bounds(2, none, none, limits(2), Map.of(Kind.ZOMBIE, 1));
            case REFUSALS ->
                    new Bounds(3, none, Set.of(2), limits(2), Map.of(Kind.KILL, 1, Kind.HEAL, 1));
            case LOST_REFUSALS ->
                    new Bounds(
                            1,
                            none,
                            Set.of(1),
                            limits(1),
                            Map.of(Kind.CUT, 1, Kind.KILL, 1, Kind.HEAL, 1));
            case CHILDREN ->
                    new Bounds(
                            2,
                            Set.of(1),
                            none,
                            limits(1),
                            Map.of(Kind.CUT, 1, Kind.KILL, 1, Kind.STRANGER, 1));
            case CHILDREN_AND_DEATHS ->
                    new Bounds(2, Set.of(1, 2), none, limits(1), Map.of(Kind.KILL, 2));
            case WRAPS -> new Bounds(5, none, Set.of(4), limits(1), Map.of());
            case DISTURBANCES ->
                    new Bounds(
                            3,
                            Set.of(2),
                            Set.of(1),
                            limits(1),
                            Map.of(Kind.DISTURB, 2, Kind.HEAL, 1));
            case DELETIONS ->
                    new Bounds(2, none, none, limits(1), Map.of(Kind.KILL, 1, Kind.DELETE, 1));
            case RESTORES ->
                    new Bounds(
                            2,
                            none,
                            none,
                            limits(1),
                            Map.of(Kind.KILL, 1, Kind.BACKUP, 1, Kind.RESTORE, 1));
            case OLD_FOLDERS ->
                    new Bounds(
                            2,
                            none,
                            none,
                            limits(1),
                            Map.of(Kind.COPY_FOLDER, 1, Kind.OLD_FOLDER, 1));
        };
    }

    private static MarkerChain.Limits limits(int batch) {
        return new MarkerChain.Limits(2, batch, 1000, 2, OnceModel.WRAPS_AT, 2);
    }

    @ParameterizedTest
    @EnumSource
    void everyWayKeepsThePromise(World world) {
        OnceExplorer.Found found =
                new OnceExplorer(MOST_STATES).explore(new OnceModel(bounds(world), Broken.NOTHING));
        assertThat(found.violation()).as(found.path().toString()).isNull();
        assertThat(found.atRest()).isPositive();
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NOTHING")
    void eachBrokenRuleIsNoticed(Broken broken) {
        World world = noticing(broken);
        OnceExplorer.Found found =
                new OnceExplorer(MOST_STATES).explore(new OnceModel(bounds(world), broken));
        assertThat(found.violation()).isNotNull().doesNotContain("states");
    }

    /** The world that must notice; others may, too. */
    private static World noticing(Broken broken) {
        return switch (broken) {
            case NOTHING -> throw new IllegalArgumentException("nothing to notice");
            case E1_UNFORCED, E5_NOT_REPLACED -> World.DEATHS;
            case E2_UNCHAINED,
                    E3_BUMPED,
                    E3_SAME_NAME,
                    E3_ANY_PARENT,
                    E3_ANY_VERSION,
                    E4_NOT_CONSUMED ->
                    World.CUTS;
            case E3_NOT_HANDED_ON, E4_TOLD_EARLY, E4_FORGOTTEN -> World.REFUSALS;
            case E5_ANY_NONCE -> World.ZOMBIES;
            case E6_FOLLOWED, E6_NEWEST_CHILD, E6_NOT_HANDED_ON -> World.CHILDREN;
            case E8_NOT_REPLACED -> World.WRAPS;
            case E9_GONE -> World.DELETIONS;
            case E9_BEHIND -> World.RESTORES;
            case E9_AHEAD -> World.OLD_FOLDERS;
        };
    }

    @Test
    void aChainIsCopiedWhole() {
        OnceModel model = new OnceModel(bounds(World.CHILDREN), Broken.NOTHING);
        for (int i = 0; i < 40 && !model.events().isEmpty(); i++) {
            assertThat(model.copy().print()).isEqualTo(model.print());
            model.take(model.events().get(0));
        }
    }
}
