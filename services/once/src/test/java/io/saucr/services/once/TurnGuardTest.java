package io.saucr.services.once;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TurnGuardTest {

    @AfterEach
    void leave() {
        TurnGuard.leave();
    }

    @Test
    void refusesWithinATurnAlone() {
        TurnGuard.refuse("Client.ask", "send a message");
        TurnGuard.enter("bank");
        assertThatThrownBy(() -> TurnGuard.refuse("Client.ask", "send a message"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("Client.ask was called in a turn of bank: send a message");
        TurnGuard.leave();
        TurnGuard.refuse("Client.ask", "send a message");
    }
}
