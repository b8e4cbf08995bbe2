package org.apache.zookeeper.server.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.server.PatientWaits;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A socket as good as a plain one, but for a flush that never waits. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // it ignores interrupts
class PeerSocketTest {
    private static final int MEGABYTE = 1024 * 1024;
    private static final int CONNECT_MILLIS = 10_000;

    /** What the sockets of both ends hold at most, with the sizes that {@link #connect} sets. */
    private static final int KERNEL_BYTES = 2 * MEGABYTE;

    private ServerSocket port;
    private PeerSocket socket;
    private Socket peer;
    private InputStream in;
    private OutputStream out;

    private static ConditionFactory soon() {
        return PatientWaits.await().pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(1));
    }

    @BeforeEach
    void connect() throws IOException {
        port = new ServerSocket();
        port.setReceiveBufferSize(32 * 1024);
        port.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        socket = new PeerSocket();
        socket.connect(port.getLocalSocketAddress(), CONNECT_MILLIS);
        socket.getChannel().setOption(StandardSocketOptions.SO_SNDBUF, 32 * 1024);
        peer = port.accept();
        in = socket.getInputStream();
        out = socket.getOutputStream();
    }

    @AfterEach
    void disconnect() throws IOException {
        socket.close();
        peer.close();
        port.close();
    }

    private static byte[] random(long seed, int length) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    /** R27: a look at what nobody has read yet takes nothing away, and does not wait. */
    @Test
    void r27ALookTellsWhetherSomethingIsUnread() throws Exception {
        assertThat(socket.unread()).isFalse();
        peer.getOutputStream().write(new byte[] {1, 2});
        soon().until(socket::unread);
        assertThat(socket.unread()).as("still").isTrue();
        assertThat(in.readNBytes(2)).containsExactly(1, 2);
        assertThat(socket.unread()).isFalse();
        FutureTask<Integer> reader = start(in::read);
        peer.getOutputStream().write(3);
        assertThat(reader.get()).isEqualTo(3);
        assertThat(socket.unread()).isFalse();
        peer.close();
        soon().until(socket::unread);
        socket.close();
        assertThat(socket.unread()).isFalse();
    }

    private static <T> FutureTask<T> start(Callable<T> task) {
        FutureTask<T> future = new FutureTask<>(task);
        Thread thread = new Thread(future);
        thread.setDaemon(true);
        thread.start();
        return future;
    }

    private static void assertFailsWith(FutureTask<?> task, Class<? extends Exception> expected) {
        assertThatThrownBy(task::get)
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(expected);
    }

    private static int openFiles() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return (int) files.count();
        }
    }

    private static long senders() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("Sender-"))
                .count();
    }

    /** Fills the sockets of both ends, so that the sender has to write what follows. */
    private byte[] fill(long seed) throws IOException {
        socket.neverWait();
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        for (int i = 0; !socket.lagging(); i++) {
            byte[] piece = random(seed + i, 10_000);
            out.write(piece);
            written.writeBytes(piece);
            socket.flush();
        }
        return written.toByteArray();
    }

    // ---- Like a plain socket ----

    private static long directBytes() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct"))
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
    }

    @Test
    void whoConnectsAndSendsLittleCostsLittleMemory() throws Exception {
        long before = directBytes();
        List<PeerSocket> sockets = new ArrayList<>();
        List<Socket> peers = new ArrayList<>();
        try {
            for (int i = 0; i < 100; i++) {
                PeerSocket each = new PeerSocket();
                sockets.add(each);
                each.connect(port.getLocalSocketAddress(), CONNECT_MILLIS);
                peers.add(port.accept());
                peers.get(i).getOutputStream().write(i);
                assertThat(each.getInputStream().read()).isEqualTo(i);
            }
            assertThat(directBytes() - before).isLessThan(100 * 8 * 1024);
        } finally {
            for (Socket each : sockets) {
                each.close();
            }
            for (Socket each : peers) {
                each.close();
            }
        }
    }

    @Test
    void whoSendsMuchIsReadInLargePieces() throws Exception {
        byte[] sent = random(11, 48 * 1024);
        AtomicInteger reads = new AtomicInteger();
        socket.beforeReading(reads::incrementAndGet);
        // The receiver's kernel takes it all, so it is there before the first read.
        peer.getOutputStream().write(sent);
        assertThat(in.readNBytes(sent.length)).isEqualTo(sent);
        // With reads of the first buffer's size there would be twelve.
        assertThat(reads).hasValueLessThan(6);
    }

    @Test
    void theRestOfALargeValueIsReadStraightIntoIt() throws Exception {
        byte[] sent = random(12, 900_000);
        AtomicInteger reads = new AtomicInteger();
        socket.beforeReading(reads::incrementAndGet);
        peer.getOutputStream().write(sent);
        byte[] received = new byte[sent.length];
        assertThat(in.readNBytes(received, 0, sent.length)).isEqualTo(sent.length);
        assertThat(received).isEqualTo(sent);
        // With reads of the buffer's size there would be fifteen.
        assertThat(reads).hasValueLessThan(8);
    }

    @Test
    void itKnowsWhatItIsConnectedToEvenAfterItsEnd() throws IOException {
        assertThat(socket.isConnected()).isTrue();
        assertThat(socket.isBound()).isTrue();
        assertThat(socket.isClosed()).isFalse();
        assertThat(socket.getRemoteSocketAddress()).isEqualTo(port.getLocalSocketAddress());
        assertThat(socket.getLocalSocketAddress()).isEqualTo(peer.getRemoteSocketAddress());
        assertThat(socket.getLocalPort()).isEqualTo(peer.getPort());
        socket.setTcpNoDelay(true);
        assertThat(socket.getTcpNoDelay()).isTrue();
        socket.setKeepAlive(true);
        assertThat(socket.getKeepAlive()).isTrue();
        socket.setSoTimeout(17);
        assertThat(socket.getSoTimeout()).isEqualTo(17);
        assertThatThrownBy(() -> socket.setSoTimeout(-1))
                .isInstanceOf(IllegalArgumentException.class);
        socket.close();
        socket.close();
        assertThat(socket.isClosed()).isTrue();
        assertThat(socket.isConnected()).isTrue();
        assertThat(socket.getRemoteSocketAddress()).isEqualTo(port.getLocalSocketAddress());
        assertThat(socket.getPort()).isEqualTo(port.getLocalPort());
        assertThat(socket.getInetAddress()).isEqualTo(port.getInetAddress());
    }

    @Test
    void aSocketOfAnAcceptedChannelIsTheSame() throws IOException {
        try (SocketChannel channel = SocketChannel.open(port.getLocalSocketAddress());
                Socket other = port.accept();
                PeerSocket accepted = new PeerSocket(channel)) {
            other.getOutputStream().write(5);
            assertThat(accepted.getInputStream().read()).isEqualTo(5);
            accepted.getOutputStream().write(6);
            accepted.getOutputStream().flush();
            assertThat(other.getInputStream().read()).isEqualTo(6);
            assertThat(accepted.getRemoteSocketAddress()).isEqualTo(other.getLocalSocketAddress());
        }
    }

    @Test
    void beforeItIsConnectedItHoldsNothingAndSaysSo() throws IOException {
        int before = openFiles();
        List<PeerSocket> unconnected = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            PeerSocket other = new PeerSocket();
            other.setSoTimeout(1000);
            unconnected.add(other);
        }
        assertThat(openFiles()).isLessThan(before + 20);
        PeerSocket one = unconnected.get(0);
        assertThat(one.isConnected()).isFalse();
        assertThat(one.isBound()).isFalse();
        assertThat(one.getRemoteSocketAddress()).isNull();
        assertThat(one.getLocalPort()).isEqualTo(-1);
        assertThat(one.toString()).isNotEmpty();
        assertThatThrownBy(() -> one.getInputStream().read()).isInstanceOf(SocketException.class);
        one.getOutputStream().write(1);
        assertThatThrownBy(one::flush).isInstanceOf(SocketException.class);
        one.close();
        assertThatThrownBy(() -> one.connect(port.getLocalSocketAddress(), CONNECT_MILLIS))
                .isInstanceOf(SocketException.class);
        assertThatThrownBy(() -> socket.connect(port.getLocalSocketAddress(), CONNECT_MILLIS))
                .isInstanceOf(SocketException.class);
    }

    @Test
    void aConnectionThatFailsLeavesNothingOpen() throws IOException {
        InetSocketAddress refusing;
        try (ServerSocket closed = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            refusing = (InetSocketAddress) closed.getLocalSocketAddress();
        }
        InetSocketAddress unknown = InetSocketAddress.createUnresolved("nowhere.invalid", 1);
        int before = openFiles();
        for (int i = 0; i < 20; i++) {
            PeerSocket refused = new PeerSocket();
            assertThatThrownBy(() -> refused.connect(refusing, CONNECT_MILLIS))
                    .isInstanceOf(ConnectException.class);
            assertThat(refused.isClosed()).isTrue();
            PeerSocket lost = new PeerSocket();
            assertThatThrownBy(() -> lost.connect(unknown, CONNECT_MILLIS))
                    .isInstanceOf(UnknownHostException.class);
            assertThat(lost.isConnected()).isFalse();
        }
        assertThat(openFiles()).isLessThan(before + 20);
    }

    @Test
    void aConnectionThatNobodyAcceptsTimesOut() throws IOException {
        try (ServerSocket full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            List<SocketChannel> waiting = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                SocketChannel channel = SocketChannel.open();
                channel.configureBlocking(false);
                channel.connect(full.getLocalSocketAddress());
                waiting.add(channel);
            }
            PeerSocket late = new PeerSocket();
            assertThatThrownBy(() -> late.connect(full.getLocalSocketAddress(), 100))
                    .isInstanceOf(SocketTimeoutException.class);
            assertThat(late.isClosed()).isTrue();
            for (SocketChannel channel : waiting) {
                channel.close();
            }
        }
    }

    // ---- Reading ----

    @Test
    void readsByteByByteAndInPieces() throws IOException {
        byte[] sent = {0, -1, 127, -128, 5};
        peer.getOutputStream().write(sent);
        assertThat(in.read(sent, 0, 0)).isZero();
        assertThat(in.read()).isZero();
        assertThat(in.read()).isEqualTo(255);
        byte[] piece = new byte[10];
        assertThat(in.available()).isEqualTo(3);
        assertThat(in.read(piece, 2, 2)).isEqualTo(2);
        assertThat(Arrays.copyOf(piece, 5)).containsExactly(0, 0, 127, -128, 0);
        assertThat(in.read(piece)).isEqualTo(1);
        assertThatThrownBy(() -> in.read(piece, 5, 6))
                .isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void readsMoreThanItsBufferHolds() throws Exception {
        byte[] sent = random(1, 3 * MEGABYTE + 17);
        FutureTask<Void> sending =
                start(
                        () -> {
                            peer.getOutputStream().write(sent);
                            peer.shutdownOutput();
                            return null;
                        });
        // A single read is for 300 KB.
        byte[] received = new byte[sent.length + 1];
        int count = 0;
        int taken = 0;
        while (taken >= 0) {
            count += taken;
            taken = in.read(received, count, Math.min(300_000, received.length - count));
        }
        sending.get();
        assertThat(count).isEqualTo(sent.length);
        assertThat(Arrays.equals(Arrays.copyOf(received, count), sent)).isTrue();
    }

    @Test
    void theWorkIsDoneBeforeItReadsOnAndNotBetweenTheBytesOfOneRead() throws IOException {
        AtomicInteger runs = new AtomicInteger();
        peer.getOutputStream().write(new byte[] {1, 2, 3});
        socket.beforeReading(runs::incrementAndGet);
        in.read();
        int first = runs.get();
        assertThat(first).isPositive();
        in.read();
        in.read();
        assertThat(runs).hasValue(first);
        // Would wait for ever if the work were done later: the peer answers to it.
        AtomicBoolean asked = new AtomicBoolean();
        socket.beforeReading(
                () -> {
                    if (!asked.getAndSet(true)) {
                        peer.getOutputStream().write(4);
                    }
                });
        assertThat(in.read()).isEqualTo(4);
    }

    @Test
    void whatTheWorkThrowsReachesTheReaderAndLosesNothing() throws IOException {
        socket.beforeReading(
                () -> {
                    throw new IOException("broken work");
                });
        peer.getOutputStream().write(new byte[] {1, 2});
        assertThatThrownBy(in::read).hasMessage("broken work");
        socket.beforeReading(() -> {});
        assertThat(in.read()).isEqualTo(1);
        assertThat(in.read()).isEqualTo(2);
    }

    @Test
    void aReadTimesOutAndTheConnectionStaysUsable() throws IOException {
        int millis = 60;
        socket.setSoTimeout(millis);
        for (int i = 0; i < 3; i++) {
            long begun = System.nanoTime();
            assertThatThrownBy(in::read).isInstanceOf(SocketTimeoutException.class);
            assertThat(System.nanoTime() - begun)
                    .isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(millis));
        }
        socket.setSoTimeout(0);
        peer.getOutputStream().write(9);
        assertThat(in.read()).isEqualTo(9);
        out.write(8);
        out.flush();
        assertThat(peer.getInputStream().read()).isEqualTo(8);
    }

    @Test
    void whatIsThereIsReadHoweverShortTheTimeOut() throws IOException {
        socket.setSoTimeout(1);
        assertThatThrownBy(in::read).isInstanceOf(SocketTimeoutException.class);
        peer.getOutputStream().write(9);
        int read = -1;
        while (read < 0) {
            try {
                read = in.read();
            } catch (SocketTimeoutException e) {
                // Not there yet; ends by the test's time-out if it never is.
                Thread.onSpinWait();
            }
        }
        assertThat(read).isEqualTo(9);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 50_000})
    void aReaderTakesNoNoticeOfAnInterruption(int timeoutMillis) throws Exception {
        socket.setSoTimeout(timeoutMillis);
        AtomicBoolean interrupted = new AtomicBoolean();
        FutureTask<Integer> task =
                new FutureTask<>(
                        () -> {
                            int read = in.read();
                            interrupted.set(Thread.currentThread().isInterrupted());
                            return read;
                        });
        Thread reader = new Thread(task);
        reader.start();
        for (int i = 0; i < 3; i++) {
            soon().until(() -> isSelecting(reader));
            reader.interrupt();
            // Whoever left it set would not sleep any more.
            soon().until(() -> !reader.isInterrupted() && isSelecting(reader));
        }
        peer.getOutputStream().write(3);
        assertThat(task.get()).isEqualTo(3);
        assertThat(interrupted).isTrue();
        assertThat(socket.isClosed()).isFalse();
    }

    private static boolean isSelecting(Thread thread) {
        return Arrays.stream(thread.getStackTrace())
                .anyMatch(frame -> frame.getMethodName().equals("select"));
    }

    @Test
    void anEndOfTheStreamIsReadAgainAndAgainAndDoesNotEndWriting() throws IOException {
        peer.getOutputStream().write(1);
        peer.shutdownOutput();
        assertThat(in.read()).isEqualTo(1);
        assertThat(in.read()).isEqualTo(-1);
        assertThat(in.read(new byte[5])).isEqualTo(-1);
        assertThat(in.read()).isEqualTo(-1);
        out.write(2);
        out.flush();
        assertThat(peer.getInputStream().read()).isEqualTo(2);
    }

    @Test
    void anInputThatIsShutDownEndsAReadAndNotTheConnection() throws Exception {
        assertThat(socket.isInputShutdown()).isFalse();
        FutureTask<Integer> reading = new FutureTask<>(in::read);
        Thread reader = new Thread(reading);
        reader.start();
        soon().until(() -> isSelecting(reader));
        socket.shutdownInput();
        assertThat(reading.get()).isEqualTo(-1);
        assertThat(in.read()).isEqualTo(-1);
        assertThat(socket.isInputShutdown()).isTrue();
        out.write(3);
        out.flush();
        assertThat(peer.getInputStream().read()).isEqualTo(3);
        assertThatThrownBy(socket::shutdownOutput)
                .isInstanceOf(UnsupportedOperationException.class);
        socket.close();
        assertThatThrownBy(socket::shutdownInput).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> new PeerSocket().shutdownInput())
                .isInstanceOf(SocketException.class);
    }

    @Test
    void closingEndsARead() throws Exception {
        FutureTask<Integer> reading = new FutureTask<>(in::read);
        Thread reader = new Thread(reading);
        reader.start();
        soon().until(() -> isSelecting(reader));
        socket.close();
        assertFailsWith(reading, SocketException.class);
        assertThatThrownBy(in::read).isInstanceOf(IOException.class);
        assertThat(peer.getInputStream().read()).isEqualTo(-1);
    }

    // ---- Writing ----

    @Test
    void nothingLeavesBeforeItIsFlushedAndThenAtOnce() throws IOException {
        peer.setSoTimeout(20);
        out.write(1);
        out.write(new byte[] {0, 2, 3, 0}, 1, 2);
        assertThatThrownBy(() -> peer.getInputStream().read())
                .isInstanceOf(SocketTimeoutException.class);
        peer.setSoTimeout(0);
        socket.flush();
        assertThat(peer.getInputStream().readNBytes(3)).containsExactly(1, 2, 3);
        assertThat(socket.lagging()).isFalse();
        assertThatThrownBy(() -> out.write(new byte[3], 2, 2))
                .isInstanceOf(IndexOutOfBoundsException.class);
        socket.flush();
        out.write(4);
        socket.flush();
        assertThat(peer.getInputStream().read()).isEqualTo(4);
    }

    @Test
    void aLargeWriteOfAWriterThatMayWaitLeavesUnflushed() throws IOException {
        byte[] sent = random(2, 64 * 1024);
        out.write(sent);
        assertThat(peer.getInputStream().readNBytes(sent.length)).isEqualTo(sent);
    }

    @Test
    void nobodyWaitsAfterNeverWaitAndNothingIsLost() throws Exception {
        // This thread alone: if a flush waited, it would for ever.
        byte[] first = fill(100);
        byte[] more = random(3, 5 * MEGABYTE);
        out.write(more);
        out.flush();
        out.write(7);
        socket.flush();
        assertThat(socket.lagging()).isTrue();
        InputStream received = peer.getInputStream();
        assertThat(Arrays.equals(received.readNBytes(first.length), first)).isTrue();
        assertThat(Arrays.equals(received.readNBytes(more.length), more)).isTrue();
        assertThat(received.read()).isEqualTo(7);
        soon().until(() -> !socket.lagging());
        // And in the other direction, several times.
        for (int i = 0; i < 5; i++) {
            byte[] again = fill(200L * i);
            assertThat(Arrays.equals(received.readNBytes(again.length), again)).isTrue();
            soon().until(() -> !socket.lagging());
            out.write(i);
            socket.flush();
            assertThat(received.read()).isEqualTo(i);
        }
        assertThat(senders()).isEqualTo(1);
    }

    /** Writes until it is stopped; {@code written} tells how much. */
    private FutureTask<Void> writeForEver(AtomicLong written, AtomicBoolean stopped) {
        byte[] piece = random(4, 10_000);
        return new FutureTask<>(
                () -> {
                    while (!stopped.get()) {
                        out.write(piece);
                        out.flush();
                        written.addAndGet(piece.length);
                    }
                    return null;
                });
    }

    private Thread startAndAwaitWaiting(FutureTask<Void> writing) {
        Thread writer = new Thread(writing);
        writer.setDaemon(true);
        writer.start();
        // Not only until the sender takes what is left.
        soon().during(Duration.ofMillis(100))
                .until(() -> writer.getState() == Thread.State.WAITING);
        return writer;
    }

    @Test
    void aWriterThatMayWaitDoesSoAtALimitAndGoesOnWhenThePeerReads() throws Exception {
        AtomicLong written = new AtomicLong();
        AtomicBoolean stopped = new AtomicBoolean();
        FutureTask<Void> writing = writeForEver(written, stopped);
        Thread writer = startAndAwaitWaiting(writing);
        long held = written.get();
        assertThat(held).isGreaterThan(MEGABYTE).isLessThan(KERNEL_BYTES + 2 * MEGABYTE);
        writer.interrupt();
        soon().until(() -> !writer.isInterrupted() && writer.getState() == Thread.State.WAITING);
        byte[] piece = random(4, 10_000);
        InputStream received = peer.getInputStream();
        while (written.get() < held + 5 * MEGABYTE) {
            assertThat(Arrays.equals(received.readNBytes(piece.length), piece)).isTrue();
        }
        stopped.set(true);
        // It is interrupted, so it must not wait any more before it looks at the flag.
        socket.neverWait();
        writing.get();
        assertThat(writer.isAlive() && !writer.isInterrupted()).isFalse();
    }

    @Test
    void neverWaitWakesWhoWaits() throws Exception {
        AtomicBoolean stopped = new AtomicBoolean();
        FutureTask<Void> writing = writeForEver(new AtomicLong(), stopped);
        startAndAwaitWaiting(writing);
        stopped.set(true);
        socket.neverWait();
        writing.get();
    }

    @Test
    void closingWakesWhoWaits() throws Exception {
        FutureTask<Void> writing = writeForEver(new AtomicLong(), new AtomicBoolean());
        startAndAwaitWaiting(writing);
        socket.close();
        assertFailsWith(writing, SocketException.class);
    }

    @Test
    void theEndOfThePeerWakesWhoWaits() throws Exception {
        FutureTask<Void> writing = writeForEver(new AtomicLong(), new AtomicBoolean());
        startAndAwaitWaiting(writing);
        peer.setSoLinger(true, 0);
        peer.close();
        assertFailsWith(writing, IOException.class);
    }

    @Test
    void aFlushInAnInterruptedThreadWrites() throws IOException {
        Thread.currentThread().interrupt();
        out.write(5);
        socket.flush();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(peer.getInputStream().read()).isEqualTo(5);
    }

    @Test
    void afterAFailedWriteEveryFlushFails() throws IOException {
        socket.getChannel().shutdownOutput();
        out.write(1);
        assertThatThrownBy(socket::flush).isInstanceOf(IOException.class);
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(socket::flush).isInstanceOf(IOException.class);
            assertThatThrownBy(out::flush).isInstanceOf(IOException.class);
            assertThatThrownBy(() -> out.write(2)).isInstanceOf(IOException.class);
        }
        // What has come is still read.
        peer.getOutputStream().write(3);
        assertThat(in.read()).isEqualTo(3);
    }

    @Test
    void aResetIsReportedToReaderAndWriters() throws IOException {
        peer.setSoLinger(true, 0);
        peer.close();
        assertThatThrownBy(in::read).isInstanceOf(IOException.class);
        assertThatThrownBy(
                        () -> {
                            while (true) {
                                out.write(1);
                                socket.flush();
                            }
                        })
                .isInstanceOf(IOException.class);
        assertThatThrownBy(socket::flush).isInstanceOf(IOException.class);
    }

    @Test
    void aResetWhileTheSenderWritesIsReportedToAllAndEndsTheSender() throws Exception {
        FutureTask<Integer> reading = start(in::read);
        fill(300);
        peer.setSoLinger(true, 0);
        peer.close();
        // The kernel tells a reset once. If the sender hears it first, the reader meets the end.
        soon().until(reading::isDone);
        try {
            assertThat(reading.get()).isNegative();
        } catch (ExecutionException e) {
            assertThat(e).hasCauseInstanceOf(IOException.class);
        }
        soon().untilAsserted(
                        () -> assertThatThrownBy(socket::flush).isInstanceOf(IOException.class));
        assertThatThrownBy(() -> out.write(1)).isInstanceOf(IOException.class);
        soon().until(() -> senders() == 0);
    }

    @Test
    void afterItsEndEveryWriteFails() throws IOException {
        fill(400);
        socket.close();
        assertThatThrownBy(() -> out.write(1)).isInstanceOf(SocketException.class);
        assertThatThrownBy(socket::flush).isInstanceOf(SocketException.class);
        assertThatThrownBy(out::flush).isInstanceOf(SocketException.class);
        soon().until(() -> senders() == 0);
    }

    @Test
    void manyConnectionsLeaveNeitherFilesNorThreads() throws Exception {
        disconnect();
        connect();
        int filesBefore = openFiles();
        int threadsBefore = Thread.activeCount();
        for (int i = 0; i < 200; i++) {
            PeerSocket each = new PeerSocket();
            each.connect(port.getLocalSocketAddress(), CONNECT_MILLIS);
            each.getChannel().setOption(StandardSocketOptions.SO_SNDBUF, 16 * 1024);
            Socket other = port.accept();
            FutureTask<Integer> reading = start(() -> each.getInputStream().read());
            if (i % 4 == 0) {
                each.neverWait();
                while (!each.lagging()) {
                    each.getOutputStream().write(new byte[50_000]);
                    each.flush();
                }
            }
            if (i % 2 == 0) {
                other.close();
            }
            each.close();
            other.close();
            assertThatThrownBy(
                            () -> {
                                if (reading.get() < 0) {
                                    throw new IOException("the end of the stream");
                                }
                            })
                    .isInstanceOf(Exception.class);
        }
        soon().until(() -> senders() == 0);
        soon().until(() -> Thread.activeCount() <= threadsBefore + 2);
        soon().until(() -> openFiles() <= filesBefore + 10);
    }

    /** Each round two threads flush at the same time, and nobody flushes after them. */
    @Test
    void whoFindsAnotherFlushingLeavesItsBytesInGoodHands() throws Exception {
        int rounds = 5_000;
        AtomicInteger round = new AtomicInteger();
        List<FutureTask<Void>> tasks = new ArrayList<>();
        for (boolean late : new boolean[] {false, true}) {
            tasks.add(
                    start(
                            () -> {
                                for (int i = 1; i <= rounds; i++) {
                                    while (round.get() < i) {
                                        Thread.onSpinWait();
                                    }
                                    // At every distance from the other one.
                                    for (int j = 0; late && j < i % 500; j++) {
                                        Thread.onSpinWait();
                                    }
                                    out.write(i);
                                    socket.flush();
                                }
                                return null;
                            }));
        }
        peer.setSoTimeout(20_000);
        for (int i = 1; i <= rounds; i++) {
            round.set(i);
            assertThat(peer.getInputStream().read()).isEqualTo(i & 0xff);
            assertThat(peer.getInputStream().read()).isEqualTo(i & 0xff);
        }
        for (FutureTask<Void> task : tasks) {
            task.get();
        }
    }

    // ---- At random ----

    private static final int WRITERS = 3;

    private static byte[] frame(int writer, int number, int length) {
        byte[] frame = new byte[Integer.BYTES * 3 + length];
        ByteBuffer.wrap(frame).putInt(length).putInt(writer).putInt(number);
        byte[] content = random(writer * 1_000_003L + number, length);
        System.arraycopy(content, 0, frame, Integer.BYTES * 3, length);
        return frame;
    }

    /**
     * Writers that flush, writers that leave it to others, threads that only flush; a reader that
     * sometimes stands still. Each frame arrives once, whole, and in its writer's order.
     */
    @ParameterizedTest
    @CsvSource({"1, true", "2, true", "3, false", "4, false", "5, true"})
    void bytesOfManyWritersArriveOnceAndInOrder(long seed, boolean neverWait) throws Exception {
        int each = 1500;
        if (neverWait) {
            socket.neverWait();
        }
        AtomicInteger writing = new AtomicInteger(WRITERS);
        List<FutureTask<Void>> tasks = new ArrayList<>();
        AtomicInteger lagged = new AtomicInteger();
        for (int w = 0; w < WRITERS; w++) {
            int writer = w;
            tasks.add(
                    start(
                            () -> {
                                Random random = new Random(seed * 31 + writer);
                                for (int i = 0; i < each; i++) {
                                    int length = random.nextInt(1 << random.nextInt(13));
                                    out.write(frame(writer, i, length));
                                    if (random.nextInt(3) != 0) {
                                        socket.flush();
                                    }
                                    if (socket.lagging()) {
                                        lagged.incrementAndGet();
                                    }
                                    if (random.nextInt(20) == 0) {
                                        LockSupport.parkNanos(random.nextInt(300_000));
                                    }
                                }
                                // The last word: nothing may stay behind.
                                socket.flush();
                                writing.decrementAndGet();
                                return null;
                            }));
        }
        for (int f = 0; f < 2; f++) {
            tasks.add(
                    start(
                            () -> {
                                while (writing.get() > 0) {
                                    socket.flush();
                                    LockSupport.parkNanos(20_000);
                                }
                                return null;
                            }));
        }
        Random random = new Random(~seed);
        DataInputStream received = new DataInputStream(peer.getInputStream());
        int[] next = new int[WRITERS];
        for (int i = 0; i < WRITERS * each; i++) {
            int length = received.readInt();
            int writer = received.readInt();
            int number = received.readInt();
            assertThat(number).isEqualTo(next[writer]++);
            byte[] expected = frame(writer, number, length);
            byte[] content = received.readNBytes(length);
            assertThat(Arrays.equals(expected, 12, 12 + length, content, 0, length)).isTrue();
            if (random.nextInt(100) == 0) {
                LockSupport.parkNanos(random.nextInt(5_000_000));
            }
        }
        for (FutureTask<Void> task : tasks) {
            task.get();
        }
        assertThat(next).containsOnly(each);
        soon().until(() -> !socket.lagging());
        assertThat(lagged.get()).as("the socket was full at times, and not always").isPositive();
        socket.close();
        assertThat(received.read()).isEqualTo(-1);
    }
}
