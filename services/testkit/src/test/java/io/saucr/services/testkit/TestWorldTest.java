package io.saucr.services.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.Bank;
import io.saucr.services.Client;
import io.saucr.services.Handlers;
import io.saucr.services.Service;
import io.saucr.services.ServiceException;
import io.saucr.services.State;
import io.saucr.services.core.Limits;
import io.saucr.services.turns.TurnOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The real turns, channels and recovery, in memory and with crashes anywhere. */
@SuppressWarnings("FutureReturnValueIgnored") // What a call leads to is looked at in the services.
class TestWorldTest {

    private final List<String> calls = new ArrayList<>();
    private final Set<String> post = new HashSet<>();

    private TestService bank(TestWorld world, String name) {
        return world.service(name, state -> new Bank(state, calls, post));
    }

    private static long balance(TestService bank, String owner) {
        return bank.query(new Bank.Balance(owner), Bank.Cents.class).cents();
    }

    @Test
    void aTransferBetweenTwoBanks() {
        TestWorld world = new TestWorld(1);
        TestService north = bank(world, "north");
        TestService south = bank(world, "south");
        Client teller = world.client("teller", "north");
        world.await(teller.ask(new Bank.Open("ann", 100), Bank.Done.class));
        assertThat(
                        world.await(
                                teller.ask(
                                        new Bank.Transfer("t1", "ann", "south", "bob", 30),
                                        Bank.Done.class)))
                .isEqualTo(new Bank.Done("t1"));
        world.run();
        assertThat(balance(north, "ann")).isEqualTo(70);
        assertThat(balance(south, "bob")).isEqualTo(30);
        CompletableFuture<Bank.Done> bounced =
                teller.ask(new Bank.Transfer("t2", "ann", "south", "bob", 300), Bank.Done.class);
        assertThatThrownBy(() -> world.await(bounced))
                .isInstanceOf(ServiceException.class)
                .hasMessage(
                        "north answered with Bounced {\"id\":\"t2\"}, and Done was expected: ask for the"
                                + " type that its handler replies by; one record can carry both"
                                + " outcomes");

        world.advance(Duration.ofDays(1));
        world.run();
        assertThat(north.query(new Bank.Settled(), Bank.Settlements.class))
                .isEqualTo(new Bank.Settlements(List.of("t1"), List.of(world.now())));
    }

    @Test
    void nothingIsLostOrDoubledWhereverItCrashes() {
        int crashes =
                CrashPoints.everywhere(
                        7,
                        world -> {
                            TestService north = bank(world, "north");
                            TestService south = bank(world, "south");
                            Client teller = world.client("teller", "north");
                            teller.send(new Bank.Open("ann", 100));
                            for (int i = 0; i < 3; i++) {
                                teller.send(new Bank.Transfer("t" + i, "ann", "south", "bob", 30));
                            }
                            teller.send(new Bank.Transfer("home", "ann", "north", "carl", 5));
                            world.run();
                            assertThat(balance(north, "ann")).isEqualTo(5);
                            assertThat(balance(north, "carl")).isEqualTo(5);
                            assertThat(balance(south, "bob")).isEqualTo(90);
                        });
        assertThat(crashes).isGreaterThan(100);
    }

    @Test
    void randomCrashesAndFoldsLoseNothing() {
        for (int seed = 0; seed < 30; seed++) {
            // Crashes as close to each other as here would look like poison.
            Limits patient = new Limits(256, 1_000, true, 0, 0, 1_024, 3_600_000);
            TestWorld world =
                    new TestWorld(seed, TurnOptions.standard().with(patient).foldBytes(1 << 10));
            TestService north = bank(world, "north");
            TestService south = bank(world, "south");
            Client teller = world.client("teller", "north");
            teller.send(new Bank.Open("ann", 1_000));
            for (int i = 0; i < 40; i++) {
                teller.send(new Bank.Transfer("t" + i, "ann", "south", "bob", 10));
                for (int step = 0; step < 5; step++) {
                    boolean unused = world.step();
                }
                TestService crashing = i % 2 == 0 ? north : south;
                crashing.crash();
                boolean unused = world.step();
                crashing.start();
                if (i % 7 == 0) {
                    world.cut("north", "south");
                }
            }
            world.run();
            assertThat(balance(north, "ann")).as("seed " + seed).isEqualTo(600);
            assertThat(balance(south, "bob")).as("seed " + seed).isEqualTo(400);
        }
    }

