package io.saucr.services.tests.standby;

import io.saucr.crash.fault.Enclosure;
import io.saucr.services.tests.crash.Member;
import io.saucr.services.tests.crash.PointDisk;
import io.saucr.services.tests.crash.Points;
import io.saucr.services.tests.standby.StandbyMachines.Breaking;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Members of a service on machines that are broken, next to an ensemble that is broken, too, while
 * clients write, swap and read: after each fault they have to be answered again, and at the end
 * their history has to be linearizable.
 */
@Command(
        name = "saucr-services-standby-crash",
        mixinStandardHelpOptions = true,
        description =
                "Breaks machines, disks and links of a service with standbys, and its ensemble; ends with 1"
                        + " after a violation.")
public final class StandbyFaults extends StandbyCampaign<StandbyFaults.Fault> {

    private static final long PATIENCE_SECONDS = 30;
    private static final int LONGEST_PAUSE_MILLIS = 300;
    private static final int LONGEST_FAULT_MILLIS = 2_500;
    private static final Duration SLOW_FORCE = Duration.ofMillis(300);

    /** Its class path is the caller's, but its properties are not. */
    private static final List<String> ENCLOSED_JVM =
            List.of(
                    "-Xmx512m",
                    "-Xshare:auto",
                    "-Dlogback.configurationFile=io/saucr/services/tests/crash/logback.xml");

    /** What happens. */
    enum Fault {
        KILL,
        /** A standby is killed; then the primary, while it is alone. */
        KILL_TWICE,
        /** Stopped until its successor has served; then it wakes. */
        FREEZE,
        HANDOVER,
        /** The links between the primary and its standbys alone. */
        CUT_LINK,
        /** The primary, from everybody. */
        CUT_OFF,
        POWER_CUT,
        /** The primary and one standby, at one instant: all copies that the head may name. */
        POWER_CUT_TWO,
        POWER_CUT_ALL,
        /** Each force of the primary's takes long. */
        SLOW_DISK,
        /** The primary's do not come to an end; it is killed then. */
        HANGING_DISK,
        /** The primary's fail. */
        FAILING_DISK,
        /** A standby loses its folder, and comes back as a new member. */
        LOST_DISK,
        /** The leader of the ensemble is killed. */
        ENSEMBLE_KILL,
        /** The leader of the ensemble is cut off from the other servers, not from its clients. */
        STALE_LEADER,
        /** The primary is killed at a step of a segment or base, another one each time. */
        STEP_KILL,
        /** The same, and the power is cut. */
        STEP_POWER_CUT,
        /** A standby stands at a step of a segment, and both lose their power then. */
        UPLOAD_POWER_CUT,
        /** The primary is killed with a write of the head under way. */
        HEAD_KILL,
        /** The primary is killed, and its successor at a step of its first ones. */
        TAKEOVER_KILL
    }

    /** Of {@link PointDisk}: what a primary does to its disk from a cut to a base. */
    private static final List<String> STEPS =
            List.of(
                    "segments-write",
                    "segments-write-done",
                    "segments-force",
                    "segments-force-done",
                    "bases-write",
                    "bases-force",
                    "bases-name",
                    "bases-name-done",
                    "bases-names-done",
                    "bases-delete",
                    "bases-delete-done");

    /** Those of them that a segment takes. */
    private static final int STEPS_OF_SEGMENT = 4;

    private static final int STEPS_OF_SUCCESSOR = 12;

    /** What a service that counts written segments as final does not survive, and says so (C15). */
    private static final EnumSet<Fault> NOT_FAST =
            EnumSet.of(Fault.POWER_CUT_TWO, Fault.POWER_CUT_ALL, Fault.UPLOAD_POWER_CUT);

    /** What needs no disk that can be broken. */
    private static final EnumSet<Fault> WITHOUT_DISKS =
            EnumSet.of(
                    Fault.KILL,
                    Fault.KILL_TWICE,
                    Fault.FREEZE,
                    Fault.HANDOVER,
                    Fault.CUT_LINK,
                    Fault.CUT_OFF,
                    Fault.ENSEMBLE_KILL,
                    Fault.STALE_LEADER);

    @Option(names = "--rounds", description = "each fault once in each; preset: ${DEFAULT-VALUE}")
    private int rounds = 10;

    @Option(
            names = "--faults",
            split = ",",
            description = "some of ${COMPLETION-CANDIDATES}; preset: all")
    private List<Fault> faults = List.of(Fault.values());

    private final String[] arguments;
    private final Map<Fault, Integer> steps = new EnumMap<>(Fault.class);

    private StandbyFaults(String... arguments) {
        this.arguments = arguments.clone();
    }

