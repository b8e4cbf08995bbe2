package org.apache.zookeeper.server.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.server.PatientWaits;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.Stream;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import org.apache.zookeeper.common.QuorumX509Util;
import org.apache.zookeeper.common.X509Util;
import org.apache.zookeeper.server.Encoder;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** TLS between servers: what ZooKeeper's sockets accept ours do, and nobody waits for a peer. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // it ignores interrupts
class PeerTlsTest {
    private static final String PREFIX = "zookeeper.ssl.quorum.";
    private static final String FIPS = "fips-mode";
    private static final int MILLIS = 30_000;
    private static final int MEGABYTE = 1024 * 1024;

    @TempDir static Path folder;

    private static TlsKeys keys;
    private static Path loopback;
    private static Path elsewhere;
    private static Path expired;

    private final List<AutoCloseable> open = new ArrayList<>();

    @BeforeAll
    static void makeKeys() throws Exception {
        keys = new TlsKeys(folder);
        loopback = keys.issued("loopback", TlsKeys.Host.LOOPBACK);
        elsewhere = keys.issued("elsewhere", TlsKeys.Host.ELSEWHERE);
        expired = keys.issued("expired", TlsKeys.Host.EXPIRED);
    }

    @AfterEach
    void close() throws Exception {
        // Java's own sockets wait for the other end.
        open.sort(Comparator.comparing(each -> !(each instanceof PeerSocket)));
        for (AutoCloseable each : open) {
            each.close();
        }
    }

    private <T extends AutoCloseable> T closing(T resource) {
        open.add(resource);
        return resource;
    }

