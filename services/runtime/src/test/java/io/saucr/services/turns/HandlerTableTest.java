package io.saucr.services.turns;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.Handlers;
import io.saucr.services.Query;
import io.saucr.services.Service;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class HandlerTableTest {

    private record Ping(int count) {}

    private record Pong(int count) {}

    private static final class Elsewhere {
        private record Ping(String text) {}
    }

    private static HandlerTable table(Service service) {
        return HandlerTable.of(service, new NamedTypes());
    }

    @Test
    void findsHandlersByTheNameOfTheirType() throws Exception {
        List<Object> taken = new ArrayList<>();
        HandlerTable table =
                table(
                        on -> {
                            on.message(Ping.class, (ping, turn) -> taken.add(ping));
                            on.query(Pong.class, (pong, turn) -> pong.count());
                            on.output(Ping.class, (ping, id) -> id);
                            on.returned(Ping.class, (back, turn) -> taken.add(back));
                            on.every(Duration.ofSeconds(1), new Ping(1));
                        });
        table.message("Ping").orElseThrow().take(new Ping(3), null);
        assertThat(taken).containsExactly(new Ping(3));
        assertThat(table.query("Pong").orElseThrow().answer(new Pong(4), null)).isEqualTo(4);
        assertThat(table.output("Ping").orElseThrow().call(new Ping(1), "id")).isEqualTo("id");
        assertThat(table.returned("Ping")).isPresent();
        assertThat(table.repeated())
                .containsExactly(new HandlerTable.Repeated(Duration.ofSeconds(1), new Ping(1)));
        assertThat(table.type("Ping")).contains(Ping.class);
        assertThat(table.message("Pong")).isEmpty();
        assertThat(table.type("Unknown")).isEmpty();
    }

    @Test
    void aTypeHasOneHandler() {
        refuses(
                on -> {
                    on.message(Ping.class, (ping, turn) -> {});
                    on.message(Ping.class, (ping, turn) -> {});
                },
                "message(" + Ping.class.getName() + ") is there already");
        refuses(
                on -> {
                    on.message(Ping.class, (ping, turn) -> {});
                    on.query(Ping.class, (ping, turn) -> 1);
                },
                "query(" + Ping.class.getName() + ") is there already");
        refuses(
                on -> {
                    on.query(Ping.class, (ping, turn) -> 1);
                    on.message(Ping.class, (ping, turn) -> {});
                },
                "message(" + Ping.class.getName() + ") is there already");
    }

    private record Look(int number) implements Query<Pong> {}

    @Test
    void aQueryIsNoMessage() {
        refuses(
                on -> on.message(Look.class, (look, turn) -> {}),
                Look.class.getName() + " is a Query, which changes nothing");
        assertThat(table(on -> on.query(Look.class, (look, turn) -> new Pong(1))).query("Look"))
                .isPresent();
    }

    @Test
    void twoClassesOfOneNameAreRefused() {
        refuses(
                on -> {
                    on.message(Ping.class, (ping, turn) -> {});
                    on.output(Elsewhere.Ping.class, (ping, id) -> null);
                },
                "would both be sent as \"Ping\"");
    }

    @Test
    void typesAreChecked() {
        refuses(on -> on.message(Thread.class, (t, turn) -> {}), "java.lang.Thread");
        refuses(on -> on.every(Duration.ofSeconds(1), "tick"), "java.lang.String");
    }

    @Test
    void whatIsRepeatedNeedsAHandlerAndAPeriod() {
        refuses(
                on -> on.every(Duration.ofSeconds(1), new Ping(1)),
                "gives Ping, which no message handler takes");
        refuses(
                on -> {
                    on.message(Ping.class, (ping, turn) -> {});
                    on.every(Duration.ofNanos(1), new Ping(1));
                },
                "at least PT0.001S");
        refuses(
                on -> {
                    on.message(Ping.class, (ping, turn) -> {});
                    on.every(Duration.ofSeconds(1), new Ping(1));
                    on.every(Duration.ofSeconds(2), new Ping(2));
                },
                "every(" + Ping.class.getName() + ") is there already");
    }

    @Test
    void handlersAreNotAddedLater() {
        List<Handlers> kept = new ArrayList<>();
        table(kept::add);
        assertThatThrownBy(() -> kept.get(0).message(Ping.class, (ping, turn) -> {}))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("while Service.handlers runs");
    }

    private static void refuses(Service service, String message) {
        assertThatThrownBy(() -> table(service))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message);
    }
}