    /** Ends with 1 if there was a violation, with 2 after wrong usage. */
    public static void main(String[] args) {
        System.exit(execute(args));
    }

    /** What {@link #main} does, but it returns the exit status. */
    static int execute(String... args) {
        return execute(new StandbyFaults(args), args);
    }

    @Override
    public Integer call() throws Exception {
        if (!Enclosure.inside()) {
            Optional<String> obstacle = Enclosure.obstacle();
            require(obstacle.isEmpty(), "machines cannot be made here: " + obstacle.orElse(""));
            require(
                    filling.entries() == 0 || WITHOUT_DISKS.containsAll(faults),
                    "--entries: machines' disks have no room for many, so members' folders are in"
                            + " --out, and --faults are some of "
                            + WITHOUT_DISKS);
            require(rounds >= 1, "--rounds is 1 or more");
            checkUsage();
            return Enclosure.run(StandbyFaults.class, ENCLOSED_JVM, List.of(arguments));
        }
        Enclosure.enter();
        Path work = Files.createDirectories(out).toRealPath();
        outcome = new Outcome<>(work, settings());
        Optional<Path> folders = filling.entries() > 0 ? Optional.of(work) : Optional.empty();
        boolean kept;
        try (StandbyMachines machines =
                new StandbyMachines(work, fast, async, filling.jvm(), folders)) {
            kept = isKept(machines.place(), (asking, answered) -> run(machines, asking, answered));
        }
        return verdict(kept);
    }

    private void run(StandbyMachines machines, RegisterClients asking, LongSupplier answered)
            throws Exception {
        Random random = new Random(seed);
        Duration patience = Duration.ofSeconds(filling.patienceSeconds());
        int done = 0;
        for (int round = 1; round <= rounds; round++) {
            List<Fault> order = new ArrayList<>(faults);
            if (fast) {
                order.removeAll(NOT_FAST);
            }
            Collections.shuffle(order, random);
            for (Fault fault : order) {
                if (async == 0 && done++ % WITH_EACH_REGISTER == 0) {
                    asking.nextRegisters();
                }
                machines.awaitReady(patience);
                Thread.sleep(random.nextInt(LONGEST_PAUSE_MILLIS) + 3 * async);
                Strike strike = new Strike(machines, asking, random);
                strike.happen(fault);
                outcome.waited(fault, strike.waited());
                asking.check();
            }
            System.out.println(
                    "round " + round + " of " + rounds + ", " + answered.getAsLong() + " calls");
            outcome.print();
        }
        machines.awaitReady(patience);
    }

    /** One fault, until all is fixed. */
    private final class Strike {

        private final StandbyMachines machines;
        private final RegisterClients asking;
        private final Random random;
        private final Member primary;
        private final List<Member> standbys;
        private CompletableFuture<Double> next;

        Strike(StandbyMachines machines, RegisterClients asking, Random random)
                throws InterruptedException {
            this.machines = machines;
            this.asking = asking;
            this.random = random;
            primary = machines.primary();
            standbys = machines.members().stream().filter(it -> it != primary).toList();
        }

        /** From the fault to the first answer to a call that was made after it. */
        double waited() throws Exception {
            return next.get(PATIENCE_SECONDS + filling.patienceSeconds(), TimeUnit.SECONDS);
        }

        private void strike(Fault fault, List<Member> whom, Breaking breaking) throws IOException {
            long from = System.nanoTime();
            recorder.nemesis(
                    fault.name().toLowerCase(Locale.ROOT),
                    whom.stream().map(Member::id).toList(),
                    breaking::happen);
            next = asking.nextAnswer(from);
        }

        private void awaitAnswer() throws Exception {
            double unused = waited();
        }

        private void lasts() throws InterruptedException {
            Thread.sleep(random.nextInt(LONGEST_FAULT_MILLIS));
        }

        private void startAll() throws IOException {
            for (Member each : machines.members()) {
                if (!each.isAlive()) {
                    machines.start(each);
                }
            }
        }

