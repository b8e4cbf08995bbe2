package io.saucr.services.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.Asks;
import io.saucr.services.Caller;
import io.saucr.services.Client;
import io.saucr.services.Continuation;
import io.saucr.services.Handlers;
import io.saucr.services.ListState;
import io.saucr.services.MapState;
import io.saucr.services.Protection;
import io.saucr.services.Service;
import io.saucr.services.ServiceException;
import io.saucr.services.State;
import io.saucr.services.core.Limits;
import io.saucr.services.turns.TurnOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Typed answers: a client's, and those of a service to another one, whatever crashes between. */
@SuppressWarnings("FutureReturnValueIgnored") // What a call leads to is looked at in the services.
class QuestionsTest {

    record Balance(String owner) implements Asks<Cents> {}

    record Cents(long cents) {}

    record Deposit(String owner, long cents) {}

    record Withdraw(String owner, long cents) implements Asks<Outcome> {}

    sealed interface Outcome {}

    record Paid(long left) implements Outcome {}

    record Refused(String why) implements Outcome {}

    record Later(String owner) implements Asks<Cents> {}

    record Now() {}

    record Silent() implements Asks<Cents> {}

    record Wrong() implements Asks<Cents> {}

    private static final class Bank implements Service {

        private final MapState<String, Long> accounts;
        private final MapState<String, Caller> waiting;

        Bank(State state) {
            accounts = state.map("accounts", String.class, Long.class);
            waiting = state.map("waiting", String.class, Caller.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Deposit.class, (it, turn) -> accounts.merge(it.owner(), it.cents(), Long::sum));
            on.query(Balance.class, (it, turn) -> cents(it.owner()));
            on.message(
                    Withdraw.class,
                    (it, turn) -> {
                        long left = cents(it.owner()).cents() - it.cents();
                        if (left < 0) {
                            turn.reply(new Refused("there are " + cents(it.owner()).cents()));
                        } else {
                            accounts.put(it.owner(), left);
                            turn.reply(new Paid(left));
                        }
                    });
            on.message(Later.class, (it, turn) -> waiting.put(it.owner(), turn.detach()));
            on.message(
                    Now.class,
                    (it, turn) -> {
                        for (var each : waiting.entries()) {
                            turn.reply(each.getValue(), cents(each.getKey()));
                        }
                        waiting.clear();
                    });
            on.message(Silent.class, (it, turn) -> {});
            on.message(Wrong.class, (it, turn) -> turn.reply(new Paid(1)));
        }

        private Cents cents(String owner) {
            return new Cents(accounts.getOrDefault(owner, 0L));
        }
    }

    record Buy(String order, String owner, long cents) {}

    record Look(String owner) {}

    record Wait(String owner, Duration within) {}

    record Ask(String what) {}

    record Seen() implements Asks<Notes> {}

    record Notes(List<String> notes) {}

    private static final class Shop implements Service {

        record Buying(String order) implements Continuation<Outcome> {}

        record Looking(String owner) implements Continuation<Cents> {}

        private final ListState<String> notes;

