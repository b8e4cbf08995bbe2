package io.saucr.tool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EndpointTest {
    @ParameterizedTest
    @CsvSource({
        "zk1:2182, zk1, 2182, zk1:2182",
        "zk1, zk1, 2181, zk1:2181",
        "' 10.0.0.1:1 ', 10.0.0.1, 1, 10.0.0.1:1",
        "[::1]:65535, ::1, 65535, [::1]:65535",
        "[fe80::1%eth0], fe80::1%eth0, 2181, [fe80::1%eth0]:2181",
    })
    void addressesAreRead(String text, String host, int port, String name) {
        Endpoint.Address address = Endpoint.address(text, 2181);
        assertThat(address).isEqualTo(new Endpoint.Address(host, port));
        assertThat(new Endpoint(host, port, false, Optional.empty()).name()).isEqualTo(name);
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
                "zk/1:1"
            })
    void othersAreRefusedByName(String text) {
        assertThatThrownBy(() -> Endpoint.address(text, 2181))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'" + text + "'");
    }

    @ParameterizedTest
    @CsvSource({"500ms, 500", "5s, 5000", "2m, 120000", "24h, 86400000"})
    void timeLimitsHaveUnits(String text, long millis) {
        assertThat(Durations.parse(text)).isEqualTo(Duration.ofMillis(millis));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "5", "0s", "-1s", "25h", "1.5s", "5 s", "99999999999s"})
    void otherTimeLimitsAreRefused(String text) {
        assertThatThrownBy(() -> Durations.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'" + text + "'");
    }
}
