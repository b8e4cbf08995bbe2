package io.saucr.services.tool;

import io.saucr.services.examples.auction.AuctionDemo;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code bin/saucr-services demo}. */
@Command(
        name = "demo",
        description =
                "Runs an auction house and a bank as two processes, kills them by SIGKILL again and"
                        + " again, and counts: was each item sold once, is any cent lost? Then the"
                        + " same services in a plain at-least-once form.")
final class DemoCommand implements Callable<Integer> {

    @Option(
            names = "--seconds",
            paramLabel = "N",
            defaultValue = "60",
            description = "How long, from 5 to 3,600 (default: ${DEFAULT-VALUE}).")
    private int seconds;

    @Option(
            names = "--plain-seconds",
            paramLabel = "N",
            defaultValue = "20",
            description =
                    "How long the plain form runs, up to 3,600, 0 for not at all"
                            + " (default: ${DEFAULT-VALUE}).")
    private int plainSeconds;

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "1",
            description = "Of the times of the kills (default: ${DEFAULT-VALUE}).")
    private long seed;

    @Option(
            names = "--work",
            paramLabel = "FOLDER",
            description = "An empty folder for all files (default: a new temporary one).")
    private Path work;

    @Spec private CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        if (seconds < 5 || seconds > 3_600 || plainSeconds < 0 || plainSeconds > 3_600) {
            throw new IllegalArgumentException(
                    "--seconds is from 5 to 3600 and --plain-seconds from 0 to 3600, not %s and %s"
                            .formatted(seconds, plainSeconds));
        }
        Path folder = work == null ? Files.createTempDirectory("saucr-services-demo") : work;
        Files.createDirectories(folder);
        try (Stream<Path> files = Files.list(folder)) {
            if (files.findAny().isPresent()) {
                throw new IllegalArgumentException(
                        "--work is an empty folder, and there are files in " + folder);
            }
        }
        PrintWriter out = spec.commandLine().getOut();
        out.println("Durable services, " + seconds + " s; files and logs: " + folder);
        out.flush();
        AuctionDemo.Result durable =
                new AuctionDemo(folder, out, seed).durable(Duration.ofSeconds(seconds));
        boolean sound = report("Durable services", durable, out);
        if (plainSeconds > 0) {
            out.println("The same services, at least once, " + plainSeconds + " s:");
            out.flush();
            AuctionDemo.Result plain =
                    new AuctionDemo(folder, out, seed).plain(Duration.ofSeconds(plainSeconds));
            boolean unused = report("At least once", plain, out);
        }
        return sound ? 0 : 1;
    }

    private static boolean report(String what, AuctionDemo.Result result, PrintWriter out) {
        List<String> violations = result.violations();
        out.println(what + ": " + result);
        if (violations.isEmpty()) {
            out.println(what + ": every item was sold once at most, and no cent was lost.");
        }
        violations.forEach(each -> out.println(what + ": WRONG: " + each));
        out.flush();
        return violations.isEmpty();
    }
}
