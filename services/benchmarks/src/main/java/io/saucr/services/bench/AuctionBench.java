package io.saucr.services.bench;

import io.saucr.services.bench.Rounds.Measurement;
import io.saucr.services.bench.RoundsReport.Figure;
import io.saucr.services.examples.auction.AuctionDemo;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The auction of section 5.4 under kills: house and bank, two processes that are killed by SIGKILL
 * again and again, as services and in a plain form that sends and handles at least once. The same
 * seed for both in each round.
 */
@Command(
        name = "auction",
        description =
                "Runs an auction house and a bank, two processes that are killed again and again, as"
                        + " services and in a plain at-least-once form, and counts what is wrong then.",
        mixinStandardHelpOptions = true)
final class AuctionBench implements Callable<Integer> {

    static final String SERVICES = "services";
    static final String PLAIN = "at-least-once";

    static final String WRONG = "violations";
    static final String CENTS = "cents missing or too many";
    static final String KILLS = "kills";
    static final String RATE = "items/s";

    @Mixin private RoundsOptions options;

    @Option(
            names = "--seconds",
            paramLabel = "N",
            defaultValue = "30",
            description = "How long each trades, from 5 to 3,600 (default: ${DEFAULT-VALUE}).")
    private int seconds;

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "1",
            description =
                    "Of the times of the kills in the first round; one more in each round (default:"
                            + " ${DEFAULT-VALUE}).")
    private long seed;

    private long runs;

    @Override
    public Integer call() throws Exception {
        options.check();
        RoundsOptions.check("--seconds", seconds, 5, 3_600);
        Duration time = Duration.ofSeconds(seconds);
        PrintWriter silent = new PrintWriter(PrintWriter.nullWriter());
        Map<String, RoundsOptions.Trial> trials = new LinkedHashMap<>();
        trials.put(
                SERVICES,
                new RoundsOptions.Trial(
                        "services of this library, each turn forced",
                        folder ->
                                figures(
                                        new AuctionDemo(folder, silent, nextSeed())
                                                .durable(time))));
        trials.put(
                PLAIN,
                new RoundsOptions.Trial(
                        "the same handlers; state and outbox are written and forced, then the sender gets"
                                + " its answer, and sends again without one",
                        folder ->
                                figures(new AuctionDemo(folder, silent, nextSeed()).plain(time))));
        List<Measurement> measured = options.measure(trials);
        options.report(
                options.folder(),
                "An auction whose processes are killed",
                trials,
                List.of(
                        new Figure(WRONG, false),
                        new Figure(CENTS, false),
                        new Figure(KILLS, false),
                        new Figure(RATE, true)),
                measured);
        boolean sound =
                measured.stream()
                        .filter(it -> it.contender().equals(SERVICES))
                        .allMatch(it -> it.figures().get(WRONG) == 0);
        return sound ? 0 : 1;
    }

    /** Two runs are a round. */
    private long nextSeed() {
        return seed + runs++ / 2;
    }

    /** Items and accounts that are not as they must be, each counted. */
    private Map<String, Double> figures(AuctionDemo.Result result) {
        long cents = Math.abs(result.books().cents() - result.depositedCents());
        long wrong =
                (long) result.progress().twice()
                        + result.books().twice()
                        + result.progress().open()
                        + Math.abs(result.progress().offered() - result.offered())
                        + Math.abs(result.books().paid() - result.progress().sold())
                        + result.books().below();
        if (wrong == 0 && !result.violations().isEmpty()) {
            // Nothing but money is missing.
            wrong = result.violations().size();
        }
        Map<String, Double> figures = new LinkedHashMap<>();
        figures.put(WRONG, (double) wrong);
        figures.put(CENTS, (double) cents);
        figures.put(KILLS, (double) result.kills());
        figures.put(RATE, (double) result.offered() / seconds);
        return figures;
    }
}
