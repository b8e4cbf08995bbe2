package io.saucr.tests.ensemble;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.kerby.kerberos.kerb.KrbException;
import org.apache.kerby.kerberos.kerb.server.SimpleKdcServer;

/**
 * A Kerberos key distribution centre inside this JVM, on loopback, with some principals whose keys
 * are in one file. Until it is closed, the logins of this JVM use it.
 */
final class LoopbackKdc implements AutoCloseable {
    static final String HOST = "127.0.0.1";
    static final String LOGIN_MODULE = "com.sun.security.auth.module.Krb5LoginModule";
    private static final String REALM = "SAUCR.TEST";
    private static final String CONFIGURATION = "java.security.krb5.conf";

    private final Path folder;
    private final SimpleKdcServer server;

    /**
     * Starts it.
     *
     * @param folder exists; for its files
     * @param principals without realm
     */
    LoopbackKdc(Path folder, String... principals) throws IOException {
        this.folder = folder;
        try {
            server = new SimpleKdcServer();
            server.setWorkDir(folder.toFile());
            server.setKdcHost(HOST);
            server.setKdcRealm(REALM);
            server.setAllowUdp(false);
            int port = freePort();
            server.setKdcTcpPort(port);
            server.init();
            server.start();
            for (String principal : principals) {
                server.createPrincipal(principal);
                server.exportPrincipal(principal, keys().toFile());
            }
            Files.writeString(
                    configuration(),
                    """
                    [libdefaults]
                      default_realm = %1$s
                      udp_preference_limit = 1
                      dns_lookup_kdc = false
                      dns_lookup_realm = false
                      dns_canonicalize_hostname = false
                    [realms]
                      %1$s = {
                        kdc = %2$s:%3$d
                      }
                    """
                            .formatted(REALM, HOST, port));
        } catch (KrbException e) {
            throw new IOException("no key distribution centre", e);
        }
        System.setProperty(CONFIGURATION, configuration().toString());
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private Path keys() {
        return folder.resolve("keys");
    }

    /** What a JVM names in its property java.security.krb5.conf. */
    Path configuration() {
        return folder.resolve("loopback-krb5.conf");
    }

    /** The options of {@link #LOGIN_MODULE} that log a principal in. */
    Map<String, String> login(String principal) {
        return Map.of(
                "useKeyTab", "true",
                "keyTab", keys().toString(),
                "principal", principal + "@" + REALM,
                "storeKey", "true",
                "doNotPrompt", "true",
                "isInitiator", "true",
                "refreshKrb5Config", "true",
                "useTicketCache", "false");
    }

    /** The same as an entry of a login configuration file. */
    String jaasEntry(String principal) {
        return new TreeMap<>(login(principal))
                .entrySet().stream()
                        .map(option -> option.getKey() + "=\"" + option.getValue() + "\"")
                        .collect(Collectors.joining(" ", LOGIN_MODULE + " required ", ";"));
    }

    @Override
    public void close() {
        System.clearProperty(CONFIGURATION);
        try {
            server.stop();
        } catch (KrbException e) {
            throw new UncheckedIOException(new IOException("it does not stop", e));
        }
    }
}
