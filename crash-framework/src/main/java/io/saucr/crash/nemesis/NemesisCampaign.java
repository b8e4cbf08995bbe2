package io.saucr.crash.nemesis;

import io.saucr.crash.campaign.SystemUnderTest;
import io.saucr.crash.campaign.Workbench;
import io.saucr.crash.fault.FaultBackend;
import io.saucr.crash.nemesis.NemesisOutcome.Verdict;
import io.saucr.history.LinearizabilityChecker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Nemesis runs against one system: {@value #OUTCOMES} gets a line for each, {@code histories/} the
 * history. Used by one thread.
 */
public final class NemesisCampaign implements Workbench.Kind<NemesisPlan, NemesisOutcome> {
    public static final String OUTCOMES = "nemesis.jsonl";

    private final SystemUnderTest system;
    private final Path histories;
    private final LinearizabilityChecker checker =
            new LinearizabilityChecker(LinearizabilityChecker.DEFAULT_CONFIGURATIONS);

    /**
     * @param folder of the outcomes, in which the histories get a folder
     */
    public NemesisCampaign(SystemUnderTest system, Path folder) throws IOException {
        this.system = system;
        this.histories = Files.createDirectories(folder.resolve("histories"));
    }

    @Override
    public String file() {
        return OUTCOMES;
    }

    @Override
    public Class<NemesisOutcome> outcomeType() {
        return NemesisOutcome.class;
    }

    @Override
    public String key(NemesisPlan plan) {
        return NemesisOutcome.key(
                system.name(),
                plan.servers(),
                plan.seed(),
                plan.length().toSeconds(),
                plan.faults());
    }

    @Override
    public String keyOf(NemesisOutcome outcome) {
        return outcome.key();
    }

    @Override
    public int servers(NemesisPlan plan) {
        return plan.servers();
    }

    @Override
    public NemesisOutcome run(NemesisPlan plan, FaultBackend machines, Path work)
            throws IOException, InterruptedException {
        String name = key(plan).replaceAll("[^A-Za-z0-9]+", "-");
        return NemesisRunner.run(
                system, plan, machines, work, histories.resolve(name + ".edn"), checker);
    }

    @Override
    public boolean asExpected(NemesisOutcome outcome) {
        return outcome.verdict() == Verdict.LINEARIZABLE;
    }

    @Override
    public String words(NemesisOutcome outcome) {
        return String.format(
                "%-16s %s seed %d: %d ok, %d failed, %d unknown, %d faults, checked in %d ms%s; %s",
                outcome.verdict(),
                outcome.system(),
                outcome.seed(),
                outcome.ok(),
                outcome.failed(),
                outcome.unknown(),
                outcome.injected().size(),
                outcome.checkMillis(),
                outcome.reason().isEmpty() ? "" : "; " + outcome.reason(),
                histories.resolve(outcome.history()));
    }
}
