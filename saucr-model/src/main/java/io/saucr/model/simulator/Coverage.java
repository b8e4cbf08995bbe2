package io.saucr.model.simulator;

import io.saucr.model.cluster.Step.Kind;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** What schedules have reached, so that a campaign that reaches nothing is seen. */
final class Coverage {
    private static final String NEED_NOT_SERVE = "ends that need not serve";
    private static final Kind[] KINDS = Kind.values();

    private static final String TOGETHER = "deaths in the same instant as another";
    private static final String ALL_TOGETHER = "deaths of all processes in one instant";
    private static final String FAST_DEATHS = "deaths in fast mode";
    private static final String PARTIAL_DEATHS = "deaths that leave a part of the buffer";
    private static final String POWER_AFTER = "losses of power after a death";
    private static final String DISKS_RECOVERED = "lost disks recovered";
    private static final String HAND_OVERS = "hand-overs";

    /**
     * What does not happen where machines lose their power, but never a process or a disk alone.
     */
    private static final Set<String> NOT_BY_POWER =
            Set.of(
                    TOGETHER,
                    ALL_TOGETHER,
                    FAST_DEATHS,
                    PARTIAL_DEATHS,
                    POWER_AFTER,
                    DISKS_RECOVERED,
                    name(Kind.KILL),
                    name(Kind.KILL_JOINING),
                    name(Kind.LOSE_DISK));

    /** What happens on demand alone. */
    private static final Set<String> OF_MODES =
            Set.of(
                    HAND_OVERS,
                    name(Kind.PIN),
                    name(Kind.UNPIN),
                    name(Kind.DRAIN),
                    name(Kind.DRAIN_ENDS),
                    name(Kind.MISS),
                    name(Kind.PONG),
                    name(Kind.PAUSE));

    final long[] steps = new long[KINDS.length];
    long schedules;
    long fastCommits;
    long slowCommits;
    long turnsToFast;
    long turnsToSlow;
    long syncs;
    long simultaneousCrashes;
    long partialCrashes;
    long fastCrashes;
    long simultaneousDeaths;
    long deathsOfAll;
    long fastDeaths;
    long partialDeaths;
    long powerAfterDeath;
    long disksRecovered;
    long partitions;
    long pauses;
    long slowDisks;
    long handOvers;
    long fairRuns;
    long unavailable;

    void add(Coverage other) {
        for (int i = 0; i < steps.length; i++) {
            steps[i] += other.steps[i];
        }
        schedules += other.schedules;
        fastCommits += other.fastCommits;
        slowCommits += other.slowCommits;
        turnsToFast += other.turnsToFast;
        turnsToSlow += other.turnsToSlow;
        syncs += other.syncs;
        simultaneousCrashes += other.simultaneousCrashes;
        partialCrashes += other.partialCrashes;
        fastCrashes += other.fastCrashes;
        simultaneousDeaths += other.simultaneousDeaths;
        deathsOfAll += other.deathsOfAll;
        fastDeaths += other.fastDeaths;
        partialDeaths += other.partialDeaths;
        powerAfterDeath += other.powerAfterDeath;
        disksRecovered += other.disksRecovered;
        partitions += other.partitions;
        pauses += other.pauses;
        slowDisks += other.slowDisks;
        handOvers += other.handOvers;
        fairRuns += other.fairRuns;
        unavailable += other.unavailable;
    }

