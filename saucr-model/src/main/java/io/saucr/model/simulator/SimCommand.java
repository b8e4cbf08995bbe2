package io.saucr.model.simulator;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.saucr.model.cluster.BrokenRule;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command line of the simulator. */
@Command(
        name = "saucr-sim",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Runs random schedules of ensembles made of the server's own decisions: writes,"
                    + " crashes, deaths, lost disks, partitions, recoveries; and looks after every step whether the"
                    + " protocol's promises hold.",
            "Exit status: 0 if nothing was broken (with --break and --break-all: if every rule was"
                    + " found), 1 if something was, 2 for bad usage."
        })
public final class SimCommand implements Callable<Integer> {
    private static final ObjectMapper JSON =
            new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    /** Fewer schedules may miss something by chance. */
    private static final long COVERS_EVERYTHING = 5_000;

    @Option(
            names = "-n",
            split = ",",
            defaultValue = "3,4,5,6,7",
            description = "Numbers of voters, 3 to 7; the seed decides which (${DEFAULT-VALUE}).")
    private int[] sizes;

    @Option(names = "--count", description = "Stop after this many schedules.")
    private Long count;

    @Option(
            names = "--time",
            description = "Stop after this time: 90s, 20m, 2h. Without it and --count: 60s.",
            converter = TimeConverter.class)
    private Duration time;

    @Option(
            names = "--seed",
            description = "The first seed (default: one that nobody has used, from the clock).")
    private Long seed;

    @Option(
            names = "--power-alone",
            description =
                    "Machines lose power, but no process dies and no disk is lost alone: what a"
                            + " seed meant before R25 and R26.")
    private boolean powerAlone;

    @Option(
            names = "--modes",
            description =
                    "Also, operators forbid fast mode, and leaders hold proposals back, miss"
                            + " heartbeats of single followers, and stand still.")
    private boolean withModes;

    @Option(names = "--cores", description = "How many cores work (default: all).")
    private int cores = Runtime.getRuntime().availableProcessors();

    @Option(
            names = "--state",
            description = "A file that keeps the next seed and the totals: continue where it ends.")
    private Path state;

    @Option(names = "--save", description = "A folder for scenario files of what is found.")
    private Path save;

    @Option(names = "--json", description = "A file for the summary.")
    private Path json;

    @Option(
            names = "--break",
            split = ",",
            description =
                    "Break these rules in the simulated cluster, each alone, until that is seen:"
                            + " ${COMPLETION-CANDIDATES}.")
    private List<BrokenRule> broken = List.of();

    @Option(names = "--break-all", description = "Break every rule, as with --break.")
    private boolean breakAll;

    @Spec private CommandSpec spec;

    private final boolean terminal = Boolean.getBoolean("saucr.sim.terminal");

    /** Reads 90s, 20m, 2h. */
    private static final class TimeConverter implements CommandLine.ITypeConverter<Duration> {
        @Override
        public Duration convert(String text) {
            try {
                return Duration.parse("PT" + text.toUpperCase(Locale.ROOT));
            } catch (java.time.format.DateTimeParseException e) {
                throw new CommandLine.TypeConversionException(
                        "'" + text + "' is no time: 90s, 20m, 2h");
            }
        }
    }

    /** See the options. */
    public static void main(String[] args) {
        System.exit(new CommandLine(new SimCommand()).execute(args));
    }

    @Override
    public Integer call() throws Exception {
        for (int size : sizes) {
            if (size < 3 || size > 7) {
                throw new ParameterException(
                        spec.commandLine(), "-n " + size + ": ensembles have 3 to 7 voters");
            }
        }
        if (cores < 1) {
            throw new ParameterException(spec.commandLine(), "--cores " + cores + ": at least 1");
        }
        if (count == null && time == null) {
            time = Duration.ofSeconds(60);
        }
        if (save != null) {
            Files.createDirectories(save);
        }
        if (breakAll) {
            broken = List.of(BrokenRule.values());
        }
        return broken.isEmpty() ? campaign() : showThatBrokenRulesAreFound();
    }

    // ---- The protocol as it is ----

    private int campaign() throws IOException, InterruptedException {
        long first = seed != null ? seed : System.currentTimeMillis() << 20;
        Coverage before = new Coverage();
        double secondsBefore = 0;
        if (state != null && Files.exists(state)) {
            SavedState saved = JSON.readValue(state.toFile(), SavedState.class);
            if (!Arrays.equals(saved.sizes(), sizes)) {
                throw new ParameterException(
                        spec.commandLine(),
                        state + " is of a campaign with -n " + Arrays.toString(saved.sizes()));
            }
            first = saved.nextSeed();
            before = Coverage.of(saved.counts());
            secondsBefore = saved.seconds();
        }
        System.err.println("seeds from " + first + " on, n=" + Arrays.toString(sizes));
        long startedAt = System.nanoTime();
        List<Campaign.Found> found = new ArrayList<>();
        try (Campaign campaign =
                new Campaign(sizes, Set.of(), powerAlone, withModes, cores, first, before)) {
            while (found.isEmpty()) {
                double seconds = seconds(startedAt);
                long done = campaign.nextSeed() - first;
                if ((count != null && done >= count)
                        || (time != null && seconds >= time.toMillis() / 1e3)) {
                    break;
                }
                found = campaign.round(count == null ? Long.MAX_VALUE : count - done);
                Coverage coverage = campaign.coverage();
                seconds = seconds(startedAt);
                if (state != null) {
                    write(
                            state,
                            new SavedState(
                                    sizes,
                                    campaign.nextSeed(),
                                    secondsBefore + seconds,
                                    coverage.counts()));
                }
                progress(campaign.nextSeed() - first, seconds, coverage);
            }
            return report(first, campaign, found, seconds(startedAt), secondsBefore);
        }
    }

