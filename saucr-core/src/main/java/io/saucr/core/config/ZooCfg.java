package io.saucr.core.config;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A server's {@code zoo.cfg}, read as the server reads it, and what it says of where that server
 * listens. The server's checks, the scripts and the tools read the file here, so that none of them
 * takes it for another than the server does. Immutable; changes nothing.
 */
public final class ZooCfg {
    /** ZooKeeper's defaults. */
    public static final int ADMIN_PORT = 8080;

    public static final String ADMIN_COMMANDS = "/commands";

    private static final String DYNAMIC_FILE = "dynamicConfigFile";
    private static final String SERVER = "server.";

    private final Path file;
    private final Map<String, String> keys;

    /** Empty if the file names none. */
    private final Map<String, String> dynamic;

    private ZooCfg(Path file, Map<String, String> keys, Map<String, String> dynamic) {
        this.file = file;
        this.keys = keys;
        this.dynamic = dynamic;
    }

    /**
     * Where clients connect.
     *
     * @param tls whether they speak TLS there
     */
    public record Clients(HostPort address, boolean tls) {}

    /**
     * Reads the file, and the file of the ensemble's members that it may name.
     *
     * @throws IOException with the path of a file that cannot be read
     */
    public static ZooCfg read(Path file) throws IOException {
        Map<String, String> keys = load(file);
        String members = keys.getOrDefault(DYNAMIC_FILE, "");
        return new ZooCfg(file, keys, members.isEmpty() ? Map.of() : load(Path.of(members)));
    }

    /**
     * The keys of one file, sorted, without what surrounds their values; of a key that stands there
     * twice the last one counts. Java reads a file of properties as Latin-1, in which every byte is
     * a character.
     *
     * @throws IOException with the path, if it cannot be read
     */
    public static Map<String, String> load(Path file) throws IOException {
        Map<String, String> keys = new TreeMap<>();
        // As ZooKeeper does, not strip().
        properties(file).forEach((key, value) -> keys.put(key.trim(), value.trim()));
        return keys;
    }

    /**
     * The same with the blanks that surround a value.
     *
     * @throws IOException with the path, if it cannot be read
     */
    public static Map<String, String> properties(Path file) throws IOException {
        Properties properties = new Properties();
        try (InputStream bytes = Files.newInputStream(file)) {
            properties.load(bytes);
        } catch (IllegalArgumentException e) {
            throw new IOException(file + ": cannot be read: " + e.getMessage(), e);
        } catch (IOException e) {
            throw new IOException(
                    Files.isReadable(file)
                            ? file + ": cannot be read: " + e.getMessage()
                            : file + ": there is no such file that can be read",
                    e);
        }
        Map<String, String> keys = new TreeMap<>();
        properties.forEach((key, value) -> keys.put(key.toString(), value.toString()));
        return keys;
    }

    /** The value of a key; empty if it has none. */
    public String value(String key) {
        return keys.getOrDefault(key, "");
    }

    /** The keys and values of the file itself. */
    public Map<String, String> keys() {
        return new TreeMap<>(keys);
    }

    /** The ids of the ensemble's members; empty if the server is alone. */
    public Set<Long> members() {
        Set<Long> ids = new TreeSet<>();
        for (Map<String, String> each : List.of(keys, dynamic)) {
            for (String key : each.keySet()) {
                if (key.matches("server\\.\\d{1,18}")) {
                    ids.add(Long.parseLong(key.substring(SERVER.length())));
                }
            }
        }
        return ids;
    }

    /** Whether the server is one of an ensemble, as ZooKeeper sees it. */
    public boolean inEnsemble() {
        int members = members().size();
        return members > 1
                || (members == 1 && value("standaloneEnabled").equalsIgnoreCase("false"));
    }

    /** The key of this server's own line; empty if it has no id. */
    public String serverKey() throws IOException {
        Path idFile = Path.of(value("dataDir"), "myid");
        if (value("dataDir").isEmpty() || !Files.isReadable(idFile) || Files.isDirectory(idFile)) {
            return "";
        }
        String id =
                Files.readString(idFile, StandardCharsets.ISO_8859_1)
                        .lines()
                        .findFirst()
                        .orElse("")
                        .strip();
        return id.matches("\\d+") ? SERVER + id : "";
    }

    private String serverLine(String key) {
        return dynamic.getOrDefault(key, value(key));
    }

    /**
     * Its port for clients, without TLS if it has one without; empty if it has none.
     *
     * @throws IllegalArgumentException if what the file has is not a port, or not an address
     */
    public Optional<Clients> clients() throws IOException {
        Optional<HostPort> plain = plainPort();
        if (plain.isPresent()) {
            return plain.map(address -> new Clients(address, false));
        }
        if (!isSet("secureClientPort")) {
            return Optional.empty();
        }
        String host = tlsHost(value("secureClientPortAddress"));
        return Optional.of(new Clients(new HostPort(host, port("secureClientPort")), true));
    }

