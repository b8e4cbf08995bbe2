package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.ensemble.Ensemble;
import io.saucr.ensemble.LoopbackHosting;
import io.saucr.ensemble.LoopbackHosting.Disk;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalTime;
import java.util.stream.Collectors;
import org.apache.zookeeper.ClientCnxnSocketNetty;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.server.NettyServerCnxnFactory;
import org.junit.jupiter.api.Test;

/**
 * Clients that use Netty, with TLS on one port and without on the other, write while the mode
 * changes and while a server crashes in fast mode. Meanwhile both ports have hundreds of
 * connections that hesitate. All other tests use NIO on both sides.
 */
@NeedsCompiler
class ClientTlsIT {
    private static final int VOTERS = 3;

    /** Of each kind, on each port. */
    private static final int HESITATING = 30;

    private static final int SESSION_MILLIS = 10_000;

    @Test
    void clientsOfBothPortsWriteThroughModeSwitchesAndACrash() throws Exception {
        Path keys =
                Certificates.keys(
                        Files.createDirectories(SaucrEnsemble.folder("client-tls-keys"))
                                .resolve("keys.p12"));
        Path trusted = Certificates.certificateOf(keys, keys.resolveSibling("trusted.p12"));
        Ensemble.Builder builder = SaucrEnsemble.describe("client-tls", VOTERS);
        LoopbackHosting hosting =
                new LoopbackHosting(
                        SaucrEnsemble.folder("client-tls"), VOTERS, Disk.SHIM_WITH_JOURNAL);
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.prepare(
                        builder.hosting(hosting)
                                .set("serverCnxnFactory", NettyServerCnxnFactory.class.getName())
                                .set("saucr.heartbeatInterval", "2s")
                                .set("saucr.fastModeConfirmations", "1")
                                .set("saucr.backgroundFlushInterval", "1h")
                                .set("secureClientPortAddress", "127.0.0.1")
                                .set("ssl.keyStore.location", keys.toString())
                                .set("ssl.keyStore.password", Certificates.PASSWORD)
                                .set("ssl.trustStore.location", trusted.toString())
                                .set("ssl.trustStore.password", Certificates.PASSWORD))) {
            for (int id : ensemble.all()) {
                ensemble.server(id)
                        .configure("secureClientPort", Integer.toString(hosting.securePort(id)));
                ensemble.restart(id);
            }
            ensemble.awaitServing();
            String secure =
                    ensemble.all().stream()
                            .map(id -> "127.0.0.1:" + hosting.securePort(id))
                            .collect(Collectors.joining(","));
            ZKClientConfig tls = netty();
            tls.setProperty(ZKClientConfig.SECURE_CLIENT, "true");
            tls.setProperty("zookeeper.ssl.keyStore.location", keys.toString());
            tls.setProperty("zookeeper.ssl.keyStore.password", Certificates.PASSWORD);
            tls.setProperty("zookeeper.ssl.trustStore.location", trusted.toString());
            tls.setProperty("zookeeper.ssl.trustStore.password", Certificates.PASSWORD);
            for (int id : ensemble.all()) {
                assertThat(plainAnswer(ensemble.server(id).address().clientPort()))
                        .isEqualTo("imok");
                assertThat(plainAnswer(hosting.securePort(id))).doesNotContain("imok");
            }
            ensemble.awaitFast();
            try (HesitatingPeers hesitating = new HesitatingPeers();
                    AckedWrites secured =
                            new AckedWrites(
                                    Client.connected(secure, SESSION_MILLIS, tls), "/tls", 8);
                    AckedWrites plain =
                            new AckedWrites(
                                    Client.connected(
                                            ensemble.connectString(), SESSION_MILLIS, netty()),
                                    "/plain",
                                    8)) {
                for (int id : ensemble.all()) {
                    hesitating.connectTo(ensemble.server(id).address().clientPort(), HESITATING);
                    hesitating.connectTo(hosting.securePort(id), HESITATING);
                }
                secured.awaitMore(200);
                plain.awaitMore(200);
                int leader = ensemble.awaitFast();
                int victim = ensemble.followers().get(0);
                LocalTime cut = ensemble.losePowerInFastMode(victim);
                ensemble.awaitSlow(leader);
                secured.awaitMore(50);
                plain.awaitMore(50);
                ensemble.restart(victim);
                ensemble.awaitServing();
                assertThat(ensemble.log(victim, cut, "Recovered through")).isNotEmpty();
                assertThat(ensemble.awaitFast()).isEqualTo(leader);
                secured.awaitMore(50);
                plain.awaitMore(50);
                secured.stop();
                plain.stop();
                for (int id : ensemble.all()) {
                    String address = "127.0.0.1:" + hosting.securePort(id);
                    try (Client reader = Client.connected(address, SESSION_MILLIS, tls)) {
                        secured.assertAllIn(reader);
                        plain.assertAllIn(reader);
                    }
                    assertThat(Files.readString(ensemble.server(id).logFile()))
                            .contains("NettyServerCnxnFactory")
                            .doesNotContain("NIOServerCnxnFactory");
                }
            }
        }
    }

    private static ZKClientConfig netty() {
        ZKClientConfig configuration = new ZKClientConfig();
        configuration.setProperty(
                ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET, ClientCnxnSocketNetty.class.getName());
        return configuration;
    }

    /** What the server sends to a client without TLS before it closes the connection. */
    private static String plainAnswer(int port) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.getOutputStream().write("ruok\n".getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1)
                    .trim();
        } catch (SocketException e) {
            return "";
        }
    }
}
