package io.saucr.tool;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.security.auth.login.Configuration;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/** Wrong options are refused before a server is asked, with exit code 2 and a sentence. */
class ConnectionOptionsTest {
    @TempDir Path folder;

    /** The options set them for the whole process, in which other tests may run. */
    @BeforeEach
    @AfterEach
    void forgetLogins() {
        System.clearProperty("java.security.auth.login.config");
        System.clearProperty(ZKClientConfig.LOGIN_CONTEXT_NAME_KEY);
        Configuration.setConfiguration(null);
    }

    private static Run health(String... options) {
        List<String> arguments = new ArrayList<>(List.of("endpoint", "health"));
        arguments.addAll(List.of(options));
        return Run.of(arguments.toArray(String[]::new));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--endpoints=zk1:x | 'x' is not a port",
                "--endpoints=, | --endpoints names no server",
                "--admin=, | --admin names no AdminServer",
                "--timeout=5x | '5x' is not a time limit",
                "--admin=1,2,3 | --admin has 3 addresses for 1 endpoints",
                "--admin=ftp://zk1 | is no URL of an AdminServer",
                "--admin=http://u@zk1:8080 | is no URL of an AdminServer",
                "--admin=http://zk1:x | is no URL of an AdminServer",
                "--admin=99999 | '99999' is not a port",
                "--key-store=missing.p12 | --key-store missing.p12: there is no such file",
                "--client-config=missing | --client-config missing: there is no such file",
                "--config=missing | --config missing: there is no such file",
                "--jaas=missing | --jaas missing: there is no such file",
                "--auth-file=missing | --auth-file missing: there is no such file",
                "--auth=digest | credentials are SCHEME:VALUE",
                "--output=xml | expected one of [TABLE, JSON]",
                "--unknown | Unknown option: '--unknown'",
            })
    void aWrongOptionIsNamed(String option, String message) {
        Run run = health(option);
        assertThat(run.exitCode()).isEqualTo(OperatorTool.USAGE);
        assertThat(run.err()).contains(message).contains("'saucr endpoint health --help'");
        assertThat(run.out()).isEmpty();
    }

    @Test
    void optionsThatExcludeEachOtherAreRefused() throws Exception {
        Path file = Files.writeString(folder.resolve("zoo.cfg"), "clientPort=1\n");
        assertThat(health("--config", file.toString(), "--endpoints", "zk1:2181").err())
                .contains("give either --config, or --endpoints and --admin");
        assertThat(health("--auth-file", file.toString(), "--auth", "digest:a:b").err())
                .contains("give either --auth or --auth-file");
        assertThat(health("--endpoints=zk1:1,zk2:1", "--admin", "zk1:8080").err())
                .contains("is the address of one AdminServer, and there are 2 endpoints");
    }

    @ParameterizedTest
    @ValueSource(strings = {"digest:u:secret\nsecond", "digest:u:secret\tsecond"})
    void credentialsThatNoHeaderCanHaveAreNotShown(String auth) {
        for (String command : List.of("flush", "mode")) {
            Run run = Run.of(command, "--endpoints=127.0.0.1:1", "--auth", auth);
            assertThat(run.exitCode()).isEqualTo(OperatorTool.USAGE);
            assertThat(run.err())
                    .contains("credentials are one line")
                    .doesNotContain("secret", "second", "Exception");
        }
    }

    @Test
    void storesThatCannotBeUsedAreNamed() throws Exception {
        Path file = Files.writeString(folder.resolve("keys.p12"), "no store");
        assertThat(health("--tls", "--key-store", file.toString()).err())
                .contains("key store " + file, "cannot be used");
    }

    @Test
    void aJaasFileIsReadBeforeAServerIsAsked() throws Exception {
        Path file =
                Files.writeString(
                        folder.resolve("jaas.conf"),
                        "Client { org.apache.zookeeper.server.auth.DigestLoginModule required"
                                + " username=\"u\" password=\"p\"; };\n");
        assertThat(health("--jaas", file.toString(), "--jaas-section", "Other").err())
                .contains("there is no section Other");
        assertThat(health("--jaas", file.toString(), "--jaas-section", "Client").err())
                .contains("DIGEST-MD5", "--no-fips");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "clientPort=2182 | http://localhost:8080/commands | localhost:2182 | false",
                "clientPort=1;clientPortAddress=10.0.0.1;admin.serverPort=9 |"
                        + " http://localhost:9/commands | 10.0.0.1:1 | false",
                "secureClientPort=3;admin.forceHttps=true;admin.serverAddress=::1 |"
                        + " https://[::1]:8080/commands | localhost:3 | true",
                // A certificate names the host of the server's line, not localhost.
                "secureClientPort=3;admin.forceHttps=true;server.7=zk7.example:2888:3888 |"
                        + " https://zk7.example:8080/commands | zk7.example:3 | true",
                "clientPort=1;admin.forceHttps=true;server.7=[fd00::7]:2888:3888 |"
                        + " https://[fd00::7]:8080/commands | localhost:1 | false",
                "secureClientPort=3;server.7=0.0.0.0:2888:3888 |"
                        + " http://localhost:8080/commands | localhost:3 | true",
                "clientPort=1;admin.enableServer=false | - | localhost:1 | false",
                "clientPort=1;admin.commandURL=/zk | http://localhost:8080/zk | localhost:1 |"
                        + " false",
            },
            quoteCharacter = '"')
    void theServersOwnConfigurationSaysWhereItIs(
            String keys, String admin, String name, boolean tls) throws Exception {
        Files.writeString(folder.resolve("myid"), "7\n");
        Path file =
                Files.writeString(
                        folder.resolve("zoo.cfg"),
                        "dataDir=" + folder + "\n" + keys.replace(';', '\n'));
        Endpoint endpoint = ServerConfiguration.read(file).endpoint();
        assertThat(endpoint.admin().map(Object::toString).orElse("-")).isEqualTo(admin);
        assertThat(endpoint.name()).isEqualTo(name);
        assertThat(endpoint.tls()).isEqualTo(tls);
    }

    /** As compose files name hosts; and a server reads its file as Latin-1. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--endpoints=zk_1:2181,[::1]:1 --admin=8080 | http://zk_1:8080/commands",
                "--endpoints=zk_1:2181 --admin=zk_1:8080 | http://zk_1:8080/commands",
                "--endpoints=zk_1:2181 --admin=http://zk_1:8080 | http://zk_1:8080/commands",
                "--endpoints=zk_1:2181 --admin=https://zk_1/zk/ | https://zk_1/zk",
                "--endpoints=[::1]:1 --admin=http://[::1]:8080 | http://[::1]:8080/commands",
            })
    void hostsWithUnderscoresAndAddressesAreTaken(String options, String admin) {
        ConnectionOptions read = new ConnectionOptions();
        new CommandLine(CommandSpec.create())
                .addMixin("options", read)
                .parseArgs(options.split(" "));
        assertThat(read.connection().endpoints().get(0).admin()).contains(URI.create(admin));
    }

    @Test
    void aConfigurationIsReadAsTheServerReadsIt() throws Exception {
        Path file = folder.resolve("zoo.cfg");
        Files.writeString(
                file,
                "# f\u00fcr uns\n"
                        + "clientPort=1\n"
                        + "clientPortAddress=[::1]\n"
                        + "admin.serverAddress=[::1]\n",
                StandardCharsets.ISO_8859_1);
        Endpoint endpoint = ServerConfiguration.read(file).endpoint();
        assertThat(endpoint.name()).isEqualTo("[::1]:1");
        assertThat(endpoint.admin()).contains(URI.create("http://[::1]:8080/commands"));
    }

    @Test
    void aConfigurationWithoutAPortOfClientsIsRefused() throws Exception {
        Path file = Files.writeString(folder.resolve("zoo.cfg"), "dataDir=" + folder + "\n");
        assertThat(health("--config", file.toString()).err())
                .contains("there is no port for clients");
        Files.writeString(file, "clientPort=abc\n");
        assertThat(health("--config", file.toString()).err())
                .contains(file + ": clientPort", "'abc' is not a port");
        Files.writeString(file, "a=\\u12\n");
        assertThat(health("--config", file.toString()).err())
                .contains("--config " + file + ": cannot be read: Malformed");
    }
}