    /** ZooKeeper takes 0 for "none". */
    private boolean isSet(String portKey) {
        String value = value(portKey);
        return !value.isEmpty() && !value.matches("0+");
    }

    private Optional<HostPort> plainPort() throws IOException {
        if (isSet("clientPort")) {
            return Optional.of(
                    new HostPort(
                            HostPort.reachable(value("clientPortAddress")), port("clientPort")));
        }
        String key = serverKey();
        String line = serverLine(key);
        int client = line.indexOf(';');
        if (client < 0) {
            return Optional.empty();
        }
        String place = line.substring(client + 1).split("\\|", 2)[0].strip();
        if (place.matches("\\d+")) {
            return Optional.of(
                    new HostPort(HostPort.reachable(""), HostPort.port(place, file + ": " + key)));
        }
        HostPort address = HostPort.parse(place, 0);
        return Optional.of(new HostPort(HostPort.reachable(address.host()), address.port()));
    }

    private int port(String key) {
        return HostPort.port(value(key), file + ": " + key);
    }

    /**
     * Where a port with TLS is asked that listens at every address: at the host of the own line
     * {@code server.N}, for its certificate names that one, and hardly ever {@code localhost}.
     */
    private String tlsHost(String configured) throws IOException {
        String host = HostPort.reachable(configured);
        if (!configured.isEmpty() && host.equals(HostPort.withoutBrackets(configured))) {
            return host;
        }
        List<String> own = quorumHosts(serverLine(serverKey()));
        return own.isEmpty() ? host : HostPort.reachable(own.get(0));
    }

    private static List<String> addresses(String line) {
        String before = line.split(";", 2)[0].strip();
        return before.isEmpty() ? List.of() : List.of(before.split("\\|"));
    }

    private static List<String> quorumHosts(String line) {
        List<String> hosts = new ArrayList<>();
        for (String address : addresses(line)) {
            int end = address.startsWith("[") ? address.indexOf(']') + 1 : address.indexOf(':');
            if (end > 0) {
                hosts.add(HostPort.withoutBrackets(address.substring(0, end)));
            }
        }
        return hosts;
    }

    /**
     * The ports that a server that has started listens on: for clients, plain and with TLS, and in
     * an ensemble for elections. The port for followers is a leader's alone.
     */
    public Set<Integer> ports() throws IOException {
        Set<Integer> ports = new LinkedHashSet<>();
        clients().ifPresent(clients -> ports.add(clients.address().port()));
        if (isSet("secureClientPort")) {
            ports.add(port("secureClientPort"));
        }
        if (inEnsemble()) {
            for (String address : addresses(serverLine(serverKey()))) {
                // HOST:PORT:ELECTION-PORT, and perhaps participant or observer.
                String numbers = address.replaceFirst(":[^:\\d][^:]*$", "");
                ports.add(HostPort.port(numbers.substring(numbers.lastIndexOf(':') + 1), numbers));
            }
        }
        return ports;
    }

    /**
     * Its AdminServer with the folder of its commands; empty if it has none.
     *
     * @throws IllegalArgumentException if the port is not one
     */
    public Optional<String> admin() throws IOException {
        // The server compares it in this way.
        if (value("admin.enableServer").equals("false")) {
            return Optional.empty();
        }
        int port = value("admin.serverPort").isEmpty() ? ADMIN_PORT : port("admin.serverPort");
        boolean https = value("admin.forceHttps").equalsIgnoreCase("true");
        String address = value("admin.serverAddress");
        HostPort place = new HostPort(https ? tlsHost(address) : HostPort.reachable(address), port);
        String commands = value("admin.commandURL");
        return Optional.of(
                (https ? "https://" : "http://")
                        + place
                        + (commands.isEmpty() ? ADMIN_COMMANDS : commands));
    }

    /**
     * Everything that a script asks for, by name. A problem of what the keys mean is one of the
     * names: the server itself has better words for it, and a server that runs can be stopped
     * whatever its file says by now.
     *
     * @throws IOException with the path, if the file itself cannot be read
     */
    static Map<String, String> facts(Path file) throws IOException {
        Map<String, String> facts = new LinkedHashMap<>(load(file));
        try {
            ZooCfg cfg = read(file);
            facts.put("@ensemble", Boolean.toString(cfg.inEnsemble()));
            facts.put("@members", joined(cfg.members()));
            Optional<Clients> clients = cfg.clients();
            if (clients.isPresent()) {
                facts.put("@client.host", clients.get().address().host());
                facts.put("@client.port", Integer.toString(clients.get().address().port()));
                facts.put("@client.tls", Boolean.toString(clients.get().tls()));
            }
            facts.put("@ports", joined(cfg.ports()));
        } catch (IOException | IllegalArgumentException e) {
            facts.put("@problem", e.getMessage());
        }
        return facts;
    }

    private static String joined(Set<? extends Number> numbers) {
        return String.join(" ", numbers.stream().map(String::valueOf).toList());
    }
}
