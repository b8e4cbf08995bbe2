package io.saucr.services.turns;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.Caller;
import io.saucr.services.Query;
import io.saucr.services.Sent;
import io.saucr.services.Timer;
import io.saucr.services.Turn;
import io.saucr.services.core.Effects;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** What a handler may ask of its turn, and when. */
class OpenTurnTest {

    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
    private static final Caller CALLER = new Caller("shop", 7);
    private static final Caller EARLIER = new Caller("shop", 5);

    private record Tick(String text) {}

    private record Call(int number) {}

    private record Look(int number) implements Query<Tick> {}

    private final NamedTypes types = new NamedTypes();
    private final HandlerTable handlers =
            HandlerTable.of(
                    on -> {
                        on.message(Tick.class, (tick, turn) -> {});
                        on.output(Call.class, (call, id) -> null);
                    },
                    types);

    /** Two messages went to "bank", the first is acked; timers up to 9 were given, 4 is set. */
    private static final long OVER = 8;

    private static final OpenTurn.Past PAST =
            new OpenTurn.Past() {
                @Override
                public long sentTo(String service) {
                    return service.equals("bank") ? 2 : 0;
                }

                @Override
                public boolean acked(String service, long number) {
                    return service.equals("bank") && number == 1;
                }

                @Override
                public long newestTimer() {
                    return 9;
                }

                @Override
                public boolean isSet(long timer) {
                    return timer == 4;
                }

                @Override
                public boolean waits(Caller caller) {
                    return caller.equals(EARLIER);
                }

                @Override
                public void ask(Sent sent, Questions.Question question) {
                    throw new AssertionError("nobody asks here");
                }

                @Override
                public boolean isOver(Caller caller) {
                    return caller.pair() == OVER;
                }
            };

    private OpenTurn turn(Optional<Caller> caller, boolean query) {
        return new OpenTurn(
                "orders",
                handlers,
                types,
                PAST,
                NOW,
                new Random(1),
                caller.map(Caller::peer),
                caller,
                query,
                40,
                null,
                Routing.NONE);
    }

    private final OpenTurn turn = turn(Optional.of(CALLER), false);

    @Test
    void messagesAreNumberedBehindThoseOfTurnsBefore() {
        assertThat(turn.send("bank", new Tick("a"))).isEqualTo(new Sent("bank", 3));
        assertThat(turn.send("shop", new Tick("b"))).isEqualTo(new Sent("shop", 1));
        assertThat(turn.send("bank", new Tick("c"))).isEqualTo(new Sent("bank", 4));
        assertThat(turn.acked(new Sent("bank", 1))).isTrue();
        assertThat(turn.acked(new Sent("bank", 2))).isFalse();
        assertThat(turn.acked(new Sent("bank", 4))).isFalse();
        assertThat(effects(turn).sends())
                .extracting(
                        send ->
                                send.service()
                                        + " "
                                        + types.decode(Tick.class, send.body().bytes()).text())
                .containsExactly("bank a", "shop b", "bank c");
    }

    @Test
    void aRefusedMessageTakesNoNumber() {
        refuses(() -> turn.send("bank", new Tick("x".repeat(40))), "at most 40 are allowed");
        refuses(() -> turn.send("bank", "text"), "java.lang.String is not a record");
        refuses(() -> turn.send(" ", new Tick("x")), "the name of a service");
        refuses(() -> turn.send("bank", new Look(1)), "is a Query, which only clients ask");
        assertThat(turn.send("bank", new Tick("a")).number()).isEqualTo(3);
        assertThat(effects(turn).sends()).hasSize(1);
    }

    @Test
    void namesThatNoServiceCanHaveAreRefused() {
        for (String name : List.of("", " ", "a/b", "x//y", ".", "..", "a#b", "a\nb", "a\u0000b")) {
            refuses(() -> turn.send(name, new Tick("x")), "the name of a service has 1 to 200");
        }
        assertThat(effects(turn).sends()).isEmpty();
    }

