package io.saucr.tests.ensemble;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * Connections that do not continue: some send nothing, some the beginning of a TLS handshake, some
 * that of a greeting or a session without TLS. They stay open until they are closed here.
 */
final class HesitatingPeers implements AutoCloseable {
    /** A record's header, and the beginning of a ClientHello of 512 bytes. */
    private static final byte[] HALF_HANDSHAKE =
            HexFormat.of().parseHex("16030102000100" + "01fc0303");

    /** The version of the greeting of the election port, and half of the server's number. */
    private static final byte[] HALF_GREETING =
            HexFormat.of().parseHex("ffffffffffff0000" + "00000000");

    private static final byte[] NOTHING = {};

    /** A port whose queue is full takes no connection. */
    private static final int MOST_MILLIS = 30_000;

    private final List<Socket> sockets = new ArrayList<>();

    /**
     * Makes so many connections of each kind to a port of loopback.
     *
     * @throws IOException if the port takes no more
     */
    void connectTo(int port, int ofEachKind) throws IOException {
        for (int i = 0; i < ofEachKind; i++) {
            for (byte[] begin : List.of(HALF_HANDSHAKE, NOTHING, HALF_GREETING)) {
                Socket socket = new Socket();
                sockets.add(socket);
                socket.connect(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), port), MOST_MILLIS);
                socket.getOutputStream().write(begin);
            }
        }
    }

    @Override
    public void close() throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
