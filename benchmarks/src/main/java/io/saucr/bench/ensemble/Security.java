package io.saucr.bench.ensemble;

import io.saucr.ensemble.Command;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.zookeeper.ClientCnxnSocketNetty;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.server.NettyServerCnxnFactory;

/**
 * Where every ensemble of a run uses TLS, and whether its ports for clients are Netty's. Immutable.
 *
 * @param netty true also if clients use TLS, for which ZooKeeper has no other port
 * @param keys the store with the key of every server and client; null without TLS
 */
public record Security(Tls tls, boolean netty, Path keys) {
    public static final Security NONE = new Security(Tls.NONE, false, null);

    private static final String PASSWORD = "benchmark";

    /** What is encrypted. */
    public enum Tls {
        NONE,
        /** What servers send each other. */
        QUORUM,
        /** That, and what clients and servers send each other. */
        ALL
    }

    /**
     * Makes the keys. With {@link Tls#ALL} every client of this process uses TLS from now on.
     *
     * @param work a folder for the keys
     * @throws IOException if the JDK has no keytool, or it fails
     */
    public static Security of(Tls tls, boolean netty, Path work) throws IOException {
        if (tls == Tls.NONE) {
            return new Security(tls, netty, null);
        }
        Path keys = work.resolve("keys.p12").toAbsolutePath();
        makeKeys(keys);
        Security security = new Security(tls, netty || tls == Tls.ALL, keys);
        if (tls == Tls.ALL) {
            System.setProperty(ZKClientConfig.SECURE_CLIENT, "true");
            System.setProperty(
                    ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET,
                    ClientCnxnSocketNetty.class.getName());
            security.stores("zookeeper.ssl.").forEach(System::setProperty);
        }
        return security;
    }

    /** Keys of {@code zoo.cfg}. */
    Map<String, String> settings() {
        Map<String, String> settings = new LinkedHashMap<>();
        if (netty) {
            settings.put("serverCnxnFactory", NettyServerCnxnFactory.class.getName());
        }
        if (tls != Tls.NONE) {
            settings.put("sslQuorum", "true");
            settings.putAll(stores("ssl.quorum."));
        }
        if (tls == Tls.ALL) {
            settings.put("secureClientPortAddress", "127.0.0.1");
            settings.putAll(stores("ssl."));
        }
        return settings;
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

    /** What differs from the default, as results show it. */
    Map<String, Object> described() {
        Map<String, Object> values = new LinkedHashMap<>();
        if (tls != Tls.NONE) {
            values.put("tls", tls);
        }
        if (netty) {
            values.put("netty", true);
        }
        return values;
    }

    private static void makeKeys(Path store) throws IOException {
        Path certificate = store.resolveSibling("certificate.pem");
        keytool(
                store,
                "-genkeypair -alias own -keyalg EC -dname CN=benchmark"
                        + " -ext SAN=ip:127.0.0.1,dns:localhost");
        keytool(store, "-exportcert -rfc -alias own", "-file", certificate.toString());
        keytool(store, "-importcert -noprompt -alias trusted", "-file", certificate.toString());
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
