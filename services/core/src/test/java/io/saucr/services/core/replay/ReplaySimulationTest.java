package io.saucr.services.core.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.core.replay.ReplayWorld.Size;
import io.saucr.services.core.replay.ReplayWorld.Step;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Thousands of seeded schedules of generated handlers, and each rule left out in turn. */
class ReplaySimulationTest {

    private static final int RUNS = 2_000;
    private static final int MOST_STEPS = 5_000;

    /** So many steps may have faults; then all comes to its end. */
    private static final int STEPS_WITH_FAULTS = 250;

    private static Size size(Random random) {
        int lanes = 2 + random.nextInt(2);
        List<List<List<Op>>> channels = new ArrayList<>();
        for (int channel = 0; channel < 4; channel++) {
            List<List<Op>> handlers = new ArrayList<>();
            for (int count = 1 + random.nextInt(2); count > 0; count--) {
                // One lane is left for those that do not await.
                handlers.add(Op.handler(random, channel < lanes - 1));
            }
            channels.add(handlers);
        }
        // More than once, as a request may be killed after too many failures.
        channels.add(Collections.nCopies(5, Op.signalAll()));
        return new Size(3, lanes, channels, 2, 2, 2, MOST_STEPS);
    }

    /** Runs a world to its end. */
    static ReplayWorld run(long seed, Broken broken) {
        Random random = new Random(seed);
        ReplayWorld world = new ReplayWorld(size(random), broken);
        for (int count = 0; world.violations.isEmpty(); count++) {
            List<Step> steps = new ArrayList<>(world.steps());
            boolean faults = count < STEPS_WITH_FAULTS && random.nextInt(30) == 0;
            if (steps.stream().allMatch(Step::isFault)) {
                world.checkRest();
                return world;
            }
            steps.removeIf(it -> it.isFault() != faults);
            if (count > MOST_STEPS) {
                world.violations.add("no end after " + count + " steps: " + steps);
            } else if (!steps.isEmpty()) {
                world.take(steps.get(random.nextInt(steps.size())));
            }
        }
        return world;
    }

    @Test
    void allMembersReachThePrimarysState() {
        List<Integer> seen = new ArrayList<>(Collections.nCopies(6, 0));
        for (long seed = 0; seed < RUNS; seed++) {
            ReplayWorld world = run(seed, Broken.NOTHING);
            assertThat(world.violations).as("seed " + seed).isEmpty();
            seen.set(0, seen.get(0) + world.segments());
            seen.set(1, seen.get(1) + world.poisoned);
            seen.set(2, seen.get(2) + world.killedInside);
            seen.set(3, seen.get(3) + world.killedBefore);
            seen.set(4, seen.get(4) + world.raised);
            seen.set(5, seen.get(5) + world.kept);
        }
        assertThat(seen).allMatch(it -> it > 20);
    }

    /** Handlers with a data race, on two members that do not fail. */
    private static List<String> racing(long seed, Broken broken) {
        Random random = new Random(seed);
        List<List<List<Op>>> channels = new ArrayList<>();
        for (int channel = 0; channel < 4; channel++) {
            List<Op> lines = Op.handler(random, false);
            lines.removeIf(it -> it.kind() == Op.Kind.POISON);
            lines.add(0, Op.of(Op.Kind.CALL, Op.STRIPES + channel % 2));
            lines.add(1, Op.of(Op.Kind.RACE));
            channels.add(List.of(lines));
        }
        ReplayWorld world = new ReplayWorld(new Size(2, 3, channels, 0, 0, 0, 1000), broken);
        while (world.violations.isEmpty()) {
            List<Step> steps = world.steps();
            if (steps.isEmpty()) {
                world.checkRest();
                return world.violations;
            }
            world.take(steps.get(random.nextInt(steps.size())));
        }
        return world.violations;
    }

    private static List<String> unseen(List<String> violations) {
        return violations.stream().filter(it -> it.contains(" differ: ")).toList();
    }

    @Test
    void x14ARaceThatReachesTheStateOrAReplyIsFound() {
        int found = 0;
        for (long seed = 0; seed < RUNS; seed++) {
            List<String> violations = racing(seed, Broken.NOTHING);
            assertThat(unseen(violations)).as("seed " + seed).isEmpty();
            found += violations.size();
        }
        assertThat(found).isGreaterThan(RUNS / 10);
    }

    /** All but one, which {@link ReplayModelTest} breaks: few schedules notice it. */
    static List<Broken> rules() {
        return Arrays.stream(Broken.values())
                .filter(it -> it != Broken.NOTHING && it != Broken.X9_WAITER_NOT_WOKEN)
                .toList();
    }

    @ParameterizedTest
    @MethodSource("rules")
    void eachBrokenRuleIsNoticed(Broken broken) {
        for (long seed = 0; seed < RUNS; seed++) {
            boolean missed =
                    broken == Broken.X14_BYTES_NOT_COMPARED
                            ? !unseen(racing(seed, broken)).isEmpty()
                            : !run(seed, broken).violations.isEmpty();
            if (missed) {
                return;
            }
        }
        throw new AssertionError("nobody noticed in " + RUNS + " runs");
    }
}