    /** How often each thing happened, by its name. */
    Map<String, Long> counts() {
        Map<String, Long> counts = new LinkedHashMap<>();
        counts.put("schedules", schedules);
        counts.put("steps", total());
        counts.put("fast commits", fastCommits);
        counts.put("slow commits", slowCommits);
        counts.put("switches to fast", turnsToFast);
        counts.put("switches to slow", turnsToSlow);
        counts.put("syncs answered", syncs);
        counts.put("crashes in fast mode", fastCrashes);
        counts.put("crashes in the same instant as another", simultaneousCrashes);
        counts.put("crashes that leave a part", partialCrashes);
        counts.put(FAST_DEATHS, fastDeaths);
        counts.put(TOGETHER, simultaneousDeaths);
        counts.put(ALL_TOGETHER, deathsOfAll);
        counts.put(PARTIAL_DEATHS, partialDeaths);
        counts.put(POWER_AFTER, powerAfterDeath);
        counts.put(DISKS_RECOVERED, disksRecovered);
        counts.put("partitions", partitions);
        counts.put("pauses", pauses);
        counts.put("slow disks", slowDisks);
        counts.put(HAND_OVERS, handOvers);
        counts.put("ends that served again", fairRuns);
        counts.put(NEED_NOT_SERVE, unavailable);
        for (Kind kind : KINDS) {
            counts.put(name(kind), of(kind));
        }
        return counts;
    }

    /** Reads what {@link #counts()} says. */
    static Coverage of(Map<String, Long> counts) {
        Coverage coverage = new Coverage();
        coverage.schedules = value(counts, "schedules");
        coverage.fastCommits = value(counts, "fast commits");
        coverage.slowCommits = value(counts, "slow commits");
        coverage.turnsToFast = value(counts, "switches to fast");
        coverage.turnsToSlow = value(counts, "switches to slow");
        coverage.syncs = value(counts, "syncs answered");
        coverage.fastCrashes = value(counts, "crashes in fast mode");
        coverage.simultaneousCrashes = value(counts, "crashes in the same instant as another");
        coverage.partialCrashes = value(counts, "crashes that leave a part");
        coverage.fastDeaths = value(counts, FAST_DEATHS);
        coverage.simultaneousDeaths = value(counts, TOGETHER);
        coverage.deathsOfAll = value(counts, ALL_TOGETHER);
        coverage.partialDeaths = value(counts, PARTIAL_DEATHS);
        coverage.powerAfterDeath = value(counts, POWER_AFTER);
        coverage.disksRecovered = value(counts, DISKS_RECOVERED);
        coverage.partitions = value(counts, "partitions");
        coverage.pauses = value(counts, "pauses");
        coverage.slowDisks = value(counts, "slow disks");
        coverage.handOvers = value(counts, HAND_OVERS);
        coverage.fairRuns = value(counts, "ends that served again");
        coverage.unavailable = value(counts, NEED_NOT_SERVE);
        for (int i = 0; i < KINDS.length; i++) {
            coverage.steps[i] = value(counts, name(KINDS[i]));
        }
        return coverage;
    }

    private static long value(Map<String, Long> counts, String name) {
        Long value = counts.get(name);
        if (value == null) {
            throw new IllegalArgumentException(
                    "the state file lacks the number of \"" + name + '"');
        }
        return value;
    }

    /** How often a step of this kind was taken. */
    @SuppressWarnings("EnumOrdinal") // counts are kept by name
    long of(Kind kind) {
        return steps[kind.ordinal()];
    }

    @SuppressWarnings("EnumOrdinal")
    void took(Kind kind) {
        steps[kind.ordinal()]++;
    }

    long total() {
        long total = 0;
        for (long each : steps) {
            total += each;
        }
        return total;
    }

    /**
     * What never happened of what should have, "" if nothing is missing. To be asked after a few
     * thousand schedules of an unbroken protocol.
     *
     * @param powerAlone whether no process dies and no disk is lost alone
     * @param withModes whether leaders are pinned, hold back, miss heartbeats and stand still
     */
    String missing(boolean powerAlone, boolean withModes) {
        StringBuilder missing = new StringBuilder();
        counts().forEach(
                        (name, count) -> {
                            boolean needed =
                                    !name.equals(NEED_NOT_SERVE)
                                            && !(powerAlone && NOT_BY_POWER.contains(name))
                                            && (withModes || !OF_MODES.contains(name));
                            if (count == 0 && needed) {
                                missing.append(missing.isEmpty() ? "" : ", ").append(name);
                            }
                        });
        return missing.toString();
    }

    private static String name(Kind kind) {
        return "step " + kind.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
