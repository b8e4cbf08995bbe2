package io.saucr.server.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.server.config.SaucrSettings.InvalidSettingException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The {@code saucr.} keys: what is accepted, what it means, and what a refusal says. */
class SaucrSettingsTest {

    private static SaucrSettings parse(String... keysAndValues) throws InvalidSettingException {
        Properties properties = new Properties();
        properties.setProperty("zookeeper.forceSync", "yes");
        properties.setProperty("java.io.tmpdir", "/tmp");
        for (int i = 0; i < keysAndValues.length; i += 2) {
            properties.setProperty("zookeeper." + keysAndValues[i], keysAndValues[i + 1]);
        }
        return SaucrSettings.parse("zoo.cfg", properties);
    }

    @Test
    void withoutAnyKeyItIsOff() throws Exception {
        assertThat(parse().enabled()).isFalse();
    }

    @Test
    void aSilentLeaderIsLeftAfterTwoSecondsByDefault() throws Exception {
        SaucrSettings settings = parse("saucr.enabled", "true");
        assertThat(settings.enabled()).isTrue();
        assertThat(settings.heartbeatInterval()).isEqualTo(Duration.ofMillis(50));
        assertThat(settings.missedHeartbeatsBeforeElection()).isEqualTo(40);
        assertThat(parse("saucr.heartbeatInterval", "1ms").missedHeartbeatsBeforeElection())
                .isEqualTo(2_000);
        assertThat(parse("saucr.heartbeatInterval", "10s").missedHeartbeatsBeforeElection())
                .isEqualTo(4);
    }

    @Test
    void aServersOwnDiskMayBeLateForTenSecondsByDefault() throws Exception {
        assertThat(parse().diskTimeout()).isEqualTo(Duration.ofSeconds(10));
        assertThat(parse("saucr.diskTimeout", "1m").diskTimeout()).isEqualTo(Duration.ofMinutes(1));
    }

    @Test
    void theCommittedLogHasAnEighthOfTheHeapByDefault() throws Exception {
        assertThat(parse().committedLogMegabytes())
                .isEqualTo(SaucrSettings.defaultMegabytes(Runtime.getRuntime().maxMemory()));
        assertThat(SaucrSettings.defaultMegabytes(1L << 30)).isEqualTo(128);
        assertThat(SaucrSettings.defaultMegabytes(1L << 22)).isEqualTo(1);
        assertThat(SaucrSettings.defaultMegabytes(Long.MAX_VALUE)).isEqualTo(65_536);
        assertThat(parse("saucr.committedLogMegabytes", "65536").committedLogBytes())
                .isEqualTo(64L << 30);
    }

    @Test
    void aRequestIsSlowAfterHalfASecondByDefault() throws Exception {
        assertThat(parse().slowRequestTime()).isEqualTo(Duration.ofMillis(500));
        assertThat(parse("saucr.slowRequestTime", "20").slowRequestTime())
                .isEqualTo(Duration.ofMillis(20));
        assertThat(parse("saucr.slowRequestTime", "off").slowRequestTime()).isZero();
        assertThat(SaucrSettings.slowRequestTime("1h")).isEqualTo(Duration.ofHours(1));
        assertThatThrownBy(() -> SaucrSettings.slowRequestTime(""))
                .hasMessageContaining("saucr.slowRequestTime= is not allowed");
    }

    @Test
    void anEnsembleMayHaveAName() throws Exception {
        assertThat(parse().ensembleName()).isEmpty();
        assertThat(parse("saucr.ensembleName", "orders-7").ensembleName()).isEqualTo("orders-7");
    }

