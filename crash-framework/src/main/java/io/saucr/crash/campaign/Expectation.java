package io.saucr.crash.campaign;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Something that must hold of every sequence of a kind, and the sequences in which it did not.
 *
 * @param claim in words
 * @param cases sequences that it is about
 * @param broken those in which it did not hold
 */
public record Expectation(String claim, int cases, List<Outcome> broken) {
    private static final long ELECTION_MILLIS = 3000;

    public Expectation {
        broken = List.copyOf(broken);
    }

    public boolean held() {
        return broken.isEmpty();
    }

    /** What the systems promise, as far as there are sequences that put it to the test. */
    public static List<Expectation> of(List<Outcome> outcomes) {
        Predicate<Outcome> saucr = system("saucr");
        Predicate<Outcome> disk = system("zk-disk");
        Predicate<Outcome> memory = system("zk-mem");
        Predicate<Outcome> young = outcome -> outcome.plan().contains("young");
        Predicate<Outcome> idle = outcome -> outcome.plan().contains("idle");
        Predicate<Outcome> atOnce = outcome -> outcome.plan().startsWith("simultaneous");
        Predicate<Outcome> processes = outcome -> outcome.plan().startsWith("processes");
        Predicate<Outcome> views = outcome -> outcome.model() != null;
        Predicate<Outcome> lost = outcome -> outcome.verdict() == Verdict.DATA_LOSS;
        Predicate<Outcome> unexplained = outcome -> outcome.verdict() == Verdict.UNAVAILABLE;
        Predicate<Outcome> servesNobody = outcome -> outcome.verdict().servesNobody();
        List<Expectation> all = new ArrayList<>();
        all.add(check("saucr loses no acknowledged write", outcomes, saucr, lost));
        all.add(
                check(
                        "saucr, servers failing one by one: serves in the end",
                        outcomes,
                        saucr.and(atOnce.or(processes).negate()),
                        servesNobody));
        all.add(
                check(
                        "saucr, servers failing at one instant: serves in the end, unless fewer are"
                                + " recovered than a recovery needs",
                        outcomes,
                        saucr.and(atOnce).and(views.negate()),
                        unexplained));
        all.add(
                check(
                        "saucr with sealed views: serves wherever the model of views says that it"
                                + " has to",
                        outcomes,
                        saucr.and(views),
                        unexplained));
        all.add(
                check(
                        "saucr, idle before each failure: serves in the end",
                        outcomes,
                        saucr.and(idle),
                        servesNobody));
        all.add(
                check(
                        "saucr, processes dying at one instant: serves every time",
                        outcomes,
                        saucr.and(processes),
                        outcome -> outcome.verdict() != Verdict.CORRECT));
        all.add(
                check(
                        "saucr, processes dying at one instant: serves within the time of a normal"
                                + " start",
                        outcomes,
                        saucr.and(processes),
                        Expectation::startsLate));
        all.add(
                check(
                        "zk-disk: correct",
                        outcomes,
                        disk.and(young.negate()),
                        outcome -> outcome.verdict() != Verdict.CORRECT));
        all.add(
                check(
                        "zk-disk, young: loses nothing, and fails only to start without its first"
                                + " snapshot",
                        outcomes,
                        disk.and(young),
                        lost.or(unexplained.and(o -> !o.firstSnapshotGone()))));
        all.add(
                check(
                        "zk-mem loses nothing while no majority of the servers that were up had"
                                + " lost its memory",
                        outcomes,
                        memory.and(o -> !o.lossPossible()),
                        lost));
        all.removeIf(expectation -> expectation.cases() == 0);
        return all;
    }

    /**
     * Whether a start took too long: more than twice as long as the slower one of two normal
     * starts, the first, which finds no data, and the one after an orderly stop, which finds all of
     * it. One election more or less makes no difference.
     */
    private static boolean startsLate(Outcome outcome) {
        List<Long> times = outcome.startMillis();
        if (times.isEmpty()) {
            return false;
        }
        List<Long> orderly = outcome.orderlyStartMillis();
        long normal =
                Stream.concat(times.stream().limit(1), orderly.stream())
                        .max(Long::compare)
                        .orElseThrow();
        long limit = 2 * normal + ELECTION_MILLIS;
        return Stream.concat(times.stream(), orderly.stream())
                .anyMatch(millis -> millis < 0 || millis > limit);
    }

    private static Predicate<Outcome> system(String name) {
        return outcome -> outcome.system().equals(name);
    }

    private static Expectation check(
            String claim,
            List<Outcome> outcomes,
            Predicate<Outcome> about,
            Predicate<Outcome> broken) {
        List<Outcome> cases = outcomes.stream().filter(about).toList();
        return new Expectation(claim, cases.size(), cases.stream().filter(broken).toList());
    }
}
