package io.saucr.core.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the scripts and the tools take a server's file to mean. */
class ZooCfgTest {
    @TempDir Path folder;

    private Path file(String keys) throws IOException {
        Files.writeString(folder.resolve("myid"), "7\n");
        return Files.writeString(
                folder.resolve("zoo.cfg"),
                "dataDir=" + folder + "\n" + keys.replace('!', '\n').replace('^', '|'));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "clientPort=2182 | localhost | 2182 | false | 2182",
                "clientPort=1!clientPortAddress=[::1] | ::1 | 1 | false | 1",
                "clientPort=1!clientPortAddress=[::] | localhost | 1 | false | 1",
                "clientPort = 1 !clientPort:2 | localhost | 2 | false | 2",
                "clientPort=\\!  3 | localhost | 3 | false | 3",
                "clientPort=0!secureClientPort=5 | localhost | 5 | true | 5",
                "clientPort=4!secureClientPort=5 | localhost | 4 | false | 4 5",
                "server.7=[::1]:1:2;[::1]:3!standaloneEnabled=false | ::1 | 3 | false | 3 2",
                "server.7=[::1]:1:2:participant;4!server.8=zk_8:1:9 | localhost | 4 | false | 4 2",
                "clientPort=9!server.7=zk_7:1:2^[::1]:3:4:observer!server.8=x:1:1 | localhost | 9"
                        + " | false | 9 2 4",
                "server.8=a:1:2!server.9=b:1:2 | - | - | - | -",
            })
    void whereItListens(String keys, String host, String port, String tls, String ports)
            throws Exception {
        Map<String, String> facts = ZooCfg.facts(file(keys));
        assertThat(facts).doesNotContainKey("@problem");
        assertThat(facts.getOrDefault("@client.host", "-")).isEqualTo(host);
        assertThat(facts.getOrDefault("@client.port", "-")).isEqualTo(port);
        assertThat(facts.getOrDefault("@client.tls", "-")).isEqualTo(tls);
        assertThat(facts.get("@ports")).isEqualTo(ports.equals("-") ? "" : ports);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "admin.serverAddress=[::1] | http://[::1]:8080/commands",
                "admin.serverAddress=zk_7!admin.serverPort=9 | http://zk_7:9/commands",
                "admin.enableServer=false | -",
                // The server compares it with case.
                "admin.enableServer=False | http://localhost:8080/commands",
                "admin.forceHttps=TRUE!server.7=[fd00::7]:1:2 | https://[fd00::7]:8080/commands",
            })
    void whereItsAdminServerIs(String keys, String admin) throws Exception {
        assertThat(ZooCfg.read(file(keys)).admin().orElse("-")).isEqualTo(admin);
    }

    /** Every byte is a character: the server starts with it. */
    @Test
    void theFileIsLatin1() throws Exception {
        byte[] text =
                "# f\u00fcr uns\nname=J\u00fcrgen\n\u00fc=\u00df\n"
                        .getBytes(StandardCharsets.ISO_8859_1);
        Path file = Files.write(folder.resolve("latin.cfg"), text);
        assertThat(ZooCfg.load(file))
                .containsEntry("name", "J\u00fcrgen")
                .containsEntry("\u00fc", "\u00df");
    }

    @Test
    void theMembersMayStandInAFileOfTheirOwn() throws Exception {
        Path members =
                Files.writeString(
                        folder.resolve("members"),
                        "server.7=[::1]:1:2;[::1]:3\nserver.8=b:1:2;4\n");
        ZooCfg cfg = ZooCfg.read(file("dynamicConfigFile=" + members));
        assertThat(cfg.members()).containsExactly(7L, 8L);
        assertThat(cfg.inEnsemble()).isTrue();
        assertThat(cfg.clients()).contains(new ZooCfg.Clients(new HostPort("::1", 3), false));
    }

    @Test
    void whatCannotBeReadIsNamed() throws Exception {
        assertThatThrownBy(() -> ZooCfg.load(folder.resolve("none")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(folder.resolve("none") + ": there is no such file");
        Path wrong = Files.writeString(folder.resolve("wrong"), "a=\\u12\n");
        assertThatThrownBy(() -> ZooCfg.load(wrong))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(wrong + ": cannot be read");
    }

    /** A server that runs can be stopped, whatever its file says by now. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "clientPort=abc | zoo.cfg: clientPort': 'abc' is not a port",
                "dynamicConfigFile=/none/x | /none/x: there is no such file",
                "server.7=zk!server.8=b:1:2 | 'zk' is not a port",
            })
    void aProblemOfAValueDoesNotHideTheOthers(String keys, String problem) throws Exception {
        Map<String, String> facts = ZooCfg.facts(file(keys));
        assertThat(facts).containsEntry("dataDir", folder.toString());
        assertThat(facts.getOrDefault("@problem", "none")).contains(problem);
    }
}