    @Test
    void adminServersAreNamedById() throws Exception {
        assertThat(parse().adminServers()).isEmpty();
        assertThat(
                        parse(
                                        "saucr.adminServers",
                                        "1=zk1.example:8080, 2=[::1]:65535,30=10.0.0.3:1")
                                .adminServers())
                .isEqualTo(Map.of(1L, "zk1.example:8080", 2L, "[::1]:65535", 30L, "10.0.0.3:1"));
        for (String wrong :
                List.of(
                        "zk1:8080",
                        "1=zk1",
                        "1=zk1:8080,",
                        "1=a b:80",
                        "1=x:y",
                        "1=zk1:0",
                        "1=zk1:65536",
                        "2=[::1]:99999",
                        "1=zk1:8080,1=zk2:8080",
                        "1=zk1:8080,2=zk2:8080,01=zk1:8080")) {
            assertThatThrownBy(() -> parse("saucr.adminServers", wrong))
                    .as(wrong)
                    .hasMessageContaining("zoo.cfg: saucr.adminServers=" + wrong)
                    .hasMessageContaining("1=zk1:8080,2=zk2:8080");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "500us, 500000",
        "7, 7000000",
        "7ms, 7000000",
        "1s, 1000000000",
        "1m, 60000000000",
        "' 50ms ', 50000000"
    })
    void aDurationHasAUnitAndABareNumberIsMilliseconds(String value, long nanos) throws Exception {
        assertThat(parse("saucr.heartbeatInterval", value).heartbeatInterval())
                .isEqualTo(Duration.ofNanos(nanos));
    }

    @ParameterizedTest
    @CsvSource({"1ms, 20", "50ms, 20", "100ms, 70", "200ms, 170", "230ms, 200", "1s, 200"})
    void toleranceIsTheIntervalLess30But20To200Milliseconds(String interval, long millis)
            throws Exception {
        assertThat(parse("saucr.heartbeatInterval", interval).tolerance())
                .isEqualTo(Duration.ofMillis(millis));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "ms",
                "-1ms",
                "1.5s",
                "499us",
                "61s",
                "2m",
                "50 ms",
                "50MS",
                "50parsecs",
                "0",
                "9999999999"
            })
    void aBadDurationIsNamedWithWhatIsAllowed(String value) {
        assertThatThrownBy(() -> parse("saucr.heartbeatInterval", value))
                .isInstanceOf(InvalidSettingException.class)
                .hasMessageContaining("zoo.cfg")
                .hasMessageContaining("saucr.heartbeatInterval=" + value)
                .hasMessageContaining("500us to 1m");
    }

    @ParameterizedTest
    @CsvSource({
        "saucr.enabled, TRUE, true or false",
        "saucr.enabled, yes, true or false",
        "saucr.enabled, '', true or false",
        "saucr.fastModeConfirmations, 0, 1 to 1000",
        "saucr.fastModeConfirmations, three, 1 to 1000",
        "saucr.fastModeConfirmations, 1001, 1 to 1000",
        "saucr.missedHeartbeatsBeforeElection, 1, 2 to 1000000",
        "saucr.missedHeartbeatsBeforeElection, 99999999999, 2 to 1000000",
        "saucr.backgroundFlushInterval, 999us, 1ms to 1h",
        "saucr.backgroundFlushInterval, 2h, 1ms to 1h",
        "saucr.backgroundFlushInterval, 61m, 1ms to 1h",
        "saucr.idleFlush, 0s, 1ms to 1h",
        "saucr.idleFlush, -5ms, 1ms to 1h",
        "saucr.diskTimeout, 999ms, 1s to 1h",
        "saucr.committedLogMegabytes, 0, 1 to 65536",
        "saucr.slowRequestTime, 0, 1ms to 1h",
        "saucr.slowRequestTime, 999us, 1ms to 1h",
        "saucr.slowRequestTime, 61m, 1ms to 1h",
        "saucr.slowRequestTime, OFF, or off",
        "saucr.committedLogMegabytes, 64m, 1 to 65536",
        "saucr.ensembleName, my orders, '1 to 64 letters, digits, dots, dashes and underscores'"
    })
    void aBadValueIsNamedWithWhatIsAllowed(String key, String value, String allowed) {
        assertThatThrownBy(() -> parse(key, value))
                .isInstanceOf(InvalidSettingException.class)
                .hasMessageContaining("zoo.cfg")
                .hasMessageContaining(key + "=" + value)
                .hasMessageContaining(allowed);
    }

    @Test
    void anUnknownKeyIsNamedWithAllKnownOnes() {
        assertThatThrownBy(() -> parse("saucr.idleFlsh", "1s"))
                .isInstanceOf(InvalidSettingException.class)
                .hasMessageContaining("zoo.cfg: unknown key saucr.idleFlsh")
                .hasMessageContaining("saucr.enabled")
                .hasMessageContaining("saucr.idleFlush")
                .hasMessageContaining("saucr.missedHeartbeatsBeforeElection");
    }
}
