package io.saucr.tool;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import org.junit.jupiter.api.Test;

class AdminClientTest {
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
