package io.saucr.services.bench;

import io.saucr.bench.measure.WorkFolder;
import io.saucr.services.bench.Rounds.Measurement;
import io.saucr.services.bench.RoundsReport.Figure;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The options that commands share which run whole applications in rounds, and what they leave: a
 * report. Each run gets an empty folder, which is removed after it.
 */
final class RoundsOptions {

    private static final DateTimeFormatter STAMP =
            DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss", Locale.ROOT);

    @Option(
            names = "--rounds",
            paramLabel = "N",
            defaultValue = "3",
            description = "Rounds (default: ${DEFAULT-VALUE}).")
    private int rounds;

    @Option(
            names = "--work",
            paramLabel = "FOLDER",
            description = "For all that the processes keep (default: a temporary folder).")
    private Path work;

    @Option(
            names = "--out",
            paramLabel = "FOLDER",
            description =
                    "Where table.txt, report.html and result.json go (default: a new folder in bench-results).")
    private Path out;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    /**
     * One that takes part.
     *
     * @param what it is
     */
    record Trial(String what, Run run) {}

    /** Runs an application once, in a folder of its own. */
    interface Run {
        Map<String, Double> run(Path folder) throws Exception;
    }

    /**
     * Fails where the options are not allowed.
     *
     * @throws IllegalArgumentException then; the message says what is allowed
     */
    void check() {
        check("--rounds", rounds, 1, 1000);
    }

    /**
     * Fails where a value is not allowed.
     *
     * @throws IllegalArgumentException then; the message says what is allowed
     */
    static void check(String option, int value, int least, int most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(
                    option + ": allowed are " + least + " to " + most + ", not " + value);
        }
    }

    /**
     * Fails where a slice is not of more than 0 to 3,600 seconds.
     *
     * @throws IllegalArgumentException then; the message says what is allowed
     */
    static void checkSeconds(double seconds) {
        if (!(seconds > 0 && seconds <= 3600)) {
            throw new IllegalArgumentException(
                    "--seconds: allowed are more than 0 to 3600, not " + seconds);
        }
    }

    /**
     * Runs all in rounds.
     *
     * @param trials by the contenders' names, in the order of the first round
     */
    List<Measurement> measure(Map<String, Trial> trials) throws Exception {
        Path parent = work != null ? work : Path.of(System.getProperty("java.io.tmpdir"));
        Files.createDirectories(parent);
        Map<String, Rounds.Trial> inFolders = new LinkedHashMap<>();
        trials.forEach(
                (name, trial) ->
                        inFolders.put(
                                name,
                                round -> {
                                    Path folder =
                                            Files.createTempDirectory(
                                                    parent, "saucr-bench-" + name + "-");
                                    Map<String, Double> figures = trial.run.run(folder);
                                    // What failed stays, with the logs.
                                    WorkFolder.delete(folder);
                                    return figures;
                                }));
        return new Rounds(System.err).run(inFolders, rounds);
    }

    /** Where results go. */
    Path folder() {
        return out != null
                ? out
                : Path.of(
                        "bench-results",
                        "services-"
                                + command.name()
                                + "-"
                                + LocalDateTime.now(ZoneId.systemDefault()).format(STAMP));
    }

    /**
     * Prints the report, and writes it into a folder; the first trial is compared with the others.
     */
    void report(
            Path folder,
            String title,
            Map<String, Trial> trials,
            List<Figure> figures,
            List<Measurement> measured)
            throws IOException {
        Map<String, String> contenders = new LinkedHashMap<>();
        trials.forEach((name, trial) -> contenders.put(name, trial.what));
        RoundsReport report = new RoundsReport(title, contenders, figures, measured);
        PrintWriter print = command.commandLine().getOut();
        print.println(report.text());
        report.write(folder);
        print.println("Results are in " + folder);
        print.flush();
    }
}
