package io.saucr.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.core.leader.AckProgressSubject;
import io.saucr.core.leader.FailureDetectorSubject;
import io.saucr.core.leader.LeaderStateSubject;
import io.saucr.core.leader.ModeControllerSubject;
import io.saucr.core.leader.ReplicationSetSubject;
import io.saucr.core.leader.RestartFenceSubject;
import io.saucr.core.log.KnowledgeSubject;
import io.saucr.core.log.LogDurabilitySubject;
import io.saucr.core.quorum.CommitRuleSubject;
import io.saucr.core.recovery.RecoverySubject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Runs the scenario files. A line is an input; the lines below it that begin with two spaces are
 * what the subject answers. Empty lines and lines that begin with # are for the reader. The folder
 * names the subject.
 *
 * <p>With {@code -Dscenarios.only=TEXT} only the files run whose path contains that text. With
 * {@code -Dscenarios.rewrite=true} the answers in the files are replaced by the actual ones: read
 * the diff.
 */
class ScenarioTest {
    private static final Path SCENARIOS = Path.of("src", "test", "resources", "scenarios");
    private static final String ONLY = System.getProperty("scenarios.only", "");
    private static final String INDENT = "  ";

    private static final Map<String, Supplier<ScenarioSubject>> SUBJECTS =
            Map.of(
                    "commit-rule", CommitRuleSubject::new,
                    "replication-set", ReplicationSetSubject::new,
                    "mode-controller", ModeControllerSubject::new,
                    "failure-detector", FailureDetectorSubject::new,
                    "log-durability", LogDurabilitySubject::new,
                    "recovery", RecoverySubject::new,
                    "restart-fence", RestartFenceSubject::new,
                    "knowledge", KnowledgeSubject::new,
                    "leader-state", LeaderStateSubject::new,
                    "ack-progress", AckProgressSubject::new);

    @TestFactory
    Stream<DynamicNode> scenarios() throws IOException {
        List<Path> files;
        try (Stream<Path> found = Files.walk(SCENARIOS)) {
            files =
                    found.filter(file -> file.toString().endsWith(".txt"))
                            .filter(file -> file.toString().contains(ONLY))
                            .sorted()
                            .toList();
        }
        assertThat(files).as("files whose path contains \"" + ONLY + "\"").isNotEmpty();
        return files.stream()
                .map(
                        file ->
                                DynamicTest.dynamicTest(
                                        SCENARIOS.relativize(file).toString(), () -> run(file)));
    }

    private static void run(Path file) throws IOException {
        ScenarioSubject subject = SUBJECTS.get(file.getParent().getFileName().toString()).get();
        List<String> expected = Files.readAllLines(file);
        List<String> actual = new ArrayList<>();
        for (String line : expected) {
            if (line.startsWith(INDENT)) {
                continue;
            }
            actual.add(line);
            if (!line.isBlank() && !line.startsWith("#")) {
                for (String answer : answers(subject, line)) {
                    actual.add(INDENT + answer);
                }
            }
        }
        if (Boolean.getBoolean("scenarios.rewrite")) {
            Files.write(file, actual);
        } else {
            assertThat(String.join("\n", actual)).isEqualTo(String.join("\n", expected));
        }
    }

    private static List<String> answers(ScenarioSubject subject, String line) {
        try {
            return subject.answer(new ScenarioInput(line));
        } catch (IllegalStateException | IllegalArgumentException e) {
            return List.of("refused: " + e.getMessage());
        }
    }
}
