package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** kazoo, the Python client. Curator has tests of its own. */
class ForeignClientsIT {
    @Test
    void kazooNodesTransactionsWatchesLocksAndQueues() throws Exception {
        Path packages = PythonPackages.installed("python", "requirements.txt", "kazoo");
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.start(SaucrEnsemble.describe("foreign-clients", 3))) {
            ensemble.awaitFast();
            String output =
                    python(
                            Map.of("PYTHONPATH", packages.toString()),
                            PythonPackages.SOURCES.resolve("kazoo_client.py").toString(),
                            ensemble.connectString());
            assertThat(output).contains("kazoo: all is well");
        }
    }

    private static String python(Map<String, String> environment, String... arguments)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("python3"));
        command.addAll(List.of(arguments));
        File log = BuiltDistribution.target().resolve("python.log").toFile();
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log);
        builder.environment().putAll(environment);
        Process process = builder.start();
        boolean ended = process.waitFor(SaucrEnsemble.PATIENCE.toSeconds(), TimeUnit.SECONDS);
        process.destroyForcibly();
        String output = Files.readString(log.toPath());
        assertThat(ended && process.exitValue() == 0)
                .as("%s%n%s", String.join(" ", command), output)
                .isTrue();
        return output;
    }
}
