package io.saucr.tests.sim;

import io.saucr.tests.world.Step.Kind;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** What schedules have reached, so that a campaign that reaches nothing is seen. */
final class Coverage {
    private static final String NEED_NOT_SERVE = "ends that need not serve";
    private static final Kind[] KINDS = Kind.values();

    /** The simulator takes machines their power, never a process or a disk alone. */
    private static final Set<String> NEED_NOT_HAPPEN =
            Set.of(NEED_NOT_SERVE, name(Kind.KILL), name(Kind.LOSE_DISK));

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
    long partitions;
    long pauses;
    long slowDisks;
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
        partitions += other.partitions;
        pauses += other.pauses;
        slowDisks += other.slowDisks;
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
        counts.put("turns to fast", turnsToFast);
        counts.put("turns to slow", turnsToSlow);
        counts.put("syncs answered", syncs);
        counts.put("crashes in fast mode", fastCrashes);
        counts.put("crashes in the same instant as another", simultaneousCrashes);
        counts.put("crashes that leave a part", partialCrashes);
        counts.put("partitions", partitions);
        counts.put("pauses", pauses);
        counts.put("slow disks", slowDisks);
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
        coverage.turnsToFast = value(counts, "turns to fast");
        coverage.turnsToSlow = value(counts, "turns to slow");
        coverage.syncs = value(counts, "syncs answered");
        coverage.fastCrashes = value(counts, "crashes in fast mode");
        coverage.simultaneousCrashes = value(counts, "crashes in the same instant as another");
        coverage.partialCrashes = value(counts, "crashes that leave a part");
        coverage.partitions = value(counts, "partitions");
        coverage.pauses = value(counts, "pauses");
        coverage.slowDisks = value(counts, "slow disks");
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
     */
    String missing() {
        StringBuilder missing = new StringBuilder();
        counts().forEach(
                        (name, count) -> {
                            if (count == 0 && !NEED_NOT_HAPPEN.contains(name)) {
                                missing.append(missing.isEmpty() ? "" : ", ").append(name);
                            }
                        });
        return missing.toString();
    }

    private static String name(Kind kind) {
        return "step " + kind.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
