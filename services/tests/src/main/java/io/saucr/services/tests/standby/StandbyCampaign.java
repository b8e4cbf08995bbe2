package io.saucr.services.tests.standby;

import io.saucr.history.HistoryRecorder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.function.LongSupplier;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * A campaign against the members of a service with standbys while clients call it: its options, and
 * how what the clients saw is judged. Used by one thread.
 *
 * @param <K> what happens to the members
 */
abstract class StandbyCampaign<K extends Enum<K>> implements Callable<Integer> {

    /** So many of them happen with the same registers: a history per register stays short. */
    static final int WITH_EACH_REGISTER = 4;

    @Option(names = "--clients", description = "preset: ${DEFAULT-VALUE}")
    int clients = 4;

    @Option(names = "--fast", description = "with Protection.standby().fast()")
    boolean fast;

    @Option(
            names = "--async",
            paramLabel = "MS",
            description =
                    "a checkpoint so often, replies before it; then what was lost has to be announced, and be of"
                            + " one lease, instead of a linearizable history")
    long async;

    @Mixin Filling filling;

    @Option(names = "--seed", description = "preset: ${DEFAULT-VALUE}")
    long seed = 1;

    @Option(
            names = "--out",
            description = "new folder for folders, logs and history",
            required = true)
    Path out;

    @Spec CommandSpec spec;

    final HistoryRecorder recorder = new HistoryRecorder();
    Outcome<K> outcome;
    private long longestStandstillMillis;

    /** Runs a campaign as a command: 0, 1 after a violation, 2 after wrong usage. */
    static int execute(StandbyCampaign<?> campaign, String... args) {
        return new CommandLine(campaign).setCaseInsensitiveEnumValuesAllowed(true).execute(args);
    }

    /** What happens to the members while clients call. */
    interface Body {
        void run(RegisterClients asking, LongSupplier answered) throws Exception;
    }

    /** Refuses what was typed unless a condition holds; the message says what is allowed. */
    final void require(boolean holds, String allowed) {
        if (!holds) {
            throw new CommandLine.ParameterException(spec.commandLine(), allowed);
        }
    }

    /** Refuses wrong values of the options here. */
    final void checkUsage() {
        require(clients >= 1 && async >= 0, "--clients is 1 or more, --async is 0 or more");
        filling.check(spec.commandLine());
        try {
            long unused = leaseMillis();
        } catch (IllegalArgumentException e) {
            throw new CommandLine.ParameterException(
                    spec.commandLine(), "--async: " + e.getMessage(), e);
        }
        require(!Files.exists(out), out + " is there already: name a new folder with --out");
    }

    private long leaseMillis() {
        return StandbyProgram.protection(2, fast, async, Optional.empty()).leaseMillis();
    }

    /** For the report. */
    final Map<String, Object> settings() {
        return new TreeMap<>(
                Map.of(
                        "clients", clients,
                        "fast", fast,
                        "async", async,
                        "entries", filling.entries(),
                        "entryBytes", filling.bytes(),
                        "jvm", filling.jvm(),
                        "seed", seed));
    }

    /**
     * Lets clients call the service while something happens to it.
     *
     * @return whether the entries are there, and of an asynchronous service what was answered or
     *     announced as lost
     */
    final boolean isKept(String place, Body body) throws Exception {
        try (RegisterClients asking = new RegisterClients(place, recorder)) {
            filling.fill(place);
            if (async == 0) {
                asking.begin(clients, seed);
                body.run(asking, asking::answered);
                return filling.isThere(place);
            }
            try (Ledger ledger = new Ledger(place, asking::tell)) {
                ledger.begin(clients);
                body.run(asking, ledger::answered);
                long longest = leaseMillis() + longestStandstillMillis;
                return outcome.isBounded(ledger, longest) && filling.isThere(place);
            }
        }
    }

    /** A primary did nothing from then until now. */
    final void stoodStill(long sinceNanos) {
        longestStandstillMillis =
                Math.max(longestStandstillMillis, (System.nanoTime() - sinceNanos) / 1_000_000);
    }

    /** The exit status, after all has ended. */
    final int verdict(boolean kept) throws Exception {
        boolean right = async > 0 || outcome.isLinearizable(recorder.history());
        return right && kept ? 0 : 1;
    }
}
