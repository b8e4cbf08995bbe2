package io.saucr.crash;

import io.saucr.crash.campaign.FaultPlan;
import io.saucr.crash.campaign.SystemUnderTest;
import io.saucr.crash.campaign.Workbench;
import io.saucr.crash.paper.ReactionCampaign;
import io.saucr.crash.paper.ReactionPlan;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code saucr-crash figure11}. */
@Command(
        name = "figure11",
        description =
                "Takes the power from all servers, one after the other, and counts those that were"
                        + " safe on disk before, by the time between the failures (figure 11 of the"
                        + " paper).",
        mixinStandardHelpOptions = true)
final class Figure11Command implements Callable<Integer> {
    @CommandLine.ParentCommand private CrashCommand command;
    @Mixin private MachineOptions machines;
    @Mixin private SystemOptions systems;
    @Mixin private ServersOption ensemble;

    @Option(
            names = "--gaps",
            split = ",",
            defaultValue = "0,10,20,30,40,50,75,100,150,200",
            description = "Milliseconds between failures. Default: ${DEFAULT-VALUE}.")
    private List<Long> gapMillis;

    @Option(
            names = "--heartbeats",
            split = ",",
            defaultValue = "10,50,100",
            description = "Heartbeat intervals in milliseconds. Default: ${DEFAULT-VALUE}.")
    private List<Long> heartbeatMillis;

    @Option(
            names = "--order",
            split = ",",
            defaultValue = "LEADER_FIRST,FOLLOWERS_FIRST",
            description = "Default: ${DEFAULT-VALUE}.")
    private List<FaultPlan.Order> orders;

    @Option(
            names = "--rounds",
            defaultValue = "5",
            description = "Repetitions of each point. Default: ${DEFAULT-VALUE}.")
    private int rounds;

    @Override
    public Integer call() throws Exception {
        SystemUnderTest system = systems.system("saucr", machines.out);
        List<ReactionPlan> plans = new ArrayList<>();
        for (int round = 1; round <= rounds; round++) {
            for (long heartbeat : heartbeatMillis) {
                for (FaultPlan.Order order : orders) {
                    for (long gap : gapMillis) {
                        plans.add(
                                new ReactionPlan(
                                        ensemble.servers,
                                        Duration.ofMillis(heartbeat),
                                        order,
                                        Duration.ofMillis(gap),
                                        round));
                    }
                }
            }
        }
        return machines.run(
                command.arguments(),
                backend -> {
                    Workbench bench = new Workbench(machines.out, backend, System.out);
                    try {
                        bench.run(new ReactionCampaign(system), plans);
                        return 0;
                    } finally {
                        ReportCommand.write(machines.out);
                    }
                });
    }
}
