package io.saucr.bench.cli;

import io.saucr.bench.result.Sizes;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** What an operation costs as an ensemble grows, one size at a time. */
@Command(
        name = "sizes",
        description = {
            "Update-only load with 8 clients on hdd: CPU time and calls of a write against the number"
                    + " of znodes, idle sessions, watches and observers, and the size of values.",
            "Each size is changed alone: the others are 0, and values have the first of their"
                    + " sizes.",
            "The option --value-bytes has the sizes of values; here its default is 1024, 16384,"
                    + " 131072 and 900000."
        },
        mixinStandardHelpOptions = true)
final class SizesCommand extends BenchCommand.FigureCommand {
    @Option(
            names = "--znodes",
            split = ",",
            paramLabel = "N",
            description =
                    "Numbers of znodes besides those that are written (default: ${DEFAULT-VALUE}).",
            defaultValue = "10000,100000")
    private List<Integer> znodes;

    @Option(
            names = "--sessions",
            split = ",",
            paramLabel = "N",
            description = "Numbers of idle sessions (default: ${DEFAULT-VALUE}).",
            defaultValue = "300,3000")
    private List<Integer> sessions;

    @Option(
            names = "--watches",
            split = ",",
            paramLabel = "N",
            description =
                    "Numbers of watches of nodes that nothing changes (default: ${DEFAULT-VALUE}).",
            defaultValue = "10000,100000")
    private List<Integer> watches;

    @Option(
            names = "--observers",
            split = ",",
            paramLabel = "N",
            description =
                    "Numbers of observers besides the voters, to which no client is connected"
                            + " (default: ${DEFAULT-VALUE}).",
            defaultValue = "1,3")
    private List<Integer> observers;

    @Override
    Figure figure() {
        List<Sizes> sizes = new ArrayList<>(List.of(Sizes.NONE));
        add(sizes, znodes, Sizes::ofZnodes);
        add(sizes, sessions, Sizes::ofSessions);
        add(sizes, watches, Sizes::ofWatches);
        add(sizes, observers, Sizes::ofObservers);
        return Figure.sizes(sizes);
    }

    /** A 0 adds nothing: that case is there. */
    private static void add(List<Sizes> sizes, List<Integer> numbers, IntFunction<Sizes> kind) {
        numbers.stream().filter(number -> number != 0).map(kind::apply).forEach(sizes::add);
    }
}
