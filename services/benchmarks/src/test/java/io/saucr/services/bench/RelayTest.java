package io.saucr.services.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A long way: bytes arrive whole, in order and late, and an end is passed on. */
class RelayTest {

    @Test
    void bothWaysTakeTheDelayAndAnEndArrives() throws Exception {
        Duration delay = Duration.ofMillis(30);
        try (ServerSocket listening = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
                Relay relay = new Relay(listening.getLocalPort(), delay);
                Socket caller = new Socket(InetAddress.getLoopbackAddress(), relay.port());
                Socket called = listening.accept()) {
            long begun = System.nanoTime();
            caller.getOutputStream().write(new byte[] {1, 2});
            caller.getOutputStream().write(3);

            assertThat(called.getInputStream().readNBytes(3)).containsExactly(1, 2, 3);
            called.getOutputStream().write(4);
            assertThat(caller.getInputStream().read()).isEqualTo(4);
            assertThat(System.nanoTime() - begun).isGreaterThanOrEqualTo(2 * delay.toNanos());

            called.shutdownOutput();
            assertThat(caller.getInputStream().read()).isEqualTo(-1);
        }
    }

    @Test
    void whereNobodyListensTheCallerSeesAnEnd() throws Exception {
        int free;
        try (ServerSocket closed = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            free = closed.getLocalPort();
        }
        try (Relay relay = new Relay(free, Duration.ZERO);
                Socket caller = new Socket(InetAddress.getLoopbackAddress(), relay.port())) {
            assertThat(caller.getInputStream().read()).isEqualTo(-1);
        }
    }
}
