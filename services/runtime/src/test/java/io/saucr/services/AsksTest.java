package io.saucr.services;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Which type answers a message. */
class AsksTest {

    private record Cents(long cents) {}

    private record Deposit(long cents) implements Asks<Cents> {}

    private record Balance(String owner) implements Query<Cents> {}

    private interface Within<A> extends Query<A> {}

    private record Look(String key) implements Within<Cents> {}

    private record All() implements Query<List<Cents>> {}

    @Test
    void theMessagesClassSaysIt() {
        assertThat(Asks.answerOf(new Deposit(1))).isEqualTo(Cents.class);
    }

    @Test
    void anInterfaceBetweenThemHandsItOn() {
        assertThat(Asks.answerOf(new Balance("ann"))).isEqualTo(Cents.class);
        assertThat(Asks.answerOf(new Look("k"))).isEqualTo(Cents.class);
    }

    @Test
    void whatIsNoClassIsRefused() {
        assertThatThrownBy(() -> Asks.answerOf(new All()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(All.class.getName() + " does not say which type answers it");
    }
}
