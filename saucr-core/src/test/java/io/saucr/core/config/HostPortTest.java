package io.saucr.core.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HostPortTest {
    @ParameterizedTest
    @CsvSource({
        "zk1:2182, zk1, 2182, zk1:2182",
        "zk1, zk1, 2181, zk1:2181",
        "zk_1:2182, zk_1, 2182, zk_1:2182",
        "' 10.0.0.1:1 ', 10.0.0.1, 1, 10.0.0.1:1",
        "[::1]:65535, ::1, 65535, [::1]:65535",
        "[::1], ::1, 2181, [::1]:2181",
        "[fe80::1%eth0], fe80::1%eth0, 2181, [fe80::1%eth0]:2181",
    })
    void addressesAreRead(String text, String host, int port, String name) {
        HostPort read = HostPort.parse(text, 2181);
        assertThat(read).isEqualTo(new HostPort(host, port)).hasToString(name);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ":2181",
                "zk1:",
                "zk1:0",
                "zk1:65536",
                "zk1:x",
                "::1",
                "a b:1",
                "zk/1:1",
                "[::1",
                "[::1:2181",
                "::1]:2181",
                "[[::1]]:2181",
                "[zk1]:2181",
                "[]:1",
                "u@zk1:1"
            })
    void othersAreRefusedByName(String text) {
        assertThatThrownBy(() -> HostPort.parse(text, 2181))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'" + text + "'");
    }

    @ParameterizedTest
    @ValueSource(strings = {"zk1", "[::1]", "10.0.0.1"})
    void aPortMayBeRequired(String text) {
        assertThatThrownBy(() -> HostPort.parse(text, 0))
                .isInstanceOf(IllegalArgumentException.class);
    }

    /** The tests' own machine has no host with an underscore; one without a name is enough. */
    @ParameterizedTest
    @ValueSource(strings = {"http://zk1:8080/a", "http://[::1]:8080/a", "https://10.0.0.1/"})
    void aWebAddressStaysIfItsHostIsOneForJava(String text) throws Exception {
        assertThat(HostPort.connectable(URI.create(text))).hasToString(text);
    }

    @Test
    void aHostWithAnUnderscoreIsLookedUp() {
        assertThatThrownBy(() -> HostPort.connectable(URI.create("http://zk_1.invalid:8080/a")))
                .isInstanceOf(UnknownHostException.class)
                .hasMessageContaining("zk_1.invalid");
        assertThatThrownBy(() -> HostPort.connectable(URI.create("http://a@b_c:1/")))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @CsvSource({
        "'', localhost",
        "0.0.0.0, localhost",
        "*, localhost",
        "::, localhost",
        "[::], localhost",
        "0:0:0:0:0:0:0:0, localhost",
        "::0, localhost",
        "[::1], ::1",
        "::1, ::1",
        "127.0.0.2, 127.0.0.2",
        "zk_1, zk_1",
    })
    void aServerIsReachedWhereItListens(String bound, String host) {
        assertThat(HostPort.reachable(bound)).isEqualTo(host);
    }
}
