package io.saucr.tool;

import java.io.IOException;
import java.io.Reader;
import java.net.URI;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A server's {@code zoo.cfg}, as far as it says where the server is reached from its own machine.
 * Immutable.
 */
final class ServerConfiguration {
    /** ZooKeeper's presets. */
    static final int ADMIN_PORT = 8080;

    static final String ADMIN_COMMANDS = "/commands";

    private static final Set<String> ANY_ADDRESS =
            Set.of("", "0.0.0.0", "::", "0:0:0:0:0:0:0:0", "*");

    private static final Pattern SERVER_HOST =
            Pattern.compile("\\[?((?<=\\[)[^]]+(?=])|[^:\\[\\]]+)]?:\\d");

    private final Path file;
    private final Properties keys;

    private ServerConfiguration(Path file, Properties keys) {
        this.file = file;
        this.keys = keys;
    }

    /**
     * @throws IllegalArgumentException if there is no such file
     */
    static ServerConfiguration read(Path file) throws IOException {
        return new ServerConfiguration(file, load(file, "--config"));
    }

    private static Properties load(Path file, String option) throws IOException {
        Properties keys = new Properties();
        Path readable = ConnectionOptions.readable(file, option);
        try (Reader reader = Files.newBufferedReader(readable)) {
            keys.load(reader);
        } catch (CharacterCodingException | IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    option + " " + file + ": it is no text that a server could read", e);
        }
        return keys;
    }

    private String value(String key) {
        return keys.getProperty(key, "").strip();
    }

    /**
     * Its port for clients, without TLS if it has one without; and its AdminServer, unless it has
     * none.
     *
     * @throws IllegalArgumentException if there is no port for clients, or one that is none
     */
    Endpoint endpoint() throws IOException {
        Endpoint.Address client = plainPort();
        boolean tls = client == null;
        if (tls) {
            if (value("secureClientPort").isEmpty()) {
                throw new IllegalArgumentException(
                        file
                                + ": there is no port for clients (clientPort, secureClientPort, or"
                                + " ';port' in the line server.N of the id in dataDir/myid)");
            }
            client =
                    new Endpoint.Address(
                            tlsHost(value("secureClientPortAddress")), port("secureClientPort"));
        }
        return new Endpoint(client.host(), client.port(), tls, admin());
    }

    private Endpoint.Address plainPort() throws IOException {
        if (!value("clientPort").isEmpty()) {
            return new Endpoint.Address(host(value("clientPortAddress")), port("clientPort"));
        }
        String key = serverKey();
        String line = serverLine(key);
        int client = line.indexOf(';');
        if (client < 0) {
            return null;
        }
        String place = line.substring(client + 1).split("\\|", 2)[0].strip();
        if (place.matches("\\d+")) {
            return new Endpoint.Address(host(""), Endpoint.port(place, file + ": " + key));
        }
        Endpoint.Address address = Endpoint.address(place, 0);
        return new Endpoint.Address(host(address.host()), address.port());
    }

    /** Of its own line {@code server.N}; empty if it has no id. */
    private String serverKey() throws IOException {
        Path idFile = Path.of(value("dataDir"), "myid");
        return Files.isReadable(idFile) ? "server." + Files.readString(idFile).strip() : "";
    }

    private String serverLine(String key) throws IOException {
        if (key.isEmpty() || value("dynamicConfigFile").isEmpty()) {
            return value(key);
        }
        return load(Path.of(value("dynamicConfigFile")), file + ": dynamicConfigFile")
                .getProperty(key, value(key));
    }

    private int port(String key) {
        return Endpoint.port(value(key), file + ": " + key);
    }

    private static String host(String configured) {
        return ANY_ADDRESS.contains(configured) ? "localhost" : configured;
    }

    /**
     * Where a port with TLS is asked that listens at every address: at the host of the own line
     * {@code server.N}, for its certificate names that one, and hardly ever {@code localhost}.
     */
    private String tlsHost(String configured) throws IOException {
        if (!ANY_ADDRESS.contains(configured)) {
            return configured;
        }
        String address = serverLine(serverKey()).split("[|;]", 2)[0].strip();
        Matcher own = SERVER_HOST.matcher(address);
        return own.lookingAt() ? host(own.group(1)) : host(configured);
    }

    private Optional<URI> admin() throws IOException {
        if (value("admin.enableServer").equalsIgnoreCase("false")) {
            return Optional.empty();
        }
        int port = value("admin.serverPort").isEmpty() ? ADMIN_PORT : port("admin.serverPort");
        String commands = value("admin.commandURL");
        boolean https = value("admin.forceHttps").equalsIgnoreCase("true");
        String address = value("admin.serverAddress");
        return Optional.of(
                URI.create(
                        (https ? "https://" : "http://")
                                + Endpoint.hostAndPort(
                                        https ? tlsHost(address) : host(address), port)
                                + (commands.isEmpty() ? ADMIN_COMMANDS : commands)));
    }

    /** Its stores of keys and certificates, as properties of a client. */
    Map<String, String> stores() {
        Map<String, String> stores = new LinkedHashMap<>();
        for (String key : keys.stringPropertyNames()) {
            if (key.startsWith("ssl.")) {
                stores.put("zookeeper." + key, value(key));
            }
        }
        return stores;
    }
}
