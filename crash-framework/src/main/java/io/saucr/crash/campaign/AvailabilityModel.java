package io.saucr.crash.campaign;

import io.saucr.ensemble.Majority;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Whether an ensemble with sealed views has to serve in a state, or may refuse because too many of
 * its servers lost what was in their memory. It follows a sequence state by state and knows the
 * rules alone, nothing of the servers' code:
 *
 * <ul>
 *   <li>Fast mode needs the acks of F (one more than a bare majority B) members of the sealed view,
 *       over the connections of the seal. Who loses power in fast mode may have lost its memory;
 *       who does in slow mode has lost nothing, nor has who stood still without a leader.
 *   <li>Where a majority serves, it seals a view of those that are up: at once if F members are no
 *       longer there or a new leader leads, some time later in fast mode.
 *   <li>A server that lost its memory recovers if a complete server has forced a newer seal than
 *       its own, or if |W| - F + 1 complete members of its own view W answer.
 *   <li>A majority of complete servers serves, and the other servers that are up recover from them.
 * </ul>
 *
 * <p>Where timing decides, every possibility is followed: whether a crash in fast mode took
 * anything, whether a view was sealed anew before the next failure, whether who returned had
 * recovered before it. An ensemble has to serve if it does in all of them. {@link #seen} leaves out
 * those that were not the case. A view of fewer servers than those up is not followed: a crash that
 * takes more than B of its members takes more than B of the larger one's.
 *
 * <p>Used by one thread.
 */
public final class AvailabilityModel {
    /** How much time there is between the failures of one step. */
    public enum Pace {
        AT_ONCE,
        /** Less than the others need to notice: one more may fail before they have. */
        OVERLAPPING,
        /** Enough for the others to notice and to force their logs, perhaps not for a seal. */
        NOTICED,
        /** Enough for a seal, too. */
        SEALED
    }

    /** Whether a state was seen to serve. */
    public enum Served {
        YES,
        NO,
        UNCERTAIN
    }

    /**
     * Of the state at one time.
     *
     * @param hadToServe false if it may refuse, also because no majority is up
     * @param why one sentence
     */
    public record Judgement(boolean hadToServe, String why) {}

    /** Seals are numbered in their order; the first view has none, and is all servers. */
    private record View(int seal, SortedSet<Integer> members) {
        @Override
        public String toString() {
            return members.stream().map(String::valueOf).collect(Collectors.joining(",", "{", "}"));
        }
    }

    /**
     * One possibility.
     *
     * @param lost servers without their memory, up or not
     * @param own the newest seal that each server forced itself
     * @param sealed members of the newest view who are connected as they were at its seal; empty
     *     while nobody leads
     */
    private record World(
            SortedSet<Integer> up,
            SortedSet<Integer> lost,
            Map<Integer, View> own,
            SortedSet<Integer> sealed,
            boolean serves) {
        SortedSet<Integer> complete() {
            return minus(up, lost);
        }

        SortedSet<Integer> recovering() {
            return intersection(up, lost);
        }

        View newest() {
            return own.values().stream().max(Comparator.comparingInt(View::seal)).orElseThrow();
        }

        World losing(Collection<Integer> others) {
            return new World(up, union(lost, others), own, sealed, serves);
        }

        World recovered(Collection<Integer> servers) {
            return new World(up, minus(lost, servers), own, sealed, serves);
        }

        World idle() {
            return new World(up, lost, own, new TreeSet<>(), false);
        }

        /** The view of those servers is sealed, and they are led. */
        World sealing(SortedSet<Integer> members) {
            Map<Integer, View> views = new TreeMap<>(own);
            View view = new View(newest().seal() + 1, members);
            members.forEach(id -> views.put(id, view));
            return new World(up, lost, views, members, true).compact();
        }

        /** The seals that somebody has, numbered without gaps, so that equal worlds are equal. */
        private World compact() {
            List<Integer> seals =
                    own.values().stream().map(View::seal).distinct().sorted().toList();
            Map<Integer, View> views = new TreeMap<>();
            own.forEach((id, v) -> views.put(id, new View(seals.indexOf(v.seal()), v.members())));
            return new World(up, lost, views, sealed, serves);
        }
    }

    private final int servers;
    private final Pace pace;
    private final boolean atRest;

    private ClusterState state;
    private boolean afterCrash;

    /** When the servers of the state have just failed or been started. */
    private Set<World> before;

    /** After the state has lasted. */
    private Set<World> worlds;

    /**
     * All servers serve.
     *
     * @param atRest whether everything is on disk before each step
     */
    public AvailabilityModel(int servers, Pace pace, boolean atRest) {
        this.servers = servers;
        this.pace = pace;
        this.atRest = atRest;
        this.state = ClusterState.all(servers);
        Map<Integer, View> own = new TreeMap<>();
        View all = new View(0, state.alive());
        state.alive().forEach(id -> own.put(id, all));
        this.before = Set.of(new World(state.alive(), new TreeSet<>(), own, state.alive(), true));
        this.worlds = before;
    }

    /** Of each state of a sequence, at its end. */
    public static List<Judgement> of(Sequence sequence, Pace pace) {
        AvailabilityModel model = new AvailabilityModel(sequence.servers(), pace, false);
        List<Judgement> judgements = new ArrayList<>();
        for (ClusterState each : sequence.states()) {
            model.enter(each);
            judgements.add(model.judgement());
        }
        return judgements;
    }

    /** The next state begins: servers fail, or return. */
    public void enter(ClusterState next) {
        SortedSet<Integer> victims = state.without(next);
        afterCrash = !victims.isEmpty();
        Set<World> entered = new LinkedHashSet<>();
        for (World world : worlds) {
            if (afterCrash) {
                entered.addAll(crash(world, victims));
            } else {
                entered.add(
                        new World(
                                next.alive(),
                                world.lost(),
                                world.own(),
                                world.sealed(),
                                world.serves()));
            }
        }
        state = next;
        before = entered;
        worlds = settled(before, new TreeSet<>(), true);
    }

    /**
     * What the state was like before it ended. Whatever contradicts it in the model is left out; if
     * everything does, nothing is.
     *
     * @param view members of the newest sealed view that a server of the state knows; empty if not
     *     all were asked
     * @param lagging servers that perhaps did not take part yet, and then have not recovered
     */
    public void seen(Served served, SortedSet<Integer> view, SortedSet<Integer> lagging) {
        Set<World> possible = new LinkedHashSet<>();
        if (served != Served.NO) {
            // A leader that survived a failure may not have sealed who is left: the view shows
            // that.
            possible.addAll(settled(before, lagging, view.isEmpty()));
            possible.addAll(settled(before, new TreeSet<>(), view.isEmpty()));
            possible.removeIf(world -> !world.serves());
        }
        if (served != Served.YES) {
            before.forEach(world -> possible.addAll(unserved(world)));
        }
        if (possible.isEmpty()) {
            return;
        }
        Set<World> ofView = new LinkedHashSet<>(possible);
        ofView.removeIf(
                world -> view.isEmpty() || !newestOf(world, world.up()).members().equals(view));
        worlds = ofView.isEmpty() ? possible : ofView;
    }

    /** Of the present state. */
    public Judgement judgement() {
        if (!state.hasMajorityOf(servers)) {
            return new Judgement(false, "no majority is up");
        }
        for (World world : worlds) {
            if (!world.serves()) {
                return new Judgement(false, whyItMayRefuse(world));
            }
        }
        World hardest =
                before.stream()
                        .min(Comparator.comparingInt(world -> world.complete().size()))
                        .orElseThrow();
        return new Judgement(true, whyItServes(hardest));
    }

    /**
     * Of the present state, in which nobody serves.
     *
     * @param recovering servers that say that they wait for others. To excuse the refusal they must
     *     have failed in a way that may take their memory, and none of them may have heard enough
     */
    public Judgement refusal(Collection<Integer> recovering) {
        for (World world : worlds) {
            if (!world.serves() && world.lost().containsAll(recovering)) {
                World told = world.recovered(minus(world.up(), recovering));
                boolean all = recoverable(told).isEmpty();
                if (all && told.complete().size() < majority()) {
                    return new Judgement(false, whyItMayRefuse(told));
                }
            }
        }
        Judgement judgement = judgement();
        return judgement.hadToServe() || !state.hasMajorityOf(servers)
                ? judgement
                : new Judgement(
                        true,
                        recovering.isEmpty()
                                ? "nobody says that it is recovering"
                                : "not all of "
                                        + servers(recovering)
                                        + " can lack what they wait for");
    }

    private int majority() {
        return Majority.of(servers);
    }

    /** F. */
    private int fastQuorum() {
        return majority() + 1;
    }

    private int answersNeeded(View view) {
        return Math.max(1, view.members().size() - fastQuorum() + 1);
    }

    // ---- Failures ----

    private Set<World> crash(World world, SortedSet<Integer> victims) {
        if (pace == Pace.AT_ONCE) {
            return cut(world, victims);
        }
        // By how many of them have failed.
        List<Set<World>> layers = new ArrayList<>(List.of(Set.of(world)));
        for (int failed = 1; failed <= victims.size(); failed++) {
            Set<World> layer = new LinkedHashSet<>();
            for (World each : layers.get(failed - 1)) {
                for (int victim : intersection(each.up(), victims)) {
                    layer.addAll(cut(each, new TreeSet<>(Set.of(victim))));
                }
            }
            if (pace == Pace.OVERLAPPING && failed > 1) {
                for (World each : layers.get(failed - 2)) {
                    pairs(intersection(each.up(), victims))
                            .forEach(pair -> layer.addAll(cut(each, pair)));
                }
            }
            layers.add(failed < victims.size() ? noticed(layer) : layer);
        }
        return layers.get(victims.size());
    }

    private static List<SortedSet<Integer>> pairs(SortedSet<Integer> of) {
        List<SortedSet<Integer>> result = new ArrayList<>();
        for (int one : of) {
            of.tailSet(one + 1).forEach(other -> result.add(new TreeSet<>(Set.of(one, other))));
        }
        return result;
    }

    /** These lose power at one instant: in fast mode perhaps with their memory. */
    private Set<World> cut(World world, SortedSet<Integer> victims) {
        World kept =
                new World(
                        minus(world.up(), victims),
                        world.lost(),
                        world.own(),
                        minus(world.sealed(), victims),
                        world.serves());
        Set<World> result = new LinkedHashSet<>(Set.of(kept));
        if (world.serves() && world.sealed().size() >= fastQuorum() && !atRest) {
            result.add(kept.losing(victims));
        }
        return result;
    }

    /** Between two failures of one step. */
    private Set<World> noticed(Set<World> begun) {
        Set<World> result = new LinkedHashSet<>();
        begun.forEach(world -> result.addAll(noticed(world)));
        return result;
    }

    private Set<World> noticed(World world) {
        if (pace == Pace.SEALED) {
            return settled(Set.of(world), new TreeSet<>(), true);
        }
        Set<World> result = new LinkedHashSet<>(Set.of(world.idle()));
        if (world.serves() && world.up().size() >= majority()) {
            result.add(world.sealing(world.up()));
            if (world.sealed().size() >= fastQuorum()) {
                result.add(world);
            }
        }
        return result;
    }

    // ---- A state lasts ----

    /**
     * @param noticed whether who has failed is sealed out in slow mode, and not only about to be
     */
    private Set<World> settled(Set<World> begun, SortedSet<Integer> lagging, boolean noticed) {
        Set<World> result = new LinkedHashSet<>();
        begun.forEach(world -> result.addAll(settled(world, lagging, noticed)));
        return result;
    }

    private Set<World> settled(World world, SortedSet<Integer> lagging, boolean noticed) {
        if (world.up().size() < majority()) {
            return partlyRecovered(world.idle());
        }
        World most = world;
        for (SortedSet<Integer> more = recoverable(most);
                !more.isEmpty();
                more = recoverable(most)) {
            most = most.recovered(more);
        }
        if (most.complete().size() < majority()) {
            return Set.of(most.idle());
        }
        SortedSet<Integer> part = minus(world.up(), lagging);
        if (part.size() < majority()) {
            part = world.up();
        }
        World served = world.recovered(part);
        Set<World> result = new LinkedHashSet<>();
        // A leader continues in fast mode while F members of its view are there, and waits a little
        // before it seals who came.
        if (world.serves() && (!noticed || !afterCrash || world.sealed().size() >= fastQuorum())) {
            result.add(served);
        }
        result.add(served.sealing(part));
        return result;
    }

    /** A majority is up, and yet nobody was seen to serve. */
    private Set<World> unserved(World world) {
        Set<World> result = new LinkedHashSet<>();
        for (World each : partlyRecovered(world.idle())) {
            result.add(each);
            if (each.complete().size() >= majority()) {
                result.add(each.sealing(each.complete()).idle());
            }
        }
        return result;
    }

    /** This world, and all in which more servers have recovered. */
    private Set<World> partlyRecovered(World world) {
        Set<World> result = new LinkedHashSet<>();
        List<World> left = new ArrayList<>(List.of(world));
        while (!left.isEmpty()) {
            World each = left.remove(left.size() - 1);
            if (result.add(each)) {
                recoverable(each).forEach(id -> left.add(each.recovered(Set.of(id))));
            }
        }
        return result;
    }

    /** Who has heard enough from those who are complete. */
    private SortedSet<Integer> recoverable(World world) {
        SortedSet<Integer> complete = world.complete();
        SortedSet<Integer> result = new TreeSet<>(world.recovering());
        result.removeIf(
                id -> {
                    View own = world.own().get(id);
                    boolean newer =
                            complete.stream()
                                    .anyMatch(each -> world.own().get(each).seal() > own.seal());
                    int answers = intersection(complete, own.members()).size();
                    return !newer && answers < answersNeeded(own);
                });
        return result;
    }

    // ---- Words ----

    private static View newestOf(World world, Collection<Integer> of) {
        return of.stream()
                .map(world.own()::get)
                .max(Comparator.comparingInt(View::seal))
                .orElseThrow();
    }

    private String whyItMayRefuse(World world) {
        SortedSet<Integer> recovering = world.recovering();
        if (recovering.isEmpty()) {
            return "nobody was seen to serve";
        }
        View view = newestOf(world, recovering);
        SortedSet<Integer> without = intersection(recovering, view.members());
        SortedSet<Integer> down = minus(view.members(), world.up());
        SortedSet<Integer> complete = intersection(world.complete(), view.members());
        int needed = answersNeeded(view);
        return String.format(
                Locale.ROOT,
                "%d of the %d members of the view %s lost what was in memory (%s)%s%s: a recovery"
                        + " needs %s, and %s complete",
                without.size(),
                view.members().size(),
                view,
                servers(without),
                without.size() > majority()
                        ? ", more than a bare majority (" + majority() + ")"
                        : "",
                down.isEmpty() ? "" : ", and " + are(down) + " down",
                needed == 1 ? "one complete member" : needed + " complete members",
                complete.isEmpty() ? "none is" : "only " + are(complete));
    }

    private String whyItServes(World world) {
        SortedSet<Integer> complete = world.complete();
        SortedSet<Integer> recovering = world.recovering();
        if (recovering.isEmpty() || complete.size() >= majority()) {
            return servers(complete) + ", a majority, lost nothing";
        }
        View view = newestOf(world, recovering);
        View newest = complete.isEmpty() ? view : newestOf(world, complete);
        if (newest.seal() > view.seal()) {
            Predicate<Integer> has = id -> world.own().get(id).equals(newest);
            return String.format(
                    Locale.ROOT,
                    "%s lost what was in memory, as of the view %s, but the newer view %s is known"
                            + " to %s",
                    servers(recovering),
                    view,
                    newest,
                    servers(complete.stream().filter(has).toList()));
        }
        SortedSet<Integer> without = intersection(recovering, view.members());
        return String.format(
                Locale.ROOT,
                "%d of the %d members of the view %s lost what was in memory (%s), not more than a"
                        + " bare majority (%d): %s enough for a recovery",
                without.size(),
                view.members().size(),
                view,
                servers(without),
                majority(),
                are(intersection(complete, view.members())));
    }

    private static String are(Collection<Integer> servers) {
        return servers(servers) + (servers.size() == 1 ? " is" : " are");
    }

    /** {@code server 1}, or {@code servers 1, 2 and 3}. */
    private static String servers(Collection<Integer> servers) {
        List<String> names = servers.stream().sorted().map(String::valueOf).toList();
        if (names.size() <= 1) {
            return "server " + String.join("", names);
        }
        return "servers "
                + String.join(", ", names.subList(0, names.size() - 1))
                + " and "
                + names.get(names.size() - 1);
    }

    private static SortedSet<Integer> minus(Collection<Integer> set, Collection<Integer> without) {
        SortedSet<Integer> result = new TreeSet<>(set);
        result.removeAll(without);
        return Collections.unmodifiableSortedSet(result);
    }

    private static SortedSet<Integer> union(Collection<Integer> set, Collection<Integer> more) {
        SortedSet<Integer> result = new TreeSet<>(set);
        result.addAll(more);
        return Collections.unmodifiableSortedSet(result);
    }

    private static SortedSet<Integer> intersection(
            Collection<Integer> set, Collection<Integer> other) {
        SortedSet<Integer> result = new TreeSet<>(set);
        result.retainAll(other);
        return Collections.unmodifiableSortedSet(result);
    }
}
