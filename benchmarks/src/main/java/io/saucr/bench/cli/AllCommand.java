package io.saucr.bench.cli;

import io.saucr.bench.report.HtmlReport;
import io.saucr.bench.report.RunFolder;
import io.saucr.bench.result.RunResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** All figures, one after the other, each in a folder of its own, and one report of them. */
@Command(
        name = "all",
        description =
                "All figures, within an hour on two processors, and one report. Each is the subcommand"
                        + " of its name with fewer or shorter slices than its own defaults; the command"
                        + " lines are shown.",
        mixinStandardHelpOptions = true)
final class AllCommand implements Callable<Integer> {
    private static final int INCOMPLETE = 1;

    /** A subcommand with its options, and how long it takes on two processors, in minutes. */
    private record Part(double minutes, List<String> words) {
        Part(double minutes, String... words) {
            this(minutes, List.of(words));
        }

        String name() {
            return words.get(0);
        }
    }

    private static final String[] SHORT = {"--slice=1.5", "--warm-up=0.5", "--rounds=6"};

    private static final List<Part> PARTS =
            List.of(
                    part(2, "table1", "--compile=10"),
                    part(13, "fig7", "--compile=15"),
                    part(12, "fig8", "--compile=18"),
                    new Part(
                            3,
                            "fig9",
                            "--events=5:kill,10:kill,17:return,24:return",
                            "--seconds=30"),
                    part(3, "fig10", "--compile=6"),
                    part(6, "latency", "--compile=10", "--rate=250,500,1000,2000,4000"),
                    part(5, "ensembles", "--compile=8"),
                    part(6, "values", "--compile=10"),
                    new Part(5, "failover", "--rounds=6"),
                    new Part(4, "recovery", "--rounds=6", "--entries=1000,10000"));

    private static Part part(double minutes, String name, String... more) {
        List<String> words = new ArrayList<>(List.of(name));
        words.addAll(List.of(SHORT));
        words.addAll(List.of(more));
        return new Part(minutes, words);
    }

    @Option(
            names = "--out",
            paramLabel = "FOLDER",
            description =
                    "Where the results go, a folder for each figure; figures that are complete there"
                            + " are not measured again (default: ${DEFAULT-VALUE}).",
            defaultValue = "bench-results/all")
    private Path out;

    @Option(names = "--only", split = ",", paramLabel = "NAME", description = "Only these figures.")
    private List<String> only;

    @Option(
            names = "--with",
            paramLabel = "OPTION",
            description =
                    "An option for every subcommand that has it, for example --with=--work=/data or"
                            + " --with=--rounds=2; may be given several times.")
    private List<String> with = new ArrayList<>();

    @Override
    public Integer call() throws Exception {
        List<Part> parts =
                PARTS.stream().filter(part -> only == null || only.contains(part.name())).toList();
        if (parts.isEmpty()) {
            throw new IllegalArgumentException(
                    "no figure of that name; there are "
                            + String.join(", ", PARTS.stream().map(Part::name).toList()));
        }
        List<String> failed = new ArrayList<>();
        for (int i = 0; i < parts.size(); i++) {
            Part part = parts.get(i);
            Path folder = out.resolve(part.name());
            if (RunFolder.complete(folder)) {
                System.err.println(part.name() + " is there already");
                continue;
            }
            double left = parts.subList(i, parts.size()).stream().mapToDouble(Part::minutes).sum();
            List<String> words = words(part, folder);
            System.err.printf(
                    "%d of %d, about %.0f min left: saucr-bench %s%n",
                    i + 1, parts.size(), left, String.join(" ", words));
            if (BenchCommand.execute(words.toArray(String[]::new)) != 0) {
                failed.add(part.name());
            }
        }
        report(parts);
        if (!failed.isEmpty()) {
            System.err.println(
                    "saucr-bench: these did not end and are not in the report: "
                            + String.join(", ", failed)
                            + "; the same command continues with them");
            return INCOMPLETE;
        }
        return 0;
    }

    /** The command line of a part, in which options of --with replace the part's own. */
    private List<String> words(Part part, Path folder) {
        CommandSpec known = BenchCommand.subcommand(part.name());
        List<String> given =
                with.stream()
                        .filter(word -> known.findOption(word.replaceFirst("=.*", "")) != null)
                        .toList();
        List<String> words = new ArrayList<>();
        for (String word : part.words()) {
            String option = word.replaceFirst("=.*", "=");
            if (given.stream().noneMatch(other -> other.startsWith(option))) {
                words.add(word);
            }
        }
        words.addAll(given);
        words.add("--out=" + folder);
        if (Files.isDirectory(folder)) {
            words.add("--resume");
        }
        return words;
    }

    private void report(List<Part> parts) throws Exception {
        List<RunResult> results = new ArrayList<>();
        for (Part part : parts) {
            if (RunFolder.complete(out.resolve(part.name()))) {
                results.add(RunFolder.result(out.resolve(part.name())));
            }
        }
        if (!results.isEmpty()) {
            Path file = out.resolve("report.html");
            Files.writeString(file, HtmlReport.page(results));
            System.out.println(
                    "The report of %s of %s figures is in %s"
                            .formatted(results.size(), parts.size(), file));
        }
    }
}
