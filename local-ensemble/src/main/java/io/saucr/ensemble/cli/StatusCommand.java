package io.saucr.ensemble.cli;

import io.saucr.ensemble.EnsembleException;
import io.saucr.ensemble.LocalEnsemble;
import io.saucr.ensemble.ServerReport;
import io.saucr.ensemble.Table;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Shows the servers. Exit code 0 when the ensemble serves. */
@Command(
        name = "status",
        mixinStandardHelpOptions = true,
        description =
                "Shows role, recovery state, last zxid and LLE of each server, and the mode, which is"
                        + " the leader's.")
final class StatusCommand implements Callable<Integer> {
    private static final String CLEAR_SCREEN = "\033[H\033[2J";

    @Option(names = "--watch", description = "Show it again every second, until interrupted.")
    private boolean watch;

    @Spec private CommandSpec spec;

    @Override
    public Integer call() throws InterruptedException {
        LocalEnsemble ensemble = SaucrCommand.ensemble();
        PrintWriter out = spec.commandLine().getOut();
        while (watch) {
            String table = Table.ofServers(ensemble.servers(), ensemble.reports()).toString();
            out.println((Boolean.getBoolean("saucr.terminal") ? CLEAR_SCREEN : "") + table);
            Thread.sleep(1000);
        }
        List<ServerReport> reports = ensemble.reports();
        if (ensemble.running().isEmpty()) {
            throw new EnsembleException(
                    "none of the "
                            + ensemble.size()
                            + " servers is running; ./saucr up starts them");
        }
        out.println(Table.ofServers(ensemble.servers(), reports));
        out.println();
        if (!LocalEnsemble.serves(reports)) {
            throw new EnsembleException("the ensemble does not serve at present");
        }
        SaucrCommand.printPlaces(ensemble, out);
        return 0;
    }
}
