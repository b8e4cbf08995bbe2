package io.saucr.services.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.Address;
import io.saucr.services.core.Body;
import io.saucr.services.core.Frame;
import io.saucr.services.wire.NetOptions;
import io.saucr.services.wire.TlsOptions;
import io.saucr.services.wire.Transport;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who may talk to whom over TLS, and what is said to who may not. */
class TlsTest {

    @TempDir private static Path folder;

    private static Path bank;
    private static Path bankPem;
    private static Path shop;
    private static Path trusted;
    private static TlsOptions ofBank;
    private static TlsOptions ofShop;
    private static TlsOptions ofStranger;
    private static TlsOptions ofIssued;
    private static TlsOptions ofRenewed;
    private static List<TlsOptions> outOfDate;

    private final Transport transport = new Transport(1);
    private final List<AutoCloseable> open = new ArrayList<>();

    @BeforeAll
    static void makeKeys() throws Exception {
        Keys keys = new Keys(folder);
        bank = keys.make("bank", "CN=bank, O=Example");
        bankPem = keys.pem(bank);
        // By its DNS name it is shop, too.
        shop = keys.make("shop", "CN=warehouse", "shop", "kiosk");
        Path authority = keys.authority("authority", "CN=authority");
        Path issued = keys.issued("issued", "CN=shop", authority);
        Path stranger = keys.make("stranger", "CN=stranger", "shop");
        Path expired = keys.make("expired", "CN=pinned", null, -10, -8, false, "shop");
        Path issuedOnce = keys.make("issuedOnce", "CN=shop", authority, -10, -8, false);
        Path early = keys.make("early", "CN=early", null, 8, 10, false, "shop");
        trusted = keys.trust("trusted", bank, shop, expired, early, authority);
        Path renewed = keys.make("renewed", "CN=warehouse", "shop");
        ofIssued = new TlsOptions(issued, Keys.PASSWORD, trusted, "");
        ofRenewed = new TlsOptions(renewed, Keys.PASSWORD, trusted, "");
        outOfDate =
                Stream.of(expired, issuedOnce, early)
                        .map(store -> new TlsOptions(store, Keys.PASSWORD, trusted, ""))
                        .toList();
        ofBank = new TlsOptions(bank, Keys.PASSWORD, trusted, "");
        ofShop = new TlsOptions(shop, Keys.PASSWORD, trusted, "");
        ofStranger = new TlsOptions(stranger, Keys.PASSWORD, trusted, "");
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable closing : open) {
            closing.close();
        }
        transport.close();
    }

    private Side side(String name, TlsOptions keys) throws IOException {
        return side(name, NetOptions.plain().with(keys));
    }

    private Side side(String name, NetOptions options) throws IOException {
        Side side = new Side(transport, name, options);
        open.add(side);
        return side;
    }

    private Side client(String name, TlsOptions keys) throws IOException {
        Side side = Side.client(transport, name, NetOptions.plain().with(keys));
        open.add(side);
        return side;
    }

    private static TlsOptions with(TlsOptions keys, String protocol) {
        return new TlsOptions(
                keys.keyStore(),
                keys.keyStorePassword(),
                keys.keyStoreType(),
                keys.trustStore(),
                keys.trustStorePassword(),
                keys.trustStoreType(),
                List.of(protocol),
                List.of());
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void whoBearsItsNameIsHeard(String protocol) throws Exception {
        Side bank = side("bank", with(new TlsOptions(bankPem, "", trusted, ""), protocol));
        Side shop = side("shop", ofShop);
        shop.peers.dial("bank", Optional.of(bank.listen()));
        Connection link = shop.await(Side.Up.class).link();
        link.send(shop.hello());
        Frame.Msg large = Side.message(1, 500_000);
        link.send(large);
        assertThat(bank.await(Side.Up.class).link().peer()).isEqualTo("shop");
        Side.Got got = bank.await(Side.Got.class, g -> g.frame() instanceof Frame.Msg);
        assertThat(((Frame.Msg) got.frame()).body().bytes()).hasSize(500_000);
    }

    @Test
    void whoSaysAnotherNameThanItsCertificateIsRefused() throws Exception {
        Side bank = side("bank", ofBank);
        Side shop = side("shop", ofShop);
        Address address = bank.listen();
        shop.peers.dial("bank", Optional.of(address));
        shop.await(Side.Up.class).link().send(Side.hello("mint"));
        assertThat(shop.await(Side.Down.class).reason())
                .startsWith("bank at " + address + " ended the connection: it says it is mint at")
                .endsWith(
                        "its certificate (CN=warehouse) names [warehouse, shop, kiosk]: a service's"
                                + " certificate bears its name, as common name or DNS name");
        assertThat(bank.told).isEmpty();
    }

    @Test
    void whoIsDialledMustHaveTheCertificateOfThatName() throws Exception {
        Side bank = side("bank", ofBank);
        Side shop = side("shop", ofShop);
        Address address = bank.listen();
        shop.peers.dial("mint", Optional.of(address));
        assertThat(shop.trouble("mint"))
                .startsWith(
                        "mint was wanted at "
                                + address
                                + ", and its certificate (CN=bank, O=Example) names [bank]");
        assertThat(shop.told).isEmpty();
        assertThat(bank.told).isEmpty();
    }

    @Test
    void whomNobodyVouchesForIsRefused() throws Exception {
        Side bank = side("bank", ofBank);
        Side stranger = side("shop", ofStranger);
        Address address = bank.listen();
        stranger.peers.dial("bank", Optional.of(address));
        assertThat(stranger.trouble("bank"))
                .startsWith("TLS with bank at " + address + " failed: ")
                .endsWith("its log says why");
        assertThat(bank.told).isEmpty();
        Side shop = side("shop", ofShop);
        shop.peers.dial("shop", Optional.of(stranger.listen()));
        assertThat(shop.trouble("shop"))
                .contains("who issued its certificate must be in " + trusted);
        assertThat(shop.told).isEmpty();
    }

    @Test
    void whomAnAuthorityVouchesForIsHeard() throws Exception {
        Side bank = side("bank", ofBank);
        Side shop = side("shop", ofIssued);
        bank.peers.dial("shop", Optional.of(shop.listen()));
        bank.await(Side.Up.class);
        shop.peers.dial("bank", Optional.of(bank.listen()));
        shop.await(Side.Up.class, up -> up.link().dialled()).link().send(shop.hello());
        assertThat(bank.await(Side.Up.class, up -> !up.link().dialled()).link().peer())
                .isEqualTo("shop");
    }

    @Test
    void aRenewedCertificateMustReplaceItsPredecessorInTheTrustStore() throws Exception {
        Side bank = side("bank", ofBank);
        Side shop = side("shop", ofRenewed);
        bank.peers.dial("shop", Optional.of(shop.listen()));
        assertThat(bank.trouble("shop"))
                .startsWith("TLS with shop at")
                .contains(trusted + " has another certificate of the name that issued this one");
        assertThat(bank.told).isEmpty();
    }

    /** Pinned or issued, dialled or accepted: a certificate counts between its dates only. */
    @Test
    void aCertificateOutOfDateIsRefusedWithItsDate() throws Exception {
        Side bank = side("bank", ofBank);
        Address address = bank.listen();
        List<String> dates = List.of("NotAfter", "NotAfter", "NotBefore");
        for (int i = 0; i < dates.size(); i++) {
            Side shop = side("shop", outOfDate.get(i));
            bank.peers.dial("shop", Optional.of(shop.listen()));
            assertThat(bank.trouble("shop"))
                    .startsWith("TLS with shop at")
                    .contains(dates.get(i))
                    .endsWith("its certificate counts between its dates only; it needs a new one");
            bank.peers.leave("shop");
            shop.peers.dial("bank", Optional.of(address));
            assertThat(shop.trouble("bank")).endsWith("its log says why");
            assertThat(shop.told).isEmpty();
        }
        assertThat(bank.told).isEmpty();
    }

    @Test
    void plainTextToATlsPortIsSaid() throws Exception {
        Side bank = side("bank", ofBank);
        Side shop = side("shop", NetOptions.plain());
        shop.peers.dial("bank", Optional.of(bank.listen()));
        assertThat(shop.trouble("bank")).contains("TLS");
        assertThat(bank.told).isEmpty();
    }

    @Test
    void tlsToAPlainPortIsSaid() throws Exception {
        Side bank = side("bank", NetOptions.plain());
        Side shop = side("shop", ofShop);
        shop.peers.dial("bank", Optional.of(bank.listen()));
        assertThat(shop.trouble("bank"))
                .contains("does not speak TLS, and this side does: set ssl.* on both, or on none");
        assertThat(bank.told).isEmpty();
    }

    @Test
    void whoShowsNoCertificateIsNotHeard() throws Exception {
        Side bank = side("bank", ofBank);
        Address address = bank.listen();
        SSLContext nobody = SSLContext.getInstance("TLS");
        nobody.init(null, new TrustManager[] {new TrustsAnybody()}, null);
        try (Socket socket =
                nobody.getSocketFactory()
                        .createSocket(InetAddress.getByName(address.host()), address.port())) {
            InputStream in = socket.getInputStream();
            assertThatThrownBy(in::read).hasMessageContaining("alert");
        }
        assertThat(bank.told).isEmpty();
    }

    @Test
    void noiseOnATlsPortIsRefused() throws Exception {
        Side bank = side("bank", ofBank);
        Address address = bank.listen();
        try (Socket socket = new Socket(InetAddress.getByName(address.host()), address.port())) {
            socket.getOutputStream()
                    .write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            // An alert of TLS, or nothing, and the end, of whatever kind.
            while (socket.getInputStream().read() >= 0) {}
        } catch (SocketException e) {
            assertThat(e).hasMessageContaining("reset");
        }
        assertThat(bank.told).isEmpty();
    }

    @Test
    void aNamelessClientIsCalledAsItsCertificate() throws Exception {
        Side bank = side("bank", ofBank);
        Side client = client("alice", ofShop);
        client.peers.dial("bank", Optional.of(bank.listen()));
        client.await(Side.Up.class).link().send(new Frame.Ask(1, new Body("Balance", new byte[0])));
        Connection link = bank.await(Side.Up.class).link();
        assertThat(link.peer()).isEqualTo("warehouse");
        assertThat(link.outside()).isTrue();
    }

    @Test
    void aClientMayShowAnyCertificateThatIsTrustedButNoOther() throws Exception {
        Side bank = side("bank", ofBank);
        Address address = bank.listen();
        Side untrusted = client("alice", ofStranger);
        untrusted.peers.dial("bank", Optional.of(address));
        assertThat(untrusted.trouble("bank")).startsWith("TLS with bank at " + address);
        assertThat(bank.told).isEmpty();
        Side client = client("alice", ofShop);
        client.peers.dial("bank", Optional.of(address));
        client.await(Side.Up.class).link().send(client.hello());
        Connection link = bank.await(Side.Up.class).link();
        assertThat(link.peer()).isEqualTo("alice");
        assertThat(link.outside()).isTrue();
    }

    @Test
    void aClientLooksAtTheServicesName() throws Exception {
        Side bank = side("bank", ofBank);
        Side client = client("alice", ofShop);
        client.peers.dial("mint", Optional.of(bank.listen()));
        assertThat(client.trouble("mint")).contains("its certificate (CN=bank, O=Example) names");
        assertThat(client.told).isEmpty();
    }

    @Test
    void keysThatCannotBeUsedAreRefusedAtTheStart() throws Exception {
        assertThatThrownBy(() -> side("mint", ofBank))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("names [bank], and this service is mint");
        assertThatThrownBy(() -> side("bank", new TlsOptions(bank, "wrong", trusted, "")))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("cannot read " + bank)
                .hasMessageContaining("check ssl.keyStore.location, .password and .type");
        Path missing = folder.resolve("missing.p12");
        assertThatThrownBy(() -> side("bank", new TlsOptions(bank, Keys.PASSWORD, missing, "")))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("cannot read " + missing)
                .hasMessageContaining("ssl.trustStore");
        Path empty = Files.writeString(folder.resolve("empty.pem"), "");
        assertThatThrownBy(() -> side("bank", new TlsOptions(bank, Keys.PASSWORD, empty, "")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("holds no certificate");
        assertThatThrownBy(() -> side("bank", new TlsOptions(trusted, "", trusted, "")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(trusted.toString());
    }

    @Test
    void settingsBearZooKeepersNames() {
        Properties settings = new Properties();
        settings.setProperty("ssl.keyStore.location", "bank.pem");
        assertThatThrownBy(() -> TlsOptions.of(settings))
                .hasMessage("TLS needs ssl.trustStore.location");
        settings.setProperty("ssl.trustStore.location", "all.p12");
        settings.setProperty("ssl.trustStore.password", "secret");
        settings.setProperty("ssl.enabledProtocols", "TLSv1.3");
        settings.setProperty("dataDir", "elsewhere");
        TlsOptions options = TlsOptions.of(settings);
        assertThat(options.protocols()).containsExactly("TLSv1.3");
        assertThat(options.trustStorePassword()).isEqualTo("secret");
        assertThat(options.toString()).doesNotContain("secret");
        settings.setProperty("ssl.enabledProtocols", "TLSv1.1,TLSv1.2");
        assertThatThrownBy(() -> TlsOptions.of(settings))
                .hasMessage("ssl.enabledProtocols is one of [TLSv1.2, TLSv1.3], not \"TLSv1.1\"");
        settings.setProperty("ssl.keystore.password", "secret");
        assertThatThrownBy(() -> TlsOptions.of(settings))
                .hasMessageStartingWith("no setting here is called ssl.keystore.password");
    }
}
