package io.saucr.server.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.server.ReleasedClasses;
import io.saucr.server.http.RawClient;
import io.saucr.server.http.RawClient.Answer;
import java.io.IOException;
import java.lang.reflect.Field;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.admin.AdminServer;
import org.apache.zookeeper.server.admin.Commands;
import org.apache.zookeeper.server.auth.ProviderRegistry;
import org.apache.zookeeper.server.auth.X509AuthenticationProvider;
import org.apache.zookeeper.server.util.RateLimiter;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The same requests to Apache's released AdminServer, on Jetty, and to ours. Both stand in front of
 * the same server, and must give the same answers.
 */
@Timeout(120)
class AdminComparisonTest {
    private static final String NAME = "org.apache.zookeeper.server.admin.JettyAdminServer";
    private static final String X509 = "zookeeper.authProvider.x509";
    private static final String AUTHORIZED = "Authorization: digest someone:secret";

    /** What Jetty or time makes: a server's name, a date, how a length is said. */
    private static final List<String> OF_THE_SERVER =
            List.of("server", "date", "content-length", "transfer-encoding", "connection");

    @TempDir static Path folder;

    private static ServerCnxnFactory port;
    private static ZooKeeperServer server;
    private static ZooKeeper client;

    private AdminServer apaches;
    private AdminServer ours;
    private int apachesPort;
    private int oursPort;

