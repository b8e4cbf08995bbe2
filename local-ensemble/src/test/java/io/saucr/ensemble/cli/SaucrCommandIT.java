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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands on real servers, started from the distribution that the build has made. */
class SaucrCommandIT {
    // Below those that the crash tester takes, whose commands are tested beside this.
    private static final String BASE = "18400";
    private static final String OTHER_BASE = "18800";

    @TempDir Path folder;

    @AfterEach
    void leaveNoProcess() {
        LocalEnsemble.in(state()).ifPresent(LocalEnsemble::killAll);
    }

    private Path state() {
        return folder.resolve("state");
    }

    private CommandRun saucr(String... args) {
        return CommandRun.of(state(), args);
    }

    private LocalEnsemble ensemble() {
        return LocalEnsemble.in(state()).orElseThrow();
    }

    @Test
    void withoutAnEnsembleEachCommandSaysSo() {
        for (String command : new String[] {"status", "cli", "demo"}) {
            CommandRun run = saucr(command);
            assertThat(run.exitCode()).as(command).isEqualTo(1);
            assertThat(run.err()).as(command).contains("there is no ensemble; ./saucr up");
        }
        assertThat(saucr("kill", "1").err()).contains("there is no ensemble");
        assertThat(saucr("start", "1").err()).contains("there is no ensemble");
        assertThat(saucr("down").exitCode()).isZero();
    }

    @Test
    void wrongUsageIsNotTheSameAsFailure() {
        assertThat(saucr().exitCode()).isEqualTo(2);
        assertThat(saucr("kill").exitCode()).isEqualTo(2);
        assertThat(saucr("kill", "x").exitCode()).isEqualTo(2);
        CommandRun four = saucr("up", "-n", "4");
        assertThat(four.exitCode()).isEqualTo(2);
        assertThat(four.err()).contains("3, 5 or 7");
    }

    /** One ensemble through all commands, to keep the number of starts low. */
    @Test
    void upKillStartDown() throws IOException {
        CommandRun up = saucr("up", "-n", "3", "--port-base", BASE);
        assertThat(up.err()).isEmpty();
        assertThat(up.exitCode()).isZero();
        assertThat(up.out())
                .contains("leader", "follower", "last zxid", "LLE")
                .contains("Connect string: 127.0.0.1:18401,127.0.0.1:18402,127.0.0.1:18403");

        CommandRun status = saucr("status");
        assertThat(status.exitCode()).isZero();
        assertThat(status.out().lines().filter(line -> line.contains("follower"))).hasSize(2);

        CommandRun again = saucr("up");
        assertThat(again.exitCode()).isZero();
        assertThat(again.out()).contains("running already; nothing is changed");
        CommandRun other = saucr("up", "-n", "5");
        assertThat(other.exitCode()).isEqualTo(1);
        assertThat(other.err()).contains("ensemble of 3 servers is running");

        CommandRun unknown = saucr("kill", "3", "9");
        assertThat(unknown.exitCode()).isEqualTo(1);
        assertThat(unknown.err()).contains("there is no server 9; the servers are [1, 2, 3]");
        assertThat(ensemble().running()).hasSize(3);

        assertThat(saucr("kill", "3").exitCode()).isZero();
        assertThat(saucr("status").out()).containsPattern("3 +down");
        assertThat(saucr("kill", "3").err()).contains("server 3 is not running");
        CommandRun partly = saucr("up");
        assertThat(partly.exitCode()).isEqualTo(1);
        assertThat(partly.err()).contains("servers [1, 2] of 3 are running already");

        // The killed server has left its pid file; make it name a process that runs, but no server.
        Path pidFile = state().resolve("servers/3/zk.pid");
        Files.writeString(pidFile, ProcessHandle.current().pid() + "\n");
        assertThat(ensemble().server(3).isAlive()).isFalse();
        assertThat(saucr("kill", "3").err()).contains("server 3 is not running");
        Files.writeString(pidFile, "999999999\n");
        assertThat(saucr("start", "3").exitCode()).isZero();
        assertThat(saucr("start", "3").err()).contains("server 3 is running already");

        CommandRun demo = saucr("demo", "--phase", "2", "--clients", "2", "--in-flight", "4");
        assertThat(demo.err()).isEmpty();
        assertThat(demo.exitCode()).as(demo.out()).isZero();
        assertThat(demo.out())
                .contains("slow after", "--- 1 down ---", "Fast again", "--- all back ---")
                .containsPattern("All [0-9,]+ acknowledged writes are there, on every server");

        CommandRun down = saucr("down");
        assertThat(down.out()).contains("3 servers stopped");
        assertThat(ensemble().running()).isEmpty();
        assertThat(saucr("status").err()).contains("none of the 3 servers is running");
        CommandRun resized = saucr("up", "-n", "5");
        assertThat(resized.err()).contains("an ensemble of 3 servers, not 5", "down --wipe");
        assertThat(saucr("down", "--wipe").out()).contains("No server was running", "removed");
        assertThat(state().resolve("servers")).doesNotExist();
    }

    @Test
    void theDemoAlsoRunsOnServersWithoutModes() {
        assertThat(saucr("up", "-n", "3", "--port-base", BASE, "-c", "saucr.enabled=false").err())
                .isEmpty();
        CommandRun demo = saucr("demo", "--phase", "3", "--clients", "1", "--in-flight", "2");
        assertThat(demo.exitCode()).as(demo.out()).isZero();
        assertThat(demo.out()).contains("do not report a mode", "--- all back ---");
    }

    @Test
    void aTakenPortIsNamedWithItsServerAndNothingIsStarted() throws IOException {
        try (ServerSocket taken = new ServerSocket()) {
            taken.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 18902));
            CommandRun up = saucr("up", "-n", "3", "--port-base", OTHER_BASE);
            assertThat(up.exitCode()).isEqualTo(1);
            assertThat(up.err())
                    .contains("port 18902 (quorum port of server 2)")
                    .contains("./saucr up --port-base ");
        }
        assertThat(state().resolve("servers")).doesNotExist();
        assertThat(saucr("status").err()).contains("there is no ensemble");
    }

    @Test
    void anEnsembleThatComesUpHalfIsStoppedAndRemoved() throws IOException {
        // A file where server 2 wants a folder: it ends while the others run.
        Path obstacle = state().resolve("servers/2/data/version-2");
        Files.createDirectories(obstacle.getParent());
        Files.writeString(obstacle, "in the way");
        long before = serverProcesses();
        CommandRun up = saucr("up", "-n", "3", "--port-base", OTHER_BASE);
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
        CommandRun up = saucr("up", "-n", "3", "--port-base", OTHER_BASE, "-c", "tickTime=often");
        assertThat(up.exitCode()).isEqualTo(1);
        assertThat(up.err()).contains("often").contains("The other servers were stopped again");
        assertThat(state().resolve("servers")).doesNotExist();
    }

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
