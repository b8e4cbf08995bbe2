package io.saucr.tests.ensemble;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.core.recovery.RecoveryMessage;
import io.saucr.core.recovery.RecoveryMessage.EpochEndsAnswer;
import io.saucr.core.recovery.RecoveryMessage.EpochEndsRequest;
import io.saucr.core.recovery.RecoveryMessage.LleAnswer;
import io.saucr.core.recovery.RecoveryMessage.LleQuery;
import io.saucr.ensemble.Ensemble;
import io.saucr.ensemble.LoopbackHosting.Disk;
import io.saucr.tests.ensemble.ElectionPortPeer.Authentication;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.time.Duration;
import java.time.LocalTime;
import java.util.Map;
import java.util.Optional;
import javax.net.SocketFactory;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.login.AppConfigurationEntry.LoginModuleControlFlag;
import javax.security.auth.login.Configuration;
import org.apache.zookeeper.server.auth.DigestLoginModule;
import org.apache.zookeeper.server.quorum.auth.SaslQuorumAuthLearner;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Ports between servers that ask for credentials: election, fast mode, slow mode and recovery (R18)
 * work. A server that lost its memory gets back what it had acknowledged. A peer without
 * credentials, or with wrong ones, is told nothing; the same peer gets an answer with the right
 * ones, and where none are asked for.
 */
@NeedsCompiler
class SecuredPortsIT {
    private static final int RECOVERING = 3;
    private static final String PASSWORD = Certificates.PASSWORD;
    private static final String QUORUM_SERVICE = "zkquorum/" + LoopbackKdc.HOST;
    private static final String FIPS_MODE = "zookeeper.fips-mode";
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /** Connects a socket to an election port, up to the greeting. */
    private interface Connection {
        Socket open(int port) throws IOException;
    }

    private static final Connection PLAIN =
            port -> new Socket(InetAddress.getLoopbackAddress(), port);
    private static final Authentication NONE = socket -> {};

    @Tag("long")
    @Test
    void openPortsAnswerAnyPeer() throws Exception {
        try (SaucrEnsemble ensemble = SaucrEnsemble.start(describe("open-ports"))) {
            recovers(ensemble, () -> assertAnswered(ensemble, PLAIN, NONE));
        }
    }

    @Test
    void atOpenPortsPeersThatHesitateHoldUpNoRecovery() throws Exception {
        try (SaucrEnsemble ensemble = SaucrEnsemble.start(describe("open-ports-hesitating"));
                HesitatingPeers hesitating = new HesitatingPeers()) {
            recovers(
                    ensemble,
                    () -> {
                        hesitateAtAllPorts(ensemble, hesitating);
                        assertAnswered(ensemble, PLAIN, NONE);
                    });
        }
    }

    @Test
    void saslLetsARecoveringServerInAndNobodyElse() throws Exception {
        saslLetsInAndNobodyElse("sasl-ports", ensemble -> {}, ensemble -> {});
    }

    @Tag("long")
    @Test
    void withSaslALeaderThatDiesRecovers() throws Exception {
        saslLetsInAndNobodyElse(
                "sasl-ports-of-leader", ensemble -> {}, SecuredPortsIT::losesItsLeader);
    }

