package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** {@code bin/saucr} of the built distribution, as a process of its own. Stateless. */
final class ToolProcess {
    private static final ObjectMapper JSON = new ObjectMapper();

    private ToolProcess() {}

    /** What the tool said. */
    record Said(int exitCode, String out, String err) {
        JsonNode json() throws IOException {
            return JSON.readTree(out);
        }

        /** The row of a table that begins with the words. */
        String row(String begin) {
            return out.lines()
                    .filter(line -> line.startsWith(begin))
                    .findFirst()
                    .orElseThrow(() -> new AssertionError(begin + " is not in\n" + out + err));
        }
    }

    /**
     * A run that is not started yet. It prints into files {@code out} and {@code err} with a
     * number.
     *
     * @param folder where it runs, and where these files are
     */
    static ProcessBuilder builder(Path folder, String endpoints, String admins, String... arguments)
            throws IOException {
        List<String> line = new ArrayList<>();
        line.add(BuiltDistribution.home().resolve("bin/saucr").toString());
        line.addAll(List.of(arguments));
        ProcessBuilder builder =
                new ProcessBuilder(line)
                        .directory(folder.toFile())
                        .redirectOutput(Files.createTempFile(folder, "out", "").toFile())
                        .redirectError(Files.createTempFile(folder, "err", "").toFile());
        builder.environment()
                .putAll(
                        Map.of(
                                "JAVA_HOME",
                                System.getProperty("java.home"),
                                "SAUCR_ENDPOINTS",
                                endpoints,
                                "SAUCR_ADMIN",
                                admins));
        return builder;
    }

    /** Runs them at the same time, to their ends. */
    static List<Said> run(List<ProcessBuilder> builders, Duration limit) throws Exception {
        List<Process> processes = new ArrayList<>();
        for (ProcessBuilder builder : builders) {
            processes.add(builder.start());
        }
        List<Said> said = new ArrayList<>();
        for (int i = 0; i < processes.size(); i++) {
            Process process = processes.get(i);
            assertThat(process.waitFor(limit.toSeconds(), TimeUnit.SECONDS)).isTrue();
            said.add(
                    new Said(
                            process.exitValue(),
                            text(builders.get(i).redirectOutput()),
                            text(builders.get(i).redirectError())));
        }
        return said;
    }

    private static String text(ProcessBuilder.Redirect file) throws IOException {
        return Files.readString(file.file().toPath());
    }
}
