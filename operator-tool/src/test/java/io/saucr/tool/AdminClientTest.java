package io.saucr.tool;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.tool.AdminAnswers.End;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AdminClientTest {
    /** Another service at that port may answer everything, with JSON or with nothing. */
    @ParameterizedTest
    @ValueSource(strings = {"", "{}", "[]", "{\"status\": \"ok\"}"})
    void anAnswerOfSomethingElseIsNone(String answer) throws Exception {
        try (AdminAnswers other = new AdminAnswers()) {
            byte[] bytes = answer.getBytes(StandardCharsets.UTF_8);
            other.answer("saucr", bytes, "", End.WHOLE).answer("saucr/flush", bytes, "", End.WHOLE);
            String admin = "--admin=" + other.address();
            Run order = Run.of("flush", "--endpoints=127.0.0.1:1", admin);
            assertThat(order.exitCode()).isEqualTo(OperatorTool.FAILED);
            assertThat(order.out()).contains("this is no AdminServer");
            for (String command : List.of("mode", "view", "recovery")) {
                Run run = Run.of(command, "--endpoints=127.0.0.1:1", admin);
                assertThat(run.exitCode()).as(command).isEqualTo(OperatorTool.FAILED);
            }
            assertThat(Run.of("mode", "--brief", "--endpoints=127.0.0.1:1", admin).out())
                    .isEqualTo("unknown\n");
        }
    }

    @Test
    void whereNothingListensTheOptionsAreNamedThatSayWhereItIs() throws Exception {
        try (Socket reserved = new Socket()) {
            reserved.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            String address = "127.0.0.1:" + reserved.getLocalPort();
            Run order = Run.of("flush", "--endpoints=" + address, "--admin=" + address);
            assertThat(order.exitCode()).isEqualTo(OperatorTool.FAILED);
            assertThat(order.out())
                    .contains(
                            "AdminServer http://"
                                    + address
                                    + "/commands refuses connections: nothing listens there"
                                    + " (--admin says where it is, or the file of --config)");
            // The port for clients is another option's.
            assertThat(Run.of("endpoint", "health", "--endpoints=" + address, "--admin=none").out())
                    .contains("refuses connections: nothing listens there")
                    .doesNotContain("--admin");
        }
    }
}
