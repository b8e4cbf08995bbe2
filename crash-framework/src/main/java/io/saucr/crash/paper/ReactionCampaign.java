package io.saucr.crash.paper;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.saucr.crash.campaign.CrashLoad;
import io.saucr.crash.campaign.FaultPlan;
import io.saucr.crash.campaign.RecoveryTool;
import io.saucr.crash.campaign.SystemUnderTest;
import io.saucr.crash.campaign.Workbench;
import io.saucr.crash.fault.FaultBackend;
import io.saucr.crash.fault.PowerCut;
import io.saucr.ensemble.Deadline;
import io.saucr.ensemble.Ensemble;
import io.saucr.ensemble.Majority;
import io.saucr.ensemble.ServerProcess;
import io.saucr.ensemble.WriteLoad;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/**
 * Lets all servers of a new ensemble in fast mode, under load, lose power one after the other, and
 * asks the distribution's own {@code saucr-recovery inspect} of each disk whether its server had
 * everything on it. {@value #POINTS} gets a line for each. Used by one thread.
 */
public final class ReactionCampaign implements Workbench.Kind<ReactionPlan, ReactionPoint> {
    public static final String POINTS = "figure11.jsonl";

    /** Exit code of the inspection: the disk alone is not all that the server acknowledged. */
    private static final int NOT_COMPLETE = 3;

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int WRITES_BEFORE = 20;

    private final SystemUnderTest system;
    private final ObjectMapper json = new ObjectMapper();

    public ReactionCampaign(SystemUnderTest system) {
        this.system = system;
    }

    @Override
    public String file() {
        return POINTS;
    }

    @Override
    public Class<ReactionPoint> outcomeType() {
        return ReactionPoint.class;
    }

    @Override
    public String key(ReactionPlan plan) {
        return point(plan, "", 0, 0).key();
    }

    @Override
    public String keyOf(ReactionPoint point) {
        return point.key();
    }

    @Override
    public int servers(ReactionPlan plan) {
        return plan.servers();
    }

    @Override
    public boolean asExpected(ReactionPoint point) {
        return true;
    }

    @Override
    public String words(ReactionPoint point) {
        return String.format(
                Locale.ROOT,
                "heartbeat %d ms, %s, gap %d ms (%.1f): %d of %d safe",
                point.heartbeatMillis(),
                point.order(),
                point.gapMillis(),
                point.measuredGapMillis(),
                point.safe(),
                point.servers());
    }

    @Override
    public ReactionPoint run(ReactionPlan plan, FaultBackend machines, Path work)
            throws IOException, InterruptedException {
        Ensemble.Builder builder =
                Ensemble.of(system.distribution(), work)
                        .voters(plan.servers())
                        .hosting(machines)
                        .set("cnxTimeout", "500")
                        .set("saucr.heartbeatInterval", plan.heartbeat().toMillis() + "ms");
        system.configure(builder);
        try (Ensemble ensemble = builder.build()) {
            ensemble.start();
            ensemble.awaitServing(PATIENCE);
            double gap = crash(plan, ensemble, machines);
            int safe = 0;
            for (ServerProcess server : ensemble.servers()) {
                machines.beforeStart(server.id());
                safe += isSafe(server.dataDirectory()) ? 1 : 0;
            }
            return point(plan, machines.name(), gap, safe);
        } catch (IllegalStateException e) {
            throw new IOException("the servers do not serve before any fault", e);
        }
    }

    private ReactionPoint point(
            ReactionPlan plan, String backend, double measuredGapMillis, int safe) {
        return new ReactionPoint(
                system.distribution().version(),
                plan.servers(),
                plan.heartbeat().toMillis(),
                plan.order().name().toLowerCase(Locale.ROOT).replace('_', ' '),
                plan.gap().toMillis(),
                measuredGapMillis,
                plan.round(),
                backend,
                safe,
                Majority.spares(plan.servers()));
    }

    /** The measured gap in milliseconds. */
    private double crash(ReactionPlan plan, Ensemble ensemble, FaultBackend machines)
            throws IOException, InterruptedException {
        try (WriteLoad load =
                CrashLoad.of(ensemble.connectString(), CrashLoad.nodes("/figure11-"))) {
            load.start();
            int leader = awaitFastMode(ensemble);
            load.await(load.acknowledged() + WRITES_BEFORE, PATIENCE);
            List<ServerProcess> order = new ArrayList<>(ensemble.servers());
            Collections.shuffle(order, new Random(plan.round()));
            order.remove(ensemble.server(leader));
            boolean first = plan.order() == FaultPlan.Order.LEADER_FIRST;
            order.add(first ? 0 : order.size(), ensemble.server(leader));
            if (plan.gap().isZero()) {
                return machines.powerCut(order).width().toNanos() / 1e6 / (order.size() - 1);
            }
            List<PowerCut> cuts = machines.powerCuts(order, plan.gap());
            long between = cuts.get(cuts.size() - 1).began() - cuts.get(0).began();
            return between / 1e6 / (order.size() - 1);
        }
    }

    /** The leader of an ensemble that is in fast mode. */
    private static int awaitFastMode(Ensemble ensemble) throws IOException {
        Deadline deadline = Deadline.in(PATIENCE);
        while (!deadline.hasPassed()) {
            for (ServerProcess server : ensemble.servers()) {
                if (server.role().equals("leader")
                        && server.mntr().getOrDefault("zk_saucr_mode", "0").startsWith("1")) {
                    return server.id();
                }
            }
            deadline.pause();
        }
        throw new IOException("not in fast mode after " + PATIENCE.toSeconds() + " s");
    }

    private boolean isSafe(Path dataDirectory) throws IOException, InterruptedException {
        RecoveryTool.Answer answer =
                new RecoveryTool(system.distribution())
                        .run(List.of("inspect", "--json", dataDirectory.toString()));
        if (answer.status() != 0 && answer.status() != NOT_COMPLETE) {
            throw new IOException(
                    dataDirectory + " cannot be inspected: " + answer.output() + answer.errors());
        }
        return !json.readTree(answer.output()).required("crashedInFastMode").booleanValue();
    }
}
