package io.saucr.suites;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class EnsembleProxyTest {
    private final Server first = new Server("first");
    private final Server second = new Server("second");
    private EnsembleProxy proxy;

    EnsembleProxyTest() throws IOException {}

    /**
     * Answers {@code srvr}, and anything else of four letters with its name; serves or does not.
     */
    private static final class Server implements AutoCloseable {
        private final String name;
        private final ServerSocket listener =
                new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        private final Set<Socket> open = ConcurrentHashMap.newKeySet();
        private volatile boolean serves = true;

        Server(String name) throws IOException {
            this.name = name;
            Thread thread = new Thread(this::accept, name);
            thread.setDaemon(true);
            thread.start();
        }

        private void accept() {
            while (true) {
                try {
                    Socket socket = listener.accept();
                    open.add(socket);
                    Thread thread = new Thread(() -> answer(socket), name + "'s client");
                    thread.setDaemon(true);
                    thread.start();
                } catch (IOException e) {
                    return;
                }
            }
        }

        private void answer(Socket socket) {
            try (socket) {
                while (true) {
                    byte[] word = socket.getInputStream().readNBytes(4);
                    if (word.length < 4) {
                        return;
                    }
                    boolean status = new String(word, StandardCharsets.US_ASCII).equals("srvr");
                    String reply =
                            !status
                                    ? name + "\n"
                                    : serves ? "Mode: follower\n" : "not currently serving\n";
                    socket.getOutputStream().write(reply.getBytes(StandardCharsets.US_ASCII));
                    if (status) {
                        return;
                    }
                }
            } catch (IOException e) {
                return;
            }
        }

        String address() {
            return "127.0.0.1:" + listener.getLocalPort();
        }

        @Override
        public void close() throws IOException {
            listener.close();
            for (Socket each : open) {
                each.close();
            }
        }
    }

    @BeforeEach
    void open() throws IOException {
        proxy = new EnsembleProxy(first.address() + "," + second.address(), 0);
        proxy.open();
    }

    @AfterEach
    void close() throws IOException {
        proxy.close();
        first.close();
        second.close();
    }

    private Socket connect() throws IOException {
        return new Socket(InetAddress.getLoopbackAddress(), proxy.port());
    }

    /** The name of the server behind a connection; empty where it ends. */
    private static String ask(Socket client) throws IOException {
        client.getOutputStream().write("name".getBytes(StandardCharsets.US_ASCII));
        StringBuilder name = new StringBuilder();
        for (int c = client.getInputStream().read(); c >= 0 && c != '\n'; ) {
            name.append((char) c);
            c = client.getInputStream().read();
        }
        return name.toString();
    }

    private String behind() throws IOException {
        try (Socket client = connect()) {
            return ask(client);
        }
    }

    @Test
    void allConnectionsLeadToOneServerUntilItDoesNotServe() throws IOException {
        assertThat(behind()).isEqualTo("first");
        assertThat(behind()).isEqualTo("first");
        first.serves = false;
        assertThat(behind()).isEqualTo("second");
        first.serves = true;
        assertThat(behind()).as("it stays").isEqualTo("second");
        second.close();
        assertThat(behind()).isEqualTo("first");
    }

    @Test
    void aConnectionEndsWithItsServer() throws IOException {
        try (Socket client = connect()) {
            assertThat(ask(client)).isEqualTo("first");
            first.close();
            assertThatEnds(client);
        }
    }

    @Test
    void itClosesAsAServerEndsAndOpensAgainAtItsPort() throws IOException {
        int port = proxy.port();
        try (Socket client = connect()) {
            assertThat(ask(client)).isEqualTo("first");
            proxy.close();
            assertThatEnds(client);
        }
        proxy.open();
        assertThat(proxy.port()).isEqualTo(port);
        assertThat(behind()).isEqualTo("first");
    }

    /** With an end of file, or a reset, as the client's own request may still be unread. */
    private static void assertThatEnds(Socket client) {
        int read;
        try {
            read = client.getInputStream().read();
        } catch (IOException e) {
            return;
        }
        assertThat(read).isEqualTo(-1);
    }
}
