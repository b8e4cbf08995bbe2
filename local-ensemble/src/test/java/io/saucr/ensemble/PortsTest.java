package io.saucr.ensemble;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PortsTest {
    @Test
    void defaultPortsAreTheUsualOnes() {
        assertThat(Ports.of(1, LocalEnsemble.USUAL_PORTS).ports().values())
                .containsExactly(2181, 2881, 3881, 8081);
        assertThat(Ports.of(5, LocalEnsemble.USUAL_PORTS).ports().values())
                .containsExactly(2185, 2885, 3885, 8085);
    }

    @Test
    void portsOfSevenServersDoNotMeet() {
        Set<Integer> ports = new HashSet<>();
        for (int id = 1; id <= 7; id++) {
            ports.addAll(Ports.of(id, 12_000).ports().values());
        }
        assertThat(ports).hasSize(28).allMatch(port -> port > 12_000 && port < 12_400);
    }

    @Test
    void aBaseOutOfRangeIsRefusedWithTheRange() {
        assertThatThrownBy(() -> Ports.of(1, 80))
                .isInstanceOf(EnsembleException.class)
                .hasMessageContaining("80")
                .hasMessageContaining("1024 to 65000");
        assertThatThrownBy(() -> Ports.of(1, 65_001)).isInstanceOf(EnsembleException.class);
    }
}
