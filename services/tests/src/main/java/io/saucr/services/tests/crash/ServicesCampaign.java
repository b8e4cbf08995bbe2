package io.saucr.services.tests.crash;

import io.saucr.crash.fault.Backend;
import io.saucr.crash.fault.Enclosure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * A payer, a payee and their client as processes on machines that are broken: first at each place
 * of {@link CrashRows.Row}, then for a while by kills, power cuts, standstills and cut links, at
 * random moments that a seed gives. At the end all is healed, and what is left is judged: each
 * move, timer, call and write once, in order, no cent lost, nothing seen that is not there.
 */
@Command(
        name = "saucr-services-crash",
        mixinStandardHelpOptions = true,
        description =
                "Kills services and cuts their power at each place that matters, then at random;"
                        + " ends with 1 after a violation.")
public final class ServicesCampaign implements Callable<Integer> {

    private static final int LONGEST_PAUSE_MILLIS = 1_500;
    private static final int LONGEST_FAULT_MILLIS = 3_000;
    private static final int LAST_MOVES = 10;
    private static final long REPORT_NANOS = 10_000_000_000L;

    /** Its class path is the caller's, but its properties are not. */
    private static final List<String> ENCLOSED_JVM =
            List.of(
                    "-Xmx256m",
                    "-Xshare:auto",
                    "-Dlogback.configurationFile=io/saucr/services/tests/crash/logback.xml");

    @Option(names = "--backend", description = "${COMPLETION-CANDIDATES}; preset: the best here")
    private Backend backend;

    @Option(names = "--rounds", description = "how often each row runs; preset: ${DEFAULT-VALUE}")
    private int rounds = 1;

    @Option(
            names = "--rows",
            split = ",",
            description = "some of ${COMPLETION-CANDIDATES}; preset: all")
    private List<CrashRows.Row> rows = List.of(CrashRows.Row.values());

    @Option(
            names = "--ways",
            split = ",",
            description = "some of ${COMPLETION-CANDIDATES}; preset: both")
    private List<CrashRows.Crash> ways = List.of(CrashRows.Crash.values());

    @Option(
            names = "--places",
            description = "at most so many places of a row in a round; preset: all")
    private int places = Integer.MAX_VALUE;

    @Option(
            names = "--seconds",
            description = "of faults at random after the rows; preset: ${DEFAULT-VALUE}")
    private long seconds = 60;

    @Option(names = "--seed", description = "of these; preset: ${DEFAULT-VALUE}")
    private long seed = 1;

    @Option(names = "--out", description = "new folder for disks and logs", required = true)
    private Path out;

    @Spec private CommandSpec spec;

    private final Map<Fault, Integer> faults = new TreeMap<>();
    private final String[] arguments;

    private ServicesCampaign(String... arguments) {
        this.arguments = arguments.clone();
    }

    /** What happens to one member or several. */
    private enum Fault {
        KILL,
        POWER_CUT,
        STANDSTILL,
        CUT_LINK
    }

    /** Ends with 1 if there was a violation, with 2 after wrong usage. */
    public static void main(String[] args) {
        System.exit(execute(args));
    }

    /** What {@link #main} does, but it returns the exit status. */
    static int execute(String... args) {
        return new CommandLine(new ServicesCampaign(args))
                .setCaseInsensitiveEnumValuesAllowed(true)
                .execute(args);
    }

    @Override
    public Integer call() throws Exception {
        Backend chosen = backend == null ? Backend.best() : backend;
        if (chosen == Backend.ROOT && !Enclosure.inside()) {
            checkUsage(chosen);
            return Enclosure.run(ServicesCampaign.class, ENCLOSED_JVM, List.of(arguments));
        }
        if (chosen == Backend.ROOT) {
            Enclosure.enter();
        } else {
            checkUsage(chosen);
        }
        Path work = out.toRealPath();
        try (CrashWorld world = new CrashWorld(chosen.open(work, CrashWorld.MACHINES), work)) {
            for (Member member : world.members()) {
                world.launch(member);
            }
            world.members().forEach(world::awaitStarted);
            rows(world, chosen);
            if (seconds > 0) {
                long moves = run(world, new Random(seed));
                world.settle(moves);
                System.out.println("at random, seed " + seed + ": " + faults);
            }
            List<String> violations = world.witness.violations();
            violations.forEach(each -> System.out.println("  " + each));
            System.out.println(chosen + ": " + world.witness.summary());
            return violations.isEmpty() ? 0 : 1;
        }
    }

