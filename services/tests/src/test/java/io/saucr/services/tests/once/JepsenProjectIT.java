package io.saucr.services.tests.once;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.ensemble.Ensemble;
import io.saucr.services.tests.once.BothServers.Kind;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What of the Jepsen project in {@code jepsen/} needs no Jepsen, tried with Clojure alone: its
 * checkers on histories of each kind, and its clients on real servers. Jepsen itself is not on
 * Maven Central; the project's page says how its runs are made.
 */
class JepsenProjectIT {
    private static final Path PROJECT = Path.of("../../jepsen");
    private static final Pattern SUMMARY =
            Pattern.compile("(?s).*Ran (\\d+) tests.*\n(\\d+) failures, (\\d+) errors\\..*");

    @TempDir Path work;

    @Test
    void itsCheckersAndClientsDoWhatTheySay() throws Exception {
        doWhatTheySay(Kind.OURS);
    }

    @Tag("long")
    @Test
    void itsCheckersAndClientsDoWhatTheySayOnApachesServers() throws Exception {
        doWhatTheySay(Kind.STOCK);
    }

    private void doWhatTheySay(Kind whose) throws Exception {
        try (BothServers servers = new BothServers(work.resolve("servers"))) {
            Ensemble ensemble = servers.of(whose);
            String connect = ensemble.connectString();
            Path output = work.resolve("output");
            String classes =
                    System.getProperty(
                            "surefire.test.class.path", System.getProperty("java.class.path"));
            Process tests =
                    new ProcessBuilder(
                                    Path.of(System.getProperty("java.home"), "bin", "java")
                                            .toString(),
                                    "-XX:TieredStopAtLevel=1",
                                    "-Dlogback.configurationFile=io/saucr/services/tests/crash/logback.xml",
                                    "-Dsaucr.jepsen.connect=" + connect,
                                    "-Dsaucr.jepsen.apaches=" + (whose == Kind.STOCK),
                                    "-cp",
                                    "src:test:resources:" + classes,
                                    "clojure.main",
                                    "-e",
                                    "(require 'clojure.test 'saucr.checks-test 'saucr.clients-test)"
                                            + "(clojure.test/run-tests 'saucr.checks-test 'saucr.clients-test)"
                                            + "(shutdown-agents)")
                            .directory(PROJECT.toFile())
                            .redirectErrorStream(true)
                            .redirectOutput(output.toFile())
                            .start();
            try {
                assertThat(tests.waitFor(5, TimeUnit.MINUTES)).as("the tests end").isTrue();
            } finally {
                tests.destroyForcibly();
            }
            String said = Files.readString(output);
            Matcher summary = SUMMARY.matcher(said);
            assertThat(summary.matches()).as(said).isTrue();
            assertThat(summary.group(2) + summary.group(3)).as(said).isEqualTo("00");
            assertThat(Integer.parseInt(summary.group(1))).as(said).isGreaterThan(15);
        }
    }
}
