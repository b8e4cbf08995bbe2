package io.saucr.services.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.saucr.services.Bank;
import io.saucr.services.Bytes;
import io.saucr.services.core.Limits;
import io.saucr.services.turns.DoorRequest;
import io.saucr.services.turns.DoorRequest.Answer;
import io.saucr.services.turns.DoorRequest.Outcome;
import io.saucr.services.turns.TurnOptions;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Requests by HTTP in memory: what their keys remember, for how long, and across crashes. */
class RequestKeysTest {

    private static final Bank.Open OPEN = new Bank.Open("ann", 100);
    private static final Bank.Transfer TRANSFER =
            new Bank.Transfer("t1", "ann", "south", "bob", 30);
    private static final Outcome DONE = answered("Done", "{\"id\":\"t1\"}");

    private long requests;

    private static TestService bank(TestWorld world, String name) {
        return world.service(name, state -> new Bank(state, new ArrayList<>(), Set.of()));
    }

    private static Outcome answered(String type, String json) {
        return new Outcome.Answered(Optional.of(new Answer(type, json)));
    }

    private static long balance(TestService bank, String owner) {
        return bank.query(new Bank.Balance(owner), Bank.Cents.class).cents();
    }

    /** Hands over a request; the list has what it is told. */
    private List<Outcome> ask(TestService of, String key, Object message) {
        List<Outcome> told = new ArrayList<>();
        Optional<DoorRequest.Key> its =
                key.isEmpty()
                        ? Optional.empty()
                        : Optional.of(
                                new DoorRequest.Key(
                                        key,
                                        Bytes.of(
                                                message.toString()
                                                        .getBytes(StandardCharsets.UTF_8))));
        of.request(new DoorRequest(++requests, of.encoded(message), its, told::add));
        return told;
    }

    private Outcome asked(TestWorld world, TestService of, String key, Object message) {
        List<Outcome> told = ask(of, key, message);
        world.run();
        return told.get(0);
    }

    @Test
    void aMessageOfAKeyHappensOnceWhereverItCrashes() {
        int crashes =
                CrashPoints.everywhere(
                        5,
                        world -> {
                            TestService north = bank(world, "north");
                            TestService south = bank(world, "south");
                            again(world, north, "k0", OPEN);
                            assertThat(again(world, north, "k1", TRANSFER)).isEqualTo(DONE);
                            assertThat(again(world, north, "k1", TRANSFER)).isEqualTo(DONE);
                            assertThat(balance(north, "ann")).isEqualTo(70);
                            assertThat(balance(south, "bob")).isEqualTo(30);
                        });
        assertThat(crashes).isGreaterThan(30);
    }

    /** As a client that hears nothing where the service crashed. */
    private Outcome again(TestWorld world, TestService of, String key, Object message) {
        for (int attempt = 0; attempt < 3; attempt++) {
            List<Outcome> told = ask(of, key, message);
            world.run();
            if (!told.isEmpty()) {
                return told.get(0);
            }
        }
        throw new AssertionError("no outcome after more attempts than crashes");
    }

    @Test
    void nothingIsToldBeforeItIsFinal() {
        TestWorld world = new TestWorld(3);
        TestService north = bank(world, "north");
        world.run();
        for (int run = 0; run < 20; run++) {
            List<Outcome> told = ask(north, "k" + run, new Bank.Open("o" + run, 1));
            while (told.isEmpty()) {
                assertThat(world.step()).isTrue();
            }
            north.crash();
            north.start();
            assertThat(balance(north, "o" + run)).isEqualTo(1);
        }
    }

    @Test
    void anotherBodyOfTheKeyIsRefused() {
        TestWorld world = new TestWorld(1);
        TestService north = bank(world, "north");
        List<Outcome> first = ask(north, "k", OPEN);
        List<Outcome> second = ask(north, "k", OPEN);
        List<Outcome> other = ask(north, "k", new Bank.Open("ann", 5));
        assertThat(second).containsExactly(new Outcome.UnderWay());
        assertThat(other).containsExactly(new Outcome.OtherBody());
        world.run();
        assertThat(first).containsExactly(answered("Done", "{\"id\":\"ann\"}"));
        assertThat(asked(world, north, "k", new Bank.Open("ann", 5)))
                .isEqualTo(new Outcome.OtherBody());
        assertThat(asked(world, north, "k", OPEN)).isEqualTo(first.get(0));
        assertThat(balance(north, "ann")).isEqualTo(100);
    }

    @Test
    void aKeyCountsFor24Hours() {
        TestWorld world = new TestWorld(1);
        TestService north = bank(world, "north");
        asked(world, north, "open", OPEN);
        assertThat(asked(world, north, "k", TRANSFER)).isEqualTo(DONE);
        world.advance(Duration.ofHours(24).minusMillis(1));
        assertThat(asked(world, north, "k", TRANSFER)).isEqualTo(DONE);
        assertThat(balance(north, "ann")).isEqualTo(70);
        world.advance(Duration.ofMillis(1));
        assertThat(asked(world, north, "k", TRANSFER)).isEqualTo(DONE);
        assertThat(balance(north, "ann")).isEqualTo(40);
        assertThat(asked(world, north, "k", TRANSFER)).isEqualTo(DONE);
        assertThat(balance(north, "ann")).isEqualTo(40);
    }

    @Test
    void keysThatAreOverGo() {
        TestWorld world = new TestWorld(1);
        TestService north = bank(world, "north");
        for (int day = 0; day < 6; day++) {
            for (int key = 0; key < 50; key++) {
                ask(north, "day " + day + ", " + key, new Bank.Open("ann", key));
            }
            world.run();
            world.advance(Duration.ofHours(25));
        }
        north.fold();
        world.run();
        assertThat(north.requestKeys()).isLessThanOrEqualTo(50);
    }

