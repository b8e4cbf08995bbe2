package org.apache.zookeeper.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.server.PatientWaits;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.FutureTask;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class ReadAheadChannelTest {
    private static final int BUFFER = ReadAheadChannel.BUFFER_BYTES;

    /** A connection, its other end, and what is read from it. */
    private static final class Connection implements AutoCloseable {
        final Socket client;
        final SocketChannel socket;
        final ReadAheadChannel channel;

        Connection(ServerSocketChannel port) throws IOException {
            client = new Socket();
            client.connect(port.getLocalAddress());
            socket = port.accept();
            socket.configureBlocking(false);
            channel = new ReadAheadChannel(socket);
        }

        void send(byte[] bytes) throws IOException {
            client.getOutputStream().write(bytes);
        }

        /** Waits for the first bytes, no longer. */
        ByteBuffer read(int most) {
            ByteBuffer buffer = ByteBuffer.allocate(most);
            soon().until(() -> channel.read(buffer) != 0);
            return buffer.flip();
        }

        @Override
        public void close() throws IOException {
            client.close();
            channel.close();
        }
    }

    private ServerSocketChannel port;
    private Connection connection;

    private static ConditionFactory soon() {
        return PatientWaits.await().pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(1));
    }

    @BeforeEach
    void connect() throws IOException {
        port = ServerSocketChannel.open();
        port.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        connection = new Connection(port);
    }

    @AfterEach
    void disconnect() throws IOException {
        connection.close();
        port.close();
    }

    private static byte[] random(long seed, int length) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    private static ByteBuffer part(byte[] bytes, int from, int to) {
        return ByteBuffer.wrap(Arrays.copyOfRange(bytes, from, to));
    }

    @Test
    void oneReadBringsLengthAndContent() throws IOException {
        byte[] request = random(1, 104);
        connection.send(request);
        assertThat(connection.read(4)).isEqualTo(part(request, 0, 4));
        assertThat(connection.channel.hasMore()).isTrue();
        // Nothing is left in the socket.
        assertThat(connection.socket.read(ByteBuffer.allocate(1))).isZero();
        assertThat(connection.read(100)).isEqualTo(part(request, 4, 104));
        assertThat(connection.channel.hasMore()).isFalse();
        assertThat(connection.channel.read(ByteBuffer.allocate(4))).isZero();
    }

    @Test
    void bytesAreAddedBehindThoseThatAreInTheBuffer() throws IOException {
        connection.send(new byte[] {1, 2, 3});
        ByteBuffer buffer = ByteBuffer.allocate(8).put((byte) 0).limit(3);
        soon().until(() -> connection.channel.read(buffer) != 0);
        assertThat(buffer.position()).isEqualTo(3);
        assertThat(buffer.limit(8).flip()).isEqualTo(ByteBuffer.wrap(new byte[] {0, 1, 2}));
        assertThat(connection.read(8)).isEqualTo(ByteBuffer.wrap(new byte[] {3}));
    }

    @Test
    void severalBuffersAreFilledOneByOne() throws IOException {
        byte[] request = random(1, 10);
        connection.send(request);
        ByteBuffer[] buffers = {
            ByteBuffer.allocate(0), ByteBuffer.allocate(4), ByteBuffer.allocate(100)
        };
        soon().until(() -> connection.channel.read(buffers) == 4);
        assertThat(connection.channel.read(buffers, 1, 1)).isZero();
        assertThat(connection.channel.read(buffers, 0, 3)).isEqualTo(6);
        assertThat(buffers[1].flip()).isEqualTo(part(request, 0, 4));
        assertThat(buffers[2].flip()).isEqualTo(part(request, 4, 10));
    }

    @Test
    void whatIsAheadComesBeforeALargeReadOfTheSocket() throws IOException {
        byte[] first = random(2, 10);
        connection.send(first);
        assertThat(connection.read(4)).isEqualTo(part(first, 0, 4));
        byte[] second = random(3, 10);
        connection.send(second);
        assertThat(connection.read(2 * BUFFER)).isEqualTo(part(first, 4, 10));
        assertThat(connection.read(2 * BUFFER)).isEqualTo(ByteBuffer.wrap(second));
        assertThat(connection.channel.hasMore()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void everyByteIsReadOnceAndInOrderWhateverTheSizes(long seed) throws Exception {
        byte[] sent = random(seed, 4_000_000);
        FutureTask<Void> client =
                new FutureTask<>(
                        () -> {
                            Random sizes = new Random(seed);
                            OutputStream out = connection.client.getOutputStream();
                            for (int at = 0; at < sent.length; ) {
                                int length = 1 + sizes.nextInt(1 << sizes.nextInt(18));
                                int end = Math.min(sent.length, at + length);
                                out.write(sent, at, end - at);
                                at = end;
                            }
                            connection.client.shutdownOutput();
                            return null;
                        });
        new Thread(client).start();
        Random sizes = new Random(~seed);
        ByteBuffer received = ByteBuffer.allocate(sent.length + 1);
        int count = 0;
        while (count >= 0) {
            int most = 1 + sizes.nextInt(1 << sizes.nextInt(18));
            received.limit(Math.min(received.capacity(), received.position() + most));
            count = connection.channel.read(received);
            if (sizes.nextInt(4) == 0) {
                connection.channel.keep();
            }
        }
        client.get();
        received.limit(received.position()).rewind();
        assertThat(received).isEqualTo(ByteBuffer.wrap(sent));
    }

    @Test
    void whatIsKeptSurvivesAnotherConnectionsRead() throws Exception {
        byte[] request = random(4, 1000);
        connection.send(request);
        assertThat(connection.read(4)).isEqualTo(part(request, 0, 4));
        connection.channel.keep();
        try (Connection other = new Connection(port)) {
            byte[] others = random(5, 1000);
            other.send(others);
            assertThat(other.read(1000)).isEqualTo(ByteBuffer.wrap(others));
        }
        assertThat(connection.channel.hasMore()).isTrue();
        // By any thread, since it is no buffer of this one any more.
        FutureTask<ByteBuffer> rest = new FutureTask<>(() -> connection.read(2000));
        new Thread(rest).start();
        assertThat(rest.get()).isEqualTo(part(request, 4, 1000));
        assertThat(connection.channel.hasMore()).isFalse();
    }

    @Test
    void whatIsDiscardedReachesNobody() throws IOException {
        connection.send(random(6, 1000));
        connection.read(4);
        connection.channel.discard();
        assertThat(connection.channel.hasMore()).isFalse();
        try (Connection other = new Connection(port)) {
            assertThat(other.channel.read(ByteBuffer.allocate(10))).isZero();
            byte[] others = random(7, 5);
            other.send(others);
            assertThat(other.read(10)).isEqualTo(ByteBuffer.wrap(others));
        }
        byte[] later = random(8, 5);
        connection.send(later);
        assertThat(connection.read(10)).isEqualTo(ByteBuffer.wrap(later));
    }

    @Test
    void theEndOfTheStreamComesAfterTheLastByteAndStays() throws IOException {
        byte[] request = random(9, 10);
        connection.send(request);
        connection.client.shutdownOutput();
        assertThat(connection.read(4)).isEqualTo(part(request, 0, 4));
        assertThat(connection.read(10)).isEqualTo(part(request, 4, 10));
        ByteBuffer buffer = ByteBuffer.allocate(4);
        soon().until(() -> connection.channel.read(buffer) == -1);
        assertThat(connection.channel.read(buffer)).isEqualTo(-1);
        assertThat(connection.channel.read(ByteBuffer.allocate(2 * BUFFER))).isEqualTo(-1);
        assertThat(connection.channel.hasMore()).isFalse();
    }

    @Test
    void aResetIsReportedAndLeavesNothingAhead() throws IOException {
        connection.client.setSoLinger(true, 0);
        connection.client.close();
        ByteBuffer buffer = ByteBuffer.allocate(4);
        assertThatThrownBy(
                        () -> {
                            while (connection.channel.read(buffer) == 0) {
                                Thread.onSpinWait();
                            }
                        })
                .isInstanceOf(IOException.class);
        assertThat(connection.channel.hasMore()).isFalse();
    }

    @Test
    void itIsTheSocketInEverythingElse() throws IOException {
        ReadAheadChannel channel = connection.channel;
        assertThat(channel.isConnected()).isTrue();
        assertThat(channel.isConnectionPending()).isFalse();
        assertThat(channel.socket()).isSameAs(connection.socket.socket());
        assertThat(channel.getRemoteAddress()).isEqualTo(connection.client.getLocalSocketAddress());
        assertThat(channel.getLocalAddress()).isEqualTo(port.getLocalAddress());
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        assertThat(connection.socket.getOption(StandardSocketOptions.TCP_NODELAY)).isTrue();
        assertThat(channel.write(ByteBuffer.wrap(new byte[] {7}))).isEqualTo(1);
        assertThat(connection.client.getInputStream().read()).isEqualTo(7);
        channel.configureBlocking(true);
        assertThat(connection.socket.isBlocking()).isTrue();
        channel.close();
        assertThat(connection.socket.isOpen()).isFalse();
        assertThat(connection.client.getInputStream().read()).isEqualTo(-1);
        assertThatThrownBy(() -> channel.read(ByteBuffer.allocate(4)))
                .isInstanceOf(ClosedChannelException.class);
    }
}
