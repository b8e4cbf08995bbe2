package io.saucr.tool;

import io.saucr.core.config.HostPort;
import io.saucr.core.config.TimeLimit;
import io.saucr.core.config.ZooCfg;
import io.saucr.tool.Connection.Credentials;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.login.Configuration;
import org.apache.zookeeper.ClientCnxnSocketNetty;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ClientX509Util;
import org.apache.zookeeper.common.ConfigException;
import org.apache.zookeeper.common.X509Util;
import org.apache.zookeeper.server.auth.DigestLoginModule;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options that every command has which asks servers. */
final class ConnectionOptions {
    private static final String FIPS = X509Util.FIPS_MODE_PROPERTY;
    private static final int CLIENT_PORT = 2181;
    private static final String NO_ADMIN = "none";

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(
            names = {"-e", "--endpoints"},
            split = ",",
            paramLabel = "HOST:PORT",
            defaultValue = "${env:SAUCR_ENDPOINTS:-localhost:2181}",
            description =
                    "Servers, at their ports for clients, separated by commas; else SAUCR_ENDPOINTS,"
                            + " else localhost:2181.")
    private List<String> endpoints;

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description =
                    "The zoo.cfg of a server on this machine, instead of --endpoints and --admin: its"
                            + " ports, and its stores for TLS.")
    private Path serverFile;

    @Option(
            names = "--admin",
            split = ",",
            paramLabel = "ADDRESS",
            defaultValue = "${env:SAUCR_ADMIN:-8080}",
            description =
                    "Their AdminServers: one port for all of them, or for each endpoint a HOST:PORT or"
                            + " a URL; none to query none. Else SAUCR_ADMIN, else 8080.")
    private List<String> admins;

    @Option(names = "--admin-tls", description = "The AdminServers speak HTTPS.")
    private boolean adminTls;

    @Option(names = "--tls", description = "The ports for clients speak TLS.")
    private boolean tls;

    @Option(
            names = "--key-store",
            paramLabel = "FILE",
            description = "This client's key and certificate (JKS, PKCS12, PEM).")
    private Path keyStore;

    @Option(
            names = "--key-store-password-file",
            paramLabel = "FILE",
            description = "A file with its password.")
    private Path keyStorePassword;

    @Option(
            names = "--trust-store",
            paramLabel = "FILE",
            description = "The certificates that are trusted; else those that Java trusts.")
    private Path trustStore;

    @Option(
            names = "--trust-store-password-file",
            paramLabel = "FILE",
            description = "A file with its password.")
    private Path trustStorePassword;

    @Option(
            names = "--client-config",
            paramLabel = "FILE",
            description =
                    "ZooKeeper's properties of clients (zookeeper.ssl.trustStore.location and so on),"
                            + " as zkCli.sh takes them.")
    private Path clientFile;

    @Option(
            names = "--jaas",
            paramLabel = "FILE",
            description = "Logs in with SASL, with the section Client of this JAAS file.")
    private Path jaas;

    @Option(
            names = "--jaas-section",
            paramLabel = "NAME",
            description = "Another section than Client.")
    private String jaasSection;

    @Option(
            names = "--server-principal",
            paramLabel = "NAME",
            description = "Kerberos: the servers' principal, else zookeeper/HOST.")
    private String serverPrincipal;

    @Option(
            names = "--no-fips",
            description = "Disables ZooKeeper's FIPS mode. DIGEST-MD5 does not work with it.")
    private boolean noFips;

    @Option(
            names = "--auth",
            paramLabel = "SCHEME:VALUE",
            defaultValue = "${env:SAUCR_AUTH}",
            description =
                    "Credentials as for addauth, for example digest:USER:PASSWORD; else SAUCR_AUTH."
                            + " Other users of this machine can read command lines: prefer a file.")
    private String auth;

    @Option(
            names = "--auth-file",
            paramLabel = "FILE",
            description = "A file with the credentials in its first line.")
    private Path authFile;

    @Option(
            names = "--timeout",
            paramLabel = "TIME",
            defaultValue = "${env:SAUCR_TIMEOUT}",
            description =
                    "How long each server may take: "
                            + TimeLimit.FORM
                            + "; else SAUCR_TIMEOUT, else 5s. For snapshots, how long it may be"
                            + " silent; else 60s.")
    private String timeout;

    /**
     * What the options say.
     *
     * @throws ParameterException with a sentence on what cannot be used
     */
    Connection connection() {
        try {
            return connect();
        } catch (IllegalArgumentException | IOException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }

    private Connection connect() throws IOException {
        Optional<ServerConfiguration> server = Optional.empty();
        if (serverFile != null) {
            if (given("--endpoints") || given("--admin")) {
                throw new IllegalArgumentException(
                        "give either --config, or --endpoints and --admin");
            }
            server = Optional.of(ServerConfiguration.read(serverFile));
        }
        ZKClientConfig client = client(server);
        List<Endpoint> asked = server.isPresent() ? List.of(server.get().endpoint()) : endpoints();
        // All of them or none: --tls is for all, and a zoo.cfg is of one.
        boolean secure = asked.stream().anyMatch(Endpoint::tls);
        boolean anyHttps =
                asked.stream()
                        .flatMap(each -> each.admin().stream())
                        .anyMatch(admin -> admin.getScheme().equals("https"));
        if (secure) {
            client.setProperty(ZKClientConfig.SECURE_CLIENT, "true");
            client.setProperty(
                    ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET,
                    ClientCnxnSocketNetty.class.getName());
        }
        Optional<Duration> patience = Optional.ofNullable(timeout).map(TimeLimit::parse);
        client.setProperty(
                ZKClientConfig.ZOOKEEPER_REQUEST_TIMEOUT,
                Long.toString(patience.orElse(Connection.PATIENCE).toMillis()));
        boolean verifies;
        try (X509Util keys = new ClientX509Util()) {
            verifies = keys.isServerHostnameVerificationEnabled(client);
        }
        return new Connection(
                asked,
                patience,
                client,
                secure ? Connection.clientTls(client) : null,
                anyHttps ? Connection.adminTls(client) : null,
                verifies,
                credentials());
    }

    private boolean given(String option) {
        return spec.commandLine().getParseResult().hasMatchedOption(option);
    }

    private List<Endpoint> endpoints() {
        // A list of commas has nobody in it: a health of nobody would be fine.
        if (endpoints.isEmpty()) {
            throw new IllegalArgumentException(
                    "--endpoints names no server: give HOST:PORT[,HOST:PORT...]");
        }
        if (admins.isEmpty()) {
            throw new IllegalArgumentException(
                    "--admin names no AdminServer: give a port, addresses or " + NO_ADMIN);
        }
        List<Endpoint> result = new ArrayList<>();
        boolean one = admins.size() == 1;
        String first = admins.get(0).strip();
        if (!one && admins.size() != endpoints.size()) {
            throw new IllegalArgumentException(
                    "--admin has %d addresses for %d endpoints: give a port for all of them, or as many"
                            .formatted(admins.size(), endpoints.size()));
        }
        if (one && endpoints.size() > 1 && !first.equals(NO_ADMIN) && !first.matches("\\d+")) {
            throw new IllegalArgumentException(
                    ("--admin '%s' is the address of one AdminServer, and there are %s"
                                    + " endpoints: give a port for all of them, or one address for each")
                            .formatted(first, endpoints.size()));
        }
        for (int i = 0; i < endpoints.size(); i++) {
            HostPort client = HostPort.parse(endpoints.get(i), CLIENT_PORT);
            result.add(
                    new Endpoint(
                            client.host(),
                            client.port(),
                            tls,
                            admin(one ? first : admins.get(i).strip(), client.host())));
        }
        return result;
    }

    private Optional<URI> admin(String text, String host) {
        if (text.equals(NO_ADMIN)) {
            return Optional.empty();
        }
        if (text.contains("://")) {
            return Optional.of(url(text));
        }
        HostPort address =
                text.matches("\\d+")
                        ? new HostPort(host, HostPort.port(text, text))
                        : HostPort.parse(text, ZooCfg.ADMIN_PORT);
        return Optional.of(
                URI.create((adminTls ? "https://" : "http://") + address + ZooCfg.ADMIN_COMMANDS));
    }

    private static URI url(String text) {
        try {
            URI url = new URI(text.replaceFirst("/+$", ""));
            if (List.of("http", "https").contains(url.getScheme())
                    && url.getRawAuthority() != null) {
                // Not the URI's own host: a name with an underscore is none for it.
                HostPort.parse(url.getRawAuthority(), ZooCfg.ADMIN_PORT);
                return url.getPath().isEmpty() ? URI.create(url + ZooCfg.ADMIN_COMMANDS) : url;
            }
        } catch (URISyntaxException | IllegalArgumentException e) {
            // The same message.
        }
        throw new IllegalArgumentException(
                "--admin: '" + text + "' is no URL of an AdminServer (http:// or https://)");
    }

    private ZKClientConfig client(Optional<ServerConfiguration> server) throws IOException {
        ZKClientConfig client = new ZKClientConfig();
        if (clientFile != null) {
            try {
                client = new ZKClientConfig(readable(clientFile, "--client-config"));
            } catch (ConfigException e) {
                throw new IllegalArgumentException(clientFile + ": " + e.getMessage(), e);
            }
        }
        if (server.isPresent()) {
            server.get().stores().forEach(client::setProperty);
        }
        set(client, "zookeeper.ssl.keyStore.location", keyStore, "--key-store");
        set(
                client,
                "zookeeper.ssl.keyStore.passwordPath",
                keyStorePassword,
                "--key-store-password-file");
        set(client, "zookeeper.ssl.trustStore.location", trustStore, "--trust-store");
        set(
                client,
                "zookeeper.ssl.trustStore.passwordPath",
                trustStorePassword,
                "--trust-store-password-file");
        if (noFips) {
            // Some of ZooKeeper's classes read it from here alone.
            System.setProperty(FIPS, "false");
            client.setProperty(FIPS, "false");
        }
        sasl(client);
        return client;
    }

    private void sasl(ZKClientConfig client) {
        if (jaasSection != null) {
            client.setProperty(ZKClientConfig.LOGIN_CONTEXT_NAME_KEY, jaasSection);
            System.setProperty(ZKClientConfig.LOGIN_CONTEXT_NAME_KEY, jaasSection);
        }
        if (serverPrincipal != null) {
            client.setProperty(ZKClientConfig.ZOOKEEPER_SERVER_PRINCIPAL, serverPrincipal);
        }
        if (jaas == null) {
            return;
        }
        System.setProperty("java.security.auth.login.config", readable(jaas, "--jaas").toString());
        String section =
                client.getProperty(
                        ZKClientConfig.LOGIN_CONTEXT_NAME_KEY,
                        ZKClientConfig.LOGIN_CONTEXT_NAME_KEY_DEFAULT);
        AppConfigurationEntry[] entries;
        try {
            entries = Configuration.getConfiguration().getAppConfigurationEntry(section);
        } catch (SecurityException e) {
            throw new IllegalArgumentException("--jaas " + jaas + ": " + e.getMessage(), e);
        }
        if (entries == null) {
            throw new IllegalArgumentException(
                    "--jaas " + jaas + ": there is no section " + section + " (--jaas-section)");
        }
        for (AppConfigurationEntry entry : entries) {
            if (entry.getLoginModuleName().equals(DigestLoginModule.class.getName())
                    && X509Util.getFipsMode(client)) {
                throw new IllegalArgumentException(
                        ("--jaas %s: the section %s means DIGEST-MD5, which"
                                        + " ZooKeeper's clients do not use in FIPS mode; --no-fips"
                                        + " turns that off")
                                .formatted(jaas, section));
            }
        }
    }

    private static void set(ZKClientConfig client, String key, Path file, String option) {
        if (file != null) {
            client.setProperty(key, readable(file, option).toString());
        }
    }

    /**
     * The file itself.
     *
     * @param option that names it, for the message
     * @throws IllegalArgumentException if there is no such file, or none that can be read
     */
    static Path readable(Path file, String option) {
        if (!Files.isRegularFile(file) || !Files.isReadable(file)) {
            throw new IllegalArgumentException(
                    option + " " + file + ": there is no such file that can be read");
        }
        return file;
    }

    private Optional<Credentials> credentials() throws IOException {
        if (authFile != null) {
            if (given("--auth")) {
                throw new IllegalArgumentException("give either --auth or --auth-file");
            }
            try (var lines = Files.lines(readable(authFile, "--auth-file"))) {
                return Optional.of(Credentials.parse(lines.findFirst().orElse("")));
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(
                        "--auth-file " + authFile + ": " + e.getMessage(), e);
            }
        }
        return Optional.ofNullable(auth).filter(text -> !text.isBlank()).map(Credentials::parse);
    }
}