    @BeforeAll
    static void startServer() throws Exception {
        ServerCnxnFactory factory = new NIOServerCnxnFactory();
        factory.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10);
        server = new ZooKeeperServer(folder.toFile(), folder.toFile(), 2_000);
        factory.startup(server);
        port = factory;
        client = new ZooKeeper("127.0.0.1:" + factory.getLocalPort(), 30_000, event -> {});
        client.create("/a", new byte[3], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        client.create("/a/e", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
        client.exists("/a", true);
    }

    @AfterAll
    static void stopServer() throws Exception {
        client.close();
        port.shutdown();
        server.shutdown();
    }

    private void start(boolean unified, boolean forced, boolean needsClient) throws Exception {
        apachesPort = freePort();
        oursPort = freePort();
        apaches = admin(new ReleasedClasses(NAME), apachesPort, unified, forced, needsClient);
        ours = admin(getClass().getClassLoader(), oursPort, unified, forced, needsClient);
        assertThat(apaches.getClass()).isNotEqualTo(ours.getClass());
    }

    private static int freePort() throws IOException {
        try (ServerSocket free = new ServerSocket(0)) {
            return free.getLocalPort();
        }
    }

    private static AdminServer admin(
            ClassLoader loader, int port, boolean unified, boolean forced, boolean needsClient)
            throws Exception {
        AdminServer admin =
                Class.forName(NAME, true, loader)
                        .asSubclass(AdminServer.class)
                        .getConstructor(
                                String.class,
                                int.class,
                                int.class,
                                String.class,
                                int.class,
                                boolean.class,
                                boolean.class,
                                boolean.class)
                        .newInstance(
                                "127.0.0.1",
                                port,
                                30_000,
                                "/commands",
                                11,
                                unified,
                                forced,
                                needsClient);
        admin.setZooKeeperServer(server);
        admin.start();
        return admin;
    }

    @AfterEach
    void stop() throws Exception {
        if (apaches != null) {
            apaches.shutdown();
            ours.shutdown();
        }
        AdminKeys.clear();
        ProviderRegistry.removeProvider("x509");
        System.clearProperty(X509);
    }

    private static String request(String first, String... headers) {
        return first
                + " HTTP/1.1\r\nHost: a\r\n"
                + String.join("\r\n", headers)
                + (headers.length == 0 ? "" : "\r\n")
                + "Connection: close\r\n\r\n";
    }

    /** What is the same for both; numbers are those of a moment. */
    private static Map<String, String> comparable(Answer answer) {
        Map<String, String> parts = new TreeMap<>(answer.headers());
        parts.keySet().removeAll(OF_THE_SERVER);
        parts.put("status", Integer.toString(answer.status()));
        boolean json = "application/json".equals(parts.get("content-type"));
        if (answer.status() >= 400 && !json) {
            parts.remove("content-type"); // Jetty's pages of errors are its own.
            parts.remove("cache-control");
        } else {
            parts.put("body", body(answer).replaceAll("-?[0-9]+", "0"));
        }
        return parts;
    }

    /** Of a chunked answer, what its chunks hold. */
    private static String body(Answer answer) {
        if (!"chunked".equals(answer.headers().get("transfer-encoding"))) {
            return answer.body();
        }
        StringBuilder all = new StringBuilder();
        String left = answer.body();
        while (true) {
            int line = left.indexOf("\r\n");
            int length = Integer.parseInt(left.substring(0, line), 16);
            if (length == 0) {
                assertThat(left).isEqualTo("0\r\n\r\n");
                return all.toString();
            }
            all.append(left, line + 2, line + 2 + length);
            left = left.substring(line + 2 + length + 2);
        }
    }

    private Map<String, String> same(String request) throws IOException {
        Map<String, String> expected = comparable(RawClient.ask(apachesPort, request));
        assertThat(comparable(RawClient.ask(oursPort, request))).as(request).isEqualTo(expected);
        return expected;
    }

    @Test
    void everyCommandIsAnsweredAlike() throws Exception {
        start(false, false, false);
        TreeSet<String> names = new TreeSet<>(Commands.getPrimaryNames());
        assertThat(names).contains("ruok", "monitor", "connections", "snapshot", "restore");
        names.removeIf(name -> name.startsWith("saucr"));
        for (String name : names) {
            assertThat(same(request("GET /commands/" + name))).containsKey("body");
            same(request("POST /commands/" + name, "Content-Length: 0"));
        }
        for (String part :
                List.of("mntr", "STAT", "unknown", "ruok?a=b&a=c", "set_trace_mask?traceMask=30")) {
            same(request("GET /commands/" + part));
        }
    }

    @Test
    void aServerThatDoesNotServe() throws Exception {
        start(false, false, false);
        apaches.setZooKeeperServer(null);
        ours.setZooKeeperServer(null);
        for (String name : List.of("ruok", "monitor", "environment", "snapshot", "unknown")) {
            same(request("GET /commands/" + name));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET /commands",
                "GET /commands/",
                "HEAD /commands",
                "POST /commands",
                "GET /commandsX",
                "GET /nothing",
                "HEAD /commands/ruok",
                "HEAD /commands/monitor",
                "OPTIONS /commands/ruok",
                "PUT /commands/ruok",
                "DELETE /commands/ruok",
                "PATCH /commands/ruok",
                "STRANGE /commands/ruok",
                "TRACE /commands/ruok",
                "TRACE /nothing",
                "GET /commands/%72uok",
                "GET /commands/ruok;a=b",
                "GET /commands/ruok/",
                "GET /commands/ruok?%zz",
                "GET /commands/ruok?a",
                "GET /commands/ruok#part",
                "GET /commands/ru%2Fok",
                "GET /commands/ruok+a",
                "GET http://a/commands/ruok",
                "GET nothing"
            })
    void requestsOfEveryKind(String first) throws Exception {
        start(false, false, false);
        same(request(first));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET /commands/ruok HTTP/1.0\r\n\r\n",
                "GET /commands/ruok HTTP/1.1\r\n\r\n",
                "GET /commands/ruok HTTP/1.1\r\nHost: a\r\nBroken\r\n\r\n",
                "GET /commands/ruok HTTP/1.1\r\nHost : a\r\n\r\n",
                "POST /commands/ruok HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2"
                        + "\r\nConnection: close\r\n\r\nxy",
                "POST /commands/ruok HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
                "POST /commands/ruok HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
                "POST /commands/ruok HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n"
                        + "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n",
                "POST /commands/ruok HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity"
                        + "\r\nConnection: close\r\n\r\n0\r\n\r\n",
                "POST /commands/ruok HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n"
                        + "Connection: close\r\n\r\nabc",
                "POST /commands/ruok HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
                        + "Connection: close\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
            })
    void rawRequests(String raw) throws Exception {
        start(false, false, false);
        same(raw);
    }

    /** What Jetty answers, or answers in another way, and a server should not. */
    @Test
    void whereOursIsStricter() throws Exception {
        start(false, false, false);
        String hosts =
                "GET /commands/ruok HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n";
        statuses(200, 400, hosts);
        statuses(404, 400, request("GET /commands/%2e%2e/ruok"));
        statuses(426, 505, "GET /commands/ruok HTTP/2.0\r\nHost: a\r\n\r\n");
        statuses(405, 404, request("POST /nothing"));
    }

    private void statuses(int ofApaches, int ofOurs, String request) throws IOException {
        assertThat(RawClient.ask(apachesPort, request).status()).isEqualTo(ofApaches);
        assertThat(RawClient.ask(oursPort, request).status()).isEqualTo(ofOurs);
    }

    @Test
    void whatIsTooLong() throws Exception {
        start(false, false, false);
        assertThat(same(request("GET /commands/" + "a".repeat(20_000))))
                .containsEntry("status", "414");
        assertThat(same(request("GET /commands/ruok", "A: " + "a".repeat(20_000))))
                .containsEntry("status", "431");
    }

