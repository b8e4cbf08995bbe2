package io.saucr.ensemble;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.zookeeper.ClientCnxnSocketNetty;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.server.NettyServerCnxnFactory;

/**
 * What an ensemble encrypts with TLS, and with which key. All servers and clients have the same
 * key, and trust it. Immutable.
 *
 * @param tls what is encrypted
 * @param keys the PKCS12 store with the key and its certificate; null without TLS
 */
public record Encryption(Tls tls, Path keys) {
    public static final Encryption NONE = new Encryption(Tls.NONE, null);

    private static final String PASSWORD = "ensemble";
    private static final String STORE = "keys.p12";

    /** What is encrypted. */
    public enum Tls {
        NONE,
        /** What servers send each other. */
        QUORUM,
        /** That, and what clients and servers send each other. */
        ALL
    }

    /**
     * Encryption with a key in this folder, which is made if the folder has none.
     *
     * @param folder exists
     * @param addresses of all servers and clients, which the certificate names as well as those of
     *     loopback
     * @throws IOException if the JDK has no keytool, or it fails
     */
    public static Encryption of(Tls tls, Path folder, List<String> addresses) throws IOException {
        if (tls == Tls.NONE) {
            return NONE;
        }
        Path keys = folder.resolve(STORE).toAbsolutePath();
        if (!Files.exists(keys)) {
            make(keys, addresses);
        }
        return new Encryption(tls, keys);
    }

    /** Whether clients use TLS. */
    public boolean ofClients() {
        return tls == Tls.ALL;
    }

    /** Keys of {@code zoo.cfg}, but for the port of clients with TLS. */
    public Map<String, String> settings() {
        Map<String, String> settings = new LinkedHashMap<>();
        if (tls != Tls.NONE) {
            settings.put("sslQuorum", "true");
            settings.putAll(stores("ssl.quorum."));
        }
        if (ofClients()) {
            settings.put("serverCnxnFactory", NettyServerCnxnFactory.class.getName());
            settings.putAll(stores("ssl."));
        }
        return settings;
    }

    /** If clients use TLS, every client that this process makes from now on does. */
    public void encryptClientsOfThisProcess() {
        if (ofClients()) {
            System.setProperty(ZKClientConfig.SECURE_CLIENT, "true");
            System.setProperty(
                    ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET,
                    ClientCnxnSocketNetty.class.getName());
            stores("zookeeper.ssl.").forEach(System::setProperty);
        }
    }

    /** The certificate is self-signed, so the store that has it also trusts it. */
    private Map<String, String> stores(String prefix) {
        Map<String, String> stores = new LinkedHashMap<>();
        for (String store : List.of("keyStore", "trustStore")) {
            stores.put(prefix + store + ".location", keys.toString());
            stores.put(prefix + store + ".password", PASSWORD);
        }
        return stores;
    }

    private static void make(Path store, List<String> addresses) throws IOException {
        // A store that was made in part must not count as one.
        Path unfinished = store.resolveSibling("new-" + STORE);
        Files.deleteIfExists(unfinished);
        Path certificate = store.resolveSibling("certificate.pem");
        StringBuilder names = new StringBuilder("SAN=ip:127.0.0.1,dns:localhost");
        addresses.forEach(address -> names.append(",ip:").append(address));
        keytool(
                unfinished,
                "-genkeypair -alias own -keyalg EC -dname CN=ensemble -validity 3650",
                "-ext",
                names.toString());
        keytool(unfinished, "-exportcert -rfc -alias own", "-file", certificate.toString());
        keytool(
                unfinished,
                "-importcert -noprompt -alias trusted",
                "-file",
                certificate.toString());
        Files.move(unfinished, store, StandardCopyOption.ATOMIC_MOVE);
    }

    private static void keytool(Path store, String options, String... more) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        command.addAll(List.of(options.split(" ")));
        command.addAll(List.of(more));
        command.addAll(List.of("-storetype", "PKCS12", "-storepass", PASSWORD));
        command.addAll(List.of("-keystore", store.toString()));
        try {
            String unused = Command.run(command.toArray(String[]::new));
        } catch (IOException e) {
            throw new IOException("the keys for TLS cannot be made: " + e.getMessage(), e);
        }
    }
}
