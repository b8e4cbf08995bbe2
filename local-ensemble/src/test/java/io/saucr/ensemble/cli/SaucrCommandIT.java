package io.saucr.ensemble.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.ensemble.ServerReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The commands on real servers, started from the distribution that the build has made. */
class SaucrCommandIT extends StateFolder {
    // Below those that the crash tester takes.
    private static final String BASE = "18400";

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
        CommandRun late = saucr("up", "--timeout", "soon");
        assertThat(late.exitCode()).isEqualTo(2);
        assertThat(late.err()).contains("'soon' is not a time limit");
    }

    @Test
    void everyCommandTellsTheVersion() {
        for (String[] command : new String[][] {{"-V"}, {"--version"}, {"up", "-V"}}) {
            CommandRun run = saucr(command);
            assertThat(run.exitCode()).isZero();
            assertThat(run.out()).matches("SAUCR ZooKeeper [0-9]\\S*\\R");
        }
    }

    /** One ensemble through all commands, to keep the number of starts low. */
    @Tag("long")
    @Test
    void upKillStartDown() throws IOException {
        CommandRun up = saucr("up", "-n", "3", "--port-base", BASE);
        assertThat(up.err()).isEmpty();
        assertThat(up.exitCode()).isZero();
        assertThat(up.out())
                .contains("leader", "follower", "last zxid", "LLE")
                .contains("Connect string: 127.0.0.1:18401,127.0.0.1:18402,127.0.0.1:18403")
                .contains("Status page:    http://127.0.0.1:18701/commands/saucr/ui");

        CommandRun status = saucr("status");
        assertThat(status.exitCode()).isZero();
        // The mode is the leader's; that of a follower would be what it logged last.
        assertThat(status.out().lines().filter(line -> line.contains("follower")))
                .hasSize(2)
                .noneMatch(line -> line.contains("slow") || line.contains("fast"));
        assertThat(status.out()).containsPattern("leader +(slow|fast)");

        CommandRun again = saucr("up");
        assertThat(again.exitCode()).isZero();
        assertThat(again.out()).contains("running already; nothing is changed");
        CommandRun other = saucr("up", "-n", "5");
        assertThat(other.exitCode()).isEqualTo(1);
        assertThat(other.err())
                .contains("ensemble of 3 servers is running; nothing is changed")
                .containsPattern("SAUCR_STATE=FOLDER ./saucr up -n 5 --port-base \\d+")
                .doesNotContain("--wipe");

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
        assertThat(saucr("start", "3", "--timeout", "2m").exitCode()).isZero();
        assertThat(saucr("start", "3").err()).contains("server 3 is running already");

        CommandRun down = saucr("down");
        assertThat(down.out()).contains("3 servers stopped");
        assertThat(ensemble().running()).isEmpty();
        assertThat(saucr("status").err()).contains("none of the 3 servers is running");
        CommandRun resized = saucr("up", "-n", "5");
        assertThat(resized.err()).contains("an ensemble of 3 servers, not 5", "down --wipe");
        assertThat(saucr("down", "--wipe").out()).contains("No server was running", "removed");
        assertThat(state().resolve("servers")).doesNotExist();
    }

    @Tag("long")
    @Test
    void upDemoDown() throws IOException {
        assertThat(saucr("up", "-n", "3", "--port-base", BASE).exitCode()).isZero();
        demo();
        assertThat(saucr("down").out()).contains("3 servers stopped");
    }

    private void demo() throws IOException {
        CommandRun demo = saucr("demo", "--phase", "1", "--clients", "2", "--in-flight", "4");
        assertThat(demo.err()).isEmpty();
        assertThat(demo.exitCode()).as(demo.out()).isZero();
        assertThat(demo.out())
                .containsSubsequence(
                        "Warming up",
                        "--- 3 of 3 servers, no added delay, slow mode ---",
                        "--- 3 of 3 servers, no added delay, fast mode ---",
                        "With no added delay fast mode has",
                        "--- 3 of 3 servers, 10 ms per fsync, slow mode ---",
                        "--- 3 of 3 servers, 10 ms per fsync, fast mode ---",
                        "With 10 ms per fsync fast mode has",
                        "slow after",
                        "--- 2 of 3 servers, 10 ms per fsync, slow mode ---",
                        "Fast again",
                        "--- 3 of 3 servers, 10 ms per fsync, fast mode ---")
                .containsPattern("All [0-9,]+ acknowledged writes are there, on every server");
        // In slow mode each of the two sessions' four writes waits for an fsync.
        Matcher slow =
                Pattern.compile(
                                "(?m)^3 of 3 +10 ms per fsync +slow .* ([0-9.]+) +[0-9.]+ +[0-9.]+$")
                        .matcher(demo.out());
        assertThat(slow.find()).as(demo.out()).isTrue();
        assertThat(Double.parseDouble(slow.group(1))).isGreaterThan(10);
        // Neither the pin nor the slow disk stays.
        assertThat(ensemble().mode()).isEqualTo(ServerReport.FAST);
        byte[] shim = Files.readAllBytes(state().resolve("servers/1/shim/control"));
        assertThat(Arrays.copyOfRange(shim, 8, 16)).as("delay").containsOnly(0);
    }
}