    /**
     * What a campaign needs to continue.
     *
     * @param counts as {@link Coverage#counts()}
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record SavedState(int[] sizes, long nextSeed, double seconds, Map<String, Long> counts) {}

    private void progress(long done, double seconds, Coverage coverage) {
        if (!terminal) {
            return;
        }
        double left = Double.MAX_VALUE;
        if (count != null) {
            left = (count - done) * seconds / done;
        }
        if (time != null) {
            left = Math.min(left, time.toMillis() / 1e3 - seconds);
        }
        System.err.printf(
                "\r%,d schedules, %,.0f/s, %,d recoveries, %,d fast commits, %,.0f s left   ",
                coverage.schedules,
                done / seconds,
                coverage.of(io.saucr.model.cluster.Step.Kind.FINISH),
                coverage.fastCommits,
                Math.max(0, left));
    }

    private int report(
            long first,
            Campaign campaign,
            List<Campaign.Found> found,
            double seconds,
            double secondsBefore)
            throws IOException {
        if (terminal) {
            System.err.println();
        }
        Coverage coverage = campaign.coverage();
        long done = campaign.nextSeed() - first;
        Map<String, Object> summary = new LinkedHashMap<>();
        summary.put("sizes", sizes);
        summary.put("firstSeed", first);
        summary.put("nextSeed", campaign.nextSeed());
        summary.put("seconds", seconds);
        summary.put("secondsOfEarlierRuns", secondsBefore);
        summary.put("cores", cores);
        summary.put("schedulesPerSecondAndCore", done / seconds / cores);
        summary.put("schedulesPerCpuSecond", done / (campaign.cpuNanos() / 1e9));
        summary.put("counts", coverage.counts());
        List<Map<String, Object>> violations = new ArrayList<>();
        for (Campaign.Found each : found) {
            violations.add(describe(each, Set.of()));
        }
        summary.put("violations", violations);
        String missing =
                coverage.schedules < COVERS_EVERYTHING
                        ? ""
                        : coverage.missing(powerAlone, withModes);
        summary.put("neverReached", missing);
        System.out.println(JSON.writeValueAsString(summary));
        if (json != null) {
            write(json, summary);
        }
        if (!missing.isEmpty()) {
            System.err.println("The campaign is worth nothing: it never reached: " + missing);
        }
        System.err.printf(
                "%,d schedules, seeds %d to %d, in %.0f s: %s%n",
                done,
                first,
                campaign.nextSeed() - 1,
                seconds,
                found.isEmpty() ? "nothing broken" : found.size() + " broke something");
        return found.isEmpty() && missing.isEmpty() ? 0 : 1;
    }

    /** Shrinks, prints and saves. */
    private Map<String, Object> describe(Campaign.Found found, Set<BrokenRule> rules)
            throws IOException {
        Replay replay = new Replay(found.servers(), rules);
        int[] shrunk = replay.shrink(found.steps());
        String what = found.broken() + ": " + replay.explanation();
        String scenario =
                Replay.scenario(
                        found.servers(),
                        rules,
                        shrunk,
                        "Seed " + found.seed() + ", " + shrunk.length + " steps. " + what);
        PrintStream out = System.err;
        out.println();
        out.print(scenario);
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("servers", found.servers());
        result.put("seed", found.seed());
        result.put("broken", found.broken());
        result.put("explanation", replay.explanation());
        result.put("steps", found.steps().length);
        result.put("shrunkSteps", shrunk.length);
        if (save != null) {
            String rule = rules.isEmpty() ? "" : rules.iterator().next() + "-";
            Path file = save.resolve(rule + "n" + found.servers() + "-" + found.seed() + ".txt");
            Files.writeString(file, scenario);
            result.put("scenario", file.toString());
        }
        return result;
    }

    // ---- Broken rules ----

    private int showThatBrokenRulesAreFound() throws IOException, InterruptedException {
        long first = seed != null ? seed : 0;
        Map<String, Object> results = new LinkedHashMap<>();
        boolean all = true;
        for (BrokenRule rule : broken) {
            Map<String, Object> result = showTooth(rule, first);
            all &= result.containsKey("seed");
            results.put(rule.name(), result);
            System.err.println(rule + ": " + result);
            if (json != null) {
                write(json, results);
            }
        }
        System.out.println(JSON.writeValueAsString(results));
        return all ? 0 : 1;
    }

    private Map<String, Object> showTooth(BrokenRule rule, long first)
            throws IOException, InterruptedException {
        Set<BrokenRule> rules = EnumSet.of(rule);
        long startedAt = System.nanoTime();
        try (Campaign campaign =
                new Campaign(sizes, rules, powerAlone, withModes, cores, first, new Coverage())) {
            List<Campaign.Found> found = List.of();
            while (found.isEmpty()
                    && (count == null || campaign.nextSeed() - first < count)
                    && (time == null || seconds(startedAt) < time.toMillis() / 1e3)) {
                found =
                        campaign.round(
                                count == null
                                        ? Long.MAX_VALUE
                                        : count - (campaign.nextSeed() - first));
            }
            Map<String, Object> result = new LinkedHashMap<>();
            result.put("schedules", campaign.nextSeed() - first);
            result.put("seconds", seconds(startedAt));
            if (!found.isEmpty()) {
                result.put("schedules", found.get(0).seed() - first + 1);
                result.putAll(describe(found.get(0), rules));
            }
            return result;
        }
    }

    private static double seconds(long startedAt) {
        return (System.nanoTime() - startedAt) / 1e9;
    }

    private static void write(Path file, Object value) throws IOException {
        Path next = file.resolveSibling(file.getFileName() + ".new");
        JSON.writeValue(next.toFile(), value);
        Files.move(next, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    }
}
