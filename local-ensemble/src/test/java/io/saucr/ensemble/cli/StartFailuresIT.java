package io.saucr.ensemble.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.ensemble.LocalEnsemble;
import io.saucr.ensemble.ServerProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Ensembles that do not come up: what is said, and that nothing is left of them. */
class StartFailuresIT extends StateFolder {
    // Below those that the crash tester takes, and none of those of SaucrCommandIT.
    private static final String BASE = "18800";

    @Test
    void aTakenPortIsNamedWithItsServerAndNothingIsStarted() throws IOException {
        try (ServerSocket taken = new ServerSocket()) {
            taken.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 18902));
            CommandRun up = saucr("up", "-n", "3", "--port-base", BASE);
            assertThat(up.exitCode()).isEqualTo(1);
            assertThat(up.err())
                    .contains("port 18902 (quorum port of server 2)")
                    .contains("./saucr up --port-base ");
        }
        assertThat(state().resolve("servers")).doesNotExist();
        assertThat(saucr("status").err()).contains("there is no ensemble");
    }

    @Tag("long")
    @Test
    void anEnsembleThatComesUpHalfIsStoppedAndRemoved() throws IOException {
        // A file where server 2 wants a folder: it ends while the others run.
        Path obstacle = state().resolve("servers/2/data/version-2");
        Files.createDirectories(obstacle.getParent());
        Files.writeString(obstacle, "in the way");
        long before = serverProcesses();
        CommandRun up = saucr("up", "-n", "3", "--port-base", BASE);
        assertThat(up.exitCode()).isEqualTo(1);
        assertThat(up.err())
                .contains("server 2")
                .contains("ERROR")
                .contains("The other servers were stopped again");
        assertThat(serverProcesses()).isEqualTo(before);
        assertThat(state().resolve("servers")).doesNotExist();
        assertThat(LocalEnsemble.in(state())).isEqualTo(Optional.empty());
    }

    /** Processes whose command line names this test's folder. */
    private long serverProcesses() throws IOException {
        try (Stream<ProcessHandle> processes = ProcessHandle.allProcesses()) {
            return processes
                    .filter(
                            process ->
                                    process.info()
                                            .commandLine()
                                            .map(line -> line.contains(folder.toString()))
                                            .orElse(false))
                    .count();
        }
    }

    @Test
    void aConfigurationThatTheServersRefuseIsShown() {
        CommandRun up = saucr("up", "-n", "3", "--port-base", BASE, "-c", "tickTime=often");
        assertThat(up.exitCode()).isEqualTo(1);
        assertThat(up.err()).contains("often").contains("The other servers were stopped again");
        assertThat(state().resolve("servers")).doesNotExist();
    }

    @Tag("long")
    @Test
    void aServerThatDiesOnStartIsShownWithItsReason() throws IOException {
        assertThat(saucr("up", "-n", "3", "--port-base", BASE, "-c", "saucr.enabled=false").err())
                .isEmpty();
        assertThat(saucr("kill", "1").exitCode()).isZero();
        ServerProcess one = ensemble().server(1);
        Files.writeString(state().resolve("servers/1/data/myid"), "not a number\n");
        CommandRun start = saucr("start", "1");
        assertThat(start.exitCode()).isEqualTo(1);
        assertThat(start.err()).contains("server 1").contains("not a number");
        assertThat(one.isAlive()).isFalse();
        assertThat(ensemble().running()).hasSize(2);
    }
}
