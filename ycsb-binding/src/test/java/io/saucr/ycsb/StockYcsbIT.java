package io.saucr.ycsb;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.ensemble.Distribution;
import io.saucr.ensemble.Ensemble;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** YCSB as it is released, with nothing added but the jar that the build makes for it. */
class StockYcsbIT {
    private static final List<String> YCSB_JARS =
            List.of(
                    "core-",
                    "htrace-core4-",
                    "jackson-mapper-asl-",
                    "jackson-core-asl-",
                    "HdrHistogram-");

    @TempDir Path work;

    private static List<String> classPath() throws Exception {
        List<String> entries = new ArrayList<>();
        for (String entry :
                System.getProperty(
                                "surefire.test.class.path", System.getProperty("java.class.path"))
                        .split(File.pathSeparator)) {
            String file = Path.of(entry).getFileName().toString();
            if (YCSB_JARS.stream().anyMatch(file::startsWith)) {
                entries.add(entry);
            }
        }
        try (Stream<Path> built = Files.list(Path.of("target"))) {
            entries.add(
                    built.filter(path -> path.toString().endsWith("-ycsb.jar"))
                            .findFirst()
                            .orElseThrow()
                            .toString());
        }
        return entries;
    }

    private static String ycsb(String action, String servers) throws Exception {
        Process process =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-Xmx128m",
                                "-XX:TieredStopAtLevel=1",
                                "-cp",
                                String.join(File.pathSeparator, classPath()),
                                "site.ycsb.Client",
                                "-db",
                                "io.saucr.ycsb.ZooKeeperBinding",
                                action,
                                "-P",
                                "../workloads/workloada",
                                "-threads",
                                "4",
                                "-p",
                                "recordcount=50",
                                "-p",
                                "operationcount=200",
                                "-p",
                                "zookeeper.connectString=" + servers + "/ycsb")
                        .redirectErrorStream(true)
                        .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
        return output;
    }

    @Test
    void loadsAndRunsAWorkload() throws Exception {
        try (Ensemble ensemble = Ensemble.of(Distribution.stock(), work).build()) {
            ensemble.start();
            ensemble.awaitServing(Duration.ofSeconds(90));
            assertThat(ycsb("-load", ensemble.connectString()))
                    .contains("[INSERT], Return=OK, 50")
                    .doesNotContain("Return=ERROR");
            assertThat(ycsb("-t", ensemble.connectString()))
                    .contains("[READ], Return=OK", "[UPDATE], Return=OK")
                    .doesNotContain("Return=ERROR");
            ZooKeeper client = new ZooKeeper(ensemble.connectString(), 10_000, event -> {});
            try {
                client.sync("/ycsb/usertable");
                assertThat(client.getChildren("/ycsb/usertable", false)).hasSize(50);
            } finally {
                client.close();
            }
        }
    }
}