    @Test
    void oneAnswerForOneMessage() {
        turn.reply(new Tick("done"));
        assertThatThrownBy(() -> turn.reply(new Tick("again")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("answered already");
        assertThatThrownBy(turn::detach)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("answered already");
        refuses(() -> turn.reply(CALLER, new Tick("again")), "does not wait");
        assertThat(effects(turn).replies())
                .extracting(it -> new Caller(it.peer(), it.number()))
                .containsExactly(CALLER);
    }

    @Test
    void anAnswerCanBeLeftToALaterTurn() {
        assertThat(turn.detach()).isEqualTo(CALLER);
        assertThatThrownBy(() -> turn.reply(new Tick("now")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("left to a later turn");
        assertThat(effects(turn).detached()).isTrue();
    }

    @Test
    void whatWasDetachedIsAnsweredOnce() {
        turn.reply(EARLIER, new Tick("at last"));
        refuses(() -> turn.reply(EARLIER, new Tick("twice")), "does not wait");
        refuses(() -> turn.reply(new Caller("shop", 6), new Tick("no")), "does not wait");
        refuses(() -> turn.reply(CALLER, new Tick("not detached")), "does not wait");
        assertThat(effects(turn).replies()).hasSize(1);
    }

    @Test
    void nobodyWaitsForAnAnswerToATimer() {
        OpenTurn timers = turn(Optional.empty(), false);
        assertThatThrownBy(() -> timers.reply(new Tick("x")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("nobody waits");
        assertThat(timers.sender()).isEmpty();
    }

    @Test
    void timersAreDueFromNowOnAndNeverShareAnId() {
        Timer first = turn.after(Duration.ofSeconds(1), new Tick("a"));
        Timer second = turn.after(Duration.ZERO, new Tick("b"));
        assertThat(first).isEqualTo(new Timer(10));
        assertThat(second).isEqualTo(new Timer(11));
        assertThat(turn.cancel(second)).isTrue();
        assertThat(turn.cancel(second)).isFalse();
        assertThat(turn.cancel(new Timer(4))).isTrue();
        assertThat(turn.cancel(new Timer(4))).isFalse();
        assertThat(turn.cancel(new Timer(3))).isFalse();
        Effects effects = effects(turn);
        assertThat(effects.timers())
                .extracting(Effects.TimerSet::dueMillis)
                .containsExactly(NOW.plusSeconds(1).toEpochMilli());
        assertThat(effects.cancelled()).containsExactly(4L);
        assertThat(effects.newestTimer()).isEqualTo(11);
    }

    @Test
    void timersAndOutputsNeedAHandler() {
        refuses(() -> turn.after(Duration.ZERO, new Call(1)), "no message handler of orders");
        refuses(() -> turn.after(Duration.ofSeconds(-1), new Tick("x")), "0 to 36500 days");
        refuses(() -> turn.after(Duration.ofDays(36_501), new Tick("x")), "0 to 36500 days");
        refuses(() -> turn.output(new Tick("x")), "no output handler for Tick");
        turn.output(new Call(1));
        Effects effects = effects(turn);
        assertThat(effects.outputs()).hasSize(1);
        assertThat(effects.timers()).isEmpty();
        assertThat(effects.newestTimer()).isEqualTo(9);
    }

    @Test
    void aQueryChangesNothing() {
        OpenTurn query = turn(Optional.of(CALLER), true);
        assertThat(query.now()).isEqualTo(NOW);
        assertThat(query.sender()).contains("shop");
        assertThat(query.acked(new Sent("bank", 1))).isTrue();
        for (ThrowingCallable call : changes(query)) {
            assertThatThrownBy(call)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("in a query of orders");
        }
    }

    @Test
    void afterItsEndATurnIsOfNoUse() {
        turn.end();
        for (ThrowingCallable call : changes(turn)) {
            assertThatThrownBy(call)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("after its turn had ended in orders");
        }
        for (ThrowingCallable call :
                new ThrowingCallable[] {
                    turn::now, turn::random, turn::sender, () -> turn.acked(new Sent("bank", 1))
                }) {
            assertThatThrownBy(call)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("detach");
        }
    }

    @Test
    void onAnotherThreadATurnIsOfNoUse() {
        CompletableFuture<Sent> sent =
                CompletableFuture.supplyAsync(() -> turn.send("bank", new Tick("x")));
        assertThatThrownBy(sent::join)
                .isInstanceOf(CompletionException.class)
                .hasMessageContaining("send was called on another thread in orders");
        assertThat(effects(turn).sends()).isEmpty();
    }

    private static Effects effects(OpenTurn turn) {
        turn.end();
        return turn.effects();
    }

    private static ThrowingCallable[] changes(Turn turn) {
        return new ThrowingCallable[] {
            () -> turn.send("bank", new Tick("x")),
            () -> turn.reply(new Tick("x")),
            () -> turn.reply(EARLIER, new Tick("x")),
            turn::detach,
            () -> turn.after(Duration.ZERO, new Tick("x")),
            () -> turn.cancel(new Timer(4)),
            () -> turn.output(new Call(1)),
        };
    }

    private static void refuses(ThrowingCallable call, String message) {
        assertThatThrownBy(call)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message);
    }
}