        void happen(Fault fault) throws Exception {
            List<Member> whom = List.of(primary);
            Member standby = standbys.get(random.nextInt(standbys.size()));
            switch (fault) {
                case KILL -> {
                    strike(fault, whom, primary::kill);
                    awaitAnswer();
                }
                case KILL_TWICE -> {
                    strike(fault, standbys, () -> standbys.forEach(Member::kill));
                    awaitAnswer();
                    strike(fault, whom, primary::kill);
                    startAll();
                }
                case FREEZE -> {
                    long since = System.nanoTime();
                    strike(fault, whom, primary::freeze);
                    awaitAnswer();
                    lasts();
                    primary.thaw();
                    stoodStill(since);
                }
                case HANDOVER -> {
                    next = asking.nextAnswer();
                    recorder.nemesis(
                            "handover",
                            List.of(primary.id()),
                            () -> {
                                String unused = primary.ask("handover", "handed");
                            });
                }
                case CUT_LINK -> {
                    strike(fault, whom, () -> machines.cutLinks(primary));
                    awaitAnswer();
                    lasts();
                    machines.heal();
                }
                case CUT_OFF -> {
                    long since = System.nanoTime();
                    strike(fault, whom, () -> machines.cutOff(primary, true));
                    awaitAnswer();
                    lasts();
                    machines.cutOff(primary, false);
                    stoodStill(since);
                }
                case POWER_CUT -> {
                    strike(fault, whom, () -> machines.powerCut(whom));
                    awaitAnswer();
                }
                case POWER_CUT_TWO -> {
                    List<Member> two = List.of(primary, standby);
                    strike(fault, two, () -> machines.powerCut(two));
                    startAll();
                }
                case POWER_CUT_ALL -> {
                    strike(fault, machines.members(), () -> machines.powerCut(machines.members()));
                    startAll();
                }
                case SLOW_DISK -> {
                    strike(fault, whom, () -> machines.slowDisk(primary, SLOW_FORCE));
                    awaitAnswer();
                    lasts();
                    machines.slowDisk(primary, Duration.ZERO);
                }
                case HANGING_DISK -> {
                    strike(fault, whom, () -> machines.hangDisk(primary, true));
                    awaitAnswer();
                    lasts();
                    primary.kill();
                    machines.hangDisk(primary, false);
                }
                case FAILING_DISK -> {
                    strike(fault, whom, () -> machines.failDisk(primary, true));
                    int unused = primary.awaitEnd();
                    awaitAnswer();
                    machines.failDisk(primary, false);
                }
                case LOST_DISK -> {
                    strike(
                            fault,
                            List.of(standby),
                            () -> {
                                standby.kill();
                                machines.loseDisk(standby);
                            });
                    awaitAnswer();
                }
                case ENSEMBLE_KILL -> {
                    strike(fault, List.of(), machines::killLeader);
                    awaitAnswer();
                    machines.mendEnsemble();
                }
                case STALE_LEADER -> {
                    strike(fault, List.of(), machines::cutLeaderOff);
                    awaitAnswer();
                    lasts();
                    machines.heal();
                    machines.mendEnsemble();
                }
                case STEP_KILL -> {
                    stand(primary, nextStep(fault, STEPS));
                    strike(fault, whom, primary::kill);
                    awaitAnswer();
                }
                case STEP_POWER_CUT -> {
                    stand(primary, nextStep(fault, STEPS));
                    strike(fault, whom, () -> machines.powerCut(whom));
                    awaitAnswer();
                }
                case UPLOAD_POWER_CUT -> {
                    List<Member> two = List.of(primary, standby);
                    stand(standby, nextStep(fault, STEPS.subList(0, STEPS_OF_SEGMENT)));
                    strike(fault, two, () -> machines.powerCut(two));
                    startAll();
                }
                case HEAD_KILL ->
                        machines.whileTheHeadIsWritten(
                                primary, () -> strike(fault, whom, primary::kill));
                case TAKEOVER_KILL -> {
                    int step = steps.merge(fault, 1, Integer::sum) % STEPS_OF_SUCCESSOR;
                    strike(fault, whom, primary::kill);
                    standbys.forEach(it -> it.order("arm " + Points.ANY + " " + (1 + step)));
                    Member successor = firstAtPoint();
                    recorder.nemesis("successor_kill", List.of(successor.id()), successor::kill);
                    standbys.stream().filter(Member::isAlive).forEach(it -> it.order("go"));
                    startAll();
                }
                default -> throw new IllegalStateException("no fault " + fault);
            }
            awaitAnswer();
            startAll();
        }

        private String nextStep(Fault fault, List<String> of) {
            return of.get((steps.merge(fault, 1, Integer::sum) - 1) % of.size());
        }

        /** Waits until a member comes to a point, where it stands still. */
        private void stand(Member member, String point) {
            String unused = member.ask("arm " + point + " 1", "at " + point);
        }

        private Member firstAtPoint() throws InterruptedException {
            long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
            while (System.nanoTime() < until) {
                for (Member each : standbys) {
                    if (each.hasSaid("at ")) {
                        return each;
                    }
                }
                Thread.sleep(5);
            }
            throw new IllegalStateException("no standby takes a step");
        }
    }
}