    @Test
    void withoutAKeyEachRequestIsNew() {
        TestWorld world = new TestWorld(1);
        TestService north = bank(world, "north");
        asked(world, north, "", OPEN);
        assertThat(asked(world, north, "", TRANSFER)).isEqualTo(DONE);
        assertThat(asked(world, north, "", TRANSFER)).isEqualTo(DONE);
        assertThat(balance(north, "ann")).isEqualTo(40);
        assertThat(asked(world, north, "q", new Bank.Balance("ann")))
                .isEqualTo(answered("Cents", "{\"cents\":40}"));
        // A query of a key sees what there is now.
        asked(world, north, "", TRANSFER);
        assertThat(asked(world, north, "q", new Bank.Balance("ann")))
                .isEqualTo(answered("Cents", "{\"cents\":10}"));
    }

    @Test
    void whatFailedIsNotRemembered() {
        TestWorld world = new TestWorld(1);
        TestService north = bank(world, "north");
        assertThat(asked(world, north, "k", new Bank.Poison("hot")))
                .isEqualTo(new Outcome.Failed("IllegalArgumentException: hot"));
        assertThat(asked(world, north, "k", OPEN)).isEqualTo(answered("Done", "{\"id\":\"ann\"}"));
    }

    @Test
    void aTurnWithoutAReplyIsRememberedToo() {
        TestWorld world = new TestWorld(1);
        TestService north = bank(world, "north");
        Bank.Credit credit = new Bank.Credit("c", "bob", 5);
        Outcome none = new Outcome.Answered(Optional.empty());
        assertThat(asked(world, north, "k", credit)).isEqualTo(none);
        north.crash();
        north.start();
        assertThat(asked(world, north, "k", credit)).isEqualTo(none);
        assertThat(balance(north, "bob")).isEqualTo(5);
    }

    @Test
    void aLaterTurnAnswersTheFirstRequestAndItsRetries() {
        TestWorld world = new TestWorld(1);
        TestService north = bank(world, "north");
        List<Outcome> first = ask(north, "k", new Bank.Wait("noon"));
        world.run();
        assertThat(first).isEmpty();
        assertThat(asked(world, north, "k", new Bank.Wait("noon"))).isEqualTo(new Outcome.Waits());
        asked(world, north, "", new Bank.Release("noon"));
        assertThat(first).containsExactly(answered("Released", "{}"));
        assertThat(asked(world, north, "k", new Bank.Wait("noon")))
                .isEqualTo(answered("Released", "{}"));
    }

    @Test
    void aLaterTurnAnswersRetriesAlsoBehindACrash() {
        TestWorld world = new TestWorld(1);
        TestService north = bank(world, "north");
        List<Outcome> first = ask(north, "k", new Bank.Wait("noon"));
        world.run();
        north.crash();
        north.start();
        assertThat(asked(world, north, "k", new Bank.Wait("noon"))).isEqualTo(new Outcome.Waits());
        assertThat(asked(world, north, "", new Bank.Release("noon")))
                .isEqualTo(new Outcome.Answered(Optional.empty()));
        north.crash();
        north.start();
        world.advance(Duration.ofHours(23));
        assertThat(asked(world, north, "k", new Bank.Wait("noon")))
                .isEqualTo(answered("Released", "{}"));
        assertThat(first).isEmpty();
    }

    @Test
    void whoeverNoLongerWaitsIsToldWhatIsKnown() {
        TestWorld world = new TestWorld(1);
        TestService north = bank(world, "north");
        world.run();
        List<Outcome> notBegun = ask(north, "k", OPEN);
        north.giveUp(requests);
        world.run();
        assertThat(notBegun).hasSize(1).first().isInstanceOf(Outcome.Refused.class);
        assertThat(balance(north, "ann")).isZero();
        assertThat(asked(world, north, "k", OPEN)).isEqualTo(answered("Done", "{\"id\":\"ann\"}"));

        List<Outcome> waits = ask(north, "w", new Bank.Wait("noon"));
        world.run();
        north.giveUp(requests);
        assertThat(waits).containsExactly(new Outcome.Waits());
        List<Outcome> plain = ask(north, "", new Bank.Wait("night"));
        world.run();
        north.giveUp(requests);
        assertThat(plain).containsExactly(new Outcome.Late());
        asked(world, north, "", new Bank.Release("noon"));
        // Its caller is gone: the answer goes nowhere.
        asked(world, north, "", new Bank.Release("night"));
        assertThat(asked(world, north, "w", new Bank.Wait("noon")))
                .isEqualTo(answered("Released", "{}"));
    }

    @Test
    void aKeyThatIsNeverAnsweredGoesAtLast() {
        Limits limits = new Limits(256, 5, true, 100, 60_000, 1_024, 172_800_000);
        TestWorld world = new TestWorld(1, TurnOptions.standard().with(limits));
        TestService north = bank(world, "north");
        ask(north, "k", new Bank.Wait("noon"));
        world.run();
        world.advance(Duration.ofHours(47));
        assertThat(asked(world, north, "k", new Bank.Wait("noon"))).isEqualTo(new Outcome.Waits());
        world.advance(Duration.ofHours(1));
        List<Outcome> anew = ask(north, "k", new Bank.Wait("night"));
        world.run();
        assertThat(anew).isEmpty();
        // The first one's time is over; whoever answers it does no harm.
        asked(world, north, "", new Bank.Release("noon"));
        asked(world, north, "", new Bank.Release("night"));
        assertThat(anew).containsExactly(answered("Released", "{}"));
    }
}