    private static void saslLetsInAndNobodyElse(String name, Further whileDown, Further further)
            throws Exception {
        Path jaas = SaucrEnsemble.folder(name + "-login").resolve("jaas.conf");
        Files.createDirectories(jaas.getParent());
        Files.writeString(
                jaas,
                """
                QuorumServer { %1$s required user_peer="%2$s"; };
                QuorumLearner { %1$s required username="peer" password="%2$s"; };
                """
                        .formatted(DigestLoginModule.class.getName(), PASSWORD));
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.start(
                        describe(name)
                                .set("fips-mode", "false")
                                .set("quorum.auth.enableSasl", "true")
                                .set("quorum.auth.learnerRequireSasl", "true")
                                .set("quorum.auth.serverRequireSasl", "true")
                                .jvmFlag("-Djava.security.auth.login.config=" + jaas))) {
            recovers(
                    ensemble,
                    () -> {
                        assertNotAnswered(ensemble, PLAIN, NONE);
                        assertNotAnswered(ensemble, PLAIN, login("wrong horse"));
                        whileDown.with(ensemble);
                        assertAnswered(ensemble, PLAIN, login(PASSWORD));
                    });
            further.with(ensemble);
        }
    }

    @Tag("long")
    @Test
    void kerberosLetsARecoveringServerInAndNobodyElse() throws Exception {
        Path folder = Files.createDirectories(SaucrEnsemble.folder("kerberos-ports-kdc"));
        String stranger = "zkquorum/elsewhere";
        try (LoopbackKdc kdc = new LoopbackKdc(folder, QUORUM_SERVICE, stranger)) {
            Path jaas = folder.resolve("jaas.conf");
            Files.writeString(
                    jaas,
                    "QuorumServer { %1$s };\nQuorumLearner { %1$s };\n"
                            .formatted(kdc.jaasEntry(QUORUM_SERVICE)));
            try (SaucrEnsemble ensemble =
                    SaucrEnsemble.start(
                            describe("kerberos-ports")
                                    .set("quorum.auth.enableSasl", "true")
                                    .set("quorum.auth.learnerRequireSasl", "true")
                                    .set("quorum.auth.serverRequireSasl", "true")
                                    .set("quorum.auth.kerberos.servicePrincipal", QUORUM_SERVICE)
                                    .jvmFlag("-Djava.security.krb5.conf=" + kdc.configuration())
                                    .jvmFlag("-Djava.security.auth.login.config=" + jaas))) {
                recovers(
                        ensemble,
                        () -> {
                            assertNotAnswered(ensemble, PLAIN, NONE);
                            assertNotAnswered(ensemble, PLAIN, ticket(kdc, stranger));
                            assertAnswered(ensemble, PLAIN, ticket(kdc, QUORUM_SERVICE));
                        });
                losesItsLeader(ensemble);
            }
        }
    }

    /** {@link #withTlsPeersThatHesitateHoldUpNoRecovery} does the same, and more. */
    @Tag("long")
    @Test
    void tlsLetsARecoveringServerInAndNobodyElse() throws Exception {
        tlsLetsInAndNobodyElse("tls-ports", ensemble -> {}, ensemble -> {});
    }

    @Test
    void withTlsPeersThatHesitateHoldUpNoRecovery() throws Exception {
        try (HesitatingPeers hesitating = new HesitatingPeers()) {
            tlsLetsInAndNobodyElse(
                    "tls-ports-hesitating",
                    ensemble -> hesitateAtAllPorts(ensemble, hesitating),
                    ensemble -> {});
        }
    }

    @Tag("long")
    @Test
    void withSaslPeersThatHesitateHoldUpNoRecovery() throws Exception {
        try (HesitatingPeers hesitating = new HesitatingPeers()) {
            saslLetsInAndNobodyElse(
                    "sasl-ports-hesitating",
                    ensemble -> hesitateAtAllPorts(ensemble, hesitating),
                    ensemble -> {});
        }
    }

    /** More of them than a limit of time could close one after the other. */
    private static void hesitateAtAllPorts(SaucrEnsemble ensemble, HesitatingPeers hesitating)
            throws IOException {
        for (int server = 1; server < RECOVERING; server++) {
            hesitating.connectTo(ensemble.server(server).address().electionPort(), 30);
        }
        int leader = ensemble.leader();
        hesitating.connectTo(ensemble.server(leader).address().quorumPort(), 30);
    }

    @Tag("long")
    @Test
    void withTlsALeaderThatDiesRecovers() throws Exception {
        tlsLetsInAndNobodyElse(
                "tls-ports-of-leader", ensemble -> {}, SecuredPortsIT::losesItsLeader);
    }

    private static void tlsLetsInAndNobodyElse(String name, Further whileDown, Further further)
            throws Exception {
        Path folder = Files.createDirectories(SaucrEnsemble.folder(name + "-keys"));
        Path ours = Certificates.keys(folder.resolve("ours.p12"));
        Path foreign = Certificates.keys(folder.resolve("foreign.p12"));
        Path trusted = Certificates.certificateOf(ours, folder.resolve("trusted.p12"));
        try (SaucrEnsemble ensemble =
                SaucrEnsemble.start(
                        describe(name)
                                .set("sslQuorum", "true")
                                .set("ssl.quorum.keyStore.location", ours.toString())
                                .set("ssl.quorum.keyStore.password", PASSWORD)
                                .set("ssl.quorum.trustStore.location", trusted.toString())
                                .set("ssl.quorum.trustStore.password", PASSWORD))) {
            recovers(
                    ensemble,
                    () -> {
                        assertNotAnswered(ensemble, PLAIN, NONE);
                        assertNotAnswered(ensemble, tls(null, trusted), NONE);
                        assertNotAnswered(ensemble, tls(foreign, trusted), NONE);
                        whileDown.with(ensemble);
                        assertAnswered(ensemble, tls(ours, trusted), NONE);
                    });
            further.with(ensemble);
        }
    }

    private static Ensemble.Builder describe(String name) throws IOException {
        return SaucrEnsemble.describe(name, 3)
                .set("saucr.heartbeatInterval", "2s")
                .set("saucr.fastModeConfirmations", "1")
                .set("saucr.backgroundFlushInterval", "1h")
                .set("saucr.idleFlush", "1h")
                // A handshake may take as long as that on a busy machine.
                .set("syncLimit", "40")
                .disk(Disk.SHIM_WITH_JOURNAL);
    }

    /** What happens while the server is down, or once it has recovered. */
    private interface Further {
        void with(SaucrEnsemble ensemble) throws Exception;
    }

    private interface Action {
        void run() throws Exception;
    }

    /** A server loses its memory, something happens while it is down, and it recovers. */
    private static void recovers(SaucrEnsemble ensemble, Action whileDown) throws Exception {
        ensemble.awaitFast();
        try (AckedWrites writes = new AckedWrites(ensemble.connect(1, 2), "/load", 8)) {
            writes.awaitMore(200);
            LocalTime cut = ensemble.losePowerInFastMode(RECOVERING);
            ensemble.awaitServing();
            whileDown.run();
            ensemble.restart(RECOVERING);
            ensemble.awaitServing();
            assertThat(ensemble.log(RECOVERING, cut, "Recovered through")).isNotEmpty();
            writes.awaitMore(20);
            writes.stop();
            try (Client reader = ensemble.connect(RECOVERING)) {
                writes.assertAllIn(reader);
            }
        }
    }

    /** Its leader dies in fast mode, the others go on, it recovers, and all are fast again. */
    private static void losesItsLeader(SaucrEnsemble ensemble) throws Exception {
        int first = ensemble.awaitFast();
        assertThat(ensemble.log(first, LocalTime.MIN, "ports between servers are open")).isEmpty();
        int[] others =
                ensemble.all().stream().filter(id -> id != first).mapToInt(id -> id).toArray();
        try (AckedWrites writes =
                new AckedWrites(ensemble.connect(others[0], others[1]), "/leader", 8)) {
            writes.awaitMore(100);
            LocalTime cut = ensemble.losePowerInFastMode(first);
            ensemble.awaitServing();
            writes.awaitMore(100);
            ensemble.restart(first);
            ensemble.awaitServing();
            assertThat(ensemble.log(first, cut, "Recovered through")).isNotEmpty();
            ensemble.awaitFast();
            writes.awaitMore(100);
            writes.stop();
            writes.assertAllOnEachOf(ensemble);
        }
    }

    private static void assertAnswered(
            SaucrEnsemble ensemble, Connection connection, Authentication authentication)
            throws IOException {
        for (int server = 1; server < RECOVERING; server++) {
            try (ElectionPortPeer peer = greet(ensemble, server, connection, authentication)) {
                assertThat(peer.ask(new LleQuery(7, RECOVERING, false), PATIENCE))
                        .get()
                        .isInstanceOf(LleAnswer.class);
            }
            try (ElectionPortPeer peer = greet(ensemble, server, connection, authentication)) {
                assertThat(peer.ask(new EpochEndsRequest(7, RECOVERING, 8), PATIENCE))
                        .get()
                        .isInstanceOf(EpochEndsAnswer.class);
            }
        }
    }

    /**
     * Sends each of the two questions alone, so that an error with the first one cannot hide an
     * answer.
     */
    private static void assertNotAnswered(
            SaucrEnsemble ensemble, Connection connection, Authentication authentication) {
        for (int server = 1; server < RECOVERING; server++) {
            for (RecoveryMessage question :
                    new RecoveryMessage[] {
                        new LleQuery(7, RECOVERING, false), new EpochEndsRequest(7, RECOVERING, 8)
                    }) {
                Optional<RecoveryMessage> answer;
                try (ElectionPortPeer peer = greet(ensemble, server, connection, authentication)) {
                    answer = peer.ask(question, PATIENCE);
                } catch (IOException e) {
                    answer = Optional.empty(); // Hung up at once.
                }
                assertThat(answer).isEmpty();
            }
        }
    }

    private static ElectionPortPeer greet(
            SaucrEnsemble ensemble,
            int server,
            Connection connection,
            Authentication authentication)
            throws IOException {
        Socket socket = connection.open(ensemble.server(server).address().electionPort());
        try {
            return new ElectionPortPeer(socket, RECOVERING, authentication);
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    /** Logs in with a password, as ZooKeeper's own servers do. */
    private static Authentication login(String password) throws IOException {
        SaslQuorumAuthLearner learner =
                learner(
                        DigestLoginModule.class.getName(),
                        Map.of("username", "peer", "password", password),
                        "zkquorum/localhost");
        return socket -> {
            System.setProperty(FIPS_MODE, "false"); // It does not allow DIGEST-MD5.
            try {
                learner.authenticate(socket, "localhost");
            } finally {
                System.clearProperty(FIPS_MODE);
            }
        };
    }

    /** Logs in with a Kerberos ticket, as ZooKeeper's own servers do. */
    private static Authentication ticket(LoopbackKdc kdc, String principal) throws IOException {
        SaslQuorumAuthLearner learner =
                learner(LoopbackKdc.LOGIN_MODULE, kdc.login(principal), QUORUM_SERVICE);
        return socket -> learner.authenticate(socket, LoopbackKdc.HOST);
    }

    private static SaslQuorumAuthLearner learner(
            String module, Map<String, String> options, String service) throws IOException {
        Configuration before = Configuration.getConfiguration();
        Configuration.setConfiguration(
                new Configuration() {
                    @Override
                    public AppConfigurationEntry[] getAppConfigurationEntry(String name) {
                        return new AppConfigurationEntry[] {
                            new AppConfigurationEntry(
                                    module, LoginModuleControlFlag.REQUIRED, options)
                        };
                    }
                });
        try {
            return new SaslQuorumAuthLearner(true, service, "QuorumLearner");
        } finally {
            Configuration.setConfiguration(before);
        }
    }

    /** A TLS connection that shows these keys, or none, and trusts the others. */
    private static Connection tls(Path keys, Path trusted)
            throws IOException, GeneralSecurityException {
        KeyManagerFactory shown =
                KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        if (keys != null) {
            shown.init(load(keys), PASSWORD.toCharArray());
        } else {
            shown.init(null, null);
        }
        TrustManagerFactory trust =
                TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(load(trusted));
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(shown.getKeyManagers(), trust.getTrustManagers(), null);
        SocketFactory sockets = context.getSocketFactory();
        return port -> sockets.createSocket(InetAddress.getLoopbackAddress(), port);
    }

    private static KeyStore load(Path file) throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            store.load(in, PASSWORD.toCharArray());
        }
        return store;
    }
}
