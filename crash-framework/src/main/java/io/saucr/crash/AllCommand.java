package io.saucr.crash;

import io.saucr.crash.campaign.Expectation;
import io.saucr.crash.campaign.Verdict;
import io.saucr.crash.fault.Backend;
import io.saucr.crash.nemesis.NemesisOutcome;
import io.saucr.crash.report.Results;
import java.io.File;
import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code saucr-crash all}. */
@Command(
        name = "all",
        description =
                "All campaigns, the most important first, each as the command line that it prints."
                        + " First a small part of all of them, then more; the same command continues"
                        + " where an interrupted one stopped.",
        mixinStandardHelpOptions = true,
        footer = {
            "",
            "Exit status: 0 everything that must hold held; 1 a test failed or could not decide; 2"
                    + " wrong usage; 3 something was lost that must not be; 4 something else that"
                    + " must hold did not."
        })
final class AllCommand implements Callable<Integer> {
    private static final String NOBODY = "65534";

    @Option(names = "--distribution", description = SystemOptions.DISTRIBUTION)
    private Path distribution;

    @Option(
            names = {"-o", "--out"},
            defaultValue = "saucr-crash-out",
            description = "Folder for outcomes, logs and report. Default: ${DEFAULT-VALUE}.")
    private Path out;

    @Option(
            names = "--percent",
            split = ",",
            defaultValue = "5,25,100",
            description = "How much of each campaign, pass after pass. Default: ${DEFAULT-VALUE}.")
    private List<Integer> percents;

    /**
     * A campaign.
     *
     * @param command its arguments, with the number of repetitions left out
     * @param repetitions what the number is called, and its value at 100 percent
     * @param runs in one repetition
     * @param seconds that a run takes on two quiet cores
     * @param unprivileged whether a user without rights runs it
     */
    private record Step(
            List<String> command,
            String repetitions,
            int full,
            int runs,
            double seconds,
            boolean unprivileged) {
        static Step of(String command, String repetitions, int full, int runs, double seconds) {
            return new Step(List.of(command.split(" ")), repetitions, full, runs, seconds, false);
        }

        Step asNobody() {
            return new Step(command, repetitions, full, runs, seconds, true);
        }

        int repetitionsAt(int percent) {
            return Math.max(1, full * percent / 100);
        }

        Duration duration(int percent) {
            return Duration.ofMillis((long) (repetitionsAt(percent) * runs * seconds * 1000));
        }
    }

    private static final String BOTH_ORDERS = " --order leader_first,simultaneous";

    /** The most important first. */
    private static final List<Step> STEPS =
            List.of(
                    Step.of("run --system saucr -n 5" + BOTH_ORDERS, "--count", 200, 2, 10),
                    Step.of("run --system saucr -n 7" + BOTH_ORDERS, "--count", 100, 2, 14),
                    Step.of("nemesis --system saucr -n 5 --seconds 60", "--count", 50, 1, 80),
                    Step.of(
                            "replay --system saucr --order processes 12345>->12345",
                            "--times",
                            50,
                            1,
                            6),
                    Step.of(
                            "run --system saucr -n 5 --idle 1000" + BOTH_ORDERS,
                            "--count",
                            200,
                            2,
                            14),
                    Step.of("compare -n 5" + BOTH_ORDERS, "--count", 200, 4, 10),
                    Step.of("figure11 -n 5", "--rounds", 5, 60, 5),
                    Step.of(
                                    "run --system saucr,zk-disk -n 5 --backend unprivileged"
                                            + BOTH_ORDERS,
                                    "--count",
                                    20,
                                    4,
                                    10)
                            .asNobody(),
                    Step.of(
                                    "nemesis --system saucr -n 5 --seconds 60 --backend unprivileged",
                                    "--count",
                                    5,
                                    1,
                                    80)
                            .asNobody(),
                    Step.of(
                            "run --system zk-disk,saucr -n 5 --young" + BOTH_ORDERS,
                            "--count",
                            50,
                            4,
                            10),
                    Step.of(
                            "run --system saucr -n 7 --idle 1000" + BOTH_ORDERS,
                            "--count",
                            100,
                            2,
                            18),
                    Step.of("compare -n 7" + BOTH_ORDERS, "--count", 100, 4, 14),
                    Step.of(
                            "run --system saucr -n 5 --order followers_first",
                            "--count",
                            100,
                            1,
                            10));

