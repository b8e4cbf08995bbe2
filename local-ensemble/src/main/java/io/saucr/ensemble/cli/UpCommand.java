package io.saucr.ensemble.cli;

import io.saucr.core.config.TimeLimit;
import io.saucr.ensemble.EnsembleException;
import io.saucr.ensemble.LocalEnsemble;
import io.saucr.ensemble.ServerProcess;
import io.saucr.ensemble.Table;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Starts an ensemble and waits until it serves. If it does not come up, or the command is
 * interrupted, every process that was started is ended, and what did not exist before is removed.
 */
@Command(
        name = "up",
        mixinStandardHelpOptions = true,
        description = "Starts an ensemble and waits until it serves.")
final class UpCommand implements Callable<Integer> {
    private static final Duration FAST_LIMIT = Duration.ofSeconds(10);

    @Option(
            names = {"-n", "--servers"},
            paramLabel = "N",
            description = "Number of servers: 3, 5 or 7 (default: the one of the data, else 5).")
    private Integer size;

    @Option(
            names = "--port-base",
            paramLabel = "PORT",
            description =
                    "Listen on PORT+1.. (clients), PORT+101.. (quorum), PORT+201.. (election) and"
                            + " PORT+301.. (admin server) instead of 2181.., 2881.., 3881.., 8081...")
    private int portBase = LocalEnsemble.USUAL_PORTS;

    @Option(
            names = {"-c", "--config"},
            paramLabel = "KEY=VALUE",
            description = "A line for every zoo.cfg, e.g. saucr.heartbeatInterval=10ms.")
    private Map<String, String> extra = new LinkedHashMap<>();

    @Option(
            names = "--timeout",
            paramLabel = "TIME",
            description =
                    "Give up if not every server serves by then: "
                            + TimeLimit.FORM
                            + " (default: 60s).")
    private Duration timeout = Duration.ofSeconds(60);

    @Spec private CommandSpec spec;

    @Override
    public Integer call() {
        if (size != null && size != 3 && size != 5 && size != 7) {
            throw new ParameterException(
                    spec.commandLine(), "-n " + size + ": an ensemble has 3, 5 or 7 servers");
        }
        return LocalEnsemble.exclusively(SaucrCommand.state(), this::up);
    }

    private int up() {
        Path state = SaucrCommand.state();
        Optional<LocalEnsemble> existing = LocalEnsemble.in(state);
        if (existing.isPresent() && !existing.get().running().isEmpty()) {
            return alreadyRunning(existing.get());
        }
        int chosen = size != null ? size : existing.map(LocalEnsemble::size).orElse(5);
        if (existing.isPresent() && existing.get().size() != chosen) {
            throw new EnsembleException(
                    ("the data in %s is of an ensemble of %s servers, not %s.\n%s\nIf"
                                    + " nobody needs that data any more, ./saucr down --wipe removes it.")
                            .formatted(state, existing.get().size(), chosen, elsewhere(chosen)));
        }
        LocalEnsemble ensemble =
                LocalEnsemble.setUp(SaucrCommand.root(), state, chosen, portBase, extra);
        boolean fresh = existing.isEmpty();
        Thread interrupted = new Thread(() -> undo(ensemble, fresh), "undo");
        Runtime.getRuntime().addShutdownHook(interrupted);
        spec.commandLine().getOut().println("Starting " + chosen + " servers ...");
        try {
            ensemble.start(ensemble.servers());
            ensemble.awaitServing(ensemble.servers(), timeout);
        } catch (EnsembleException e) {
            Runtime.getRuntime().removeShutdownHook(interrupted);
            undo(ensemble, fresh);
            throw new EnsembleException(
                    e.getMessage() + "\nThe other servers were stopped again.", e);
        }
        Runtime.getRuntime().removeShutdownHook(interrupted);
        ensemble.awaitFast(FAST_LIMIT);
        show(ensemble);
        return 0;
    }

    private int alreadyRunning(LocalEnsemble ensemble) {
        List<Integer> running = ensemble.running().stream().map(ServerProcess::id).toList();
        if (size != null && size != ensemble.size()) {
            throw new EnsembleException(
                    "an ensemble of %s servers is running; nothing is changed.\n%s"
                            .formatted(ensemble.size(), elsewhere(size)));
        }
        if (running.size() < ensemble.size()) {
            throw new EnsembleException(
                    ("servers %s of %s are running already; ./saucr start ID starts"
                                    + " another, ./saucr down stops them")
                            .formatted(running, ensemble.size()));
        }
        spec.commandLine().getOut().println("The ensemble is running already; nothing is changed.");
        show(ensemble);
        return 0;
    }

    /** How to have another ensemble, which takes nothing from the one that is there. */
    private static String elsewhere(int servers) {
        return ("For one of %s servers next to it, with its own folder and ports:"
                        + " SAUCR_STATE=FOLDER ./saucr up -n %s --port-base %s")
                .formatted(servers, servers, LocalEnsemble.freePortBase(servers));
    }

    private void show(LocalEnsemble ensemble) {
        spec.commandLine()
                .getOut()
                .println(Table.ofServers(ensemble.servers(), ensemble.reports()));
        spec.commandLine().getOut().println();
        SaucrCommand.printPlaces(ensemble, spec.commandLine().getOut());
    }

    private static void undo(LocalEnsemble ensemble, boolean fresh) {
        ensemble.killAll();
        if (fresh) {
            ensemble.wipe();
        }
    }
}
