package io.saucr.ycsb;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What {@code bin/saucr-ycsb} says where there is nothing to measure. */
class YcsbCommandTest {
    private record Result(int exitCode, String output) {}

    private static Result ycsb(String... more) throws Exception {
        List<String> command =
                new ArrayList<>(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-Xmx64m",
                                "-XX:TieredStopAtLevel=1",
                                "-Dlogback.configurationFile=io/saucr/ycsb/quiet-logback.xml",
                                "-cp",
                                System.getProperty("java.class.path")
                                        + File.pathSeparator
                                        + System.getProperty("surefire.test.class.path", ""),
                                YcsbCommand.class.getName(),
                                "-db",
                                ZooKeeperBinding.class.getName(),
                                "-t"));
        command.addAll(List.of(more));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Result(process.waitFor(), output);
    }

    @Test
    void withoutAServerItFailsWithOneSentence() throws Exception {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        assertThat(
                        ycsb(
                                "-P",
                                "../workloads/workloada",
                                "-p",
                                "zookeeper.connectTimeout=500",
                                "-p",
                                "zookeeper.connectString=127.0.0.1:" + port))
                .isEqualTo(
                        new Result(
                                1,
                                "saucr-ycsb: no ZooKeeper server of 127.0.0.1:"
                                        + port
                                        + " answered within 500 ms\n"));
    }

    @Test
    void aWorkloadThatIsMissingIsNamed() throws Exception {
        assertThat(ycsb("-P", "workloads/none"))
                .isEqualTo(
                        new Result(1, "saucr-ycsb: workloads/none cannot be read: no such file\n"));
        assertThat(ycsb("-p", "zookeeper.connectString=127.0.0.1:1"))
                .isEqualTo(
                        new Result(
                                1,
                                "saucr-ycsb: no workload: add -P workloads/workloada, for"
                                        + " example\n"));
    }

    @Test
    void aSettingThatIsWrongIsNamed() throws Exception {
        Result result = ycsb("-P", "../workloads/workloada", "-p", "zookeeper.connectTimeout=soon");
        assertThat(result.exitCode).isEqualTo(1);
        assertThat(result.output.lines()).hasSize(1);
        assertThat(result.output).startsWith("saucr-ycsb: zookeeper.connectTimeout=soon: expected");
    }
}
