package io.saucr.services.turns;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.Handlers;
import io.saucr.services.Service;
import org.junit.jupiter.api.Test;

class FieldCheckTest {

    @Test
    void takesAServiceWhoseFieldsAreFinal() {
        FieldCheck.check(new Final("x"));
    }

    @Test
    void takesALambda() {
        Object captured = new Object();
        FieldCheck.check(on -> assertThat(captured).isNotNull());
    }

    @Test
    void namesTheFieldThatIsNotFinal() {
        assertThatThrownBy(() -> FieldCheck.check(new Counting()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("field count of")
                .hasMessageContaining("Keep it in the state");
    }

    @Test
    void looksAtTheClassesAbove() {
        assertThatThrownBy(() -> FieldCheck.check(new BelowCounting()))
                .hasMessageContaining("field count of " + Counting.class.getName());
    }

    @Test
    void looksAtStaticFields() {
        assertThatThrownBy(() -> FieldCheck.check(new Shared()))
                .hasMessageContaining("field shared of");
    }

    private static class Final implements Service {
        private final String name;

        Final(String name) {
            this.name = name;
        }

        @Override
        public void handlers(Handlers on) {
            assertThat(name).isNotNull();
        }
    }

    private static class Counting implements Service {
        private int count;

        @Override
        public void handlers(Handlers on) {
            assertThat(count).isZero();
        }
    }

    private static final class BelowCounting extends Counting {}

    private static final class Shared implements Service {
        private static int shared;

        @Override
        public void handlers(Handlers on) {
            assertThat(shared).isZero();
        }
    }
}