    @Test
    void timersOutliveACrashAndCanBeCancelled() {
        TestWorld world = new TestWorld(3);
        TestService bank = bank(world, "bank");
        Client client = world.client("client", "bank");
        post.addAll(Set.of("soon", "late", "never"));
        client.send(new Bank.Remind("soon", Duration.ofMinutes(1)));
        client.send(new Bank.Remind("late", Duration.ofMinutes(10)));
        client.send(new Bank.Remind("never", Duration.ofMinutes(2)));
        client.send(new Bank.Forget("never"));
        world.run();
        bank.crash();
        world.advance(Duration.ofMinutes(5));
        bank.start();
        world.run();
        assertThat(bank.query(new Bank.Stamps(), Bank.Stamped.class).stamps())
                .containsExactly("soon");
        world.advance(Duration.ofMinutes(6));
        world.run();
        assertThat(bank.query(new Bank.Stamps(), Bank.Stamped.class).stamps())
                .containsExactly("soon", "late");
    }

    @Test
    void whatIsRepeatedSkipsWhatItMissed() {
        TestWorld world = new TestWorld(4);
        TestService bank = bank(world, "bank");
        world.run();
        for (int hour = 0; hour < 3; hour++) {
            world.advance(Duration.ofHours(1));
            world.run();
        }
        bank.crash();
        world.advance(Duration.ofHours(10));
        bank.start();
        world.run();
        assertThat(bank.query(new Bank.InterestSoFar(), Bank.Cents.class).cents()).isEqualTo(4);
    }

    @Test
    void aCallIsMadeUntilItReturnsWithTheSameId() {
        TestWorld world = new TestWorld(5);
        TestService bank = bank(world, "bank");
        Client client = world.client("client", "bank");
        client.send(new Bank.Letter("hello"));
        world.run();
        assertThat(calls).hasSize(1);
        bank.crash();
        bank.start();
        world.run();
        assertThat(calls).hasSize(2);
        post.add("hello");
        world.advance(Duration.ofSeconds(1));
        world.run();
        assertThat(calls).hasSize(3);
        assertThat(new HashSet<>(calls)).hasSize(1);
        assertThat(bank.query(new Bank.Stamps(), Bank.Stamped.class).stamps())
                .containsExactly("hello");
        bank.crash();
        bank.start();
        world.run();
        assertThat(calls).hasSize(3);
    }

    @Test
    void writesToTheEnsembleHappenOnceWhereverItCrashes() {
        int unused =
                CrashPoints.everywhere(
                        9,
                        world -> {
                            TestService bank = bank(world, "bank");
                            Client client = world.client("client", "bank");
                            client.send(new Bank.Audit("/one", "1"));
                            client.send(new Bank.Audit("/two", "2"));
                            world.run();
                            assertThat(bank.ensembleWrites())
                                    .extracting(it -> it.parts().get(0).getPath())
                                    .containsExactly("/one", "/two");
                        });
    }

    @Test
    void aLaterTurnAnswersAlsoAfterACrash() {
        TestWorld world = new TestWorld(6);
        TestService bank = bank(world, "bank");
        Client client = world.client("client", "bank");
        CompletableFuture<Bank.Released> released =
                client.ask(new Bank.Wait("noon"), Bank.Released.class);
        world.run();
        assertThat(released).isNotDone();
        bank.crash();
        bank.start();
        client.send(new Bank.Release("noon"));
        assertThat(world.await(released)).isEqualTo(new Bank.Released());
    }

