package io.saucr.crash;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is kept of the runs of a test that failed. */
class FailedRunsTest {
    @TempDir Path folder;

    private final AssertionError failure = new AssertionError("expected 1");

    private Path work() {
        return folder.resolve("work");
    }

    private FailedRuns runs() {
        return new FailedRuns(this::work, folder.resolve("target"));
    }

    private void write(String file) throws IOException {
        Path path = work().resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, file);
    }

    @Test
    void historiesAndLogsAreKeptWhereTheFailureSays() throws Exception {
        write("out/histories/h.edn");
        write("out/failures/run/server-1.log");
        write("out/servers/server-2/server.log");
        write("out/nemesis.jsonl");
        write("out/report.txt");
        write("distribution/lib/some.jar");
        write("out/servers/server-2/data/version-2/log.100000001");
        for (String name : new String[] {"SomeIT.fails", "SomeIT.fails-2"}) {
            Path kept = folder.resolve("target/failed-runs").resolve(name);
            assertThat(runs().kept("SomeIT.fails", failure))
                    .hasMessage("expected 1\nHistories and logs are kept in " + kept)
                    .hasCause(failure);
            assertThat(kept.resolve("out/histories/h.edn")).hasContent("out/histories/h.edn");
            assertThat(kept.resolve("out/failures/run/server-1.log")).exists();
            assertThat(kept.resolve("out/servers/server-2/server.log")).exists();
            assertThat(kept.resolve("out/nemesis.jsonl")).exists();
            assertThat(kept.resolve("out/report.txt")).exists();
            assertThat(kept.resolve("distribution")).doesNotExist();
            assertThat(kept.resolve("out/servers/server-2/data")).doesNotExist();
        }
    }

    @Test
    void withoutARunTheFailureStaysAsItIs() throws Exception {
        write("distribution/lib/some.jar");
        assertThat(runs().kept("SomeIT.fails", failure)).isSameAs(failure);
        assertThat(folder.resolve("target")).doesNotExist();
        FailedRuns without = new FailedRuns(() -> folder.resolve("none"), folder);
        assertThat(without.kept("SomeIT.fails", failure)).isSameAs(failure);
        assertThat(failure.getSuppressed()).hasSize(1);
    }
}