    @Override
    public Integer call() throws Exception {
        distribution = SystemOptions.distribution(distribution).toRealPath();
        out = Files.createDirectories(out).toRealPath();
        boolean failed = false;
        for (int pass = 0; pass < percents.size(); pass++) {
            for (int i = 0; i < STEPS.size(); i++) {
                List<String> line = line(STEPS.get(i), percents.get(pass));
                Duration left = left(pass, i);
                System.out.printf(
                        Locale.ROOT,
                        "%n== %d %%, campaign %d of %d; everything from here takes %d:%02d h on two"
                                + " quiet cores, less what is done%n== saucr-crash %s%n",
                        percents.get(pass),
                        i + 1,
                        STEPS.size(),
                        left.toHours(),
                        left.toMinutesPart(),
                        String.join(" ", line));
                int status = STEPS.get(i).unprivileged() ? asNobody(line) : inThisJvm(line);
                failed |= status == 1;
            }
        }
        ReportCommand.write(out);
        return status(failed);
    }

    private List<String> line(Step step, int percent) {
        List<String> line = new ArrayList<>(step.command());
        line.addAll(
                List.of(
                        step.repetitions(),
                        Integer.toString(step.repetitionsAt(percent)),
                        "--distribution",
                        distribution.toString(),
                        "-o",
                        (step.unprivileged() ? out.resolve(Results.UNPRIVILEGED) : out)
                                .toString()));
        return line;
    }

    /**
     * The time that is left. A pass repeats nothing of the passes before it, so that counts once.
     */
    private Duration left(int pass, int step) {
        Duration left = Duration.ZERO;
        for (int i = 0; i < STEPS.size(); i++) {
            int last = percents.get(percents.size() - 1);
            int doneAt = i < step ? pass : pass - 1;
            Duration done =
                    doneAt < 0 ? Duration.ZERO : STEPS.get(i).duration(percents.get(doneAt));
            left = left.plus(STEPS.get(i).duration(last)).minus(done);
        }
        return left;
    }

    private static int inThisJvm(List<String> line) {
        return CrashCommand.execute(line.toArray(String[]::new));
    }

    /**
     * Runs the command line as a user who owns nothing but the folder of the results. If this
     * program must not change its user, it runs the command line itself.
     */
    private static int asNobody(List<String> line) throws IOException, InterruptedException {
        if (Backend.ROOT.obstacle().isPresent()) {
            return inThisJvm(line);
        }
        Path folder = Files.createDirectories(Path.of(line.get(line.size() - 1)));
        Files.setOwner(
                folder,
                FileSystems.getDefault()
                        .getUserPrincipalLookupService()
                        .lookupPrincipalByName("nobody"));
        List<String> command =
                new ArrayList<>(
                        List.of(
                                "setpriv",
                                "--reuid=" + NOBODY,
                                "--regid=" + NOBODY,
                                "--clear-groups",
                                "--inh-caps=-all",
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-Xmx256m",
                                "-XX:TieredStopAtLevel=1",
                                "-cp",
                                Arrays.stream(
                                                System.getProperty("java.class.path")
                                                        .split(File.pathSeparator))
                                        .map(entry -> Path.of(entry).toAbsolutePath().toString())
                                        .reduce((a, b) -> a + File.pathSeparator + b)
                                        .orElseThrow(),
                                CrashCommand.class.getName()));
        command.addAll(line);
        return new ProcessBuilder(command).directory(folder.toFile()).inheritIO().start().waitFor();
    }

    private int status(boolean failed) throws IOException {
        Results results = Results.in(out, System.out);
        List<Expectation> broken =
                Expectation.of(results.sequences()).stream().filter(e -> !e.held()).toList();
        boolean lost =
                broken.stream()
                                .flatMap(expectation -> expectation.broken().stream())
                                .anyMatch(outcome -> outcome.verdict() == Verdict.DATA_LOSS)
                        || results.nemesis().stream()
                                .anyMatch(
                                        outcome ->
                                                outcome.verdict()
                                                        == NemesisOutcome.Verdict.NOT_LINEARIZABLE);
        if (lost) {
            return CrashCommand.STATUS_LOST;
        }
        if (!broken.isEmpty()) {
            return CrashCommand.STATUS_UNAVAILABLE;
        }
        boolean undecided =
                results.nemesis().stream()
                        .anyMatch(
                                outcome ->
                                        outcome.verdict() != NemesisOutcome.Verdict.LINEARIZABLE);
        return failed || undecided ? 1 : 0;
    }
}
