package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Servers inside the process that uses them ({@code ZooKeeperServerEmbedded}), as curator-test
 * starts them, with our jar in the place of Apache's. They run in a JVM of their own, whose class
 * path has no other ZooKeeper.
 */
class EmbeddedServersIT {
    /**
     * A class of each library that curator-test and the program need besides those of the server.
     */
    private static final List<String> NEEDED =
            List.of(
                    "org.apache.curator.test.TestingCluster",
                    "org.apache.curator.framework.CuratorFramework",
                    "org.apache.curator.RetryLoop",
                    "com.google.common.collect.ImmutableList",
                    "com.google.common.util.concurrent.internal.InternalFutureFailureAccess",
                    "org.assertj.core.api.Assertions",
                    "org.awaitility.Awaitility",
                    "org.hamcrest.Matcher",
                    "net.bytebuddy.ByteBuddy",
                    "io.saucr.ensemble.Ensemble",
                    "io.saucr.tests.ensemble.CuratorTestServers");

    @Test
    void curatorTestRunsOnOurJarWithSaucrOffAndOn() throws Exception {
        Set<String> path = new LinkedHashSet<>();
        try (Stream<Path> jars = Files.list(BuiltDistribution.home().resolve("lib"))) {
            jars.sorted().forEach(jar -> path.add(jar.toString()));
        }
        assertThat(path).noneMatch(jar -> jar.matches(".*/zookeeper-3[^/]*\\.jar"));
        path.add(BuiltDistribution.home().resolve("conf").toString());
        for (String type : NEEDED) {
            path.add(
                    Path.of(
                                    Class.forName(type)
                                            .getProtectionDomain()
                                            .getCodeSource()
                                            .getLocation()
                                            .toURI())
                            .toString());
        }
        Path folder = Files.createDirectories(SaucrEnsemble.folder("embedded"));
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(
                List.of(
                        "-Xmx192m",
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-Xshare:auto",
                        "-Djava.io.tmpdir=" + folder,
                        "-cp",
                        String.join(File.pathSeparator, path),
                        CuratorTestServers.class.getName()));
        File log = folder.resolve("log").toFile();
        Process process =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log).start();
        boolean ended = process.waitFor(SaucrEnsemble.PATIENCE.toSeconds(), TimeUnit.SECONDS);
        process.destroyForcibly();
        List<String> output = Files.readAllLines(log.toPath());
        assertThat(ended && process.waitFor() == 0)
                .as(
                        "%s:%n%s",
                        log,
                        String.join(
                                "\n",
                                output.subList(Math.max(0, output.size() - 60), output.size())))
                .isTrue();
        assertThat(output).contains(CuratorTestServers.END);
    }
}