    @Test
    void snapshotAndRestoreWithAuthenticationAndLimit() throws Exception {
        start(false, false, false);
        for (String request :
                List.of(
                        request("GET /commands/snapshot"),
                        request("GET /commands/snapshot", "Authorization: none a"),
                        request("GET /commands/snapshot", "Authorization: x509"),
                        request("GET /commands/snapshot", "Authorization: a b c"),
                        request("GET /commands/restore", AUTHORIZED),
                        request("POST /commands/restore", "Content-Length: 0"))) {
            same(request);
        }
        allowOnce("snapshot");
        Answer oursSnapshot =
                RawClient.ask(oursPort, request("GET /commands/snapshot", AUTHORIZED));
        same(request("GET /commands/snapshot", AUTHORIZED)); // 429
        allowOnce("snapshot");
        Answer apachesSnapshot =
                RawClient.ask(apachesPort, request("GET /commands/snapshot", AUTHORIZED));
        Map<String, String> both = comparable(apachesSnapshot);
        assertThat(comparable(oursSnapshot)).isEqualTo(both).containsEntry("status", "200");
        assertThat(body(oursSnapshot)).isEqualTo(body(apachesSnapshot)).startsWith("ZKSN");

        String snapshot = body(oursSnapshot);
        String restore =
                request(
                                "POST /commands/restore",
                                AUTHORIZED,
                                "Content-Length: " + snapshot.length())
                        + snapshot;
        allowOnce("restore");
        Answer restored = RawClient.ask(oursPort, restore);
        same(request("POST /commands/restore", AUTHORIZED, "Content-Length: 0")); // 429
        allowOnce("restore");
        assertThat(comparable(restored))
                .isEqualTo(comparable(RawClient.ask(apachesPort, restore)))
                .containsEntry("status", "200");
        assertThat(restored.body()).contains("last_zxid");
        String garbage =
                request("POST /commands/restore", AUTHORIZED, "Transfer-Encoding: chunked")
                        + "5\r\nwrong\r\n0\r\n\r\n";
        allowOnce("restore");
        Answer refused = RawClient.ask(oursPort, garbage);
        allowOnce("restore");
        assertThat(comparable(refused))
                .isEqualTo(comparable(RawClient.ask(apachesPort, garbage)))
                .containsEntry("status", "500");
    }

    private static void allowOnce(String command) throws Exception {
        Field limiter = Commands.getCommand(command).getClass().getDeclaredField("rateLimiter");
        limiter.setAccessible(true);
        limiter.set(Commands.getCommand(command), new RateLimiter(1, 1, TimeUnit.HOURS));
    }

    @Test
    void tlsAlone() throws Exception {
        SSLContext tls = AdminKeys.use(folder);
        start(false, true, false);
        sameByTls(tls, request("GET /commands/ruok"));
        assertThat(sameByTls(tls, request("GET /commands/monitor")))
                .containsEntry("strict-transport-security", "max-age=86400; includeSubDomains");
        String plain = request("GET /commands/ruok");
        assertThat(RawClient.ask(apachesPort, plain).status()).isZero();
        assertThat(RawClient.ask(oursPort, plain).status()).isZero();
    }

    @Test
    void tlsAndPlainOnOnePort() throws Exception {
        SSLContext tls = AdminKeys.use(folder);
        start(true, false, false);
        assertThat(sameByTls(tls, request("GET /commands/ruok"))).containsEntry("status", "200");
        assertThat(same(request("GET /commands/ruok")))
                .containsEntry("status", "200")
                .doesNotContainKey("strict-transport-security");
    }

    @Test
    void aClientHasToShowItsCertificate() throws Exception {
        SSLContext tls = AdminKeys.use(folder);
        System.setProperty(X509, X509AuthenticationProvider.class.getName());
        ProviderRegistry.addOrUpdateProvider(X509);
        start(false, true, true);
        String request = request("GET /commands/snapshot", "Authorization: x509");
        allowOnce("snapshot");
        assertThat(RawClient.askByTls(tls, oursPort, request).status()).isEqualTo(200);
        assertThat(sameByTls(tls, request)).containsEntry("status", "429");
        SSLContext nobody = AdminKeys.withoutKey(folder);
        for (int each : new int[] {apachesPort, oursPort}) {
            assertThat(refusesHandshake(nobody, each)).isTrue();
        }
    }

    private static boolean refusesHandshake(SSLContext tls, int port) {
        try {
            return RawClient.askByTls(tls, port, request("GET /commands/ruok")).status() == 0;
        } catch (IOException refused) {
            return true;
        }
    }

    private Map<String, String> sameByTls(SSLContext tls, String request) throws IOException {
        Map<String, String> expected = comparable(RawClient.askByTls(tls, apachesPort, request));
        assertThat(comparable(RawClient.askByTls(tls, oursPort, request))).isEqualTo(expected);
        return expected;
    }
}
