package org.apache.zookeeper.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Answers leave in order and whole, whether the socket takes them at once or not. */
@Timeout(60)
class SaucrClientConnectionTest {
    private static final int SMALL = 16;

    /** More than the sockets of both ends hold. */
    private static final int MANY = 1000;

    private final SaucrClientPort port = new SaucrClientPort();
    private Socket client;
    private DataInputStream in;
    private ServerCnxn connection;

    @BeforeEach
    void connect() throws IOException {
        port.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10, -1, false);
        port.start();
        client = new Socket();
        client.setReceiveBufferSize(64 * 1024);
        client.connect(port.getLocalAddress());
        in = new DataInputStream(client.getInputStream());
        await().until(() -> port.getConnections().iterator().hasNext());
        connection = port.getConnections().iterator().next();
        // Longer than any test may take: whoever has no session is closed after ten seconds.
        connection.setSessionTimeout(600_000);
    }

    @AfterEach
    void disconnect() throws IOException {
        client.close();
        port.shutdown();
    }

    private static ByteBuffer[] frame(int sender, int number, int bytes) {
        ByteBuffer head = ByteBuffer.allocate(12).putInt(bytes).putInt(sender).putInt(number);
        byte[] body = new byte[bytes];
        Arrays.fill(body, (byte) (sender * 31 + number));
        return new ByteBuffer[] {head.flip(), ByteBuffer.wrap(body)};
    }

    private void expectFrame(int[] next) throws IOException {
        byte[] body = new byte[in.readInt()];
        int sender = in.readInt();
        int number = in.readInt();
        assertThat(number).isEqualTo(next[sender]++);
        in.readFully(body);
        byte[] expected = new byte[body.length];
        Arrays.fill(expected, (byte) (sender * 31 + number));
        assertThat(Arrays.equals(body, expected)).isTrue();
    }

    @Test
    void anAnswerIsWrittenBeforeTheCallReturns() throws Exception {
        connection.sendBuffer(frame(0, 0, SMALL));
        // In the kernel already: nobody else has to run for it.
        assertThat(connection.getPacketsSent()).isEqualTo(1);
        expectFrame(new int[1]);
    }

    @Test
    void answersToAClientThatDoesNotReadWaitAndKeepTheirOrder() throws Exception {
        for (int i = 0; i < MANY; i++) {
            connection.sendBuffer(frame(0, i, i % 100 == 0 ? 200_000 : i * 50));
        }
        assertThat(connection.getPacketsSent()).isLessThan(MANY);
        int[] next = new int[1];
        while (next[0] < MANY) {
            expectFrame(next);
        }
        await().untilAsserted(() -> assertThat(connection.getPacketsSent()).isEqualTo(MANY));
        // The queue is empty: the next one goes the short way again.
        connection.sendBuffer(frame(0, MANY, SMALL));
        assertThat(connection.getPacketsSent()).isEqualTo(MANY + 1);
        expectFrame(next);
    }

    @Test
    void answersOfSeveralThreadsAreWhole() throws Exception {
        List<Thread> senders = new ArrayList<>();
        int each = 5000;
        for (int s = 0; s < 4; s++) {
            int sender = s;
            Thread thread =
                    new Thread(
                            () -> {
                                for (int i = 0; i < each; i++) {
                                    connection.sendBuffer(frame(sender, i, (i * 7) % 3000));
                                }
                            });
            senders.add(thread);
            thread.start();
        }
        int[] next = new int[4];
        for (int i = 0; i < 4 * each; i++) {
            expectFrame(next);
        }
        for (Thread sender : senders) {
            sender.join();
        }
        assertThat(next).containsOnly(each);
    }

    @Test
    void theEndOfTheConnectionComesAfterTheLastAnswer() throws Exception {
        connection.sendBuffer(frame(0, 0, SMALL));
        connection.sendCloseSession();
        expectFrame(new int[1]);
        assertThat(in.read()).isEqualTo(-1);
        await().until(() -> !port.getConnections().iterator().hasNext());
    }

    @Test
    void aClientThatIsGoneClosesTheConnection() throws Exception {
        client.close();
        await().until(
                        () -> {
                            connection.sendBuffer(frame(0, 0, SMALL));
                            return !port.getConnections().iterator().hasNext();
                        });
    }
}