    private void checkUsage(Backend chosen) throws IOException {
        Optional<String> obstacle = chosen.obstacle();
        if (obstacle.isPresent()) {
            throw new CommandLine.ParameterException(
                    spec.commandLine(),
                    "the back end " + chosen + " does not work here: " + obstacle.get());
        }
        if (rounds < 0 || places < 1 || seconds < 0) {
            throw new CommandLine.ParameterException(
                    spec.commandLine(),
                    "--rounds and --seconds are 0 or more, --places is 1 or more, not %s, %s, %s"
                            .formatted(rounds, seconds, places));
        }
        Files.createDirectories(out);
        try (Stream<Path> there = Files.list(out)) {
            if (there.findAny().isPresent()) {
                throw new CommandLine.ParameterException(
                        spec.commandLine(),
                        out + " is not empty: name a new folder with --out, or empty this one");
            }
        }
    }

    private void rows(CrashWorld world, Backend chosen) throws Exception {
        CrashRows table = new CrashRows(world);
        for (int round = 0; round < rounds; round++) {
            for (CrashRows.Row row : rows) {
                for (CrashRows.Crash way : ways) {
                    for (int place = 0; place < Math.min(row.places(), places); place++) {
                        table.run(row, way);
                    }
                }
            }
            if (round % 10 == 0 || round == rounds - 1) {
                System.out.println(chosen + ", round " + (round + 1));
                table.tallies()
                        .forEach(
                                (row, tally) ->
                                        System.out.printf(
                                                "  %-12s %4d runs %4d crashes %7.1f s%n",
                                                row,
                                                tally.runs(),
                                                tally.crashes(),
                                                tally.millis() / 1000.0));
            }
        }
    }

    /** Until the time is over; how many moves there are then. */
    private long run(CrashWorld world, Random random) throws Exception {
        long end = System.nanoTime() + Duration.ofSeconds(seconds).toNanos();
        long reported = System.nanoTime();
        goOn(world);
        while (System.nanoTime() < end) {
            Thread.sleep(random.nextInt(LONGEST_PAUSE_MILLIS));
            Fault fault = Fault.values()[random.nextInt(Fault.values().length)];
            List<Member> victims = new ArrayList<>(world.members());
            victims.removeIf(each -> random.nextBoolean());
            if (victims.isEmpty()) {
                victims.add(world.members().get(random.nextInt(CrashWorld.MACHINES)));
            }
            strike(world, fault, victims, random.nextInt(LONGEST_FAULT_MILLIS));
            if (System.nanoTime() - reported > REPORT_NANOS) {
                reported = System.nanoTime();
                System.out.println(faults + ", " + world.witness.summary());
            }
        }
        long asked = Long.parseLong(world.client.ask("stop", "stopped").split(" ")[1]);
        // What a client before this one asked was answered to nobody who still waits.
        long moves = asked + LAST_MOVES;
        world.client.order("move " + moves);
        return moves;
    }

    private static void goOn(CrashWorld world) {
        world.client.order("move " + Long.MAX_VALUE);
        world.client.order("once " + Integer.MAX_VALUE);
    }

    private void strike(CrashWorld world, Fault fault, List<Member> victims, int millis)
            throws Exception {
        faults.merge(fault, 1, Integer::sum);
        switch (fault) {
            case KILL -> victims.forEach(Member::kill);
            case POWER_CUT -> world.machines.powerCut(victims);
            case STANDSTILL -> {
                for (Member each : victims) {
                    each.freeze();
                }
            }
            case CUT_LINK -> world.machines.partition(List.of(ids(world, victims)));
        }
        Thread.sleep(millis);
        if (fault == Fault.CUT_LINK) {
            world.machines.heal();
        }
        for (Member each : victims) {
            if (fault == Fault.STANDSTILL) {
                each.thaw();
            } else if (!each.isAlive()) {
                world.launch(each);
            }
        }
        // The one that was killed while it started would never get further.
        world.members().forEach(world::awaitStarted);
        goOn(world);
    }

    /** Those that still reach each other; each of the victims is alone. */
    private static Set<Integer> ids(CrashWorld world, List<Member> victims) {
        Set<Integer> together = new TreeSet<>();
        for (Member each : world.members()) {
            if (!victims.contains(each)) {
                together.add(each.id());
            }
        }
        return together;
    }
}
