package io.saucr.ensemble.cli;

import io.saucr.ensemble.EnsembleException;
import io.saucr.ensemble.LocalEnsemble;
import io.saucr.ensemble.ServerProcess;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Ends servers as a crash does. Nothing is ended unless all of the ids are right. */
@Command(
        name = "kill",
        mixinStandardHelpOptions = true,
        description = "Kills servers (kill -9), as a crash does.")
final class KillCommand implements Callable<Integer> {
    @Parameters(arity = "1..*", paramLabel = "ID")
    private List<Integer> ids;

    @Spec private CommandSpec spec;

    @Override
    public Integer call() {
        return LocalEnsemble.exclusively(SaucrCommand.state(), this::kill);
    }

    private int kill() {
        LocalEnsemble ensemble = SaucrCommand.ensemble();
        List<ServerProcess> servers = ids.stream().distinct().map(ensemble::server).toList();
        for (ServerProcess server : servers) {
            if (!server.isAlive()) {
                throw new EnsembleException("server " + server.id() + " is not running");
            }
        }
        for (ServerProcess server : servers) {
            server.kill();
            spec.commandLine().getOut().println("Server " + server.id() + " killed.");
        }
        int left = ensemble.running().size();
        if (left < ensemble.majority()) {
            spec.commandLine()
                    .getOut()
                    .println(
                            ("%s of %s servers are left, fewer than a majority: the"
                                            + " ensemble does not serve until others are started.")
                                    .formatted(left, ensemble.size()));
        }
        return 0;
    }
}
