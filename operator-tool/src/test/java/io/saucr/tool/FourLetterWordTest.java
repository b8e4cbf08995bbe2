package io.saucr.tool;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** What stands at a port may answer anything; the rows of the others are printed all the same. */
class FourLetterWordTest {
    private static Run status(String answer) throws Exception {
        ServerSocket listener = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
        Thread stranger = new Thread(() -> serve(listener, answer));
        stranger.start();
        try {
            return Run.of(
                    "endpoint",
                    "status",
                    "--admin=none",
                    "--endpoints=127.0.0.1:1,127.0.0.1:" + listener.getLocalPort());
        } finally {
            listener.close();
            stranger.join();
        }
    }

    private static void serve(ServerSocket listener, String answer) {
        while (!listener.isClosed()) {
            try (Socket socket = listener.accept()) {
                if (socket.getInputStream().read() >= 0) {
                    socket.getOutputStream().write(answer.getBytes(StandardCharsets.UTF_8));
                }
            } catch (IOException e) {
                // Whoever asked is gone, or this is closed.
            }
        }
    }

    @Test
    void aNumberThatIsNoneDoesNotEndTheCommand() throws Exception {
        Run run =
                status("zk_version\t3\nzk_saucr_mode\t1\nzk_saucr_view\t" + "9".repeat(30) + "\n");
        assertThat(run.err()).isEmpty();
        assertThat(run.out()).contains("127.0.0.1:1 ", "nothing listens there");
    }

    @Test
    void ofALongAnswerTheBeginningIsShown() throws Exception {
        String out = status("x".repeat(100_000)).out();
        assertThat(out).contains("answers what no ZooKeeper server answers: xxxx");
        assertThat(out.lines()).allMatch(line -> line.length() < 300);
    }

    @Test
    void aServerThatIsReadOnlyDoesNotServe() throws Exception {
        Run run = status("Zookeeper version: 3.9.5\nMode: read-only\n");
        assertThat(run.exitCode()).isEqualTo(OperatorTool.FAILED);
        assertThat(run.out()).contains("read-only ", "has no majority, and serves reads alone");
    }

    @Test
    void noControlCharacterReachesTheTerminal() throws Exception {
        assertThat(status("Zookeeper version: 3.9.5\u001b[31m\nMode: leader\u001b[0m\n").out())
                .contains("3.9.5?[31m", "leader?[0m")
                .doesNotContain("\u001b");
    }
}
