package io.saucr.services.testkit;

import io.saucr.services.turns.TurnOptions;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Runs a scenario again and again, and crashes one service between two steps, another one at each
 * run, so that each of them crashes before each step once. A crashed one starts again at once. What
 * the scenario then checks has to hold at all of these points. Partitions crash alone, and all of a
 * service at once. Clients do not crash.
 */
public final class CrashPoints {

    /** A crash before a step. */
    record Plan(long step, String process) {

        static final Plan NONE = new Plan(Long.MAX_VALUE, "");

        void crash(Map<String, List<TestService>> processes) {
            List<TestService> up =
                    processes.getOrDefault(process, List.of()).stream()
                            .filter(TestService::isUp)
                            .toList();
            up.forEach(TestService::crash);
            up.forEach(TestService::start);
        }
    }

    private CrashPoints() {}

    /**
     * Runs the scenario without a crash, and then with one at each point.
     *
     * @param seed of all runs
     * @param scenario makes services and clients in the world, calls, {@linkplain TestWorld#run
     *     runs} and checks
     * @return how many crashes there were
     * @throws AssertionError with the point, where the scenario throws something
     */
    public static int everywhere(long seed, Consumer<TestWorld> scenario) {
        return everywhere(seed, TurnOptions.standard(), scenario);
    }

    /**
     * The same with other options.
     *
     * @param options of all services and clients
     * @return how many crashes there were
     */
    public static int everywhere(long seed, TurnOptions options, Consumer<TestWorld> scenario) {
        TestWorld calm = new TestWorld(seed, options);
        scenario.accept(calm);
        int crashes = 0;
        for (String process : calm.processes().keySet()) {
            for (long step = 0; step < calm.steps(); step++) {
                TestWorld world = new TestWorld(seed, options);
                world.plan(new Plan(step, process));
                try {
                    scenario.accept(world);
                } catch (RuntimeException | AssertionError e) {
                    throw new AssertionError(
                            "with a crash of %s before step %s (seed %s): %s"
                                    .formatted(process, step, seed, e.getMessage()),
                            e);
                }
                crashes++;
            }
        }
        return crashes;
    }
}
