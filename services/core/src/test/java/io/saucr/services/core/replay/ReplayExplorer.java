package io.saucr.services.core.replay;

import io.saucr.services.core.replay.ReplayWorld.Size;
import io.saucr.services.core.replay.ReplayWorld.Step;
import io.saucr.services.core.replay.ReplayWorld.Step.Kind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Takes every way through a {@link ReplayWorld}, each state once; of a state it keeps a hash of 64
 * bits. A world can not be copied: to come back to a state, its steps are taken again. One thread.
 */
final class ReplayExplorer {

    /** In place of a violation. */
    static final String MORE_STATES = "more states than allowed";

    /**
     * What was found.
     *
     * @param states that differ
     * @param atRest those in which all is done
     * @param violation the first one, or null
     * @param path that leads to it
     */
    record Found(int states, int atRest, String violation, List<Step> path) {}

    private final Size size;
    private final Broken broken;
    private final int mostStates;
    private final Set<Long> seen = new HashSet<>();
    private int atRest;

    ReplayExplorer(Size size, Broken broken, int mostStates) {
        this.size = size;
        this.broken = broken;
        this.mostStates = mostStates;
    }

    Found explore() {
        List<Step> path = new ArrayList<>();
        Deque<Deque<Step>> left = new ArrayDeque<>();
        ReplayWorld world = new ReplayWorld(size, broken);
        left.push(enter(world));
        boolean isThere = true;
        while (!left.isEmpty()) {
            Step step = left.peek().poll();
            if (step == null) {
                left.pop();
                if (!path.isEmpty()) {
                    path.remove(path.size() - 1);
                }
                isThere = false;
                continue;
            }
            if (!isThere) {
                world = new ReplayWorld(size, broken);
                path.forEach(world::take);
            }
            world.take(step);
            path.add(step);
            isThere = true;
            boolean isNew = seen.add(hash(world.toString()));
            if (isNew && world.violations.isEmpty()) {
                left.push(enter(world));
            }
            if (!world.violations.isEmpty()) {
                return new Found(seen.size(), atRest, world.violations.get(0), path);
            }
            if (seen.size() > mostStates) {
                return new Found(seen.size(), atRest, MORE_STATES, path);
            }
            if (!isNew) {
                path.remove(path.size() - 1);
                isThere = false;
            }
        }
        return new Found(seen.size(), atRest, null, List.of());
    }

    private Deque<Step> enter(ReplayWorld world) {
        List<Step> steps = world.steps();
        if (steps.stream().allMatch(Step::isFault)) {
            atRest++;
            world.checkRest();
        }
        return new ArrayDeque<>(firstFollower(steps));
    }

    /**
     * Followers replay at once what they have, in every order of their lanes: that nothing else
     * happens in between leaves out ways that differ in no member, but for faults.
     */
    private static List<Step> firstFollower(List<Step> steps) {
        for (Step step : steps) {
            boolean inEveryOrder = step.kind() == Kind.LANE && step.follows();
            if (step.kind() == Kind.FOLLOW
                    || step.kind() == Kind.BARRIER
                    || step.kind() == Kind.TURN
                    || inEveryOrder) {
                return steps.stream()
                        .filter(
                                it ->
                                        it.isFault()
                                                || it.equals(step)
                                                || (inEveryOrder
                                                        && it.kind() == Kind.LANE
                                                        && it.member() == step.member()))
                        .toList();
            }
        }
        return steps;
    }

    private static long hash(String text) {
        long hash = 0x9e3779b97f4a7c15L;
        for (int i = 0; i < text.length(); i++) {
            hash = Long.rotateLeft(hash ^ text.charAt(i), 23) * 0xff51afd7ed558ccdL;
        }
        return hash ^ (hash >>> 29);
    }
}
