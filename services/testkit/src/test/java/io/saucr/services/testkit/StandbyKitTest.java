package io.saucr.services.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.saucr.services.Bank;
import io.saucr.services.Client;
import io.saucr.services.Lost;
import io.saucr.services.Notes;
import io.saucr.services.Protection;
import io.saucr.services.core.Limits;
import io.saucr.services.turns.TurnOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Services with standbys in the test kit: a crash takes the primary, another member continues. */
@SuppressWarnings("FutureReturnValueIgnored") // What a call leads to is looked at in the services.
class StandbyKitTest {

    private final List<String> calls = new ArrayList<>();
    private final Set<String> post = new HashSet<>();

    private TestService bank(TestWorld world, String name, Protection.Standby protection) {
        return world.service(name, state -> new Bank(state, calls, post), protection);
    }

    private static long balance(TestService bank, String owner) {
        return bank.query(new Bank.Balance(owner), Bank.Cents.class).cents();
    }

    @Test
    void nothingIsLostOrDoubledWhoeverTakesOver() {
        int crashes =
                CrashPoints.everywhere(
                        7,
                        world -> {
                            TestService north = bank(world, "north", Protection.standby());
                            TestService south =
                                    world.service("south", it -> new Bank(it, calls, post));
                            Client teller = world.client("teller", "north");
                            teller.send(new Bank.Open("ann", 100));
                            for (int i = 0; i < 3; i++) {
                                teller.send(new Bank.Transfer("t" + i, "ann", "south", "bob", 30));
                            }
                            world.run();
                            assertThat(balance(north, "ann")).isEqualTo(10);
                            assertThat(balance(south, "bob")).isEqualTo(90);
                        });
        assertThat(crashes).isGreaterThan(100);
    }

    @Test
    void takeoversAndSnapshotsAtRandomLoseNothing() {
        Limits patient = new Limits(256, 1_000, true, 0, 0, 1_024, 3_600_000);
        for (int seed = 0; seed < 30; seed++) {
            TestWorld world =
                    new TestWorld(seed, TurnOptions.standard().with(patient).foldBytes(1 << 10));
            TestService north = bank(world, "north", Protection.standby());
            TestService south = bank(world, "south", Protection.standby().copies(3));
            Client teller = world.client("teller", "north");
            teller.send(new Bank.Open("ann", 1_000));
            for (int i = 0; i < 40; i++) {
                teller.send(new Bank.Transfer("t" + i, "ann", "south", "bob", 10));
                for (int step = 0; step < 5; step++) {
                    boolean unused = world.step();
                }
                TestService taken = i % 2 == 0 ? north : south;
                if (i % 5 == 0) {
                    taken.handOver();
                } else {
                    taken.takeOver();
                }
            }
            world.run();
            assertThat(balance(north, "ann")).as("seed " + seed).isEqualTo(600);
            assertThat(balance(south, "bob")).as("seed " + seed).isEqualTo(400);
        }
    }

    /** A primary that hands over has made final what it did; one that is killed has perhaps not. */
    @Test
    void timersAndWritesToTheEnsembleMoveWithTheService() {
        TestWorld world = new TestWorld(3);
        TestService bank = bank(world, "bank", Protection.standby());
        Client client = world.client("client", "bank");
        post.add("late");
        client.send(new Bank.Remind("late", Duration.ofMinutes(10)));
        client.send(new Bank.Audit("/one", "1"));
        world.run();
        bank.takeOver();
        client.send(new Bank.Audit("/two", "2"));
        world.run();
        bank.handOver();
        world.advance(Duration.ofMinutes(11));
        world.run();
        assertThat(bank.query(new Bank.Stamps(), Bank.Stamped.class).stamps())
                .containsExactly("/one true", "/two true", "late");
        assertThat(bank.ensembleWrites())
                .extracting(it -> it.parts().get(0).getPath())
                .containsExactly("/one", "/two");
    }

    /** K13: what waits in files of the outbox is in segments and snapshots. */
    @Test
    void aLongOutboxMovesToo() {
        Limits limits = new Limits(4, 1_000, true, 0, 0, 1_024, 3_600_000).outbox(1, 1 << 10);
        TurnOptions small = TurnOptions.standard().with(limits).foldBytes(1 << 10);
        int crashes =
                CrashPoints.everywhere(
                        12,
                        small,
                        world -> {
                            TestService shop =
                                    world.service("shop", Notes::new, Protection.standby());
                            TestService bank = world.service("bank", Notes::new);
                            Client teller = world.client("teller", "shop");
                            teller.send(new Notes.Pass("bank", "first"));
                            world.run();
                            bank.crash();
                            List<String> sent = new ArrayList<>(List.of("first"));
                            for (int note = 0; note < 5; note++) {
                                String text = note + " of many words".repeat(20);
                                teller.send(new Notes.Pass("bank", text));
                                sent.add(text);
                            }
                            world.run();
                            shop.takeOver();
                            bank.start();
                            world.run();
                            assertThat(bank.query(new Notes.Ask(), Notes.Seen.class).notes())
                                    .containsExactlyElementsOf(sent);
                        });
        assertThat(crashes).isGreaterThan(100);
    }

    /** C7, C11: a reply comes before its turn is final; who had one that is lost decides. */
    @Test
    void anEarlyReplyThatIsLostGoesToTheClientThatHadIt() {
        for (Lost.Decision decision : Lost.Decision.values()) {
            TestWorld world = new TestWorld(5);
            TestService bank =
                    bank(world, "bank", Protection.standby().every(Duration.ofMillis(200)));
            Client client = world.client("client", "bank");
            List<Object> lost = new ArrayList<>();
            client.onLost(
                    reply -> {
                        lost.add(reply.request());
                        return decision;
                    });
            CompletableFuture<Bank.Done> kept =
                    client.ask(new Bank.Open("ann", 5), Bank.Done.class);
            // Both ends have the pair before number 1 leaves (K11).
            while (!kept.isDone()) {
                world.advance(Duration.ofMillis(200));
                world.run();
            }
            world.advance(Duration.ofMillis(200));
            world.run();
            CompletableFuture<Bank.Done> early =
                    client.ask(new Bank.Open("bob", 7), Bank.Done.class);
            world.run();
            assertThat(early).isCompleted();
            bank.takeOver();
            world.run();
            assertThat(lost).containsExactly(new Bank.Open("bob", 7));
            world.advance(Duration.ofMillis(200));
            world.run();
            assertThat(balance(bank, "ann")).isEqualTo(5);
            assertThat(balance(bank, "bob")).isEqualTo(decision == Lost.Decision.REPEAT ? 7 : 0);
        }
    }

    @Test
    void backupsAndNewGenerationsAreOfADisk() {
        TestWorld world = new TestWorld(8);
        TestService bank = bank(world, "bank", Protection.standby());
        world.run();
        assertThatThrownBy(bank::backup)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("have a disk each");
    }
}