    private static ConditionFactory soon() {
        return PatientWaits.await().pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(1));
    }

    private static <T> FutureTask<T> start(Callable<T> task) {
        FutureTask<T> future = new FutureTask<>(task);
        Thread thread = new Thread(future);
        thread.setDaemon(true);
        thread.start();
        return future;
    }

    /** Of whose result nobody asks. */
    private static void run(Callable<?> task) {
        FutureTask<?> ignored = start(task);
        assertThat(ignored).isNotNull();
    }

    private static byte[] random(long seed, int length) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    // ---- Settings ----

    private static Map<String, String> store(String kind, Path file) {
        return Map.of(
                kind + "Store.location",
                file.toString(),
                kind + "Store.password",
                TlsKeys.PASSWORD);
    }

    /** The settings of a server in its zoo.cfg, on top of stores that are right. */
    private static Map<String, String> settings(String... more) {
        Map<String, String> settings = new HashMap<>(store("key", loopback));
        settings.putAll(store("trust", keys.trusted));
        for (int i = 0; i < more.length; i += 2) {
            settings.put(more[i], more[i + 1]);
        }
        return settings;
    }

    private X509Util util(Map<String, String> settings) throws Exception {
        QuorumX509Util util = closing(new QuorumX509Util());
        set(settings, true);
        try {
            util.getDefaultSSLContextAndOptions();
        } finally {
            set(settings, false);
        }
        return util;
    }

    private static void set(Map<String, String> settings, boolean present) {
        settings.forEach(
                (key, value) -> {
                    String name = key.equals(FIPS) ? "zookeeper." + FIPS : PREFIX + key;
                    if (present) {
                        System.setProperty(name, value);
                    } else {
                        System.clearProperty(name);
                    }
                });
    }

    // ---- Ours and ZooKeeper's sockets ----

    private enum Kind {
        OURS {
            @Override
            ServerSocket listening(X509Util util, boolean plainToo) throws Exception {
                return new PeerServerSocket(new PeerTls(util, plainToo));
            }

            @Override
            Socket connected(X509Util util, InetSocketAddress to) throws Exception {
                PeerSocket socket = new PeerSocket(new PeerTls(util, false));
                socket.setSoTimeout(MILLIS);
                socket.connect(to, MILLIS);
                return socket;
            }
        },
        ZOOKEEPERS {
            @Override
            ServerSocket listening(X509Util util, boolean plainToo) throws Exception {
                return new UnifiedServerSocket(util, plainToo);
            }

            @Override
            Socket connected(X509Util util, InetSocketAddress to) throws Exception {
                SSLSocket socket = util.createSSLSocket();
                try {
                    socket.setSoTimeout(MILLIS);
                    socket.connect(to, MILLIS);
                    socket.startHandshake();
                    return socket;
                } catch (IOException e) {
                    socket.close();
                    throw e;
                }
            }
        };

        abstract ServerSocket listening(X509Util util, boolean plainToo) throws Exception;

        abstract Socket connected(X509Util util, InetSocketAddress to) throws Exception;
    }

    private ServerSocket listening(Kind kind, X509Util util, boolean plainToo) throws Exception {
        ServerSocket port = closing(kind.listening(util, plainToo));
        port.bind(new InetSocketAddress("localhost", 0));
        return port;
    }

    private static InetSocketAddress address(ServerSocket port) {
        return new InetSocketAddress("localhost", port.getLocalPort());
    }

    private Socket accepted(ServerSocket port) throws IOException {
        Socket socket = closing(port.accept());
        socket.setSoTimeout(MILLIS);
        socket.setTcpNoDelay(true);
        return socket;
    }

    /** Two connected sockets: the one that connected first. */
    private List<Socket> pair(Kind connecting, Kind accepting, X509Util util) throws Exception {
        ServerSocket port = listening(accepting, util, false);
        FutureTask<Socket> accept =
                start(
                        () -> {
                            Socket socket = accepted(port);
                            assertThat(socket.getInputStream().read()).isEqualTo(1);
                            return socket;
                        });
        Socket socket = closing(connecting.connected(util, address(port)));
        socket.setTcpNoDelay(true);
        socket.getOutputStream().write(1);
        socket.getOutputStream().flush();
        return List.of(socket, accept.get());
    }

    /** Whether two servers with these settings get a byte there and back. */
    private boolean talk(Kind connecting, X509Util one, Kind accepting, X509Util other)
            throws Exception {
        ServerSocket port = listening(accepting, other, false);
        FutureTask<Void> server =
                start(
                        () -> {
                            try (Socket socket = accepted(port)) {
                                int value = socket.getInputStream().read();
                                if (value < 0) {
                                    throw new EOFException();
                                }
                                socket.getOutputStream().write(value);
                                socket.getOutputStream().flush();
                                // Until the other one has read it.
                                socket.getInputStream().read();
                                return null;
                            }
                        });
        boolean got;
        try (Socket socket = connecting.connected(one, address(port))) {
            socket.getOutputStream().write(7);
            socket.getOutputStream().flush();
            got = socket.getInputStream().read() == 7;
        } catch (IOException e) {
            got = false;
        }
        try {
            server.get();
        } catch (ExecutionException e) {
            assertThat(e).hasCauseInstanceOf(IOException.class);
        }
        return got;
    }

    // ---- Settings decide as they do with ZooKeeper's sockets ----

    /** Gives what a class of the operator's would. */
    public static final class OwnContext implements Supplier<SSLContext> {
        @Override
        public SSLContext get() {
            try {
                KeyManager key =
                        X509Util.createKeyManager(loopback.toString(), TlsKeys.PASSWORD, null);
                TrustManager trust =
                        X509Util.createTrustManager(
                                keys.trusted.toString(),
                                TlsKeys.PASSWORD,
                                null,
                                false,
                                false,
                                false,
                                false,
                                false,
                                true);
                SSLContext context = SSLContext.getInstance("TLSv1.2");
                context.init(
                        new KeyManager[] {key}, new TrustManager[] {trust}, new SecureRandom());
                return context;
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** A case: settings of who connects and of who is connected to, and whether they talk. */
    private record Case(
            String name, Map<String, String> one, Map<String, String> other, boolean talk) {
        @Override
        public String toString() {
            return name;
        }
    }

    private static Case both(String name, boolean talk, Map<String, String> settings) {
        return new Case(name, settings, settings, talk);
    }

    private static Map<String, String> with(Map<String, String> keyStore, String... more) {
        Map<String, String> settings = settings(more);
        settings.putAll(keyStore);
        return settings;
    }

    private static Map<String, String> withoutKey() {
        Map<String, String> settings = new HashMap<>(store("trust", keys.trusted));
        return settings;
    }

    static Stream<Case> cases() throws Exception {
        Map<String, String> foreign = store("key", keys.foreign);
        Map<String, String> late = store("key", expired);
        Map<String, String> away = store("key", elsewhere);
        String cbc = "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256";
        Path password = Files.writeString(folder.resolve("password"), TlsKeys.PASSWORD);
        Map<String, String> byPath = new HashMap<>(settings());
        byPath.remove("keyStore.password");
        byPath.put("keyStore.passwordPath", password.toString());
        return Stream.of(
                both("as documented", true, settings()),
                both("passwords in files", true, byPath),
                both(
                        "JKS",
                        true,
                        with(
                                store("key", keys.as("jks", loopback)),
                                "trustStore.location",
                                keys.as("jks", keys.trusted).toString())),
                both(
                        "PEM",
                        true,
                        with(
                                Map.of(
                                        "keyStore.location",
                                        keys.as("pem", loopback).toString(),
                                        "keyStore.password",
                                        "",
                                        "trustStore.location",
                                        keys.as("pem", keys.trusted).toString()))),
                new Case("a foreign key connects", with(foreign), settings(), false),
                new Case("a foreign key is connected to", settings(), with(foreign), false),
                new Case("an expired key connects", with(late), settings(), false),
                new Case("an expired key is connected to", settings(), with(late), false),
                new Case("no key connects", withoutKey(), settings(), false),
                new Case("no key is connected to", settings(), withoutKey(), false),
                new Case(
                        "a key is wanted, none shown",
                        withoutKey(),
                        settings("clientAuth", "want"),
                        true),
                new Case(
                        "a key is wanted, there is a foreign one, which is not shown",
                        with(foreign),
                        settings("clientAuth", "want"),
                        true),
                new Case(
                        "a key is wanted, an expired one shown",
                        with(late),
                        settings("clientAuth", "want"),
                        false),
                new Case(
                        "no key is asked for", with(foreign), settings("clientAuth", "none"), true),
                both("TLS 1.2", true, settings("protocol", "TLSv1.2")),
                both("TLS 1.2 of two", true, settings("enabledProtocols", "TLSv1.2")),
                new Case(
                        "no common version",
                        settings("enabledProtocols", "TLSv1.2"),
                        settings("enabledProtocols", "TLSv1.3"),
                        false),
                both(
                        "a cipher of TLS 1.2",
                        true,
                        settings("enabledProtocols", "TLSv1.2", "ciphersuites", cbc)),
                new Case(
                        "no common cipher",
                        settings("ciphersuites", "TLS_AES_128_GCM_SHA256"),
                        settings("ciphersuites", "TLS_AES_256_GCM_SHA384"),
                        false),
                both("another host, FIPS mode", true, with(away)),
                new Case(
                        "another host is connected to", settings(FIPS, "false"), with(away), false),
                new Case("another host connects", with(away), settings(FIPS, "false"), false),
                new Case(
                        "another host connects, names are not checked",
                        with(away),
                        settings(FIPS, "false", "hostnameVerification", "false"),
                        true),
                new Case(
                        "another host connects, clients' names are not checked",
                        with(away),
                        settings(FIPS, "false", "clientHostnameVerification", "false"),
                        true),
                both(
                        "hosts are checked by address",
                        true,
                        settings(FIPS, "false", "allowReverseDnsLookup", "false")),
                both("CRL, and there is none", false, settings("crl", "true")),
                both("OCSP, and nobody answers", false, settings("ocsp", "true")),
                both(
                        "a class of the operator's",
                        true,
                        settings("context.supplier.class", OwnContext.class.getName())));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void settingsDecideAsWithZooKeepersOwnSockets(Case each) throws Exception {
        X509Util one = util(each.one());
        X509Util other = util(each.other());
        for (Kind connecting : Kind.values()) {
            for (Kind accepting : Kind.values()) {
                assertThat(talk(connecting, one, accepting, other))
                        .as("%s connects to %s", connecting, accepting)
                        .isEqualTo(each.talk());
            }
        }
    }

    @Test
    void aConnectionUsesTheKeysOfItsTime() throws Exception {
        Path current = folder.resolve("current.p12");
        Files.copy(loopback, current);
        Map<String, String> settings = settings("keyStore.location", current.toString());
        X509Util trusting = util(settings());
        QuorumX509Util util = closing(new QuorumX509Util());
        set(settings, true);
        try {
            util.enableCertFileReloading();
            List<Socket> before = pair(Kind.OURS, Kind.OURS, util);
            assertThat(talk(Kind.ZOOKEEPERS, trusting, Kind.OURS, util)).isTrue();
            replace(current, expired);
            soon().until(() -> !talk(Kind.ZOOKEEPERS, trusting, Kind.OURS, util));
            assertThat(talk(Kind.OURS, util, Kind.ZOOKEEPERS, trusting)).isFalse();
            // Who is connected stays connected.
            before.get(0).getOutputStream().write(9);
            before.get(0).getOutputStream().flush();
            assertThat(before.get(1).getInputStream().read()).isEqualTo(9);
            replace(current, loopback);
            soon().until(() -> talk(Kind.ZOOKEEPERS, trusting, Kind.OURS, util));
        } finally {
            set(settings, false);
        }
    }

    private static void replace(Path file, Path by) throws IOException {
        Path whole = Files.copy(by, file.resolveSibling("whole"));
        Files.move(whole, file, StandardCopyOption.ATOMIC_MOVE);
    }

    // ---- What is not TLS, or not all of it ----

    @ParameterizedTest
    @EnumSource(Kind.class)
    void whereTlsIsDemandedAnythingElseIsRefused(Kind kind) throws Exception {
        ServerSocket port = listening(kind, util(settings()), false);
        for (byte[] sent : new byte[][] {random(1, 100), new byte[200], {0, 0, 0, 11, 0, 0}}) {
            try (Socket stranger = new Socket("localhost", port.getLocalPort())) {
                stranger.getOutputStream().write(sent);
                Socket socket = accepted(port);
                assertThatThrownBy(() -> socket.getInputStream().read())
                        .isInstanceOf(IOException.class);
                assertThat(endOf(stranger)).isNegative();
            }
        }
    }

    /** The end of the stream, or a reset, which comes if something was not read. */
    private static int endOf(Socket stranger) throws IOException {
        try {
            return stranger.getInputStream().read();
        } catch (SocketException e) {
            return -1;
        }
    }

    @Test
    void whoHangsUpAtOnceIsRefused() throws Exception {
        ServerSocket port = listening(Kind.OURS, util(settings()), false);
        new Socket("localhost", port.getLocalPort()).close();
        assertThatThrownBy(() -> accepted(port).getInputStream().read())
                .isInstanceOf(SSLException.class);
    }

    @Test
    void wherePlainIsTakenTooBothAre() throws Exception {
        X509Util util = util(settings());
        ServerSocket port = listening(Kind.OURS, util, true);
        byte[] sent = random(2, 10_000);
        try (Socket plain = new Socket("localhost", port.getLocalPort())) {
            plain.getOutputStream().write(sent);
            Socket socket = accepted(port);
            assertThat(socket.getInputStream().readNBytes(sent.length)).isEqualTo(sent);
            socket.getOutputStream().write(sent);
            socket.getOutputStream().flush();
            assertThat(plain.getInputStream().readNBytes(sent.length)).isEqualTo(sent);
            plain.shutdownOutput();
            assertThat(socket.getInputStream().read()).isEqualTo(-1);
        }
        assertThat(talk(Kind.ZOOKEEPERS, util, Kind.OURS, util)).isTrue();
        // Less than it takes to tell: plain, as soon as no more comes.
        try (Socket plain = new Socket("localhost", port.getLocalPort())) {
            plain.getOutputStream().write(new byte[] {22, 3});
            plain.shutdownOutput();
            assertThat(accepted(port).getInputStream().readAllBytes()).containsExactly(22, 3);
        }
    }

    /** What is written before it is known whether the peer speaks TLS must not leave in plain. */
    @Test
    void nothingLeavesBeforeTheHandshake() throws Exception {
        X509Util util = util(settings());
        ServerSocket port = listening(Kind.OURS, util, true);
        FutureTask<Socket> connecting = start(() -> Kind.ZOOKEEPERS.connected(util, address(port)));
        PeerSocket socket = (PeerSocket) accepted(port);
        socket.getOutputStream().write(5);
        socket.getOutputStream().flush();
        FutureTask<Integer> reading = start(() -> socket.getInputStream().read());
        Socket peer = closing(connecting.get());
        assertThat(peer.getInputStream().read()).isEqualTo(5);
        peer.getOutputStream().write(6);
        assertThat(reading.get()).isEqualTo(6);
    }

    private static byte[] hello() {
        byte[] hello = new byte[200];
        hello[0] = 22;
        hello[1] = 3;
        hello[2] = 3;
        hello[4] = (byte) 195;
        hello[5] = 1;
        hello[8] = (byte) 191;
        return hello;
    }

    /** It sends nothing, a part of a header, or a part of a handshake; or drips. */
    @ParameterizedTest
    @ValueSource(ints = {0, 3, 5, 100, -1})
    void whoHesitatesInTheHandshakeIsLeftInTimeAndHoldsUpNobodyElse(int sent) throws Exception {
        X509Util util = util(settings("handshakeDetectionTimeoutMillis", "300"));
        ServerSocket port = listening(Kind.OURS, util, false);
        try (Socket stranger = new Socket("localhost", port.getLocalPort())) {
            AtomicBoolean stopped = new AtomicBoolean();
            FutureTask<Void> sending =
                    start(
                            () -> {
                                byte[] hello = hello();
                                stranger.getOutputStream().write(hello, 0, sent < 0 ? 5 : sent);
                                for (int i = 5; sent < 0 && !stopped.get(); i++) {
                                    stranger.getOutputStream().write(hello, i % 200, 1);
                                    Thread.sleep(20);
                                }
                                return null;
                            });
            Socket socket = accepted(port);
            socket.setSoTimeout(300);
            FutureTask<Integer> reading = start(() -> socket.getInputStream().read());
            assertThat(talk(Kind.OURS, util, Kind.OURS, util)).isTrue();
            FutureTask<Boolean> other =
                    start(
                            () -> {
                                try (Socket another = Kind.OURS.connected(util, address(port))) {
                                    another.getOutputStream().write(3);
                                    another.getOutputStream().flush();
                                    return another.getInputStream().read() == 4;
                                }
                            });
            Socket served = accepted(port);
            assertThat(served.getInputStream().read()).isEqualTo(3);
            served.getOutputStream().write(4);
            served.getOutputStream().flush();
            assertThat(other.get()).isTrue();
            assertThatThrownBy(reading::get)
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(IOException.class);
            assertThat(socket.isClosed()).isTrue();
            stopped.set(true);
            try {
                sending.get();
            } catch (ExecutionException e) {
                assertThat(e).hasCauseInstanceOf(IOException.class);
            }
        }
    }

    @Test
    void whoConnectsToOneThatHesitatesGivesUpInTime() throws Exception {
        X509Util util = util(settings());
        ServerSocket silent = closing(new ServerSocket());
        silent.bind(new InetSocketAddress("localhost", 0));
        PeerSocket socket = closing(new PeerSocket(new PeerTls(util, false)));
        socket.setSoTimeout(200);
        assertThatThrownBy(() -> socket.connect(address(silent), MILLIS))
                .isInstanceOf(SocketTimeoutException.class);
        assertThat(socket.isClosed()).isTrue();
    }

    @Test
    void closingEndsAHandshake() throws Exception {
        X509Util util = util(settings());
        ServerSocket silent = closing(new ServerSocket());
        silent.bind(new InetSocketAddress("localhost", 0));
        PeerSocket socket = closing(new PeerSocket(new PeerTls(util, false)));
        FutureTask<Void> connecting =
                start(
                        () -> {
                            socket.connect(address(silent), MILLIS);
                            return null;
                        });
        closing(silent.accept()).getInputStream().read();
        socket.close();
        assertThatThrownBy(connecting::get).hasCauseInstanceOf(IOException.class);
    }

    // ---- The end of a connection ----

    @ParameterizedTest
    @CsvSource({"TLSv1.3, OURS", "TLSv1.3, ZOOKEEPERS", "TLSv1.2, OURS", "TLSv1.2, ZOOKEEPERS"})
    void whoClosesSaysSo(String version, Kind other) throws Exception {
        X509Util util = util(settings("enabledProtocols", version));
        List<Socket> one = pair(Kind.OURS, other, util);
        one.get(0).close();
        assertThat(one.get(1).getInputStream().read()).isEqualTo(-1);
        List<Socket> two = pair(other, Kind.OURS, util);
        two.get(0).close();
        assertThat(two.get(1).getInputStream().read()).isEqualTo(-1);
        assertThat(two.get(1).getInputStream().read()).isEqualTo(-1);
    }

    @Test
    void halfAnEndLeavesTheOtherHalf() throws Exception {
        List<Socket> pair = pair(Kind.ZOOKEEPERS, Kind.OURS, util(settings()));
        pair.get(0).shutdownOutput();
        Socket ours = pair.get(1);
        assertThat(ours.getInputStream().read()).isEqualTo(-1);
        ours.getOutputStream().write(4);
        ours.getOutputStream().flush();
        assertThat(pair.get(0).getInputStream().read()).isEqualTo(4);
    }

    @Test
    void anInputThatIsShutDownEnds() throws Exception {
        List<Socket> pair = pair(Kind.ZOOKEEPERS, Kind.OURS, util(settings()));
        Socket ours = pair.get(1);
        FutureTask<Integer> reading = start(() -> ours.getInputStream().read());
        ours.shutdownInput();
        assertThat(reading.get()).isEqualTo(-1);
        assertThat(ours.getInputStream().read()).isEqualTo(-1);
    }

    // ---- On the wire ----

    /** Passes on what two sockets send each other, and lets a test see, hold and spoil it. */
    private static final class Wire implements AutoCloseable {
        private final ServerSocket port = new ServerSocket();
        private Socket near;
        private Socket far;

        /** What was sent by who connected, and by the other one. */
        private final ByteArrayOutputStream sent = new ByteArrayOutputStream();

        private final ByteArrayOutputStream answered = new ByteArrayOutputStream();

        /** So many bytes of the one who connected pass; then nothing more of it does. */
        private final AtomicInteger end = new AtomicInteger(Integer.MAX_VALUE);

        /** Whether the last byte of what the one who connected sends is another one. */
        private final AtomicBoolean spoils = new AtomicBoolean();

        Wire(InetSocketAddress to) throws IOException {
            port.bind(new InetSocketAddress("localhost", 0));
            run(
                    () -> {
                        near = port.accept();
                        far = new Socket();
                        far.connect(to);
                        near.setTcpNoDelay(true);
                        far.setTcpNoDelay(true);
                        run(() -> pass(near, far, sent));
                        return pass(far, near, answered);
                    });
        }

        private Void pass(Socket from, Socket into, ByteArrayOutputStream seen) throws IOException {
            byte[] piece = new byte[100_000];
            int count = from.getInputStream().read(piece);
            while (count > 0) {
                int before;
                synchronized (this) {
                    before = seen.size();
                    seen.write(piece, 0, count);
                }
                if (spoils.get() && seen == sent) {
                    piece[count - 1] ^= 1;
                }
                int left = seen == sent ? end.get() - before : count;
                into.getOutputStream().write(piece, 0, Math.max(0, Math.min(count, left)));
                if (left < count) {
                    break;
                }
                count = from.getInputStream().read(piece);
            }
            into.shutdownOutput();
            return null;
        }

        InetSocketAddress address() {
            return new InetSocketAddress("localhost", port.getLocalPort());
        }

        synchronized int size() {
            return sent.size();
        }

        /** The lengths of the records from this byte on, once they are whole. */
        synchronized List<Integer> records(int from) {
            List<Integer> lengths = new ArrayList<>();
            ByteBuffer bytes = ByteBuffer.wrap(sent.toByteArray()).position(from);
            while (bytes.remaining() >= 5) {
                bytes.position(bytes.position() + 3);
                int length = bytes.getShort() & 0xffff;
                if (bytes.remaining() < length) {
                    return lengths;
                }
                lengths.add(length);
                bytes.position(bytes.position() + length);
            }
            return lengths;
        }

        @Override
        public void close() throws IOException {
            port.close();
            near.close();
            far.close();
        }
    }

    private static Encoder encoded(byte[] bytes) {
        Encoder encoder = new Encoder();
        encoder.addBytes(bytes);
        return encoder;
    }

    @Test
    void aBatchIsOneRecord() throws Exception {
        X509Util util = util(settings());
        ServerSocket port = listening(Kind.ZOOKEEPERS, util, false);
        Wire wire = closing(new Wire(address(port)));
        FutureTask<Socket> accept =
                start(
                        () -> {
                            Socket socket = accepted(port);
                            socket.getInputStream().read();
                            return socket;
                        });
        PeerSocket socket = (PeerSocket) closing(Kind.OURS.connected(util, wire.address()));
        socket.neverWait();
        socket.getOutputStream().write(1);
        socket.flush();
        InputStream in = accept.get().getInputStream();
        int before = wire.size();
        byte[] packet = random(3, 1100);
        for (int i = 0; i < 10; i++) {
            socket.collect(encoded(packet));
        }
        socket.flush();
        for (int i = 0; i < 10; i++) {
            assertThat(in.readNBytes(packet.length)).isEqualTo(packet);
        }
        assertThat(wire.records(before)).hasSize(1);
        // A large one is as few as TLS allows.
        int between = wire.size();
        byte[] large = random(4, 900_000);
        socket.collect(encoded(large));
        socket.flush();
        assertThat(in.readNBytes(large.length)).isEqualTo(large);
        assertThat(wire.records(between)).hasSize((large.length + 16383) / 16384);
        // Between small ones it keeps its place.
        Encoder mixed = encoded(packet);
        mixed.addBytes(large);
        mixed.addBytes(packet);
        socket.collect(mixed);
        socket.collect(encoded(packet));
        socket.flush();
        assertThat(in.readNBytes(packet.length)).isEqualTo(packet);
        assertThat(in.readNBytes(large.length)).isEqualTo(large);
        assertThat(in.readNBytes(packet.length)).isEqualTo(packet);
        assertThat(in.readNBytes(packet.length)).isEqualTo(packet);
    }

    @ParameterizedTest
    @ValueSource(strings = {"cut", "spoiled"})
    void aRecordThatIsCutShortOrSpoiledEndsTheConnection(String how) throws Exception {
        X509Util util = util(settings());
        ServerSocket port = listening(Kind.OURS, util, false);
        Wire wire = closing(new Wire(address(port)));
        FutureTask<Socket> accept =
                start(
                        () -> {
                            Socket socket = accepted(port);
                            assertThat(socket.getInputStream().read()).isEqualTo(1);
                            return socket;
                        });
        Socket peer = closing(Kind.ZOOKEEPERS.connected(util, wire.address()));
        peer.getOutputStream().write(1);
        Socket socket = accept.get();
        if (how.equals("cut")) {
            wire.end.set(wire.size() + 50);
        } else {
            wire.spoils.set(true);
        }
        peer.getOutputStream().write(random(5, 100));
        assertThatThrownBy(() -> socket.getInputStream().read())
                .isInstanceOfAny(
                        how.equals("cut")
                                ? new Class<?>[] {EOFException.class, SocketException.class}
                                : new Class<?>[] {SSLException.class});
        if (how.equals("spoiled")) {
            assertThatThrownBy(() -> socket.getOutputStream().write(1))
                    .isInstanceOf(IOException.class);
            assertThatThrownBy(() -> peer.getInputStream().read())
                    .as("it is told why")
                    .hasMessageContaining("bad_record_mac");
        }
    }

    /** The end of the handshake and the first data in one piece. */
    @Test
    void dataThatComesWithTheHandshakeIsRead() throws Exception {
        for (String version : List.of("TLSv1.2", "TLSv1.3")) {
            X509Util util = util(settings("enabledProtocols", version));
            ServerSocket port = listening(Kind.OURS, util, false);
            try (Socket raw = new Socket("localhost", port.getLocalPort())) {
                FutureTask<Socket> accept = start(() -> accepted(port));
                byte[] data = random(6, 5000);
                TlsLink link = new PeerTls(util, false).connecting(address(port));
                FutureTask<byte[]> reading =
                        start(() -> accept.get().getInputStream().readNBytes(data.length));
                ByteArrayOutputStream held = new ByteArrayOutputStream();
                link.handshake(
                        ByteBuffer.allocate(0),
                        new TlsLink.Wire() {
                            @Override
                            public int read(ByteBuffer to) throws IOException {
                                raw.getOutputStream().write(held.toByteArray());
                                held.reset();
                                byte[] piece = new byte[to.remaining()];
                                int count = raw.getInputStream().read(piece);
                                to.put(piece, 0, Math.max(0, count));
                                return count;
                            }

                            @Override
                            public void write(ByteBuffer from) {
                                byte[] piece = new byte[from.remaining()];
                                from.get(piece);
                                held.writeBytes(piece);
                            }
                        });
                link.encrypt(ByteBuffer.wrap(data));
                held.write(link.encrypted().array(), 0, link.encrypted().remaining());
                raw.getOutputStream().write(held.toByteArray());
                assertThat(reading.get()).isEqualTo(data);
            }
        }
    }

    /** In TLS 1.2 a peer may ask for a second handshake: nobody is held up by it. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void aSecondHandshakeIsRefused(Kind connecting) throws Exception {
        X509Util util = util(settings("enabledProtocols", "TLSv1.2"));
        Kind accepting = connecting == Kind.OURS ? Kind.ZOOKEEPERS : Kind.OURS;
        List<Socket> pair = pair(connecting, accepting, util);
        int first = connecting == Kind.OURS ? 0 : 1;
        PeerSocket ours = (PeerSocket) pair.get(first);
        ours.neverWait();
        SSLSocket theirs;
        if (connecting == Kind.ZOOKEEPERS) {
            theirs = (SSLSocket) pair.get(0);
        } else {
            theirs = ((UnifiedServerSocket.UnifiedSocket) pair.get(1)).getSslSocket();
        }
        FutureTask<Integer> reading = start(() -> ours.getInputStream().read());
        run(
                () -> {
                    theirs.startHandshake();
                    return theirs.getInputStream().read();
                });
        assertThatThrownBy(reading::get).hasCauseInstanceOf(IOException.class);
        assertThatThrownBy(() -> ours.getOutputStream().write(1)).isInstanceOf(IOException.class);
    }

    // ---- Much data, slow readers, many threads ----

    @ParameterizedTest
    @CsvSource({
        "OURS, ZOOKEEPERS, TLSv1.3",
        "ZOOKEEPERS, OURS, TLSv1.3",
        "OURS, OURS, TLSv1.3",
        "OURS, ZOOKEEPERS, TLSv1.2",
        "ZOOKEEPERS, OURS, TLSv1.2",
        "OURS, OURS, TLSv1.2"
    })
    void muchDataArrivesInBothDirectionsAtOnce(Kind connecting, Kind accepting, String version)
            throws Exception {
        List<Socket> pair =
                pair(connecting, accepting, util(settings("enabledProtocols", version)));
        List<FutureTask<Void>> writing = new ArrayList<>();
        List<FutureTask<Void>> reading = new ArrayList<>();
        for (int side = 0; side < 2; side++) {
            Socket socket = pair.get(side);
            byte[] sent = random(side, 8 * MEGABYTE);
            byte[] expected = random(1 - side, 8 * MEGABYTE);
            writing.add(
                    start(
                            () -> {
                                Random random = new Random(7);
                                for (int i = 0; i < sent.length; ) {
                                    int most = 1 << random.nextInt(21);
                                    int count = Math.min(sent.length - i, most);
                                    socket.getOutputStream().write(sent, i, count);
                                    socket.getOutputStream().flush();
                                    i += count;
                                }
                                return null;
                            }));
            reading.add(
                    start(
                            () -> {
                                byte[] got = socket.getInputStream().readNBytes(expected.length);
                                assertThat(Arrays.equals(got, expected)).isTrue();
                                return null;
                            }));
        }
        for (FutureTask<Void> each : writing) {
            each.get();
        }
        for (FutureTask<Void> each : reading) {
            each.get();
        }
    }

    @Test
    void aPeerThatTakesNothingHoldsNobodyUpAndGetsEverything() throws Exception {
        List<Socket> pair = pair(Kind.OURS, Kind.ZOOKEEPERS, util(settings()));
        PeerSocket socket = (PeerSocket) pair.get(0);
        socket.getChannel().setOption(StandardSocketOptions.SO_SNDBUF, 32 * 1024);
        socket.neverWait();
        OutputStream out = socket.getOutputStream();
        InputStream in = pair.get(1).getInputStream();
        for (int round = 0; round < 3; round++) {
            ByteArrayOutputStream written = new ByteArrayOutputStream();
            // This thread alone: if a flush waited, it would for ever.
            for (int i = 0; !socket.lagging(); i++) {
                byte[] piece = random(round * 1000L + i, 70_000);
                out.write(piece);
                socket.flush();
                written.writeBytes(piece);
            }
            byte[] more = random(round, 3 * MEGABYTE);
            out.write(more);
            socket.flush();
            written.writeBytes(more);
            byte[] expected = written.toByteArray();
            assertThat(Arrays.equals(in.readNBytes(expected.length), expected)).isTrue();
            soon().until(() -> !socket.lagging());
        }
    }

    @Test
    void closingWhileOthersWriteAndReadEndsThemAll() throws Exception {
        X509Util util = util(settings());
        for (int round = 0; round < 20; round++) {
            List<Socket> pair = pair(Kind.OURS, Kind.OURS, util);
            PeerSocket socket = (PeerSocket) pair.get(0);
            List<FutureTask<Integer>> tasks = new ArrayList<>();
            AtomicInteger written = new AtomicInteger();
            for (int i = 0; i < 3; i++) {
                tasks.add(
                        start(
                                () -> {
                                    while (true) {
                                        socket.getOutputStream().write(new byte[1000]);
                                        socket.flush();
                                        written.incrementAndGet();
                                    }
                                }));
            }
            tasks.add(start(() -> socket.getInputStream().read()));
            FutureTask<Long> peer =
                    start(
                            () -> {
                                InputStream in = pair.get(1).getInputStream();
                                return in.transferTo(OutputStream.nullOutputStream());
                            });
            int some = round * 50;
            soon().until(() -> written.get() > some);
            socket.close();
            for (FutureTask<Integer> each : tasks) {
                assertThatThrownBy(each::get).hasCauseInstanceOf(IOException.class);
            }
            try {
                assertThat(peer.get() % 1000).isZero();
            } catch (ExecutionException e) {
                // Cut within a record; a reset where the session tickets were not read before it.
                assertThat(e).cause().isInstanceOfAny(EOFException.class, SocketException.class);
            }
        }
        soon().until(
                        () ->
                                Thread.getAllStackTraces().keySet().stream()
                                        .noneMatch(each -> each.getName().startsWith("Sender-")));
    }

    private static final int WRITERS = 3;

    /**
     * Writers that flush or leave it to others, and a reader that stands still now and then; each
     * frame arrives once, whole, and in its writer's order.
     */
    private static List<FutureTask<Void>> frames(
            Socket from, Socket to, int writers, int each, long seed) {
        List<FutureTask<Void>> tasks = new ArrayList<>();
        for (int w = 0; w < writers; w++) {
            int writer = w;
            tasks.add(
                    start(
                            () -> {
                                Random random = new Random(seed * 31 + writer);
                                OutputStream out = from.getOutputStream();
                                for (int i = 0; i < each; i++) {
                                    int most = 1 << random.nextInt(15);
                                    out.write(frame(writer, i, random.nextInt(most)));
                                    if (random.nextInt(3) != 0) {
                                        out.flush();
                                    }
                                }
                                out.flush();
                                return null;
                            }));
        }
        tasks.add(
                start(
                        () -> {
                            readFrames(to.getInputStream(), writers, each, seed);
                            return null;
                        }));
        return tasks;
    }

    private static void await(List<FutureTask<Void>> tasks) throws Exception {
        for (FutureTask<Void> task : tasks) {
            task.get();
        }
    }

    private static byte[] frame(int writer, int number, int length) {
        byte[] frame = new byte[Integer.BYTES * 3 + length];
        ByteBuffer.wrap(frame).putInt(length).putInt(writer).putInt(number);
        byte[] content = random(writer * 1_000_003L + number, length);
        System.arraycopy(content, 0, frame, Integer.BYTES * 3, length);
        return frame;
    }

    private static void readFrames(InputStream in, int writers, int each, long seed)
            throws IOException {
        Random random = new Random(~seed);
        DataInputStream received = new DataInputStream(in);
        int[] next = new int[writers];
        for (int i = 0; i < writers * each; i++) {
            int length = received.readInt();
            int writer = received.readInt();
            int number = received.readInt();
            if (number != next[writer]++) {
                throw new IOException("frame " + number + " of " + writer + " is out of order");
            }
            byte[] expected = frame(writer, number, length);
            byte[] content = received.readNBytes(length);
            if (!Arrays.equals(expected, 12, 12 + length, content, 0, length)) {
                throw new IOException("frame " + number + " of " + writer + " is damaged");
            }
            if (random.nextInt(100) == 0) {
                LockSupport.parkNanos(random.nextInt(3_000_000));
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"1, true", "2, false", "3, true"})
    void framesOfManyWritersArriveOnceAndInOrder(long seed, boolean neverWait) throws Exception {
        List<Socket> pair = pair(Kind.OURS, Kind.OURS, util(settings()));
        for (Socket each : pair) {
            each.getChannel().setOption(StandardSocketOptions.SO_SNDBUF, 32 * 1024);
            if (neverWait) {
                ((PeerSocket) each).neverWait();
            }
        }
        List<FutureTask<Void>> tasks = frames(pair.get(0), pair.get(1), WRITERS, 1000, seed);
        tasks.addAll(frames(pair.get(1), pair.get(0), WRITERS, 1000, seed));
        await(tasks);
    }

    /** Keys change after some kilobytes instead of many gigabytes, in a JVM that is set so. */
    @ParameterizedTest
    @CsvSource({"OURS, OURS", "OURS, ZOOKEEPERS", "ZOOKEEPERS, OURS"})
    void keysChangeWhileMuchIsSent(Kind connecting, Kind accepting) throws Exception {
        Path security =
                Files.writeString(
                        folder.resolve("security-" + connecting + accepting),
                        "jdk.tls.keyLimits=AES/GCM/NoPadding KeyUpdate 2^18\n");
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Xmx128m"));
        command.add("-Djava.security.properties=" + security);
        command.add("-Djavax.net.debug=ssl:handshake");
        settings().forEach((key, value) -> command.add("-D" + PREFIX + key + "=" + value));
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        command.addAll(List.of(KeyChanges.class.getName(), connecting.name(), accepting.name()));
        Path output = folder.resolve("output-" + connecting + accepting);
        Process process =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(output.toFile())
                        .start();
        try {
            assertThat(process.waitFor()).as(() -> end(output)).isZero();
        } finally {
            process.destroyForcibly();
        }
        assertThat(Files.readString(output).split("Produced KeyUpdate", -1).length)
                .as("it happened, many times")
                .isGreaterThan(20);
    }

    private static String end(Path output) {
        try {
            String text = Files.readString(output);
            return text.substring(Math.max(0, text.length() - 5000));
        } catch (IOException e) {
            return e.toString();
        }
    }

    /** The other JVM of {@link #keysChangeWhileMuchIsSent}. */
    static final class KeyChanges {
        private KeyChanges() {}

        public static void main(String[] arguments) throws Exception {
            PeerTlsTest test = new PeerTlsTest();
            try (X509Util util = new QuorumX509Util()) {
                List<Socket> pair =
                        test.pair(Kind.valueOf(arguments[0]), Kind.valueOf(arguments[1]), util);
                Socket one = pair.get(0);
                Socket other = pair.get(1);
                if (one instanceof PeerSocket && other instanceof PeerSocket) {
                    List<FutureTask<Void>> tasks = frames(one, other, WRITERS, 1500, 5);
                    tasks.addAll(frames(other, one, WRITERS, 1500, 5));
                    await(tasks);
                } else {
                    // Java's own sockets lose count if two threads change keys at a time.
                    await(frames(one, other, 1, 1500, 5));
                    await(frames(other, one, 1, 1500, 5));
                }
            }
            System.exit(0);
        }
    }
}
