package io.saucr.model.checker;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Replays the schedules that break an invariant when a rule is broken, a file each. With {@code
 * -Dscenarios.only=TEXT} only the files run whose path contains that text. With {@code
 * -Dscenarios.rewrite=true} the answers in the files are replaced by the actual ones: read the
 * diff.
 */
class ScenarioTest {
    private static final Path SCENARIOS = Path.of("src", "test", "resources", "scenarios", "model");
    private static final String ONLY = System.getProperty("scenarios.only", "");

    @TestFactory
    Stream<DynamicNode> scenarios() throws IOException {
        List<Path> files;
        try (Stream<Path> found = Files.list(SCENARIOS)) {
            files = found.filter(file -> file.toString().contains(ONLY)).sorted().toList();
        }
        assertThat(files).as("files whose path contains \"" + ONLY + "\"").isNotEmpty();
        return files.stream()
                .map(file -> DynamicTest.dynamicTest("" + file.getFileName(), () -> run(file)));
    }

    private static void run(Path file) throws IOException {
        List<String> expected = Files.readAllLines(file);
        List<String> actual = Scenario.replay(expected);
        if (Boolean.getBoolean("scenarios.rewrite")) {
            Files.write(file, actual);
        } else {
            assertThat(String.join("\n", actual)).isEqualTo(String.join("\n", expected));
        }
    }
}
