package io.saucr.services;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AddressTest {

    @Test
    void readsWhatItWrites() {
        assertThat(Address.parse("bank.example:7000")).isEqualTo(new Address("bank.example", 7000));
        assertThat(Address.parse("[::1]:0")).isEqualTo(new Address("::1", 0));
        assertThat(new Address("::1", 7000)).hasToString("[::1]:7000");
        assertThat(new Address("bank", 7000)).hasToString("bank:7000");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "bank", ":7000", "bank:", "bank:x", "::1:7000", "bank:123456"})
    void saysWhatIsAllowed(String text) {
        assertThatThrownBy(() -> Address.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("host:port")
                .hasMessageContaining("\"" + text + "\"");
    }

    @Test
    void refusesPortsThatNobodyHas() {
        assertThatThrownBy(() -> Address.parse("bank:65536")).hasMessageContaining("65535");
    }
}
