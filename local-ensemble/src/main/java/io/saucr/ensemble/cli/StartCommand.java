package io.saucr.ensemble.cli;

import io.saucr.core.config.TimeLimit;
import io.saucr.ensemble.EnsembleException;
import io.saucr.ensemble.LocalEnsemble;
import io.saucr.ensemble.ServerProcess;
import io.saucr.ensemble.Table;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Starts servers of the ensemble that are down, on the data that they have. */
@Command(
        name = "start",
        mixinStandardHelpOptions = true,
        description = "Starts servers that were killed, on the data that they have.")
final class StartCommand implements Callable<Integer> {
    @Parameters(arity = "1..*", paramLabel = "ID")
    private List<Integer> ids;

    @Option(
            names = "--timeout",
            paramLabel = "TIME",
            description =
                    "Fail if they do not serve by then: " + TimeLimit.FORM + " (default: 60s).")
    private Duration timeout = Duration.ofSeconds(60);

    @Spec private CommandSpec spec;

    @Override
    public Integer call() {
        return LocalEnsemble.exclusively(SaucrCommand.state(), this::start);
    }

    private int start() {
        LocalEnsemble ensemble = SaucrCommand.ensemble();
        List<ServerProcess> servers = ids.stream().distinct().map(ensemble::server).toList();
        for (ServerProcess server : servers) {
            if (server.isAlive()) {
                throw new EnsembleException("server " + server.id() + " is running already");
            }
        }
        ensemble.start(servers);
        if (ensemble.running().size() >= ensemble.majority()) {
            ensemble.awaitServing(servers, timeout);
        }
        spec.commandLine()
                .getOut()
                .println(Table.ofServers(ensemble.servers(), ensemble.reports()));
        return 0;
    }
}
