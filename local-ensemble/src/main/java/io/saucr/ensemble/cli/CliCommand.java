package io.saucr.ensemble.cli;

import io.saucr.ensemble.EnsembleException;
import io.saucr.ensemble.LocalEnsemble;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Unmatched;

/** Runs the distribution's zkCli.sh against the ensemble. */
@Command(
        name = "cli",
        mixinStandardHelpOptions = true,
        description = "ZooKeeper's interactive client, or one of its commands: ./saucr cli ls /")
final class CliCommand implements Callable<Integer> {
    // Unmatched, not parameters: the client's commands have options of their own.
    @Unmatched private List<String> command = new ArrayList<>();

    @Override
    public Integer call() throws IOException, InterruptedException {
        LocalEnsemble ensemble = SaucrCommand.ensemble();
        if (ensemble.running().isEmpty()) {
            throw new EnsembleException("no server is running; ./saucr up starts them");
        }
        List<String> line = new ArrayList<>();
        line.add(ensemble.script("zkCli.sh").toString());
        line.add("-server");
        line.add(ensemble.connectString());
        line.addAll(command);
        ProcessBuilder builder = new ProcessBuilder(line).inheritIO();
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        return builder.start().waitFor();
    }
}