    @Test
    void poisonIsPutAsideAndItsSenderIsTold() {
        Limits limits = new Limits(256, 3, true, 100, 60_000, 1_024, 3_600_000);
        TestWorld world = new TestWorld(7, TurnOptions.standard().with(limits));
        TestService bank = bank(world, "bank");
        Client client = world.client("client", "bank");
        CompletableFuture<Void> poison = client.send(new Bank.Poison("square root of -1"));
        CompletableFuture<Bank.Done> next = client.ask(new Bank.Open("ann", 1), Bank.Done.class);
        world.run();
        assertThat(next).isNotDone();
        for (int attempt = 0; attempt < 3; attempt++) {
            world.advance(Duration.ofSeconds(1));
            world.run();
        }
        assertThatThrownBy(() -> world.await(poison))
                .isInstanceOf(ServiceException.class)
                .hasMessageContaining("did not consume the message")
                .hasMessageContaining("square root of -1");
        assertThat(world.await(next)).isEqualTo(new Bank.Done("ann"));
        assertThat(bank.parked())
                .containsExactly("Poison: IllegalArgumentException: square root of -1");
        assertThat(balance(bank, "poison")).isZero();
    }

    @Test
    void whateverAHandlerThrowsIsItsOwnFailure() {
        Limits limits = new Limits(256, 1, true, 0, 0, 1_024, 3_600_000);
        for (Throwable thrown :
                List.of(
                        new Error("plain"),
                        new StackOverflowError(),
                        new NoClassDefFoundError("x"),
                        new Throwable("sneaky"))) {
            TestWorld world = new TestWorld(12, TurnOptions.standard().with(limits));
            TestService service = world.service("odd", state -> new Throws(state, thrown));
            Client client = world.client("client", "odd");
            CompletableFuture<Void> sent = client.send(new Throws.Now());
            assertThatThrownBy(() -> world.await(sent))
                    .isInstanceOf(ServiceException.class)
                    .hasMessageContaining(thrown.getClass().getSimpleName());
            assertThat(service.isUp()).isTrue();
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
        }
    }

    /** Throws what it is given, and leaves its thread interrupted. */
    private record Throws(State state, Throwable thrown) implements Service {

        record Now() {}

        @Override
        public void handlers(Handlers on) {
            on.message(
                    Now.class,
                    (now, turn) -> {
                        Thread.currentThread().interrupt();
                        sneak(thrown);
                    });
        }

        @SuppressWarnings("unchecked")
        private static <T extends Throwable> void sneak(Throwable thrown) throws T {
            throw (T) thrown;
        }
    }

    @Test
    void aFoldedBaseCarriesAll() {
        TestWorld world = new TestWorld(8);
        TestService north = bank(world, "north");
        Client client = world.client("client", "north");
        client.send(new Bank.Open("ann", 100));
        CompletableFuture<Bank.Released> released =
                client.ask(new Bank.Wait("noon"), Bank.Released.class);
        client.send(new Bank.Remind("tea", Duration.ofHours(5)));
        client.send(new Bank.Transfer("t1", "ann", "south", "bob", 30));
        client.send(new Bank.Letter("hello"));
        north.fold();
        north.crash();
        north.start();
        TestService south = bank(world, "south");
        post.addAll(Set.of("hello", "tea"));
        client.send(new Bank.Release("noon"));
        world.advance(Duration.ofHours(5));
        world.run();
        assertThat(released).isCompletedWithValue(new Bank.Released());
        assertThat(balance(north, "ann")).isEqualTo(70);
        assertThat(balance(south, "bob")).isEqualTo(30);
        assertThat(north.query(new Bank.Stamps(), Bank.Stamped.class).stamps())
                .containsExactlyInAnyOrder("hello", "tea");
    }
}