        Shop(State state) {
            notes = state.list("notes", String.class);
        }

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Buy.class,
                    (it, turn) ->
                            turn.ask(
                                    "bank",
                                    new Withdraw(it.owner(), it.cents()),
                                    new Buying(it.order())));
            on.answer(
                    Buying.class,
                    (buying, outcome, turn) ->
                            notes.add(
                                    buying.order()
                                            + (outcome instanceof Paid ? " paid" : " refused")));
            on.unanswered(
                    Buying.class,
                    (buying, why, turn) -> notes.add(buying.order() + " " + why.reason()));
            on.message(
                    Look.class,
                    (it, turn) ->
                            turn.ask("bank", new Balance(it.owner()), new Looking(it.owner())));
            on.message(
                    Wait.class,
                    (it, turn) -> {
                        Looking looking = new Looking(it.owner());
                        if (it.within().isZero()) {
                            turn.ask("bank", new Later(it.owner()), looking);
                        } else {
                            turn.ask("bank", new Later(it.owner()), looking, it.within());
                        }
                    });
            on.message(
                    Ask.class,
                    (it, turn) -> {
                        Asks<Cents> question =
                                it.what().equals("silent") ? new Silent() : new Wrong();
                        turn.ask("bank", question, new Looking(it.what()));
                    });
            on.answer(
                    Looking.class,
                    (looking, cents, turn) -> notes.add(looking.owner() + " " + cents.cents()));
            on.unanswered(
                    Looking.class,
                    (looking, why, turn) ->
                            notes.add(
                                    looking.owner()
                                            + (why.perhapsConsumed() ? " perhaps: " : ": ")
                                            + why.reason()));
            on.query(
                    Seen.class,
                    (it, turn) -> {
                        List<String> all = new ArrayList<>();
                        notes.forEach(all::add);
                        return new Notes(all);
                    });
        }
    }

    private static List<String> notes(TestService shop) {
        return shop.query(new Seen(), Notes.class).notes();
    }

    private static void shopping(TestWorld world, TestService shop, TestService bank) {
        Client clerk = world.client("clerk", "shop");
        Client teller = world.client("teller", "bank");
        teller.send(new Deposit("ann", 10));
        world.run();
        clerk.send(new Buy("one", "ann", 6));
        clerk.send(new Buy("two", "ann", 6));
        clerk.send(new Look("ann"));
        clerk.send(new Wait("ann", Duration.ZERO));
        world.run();
        shop.fold();
        shop.takeOver();
        bank.fold();
        bank.takeOver();
        teller.send(new Now());
        world.run();
        assertThat(notes(shop)).containsExactly("one paid", "two refused", "ann 4", "ann 4");
    }

    @Test
    void aServiceIsAnsweredOnceWhateverCrashes() {
        int crashes =
                CrashPoints.everywhere(
                        5,
                        world ->
                                shopping(
                                        world,
                                        world.service("shop", Shop::new),
                                        world.service("bank", Bank::new)));
        assertThat(crashes).isGreaterThan(100);
    }

    @Test
    void aServiceWithStandbysIsAnsweredOnceWhoeverTakesOver() {
        int crashes =
                CrashPoints.everywhere(
                        6,
                        world ->
                                shopping(
                                        world,
                                        world.service("shop", Shop::new, Protection.standby()),
                                        world.service("bank", Bank::new, Protection.standby())));
        assertThat(crashes).isGreaterThan(100);
    }

    @Test
    void aClientGetsTheTypeThatItsMessageSays() {
        TestWorld world = new TestWorld(1);
        TestService unused = world.service("bank", Bank::new);
        Client client = world.client("client", "bank");
        client.send(new Deposit("ann", 10));
        CompletableFuture<Cents> cents = client.ask(new Balance("ann"));
        assertThat(world.await(cents)).isEqualTo(new Cents(10));
        CompletableFuture<Outcome> outcome = client.ask(new Withdraw("ann", 11));
        assertThat(world.await(outcome)).isEqualTo(new Refused("there are 10"));
        CompletableFuture<Paid> mistaken = client.ask(new Withdraw("ann", 11), Paid.class);
        assertThatThrownBy(() -> world.await(mistaken))
                .isInstanceOf(ServiceException.class)
                .hasMessageContaining("Refused");
    }

    @Test
    void whoHasNoHandlerForWhatNobodyAnswersDoesNotStart() {
        TestWorld world = new TestWorld(2);
        assertThatThrownBy(
                        () ->
                                world.service(
                                        "shop",
                                        state ->
                                                on ->
                                                        on.answer(
                                                                Shop.Looking.class,
                                                                (looking, cents, turn) -> {})))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("has no unanswered handler of that type: add one");
    }

    /** An answer that comes after all is dropped, and does not keep its channel from going on. */
    @Test
    void whoWaitsNoLongerHearsItAndTheAnswerIsDropped() {
        int crashes =
                CrashPoints.everywhere(
                        7,
                        world -> {
                            TestService shop = world.service("shop", Shop::new);
                            TestService unused = world.service("bank", Bank::new);
                            Client clerk = world.client("clerk", "shop");
                            Client teller = world.client("teller", "bank");
                            clerk.send(new Wait("ann", Duration.ofSeconds(5)));
                            clerk.send(new Wait("bob", Duration.ofDays(1)));
                            world.run();
                            world.advance(Duration.ofSeconds(6));
                            world.run();
                            assertThat(notes(shop))
                                    .containsExactly("ann perhaps: bank did not answer in time");
                            shop.takeOver();
                            teller.send(new Now());
                            clerk.send(new Look("ann"));
                            world.run();
                            assertThat(notes(shop))
                                    .containsExactlyInAnyOrder(
                                            "ann perhaps: bank did not answer in time",
                                            "bob 0",
                                            "ann 0");
                            world.advance(Duration.ofDays(2));
                            world.run();
                            assertThat(notes(shop)).hasSize(3);
                        });
        assertThat(crashes).isGreaterThan(100);
    }

    /** K12, K15: what is put aside, and what the other answers by another type. */
    @Test
    void aQuestionThatIsPutAsideHasNoAnswer() {
        Limits limits = new Limits(256, 1, true, 0, 0, 1_024, 3_600_000);
        TestWorld world = new TestWorld(8, TurnOptions.standard().with(limits));
        TestService shop = world.service("shop", Shop::new);
        TestService bank = world.service("bank", Bank::new);
        Client clerk = world.client("clerk", "shop");
        clerk.send(new Ask("silent"));
        clerk.send(new Ask("wrong"));
        world.run();
        assertThat(notes(shop)).hasSize(2);
        assertThat(notes(shop).get(0))
                .startsWith("silent: ")
                .contains("its handler neither replied nor detached");
        assertThat(notes(shop).get(1)).startsWith("wrong: ").contains("answers by");
        assertThat(bank.parked()).hasSize(2);
        assertThat(shop.parked()).isEmpty();
    }

    @Test
    void anAnswerOfAnotherTypeIsNone() {
        TestWorld world = new TestWorld(9);
        TestService shop = world.service("shop", Shop::new);
        // A release whose caller is answered later, by a type of its own.
        record OldAnswer(String text) {}
        TestService unused =
                world.service(
                        "bank",
                        state ->
                                on ->
                                        on.message(
                                                Later.class,
                                                (it, turn) ->
                                                        turn.reply(
                                                                turn.detach(),
                                                                new OldAnswer("much"))));
        world.client("clerk", "shop").send(new Wait("ann", Duration.ZERO));
        world.run();
        assertThat(notes(shop))
                .containsExactly("ann perhaps: bank answered by OldAnswer, and Cents was expected");
    }

    /** K11: the next generation knows nothing of what the one before was asked. */
    @Test
    void aGenerationThatIsGoneAnswersNothing() {
        int crashes =
                CrashPoints.everywhere(
                        10,
                        world -> {
                            TestService shop = world.service("shop", Shop::new);
                            TestService bank = world.service("bank", Bank::new);
                            Client clerk = world.client("clerk", "shop");
                            clerk.send(new Wait("ann", Duration.ZERO));
                            world.run();
                            bank.crash();
                            clerk.send(new Look("bob"));
                            world.run();
                            bank.bearAnew();
                            world.run();
                            world.advance(Duration.ofMinutes(11));
                            world.run();
                            List<String> notes = notes(shop);
                            assertThat(notes).hasSize(2);
                            assertThat(notes)
                                    .filteredOn(it -> it.startsWith("ann perhaps: "))
                                    .hasSize(1);
                            assertThat(notes).filteredOn(it -> it.startsWith("bob")).hasSize(1);
                        });
        assertThat(crashes).isGreaterThan(50);
    }

    /** A release without asking leaves its questions alone, and the next one goes on with them. */
    @Test
    void questionsOutliveAReleaseThatAsksNothing() {
        TestWorld world = new TestWorld(11);
        TestService shop = world.service("shop", Shop::new);
        TestService unused = world.service("bank", Bank::new);
        world.client("clerk", "shop").send(new Wait("ann", Duration.ZERO));
        world.run();
        shop.fold();
        shop.crash();
        shop.upgrade(state -> on -> on.query(Seen.class, (it, turn) -> new Notes(List.of())));
        shop.start();
        world.client("teller", "bank").send(new Now());
        world.run();
        shop.fold();
        shop.crash();
        shop.upgrade(Shop::new);
        shop.start();
        world.run();
        assertThat(notes(shop)).containsExactly("ann 0");
    }
}
