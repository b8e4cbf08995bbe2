package io.saucr.server.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** One key for the server and its clients, in the stores of the quorum port. */
public final class AdminKeys {
    private static final String PASSWORD = "correct horse";

    /** Those without "quorum" are for the provider of authentication by certificates. */
    private static final List<String> PREFIXES = List.of("zookeeper.ssl.quorum.", "zookeeper.ssl.");

    private AdminKeys() {}

    /** What a client needs that has the key. */
    public static SSLContext use(Path folder) throws Exception {
        Path keys = folder.resolve("keys.p12");
        Path trusted = folder.resolve("trusted.p12");
        if (!Files.exists(keys)) {
            make(keys);
            KeyStore certificate = empty();
            certificate.setCertificateEntry("server", load(keys).getCertificate("server"));
            try (OutputStream out = Files.newOutputStream(trusted)) {
                certificate.store(out, PASSWORD.toCharArray());
            }
        }
        for (String prefix : PREFIXES) {
            System.setProperty(prefix + "keyStore.location", keys.toString());
            System.setProperty(prefix + "keyStore.password", PASSWORD);
            System.setProperty(prefix + "trustStore.location", trusted.toString());
            System.setProperty(prefix + "trustStore.password", PASSWORD);
        }
        return AdminTls.context();
    }

    /** What a client needs that has none, and trusts the server. */
    static SSLContext withoutKey(Path folder) throws Exception {
        TrustManagerFactory trusted =
                TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trusted.init(load(folder.resolve("trusted.p12")));
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trusted.getTrustManagers(), null);
        return context;
    }

    public static void clear() {
        for (String prefix : PREFIXES) {
            for (String store : List.of("keyStore", "trustStore")) {
                System.clearProperty(prefix + store + ".location");
                System.clearProperty(prefix + store + ".password");
            }
        }
    }

    private static KeyStore empty() throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }

    private static KeyStore load(Path file) throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            store.load(in, PASSWORD.toCharArray());
        }
        return store;
    }

    private static void make(Path store) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        command.addAll(List.of("-genkeypair", "-keyalg", "EC", "-dname", "CN=localhost"));
        command.addAll(List.of("-ext", "SAN=dns:localhost", "-alias", "server"));
        command.addAll(List.of("-storetype", "PKCS12", "-storepass", PASSWORD));
        command.addAll(List.of("-keystore", store.toString()));
        Process process =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(store.resolveSibling("keytool.log").toFile())
                        .start();
        assertThat(process.waitFor()).isZero();
    }
}
