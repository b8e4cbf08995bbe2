package io.saucr.ensemble.cli;

import io.saucr.ensemble.LocalEnsemble;
import java.io.PrintWriter;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Stops the servers as an operator would, so that they write what they have in memory. */
@Command(
        name = "down",
        mixinStandardHelpOptions = true,
        description = "Stops the servers; their data stays unless --wipe is given.")
final class DownCommand implements Callable<Integer> {
    @Option(names = "--wipe", description = "Also remove the servers' data and logs.")
    private boolean wipe;

    @Spec private CommandSpec spec;

    @Override
    public Integer call() {
        return LocalEnsemble.exclusively(SaucrCommand.state(), this::down);
    }

    private int down() {
        PrintWriter out = spec.commandLine().getOut();
        Optional<LocalEnsemble> ensemble = LocalEnsemble.in(SaucrCommand.state());
        if (ensemble.isEmpty()) {
            out.println("There is no ensemble to stop.");
            return 0;
        }
        int running = ensemble.get().running().size();
        ensemble.get().stop();
        out.println(running == 0 ? "No server was running." : running + " servers stopped.");
        if (wipe) {
            ensemble.get().wipe();
            out.println("Data and logs removed.");
        }
        return 0;
    }
}
