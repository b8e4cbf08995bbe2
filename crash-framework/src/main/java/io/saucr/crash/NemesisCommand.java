package io.saucr.crash;

import io.saucr.crash.campaign.SystemUnderTest;
import io.saucr.crash.campaign.Workbench;
import io.saucr.crash.nemesis.FaultKind;
import io.saucr.crash.nemesis.NemesisCampaign;
import io.saucr.crash.nemesis.NemesisOutcome;
import io.saucr.crash.nemesis.NemesisOutcome.Verdict;
import io.saucr.crash.nemesis.NemesisPlan;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code saucr-crash nemesis}. */
@Command(
        name = "nemesis",
        description =
                "Lets concurrent clients read, write and compare-and-set registers while servers"
                        + " are partitioned, paused, killed and without power, and checks that"
                        + " what they saw is linearizable.",
        mixinStandardHelpOptions = true,
        footer = {
            "",
            "Exit status: 0 every run linearizable; 1 the test itself failed, could not decide, or"
                    + " an ensemble did not come back; 2 wrong usage; 3 a history is not"
                    + " linearizable."
        })
final class NemesisCommand implements Callable<Integer> {
    @CommandLine.ParentCommand private CrashCommand command;
    @Mixin private MachineOptions machines;
    @Mixin private SystemOptions systems;
    @Mixin private ServersOption ensemble;

    @Option(
            names = "--system",
            defaultValue = "zk-disk",
            description = "zk-disk, zk-mem or saucr. Default: ${DEFAULT-VALUE}.")
    private String system;

    @Option(names = "--count", defaultValue = "1", description = "Runs. Default: ${DEFAULT-VALUE}.")
    private int count;

    @Option(
            names = "--seed",
            defaultValue = "1",
            description = "Of the first run; each further run takes the next one. Default: 1.")
    private long seed;

    @Option(
            names = "--seconds",
            defaultValue = "60",
            description = "Length of a run. Default: ${DEFAULT-VALUE}.")
    private long seconds;

    @Option(names = "--clients", defaultValue = "6", description = "Default: ${DEFAULT-VALUE}.")
    private int clients;

    @Option(
            names = "--rate",
            defaultValue = "150",
            description = "Calls a second of all clients. Default: ${DEFAULT-VALUE}.")
    private int rate;

    @Option(
            names = "--faults",
            split = ",",
            description = "One or more of ${COMPLETION-CANDIDATES}. Default: all.")
    private List<FaultKind> faults = List.of(FaultKind.values());

    @Option(
            names = "--patience",
            defaultValue = "60",
            description =
                    "Seconds until all servers must serve after the last fault. Default:"
                            + " ${DEFAULT-VALUE}.")
    private long patienceSeconds;

    @Override
    public Integer call() throws Exception {
        SystemUnderTest tested = systems.system(system, machines.out);
        List<NemesisPlan> plans = plans(tested.situationAware());
        return machines.run(
                command.arguments(),
                backend -> {
                    Workbench bench = new Workbench(machines.out, backend, System.out);
                    try {
                        return status(bench.run(new NemesisCampaign(tested, machines.out), plans));
                    } finally {
                        ReportCommand.write(machines.out);
                    }
                });
    }

    private List<NemesisPlan> plans(boolean situationAware) throws IOException {
        List<FaultKind> kinds = new ArrayList<>(faults);
        if (ensemble.servers < 5) {
            kinds.remove(FaultKind.PARTITION_AND_POWER_CUT);
        }
        if (!situationAware) {
            // ZooKeeper has no such command.
            kinds.remove(FaultKind.MOVE_LEADER);
        }
        List<NemesisPlan> plans = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            plans.add(
                    new NemesisPlan(
                            ensemble.servers,
                            seed + i,
                            Duration.ofSeconds(seconds),
                            clients,
                            rate,
                            kinds,
                            Duration.ofSeconds(patienceSeconds)));
        }
        return plans;
    }

    private static int status(List<NemesisOutcome> outcomes) {
        if (outcomes.stream().anyMatch(o -> o.verdict() == Verdict.NOT_LINEARIZABLE)) {
            return CrashCommand.STATUS_LOST;
        }
        return outcomes.stream().allMatch(o -> o.verdict() == Verdict.LINEARIZABLE) ? 0 : 1;
    }
}
